// The walk over graphs: every set of applications that can stand as a graph, each once, with its fingerprint.
//
// A graph is the set of its applications. Each set is visited once, without a table of visited graphs: at every step
// the candidates for the next application are the untried rest of the parent's, followed by the applications that only
// the newest one makes possible (Redelmeier, "Counting polyominoes", Discrete Math. 36, 1981, section 3). What the
// newest application makes possible is one segment of an array; a node of the search is a position in a stack of
// segments, so nothing is copied down.
//
// The walk keeps no table that grows: the tensors of the current graph lie on its stack, the last application of a
// graph is only hashed, and evaluated tensors are kept in a cache of fixed size. So subtrees can be walked in any
// order, by any thread or process, and again.
#pragma once

#include <rewright/base/visibility.h>

#include <cstdint>
#include <memory>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

#include "enumerate/space.h"

namespace rewright::enumeration {

/// Which sets of applications count as graphs.
struct Scope {
  bool inputs_in_order = true;  ///< Of each group of inputs a first few are used, not any.
  bool connected = true;        ///< Through tensors that operators make.
  /// A graph whose last operator repeats a tensor is kept where all of it serves this operator (relu(relu(x)),
  /// split(concat(x, y))), and never extended. Without: it is dropped.
  bool keep_repetitions = true;
  /// An ablation: graphs with a tensor that repeats another are extended, too.
  bool extend_repetitions = false;
  /// What a visitor is given of a graph are its hashes on a few samples; complete() gives those on all.
  Samples samples = Samples::kAll;
};

inline constexpr std::size_t kMaxOperators = 7;
inline constexpr std::uint8_t kNoProducer = 0xff;

/// Two tensors with equal contents are the same output of a graph; with equal identities they are the same operand too.
struct TensorHash {
  std::uint64_t content = 0;   ///< Of shape and elements.
  std::uint64_t identity = 0;  ///< Of type and elements.
};

/// One application that the current graph could be extended by.
struct Entry {
  std::array<TensorHash, kMaxOutputs> hashes{};  ///< Of its outputs. Not of the last application on few samples.
  std::array<TensorHash, kMaxOutputs> few{};     ///< The same on few samples, where the scope says so.
  const Signature* signature = nullptr;
  std::uint32_t inputs = 0;    ///< Bit i: input i is an operand.
  std::uint16_t consumed = 0;  ///< Bit i: the i-th tensor made is an operand.
  std::uint16_t choice = 0;
  std::array<std::uint8_t, kMaxOperands> operands{};  ///< Tensors: inputs first, then those made, in the order made.
  std::uint8_t producers = 0;                         ///< Bit i: an output of the i-th application is an operand.
  std::uint8_t created = 0;                           ///< Number of applications of the graph that made it possible.
  bool repeats_input = false;                         ///< By `hashes`.
  bool few_repeat_input = false;                      ///< By `few`.

  [[nodiscard]] const std::array<TensorHash, kMaxOutputs>& on(Samples samples) const {
    return samples == Samples::kAll ? hashes : few;
  }
};

struct MadeTensor {
  TensorHash hash;
  TensorHash few;
  TypeId type = 0;
  std::uint8_t producer = 0;

  [[nodiscard]] const TensorHash& on(Samples samples) const { return samples == Samples::kAll ? hash : few; }
};

/// A graph of which all but the last application are on the stack.
struct Leaf {
  std::span<const Entry> applications;  ///< But for the last.
  const Entry* last = nullptr;
  std::uint64_t fingerprint = 0;
  Samples samples = Samples::kAll;  ///< Of the fingerprint and of the last application's hashes.
};

/// What a visitor will read of a leaf, fetched while others are looked at: called with stages 0 and 1 before the visit.
struct NoForesight {
  void operator()(std::size_t, const Leaf&) const {}
};

/// Where to begin: the `second`-th extension of the graph of the `first`-th application alone; kWhole: all of them.
struct Unit {
  static constexpr std::uint32_t kWhole = 0xffffffff;
  std::uint32_t first = 0;
  std::uint32_t second = kWhole;
};

[[nodiscard]] inline TensorHash hash_of(const Space& space, TypeId type, std::uint64_t hash) {
  const std::uint64_t content = mix(hash ^ mix(space.shape_hash(type)));
  return {content, mix(content ^ space.type_hash(type))};
}
/// What an output adds to a graph's fingerprint.
[[nodiscard]] constexpr std::uint64_t output_hash(const TensorHash& hash) { return mix(hash.content); }

// walk_data.h
struct ValueData;
struct BinaryOfTypes;

class REWRIGHT_API Walk {
 public:
  Walk(std::unique_ptr<Space> space, const Scope& scope, std::size_t cache_slots);
  ~Walk();
  Walk(const Walk&) = delete;
  Walk& operator=(const Walk&) = delete;

