#include "enumerate/pairs.h"

#include <algorithm>
#include <bit>
#include <numeric>

#include "enumerate/bits.h"

namespace rewright::enumeration {

void Expanded::assign(const Record& record, Evaluator& evaluator) {
  record_ = record;
  evaluator_ = &evaluator;
  identities_.clear();
  const auto tensors = evaluator.run(record);
  tensors_.assign(tensors.begin(), tensors.end());
  outputs_ = evaluator.outputs();
  inputs_ = tensors.size() - record.made();
  std::size_t next = 0;
  const Space& space = evaluator.space();
  for (std::size_t s = 0; s < record.count; ++s) {
    consumed_[s] = makes_[s] = 0;
    needed_[s] = 1U << s;
    for (std::uint32_t i = 0; i < space.choices()[record.steps[s].choice].arity; ++i) {
      const std::size_t operand = record.steps[s].operands[i];
      if (operand < inputs_) continue;
      consumed_[s] |= 1U << (operand - inputs_);
      needed_[s] |= needed(operand);
    }
    for (std::uint8_t k = 0; k < record.output_count(s); ++k, ++next) {
      made_[next] = {static_cast<std::uint8_t>(s), k};
      makes_[s] |= 1U << next;
    }
  }
}

std::uint64_t Expanded::identity(std::size_t tensor) {
  if (identities_.empty()) {
    evaluator_->run(record_);
    for (std::size_t t = 0; t < tensors_.size(); ++t) identities_.push_back(evaluator_->hash(t).identity);
  }
  return identities_[tensor];
}

bool Expanded::are_outputs(unsigned steps, std::span<const std::size_t> wanted) const {
  unsigned made = 0, consumed = 0;
  for_bits(steps, [&](std::size_t s) {
    made |= makes_[s];
    consumed |= consumed_[s];
  });
  unsigned outputs = 0;
  for (const std::size_t tensor : wanted) {
    if (!is_input(tensor)) outputs |= 1U << (tensor - inputs_);
  }
  return (made & ~consumed) == outputs;
}

bool Expanded::hang_together(unsigned steps) const {
  if (steps == 0) return true;
  unsigned part = steps & -steps;
  for (;;) {
    unsigned made = 0, consumed = 0;
    for_bits(part, [&](std::size_t s) {
      made |= makes_[s];
      consumed |= consumed_[s];
    });
    unsigned grown = part;
    for_bits(steps & ~part, [&](std::size_t s) {
      if ((consumed_[s] & made) != 0 || (makes_[s] & consumed) != 0) grown |= 1U << s;
    });
    if (grown == part) return part == steps;
    part = grown;
  }
}

// --- smaller equalities ----------------------------------------------------------------------------------------------

namespace {

using Equal = std::pair<std::size_t, std::size_t>;  // A tensor of the source and one of the target.

/// Pairs of operands whose equality makes f(..) = f(..). False: the two are no such.
bool operands_of(const Space& space, Expanded& source, Expanded& target, const Equal& pair, std::vector<Equal>& equal) {
  const auto& [u, v] = pair;
  if (source.is_input(u) || target.is_input(v)) return false;
  const Step &a = source.step_of(u), &b = target.step_of(v);
  if (a.choice != b.choice || source.made(u).output != target.made(v).output) return false;
  const ChoiceRules& rules = space.choices()[a.choice];
  const auto same = [&](std::size_t i, std::size_t j) {
    return source.identity(a.operands[i]) == target.identity(b.operands[j]);
  };
  bool straight = true;
  for (std::uint32_t i = 0; i < rules.arity; ++i) straight = straight && same(i, i);
  const bool crossed = !straight && rules.commutative && same(0, 1) && same(1, 0);
  if (!straight && !crossed) return false;
  for (std::uint32_t i = 0; i < rules.arity; ++i) equal.emplace_back(a.operands[i], b.operands[crossed ? 1 - i : i]);
  return true;
}

}  // namespace

bool follows_from_smaller(const Space& space, Expanded& source, Expanded& target) {
  if (source.outputs().size() != target.outputs().size()) return false;
  const auto known = [&](const Equal& pair) {
    return source.tensors()[pair.first].term == target.tensors()[pair.second].term;
  };
  std::vector<Equal> open, left;
  for (std::size_t i = 0; i < source.outputs().size(); ++i) {
    const Equal pair{source.outputs()[i], target.outputs()[i]};
    if (!known(pair)) open.push_back(pair);
  }
  bool taken_apart = source.outputs().size() > 1;
  while (!open.empty()) {
    const Equal pair = open.back();
    open.pop_back();
    std::vector<Equal> operands;
    if (operands_of(space, source, target, pair, operands)) {
      taken_apart = true;
      for (const Equal& operand : operands) {
        if (!known(operand)) open.push_back(operand);
      }
    } else if (std::find(left.begin(), left.end(), pair) == left.end()) {
      left.push_back(pair);
    }
  }
  if (!taken_apart) return false;
  const auto smaller = [&](std::span<const Equal> pairs) {
    unsigned of_source = 0, of_target = 0;
    std::vector<std::size_t> u, v;
    for (const auto& [a, b] : pairs) {
      of_source |= source.needed(a);
      of_target |= target.needed(b);
      u.push_back(a);
      v.push_back(b);
    }
    return std::popcount(of_source) + std::popcount(of_target) < source.record().count + target.record().count &&
           source.are_outputs(of_source, u) && target.are_outputs(of_target, v) &&
           (source.hang_together(of_source) || target.hang_together(of_target));
  };
  const bool one_by_one = std::all_of(left.begin(), left.end(), [&](const Equal& pair) { return smaller({&pair, 1}); });
  return one_by_one || smaller(left);
}

// --- what both have in common ----------------------------------------------------------------------------------------

namespace {

bool contains(std::span<const std::uint64_t> sorted, std::uint64_t term) {
  return std::binary_search(sorted.begin(), sorted.end(), term);
}

std::vector<std::uint64_t> made_terms(const Expanded& graph) {
  std::vector<std::uint64_t> terms;
  for (std::size_t t = 0; t < graph.tensors().size(); ++t) {
    if (!graph.is_input(t)) terms.push_back(graph.tensors()[t].term);
  }
  std::sort(terms.begin(), terms.end());
  return terms;
}

/// Adds tensors of `graph` that are in `common` and an operand of something that is not.
void add_frontier(const Space& space, const Expanded& graph, std::span<const std::uint64_t> common,
                  std::vector<std::uint64_t>& terms) {
  for (std::size_t t = 0; t < graph.tensors().size(); ++t) {
    if (graph.is_input(t) || contains(common, graph.tensors()[t].term)) continue;
    const Step& step = graph.step_of(t);
    for (std::uint32_t i = 0; i < space.choices()[step.choice].arity; ++i) {
      const std::uint64_t term = graph.tensors()[step.operands[i]].term;
      if (!graph.is_input(step.operands[i]) && contains(common, term)) terms.push_back(term);
    }
  }
}

}  // namespace

void common_tensors(const Space& space, const Expanded& source, const Expanded& target,
                    std::vector<std::uint64_t>& terms) {
  terms.clear();
  const auto a = made_terms(source), b = made_terms(target);
  std::vector<std::uint64_t> common;
  std::set_intersection(a.begin(), a.end(), b.begin(), b.end(), std::back_inserter(common));
  if (common.empty()) return;
  add_frontier(space, source, common, terms);
  add_frontier(space, target, common, terms);
  // An output as it stands on one side, made from something else on the other.
  for (std::size_t i = 0; i < source.outputs().size(); ++i) {
    const std::uint64_t u = source.tensors()[source.outputs()[i]].term, v = target.tensors()[target.outputs()[i]].term;
    if (u == v) continue;
    if (contains(common, u)) terms.push_back(u);
    if (contains(common, v)) terms.push_back(v);
  }
  std::sort(terms.begin(), terms.end());
  terms.erase(std::unique(terms.begin(), terms.end()), terms.end());
}

std::vector<std::uint64_t> looked_into(const Space& space, const Expanded& graph, std::span<const std::uint64_t> terms,
                                       std::span<const std::uint64_t> replaced) {
  std::vector<std::uint64_t> result;
  for (std::size_t t = 0; t < graph.tensors().size(); ++t) {
    const std::uint64_t term = graph.tensors()[t].term;
    if (graph.is_input(t) || !contains(terms, term)) continue;
    if (!contains(replaced, term)) {
      result.push_back(term);
      continue;
    }
    const Step& step = graph.step_of(t);
    for (std::uint32_t i = 0; i < space.choices()[step.choice].arity; ++i) {
      if (!graph.is_input(step.operands[i])) result.push_back(graph.tensors()[step.operands[i]].term);
    }
  }
  std::sort(result.begin(), result.end());
  result.erase(std::unique(result.begin(), result.end()), result.end());
  return result;
}

namespace {

/// Writes the two graphs down as one number, in an order that names of inputs do not decide.
class PairWriter {
 public:
  PairWriter(const Space& space, const Expanded& source, const Expanded& target, std::span<const std::uint64_t> free)
      : space_(space), free_(free), sides_{&source, &target} {
    for (std::size_t side = 0; side < 2; ++side) find_shapes(side);
  }

