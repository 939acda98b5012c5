// Terms: what the outputs of graphs compute, as expressions over inputs. Equal terms are made once, and the order of
// the operands of a commutative operator does not count: a + b and b + a are one term.
//
// What pruners need to tell which candidates say the same.
#pragma once

#include <rewright/export.h>
#include <rewright/graph.h>

#include <cstdint>
#include <functional>
#include <map>
#include <span>
#include <string>
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
  std::string head;              ///< The operator with its parameters; an input's name.
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

  [[nodiscard]] const TensorTerm& operator[](TermId id) const { return terms_[id.value]; }
  /// The terms below (and with) `roots`, operands first.
  [[nodiscard]] std::vector<TermId> below(std::span<const TermId> roots) const;

 private:
  TermId intern(TensorTerm term);
  std::vector<TensorTerm> terms_;
  std::map<std::string, TermId> ids_;
};

/// How an input is written when its name does not count: inputs of equal labels may be exchanged.
using InputLabel = std::function<std::string(const TensorTerm&)>;

/// A text that is equal for two lists of pairs if and only if one becomes the other by renaming inputs of equal labels,
/// reordering the pairs, exchanging all left with all right sides, and reordering operands of commutative operators.
/// (Where more than 5,040 renamings are left after those that the inputs' uses decide, "only if" is all.)
[[nodiscard]] REWRIGHT_API std::string canonical_form(const TermBank& bank, std::span<const TermPair> pairs,
                                                      const InputLabel& label);

}  // namespace rewright
