#include "discover/axiom_bindings.h"

#include <algorithm>

#include "axiom/domain.h"
#include "tensor/real.h"

namespace rewright {
namespace {

/// A parameter of a pattern where no size is a variable; of lists of sizes nothing but the length.
ParamValue fixed_value(const BasicParamValue<SymbolicDim>& value) {
  if (const auto* sizes = std::get_if<SizeList<SymbolicDim>>(&value))
    return SizeList<std::int64_t>{std::vector<std::int64_t>(sizes->values.size())};
  if (const auto* number = std::get_if<std::int64_t>(&value)) return *number;
  if (const auto* real = std::get_if<double>(&value)) return *real;
  return std::get<std::vector<std::int64_t>>(value);
}

/// Puts uses in the place of a side's applications, one after the other.
class Search {
 public:
  Search(const Axiom& axiom, std::uint32_t root, const ProgramUses& uses, const ParamDomain& open, std::size_t most)
      : uses_(uses), open_(open), most_(most) {
    std::vector<bool> reached(axiom.terms.size(), false);
    reached[root] = true;
    for (std::size_t i = axiom.terms.size(); i-- > 0;) {
      if (!reached[i]) continue;
      if (!axiom.terms[i].variable) applications_.push_back(&axiom.terms[i]);
      for (const std::uint32_t operand : axiom.terms[i].operands) reached[operand] = true;
    }
  }

  std::vector<ParamBinding> run() {
    descend(0);
    return std::move(found_);
  }

 private:
  [[nodiscard]] bool is_full() const { return found_.size() >= most_; }

  void descend(std::size_t at) {
    if (at == applications_.size()) return fill_open(0);
    const AxiomTerm& term = *applications_[at];
    std::vector<ParamBinding> tried;
    for (const Params& use : uses_.of(term.op->name())) {
      if (is_full()) return;
      const ParamBinding saved = binding_;
      if (fits(term, use) && std::ranges::find(tried, binding_) == tried.end()) {
        tried.push_back(binding_);
        descend(at + 1);
      }
      binding_ = saved;
    }
  }

  bool fits(const AxiomTerm& term, const Params& use) {
    for (std::size_t i = 0; i < term.params.size(); ++i)
      if (!fits(term.params[i], use[i])) return false;
    return true;
  }
  bool fits(const AxiomParam& param, const ParamValue& value) {
    if (const auto* variable = std::get_if<AxiomParamVariable>(&param)) return bind(variable->name, value);
    if (const auto* real = std::get_if<double>(&param)) {
      const auto* number = std::get_if<double>(&value);
      return number != nullptr && is_same_real(*real, *number);
    }
    if (const auto* one = std::get_if<SymbolicDim>(&param)) {
      const auto* number = std::get_if<std::int64_t>(&value);
      return number != nullptr && fits(*one, *number);
    }
    const auto& list = std::get<std::vector<SymbolicDim>>(param);
    if (const auto* sizes = std::get_if<SizeList<std::int64_t>>(&value)) return sizes->values.size() == list.size();
    const auto* numbers = std::get_if<std::vector<std::int64_t>>(&value);
    if (numbers == nullptr || numbers->size() != list.size()) return false;
    for (std::size_t i = 0; i < list.size(); ++i)
      if (!fits(list[i], (*numbers)[i])) return false;
    return true;
  }
  /// Sums and the like are left to what specialises the axiom.
  bool fits(const SymbolicDim& dim, std::int64_t number) {
    if (const auto constant = dim.constant()) return *constant == number;
    const auto variable = dim.variable();
    return !variable || variable->is_axis() || bind(variable->text(), ParamValue(number));
  }
  bool bind(const std::string& name, const ParamValue& value) {
    const auto [place, is_new] = binding_.try_emplace(name, value);
    return is_new || place->second == value;
  }

  void fill_open(std::size_t at) {
    if (is_full()) return;
    while (at < open_.params.size() && binding_.contains(open_.params[at].first)) ++at;
    if (at == open_.params.size()) {
      if (std::ranges::find(found_, binding_) == found_.end()) found_.push_back(binding_);
      return;
    }
    const auto& [name, values] = open_.params[at];
    for (const ParamValue& value : values) {
      binding_[name] = value;
      fill_open(at + 1);
      binding_.erase(name);
    }
  }

  const ProgramUses& uses_;
  const ParamDomain& open_;
  std::size_t most_;
  std::vector<const AxiomTerm*> applications_;
  ParamBinding binding_;
  std::vector<ParamBinding> found_;
};

}  // namespace

void ProgramUses::add(const std::string& op, const SymbolicParams& params) {
  std::vector<ParamValue> values;
  for (const auto& value : params.values()) values.push_back(fixed_value(value));
  std::vector<Params>& known = params_[op];
  if (std::ranges::find(known, Params(values)) != known.end()) return;
  known.emplace_back(std::move(values));
  ++size_;
}

void ProgramUses::add(const Graph& graph) {
  for (const Node& node : graph.nodes()) {
    for (const auto& type : node.outputs) size_ += ranks_.insert(type.shape.rank()).second ? 1 : 0;
    if (const ApplicationNode* made = node.application()) add(made->op->name(), to_symbolic(made->params));
  }
}

void ProgramUses::add_target(const Rule& rule) {
  const auto shapes = infer_shapes(rule.inputs, rule.target);
  if (!shapes) return;
  for (const auto& outputs : shapes->of_node)
    for (const SymbolicShape& shape : outputs) size_ += ranks_.insert(shape.rank()).second ? 1 : 0;
  for (const PatternNode& node : rule.target.nodes) add(node.op->name(), node.params);
}

const std::vector<Params>& ProgramUses::of(const std::string& op) const {
  static const std::vector<Params> kNone;
  const auto found = params_.find(op);
  return found == params_.end() ? kNone : found->second;
}

Result<std::vector<ParamBinding>> bindings_at(const Axiom& axiom, std::uint32_t root, const ProgramUses& uses,
                                              std::size_t most) {
  if (axiom.terms[root].variable) return std::vector<ParamBinding>();
  REWRIGHT_TRY(const ParamDomain open, domain_of(axiom, AuditDomain::kTaso));
  return Search(axiom, root, uses, open, most).run();
}

}  // namespace rewright