  std::uint64_t write(std::size_t first) {
    hash_ = 0;
    names_.clear();
    // Outputs that are the same tensor on both sides say nothing.
    std::vector<std::pair<std::uint64_t, std::size_t>> order;
    for (std::size_t i = 0; i < sides_[0]->outputs().size(); ++i) {
      const std::size_t u = sides_[0]->outputs()[i], v = sides_[1]->outputs()[i];
      if (sides_[0]->tensors()[u].term == sides_[1]->tensors()[v].term) continue;
      const std::uint64_t shapes[2] = {shapes_[0][u], shapes_[1][v]};
      order.emplace_back(mix(shapes[first] ^ mix(shapes[1 - first])), i);
    }
    std::sort(order.begin(), order.end());
    for (const std::size_t side : {first, 1 - first}) {
      for (const auto& [ignored, i] : order) visit(side, sides_[side]->outputs()[i]);
    }
    return hash_;
  }

 private:
  [[nodiscard]] bool is_variable(std::size_t side, std::size_t tensor) const {
    return sides_[side]->is_input(tensor) || contains(free_, sides_[side]->tensors()[tensor].term);
  }

  /// Of each tensor, what it looks like if inputs of one type are all the same.
  void find_shapes(std::size_t side) {
    const Expanded& graph = *sides_[side];
    for (std::size_t t = 0; t < graph.tensors().size(); ++t) {
      if (is_variable(side, t)) {
        shapes_[side].push_back(mix(space_.shape_hash(graph.tensors()[t].type)));
        continue;
      }
      const Step& step = graph.step_of(t);
      const ChoiceRules& rules = space_.choices()[step.choice];
      std::array<std::uint64_t, kMaxOperands> operands{};
      for (std::uint32_t i = 0; i < rules.arity; ++i) operands[i] = shapes_[side][step.operands[i]];
      if (rules.commutative && operands[1] < operands[0]) std::swap(operands[0], operands[1]);
      std::uint64_t shape = mix(step.choice + std::uint64_t{0x400});
      for (std::uint32_t i = 0; i < rules.arity; ++i) shape = mix(shape ^ operands[i]);
      shapes_[side].push_back(mix(shape + graph.made(t).output));
    }
  }

