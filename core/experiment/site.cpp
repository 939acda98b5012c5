#include "experiment/site.h"

#include <filesystem>

#include "base/files.h"
#include "experiment/run.h"
#include "experiment/site_pages.h"
#include "report/gallery/html.h"
#include "report/plot.h"

namespace rewright::experiment {

Status write_site(std::span<const SiteEntry> entries, std::span<const Work> works, const std::string& folder) {
  namespace fs = std::filesystem;
  for (std::size_t i = 0; i < entries.size(); ++i) {
    const SiteEntry& entry = entries[i];
    const std::string own = folder + "/" + gallery::file_name(entry.findings->manifest->name);
    std::error_code failed;
    fs::create_directories(own, failed);
    if (failed) return make_error(ErrorCode::kIo, "the folder '{}' cannot be made: {}", own, failed.message());
    REWRIGHT_CHECK(write_outputs(*entry.findings, own));
    std::vector<std::pair<std::string, std::string>> aside;
    REWRIGHT_TRY(const std::string page, experiment_page(entries, i, aside));
    REWRIGHT_CHECK(write_file(folder + "/" + page_of(*entry.findings), page));
    for (const auto& [file, svg] : aside) REWRIGHT_CHECK(write_file(own + "/" + file, plot::as_file(svg)));
    if (entry.findings->done == 0) continue;
    REWRIGHT_TRY(const std::string raw, read_file(entry.results + "/results.jsonl"));
    REWRIGHT_CHECK(write_file(own + "/results.jsonl", raw));
  }
  return write_file(folder + "/index.html", index_page(entries, works));
}

}  // namespace rewright::experiment
