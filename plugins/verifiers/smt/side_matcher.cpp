#include "side_matcher.h"

#include <algorithm>

namespace smt_verifier {
namespace {

using namespace rewright;

class SideMatcher {
 public:
  SideMatcher(const Axiom& axiom, const std::vector<const Symbol*>& symbols, const UseReport& found)
      : axiom_(axiom),
        symbols_(symbols),
        found_(found),
        ranks_(axiom.variables.size(), -1),
        term_rank_(axiom.terms.size(), -1) {}

  void run(std::uint32_t root) {
    collect(root);
    std::ranges::sort(applications_);
    applications_.erase(std::ranges::unique(applications_).begin(), applications_.end());
    if (!applications_.empty()) descend(0);
  }

 private:
  void collect(std::uint32_t term) {
    if (axiom_.terms[term].variable) return;
    applications_.push_back(term);
    for (const std::uint32_t operand : axiom_.terms[term].operands) collect(operand);
  }
  void descend(std::size_t depth) {
    if (depth == applications_.size()) return finish();
    const AxiomTerm& term = axiom_.terms[applications_[depth]];
    for (const Symbol* candidate : symbols_) {
      const Symbol& symbol = *candidate;
      if (symbol.op != term.op || symbol.output != term.output || symbol.ranks.size() != term.operands.size()) continue;
      const ParamBinding saved_binding = binding_;
      const AxiomRanks saved_ranks = ranks_;
      if (fits(term, symbol)) {
        term_rank_[applications_[depth]] = symbol.shape.rank();
        descend(depth + 1);
      }
      binding_ = saved_binding;
      ranks_ = saved_ranks;
    }
  }
  bool fits(const AxiomTerm& term, const Symbol& symbol) {
    for (std::size_t i = 0; i < term.operands.size(); ++i) {
      const AxiomTerm& operand = axiom_.terms[term.operands[i]];
      int& rank = operand.variable ? ranks_[*operand.variable] : term_rank_[term.operands[i]];
      if (operand.variable && rank < 0) rank = symbol.ranks[i];
      if (rank != symbol.ranks[i]) return false;
    }
    for (std::size_t i = 0; i < term.params.size(); ++i) {
      if (!unify(term.params[i], symbol.params[i])) return false;
    }
    return true;
  }
  bool bind(const std::string& name, const ParamValue& value) {
    return binding_.emplace(name, value).first->second == value;
  }
  bool unify(const AxiomParam& param, const ParamValue& value) {
    if (const auto* variable = std::get_if<AxiomParamVariable>(&param)) return bind(variable->name, value);
    if (const auto* real = std::get_if<double>(&param))
      return std::holds_alternative<double>(value) && std::get<double>(value) == *real;
    if (const auto* one = std::get_if<SymbolicDim>(&param))
      return std::holds_alternative<std::int64_t>(value) && unify(*one, std::get<std::int64_t>(value));
    const auto& list = std::get<std::vector<SymbolicDim>>(param);
    if (const auto* sizes = std::get_if<SizeList<std::int64_t>>(&value)) return sizes->values.size() == list.size();
    const auto* numbers = std::get_if<std::vector<std::int64_t>>(&value);
    if (!numbers || numbers->size() != list.size()) return false;
    for (std::size_t i = 0; i < list.size(); ++i) {
      if (!unify(list[i], (*numbers)[i])) return false;
    }
    return true;
  }
  bool unify(const SymbolicDim& dim, std::int64_t value) {
    if (const auto variable = dim.variable(); variable && !variable->is_axis()) return bind(variable->text(), value);
    const auto known = dim.evaluate([this](SizeVar name) -> std::optional<std::int64_t> {
      const auto found = binding_.find(name.text());
      if (found == binding_.end() || !std::holds_alternative<std::int64_t>(found->second)) return std::nullopt;
      return std::get<std::int64_t>(found->second);
    });
    return known == value;
  }
  void finish() {
    AxiomRanks ranks = ranks_;
    for (int& rank : ranks) rank = std::max(rank, 0);
    for (std::size_t i = 0; i < ranks.size(); ++i) {
      if (axiom_.variables[i].sort == AxiomSort::kTensor && ranks_[i] < 0) return;  // The side does not bind it.
    }
    if (std::ranges::find(axiom_.ranks, ranks) == axiom_.ranks.end()) return;
    for (const std::string& name : parameter_variables(axiom_)) {
      if (!binding_.contains(name)) return;
    }
    found_(ranks, binding_);
  }

  const Axiom& axiom_;
  const std::vector<const Symbol*>& symbols_;
  const UseReport& found_;
  std::vector<std::uint32_t> applications_;
  AxiomRanks ranks_;
  std::vector<int> term_rank_;
  ParamBinding binding_;
};

}  // namespace

void match_side(const Axiom& axiom, std::uint32_t root, const std::vector<const Symbol*>& symbols,
                const UseReport& found) {
  SideMatcher(axiom, symbols, found).run(root);
}

}  // namespace smt_verifier
