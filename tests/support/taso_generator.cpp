#include "support/taso_generator.h"

#include <algorithm>
#include <array>
#include <functional>
#include <memory>
#include <unordered_map>
#include <utility>

#include "support/taso_space.h"

namespace rewright::test {

using namespace enumeration;
namespace taso = rewright::testing::taso;

namespace {

constexpr std::size_t kMostOperators = 3;

/// An operand: below 0, input -1 - index; else 2 * operator + output.
using Place = std::int8_t;
constexpr Place input_place(std::size_t index) { return static_cast<Place>(-1 - static_cast<int>(index)); }

struct Step {
  std::uint8_t choice = 0;
  std::uint8_t arity = 0;
  std::array<Place, 2> in{};
  friend bool operator==(const Step&, const Step&) = default;
};

struct Sequence {
  std::uint8_t count = 0;
  std::array<Step, kMostOperators> steps{};
};

struct Tensor {
  TypeId type = 0;
  std::uint64_t hash = 0;
  std::vector<Word> value;
  Place place = 0;
};

bool same_on_inputs(const Step& a, const Step& b) {
  if (a.choice != b.choice) return false;
  for (std::size_t i = 0; i < a.arity; ++i) {
    if (a.in[i] != b.in[i] || a.in[i] >= 0) return false;
  }
  return true;
}

bool same_but_for_one(const Step& a, const Step& b) {
  if (a.choice != b.choice) return false;
  int different = 0;
  for (std::size_t i = 0; i < a.arity; ++i) different += a.in[i] != b.in[i] || a.in[i] >= 0 ? 1 : 0;
  return different <= 1;
}

/// Of x1, x2, x3, of w1, w2, w3, of i1, i2, i3 and of w4, w5, w6 no later one is used before an earlier one.
bool inputs_in_order(const Sequence& graph) {
  std::array<int, 12> first;
  int at = 0;
  first.fill(100);
  for (std::size_t i = 0; i < graph.count; ++i) {
    for (std::size_t k = 0; k < graph.steps[i].arity; ++k, ++at) {
      const int input = -1 - graph.steps[i].in[k];
      if (0 <= input && input < 12)
        first[static_cast<std::size_t>(input)] = std::min(first[static_cast<std::size_t>(input)], at);
    }
  }
  for (std::size_t input = 0; input + 1 < first.size(); ++input) {
    if (input % 3 != 2 && first[input] > first[input + 1]) return false;
  }
  return true;
}

bool worth_keeping(const Sequence& a, const Sequence& b) {
  for (std::size_t i = 0; i < a.count; ++i) {
    for (std::size_t j = 0; j < b.count; ++j) {
      if (same_on_inputs(a.steps[i], b.steps[j])) return false;
    }
  }
  if (a.count == 0 || b.count == 0 || same_but_for_one(a.steps[a.count - 1U], b.steps[b.count - 1U])) return false;
  return inputs_in_order(a) || inputs_in_order(b);
}

using Renaming = std::array<Place, 32>;  // By input; 0: none yet.

/// Is `special` what `general` becomes when its inputs are renamed, by one renaming for all graphs asked about?
bool renames(const Sequence& general, const Sequence& special, Renaming& renaming) {
  if (general.count != special.count) return false;
  for (std::size_t i = 0; i < general.count; ++i) {
    const Step &from = general.steps[i], &to = special.steps[i];
    if (from.choice != to.choice) return false;
    for (std::size_t k = 0; k < from.arity; ++k) {
      if (from.in[k] >= 0 || to.in[k] >= 0) {
        if (from.in[k] != to.in[k]) return false;
        continue;
      }
      Place& image = renaming[static_cast<std::size_t>(-1 - from.in[k])];
      if (image == 0) image = to.in[k];
      if (image != to.in[k]) return false;
    }
  }
  return true;
}

struct Substitution {
  Sequence first, second;
  bool dropped = false;
};

bool covers(const Substitution& general, const Sequence& first, const Sequence& second) {
  Renaming renaming{};
  return renames(general.first, first, renaming) && renames(general.second, second, renaming);
}

class Generator {
 public:
  explicit Generator(std::size_t max_operators) : max_operators_(max_operators) {
    for (std::size_t i = 0; i < space_.inputs().size(); ++i) {
      Tensor tensor{space_.inputs()[i].type, 0, {}, input_place(i)};
      tensor.value.resize(space_.words(tensor.type));
      space_.input(i, tensor.value.data());
      tensor.hash = space_.hash(tensor.type, tensor.value.data(), Samples::kAll);
      tensors_.push_back(std::move(tensor));
    }
  }

