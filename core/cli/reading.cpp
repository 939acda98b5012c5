#include "cli/reading.h"

#include <algorithm>
#include <functional>
#include <map>
#include <tuple>

namespace rewright::cli {
namespace {

constexpr std::size_t kMostReasons = 4;

/// Counts of nodes by type and reason, descending.
std::vector<std::tuple<std::size_t, std::string, std::string>> carried_by_reason(
    const std::vector<CarriedNode>& nodes) {
  std::map<std::pair<std::string, std::string>, std::size_t> counts;
  for (const CarriedNode& node : nodes) ++counts[{node.type, node.reason}];
  std::vector<std::tuple<std::size_t, std::string, std::string>> sorted;
  for (const auto& [what, count] : counts) sorted.emplace_back(count, what.first, what.second);
  std::ranges::stable_sort(sorted, std::greater<>(), [](const auto& row) { return std::get<0>(row); });
  return sorted;
}

}  // namespace

std::string sentence_of_reading(const std::vector<CarriedNode>& carried, std::size_t nodes) {
  if (carried.empty()) return {};
  const auto reasons = carried_by_reason(carried);
  std::vector<std::string> parts;
  for (const auto& [count, type, reason] : reasons) {
    if (parts.size() == kMostReasons) break;
    parts.push_back(fmt::format("{} {} ({})", count, type, reason));
  }
  return fmt::format("{} of {} nodes are read; carried as they are: {}{}.", nodes - carried.size(), nodes,
                     fmt::join(parts, "; "), reasons.size() > kMostReasons ? "; others (--json)" : "");
}

void add_reading(Json& json, const std::vector<CarriedNode>& carried, std::size_t nodes) {
  json["read"] = nodes - carried.size();
  json["carried"] = carried.size();
  json["carried_reasons"] = Json::array();
  for (const auto& [count, type, reason] : carried_by_reason(carried))
    json["carried_reasons"].push_back({{"count", count}, {"type", type}, {"reason", reason}});
}

}  // namespace rewright::cli
