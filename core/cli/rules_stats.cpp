// rewright rules stats STORE
#include "cli/rules.h"
#include "store/statistics.h"

namespace rewright::cli {
namespace {

template <class Counts>
Json counts_json(const Counts& counts) {
  Json json = Json::object();
  for (const auto& [what, count] : counts) json[fmt::format("{}", what)] = count;
  return json;
}

Json to_json(const VerifierStatistics& verifier) {
  return {{"verifier", verifier.verifier},
          {"proved", verifier.proved},
          {"refuted", verifier.refuted},
          {"unknown", verifier.unknown},
          {"timed", verifier.seconds.size()},
          {"seconds", verifier.total_seconds()},
          {"median_seconds", verifier.seconds_within(0.5)},
          {"p99_seconds", verifier.seconds_within(0.99)},
          {"max_seconds", verifier.seconds_within(1)}};
}

using ClassCounts = std::map<std::string, std::uint64_t>;

Json to_json(const RuleStatistics& stats, const ClassCounts& by_class) {
  Json verifiers = Json::array();
  for (const VerifierStatistics& verifier : stats.verifiers) verifiers.push_back(to_json(verifier));
  return {{"rules", stats.rules},
          {"conditional", stats.conditional},
          {"used", stats.used},
          {"by_size", counts_json(stats.by_size)},
          {"by_operator", counts_json(stats.by_operator)},
          {"by_trust", counts_json(stats.by_trust)},
          {"by_class", counts_json(by_class)},
          {"goals", counts_json(stats.goals)},
          {"verifiers", std::move(verifiers)},
          {"funnel", counts_json(stats.funnel)}};
}

template <class Counts>
void print_counts(const std::string& title, const Counts& counts) {
  Table table({title, "rules"});
  table.align_right({1});
  for (const auto& [what, count] : counts) table.add({fmt::format("{}", what), with_commas(count)});
  print(table.to_string());
  print_line("");
}

std::string milliseconds(double seconds) { return fmt::format("{:.3g} ms", seconds * 1e3); }

void print_verifiers(const std::vector<VerifierStatistics>& verifiers) {
  Table table({"verifier", "proved", "refuted", "unknown", "time in all", "median", "99 % within", "longest"});
  table.align_right({1, 2, 3, 4, 5, 6, 7});
  for (const VerifierStatistics& verifier : verifiers) {
    const bool timed = !verifier.seconds.empty();
    table.add({verifier.verifier, with_commas(verifier.proved), with_commas(verifier.refuted),
               with_commas(verifier.unknown), timed ? duration(verifier.total_seconds()) : "-",
               timed ? milliseconds(verifier.seconds_within(0.5)) : "-",
               timed ? milliseconds(verifier.seconds_within(0.99)) : "-",
               timed ? milliseconds(verifier.seconds_within(1)) : "-"});
  }
  print(table.to_string());
  print_line("");
}

Result<ClassCounts> count_classes(Store& store, const Registry& registry) {
  REWRIGHT_TRY(const std::vector<RuleText> rules, store.rule_texts());
  ClassCounts counts;
  for (const RuleText& rule : rules) ++counts[class_of(rule, registry)];
  return counts;
}

Result<ExitCode> stats(const Settings& settings, const std::string& folder) {
  REWRIGHT_TRY(const auto store, Store::open(folder, Store::Mode::kRead));
  REWRIGHT_TRY(const RuleStatistics found, statistics(*store));
  REWRIGHT_TRY(const Registry registry, settings.registry());
  REWRIGHT_TRY(const ClassCounts by_class, count_classes(*store, registry));
  if (settings.json) {
    print_json(to_json(found, by_class));
    return ExitCode::kDone;
  }
  print_line(fmt::format("{}; {} under a condition on sizes, {} of use in a model", counted(found.rules, "rule"),
                         with_commas(found.conditional), with_commas(found.used)));
  print_line("");
  print_counts("operators on the larger side", found.by_size);
  print_counts("operator", found.by_operator);
  print_counts("trust", found.by_trust);
  print_counts("class", by_class);
  print_verifiers(found.verifiers);
  Table funnel({"from graphs to rules", ""});
  funnel.align_right({1});
  for (const auto& [what, count] : found.funnel) funnel.add({what, with_commas(count)});
  print(funnel.to_string());
  return ExitCode::kDone;
}

}  // namespace

void add_rules_stats(Program& program, const Command& group) {
  auto folder = std::make_shared<std::string>();
  const Command command = program.command(
      group, "stats", "Counts a store's rules by size, operator, trust and class; verdicts and their times",
      {"rewright rules stats quickstart.store", "rewright rules stats quickstart.store --json"},
      [folder](const Settings& settings) { return stats(settings, *folder); });
  command.add_option("STORE", *folder, "The store").required();
}

}  // namespace rewright::cli