  TasoSubstitutions run() {
    // Once to see which lists of outputs occur more than once, so that only their graphs need to be kept.
    std::vector<std::uint64_t> keys;
    visit_ = [&](std::uint64_t key) { keys.push_back(key); };
    dfs();
    TasoSubstitutions result;
    result.sequences = keys.size();
    std::sort(keys.begin(), keys.end());
    for (std::size_t i = 1; i < keys.size(); ++i) {
      if (keys[i] == keys[i - 1]) first_.try_emplace(keys[i]);
    }
    std::vector<std::uint64_t>().swap(keys);
    visit_ = [&](std::uint64_t key) { pair_up(key); };
    dfs();
    result.found = substitutions_.size();
    for (const Substitution& each : substitutions_) {
      if (!each.dropped) result.kept.push_back(entry(each));
    }
    return result;
  }

 private:
  void dfs() {
    for (std::size_t made = space_.inputs().size(); made < tensors_.size(); ++made) {
      for (std::size_t before = 0; before < made; ++before) {
        if (tensors_[made].type == tensors_[before].type && tensors_[made].hash == tensors_[before].hash) return;
      }
    }
    for (std::size_t i = 0; i + 1 < graph_.count; ++i) {
      if (graph_.steps[i] == graph_.steps[graph_.count - 1U]) return;
    }
    visit_(key_of_outputs());
    if (graph_.count == max_operators_) return;
    const auto rules = space_.choices();
    const std::size_t count = tensors_.size();
    for (ChoiceId choice = 0; choice < rules.size(); ++choice) {
      const ChoiceRules& rule = rules[choice];
      if (rule.arity == 0) apply(choice, {});
      if (rule.arity == 0) continue;
      for (std::size_t j = 0; j < count; ++j) {
        if (!allowed(rule, 0, j)) continue;
        if (rule.arity == 1) apply(choice, std::array{j});
        if (rule.arity == 1) continue;
        for (std::size_t k = rule.commutative || rule.made_in_order ? j + 1 : 0; k < count; ++k) {
          if (j != k || !rule.distinct) apply(choice, std::array{j, k});
        }
      }
    }
  }

  [[nodiscard]] bool allowed(const ChoiceRules& rule, std::size_t operand, std::size_t tensor) const {
    if (tensor >= space_.inputs().size()) return !rule.inputs_only;
    return (rule.inputs[operand] >> tensor & 1) != 0;
  }

  void apply(ChoiceId choice, std::span<const std::size_t> operands) {
    std::array<TypeId, 2> types{};
    std::array<const Word*, 2> in{};
    Step step{static_cast<std::uint8_t>(choice), static_cast<std::uint8_t>(operands.size()), {}};
    for (std::size_t i = 0; i < operands.size(); ++i) {
      types[i] = tensors_[operands[i]].type;
      in[i] = tensors_[operands[i]].value.data();
      step.in[i] = tensors_[operands[i]].place;
    }
    const Signature& signature = space_.signature(choice, std::span(types.data(), operands.size()));
    if (!signature.defined) return;
    const std::size_t before = tensors_.size();
    std::array<Word*, kMaxOutputs> out{};
    for (std::size_t k = 0; k < signature.output_count; ++k) {
      tensors_.push_back({signature.outputs[k], 0, std::vector<Word>(space_.words(signature.outputs[k])),
                          static_cast<Place>(2 * graph_.count + static_cast<int>(k))});
      out[k] = tensors_.back().value.data();
    }
    space_.evaluate(signature, std::span(in.data(), operands.size()), std::span(out.data(), signature.output_count),
                    Samples::kAll);
    for (std::size_t k = before; k < tensors_.size(); ++k)
      tensors_[k].hash = space_.hash(tensors_[k].type, tensors_[k].value.data(), Samples::kAll);
    graph_.steps[graph_.count++] = step;
    dfs();
    --graph_.count;
    tensors_.resize(before);
  }

  /// Of what is made and not used, the last first.
  [[nodiscard]] std::uint64_t key_of_outputs() const {
    std::uint64_t key = 0;
    for (std::size_t i = tensors_.size(); i-- > space_.inputs().size();) {
      if (is_used(tensors_[i].place)) continue;
      key = mix(mix(key ^ space_.shape_hash(tensors_[i].type)) + tensors_[i].hash);
    }
    return key;
  }
  [[nodiscard]] bool is_used(Place place) const { return is_used(graph_, place); }
  static bool is_used(const Sequence& graph, Place place) {
    for (std::size_t i = 0; i < graph.count; ++i) {
      const Step& step = graph.steps[i];
      if (std::find(step.in.begin(), step.in.begin() + step.arity, place) != step.in.begin() + step.arity) return true;
    }
    return false;
  }