  void put(std::uint64_t number) { hash_ = mix(hash_ ^ mix(number)); }

  /// A tensor that was written before is a number; an application is known by its term.
  bool known(std::uint64_t term) {
    for (std::size_t i = 0; i < names_.size(); ++i) {
      if (names_[i] == term) return put(i), true;
    }
    names_.push_back(term);
    return false;
  }

  void visit(std::size_t side, std::size_t tensor) {
    const Expanded& graph = *sides_[side];
    if (is_variable(side, tensor)) {
      if (!known(graph.tensors()[tensor].term)) put(space_.shape_hash(graph.tensors()[tensor].type));
      return;
    }
    put(std::uint64_t{0x500} + graph.made(tensor).output);
    const Step& step = graph.step_of(tensor);
    if (known(graph.application_term(tensor))) return;
    put(std::uint64_t{0x600} + step.choice);
    // Where a split cuts is not in the choice, but in what it makes.
    put(space_.shape_hash(graph.tensors()[tensor - graph.made(tensor).output].type));
    const ChoiceRules& rules = space_.choices()[step.choice];
    std::array<std::size_t, kMaxOperands> operands{};
    for (std::uint32_t i = 0; i < rules.arity; ++i) operands[i] = step.operands[i];
    if (rules.commutative && shapes_[side][operands[1]] < shapes_[side][operands[0]])
      std::swap(operands[0], operands[1]);
    for (std::uint32_t i = 0; i < rules.arity; ++i) visit(side, operands[i]);
  }

  const Space& space_;
  std::span<const std::uint64_t> free_;
  std::array<const Expanded*, 2> sides_;
  std::array<std::vector<std::uint64_t>, 2> shapes_;
  std::vector<std::uint64_t> names_;
  std::uint64_t hash_ = 0;
};

}  // namespace

std::uint64_t shape_of_pair(const Space& space, const Expanded& source, const Expanded& target,
                            std::span<const std::uint64_t> free) {
  PairWriter writer(space, source, target, free);
  return std::min(writer.write(0), writer.write(1));
}

std::array<int, 2> operators_without(const Space& space, const Expanded& source, const Expanded& target,
                                     std::span<const std::uint64_t> free) {
  const auto count = [&](const Expanded& graph, const Expanded& other) {
    std::vector<bool> wanted(graph.tensors().size());
    for (std::size_t i = 0; i < graph.outputs().size(); ++i) {
      const std::size_t output = graph.outputs()[i];
      wanted[output] = free.empty() || graph.tensors()[output].term != other.tensors()[other.outputs()[i]].term;
    }
    unsigned steps = 0;
    for (std::size_t t = graph.tensors().size(); t-- > 0;) {
      if (!wanted[t] || graph.is_input(t) || contains(free, graph.tensors()[t].term)) continue;
      steps |= 1U << graph.made(t).step;
      const Step& step = graph.step_of(t);
      for (std::uint32_t i = 0; i < space.choices()[step.choice].arity; ++i) wanted[step.operands[i]] = true;
    }
    return std::popcount(steps);
  };
  return {count(source, target), count(target, source)};
}

bool equal_for_any(Evaluator& evaluator, const Record& source, const Record& target,
                   std::span<const std::uint64_t> free) {
  return evaluator.fingerprint(source, free) == evaluator.fingerprint(target, free);
}

}  // namespace rewright::enumeration
