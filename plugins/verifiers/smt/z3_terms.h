// What the plugin writes of SMT-LIB (theory.h, goal.h), made into Z3's terms by the library's functions: its own reader
// takes longer than its prover.
//
// Commands  (declare-sort S 0), (declare-fun f (S ...) S), (define-fun c () S term), (assert term)
// Terms     names, numbers, true; (forall ((x S) ...) term or (! term :pattern (term ...))); and, =>, not, =, >=, +, *,
// -,
//           div, mod; applications
// Errors    an exception: Z3's own, or std::runtime_error where the text is none of this.
#pragma once

#include <z3++.h>

#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

namespace smt_verifier {

class TermReader {
 public:
  explicit TermReader(z3::context& context);
  /// What the text asserts. Declarations stay; definitions until forget_definitions().
  [[nodiscard]] std::vector<z3::expr> read(std::string_view text);
  void forget_definitions() { defined_.clear(); }

 private:
  struct Hash {
    using is_transparent = void;
    std::size_t operator()(std::string_view text) const { return std::hash<std::string_view>()(text); }
  };
  template <class Value>
  using ByName = std::unordered_map<std::string, Value, Hash, std::equal_to<>>;

  std::string_view next();  ///< "(", ")" or a word; "" at the end.
  void expect(std::string_view token);
  [[nodiscard]] bool closes();  ///< Takes a ")" if it comes next.
  z3::sort sort();
  std::vector<z3::sort> sorts();
  z3::expr term();
  z3::expr term_from(std::string_view token);
  z3::expr name(std::string_view text);
  z3::expr quantifier();
  z3::expr application(std::string_view head);
  [[nodiscard]] z3::expr wrap(Z3_ast made);

  z3::context& context_;
  ByName<z3::sort> sorts_;
  ByName<z3::func_decl> functions_;
  ByName<z3::expr> defined_;
  std::vector<std::pair<std::string_view, z3::expr>> bound_;
  std::string_view rest_;
};

}  // namespace smt_verifier
