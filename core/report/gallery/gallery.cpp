#include "report/gallery.h"

#include <rewright/verify/certificate.h>

#include <fcntl.h>
#include <oneapi/tbb/global_control.h>
#include <oneapi/tbb/parallel_for.h>
#include <oneapi/tbb/task_arena.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <mutex>
#include <optional>

#include "report/gallery/assets.h"
#include "report/gallery/pages.h"

namespace rewright {
namespace {

namespace fs = std::filesystem;
using namespace gallery;

constexpr std::size_t kBatch = 128;  // Rules of one run of Graphviz.
constexpr const char* kMarker = "assets/made-by-rewright-rules-gallery";

Error write_error(const std::string& path, int code) {
  const bool full = code == ENOSPC || code == EDQUOT || code == EFBIG;
  return make_error(full ? ErrorCode::kBudget : ErrorCode::kIo, "'{}' cannot be written: {}{}", path,
                    std::strerror(code), full ? "; free some space and try again" : "");
}

/// The folder that is being made.
class Folder {
 public:
  explicit Folder(std::string path) : path_(std::move(path)) {}
  [[nodiscard]] std::size_t bytes() const { return bytes_; }

  Status make(const std::string& name) const {
    std::error_code code;
    fs::create_directories(path_ + "/" + name, code);
    return code ? Status(write_error(path_ + "/" + name, code.value())) : Status();
  }
  Status write(const std::string& name, std::string_view content) {
    const std::string path = path_ + "/" + name;
    const int file = open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    if (file < 0) return write_error(path, errno);
    bytes_ += content.size();
    while (!content.empty()) {
      const ssize_t written = ::write(file, content.data(), content.size());
      if (written < 0 && errno == EINTR) continue;
      if (written <= 0) {
        const int code = errno;
        close(file);
        return write_error(path, code);
      }
      content.remove_prefix(static_cast<std::size_t>(written));
    }
    if (close(file) != 0) return write_error(path, errno);
    return {};
  }

 private:
  std::string path_;
  std::atomic<std::size_t> bytes_ = 0;
};

class Maker {
 public:
  Maker(const Site& site, const Registry& registry, Folder& folder, const GalleryOptions& options)
      : site_(site), registry_(registry), folder_(folder), options_(options) {}

  Status all(GalleryReport& report) {
    for (const char* name : {"assets", "data", "rules", "axioms"}) REWRIGHT_CHECK(folder_.make(name));
    REWRIGHT_CHECK(folder_.write(kMarker, ""));
    REWRIGHT_CHECK(folder_.write("assets/gallery.css", style_sheet()));
    REWRIGHT_CHECK(folder_.write("assets/gallery.js", script()));
    REWRIGHT_CHECK(folder_.write("data/rules.js", index_data(site_)));
    REWRIGHT_CHECK(folder_.write("index.html", index_page(site_)));
    REWRIGHT_CHECK(folder_.write("summary.html", summary_page(site_)));
    REWRIGHT_CHECK(folder_.write("axioms.html", axioms_page(site_)));
    std::string texts;
    for (const SiteRule& rule : site_.rules) texts += rule.text.text + "\n";
    REWRIGHT_CHECK(folder_.write("rules.txt", texts));
    for (const auto& [name, axiom] : site_.axioms)
      REWRIGHT_CHECK(folder_.write(axiom_file(name), axiom_page(site_, axiom)));
    REWRIGHT_CHECK(rules());
    report.proofs = proofs_;
    report.drawn = drawn_;
    return {};
  }

 private:
  Status rules() {
    const std::size_t batches = (site_.rules.size() + kBatch - 1) / kBatch;
    std::vector<std::optional<Error>> errors(batches);
    std::atomic<bool> failed = false;
    oneapi::tbb::parallel_for(
        std::size_t{0}, batches,
        [&](std::size_t b) {
          if (failed) return;
          const Status status = batch(b * kBatch, std::min(site_.rules.size(), (b + 1) * kBatch));
          if (status) return;
          errors[b] = status.error();
          failed = true;
        },
        oneapi::tbb::simple_partitioner());
    for (const auto& error : errors) {
      if (error) return *error;
    }
    return {};
  }

  Status batch(std::size_t begin, std::size_t end) {
    if (options_.stop && options_.stop())
      return make_error(ErrorCode::kBudget, "the gallery was stopped; nothing was made");
    std::vector<const Rule*> batch;
    for (std::size_t i = begin; i < end; ++i) batch.push_back(&site_.rules[i].rule);
    auto drawings = draw(batch);
    if (!drawings && drawings.error().code != ErrorCode::kNotFound) return drawings.error();
    if (!drawings) drawn_ = false;
    CertificateChecker checker(site_.axiom_set.axioms(), registry_);
    for (std::size_t i = begin; i < end; ++i) {
      const SiteRule& rule = site_.rules[i];
      RulePageInput input;
      input.position = i;
      input.drawing = drawings ? &(*drawings)[i - begin] : nullptr;
      explain(checker, rule, input);
      REWRIGHT_CHECK(folder_.write(rule_file(rule.text), rule_page(site_, input)));
    }
    const std::scoped_lock lock(mutex_);
    done_ += end - begin;
    if (options_.progress) options_.progress(done_, site_.rules.size());
    return {};
  }

