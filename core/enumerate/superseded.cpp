#include "enumerate/superseded.h"

#include <tbb/enumerable_thread_specific.h>
#include <tbb/parallel_for.h>
#include <tbb/parallel_sort.h>

#include <algorithm>
#include <bit>
#include <optional>

#include "enumerate/bits.h"

namespace rewright::enumeration {

namespace {

/// Weights are below 2^60, so that a sum of them does not wrap around.
std::uint64_t weight_of_choice(std::uint32_t choice) { return mix(choice + std::uint64_t{0x200}) >> 4; }

/// A hash of an application from numbers that stand for its operands; the same for either order where that does not
/// count.
std::uint64_t application_hash(const ChoiceRules& rules, std::uint32_t choice,
                               std::array<std::uint64_t, kMaxOperands> operands) {
  if (rules.commutative && operands[1] < operands[0]) std::swap(operands[0], operands[1]);
  std::uint64_t hash = mix(choice + std::uint64_t{0x300});
  for (std::uint32_t i = 0; i < rules.arity; ++i) hash = mix(hash ^ operands[i]);
  return hash;
}

std::uint64_t input_term(std::size_t input) { return mix(input + 1); }

}  // namespace

/// The graph that the walk stands at, with its last application.
struct SupersededTest::Whole {
  struct Application {
    const Entry* entry = nullptr;
    std::uint64_t weight = 0;
    unsigned made = 0;      ///< Tensors that it makes.
    unsigned consumed = 0;  ///< Tensors made that are its operands.
  };
  std::array<Application, kMaxOperators> applications{};
  std::array<TensorHash, kMaxOperators * kMaxOutputs> tensors{};
  std::array<std::uint8_t, kMaxOperators * kMaxOutputs> producers{};
  std::size_t count = 0, tensor_count = 0;
  unsigned consumed = 0;
  std::uint32_t inputs = 0;
  std::uint64_t fingerprint = 0;
  Order order;

  Whole(const Walk& walk, const Leaf& leaf) : fingerprint(leaf.fingerprint) {
    for (const Entry& entry : leaf.applications) add(entry);
    add(*leaf.last);
    const auto input_hashes = walk.input_hashes();
    for (std::size_t a = 0; a < count; ++a) {
      const Entry& entry = *applications[a].entry;
      const ChoiceRules& rules = walk.space().choices()[entry.choice];
      std::array<std::uint64_t, kMaxOperands> operands{};
      for (std::uint32_t i = 0; i < rules.arity; ++i) {
        const std::size_t tensor = entry.operands[i];
        operands[i] = tensor < input_hashes.size() ? input_hashes[tensor].identity
                                                   : tensors[tensor - input_hashes.size()].identity;
      }
      applications[a].weight = application_hash(rules, entry.choice, operands) >> 4;
    }
    order = order_of((1U << count) - 1);
  }

  void add(const Entry& entry) {
    const unsigned made = ((1U << entry.signature->output_count) - 1) << tensor_count;
    for (std::uint32_t k = 0; k < entry.signature->output_count; ++k) {
      producers[tensor_count] = static_cast<std::uint8_t>(count);
      tensors[tensor_count++] = entry.hashes[k];
    }
    consumed |= entry.consumed;
    inputs |= entry.inputs;
    applications[count++] = {&entry, 0, made, entry.consumed};
  }

  [[nodiscard]] Order order_of(unsigned part) const {
    Order order{static_cast<std::uint64_t>(std::popcount(part)), 0, 0};
    for_bits(part, [&](std::size_t a) {
      order.choices += weight_of_choice(applications[a].entry->choice);
      order.applications += applications[a].weight;
    });
    return order;
  }

  [[nodiscard]] unsigned made_by(unsigned part) const {
    unsigned made = 0;
    for_bits(part, [&](std::size_t a) { made |= applications[a].made; });
    return made;
  }
  [[nodiscard]] unsigned consumed_by(unsigned part) const {
    unsigned all = 0;
    for_bits(part, [&](std::size_t a) { all |= applications[a].consumed; });
    return all;
  }