  /// The parts of the walk over graphs of exactly `operators` operators; together they are all of it.
  [[nodiscard]] std::vector<Unit> units(std::size_t operators);
  /// Calls `visit(const Leaf&)` for every graph of exactly `operators` operators in the unit, in one fixed order.
  template <class Visit, class Foresee = NoForesight>
  void run(std::size_t operators, const Unit& unit, Visit&& visit, const Foresee& foresee = {});

  /// The leaf that is visited, on all samples. Valid until the next call or the end of the visit.
  [[nodiscard]] Leaf complete(const Leaf& leaf);

  [[nodiscard]] std::span<const TensorHash> input_hashes(Samples samples = Samples::kAll) const {
    return samples == Samples::kAll ? input_hashes_ : few_input_hashes_;
  }
  [[nodiscard]] std::size_t arity(const Entry& entry) const { return space_->choices()[entry.choice].arity; }

  /// Graphs that were not walked on from because their last application repeats a tensor: about one in `kAuditOne`, the
  /// same ones whoever walks. Gives them once.
  using Repetition = std::vector<Entry>;
  static constexpr std::uint64_t kAuditOne = 16;
  [[nodiscard]] std::vector<Repetition> take_repetitions() { return std::exchange(repetitions_, {}); }
  /// Is of each group of inputs a first few used, not any?
  [[nodiscard]] bool in_order(std::uint32_t used) const;
  [[nodiscard]] Space& space() { return *space_; }
  [[nodiscard]] const Space& space() const { return *space_; }
  [[nodiscard]] std::span<const MadeTensor> made() const { return made_; }
  /// What each output of the leaf adds to its fingerprint.
  void output_hashes(const Leaf& leaf, std::vector<std::uint64_t>& hashes) const;

 private:
  struct Position {
    std::size_t segment = 0;
    std::size_t index = 0;  ///< Within the segment.
  };

  [[nodiscard]] std::size_t tensor_count() const { return input_hashes_.size() + made_.size(); }
  void reset(std::size_t operators);
  void push(const Entry& entry);
  void pop();
  /// May the graph with `entry` be walked on from, with `left` operators to come?
  [[nodiscard]] bool extensible(const Entry& entry, std::size_t left) const;
  /// Appends the segment of applications that the newest one makes possible; `last`: of those only the ones that
  /// complete a graph.
  void expand(bool last);
  void expand_unary(std::uint8_t tensor, bool last);
  void expand_binary(std::uint8_t a, std::uint8_t b, bool last);
  void expand_ternary(std::size_t fresh_from, bool last);
  void add(ChoiceId choice, const Signature& signature, std::span<const std::uint8_t> operands, bool last);
  [[nodiscard]] bool admitted(const ChoiceRules& rules, std::span<const std::uint8_t> operands) const;
  [[nodiscard]] bool completes(const Entry& entry) const;
  [[nodiscard]] int skipped_inputs(std::uint32_t used) const;
  [[nodiscard]] TypeId type_of(std::uint8_t tensor) const;
  void hash_outputs(Entry& entry, Samples samples);
  void evaluate_outputs(const Entry& entry, std::span<std::uint64_t> hashes, Samples samples);
  void remember_more();
  ValueData& data_of(std::uint8_t tensor, Samples samples);
  [[nodiscard]] ValueData& place_for(std::uint64_t identity);
  const Word* elements_of(std::uint8_t tensor, Samples samples);
  const Word* reduction_of(std::uint8_t tensor, const Signature& signature, std::size_t operand, Samples samples);
  void restore_segments(std::size_t count);
  template <class Visit, class Foresee>
  void visit_node(Position from, Visit& visit, const Foresee& foresee);
  template <class Visit, class Foresee>
  void visit_leaves(Position from, Visit& visit, const Foresee& foresee);
  [[nodiscard]] bool repeats_made(const Entry& entry, Samples samples) const;
  [[nodiscard]] bool repeats_itself(const Entry& entry, Samples samples) const;
  /// Two outputs of equal content, though a later operator could tell them apart.
  [[nodiscard]] bool equal_outputs(const Entry& entry, Samples samples) const;
  /// Is the graph with this last application none to be visited? If so on all samples, then on few, too.
  [[nodiscard]] bool left_out(const Entry& entry, Samples samples) const;
  [[nodiscard]] std::uint64_t fingerprint(const Entry& last, Samples samples) const;
  /// With hashes on all samples.
  [[nodiscard]] Entry completed(const Entry& last);