  void pair_up(std::uint64_t key) {
    const auto found = first_.find(key);
    if (found == first_.end()) return;
    if (!found->second) {
      found->second = std::make_unique<Sequence>(graph_);
      return;
    }
    const Sequence& first = *found->second;
    if (!worth_keeping(first, graph_)) return;
    for (Substitution& each : substitutions_) {
      if (each.dropped) continue;
      if (covers(each, first, graph_) || covers(each, graph_, first)) return;
      if (covers({first, graph_}, each.first, each.second) || covers({graph_, first}, each.first, each.second))
        each.dropped = true;
    }
    substitutions_.push_back({first, graph_});
  }

  [[nodiscard]] taso::Entry entry(const Substitution& substitution) const {
    taso::Entry entry;
    const auto outputs_of = [&](const Sequence& graph, std::vector<taso::Op>& ops) {
      std::vector<taso::Operand> outputs;
      for (int i = 0; i < graph.count; ++i) {
        const Step& step = graph.steps[static_cast<std::size_t>(i)];
        ops.push_back(op_of(step));
        const int made = space_.choice(step.choice).kind == TasoSpace::Kind::kSplit ? 2 : 1;
        for (int k = 0; k < made; ++k) {
          if (!is_used(graph, static_cast<Place>(2 * i + k))) outputs.push_back({i, k});
        }
      }
      return outputs;
    };
    const std::vector<taso::Operand> from = outputs_of(substitution.first, entry.source),
                                     to = outputs_of(substitution.second, entry.target);
    for (std::size_t i = 0; i < from.size(); ++i) entry.outputs.emplace_back(from[i], to[i]);
    return entry;
  }

  [[nodiscard]] taso::Op op_of(const Step& step) const {
    using Kind = TasoSpace::Kind;
    const TasoSpace::Choice& choice = space_.choice(step.choice);
    taso::Op op;
    for (std::size_t i = 0; i < step.arity; ++i) {
      const Place place = step.in[i];
      op.in.push_back(place < 0 ? taso::Operand{place, 0} : taso::Operand{place / 2, place % 2});
    }
    const auto window = [&] {
      op.params = {{taso::kKernelH, choice.kernel_h}, {taso::kKernelW, choice.kernel_w},
                   {taso::kStrideH, choice.stride},   {taso::kStrideW, choice.stride},
                   {taso::kPad, choice.same ? 0 : 1}, {taso::kActi, choice.relu ? 2 : 0}};
    };
    switch (choice.kind) {
      case Kind::kMatmul:
        op.type = taso::kMatMul;
        op.params = {{taso::kActi, 0}};
        break;
      case Kind::kAdd: op.type = taso::kAdd; break;
      case Kind::kMul: op.type = taso::kMul; break;
      case Kind::kConv:
        op.type = taso::kConv;
        window();
        break;
      case Kind::kAverage:
        op.type = taso::kPoolAvg;
        window();
        break;
      case Kind::kMax:
        op.type = taso::kPoolMax;
        window();
        break;
      case Kind::kPoolOnes:
        op.type = taso::kConstantPool;
        op.params = {{taso::kKernelH, 3}, {taso::kKernelW, 3}};
        break;
      case Kind::kIdentityKernel:
        op.type = taso::kConstantIconv;
        op.params = {{taso::kKernelH, 3}, {taso::kKernelW, 3}};
        break;
      case Kind::kIdentityMatrix: op.type = taso::kConstantImm; break;
      case Kind::kOnes: op.type = taso::kConstantOne; break;
      case Kind::kEnlarge:
        op.type = taso::kEnlarge;
        op.params = {{taso::kKernelH, 3}, {taso::kKernelW, 3}};
        break;
      case Kind::kScale: op.type = taso::kScale; break;
      case Kind::kRelu: op.type = taso::kRelu; break;
      case Kind::kConcat:
        op.type = taso::kConcat;
        op.params = {{taso::kNumInputs, 2}, {taso::kAxis, choice.axis}, {taso::kNumDim, choice.rank}};
        break;
      case Kind::kSplit:
        op.type = taso::kSplit;
        op.params = {{taso::kNumOutputs, 2}, {taso::kAxis, choice.axis}};
        break;
      case Kind::kTranspose:
        op.type = taso::kTranspose;
        op.params = {{taso::kNumDim, 2}, {taso::kPerm, 2}, {taso::kOutShuffle, choice.shuffle ? 1 : 0}};
        break;
    }
    return op;
  }

  TasoSpace space_;
  std::size_t max_operators_;
  std::vector<Tensor> tensors_;
  Sequence graph_;
  std::function<void(std::uint64_t)> visit_;
  std::unordered_map<std::uint64_t, std::unique_ptr<Sequence>> first_;
  std::vector<Substitution> substitutions_;
};

}  // namespace

TasoSubstitutions generate_as_taso(std::size_t max_operators) {
  return Generator(std::min(max_operators, kMostOperators)).run();
}

}  // namespace rewright::test