  static constexpr std::size_t kMostCases = 12;  ///< Shown of one output's proof.

  void explain(CertificateChecker& checker, const SiteRule& rule, RulePageInput& input) {
    if (rule.rule.trust == Trust::kNone) {
      input.proof_missing = "It is not proved: the file has no proof of it.";
      return;
    }
    if (rule.text.certificate.empty()) {
      input.proof_missing = "It rests on the word of " + (rule.proved_by.empty() ? "a solver" : rule.proved_by) +
                            ", which gives no steps.";
      return;
    }
    auto proof = checker.explain(rule.rule, rule.text.certificate);
    if (proof) {
      input.proof = *std::move(proof);
      ++proofs_;
    } else if (proof.error().code == ErrorCode::kUnsupported) {
      const Status replayed = checker.check(rule.rule, rule.text.certificate);
      input.proof_missing = replayed ? "It is proved from the definitions of the operators, without axioms: the "
                                       "certificate, which was replayed here, has no steps to show."
                                     : "The certificate is rejected: " + replayed.error().message + ".";
      if (replayed) {
        ++proofs_;
        input.readings = theorem::read_proof(rule.rule, kMostCases);
      }
    } else {
      input.proof_missing = fmt::format("The certificate cannot be replayed here: {}.",
                                        site_.axioms_missing.empty() ? proof.error().message : site_.axioms_missing);
    }
  }

  const Site& site_;
  const Registry& registry_;
  Folder& folder_;
  const GalleryOptions& options_;
  std::atomic<std::size_t> proofs_ = 0;
  std::atomic<bool> drawn_ = true;
  std::mutex mutex_;
  std::size_t done_ = 0;
};

/// May the folder be made, or replaced?
Status check_target(const std::string& folder) {
  if (!fs::exists(folder)) return {};
  std::error_code code;
  if (fs::is_directory(folder) && (fs::exists(folder + "/" + kMarker) || fs::is_empty(folder, code))) return {};
  return make_error(ErrorCode::kUsage, "'{}' is there already and is no gallery; name another folder with -o", folder);
}

/// The new folder takes the old one's name; on an error the old one is back.
Status put_in_place(const std::string& made, const std::string& folder) {
  std::error_code code;
  const std::string old = made + ".old";
  const bool there = fs::exists(folder);
  if (there) fs::rename(folder, old, code);
  if (!code) fs::rename(made, folder, code);
  std::error_code ignored;
  if (code && there && !fs::exists(folder)) fs::rename(old, folder, ignored);
  if (code) return write_error(folder, code.value());
  fs::remove_all(old, ignored);
  return {};
}

Result<GalleryReport> write_site(const Site& site, const Registry& registry, const std::string& folder,
                                 const GalleryOptions& options) {
  GalleryReport report;
  report.rules = site.rules.size();
  report.axioms = site.axioms.size();
  const fs::path target = fs::path(folder) / "";  // With or without a slash at the end.
  const std::string made = fmt::format("{}.partial-{}", target.parent_path().string(), getpid());
  Folder files(made);
  Maker maker(site, registry, files, options);
  oneapi::tbb::global_control limit(oneapi::tbb::global_control::max_allowed_parallelism,
                                    static_cast<std::size_t>(std::max(options.threads, 1)));
  oneapi::tbb::task_arena arena(std::max(options.threads, 1));
  Status status = arena.execute([&] { return maker.all(report); });
  if (status) status = put_in_place(made, target.parent_path().string());
  report.bytes = files.bytes();
  if (status) return report;
  std::error_code ignored;
  fs::remove_all(made, ignored);
  return status.error();
}

}  // namespace

Result<GalleryReport> write_gallery(Store& store, const Registry& registry, const std::string& folder,
                                    const GalleryOptions& options) {
  REWRIGHT_CHECK(check_target(folder));
  REWRIGHT_TRY(const Site site, read_site(store, registry));
  return write_site(site, registry, folder, options);
}

Result<GalleryReport> write_gallery(const GalleryRules& rules, const Registry& registry, const std::string& folder,
                                    const GalleryOptions& options) {
  REWRIGHT_CHECK(check_target(folder));
  return write_site(site_of(rules, registry), registry, folder, options);
}

}  // namespace rewright