  std::unique_ptr<Space> space_;
  Scope scope_;
  std::uint32_t group_starts_ = 0;  ///< Bit i: input i is the first of its group.
  std::vector<std::uint32_t> group_masks_;
  std::vector<TensorHash> input_hashes_, few_input_hashes_;
  std::vector<std::unique_ptr<ValueData>> input_data_;
  std::size_t largest_arity_ = 1;
  std::vector<ChoiceId> constants_, ternary_;
  std::vector<ChoiceId> unary_, binary_;
  std::vector<std::vector<std::pair<ChoiceId, const Signature*>>> unary_of_type_;
  std::vector<bool> unary_known_;
  std::unique_ptr<BinaryOfTypes> binary_of_types_;

  std::size_t operators_ = 0;  ///< Of the graphs that are walked.
  std::vector<Entry> graph_;
  std::vector<MadeTensor> made_;
  std::vector<ValueData*> made_data_;                ///< Null until wanted.
  std::array<std::uint8_t, kMaxOperators> parts_{};  ///< Masks of applications that hang together.
  std::array<std::array<std::uint8_t, kMaxOperators>, kMaxOperators + 1> parts_at_{};
  std::array<std::size_t, kMaxOperators + 1> part_count_at_{};
  std::array<std::uint32_t, kMaxOperators + 1> used_at_{};
  std::array<std::uint16_t, kMaxOperators + 1> consumed_at_{};
  std::array<std::uint64_t, kMaxOperators + 1> sum_at_{}, few_sum_at_{};
  std::vector<Entry> entries_;         ///< All segments, one after the other.
  std::vector<std::size_t> segments_;  ///< Where each begins.

