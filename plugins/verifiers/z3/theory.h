// Axioms as first-order formulas that Z3 can instantiate by e-matching.
//
// Sorts   Tr: tensors of rank r, and one undefined value. def-r(v): v is defined. dim-r-k(v): its size along axis k.
// Terms   One function symbol per (operator output, parameters that are no sizes, ranks of operands); sizes are Int
//         arguments. An application where the operator is not defined gives the undefined value.
// Axioms  One formula per use of an axiom at given ranks and parameters, left to right or right to left:
//           forall variables: def(from) and residual => from = to and def(every application in to)    pattern def(from)
//         It is true of all tensors, since residual is what specialise() says beyond defined(from).
// Shapes  forall operands: def(f(operands)) => dim-k(f(operands)) = ...                               pattern
// dim-k(f(operands))
//
// Only uses whose symbols can occur are rendered: from the symbols of a goal, axioms are specialised by matching their
// parameters and ranks, which brings new symbols, a few rounds long.
#pragma once

#include <rewright/axiom.h>

#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

namespace z3_verifier {

struct Symbol {
  const rewright::Operator* op = nullptr;
  std::uint32_t output = 0;
  std::vector<rewright::ParamValue> params;  ///< Of a size list only the length counts.
  std::vector<int> ranks;                    ///< Of the operands.
  rewright::SymbolicShape shape;             ///< Over "o1.0" (operand 1, axis 0) and "z0" (size argument 0).
  std::string name;                          ///< As SMT-LIB writes it.
};
using SymbolId = std::size_t;

[[nodiscard]] std::string sort_name(int rank);
[[nodiscard]] std::string defined(int rank, const std::string& term);
[[nodiscard]] std::string size_of(int rank, std::string_view axis, const std::string& term);
/// The size arguments of an application, in order.
[[nodiscard]] std::vector<rewright::SymbolicDim> size_arguments(const rewright::SymbolicParams& params);

class Theory {
 public:
  explicit Theory(const rewright::AxiomSet& axioms);
  ~Theory();

  /// Nothing where the application can be defined nowhere.
  [[nodiscard]] std::optional<SymbolId> symbol(const rewright::Operator& op, std::uint32_t output,
                                               const rewright::SymbolicParams& params, std::span<const int> ranks);
  [[nodiscard]] const Symbol& operator[](SymbolId id) const { return symbols_[id]; }
  /// Renders every use of an axiom that terms over these symbols can come to.
  void close_over(std::set<SymbolId> symbols);

  /// Sorts, declarations and formulas so far; grows at the end only.
  [[nodiscard]] const std::string& text() const { return text_; }
  [[nodiscard]] std::size_t uses() const { return rendered_.size(); }

 private:
  class Matcher;
  struct Side;
  void render_symbol(const Symbol& symbol);
  const rewright::TypedAxiom* typed(std::size_t axiom, const rewright::AxiomRanks& ranks,
                                    const rewright::ParamBinding& fixed, const std::string& key);
  void use(std::size_t axiom, bool left_to_right, const rewright::AxiomRanks& ranks,
           const rewright::ParamBinding& fixed, std::set<SymbolId>& reached);
  bool render(const rewright::TypedAxiom& axiom, bool left_to_right, std::set<SymbolId>& reached);
  std::optional<std::string> side_text(const rewright::TypedAxiom& axiom, std::uint32_t term, Side& side, bool pattern);

  const rewright::AxiomSet& axioms_;
  std::vector<Symbol> symbols_;
  std::map<std::string, std::optional<SymbolId>> symbol_of_key_;
  std::map<std::string, std::unique_ptr<rewright::TypedAxiom>> typed_;
  std::map<std::string, std::set<SymbolId>> rendered_;  ///< By use; the symbols that it brings.
  std::set<std::set<SymbolId>> closed_;
  std::string text_;
};

}  // namespace z3_verifier
