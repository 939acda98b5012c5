// rewright rules gallery STORE|FILE -o DIR
#include <algorithm>
#include <filesystem>

#include "campaign/rule_source.h"
#include "cli/interrupt.h"
#include "cli/progress.h"
#include "cli/rules.h"
#include "report/gallery.h"

namespace rewright::cli {
namespace {

struct RulesGalleryArguments {
  std::string store;
  std::string folder;
  int threads = cores();
};

Result<ExitCode> gallery(const Settings& settings, const RulesGalleryArguments& arguments) {
  heed_interrupts();
  REWRIGHT_TRY(const Registry registry, settings.registry());
  ProgressLine line(settings.quiet);
  GalleryOptions options;
  options.threads = arguments.threads;
  options.stop = interrupted;
  options.progress = [&](std::size_t done, std::size_t total) {
    line.show("gallery", done, "pages",
              static_cast<double>(done) / static_cast<double>(std::max<std::size_t>(total, 1)));
  };
  const auto made = [&]() -> Result<GalleryReport> {
    if (!std::filesystem::is_regular_file(arguments.store)) {
      REWRIGHT_TRY(const auto store, Store::open(arguments.store, Store::Mode::kRead));
      return write_gallery(*store, registry, arguments.folder, options);
    }
    GalleryRules file{std::filesystem::path(arguments.store).filename().string(), {}, {}};
    REWRIGHT_TRY(file.rules, read_rule_source(arguments.store, registry));
    REWRIGHT_TRY(file.axiom_files, axiom_files_of(arguments.store));
    return write_gallery(file, registry, arguments.folder, options);
  };
  REWRIGHT_TRY(const GalleryReport report, made());
  line.clear();
  if (!report.drawn)
    note("Graphviz's program 'dot' is not installed, so rules are shown as text; install graphviz for drawings",
         settings.quiet);
  if (settings.json) {
    print_json({{"rules", report.rules},
                {"proofs", report.proofs},
                {"axioms", report.axioms},
                {"bytes", report.bytes},
                {"index", arguments.folder + "/index.html"}});
    return ExitCode::kDone;
  }
  print_line(fmt::format("{}, {} step by step, {}, {}: open {}/index.html in a browser", counted(report.rules, "rule"),
                         counted(report.proofs, "proof"), counted(report.axioms, "axiom"), bytes(report.bytes),
                         arguments.folder));
  return ExitCode::kDone;
}

}  // namespace

void add_rules_gallery(Program& program, const Command& group) {
  auto arguments = std::make_shared<RulesGalleryArguments>();
  const Command command = program.command(
      group, "gallery", "Writes a site of all rules, drawn, with conditions, verdicts and proofs; needs no network",
      {"rewright rules gallery quickstart.store -o gallery",
       "rewright rules gallery experiments/library/library.rules -o gallery"},
      [arguments](const Settings& settings) { return gallery(settings, *arguments); });
  command.add_option("STORE|FILE", arguments->store, "A store, or a file of rules, with proofs or without").required();
  command.add_option("-o,--output", arguments->folder, "The site's folder; a gallery that is there is replaced")
      .required()
      .type_name("DIR");
  command.add_option("--threads", arguments->threads, "Threads; no page depends on their number")
      .type_name("N")
      .check(in_range(1, 1024));
}

}  // namespace rewright::cli
