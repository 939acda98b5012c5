#include "rewrite/rule_set.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "rule/usable.h"
#include "tensor/real.h"

namespace rewright {
namespace {

bool meets(const ParamValue& actual, const BasicParamValue<SymbolicDim>& asked) {
  if (asked.index() != actual.index()) return false;
  switch (asked.index()) {
    case 0: return std::get<0>(asked) == std::get<0>(actual);
    case 1: return is_same_real(std::get<1>(asked), std::get<1>(actual));
    case 2: return std::get<2>(asked) == std::get<2>(actual);
    default: break;
  }
  const auto& sizes = std::get<3>(asked).values;
  const auto& numbers = std::get<3>(actual).values;
  return std::ranges::equal(sizes, numbers, [](const SymbolicDim& size, std::int64_t number) {
    return size.constant().value_or(number) == number;
  });
}

/// Equal demands: sizes that are no numbers ask for nothing.
bool same_demand(const SymbolicParams& a, const SymbolicParams& b) {
  return std::ranges::equal(a.values(), b.values(), [](const auto& left, const auto& right) {
    if (left.index() != right.index()) return false;
    if (left.index() < 3) return left == right;
    return std::ranges::equal(std::get<3>(left).values, std::get<3>(right).values,
                              [](const SymbolicDim& x, const SymbolicDim& y) { return x.constant() == y.constant(); });
  });
}

RuleSet::Branch& branch(std::vector<RuleSet::Branch>& branches, std::uint32_t key, std::uint32_t output) {
  const auto before = [](const RuleSet::Branch& a, const RuleSet::Branch& b) {
    return std::pair(a.key, a.output) < std::pair(b.key, b.output);
  };
  const RuleSet::Branch wanted{key, output, 0};
  const auto at = std::ranges::lower_bound(branches, wanted, before);
  if (at != branches.end() && at->key == key && at->output == output) return *at;
  return *branches.insert(at, wanted);
}

}  // namespace

RuleSet::RuleSet(std::vector<Rule> rules) : rules_(std::move(rules)) {
  for (std::size_t i = 0; i < rules_.size(); ++i) {
    if (const auto compiled = check_usable(rules_[i]); !compiled) {
      unusable_.push_back({i, compiled.error().message});
      continue;
    }
    programs_.push_back(RuleProgram::compile(rules_[i], i));
    add(static_cast<std::uint32_t>(programs_.size() - 1));
  }
}

std::uint32_t RuleSet::demand(const PatternNode& node) {
  for (const std::uint32_t id : demands_of_[node.op])
    if (demands_[id].arity == node.inputs.size() && same_demand(demands_[id].params, node.params)) return id;
  demands_.push_back({node.op, node.inputs.size(), node.params});
  demands_of_[node.op].push_back(static_cast<std::uint32_t>(demands_.size() - 1));
  return demands_of_[node.op].back();
}

std::vector<std::uint32_t> RuleSet::met_by(const Operator& op, const Params& params, std::size_t arity) const {
  std::vector<std::uint32_t> met;
  const auto demands = demands_of_.find(&op);
  if (demands == demands_of_.end()) return met;
  for (const std::uint32_t id : demands->second)
    if (demands_[id].arity == arity && std::ranges::equal(params.values(), demands_[id].params.values(), meets))
      met.push_back(id);
  return met;
}

/// Writes one part into the tree, in every order of commutative operands.
struct RuleSet::Writer {
  RuleSet& set;
  const RuleProgram& program;
  Leaf leaf = {};
  std::vector<Port> places = {};  ///< The pattern's port at each place.

  [[nodiscard]] std::uint32_t input_count() const { return static_cast<std::uint32_t>(program.input_ranks.size()); }

  /// An earlier place with the same port, or with another output of the same operator.
  [[nodiscard]] std::optional<std::uint32_t> earlier(std::size_t place, bool same_output) const {
    for (std::uint32_t i = 0; i < place; ++i)
      if (places[i].node == places[place].node && (!same_output || places[i].output == places[place].output)) return i;
    return std::nullopt;
  }
  std::uint32_t follow(std::vector<Branch> Place::*kind, std::uint32_t at, std::uint32_t key, std::uint32_t output) {
    const std::uint32_t known = branch(set.places_[at].*kind, key, output).next;
    if (known != 0) return known;
    const auto next = static_cast<std::uint32_t>(set.places_.size());
    branch(set.places_[at].*kind, key, output).next = next;
    set.places_.emplace_back();
    return next;
  }

  void write(std::uint32_t at, std::uint32_t place) {
    if (place == places.size()) {
      set.places_[at].leaves.push_back(leaf);
      return;
    }
    const Port port = places[place];
    if (const auto same = earlier(place, true)) {
      write(follow(&Place::repeated, at, *same, 0), place + 1);
    } else if (const auto sibling = earlier(place, false); sibling && !is_input(port)) {
      write(follow(&Place::siblings, at, *sibling, port.output), place + 1);
    } else if (is_input(port)) {
      const auto rank = static_cast<std::uint32_t>(program.input_ranks[port.node.value]);
      leaf.inputs.emplace_back(port.node.value, place);
      write(follow(&Place::tensors, at, rank, 0), place + 1);
      leaf.inputs.pop_back();
    } else {
      write_operator(at, place);
    }
  }
  [[nodiscard]] bool is_input(Port port) const { return port.node.value < input_count(); }

  void write_operator(std::uint32_t at, std::uint32_t place) {
    const std::uint32_t position = places[place].node.value - input_count();
    const PatternNode& node = program.source[position];
    const std::uint32_t next = follow(&Place::operators, at, set.demand(node), place == 0 ? 0 : places[place].output);
    leaf.nodes.emplace_back(position, place);
    const std::size_t size = places.size();
    const bool commutes = node.op->info().commutative && node.inputs.size() >= 2 && node.inputs[0] != node.inputs[1];
    for (const bool swapped : {false, true}) {
      if (swapped && !commutes) break;
      places.insert(places.end(), node.inputs.begin(), node.inputs.end());
      if (swapped) std::swap(places[size], places[size + 1]), leaf.swapped.push_back(place);
      write(next, place + 1);
      places.resize(size);
      if (swapped) leaf.swapped.pop_back();
    }
    leaf.nodes.pop_back();
  }
};

void RuleSet::add(std::uint32_t program) {
  for (std::uint32_t part = 0; part < programs_[program].parts.size(); ++part) {
    Writer writer{*this, programs_[program]};
    writer.leaf.program = program;
    writer.leaf.part = part;
    writer.places = {{{programs_[program].parts[part].root + writer.input_count()}, 0}};
    writer.write(0, 0);
  }
}

}  // namespace rewright
