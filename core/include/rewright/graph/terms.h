// Terms: what the outputs of graphs compute, as expressions over inputs. Equal terms are made once, and the order of
// the operands of a commutative operator does not count: a + b and b + a are one term.
//
// What pruners need to tell which candidates say the same.
#pragma once

#include <rewright/base/visibility.h>
#include <rewright/graph/graph.h>

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

namespace rewright {

struct TermId {
  std::uint32_t value = 0;
  friend auto operator<=>(const TermId&, const TermId&) = default;
};

/// An input, or one output of an application to other terms.
struct TensorTerm {
  const Operator* op = nullptr;  ///< Null for inputs.
  std::uint32_t head = 0;        ///< The operator with its parameters, or an input's name: equal in one bank if equal.
  std::uint32_t output = 0;
  std::vector<TermId> operands;  ///< Of a commutative operator: the first two in order of id.
  Shape shape;
  InputKind kind = InputKind::kData;
  [[nodiscard]] bool is_input() const { return op == nullptr; }
};

/// A claim that two terms are equal; a candidate is one for each output.
using TermPair = std::pair<TermId, TermId>;

class REWRIGHT_API TermBank {
 public:
  /// The same term for the same name.
  TermId input(const std::string& name, const Shape& shape, InputKind kind);
  /// A term that is like `model` in operator, parameters, output and shape, on other operands.
  TermId with_operands(const TensorTerm& model, std::vector<TermId> operands);
  /// The outputs of a graph without opaque nodes, whose inputs are terms by their names.
  [[nodiscard]] std::vector<TermId> outputs(const Graph& graph);
  /// `in` with `what` replaced by `by` wherever it occurs.
  TermId replace(TermId in, TermId what, TermId by);
  /// Forgets all terms, but not the heads: they cost most to make, and a campaign has few.
  void clear();

  [[nodiscard]] std::size_t size() const { return terms_.size(); }
  [[nodiscard]] const TensorTerm& operator[](TermId id) const { return terms_[id.value]; }
  [[nodiscard]] const std::string& text_of_head(const TensorTerm& term) const { return heads_[term.head].text; }
  /// Of the text.
  [[nodiscard]] std::uint64_t hash_of_head(const TensorTerm& term) const { return heads_[term.head].hash; }
  /// The terms below (and with) `roots`, operands first.
  [[nodiscard]] std::vector<TermId> below(std::span<const TermId> roots) const;

 private:
  struct Head {
    std::string text;
    std::uint64_t hash = 0;
  };
  std::uint32_t head(const std::string& text);
  std::uint32_t head(const Operator& op, const Params& params);
  TermId intern(TensorTerm term);
  std::vector<TensorTerm> terms_;
  std::unordered_multimap<std::uint64_t, TermId> ids_;  ///< By a hash of the term.
  std::vector<Head> heads_;
  std::unordered_map<std::string, std::uint32_t> head_of_text_;
  std::unordered_multimap<const Operator*, std::pair<Params, std::uint32_t>> heads_of_operator_;
};

/// How an input is written when its name does not count: inputs of equal labels may be exchanged.
using InputLabel = std::function<std::string(const TensorTerm&)>;

/// A text that is equal for two lists of pairs if and only if one becomes the other by renaming inputs of equal labels,
/// reordering the pairs, exchanging all left with all right sides, and reordering operands of commutative operators.
/// (Where more than 5,040 renamings are left after those that the inputs' uses decide, "only if" is all.)
[[nodiscard]] REWRIGHT_API std::string canonical_form(const TermBank& bank, std::span<const TermPair> pairs,
                                                      const InputLabel& label);

}  // namespace rewright