  [[nodiscard]] std::uint32_t inputs_of(unsigned part) const {
    std::uint32_t all = 0;
    for_bits(part, [&](std::size_t a) { all |= applications[a].entry->inputs; });
    return all;
  }
  [[nodiscard]] std::uint32_t output_index(std::size_t tensor) const {
    return tensor > 0 && producers[tensor - 1] == producers[tensor] ? 1 : 0;
  }
  /// The applications that the outputs still need if `tensor` comes from elsewhere.
  [[nodiscard]] unsigned needed_without(std::size_t tensor) const {
    unsigned needed = 0, wanted = ((1U << tensor_count) - 1) & ~consumed;
    for (std::size_t a = count; a-- > 0;) {
      if ((applications[a].made & wanted) == 0) continue;
      needed |= 1U << a;
      wanted |= applications[a].consumed & ~(1U << tensor);
    }
    return needed;
  }

  /// Of the applications `among`, those that hang together with the lowest of them, but for the tensors `cut`.
  [[nodiscard]] unsigned connected_part(unsigned among, unsigned cut = 0) const {
    unsigned part = among & -among;
    for (;;) {
      const unsigned made = made_by(part) & ~cut, used = consumed_by(part) & ~cut;
      unsigned grown = part;
      for_bits(among & ~part, [&](std::size_t a) {
        if ((applications[a].consumed & made) != 0 || (applications[a].made & used) != 0) grown |= 1U << a;
      });
      if (grown == part) return part;
      part = grown;
    }
  }

