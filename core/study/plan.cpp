#include "study/plan.h"

#include <algorithm>
#include <set>

#include "base/toml_section.h"
#include "compile/node_algorithms.h"

namespace rewright::study {
namespace {

constexpr std::int64_t kMostThreads = 256, kMostSeconds = 86'400;

const std::vector<std::string>& algorithm_labels() {
  static const std::vector<std::string> kLabels = [] {
    std::vector<std::string> labels = compile::algorithm_names();
    labels.insert(labels.end(), {"usual", "cost"});
    return labels;
  }();
  return kLabels;
}

std::string listed(const std::vector<std::string>& words) { return fmt::format("{}", fmt::join(words, ", ")); }

/// Texts, each once; of `allowed`, unless that is empty. No list: `otherwise`, or an error where that is empty.
Result<std::vector<std::string>> texts(Section& section, const std::string& key,
                                       const std::vector<std::string>& allowed,
                                       std::vector<std::string> otherwise = {}) {
  REWRIGHT_TRY(const toml::array* list, section.list(key, otherwise.empty()));
  if (list->empty() && !otherwise.empty()) return otherwise;
  std::vector<std::string> found;
  for (const toml::node& node : *list) {
    const auto text = node.value<std::string>();
    if (!node.is_string()) return section.error(node, fmt::format("{} has {}, expected texts", key, describe(node)));
    if (!allowed.empty() && std::ranges::find(allowed, *text) == allowed.end())
      return section.error(node, fmt::format("{}: '{}' is none of {}", key, *text, listed(allowed)));
    if (std::ranges::find(found, *text) != found.end())
      return section.error(node, fmt::format("{}: '{}' is there twice", key, *text));
    found.push_back(*text);
  }
  if (found.empty()) return section.error(*list, fmt::format("{} is empty; a study has at least one", key));
  return found;
}

Result<std::optional<double>> share(Section& section, const std::string& key) {
  const toml::node* node = section.find(key);
  if (node == nullptr) return std::optional<double>();
  const auto number = node->value<double>();
  if (!node->is_number() || !(*number > 0 && *number < 1))
    return section.error(*node, fmt::format("{} is {}, expected a share above 0 and below 1", key, describe(*node)));
  return number;
}

Result<Compression> compression_of(const std::string& file, const toml::node& node) {
  if (!node.is_table()) return toml_error(file, node, fmt::format("{} where a table was expected", describe(node)));
  Section section(file, "compressions", *node.as_table());
  Compression made;
  REWRIGHT_TRY(made.name, section.text("name"));
  REWRIGHT_TRY(made.zeros, share(section, "zeros"));
  REWRIGHT_TRY(made.channels, share(section, "channels"));
  if (made.zeros && made.channels) return section.error(node, "a compression has zeros or channels, not both");
  REWRIGHT_TRY(const toml::table* algorithms, section.section("algorithms", false));
  for (const auto& [label, value] : in_file_order(*algorithms)) {
    const std::string name = value->is_string() ? *value->value<std::string>() : describe(*value);
    for (const std::string& word : {label, name})
      if (std::ranges::find(algorithm_labels(), word) == algorithm_labels().end())
        return section.error(*value, fmt::format("algorithms: '{}' is none of {}", word, listed(algorithm_labels())));
    made.algorithms.emplace(label, name);
  }
  REWRIGHT_CHECK(section.finish());
  return made;
}

}  // namespace

Result<Plan> parse_plan(std::string_view text, const std::string& file) {
  REWRIGHT_TRY(const toml::table document, parse_toml(text, file));
  Section section(file, "the study", document);
  Plan plan;
  REWRIGHT_TRY(plan.title, section.text("title"));
  REWRIGHT_TRY(plan.networks, texts(section, "networks", {}));
  REWRIGHT_TRY(plan.algorithms, texts(section, "algorithms", algorithm_labels()));
  REWRIGHT_TRY(plan.schedules, texts(section, "schedules", {"one-shot", "tuned"}, {"one-shot"}));
  REWRIGHT_TRY(plan.seconds, section.integer("seconds", {1, kMostSeconds}, 600));
  REWRIGHT_TRY(const toml::array* threads, section.list("threads", false));
  for (const toml::node& node : *threads) {
    const auto count = node.is_integer() ? node.value<std::int64_t>() : std::nullopt;
    if (!count || *count < 1 || *count > kMostThreads)
      return section.error(node, fmt::format("threads has {}, expected 1 to {}", describe(node), kMostThreads));
    if (std::ranges::find(plan.threads, *count) != plan.threads.end())
      return section.error(node, fmt::format("threads: {} is there twice", *count));
    plan.threads.push_back(*count);
  }
  if (plan.threads.empty()) plan.threads = {1};
  REWRIGHT_TRY(const toml::array* compressions, section.list("compressions", true));
  std::set<std::string> names;
  for (const toml::node& node : *compressions) {
    REWRIGHT_TRY(Compression made, compression_of(file, node));
    if (!names.insert(made.name).second)
      return section.error(node, fmt::format("compressions: '{}' is there twice", made.name));
    plan.compressions.push_back(std::move(made));
  }
  if (plan.compressions.empty()) return section.error(*compressions, "compressions is empty; a study has at least one");
  REWRIGHT_CHECK(section.finish());
  return plan;
}

std::vector<Cell> cells_of(const Plan& plan) {
  std::vector<Cell> cells;
  for (const std::string& network : plan.networks)
    for (std::size_t c = 0; c < plan.compressions.size(); ++c)
      for (const std::string& algorithm : plan.algorithms)
        for (const std::int64_t threads : plan.threads)
          for (const std::string& schedules : plan.schedules)
            cells.push_back({network, c, algorithm, threads, schedules});
  return cells;
}

std::string computed_by(const Plan& plan, const Cell& cell) {
  const auto& others = plan.compressions[cell.compression].algorithms;
  const auto other = others.find(cell.algorithm);
  return other == others.end() ? cell.algorithm : other->second;
}

std::string to_string(const Plan& plan, const Cell& cell) {
  return fmt::format("{}, {}, {}, {} thread{}, {}", cell.network, plan.compressions[cell.compression].name,
                     cell.algorithm, cell.threads, cell.threads == 1 ? "" : "s", cell.schedules);
}

}  // namespace rewright::study
