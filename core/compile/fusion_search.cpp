#include "compile/fusion_search.h"

#include <rewright/base/mixing.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <optional>

#include "compile/grouping.h"

namespace rewright::compile {
namespace {

constexpr double kHot = 0.02, kCold = 0.0001;  ///< Temperatures, as parts of the start's cost.

Result<std::vector<Port>> joints_of(Grouping& grouping) {
  REWRIGHT_TRY(std::vector<Port> joints, grouping.joints());
  if (joints.empty()) return make_error(ErrorCode::kUnsupported, "there are no two nodes that could run as one kernel");
  return joints;
}

/// Each with the same chance.
std::set<Port> drawn(const std::vector<Port>& joints, double chance, Random& random) {
  std::set<Port> stored;
  for (const Port& port : joints) {
    if (random.fraction() < chance) stored.insert(port);
  }
  return stored;
}

/// Choices by their kernels, with what these cost.
class PricedChoices {
 public:
  PricedChoices(const Graph& graph, const Registry& registry, CostModel& costs)
      : graph_(graph), grouping_(graph, &registry), costs_(costs) {}

  [[nodiscard]] Result<std::vector<Port>> joints() { return joints_of(grouping_); }
  [[nodiscard]] std::size_t asked() const { return us_.size(); }
  /// Why a kernel could not be priced.
  [[nodiscard]] const std::optional<Error>& trouble() const { return trouble_; }

  Result<FusionChoice> price(const std::set<Port>& stored) {
    REWRIGHT_TRY(const Groups groups, grouping_.groups(stored));
    if (!groups.errors.empty()) return groups.errors.begin()->second;
    std::vector<std::vector<NodeId>> unknown;
    for (const Group& group : groups.all) {
      if (!us_.contains(group.nodes) && grouping_.element_types(group.nodes)) unknown.push_back(group.nodes);
    }
    ask(unknown);
    FusionChoice choice{stored, groups.all.size()};
    for (const Group& group : groups.all) {
      if (const auto known = us_.find(group.nodes); known != us_.end()) choice.us += known->second;
    }
    return choice;
  }

  /// Of what is stored, what matters: a stored result whose reader would not have joined changes nothing.
  Result<std::set<std::vector<NodeId>>> kernels(const std::set<Port>& stored) {
    REWRIGHT_TRY(Groups groups, grouping_.groups(stored));
    std::set<std::vector<NodeId>> all;
    for (Group& group : groups.all) all.insert(std::move(group.nodes));
    return all;
  }

 private:
  void ask(const std::vector<std::vector<NodeId>>& unknown) {
    std::vector<OwnedKernel> owned;
    for (const auto& nodes : unknown) owned.push_back(kernel_of(graph_, nodes));
    std::vector<Kernel> kernels;
    for (const OwnedKernel& each : owned) kernels.push_back(each.kernel());
    const auto all = costs_.estimates(kernels);
    for (std::size_t i = 0; i < unknown.size(); ++i) {
      const auto one = all ? all : costs_.estimates({&kernels[i], 1});
      if (!one) trouble_ = one.error();
      us_[unknown[i]] = one ? (*one)[all ? i : 0].us : std::numeric_limits<double>::infinity();
    }
  }

  const Graph& graph_;
  Grouping grouping_;
  CostModel& costs_;
  std::map<std::vector<NodeId>, double> us_;
  std::optional<Error> trouble_;
};

}  // namespace

Result<FusionReport> search_fusion(const Graph& graph, const Registry& registry, CostModel& costs,
                                   const FusionOptions& options) {
  PricedChoices choices(graph, registry, costs);
  FusionReport report;
  REWRIGHT_TRY(const std::vector<Port> joints, choices.joints());
  report.joints = joints.size();
  REWRIGHT_TRY(report.usual, choices.price({}));
  if (!std::isfinite(report.usual.us))
    return make_error(ErrorCode::kUnsupported, "cost model {} does not know what kernels take: {}", costs.name(),
                      choices.trouble()->message);
  Random random(options.seed);
  report.start = report.usual;
  if (options.from_random) {
    REWRIGHT_TRY(report.start, choices.price(drawn(joints, 0.5, random)));
  }
  FusionChoice at = report.start;
  std::map<std::set<std::vector<NodeId>>, FusionChoice> kept;
  const auto keep = [&](const FusionChoice& choice) -> Status {
    if (!std::isfinite(choice.us)) return {};
    const auto dearest = std::ranges::max_element(kept, {}, [](const auto& each) { return each.second.us; });
    if (kept.size() > options.best && choice.us >= dearest->second.us) return {};
    REWRIGHT_TRY(auto kernels, choices.kernels(choice.stored));
    if (!kept.emplace(std::move(kernels), choice).second || kept.size() <= options.best + 1) return {};
    kept.erase(std::ranges::max_element(kept, {}, [](const auto& each) { return each.second.us; }));
    return {};
  };
  REWRIGHT_CHECK(keep(at));
  const double hot = kHot * report.usual.us;
  for (; report.moves < options.moves && (!options.goes_on || options.goes_on(report.moves)); ++report.moves) {
    std::set<Port> stored = at.stored;
    const Port& port = random.pick(joints);
    if (stored.erase(port) == 0) stored.insert(port);
    REWRIGHT_TRY(FusionChoice next, choices.price(stored));
    REWRIGHT_CHECK(keep(next));
    const double temperature =
        hot * std::pow(kCold / kHot, static_cast<double>(report.moves) / static_cast<double>(options.moves));
    if (next.us <= at.us || random.fraction() < std::exp((at.us - next.us) / temperature)) at = std::move(next);
  }
  REWRIGHT_TRY(const auto usual, choices.kernels({}));
  kept.erase(usual);
  for (auto& [kernels, choice] : kept) report.best.push_back(std::move(choice));
  std::ranges::sort(report.best, {}, &FusionChoice::us);
  report.best.resize(std::min(report.best.size(), options.best));
  report.asked = choices.asked();
  return report;
}

Result<FusionReport> random_fusions(const Graph& graph, const Registry& registry, std::size_t count,
                                    std::uint64_t seed) {
  Grouping grouping(graph, &registry);
  REWRIGHT_TRY(const std::vector<Port> joints, joints_of(grouping));
  Random random(seed);
  FusionReport report;
  report.joints = joints.size();
  for (std::size_t i = 0; i < count; ++i) report.best.push_back({drawn(joints, random.fraction(), random)});
  return report;
}

}  // namespace rewright::compile