  std::vector<std::unique_ptr<ValueData>> cache_;
  std::vector<std::unique_ptr<ValueData>> spare_;
  struct Remembered {
    std::uint64_t key = 0;
    std::array<std::uint64_t, kMaxOutputs> hashes{};  ///< h of its outputs.
  };
  static constexpr std::size_t kFirstRemembered = 16;  ///< For each tensor in the cache.
  std::vector<Remembered> remembered_;                 ///< Of applications that had to be evaluated.
  std::size_t evaluated_ = 0;                          ///< Since it last grew.
  std::vector<Word> scratch_;
  mutable std::vector<Repetition> repetitions_;
  Entry completed_;  ///< Of the last leaf that was asked for.
};

// --- the walk itself -------------------------------------------------------------------------------------------------

template <class Visit, class Foresee>
void Walk::run(std::size_t operators, const Unit& unit, Visit&& visit, const Foresee& foresee) {
  reset(operators);
  if (operators == 1) {
    const std::size_t end = unit.first == Unit::kWhole ? entries_.size() : unit.first + 1;
    for (std::size_t i = unit.first == Unit::kWhole ? 0 : unit.first; i < end; ++i) {
      const Entry& entry = entries_[i];
      if (!completes(entry)) continue;
      if (repeats_itself(entry, Samples::kAll) || (entry.repeats_input && !scope_.keep_repetitions)) continue;
      visit(Leaf{graph_, &entry, fingerprint(entry, scope_.samples), scope_.samples});
    }
    return;
  }
  if (!extensible(entries_[unit.first], operators - 1)) return;
  push(entries_[unit.first]);
  expand(operators == 2);
  if (unit.second == Unit::kWhole) {
    visit_node({0, unit.first + 1U}, visit, foresee);
  } else {
    // The unit's one extension: find it, then go on as the walk would.
    std::size_t segment = 0, index = unit.first + 1U + unit.second;
    if (index >= segments_[1]) {
      index -= segments_[1];
      segment = 1;
    }
    const Entry entry = entries_[segments_[segment] + index];
    if (extensible(entry, operators_ - 2)) {
      push(entry);
      expand(operators_ == 3);
      visit_node({segment, index + 1}, visit, foresee);
      restore_segments(2);
      pop();
    }
  }
  restore_segments(1);
  pop();
}

template <class Visit, class Foresee>
void Walk::visit_node(Position from, Visit& visit, const Foresee& foresee) {
  if (graph_.size() + 1 == operators_) return visit_leaves(from, visit, foresee);
  const std::size_t segment_count = segments_.size();
  const std::size_t left = operators_ - graph_.size() - 1;
  for (std::size_t segment = from.segment; segment < segment_count; ++segment) {
    const std::size_t end =
        (segment + 1 < segment_count ? segments_[segment + 1] : entries_.size()) - segments_[segment];
    for (std::size_t index = segment == from.segment ? from.index : 0; index < end; ++index) {
      const Entry entry = entries_[segments_[segment] + index];
      if (!extensible(entry, left)) continue;
      push(entry);
      expand(left == 1);
      visit_node({segment, index + 1}, visit, foresee);
      restore_segments(segment_count);
      pop();
    }
  }
}

template <class Visit, class Foresee>
void Walk::visit_leaves(Position from, Visit& visit, const Foresee& foresee) {
  constexpr bool kForesees = !std::is_same_v<Foresee, NoForesight>;
  std::array<Leaf, kForesees ? 32 : 1> ahead;
  std::size_t count = 0;
  const auto visit_ahead = [&] {
    if constexpr (kForesees) {
      for (const std::size_t stage : {0, 1}) {
        for (std::size_t i = 0; i < count; ++i) foresee(stage, ahead[i]);
      }
    }
    for (std::size_t i = 0; i < count; ++i) visit(ahead[i]);
    count = 0;
  };
  // Applications to inputs alone never connect a graph.
  const std::size_t first = scope_.connected && from.segment == 0 ? segments_[1] : segments_[from.segment] + from.index;
  const std::size_t fresh = segments_.back();
  for (std::size_t i = first; i < entries_.size(); ++i) {
    const Entry& entry = entries_[i];
    if (i < fresh && !completes(entry)) continue;  // Of the newest segment only complete ones were made.
    if (left_out(entry, scope_.samples)) {
      if (scope_.samples == Samples::kAll || left_out(completed(entry), Samples::kAll)) continue;
    }
    ahead[count++] = {graph_, &entry, fingerprint(entry, scope_.samples), scope_.samples};
    if (count == ahead.size()) visit_ahead();
  }
  visit_ahead();
}

inline std::uint64_t Walk::fingerprint(const Entry& last, Samples samples) const {
  const std::size_t depth = graph_.size();
  std::uint64_t sum = samples == Samples::kAll ? sum_at_[depth] : few_sum_at_[depth];
  for (unsigned fresh = last.consumed & ~consumed_at_[depth] & 0xffffU; fresh != 0; fresh &= fresh - 1)
    sum -= output_hash(made_[static_cast<std::size_t>(__builtin_ctz(fresh))].on(samples));
  for (std::uint32_t k = 0; k < last.signature->output_count; ++k) sum += output_hash(last.on(samples)[k]);
  return sum;
}

inline bool Walk::left_out(const Entry& entry, Samples samples) const {
  if (repeats_itself(entry, samples)) return true;
  if ((samples == Samples::kAll ? entry.repeats_input : entry.few_repeat_input) || repeats_made(entry, samples)) {
    const unsigned consumed = consumed_at_[graph_.size()] | entry.consumed;
    if (!scope_.keep_repetitions || (((1U << made_.size()) - 1) & ~consumed) != 0) return true;
  }
  return equal_outputs(entry, samples);
}

inline bool Walk::repeats_made(const Entry& entry, Samples samples) const {
  const auto& hashes = entry.on(samples);
  for (const MadeTensor& tensor : made_) {
    if (tensor.on(samples).identity == hashes[0].identity) return true;
    if (entry.signature->output_count > 1 && tensor.on(samples).identity == hashes[1].identity) return true;
  }
  return false;
}

inline bool Walk::repeats_itself(const Entry& entry, Samples samples) const {
  const auto& hashes = entry.on(samples);
  return entry.signature->output_count > 1 && hashes[0].identity == hashes[1].identity;
}

inline bool Walk::equal_outputs(const Entry& entry, Samples samples) const {
  const auto& hashes = entry.on(samples);
  const unsigned consumed = consumed_at_[graph_.size()] | entry.consumed;
  for (std::size_t i = 0; i < made_.size(); ++i) {
    if ((consumed >> i & 1) != 0) continue;
    const std::uint64_t content = made_[i].on(samples).content;
    for (std::uint32_t k = 0; k < entry.signature->output_count; ++k) {
      if (content == hashes[k].content) return true;
    }
    for (std::size_t j = i + 1; j < made_.size(); ++j) {
      if ((consumed >> j & 1) == 0 && content == made_[j].on(samples).content) return true;
    }
  }
  return entry.signature->output_count > 1 && hashes[0].content == hashes[1].content;
}

inline bool Walk::in_order(std::uint32_t used) const { return ((used & ~group_starts_) >> 1 & ~used) == 0; }

inline bool Walk::completes(const Entry& entry) const {
  const std::size_t depth = graph_.size();
  if (scope_.inputs_in_order && !in_order(used_at_[depth] | entry.inputs)) return false;
  if (!scope_.connected || depth == 0) return true;
  for (std::size_t i = 0; i < part_count_at_[depth]; ++i) {
    if ((parts_at_[depth][i] & entry.producers) == 0) return false;
  }
  return true;
}

}  // namespace rewright::enumeration
