// Axioms as first-order formulas that a solver can instantiate by e-matching.
//
// Sorts   Tr: tensors of rank r, and one undefined value. def-r(v): v is defined. dim-r-k(v): its size along axis k.
//         Sizes are Int, or a sort of which nothing is said (smt.h).
// Terms   One function symbol per (operator output, parameters that are no sizes, ranks of operands); sizes are
//         arguments. An application where the operator is not defined gives the undefined value.
// Axioms  One formula per use of an axiom at given ranks and parameters, left to right or right to left:
//           forall variables: def(from) and residual => from = to and def(applications within to)       pattern from
//         It is true of all tensors, since residual is what specialise() says beyond defined(from). An application that
//         stands in `from` too is left out: whatever a solver comes upon, its operands have been said to be defined.
// Shapes  forall operands: def(f(operands)) => dim-k(f(operands)) = ...                               pattern
//         dim-k(f(operands))
//
// Only uses whose symbols can occur are rendered: from the symbols of a goal, axioms are specialised by matching their
// parameters and ranks, which brings new symbols, a few rounds long.
//
// A Theory holds what has been rendered of one set of axioms, for all threads; names and texts depend on the axioms
// alone, never on who asked first. A Session is what one solver has been told of it.
#pragma once

#include <rewright/axiom/axiom.h>

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "smt.h"
#include "symbol.h"

namespace smt_verifier {

/// In order of name, so that no order depends on who asked first.
struct ByName {
  bool operator()(const Symbol* a, const Symbol* b) const { return a->name < b->name; }
};
using SymbolSet = std::set<const Symbol*, ByName>;

/// What a goal speaks of. Inputs and the sizes that a match binds have names that all goals share, so that a solver is
/// told of them once: any tensor that is defined, any number >= 0.
struct Vocabulary {
  SymbolSet symbols;
  std::vector<int> inputs = std::vector<int>(rewright::kMaxRank + 1);  ///< How many, by rank.
  int numbers = 0;
};
[[nodiscard]] std::string input_name(int rank, int index);
[[nodiscard]] std::string number_name(int index);

/// An axiom at given ranks and parameters, in one direction.
struct Use {
  std::string text;
  std::string rule;                                ///< What it says, whatever its variables are called.
  SymbolSet symbols;                               ///< That the text mentions.
  SymbolSet brought;                               ///< By the side that it leads to.
  const rewright::TypedAxiom* instance = nullptr;  ///< The same for both directions.
};

/// Of a formula.
[[nodiscard]] std::string variable_name(std::string_view name);
[[nodiscard]] std::string sort_name(int rank);
[[nodiscard]] std::string defined(int rank, const std::string& term);
[[nodiscard]] std::string size_of(int rank, std::string_view axis, const std::string& term);
/// The size arguments of an application, in order.
[[nodiscard]] std::vector<rewright::SymbolicDim> size_arguments(const rewright::SymbolicParams& params);

/// How axioms are put, and how many of them a goal is asked over: solvers take longer the more they are told.
struct Manner {
  bool patterns = true;  ///< Uses carry their pattern (e-matching) or not (a solver's own choice).
  Sizes sizes = Sizes::kNumbers;
  int rounds = 3;         ///< New symbols are sought so many times; what lies further off, e-matching would not reach.
  bool dead_ends = true;  ///< Uses that lead to symbols from which nothing but they lead on.
};

class Theory {
 public:
  /// Keeps a copy of the axioms.
  Theory(rewright::AxiomSet axioms, const Manner& manner);
  ~Theory();

  /// Null where the application can be defined nowhere.
  [[nodiscard]] const Symbol* symbol(const rewright::Operator& op, std::uint32_t output,
                                     const rewright::SymbolicParams& params, std::span<const int> ranks);
  /// The uses of axioms that terms over these symbols can come to; for equal sets one and the same list.
  [[nodiscard]] const std::vector<const Use*>& uses_from(const SymbolSet& symbols);
  /// Sorts and the functions of all ranks.
  [[nodiscard]] const std::string& head() const { return head_; }
  [[nodiscard]] Sizes sizes() const { return manner_.sizes; }

 private:
  struct Side;
  struct Found;
  [[nodiscard]] const Symbol* make_symbol(const rewright::Operator& op, std::uint32_t output,
                                          const rewright::SymbolicParams& params, std::span<const int> ranks);
  std::string unique_name(const rewright::Operator& op, const std::string& key);
  const rewright::TypedAxiom* typed(const Found& found, const std::string& key);
  const Use* use(const Found& found);
  Use render(const rewright::TypedAxiom& axiom, bool left_to_right);
  std::optional<std::string> side_text(const rewright::TypedAxiom& axiom, std::uint32_t term, Side& side, bool pattern);

  std::mutex mutex_;
  const rewright::AxiomSet axioms_;
  const Manner manner_;
  const std::string head_;
  std::unordered_map<std::string, std::unique_ptr<Symbol>> symbols_;  ///< By key; null: nowhere defined.
  std::set<std::string> names_;                                       ///< Of symbols.
  std::map<std::string, std::unique_ptr<rewright::TypedAxiom>> typed_;
  std::map<std::string, Use> uses_;
  std::map<std::vector<const Symbol*>, std::vector<const Use*>> uses_from_;
};

/// The theories of the axiom sets that a plugin has met, one each.
class TheoryShelf {
 public:
  explicit TheoryShelf(const Manner& manner) : manner_(manner) {}
  [[nodiscard]] std::shared_ptr<Theory> of(const rewright::AxiomSet& axioms);

 private:
  const Manner manner_;
  std::mutex mutex_;
  std::map<std::pair<std::string, const void*>, std::shared_ptr<Theory>> theories_;  ///< By digest and operators.
};

/// What a solver has been told.
class Session {
 public:
  explicit Session(Theory& theory) : theory_(theory) {}
  /// What goals over this vocabulary need beyond what was said before.
  [[nodiscard]] std::string news(const Vocabulary& goal);
  /// How many uses of axioms it has been told of, and how many of them goals over this vocabulary need.
  [[nodiscard]] std::size_t told() const { return uses_.size(); }
  [[nodiscard]] std::size_t needed(const Vocabulary& goal) const { return theory_.uses_from(goal.symbols).size(); }

 private:
  void tell(const SymbolSet& symbols, std::string& text);
  void tell_inputs(const Vocabulary& goal, std::string& text);
  Theory& theory_;
  bool begun_ = false;
  Vocabulary told_;
  std::set<const Use*> uses_;
  std::set<const std::vector<const Use*>*> lists_;  ///< Those of which all was told.
};

}  // namespace smt_verifier
