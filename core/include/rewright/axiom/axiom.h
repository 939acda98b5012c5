// Axioms: universally quantified equations about operators, read from SMT-LIB 2.6 files (axioms/README.md), and their
// typed use.
//
// An equation between two terms holds only where both are defined and the axiom's own condition holds. What that means
// in sizes depends on ranks and parameters, so an axiom is specialised first: every tensor variable gets a rank, every
// variable that stands for a parameter gets its value. The operators' symbolic shape rules then say, over the sizes of
// the variables, where each side is defined, and what a prover must check before it replaces one side by the other:
//
//   left to right   defined(right) and condition, minus what defined(left) implies
//   right to left   defined(left) and condition, minus what defined(right) implies
//
// For concat(0, conv(x, w), conv(y, w)) = conv(concat(0, x, y), w) with stride 2 the first is x.2 = y.2, x.3 = y.3
// (equal outputs do not imply equal inputs), the second nothing.
#pragma once

#include <rewright/base/result.h>
#include <rewright/base/visibility.h>
#include <rewright/operator/operator.h>
#include <rewright/operator/params.h>
#include <rewright/plugin/registry.h>
#include <rewright/tensor/dim.h>

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace rewright {

// --- what a file says ----------------------------------------------------------------------------------------------

enum class AxiomSort : std::uint8_t { kTensor, kInt, kSizes, kReal };

struct AxiomVariable {
  std::string name;
  AxiomSort sort = AxiomSort::kTensor;
};

/// A variable of sort Sizes or Real where a parameter stands.
struct AxiomParamVariable {
  std::string name;
};
/// One parameter of an application: an integer expression over Int variables and sizes ("x.0"; "x.a" where a is a
/// variable too), a list of them, a real number, or a variable.
using AxiomParam = std::variant<SymbolicDim, std::vector<SymbolicDim>, double, AxiomParamVariable>;

/// One term: a tensor variable, or one output of an application to earlier terms.
struct AxiomTerm {
  std::optional<std::size_t> variable;  ///< Position in Axiom::variables.
  const Operator* op = nullptr;
  std::uint32_t output = 0;
  std::vector<AxiomParam> params;
  std::vector<std::uint32_t> operands;
};

/// Ranks of all tensor variables, in the order of Axiom::variables; 0 for variables of other sorts.
using AxiomRanks = std::vector<int>;

struct Axiom {
  std::string name;
  std::string file;
  int line = 0;
  std::vector<AxiomVariable> variables;
  std::vector<AxiomTerm> terms;  ///< Of both sides; operands before applications.
  std::uint32_t left = 0;
  std::uint32_t right = 0;
  std::vector<Constraint> condition;  ///< Over "x.0", Int variables and "list.0".
  std::vector<AxiomRanks> ranks;      ///< The combinations for which it is claimed.
  std::string source;                 ///< Where it comes from, or how it is derived.
  std::string needs;                  ///< "real-relu" where it fails for an uninterpreted relu; "" as a rule.
  std::string domain;                 ///< Of which parameters and sizes it is claimed; "": of all.
};

class REWRIGHT_API AxiomSet {
 public:
  AxiomSet() = default;
  [[nodiscard]] std::span<const Axiom> axioms() const { return axioms_; }
  [[nodiscard]] std::span<const std::string> files() const { return files_; }
  /// 16 hexadecimal digits that depend on the files' contents.
  [[nodiscard]] std::string digest() const;

  /// Adds the axioms of one file's text. Errors: file:line:column, what was found and what was expected; an operator
  /// that is not loaded; a convention that the operators do not keep; a name that is there already.
  Status add(std::string_view text, std::string file, const Registry& registry);
  /// Those for which `keep` is true, in order; the digest depends on their names too.
  [[nodiscard]] AxiomSet filtered(const std::function<bool(const Axiom&)>& keep) const;

 private:
  std::vector<Axiom> axioms_;
  std::vector<std::string> files_;
  std::uint64_t digest_ = 0xcbf29ce484222325;
};

/// Reads files in the order given.
[[nodiscard]] REWRIGHT_API Result<AxiomSet> load_axioms(std::span<const std::string> files, const Registry& registry);

// --- typed use -------------------------------------------------------------------------------------------------------

/// Values of the variables that stand for parameters: std::int64_t (an Int at an axis, a choice, a number), a double, a
/// vector (a Sizes variable at a list of integers). A Sizes variable at a list of sizes gets a SizeList, of which only
/// the length counts: its elements are size variables "s.0", "s.1", ...
using ParamBinding = std::map<std::string, ParamValue, std::less<>>;

struct TypedTerm {
  std::optional<std::size_t> variable;  ///< Position in Axiom::variables.
  const Operator* op = nullptr;
  std::uint32_t output = 0;
  SymbolicParams params;
  std::vector<std::uint32_t> operands;
  SymbolicShape shape;  ///< Over "x.0" and Int variables.
};

struct TypedAxiom {
  const Axiom* axiom = nullptr;
  AxiomRanks ranks;
  ParamBinding fixed;
  std::vector<TypedTerm> terms;
  std::uint32_t left = 0;
  std::uint32_t right = 0;
  std::vector<Constraint> left_defined;
  std::vector<Constraint> right_defined;
  std::vector<Constraint> condition;
  /// What to check before the use; nothing where the use is impossible: the side that is looked for is a bare variable
  /// or does not bind every variable of the other.
  std::optional<std::vector<Constraint>> left_to_right;
  std::optional<std::vector<Constraint>> right_to_left;
};

/// The variables that specialise() wants in its binding: those that stand for parameters, not for sizes.
[[nodiscard]] REWRIGHT_API std::vector<std::string> parameter_variables(const Axiom& axiom);
/// Errors: kShape where a side can never be defined at these ranks and parameters, where both sides differ in rank, or
/// where the condition fails; kMismatch where the domain does not claim it; kUsage where a variable is not bound.
[[nodiscard]] REWRIGHT_API Result<TypedAxiom> specialise(const Axiom& axiom, const AxiomRanks& ranks,
                                                         const ParamBinding& fixed);

}  // namespace rewright