  /// The syntax of a part, in which the tensor `replaced` (of those made) is the input `by`.
  [[nodiscard]] std::uint64_t syntax(const Walk& walk, unsigned part, std::size_t replaced, std::size_t by) const {
    const std::size_t input_count = walk.input_hashes().size();
    std::array<std::uint64_t, kMaxOperators * kMaxOutputs> terms{};
    if (replaced < terms.size()) terms[replaced] = input_term(by);
    std::uint64_t sum = 0;
    for_bits(part, [&](std::size_t a) {
      const Entry& entry = *applications[a].entry;
      const ChoiceRules& rules = walk.space().choices()[entry.choice];
      std::array<std::uint64_t, kMaxOperands> operands{};
      for (std::uint32_t i = 0; i < rules.arity; ++i) {
        const std::size_t tensor = entry.operands[i];
        operands[i] = tensor < input_count ? input_term(tensor) : terms[tensor - input_count];
      }
      const std::uint64_t term = application_hash(rules, entry.choice, operands);
      sum += mix(term);
      std::uint64_t k = 0;
      for_bits(applications[a].made, [&](std::size_t tensor) { terms[tensor] = mix(term + ++k); });
    });
    return sum;
  }
};

// --- the graphs of classes -------------------------------------------------------------------------------------------

bool SupersededTest::describe(const Walk& walk, const Leaf& leaf, PartGraph& part) {
  const Whole whole(walk, leaf);
  if (whole.tensor_count > kMaxPartTensors || whole.count > part.steps.size()) return false;
  part = {};
  part.fingerprint = leaf.fingerprint;
  part.order = whole.order;
  part.syntax = whole.syntax(walk, (1U << whole.count) - 1, ~std::size_t{0}, 0);
  part.inputs = whole.inputs;
  part.count = static_cast<std::uint8_t>(whole.count);
  part.tensor_count = static_cast<std::uint8_t>(whole.tensor_count);
  part.unconsumed = static_cast<std::uint8_t>(((1U << whole.tensor_count) - 1) & ~whole.consumed);
  for (std::size_t a = 0; a < whole.count; ++a) {
    const Whole::Application& application = whole.applications[a];
    part.steps[a] = {application.entry->choice, application.entry->operands};
    if (application.entry->signature->output_count > 1) part.two_outputs |= static_cast<std::uint8_t>(1U << a);
    unsigned needed = application.consumed;
    for_bits(application.consumed, [&](std::size_t tensor) { needed |= part.needed[tensor]; });
    for_bits(application.made, [&](std::size_t tensor) {
      part.tensors[tensor] = whole.tensors[tensor].identity;
      part.needed[tensor] = static_cast<std::uint8_t>(needed);
      part.producers[tensor] = static_cast<std::uint8_t>(a);
    });
  }
  return true;
}

namespace {

Record record_of(const PartGraph& graph) {
  Record record;
  record.count = graph.count;
  record.two_outputs = graph.two_outputs;
  std::copy_n(graph.steps.begin(), graph.count, record.steps.begin());
  return record;
}

}  // namespace

FirstGraphs::FirstGraphs(std::vector<PartGraph> graphs, const EnumerationConfig& fresh, tbb::task_arena& arena) {
  arena.execute([&] {
    tbb::enumerable_thread_specific<Evaluator> evaluators([&] { return Evaluator(fresh); });
    tbb::parallel_for(tbb::blocked_range<std::size_t>(0, graphs.size(), 256),
                      [&](const tbb::blocked_range<std::size_t>& range) {
                        Evaluator& evaluator = evaluators.local();
                        for (std::size_t i = range.begin(); i < range.end(); ++i)
                          graphs[i].confirmed = evaluator.fingerprint(record_of(graphs[i]));
                      });
    tbb::parallel_sort(graphs.begin(), graphs.end(), [](const PartGraph& a, const PartGraph& b) {
      return std::tie(a.fingerprint, a.confirmed, a.order, a.syntax) <
             std::tie(b.fingerprint, b.confirmed, b.order, b.syntax);
    });
  });
  by_syntax_.resize(std::bit_ceil(graphs.size() * 2 + 1));
  syntaxes_ = FingerprintFilter(graphs.size());
  std::vector<bool> is_whole;  // Is all of the fingerprint in this class?
  for (const PartGraph& graph : graphs) {
    const bool same_fingerprint = !firsts_.empty() && firsts_.back().fingerprint == graph.fingerprint;
    if (!same_fingerprint || firsts_.back().confirmed != graph.confirmed) {
      if (same_fingerprint) is_whole.back() = false;
      firsts_.push_back(graph);
      is_whole.push_back(!same_fingerprint);
      continue;
    }
    std::size_t at = graph.syntax & (by_syntax_.size() - 1);
    while (by_syntax_[at].syntax != 0) at = (at + 1) & (by_syntax_.size() - 1);
    by_syntax_[at] = {graph.syntax, static_cast<std::uint32_t>(firsts_.size() - 1)};
    syntaxes_.add(graph.syntax);
  }
  firsts_.shrink_to_fit();
  by_class_.resize(std::bit_ceil(firsts_.size() * 2 + 1));
  classes_ = FingerprintFilter(firsts_.size());
  for (std::size_t i = 0; i < firsts_.size(); ++i) {
    if (!is_whole[i]) continue;
    std::size_t at = mix(firsts_[i].fingerprint) & (by_class_.size() - 1);
    while (by_class_[at] != 0) at = (at + 1) & (by_class_.size() - 1);
    by_class_[at] = static_cast<std::uint32_t>(i + 1);
    classes_.add(firsts_[i].fingerprint);
  }
}

const PartGraph* FirstGraphs::of_class(std::uint64_t fingerprint) const {
  if (!classes_.may_hold(fingerprint)) return nullptr;
  const std::size_t mask = by_class_.size() - 1;
  for (std::size_t at = mix(fingerprint) & mask; by_class_[at] != 0; at = (at + 1) & mask) {
    if (firsts_[by_class_[at] - 1].fingerprint == fingerprint) return &firsts_[by_class_[at] - 1];
  }
  return nullptr;
}

const PartGraph* FirstGraphs::before(std::uint64_t syntax) const {
  if (!syntaxes_.may_hold(syntax)) return nullptr;
  const std::size_t mask = by_syntax_.size() - 1;
  for (std::size_t at = syntax & mask; by_syntax_[at].syntax != 0; at = (at + 1) & mask) {
    if (by_syntax_[at].syntax == syntax) return &firsts_[by_syntax_[at].first];
  }
  return nullptr;
}

// --- the end ---------------------------------------------------------------------------------------------------------

namespace {

std::optional<std::size_t> position_of(const PartGraph& part, std::uint64_t identity) {
  for (std::size_t i = 0; i < part.tensor_count; ++i) {
    if (part.tensors[i] == identity) return i;
  }
  return std::nullopt;
}

}  // namespace

bool SupersededTest::by_end(const Walk& walk, const Whole& whole) const {
  const std::size_t input_count = walk.input_hashes().size();
  const unsigned all = (1U << whole.count) - 1;
  for (std::size_t end = 0; end < whole.count; ++end) {
    const Whole::Application& last = whole.applications[end];
    if ((last.made & whole.consumed) != 0) continue;
    const ChoiceRules& rules = walk.space().choices()[last.entry->choice];
    for (unsigned left = all & ~(1U << end), part = 0; left != 0; left &= ~part) {
      part = whole.connected_part(left);
      const unsigned tensors = whole.made_by(part), outputs = tensors & ~whole.consumed_by(part);
      std::uint64_t fingerprint = 0;
      for_bits(outputs, [&](std::size_t tensor) { fingerprint += output_hash(whole.tensors[tensor]); });
      const PartGraph* const first = firsts_.of_class(fingerprint);
      if (first == nullptr || !(first->order < whole.order_of(part))) continue;
      std::array<std::optional<std::size_t>, kMaxOperands> positions;
      bool fits = true;
      for (std::uint32_t i = 0; i < rules.arity; ++i) {
        if (last.entry->operands[i] < input_count) continue;
        const std::size_t operand = last.entry->operands[i] - input_count;
        if ((tensors >> operand & 1) == 0) continue;
        positions[i] = position_of(*first, whole.tensors[operand].identity);
        // What the whole's outputs are must not change.
        fits = fits && positions[i] && (first->unconsumed >> *positions[i] & 1U) == (outputs >> operand & 1U);
      }
      if (!fits) continue;
      if (rules.made_in_order && positions[0] && positions[1]) {
        const std::size_t a = *positions[0], b = *positions[1];
        if (first->producers[a] == first->producers[b] ? a > b : (first->needed[a] >> b & 1) != 0) continue;
      }
      // No tensor may come twice, and inputs must be used in order.
      std::uint32_t inputs = first->inputs;
      for_bits(all & ~part, [&](std::size_t a) {
        inputs |= whole.applications[a].entry->inputs;
        for_bits(whole.applications[a].made,
                 [&](std::size_t tensor) { fits = fits && !position_of(*first, whole.tensors[tensor].identity); });
      });
      if (fits && walk.in_order(inputs)) return true;
    }
  }
  return false;
}

// --- the beginning ---------------------------------------------------------------------------------------------------

bool SupersededTest::by_beginning(const Walk& walk, const Whole& whole) {
  for (std::size_t tensor = 0; tensor < whole.tensor_count; ++tensor) {
    if ((whole.consumed >> tensor & 1) == 0) continue;
    const TypeId type =
        whole.applications[whole.producers[tensor]].entry->signature->outputs[whole.output_index(tensor)];
    // What is needed if the tensor is there already.
    const unsigned rest = whole.needed_without(tensor);
    for (unsigned left = rest, part = 0; left != 0; left &= ~part) {
      part = whole.connected_part(left, 1U << tensor);
      if (replaceable(walk, whole, tensor, type, part, rest)) return true;
    }
  }
  return false;
}

bool SupersededTest::replaceable(const Walk& walk, const Whole& whole, std::size_t tensor, TypeId type, unsigned part,
                                 unsigned rest) {
  const auto inputs = walk.space().inputs();
  if ((whole.consumed_by(part) >> tensor & 1) == 0) return false;
  const std::uint32_t used = whole.inputs_of(part);
  std::size_t free = 0;
  while (free < inputs.size() && (inputs[free].type != type || (used >> free & 1) != 0)) ++free;
  if (free == inputs.size()) return false;
  const PartGraph* const first = firsts_.before(whole.syntax(walk, part, tensor, free));
  if (first == nullptr) return false;
  const bool needs_tensor = (first->inputs >> free & 1) != 0;
  if (!needs_tensor && part != rest) return false;
  // What is not of the part, and the first graph in place of the part.
  const unsigned kept = needs_tensor ? ((1U << whole.count) - 1) & ~part : 0;
  if ((whole.consumed_by(kept) & whole.made_by(part)) != 0) return false;
  Record other;
  std::array<std::uint8_t, kMaxOperators * kMaxOutputs> places{};
  auto next = static_cast<std::uint8_t>(inputs.size());
  const auto add = [&](const Step& step, std::uint32_t outputs) {
    other.steps[other.count] = step;
    other.two_outputs |= static_cast<std::uint8_t>((outputs - 1) << other.count);
    ++other.count;
    next = static_cast<std::uint8_t>(next + outputs);
  };
  if (static_cast<std::size_t>(std::popcount(kept)) + first->count > kMaxOperators) return false;
  for_bits(kept, [&](std::size_t a) {
    const Entry& entry = *whole.applications[a].entry;
    Step step{entry.choice, entry.operands};
    for (std::uint8_t& operand : step.operands) {
      if (operand >= inputs.size()) operand = places[operand - inputs.size()];
    }
    std::uint8_t place = next;
    for_bits(whole.applications[a].made, [&](std::size_t made) { places[made] = place++; });
    add(step, entry.signature->output_count);
  });
  const std::uint8_t before = next;
  for (std::size_t s = 0; s < first->count; ++s) {
    Step step = first->steps[s];
    for (std::uint8_t& operand : step.operands) {
      if (operand >= inputs.size()) {
        operand = static_cast<std::uint8_t>(operand - inputs.size() + before);
      } else if (operand == free && needs_tensor) {
        operand = places[tensor];
      }
    }
    add(step, 1 + (first->two_outputs >> s & 1U));
  }
  return comes_before(walk, whole, other);
}

namespace {

/// Would the walk visit a graph of these steps, as far as that does not depend on values? It hangs together, and
/// operands that must differ do: the graph that was put into it is one of the space and touches the rest in one tensor
/// alone.
bool is_of_the_space(const Walk& walk, const Record& graph) {
  const std::size_t input_count = walk.input_hashes().size();
  std::uint32_t inputs = 0;
  std::array<std::uint32_t, kMaxOperators * kMaxOutputs> needed{};  // Bit j: from the j-th tensor made.
  std::array<std::uint8_t, kMaxOperators * kMaxOutputs> makers{};
  std::size_t made = 0;
  for (std::size_t s = 0; s < graph.count; ++s) {
    const Step& step = graph.steps[s];
    const ChoiceRules& rules = walk.space().choices()[step.choice];
    std::uint32_t all_needed = 0;
    for (std::uint32_t i = 0; i < rules.arity; ++i) {
      const std::size_t operand = step.operands[i];
      if (operand < input_count) {
        inputs |= 1U << operand;
        if ((rules.inputs[i] >> operand & 1) == 0) return false;
      } else {
        if (rules.inputs_only) return false;
        all_needed |= 1U << (operand - input_count) | needed[operand - input_count];
      }
    }
    if (rules.arity > 1 && rules.made_in_order) {
      const std::size_t a = step.operands[0], b = step.operands[1];
      if (a < input_count || b < input_count || makers[a - input_count] == makers[b - input_count]) {
        if (a >= b) return false;
      } else if ((needed[a - input_count] >> (b - input_count) & 1) != 0) {
        return false;
      }
    }
    for (std::size_t k = 0; k < graph.output_count(s); ++k, ++made) {
      needed[made] = all_needed;
      makers[made] = static_cast<std::uint8_t>(s);
    }
  }
  return walk.in_order(inputs);
}

}  // namespace

bool SupersededTest::comes_before(const Walk& walk, const Whole& whole, const Record& other) {
  Order order{other.count, 0, 0};
  for (const Step& step : other.all()) order.choices += weight_of_choice(step.choice);
  if (std::tie(order.count, order.choices) > std::tie(whole.order.count, whole.order.choices)) return false;
  if (!is_of_the_space(walk, other)) return false;
  const std::size_t tensor_count = evaluator_.run(other).size(), input_count = walk.input_hashes().size();
  for (const Step& step : other.all()) {
    const ChoiceRules& rules = walk.space().choices()[step.choice];
    std::array<std::uint64_t, kMaxOperands> operands{};
    for (std::uint32_t i = 0; i < rules.arity; ++i) operands[i] = evaluator_.hash(step.operands[i]).identity;
    order.applications += application_hash(rules, step.choice, operands) >> 4;
  }
  if (!(order < whole.order)) return false;
  // No tensor may come twice.
  for (std::size_t i = input_count; i < tensor_count; ++i) {
    for (std::size_t j = 0; j < i; ++j) {
      if (evaluator_.hash(i).identity == evaluator_.hash(j).identity) return false;
    }
  }
  std::uint64_t fingerprint = 0;
  std::uint64_t previous = 0;
  for (const std::size_t output : evaluator_.outputs()) {
    const TensorHash& hash = evaluator_.hash(output);
    if (hash.content == previous) return false;
    previous = hash.content;
    fingerprint += output_hash(hash);
  }
  return fingerprint == whole.fingerprint;
}

bool SupersededTest::operator()(const Walk& walk, const Leaf& leaf) {
  const Whole whole(walk, leaf);
  return whole.count > 1 && (by_end(walk, whole) || by_beginning(walk, whole));
}

}  // namespace rewright::enumeration
