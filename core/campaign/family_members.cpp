#include "campaign/family_members.h"

#include <algorithm>

namespace rewright {
namespace {

constexpr std::string_view kRankOf = "rank";
constexpr int kMostRank = 6;

std::set<int> ranks_of(const Rule& rule) {
  std::set<int> ranks;
  for (const PatternInput& input : rule.inputs) ranks.insert(input.rank);
  return ranks;
}

/// Values to try in a parameter's place. Pads are asked for by a padding of their own, and tried with it.
std::vector<std::string> samples(const ParamSpec& spec) {
  if (spec.kind == ParamKind::kChoice) return spec.choices;
  if (spec.kind == ParamKind::kInt) return {"0", "1", "2", "3"};
  if (spec.name == "pads") return {"[1, 1, 1, 1]", "[0, 1, 1, 0]"};
  return {"[1, 1]", "[2, 2]", "[1, 2]", "[3, 3]"};
}

}  // namespace

void ParameterUses::add(const Graph& graph) {
  for (std::uint32_t i = 0; i < graph.nodes().size(); ++i) {
    const Node& node = graph.nodes()[i];
    for (const auto& type : node.outputs) ranks_.insert(type.shape.rank());
    if (const ApplicationNode* made = node.application())
      params_[made->op->name()].insert(param_texts(made->op->info().params, to_symbolic(made->params)));
  }
}

void ParameterUses::add(const Rule& rule, bool target_only) {
  if (!target_only) ranks_.merge(ranks_of(rule));
  for (const Pattern* side : {&rule.source, &rule.target}) {
    if (target_only && side == &rule.source) continue;
    for (const PatternNode& node : side->nodes)
      params_[node.op->name()].insert(param_texts(node.op->info().params, node.params));
  }
}

std::vector<ParamText> free_parameters(const Rule& rule, std::span<const Axiom> axioms, const Registry& registry,
                                       CertificateChecker& checker) {
  std::vector<ParamText> tried, free;
  const auto try_values = [&](const ParamText& param, const std::vector<std::string>& values) {
    if (std::ranges::find(tried, param) != tried.end()) return;
    tried.push_back(param);
    const Family family(rule, {param}, axioms, registry);
    if (std::ranges::any_of(values, [&](const std::string& value) {
          return value != param.second && family.member({value}, checker).has_value();
        }))
      free.push_back(param);
  };
  for (const PatternNode& node : rule.source.nodes) {
    const std::vector<ParamSpec>& specs = node.op->info().params;
    const std::vector<std::string> texts = param_texts(specs, node.params);
    const auto padding = std::ranges::find(specs, "padding", &ParamSpec::name);
    for (std::size_t i = 0; i < specs.size(); ++i) {
      const ParamSpec& spec = specs[i];
      if (spec.kind == ParamKind::kSizes || spec.kind == ParamKind::kReal) continue;
      const ParamText param(spec.name, texts[i]);
      if (spec.name != "pads" || padding == specs.end()) {
        try_values(param, samples(spec));
        continue;
      }
      // Both at once: pads are given where the padding is explicit, and nowhere else.
      const ParamText with("padding", texts[static_cast<std::size_t>(padding - specs.begin())]);
      if (std::ranges::find(tried, param) != tried.end()) continue;
      tried.push_back(param);
      const Family family(rule, {with, param}, axioms, registry);
      if (std::ranges::none_of(samples(spec), [&](const std::string& value) {
            return family.member({"explicit", value}, checker).has_value();
          }))
        continue;
      if (std::ranges::find(free, with) == free.end()) free.push_back(with);
      free.push_back(param);
    }
  }
  for (const int rank : ranks_of(rule)) {
    std::vector<std::string> others;
    for (int other = 1; other <= kMostRank; ++other) others.push_back(std::to_string(other));
    if (rank > 0) try_values({std::string(kRankOf), std::to_string(rank)}, others);
  }
  return free;
}

/// Goes through the source's applications with free parameters; each gets the values of one use.
class MemberSearch {
 public:
  MemberSearch(const Family& family, const ParameterUses& uses)
      : family_(family), uses_(uses), values_(family.free().size()) {}

  std::vector<std::vector<std::string>> run() {
    descend(0);
    return {found_.begin(), found_.end()};
  }

 private:
  void descend(std::size_t node) {
    if (found_.size() >= kMostMembers) return;
    const auto& nodes = family_.rule().source.nodes;
    if (node == nodes.size()) return finish(0);
    const std::vector<ParamSpec>& specs = nodes[node].op->info().params;
    const std::vector<std::string> own = param_texts(specs, nodes[node].params);
    const auto uses = uses_.params_.find(nodes[node].op->name());
    if (uses == uses_.params_.end()) return;
    std::set<std::vector<std::string>> seen;
    for (const std::vector<std::string>& use : uses->second) {
      const auto saved = values_;
      if (fits(specs, own, use) && seen.insert(use).second) descend(node + 1);
      values_ = saved;
    }
  }
  bool fits(const std::vector<ParamSpec>& specs, const std::vector<std::string>& own,
            const std::vector<std::string>& use) {
    for (std::size_t i = 0; i < specs.size(); ++i) {
      if (own[i].empty()) continue;
      const auto free = std::ranges::find(family_.free(), ParamText(specs[i].name, own[i]));
      if (free == family_.free().end()) {
        if (own[i] != use[i]) return false;
        continue;
      }
      std::string& value = values_[static_cast<std::size_t>(free - family_.free().begin())];
      if (!value.empty() && value != use[i]) return false;
      value = use[i];
    }
    return true;
  }
  /// Ranks are those of any tensor.
  void finish(std::size_t place) {
    if (found_.size() >= kMostMembers) return;
    if (place < values_.size()) {
      const auto& [name, own] = family_.free()[place];
      if (name != kRankOf) return finish(place + 1);
      for (const int rank : uses_.ranks_) {
        values_[place] = std::to_string(rank);
        finish(place + 1);
      }
      return;
    }
    const bool is_own = std::ranges::equal(values_, family_.free(), {}, {}, &ParamText::second);
    if (!is_own) found_.insert(values_);
  }

  const Family& family_;
  const ParameterUses& uses_;
  std::vector<std::string> values_;  ///< Of the free parameters; "" while a value is open.
  std::set<std::vector<std::string>> found_;
};

std::vector<std::vector<std::string>> members_for(const Family& family, const ParameterUses& uses) {
  return MemberSearch(family, uses).run();
}

}  // namespace rewright
