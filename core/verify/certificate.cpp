// The checker of certificates. It replays every step on terms of its own, with the operators' shape rules and
// <rewright/linear.h>; nothing here comes from a prover.
//
// Terms, parameters and what steps amount to are kept per list of inputs and set of known conditions, since the rules
// of a library have many in common.
#include <rewright/certificate.h>
#include <rewright/linear.h>

#include <charconv>
#include <deque>
#include <map>
#include <unordered_map>
#include <unordered_set>

#include "verify/byte_key.h"
#include "verify/certificate_text.h"
#include "verify/explanation.h"

namespace rewright {
namespace {

using TermId = std::uint32_t;
using ParamsId = std::uint32_t;
/// With the digests of their statements.
using AxiomsByName = std::map<std::string, std::pair<const Axiom*, std::string>, std::less<>>;

constexpr std::size_t kMostReplays = 20'000;  // Kept; then all are forgotten, so that memory stays bounded.

template <class... Args>
Error mismatch(fmt::format_string<Args...> format, Args&&... args) {
  return make_error(ErrorCode::kMismatch, format, std::forward<Args>(args)...);
}

/// The terms that `make` gives for the elements of a list, or the first error.
Result<std::vector<TermId>> map_all(const auto& list, const auto& make) {
  std::vector<TermId> terms;
  for (const auto& element : list) {
    REWRIGHT_TRY(const TermId term, make(element));
    terms.push_back(term);
  }
  return terms;
}

/// An input, or one output of an application.
struct Term {
  const Operator* op = nullptr;
  std::uint32_t output = 0;
  ParamsId params = 0;
  std::vector<TermId> operands;
  SymbolicShape shape;
  std::vector<Constraint> defined;  ///< What this application requires of its operands.
};

/// The terms over one list of inputs.
class Terms {
 public:
  std::unordered_map<std::string, TermId> by_text;  ///< As certificates write them.

  explicit Terms(std::span<const PatternInput> inputs) {
    for (const PatternInput& input : inputs) {
      by_text.emplace(input.name, static_cast<TermId>(terms_.size()));
      Term& term = terms_.emplace_back();
      for (int axis = 0; axis < input.rank; ++axis)
        term.shape.append(SymbolicDim::variable(fmt::format("{}.{}", input.name, axis)));
    }
  }
  [[nodiscard]] const Term& operator[](TermId id) const { return terms_[id]; }
  [[nodiscard]] const SymbolicParams& params(ParamsId id) const { return params_[id]; }
  ParamsId intern(SymbolicParams params) {
    key_.clear();
    for (const auto& value : params.values()) {
      key_.add(value.index());
      std::visit([this](const auto& kind) { key_.add(kind); }, value);
    }
    const auto [place, fresh] = params_ids_.try_emplace(key_.bytes(), static_cast<ParamsId>(params_.size()));
    if (fresh) params_.push_back(std::move(params));
    return place->second;
  }
  /// Errors: kShape where the application is defined nowhere.
  Result<TermId> apply(const Operator& op, std::uint32_t output, ParamsId params, std::vector<TermId> operands) {
    key_.clear();
    key_.add(&op);
    key_.add(output);
    key_.add(params);
    key_.add(operands);
    if (const auto found = term_ids_.find(key_.bytes()); found != term_ids_.end()) return found->second;
    std::vector<SymbolicShape> in;
    for (const TermId operand : operands) in.push_back(terms_[operand].shape);
    Constraints<SymbolicDim> where;
    REWRIGHT_TRY(auto out, op.infer(params_[params], in, where));
    if (where.violation()) return *where.violation();
    if (output >= out.size())
      return shape_error("{} has {} outputs, and output {} is used", op.name(), out.size(), output);
    terms_.push_back({&op, output, params, std::move(operands), std::move(out[output]), where.conditions()});
    return term_ids_[key_.bytes()] = static_cast<TermId>(terms_.size() - 1);
  }

 private:
  std::deque<Term> terms_;  // A deque, so that a reference outlives the terms made meanwhile.
  std::deque<SymbolicParams> params_;
  std::unordered_map<std::string, ParamsId> params_ids_;
  std::unordered_map<std::string, TermId> term_ids_;
  ByteKey key_;  // Of what is being looked up.
};

/// What a certificate says of one variable of an axiom.
struct Binding {
  std::optional<TermId> tensor;
  std::vector<SymbolicDim> sizes;  ///< The one of an Int variable, those of a Sizes variable.
  double real = 0;
};

/// One direction of one axiom under one substitution, found to hold.
using Equation = std::pair<TermId, TermId>;

/// Replays steps under what is known of the sizes.
class Replay {
 public:
  Replay(Terms& terms, std::span<const Constraint> known, const AxiomsByName& axioms, const Registry& registry)
      : terms_(terms), sizes_(known), axioms_(axioms), registry_(registry) {}

  [[nodiscard]] bool contradictory() const { return sizes_.contradictory(); }

  /// The term with every size in its one normal form; what it requires must be known. So equal terms get one id.
  Result<TermId> accept(TermId id) {
    if (const auto found = accepted_.find(id); found != accepted_.end()) return found->second;
    const Term& term = terms_[id];
    if (!term.op) return accepted_[id] = id;
    REWRIGHT_TRY(auto operands, map_all(term.operands, [this](TermId operand) { return accept(operand); }));
    for (const Constraint& constraint : term.defined) REWRIGHT_CHECK(require(constraint));
    REWRIGHT_TRY(const TermId normal,
                 terms_.apply(*term.op, term.output, normal_params(term.params), std::move(operands)));
    accepted_[normal] = normal;
    return accepted_[id] = normal;
  }

  /// The term after one line of a certificate.
  Result<TermId> step(TermId term, std::string_view line) {
    REWRIGHT_TRY(const StepText text, read_step(line));
    auto found = equations_.find(std::string(text.equation));
    if (found == equations_.end()) {
      REWRIGHT_TRY(const Equation equation, establish(text.equation));
      found = equations_.emplace(text.equation, equation).first;
    }
    REWRIGHT_TRY(const auto position, read_position(text.position));
    return replace(term, position, found->second);
  }

 private:
  Status require(const Constraint& constraint) {
    if (constraint.kind == Constraint::Kind::kEqual && constraint.left == constraint.right) return {};
    key_.clear();
    key_.add(constraint);
    if (implied_.contains(key_.bytes())) return {};
    if (!sizes_.implies(constraint))
      return mismatch("{} does not follow from the rule's conditions", to_string(constraint));
    implied_.insert(key_.bytes());
    return {};
  }

  ParamsId normal_params(ParamsId id) {
    const auto given = terms_.params(id).values();
    const auto is_list = [](const auto& value) { return std::holds_alternative<SizeList<SymbolicDim>>(value); };
    if (std::ranges::none_of(given, is_list)) return id;
    std::vector<BasicParamValue<SymbolicDim>> values(given.begin(), given.end());
    for (auto& value : values) {
      if (auto* list = std::get_if<SizeList<SymbolicDim>>(&value)) {
        for (SymbolicDim& size : list->values) size = sizes_.normalise(size);
      }
    }
    return terms_.intern(SymbolicParams(std::move(values)));
  }

  /// The term with the subterm at the position replaced.
  Result<TermId> replace(TermId id, std::span<const std::size_t> position, const Equation& equation) {
    if (position.empty()) {
      if (id == equation.first) return equation.second;
      return mismatch("the term at the position is not the side of the axiom that is to be replaced");
    }
    const Term& term = terms_[id];
    if (position[0] >= term.operands.size()) return mismatch("the position is outside the term");
    std::vector<TermId> operands = term.operands;
    REWRIGHT_TRY(operands[position[0]], replace(operands[position[0]], position.subspan(1), equation));
    REWRIGHT_TRY(const TermId changed, terms_.apply(*term.op, term.output, term.params, std::move(operands)));
    return accept(changed);
  }

  /// The axiom's equation under the substitution, all its conditions checked.
  Result<Equation> establish(std::string_view equation) {
    REWRIGHT_TRY(const EquationText text, read_equation(equation));
    const auto axiom = axioms_.find(text.axiom);
    if (axiom == axioms_.end()) return mismatch("the axiom files have no axiom {}", text.axiom);
    if (const auto& [known, digest] = axiom->second; text.digest != digest)
      return mismatch("the axiom {} is not what it was when the proof was made: @{}, now @{}", text.axiom, text.digest,
                      digest);
    axiom_ = axiom->second.first;
    REWRIGHT_CHECK(bind(text));
    REWRIGHT_TRY(const TermId raw_left, instantiate(axiom_->left));
    REWRIGHT_TRY(const TermId raw_right, instantiate(axiom_->right));
    REWRIGHT_TRY(const TermId left, accept(raw_left));
    REWRIGHT_TRY(const TermId right, accept(raw_right));
    for (const Constraint& condition : axiom_->condition) {
      REWRIGHT_TRY(SymbolicDim a, resolve(condition.left));
      REWRIGHT_TRY(SymbolicDim b, resolve(condition.right));
      REWRIGHT_CHECK(require({condition.kind, std::move(a), std::move(b)}));
    }
    const SymbolicShape &a = terms_[left].shape, &b = terms_[right].shape;
    if (a.rank() != b.rank()) return mismatch("the sides of {} differ in rank", text.axiom);
    for (int axis = 0; axis < a.rank(); ++axis) REWRIGHT_CHECK(require({Constraint::Kind::kEqual, a[axis], b[axis]}));
    return text.left_to_right ? Equation{left, right} : Equation{right, left};
  }

  /// No variable gets two values, each tensor has one, and the ranks of the tensors are some for which the axiom is
  /// claimed.
  Status bind(const EquationText& text) {
    bindings_.clear();
    for (const auto& [name, value] : text.substitution) {
      const auto variable = std::ranges::find(axiom_->variables, name, &AxiomVariable::name);
      if (variable == axiom_->variables.end()) return mismatch("{} has no variable '{}'", text.axiom, name);
      REWRIGHT_TRY(Binding binding, read_value(variable->sort, value));
      if (!bindings_.emplace(name, std::move(binding)).second) return mismatch("{} has two values", name);
    }
    AxiomRanks ranks;
    for (const AxiomVariable& variable : axiom_->variables) {
      const auto found = bindings_.find(variable.name);
      const bool is_tensor = variable.sort == AxiomSort::kTensor;
      if (is_tensor && found == bindings_.end()) return mismatch("{} has no value", variable.name);
      ranks.push_back(is_tensor ? terms_[*found->second.tensor].shape.rank() : 0);
    }
    if (std::ranges::find(axiom_->ranks, ranks) != axiom_->ranks.end()) return {};
    return mismatch("{} is not claimed for tensors of ranks {}", text.axiom, fmt::join(ranks, ", "));
  }
  Result<Binding> read_value(AxiomSort sort, std::string_view text) {
    Binding binding;
    if (sort == AxiomSort::kTensor) {
      auto known = terms_.by_text.find(std::string(text));
      if (known == terms_.by_text.end()) {
        REWRIGHT_TRY(const TermText tree, read_term(text));
        REWRIGHT_TRY(const TermId raw, term_of(tree));
        known = terms_.by_text.emplace(text, raw).first;
      }
      REWRIGHT_TRY(binding.tensor, accept(known->second));
    } else if (sort == AxiomSort::kReal) {
      REWRIGHT_TRY(binding.real, read_real(text));
    } else if (sort == AxiomSort::kSizes) {
      REWRIGHT_TRY(binding.sizes, read_sizes(text));
    } else {
      REWRIGHT_TRY(const SymbolicDim size, SymbolicDim::parse(text));
      binding.sizes = {size};
    }
    return binding;
  }
  Result<TermId> term_of(const TermText& text) {
    const auto input = terms_.by_text.find(std::string(text.name));
    if (input != terms_.by_text.end() && !text.is_application) return input->second;
    const auto* op = registry_.find<Operator>(text.name);
    if (!op || !text.is_application)
      return mismatch("'{}' is neither an input of the rule nor an operator with operands", text.name);
    REWRIGHT_TRY(SymbolicParams params, parse_params(text.name, op->info().params, text.params));
    REWRIGHT_TRY(auto operands, map_all(text.operands, [this](const TermText& operand) { return term_of(operand); }));
    return terms_.apply(*op, text.output, terms_.intern(std::move(params)), std::move(operands));
  }

  Result<TermId> instantiate(std::uint32_t index) {
    const AxiomTerm& term = axiom_->terms[index];
    if (term.variable) return *bindings_.at(axiom_->variables[*term.variable].name).tensor;
    REWRIGHT_TRY(auto operands, map_all(term.operands, [this](std::uint32_t operand) { return instantiate(operand); }));
    std::vector<BasicParamValue<SymbolicDim>> values;
    for (std::size_t p = 0; p < term.params.size(); ++p) {
      REWRIGHT_TRY(auto value, parameter(term.op->info().params[p], term.params[p]));
      values.push_back(std::move(value));
    }
    return terms_.apply(*term.op, term.output, terms_.intern(SymbolicParams(std::move(values))), std::move(operands));
  }
  Result<BasicParamValue<SymbolicDim>> parameter(const ParamSpec& spec, const AxiomParam& param) const {
    if (const auto* real = std::get_if<double>(&param)) return BasicParamValue<SymbolicDim>(*real);
    std::vector<SymbolicDim> list;
    if (const auto* variable = std::get_if<AxiomParamVariable>(&param)) {
      const auto bound = bindings_.find(variable->name);
      if (bound == bindings_.end()) return mismatch("{} has no value", variable->name);
      if (spec.kind == ParamKind::kReal) return BasicParamValue<SymbolicDim>(bound->second.real);
      list = bound->second.sizes;
    } else {
      const auto* one = std::get_if<SymbolicDim>(&param);
      for (const SymbolicDim& dim : one ? std::vector{*one} : std::get<std::vector<SymbolicDim>>(param)) {
        REWRIGHT_TRY(SymbolicDim resolved, resolve(dim));
        list.push_back(std::move(resolved));
      }
    }
    if (spec.kind == ParamKind::kSizes) return BasicParamValue<SymbolicDim>(SizeList<SymbolicDim>{std::move(list)});
    std::vector<std::int64_t> numbers;
    for (const SymbolicDim& dim : list) {
      if (!dim.constant()) return mismatch("the parameter {} is {}, and must be a number", spec.name, to_string(dim));
      numbers.push_back(*dim.constant());
    }
    if (spec.kind == ParamKind::kInts) return BasicParamValue<SymbolicDim>(std::move(numbers));
    if (numbers.size() != 1) return mismatch("the parameter {} must be one number", spec.name);
    if (spec.kind == ParamKind::kChoice && (numbers[0] < 0 || numbers[0] >= std::ssize(spec.choices)))
      return mismatch("the parameter {} has no choice {}", spec.name, numbers[0]);
    return BasicParamValue<SymbolicDim>(numbers[0]);
  }
  /// An expression of the axiom over "m", "x.0", "x.a" and "list.0".
  Result<SymbolicDim> resolve(const SymbolicDim& dim) const {
    bool found_all = true;
    const SymbolicDim resolved = dim.substitute([&](std::string_view name) -> std::optional<SymbolicDim> {
      auto value = resolve_name(name);
      found_all = found_all && value;
      return value;
    });
    if (!found_all) return mismatch("{} has no value under the substitution", to_string(dim));
    return resolved;
  }
  std::optional<SymbolicDim> resolve_name(std::string_view name) const {
    const std::string_view base = name.substr(0, name.find('.'));
    const auto bound = bindings_.find(base);
    if (bound == bindings_.end()) return std::nullopt;
    const auto& sizes = bound->second.sizes;
    if (base.size() == name.size()) return sizes.size() == 1 ? std::optional(sizes[0]) : std::nullopt;
    const std::string_view axis = name.substr(base.size() + 1);
    std::int64_t index = -1;
    if (const auto variable = bindings_.find(axis); variable != bindings_.end() && variable->second.sizes.size() == 1) {
      index = variable->second.sizes[0].constant().value_or(-1);
    } else if (std::from_chars(axis.data(), axis.data() + axis.size(), index).ptr != axis.data() + axis.size()) {
      return std::nullopt;
    }
    const auto elements = bound->second.tensor ? terms_[*bound->second.tensor].shape.dims() : std::span(sizes);
    if (index < 0 || index >= std::ssize(elements)) return std::nullopt;
    return elements[static_cast<std::size_t>(index)];
  }

  Terms& terms_;
  SizeSystem sizes_;
  const AxiomsByName& axioms_;
  const Registry& registry_;
  std::unordered_set<std::string> implied_;
  ByteKey key_;
  std::unordered_map<TermId, TermId> accepted_;
  std::unordered_map<std::string, Equation> equations_;
  const Axiom* axiom_ = nullptr;  ///< Of the step that is being read.
  std::map<std::string, Binding, std::less<>> bindings_;
};

/// All terms over some inputs, and a replay for each set of conditions that rules over them come with.
struct RuleSpace {
  Terms terms;
  std::unordered_map<std::string, std::unique_ptr<Replay>> replays;
};

/// The outputs of one side; what its applications require is added to `known`.
Result<std::vector<TermId>> outputs_of(Terms& terms, const Rule& rule, const Pattern& side,
                                       std::vector<Constraint>& known) {
  std::vector<ParamsId> params;
  std::vector<std::vector<TermId>> operands;
  const auto term_of = [&](Port port) -> Result<TermId> {
    if (port.node.value < rule.inputs.size()) return port.node.value;
    const std::size_t node = port.node.value - rule.inputs.size();
    return terms.apply(*side.nodes[node].op, port.output, params[node], operands[node]);
  };
  for (std::size_t i = 0; i < side.nodes.size(); ++i) {
    params.push_back(terms.intern(side.nodes[i].params));
    REWRIGHT_TRY(auto in, map_all(side.nodes[i].inputs, term_of));
    operands.push_back(std::move(in));
    REWRIGHT_TRY(const TermId first, term_of({NodeId{static_cast<std::uint32_t>(rule.inputs.size() + i)}, 0}));
    known.insert(known.end(), terms[first].defined.begin(), terms[first].defined.end());
  }
  return map_all(side.outputs, term_of);
}

/// Terms as they are read.
ProofTerm read_out(const Terms& terms, std::span<const PatternInput> inputs, TermId id) {
  const Term& term = terms[id];
  if (!term.op) return {inputs[id].name, true, {}};
  ProofTerm out{term.op->name(), false, {}};
  if (term.output > 0) out.text += fmt::format(".{}", term.output);
  out.text += to_string(term.op->info().params, terms.params(term.params));
  for (const TermId operand : term.operands) out.operands.push_back(read_out(terms, inputs, operand));
  return out;
}

/// The steps of one output, up to the next "output" or the end.
Status replay_output(Replay& replay, TermId from, TermId to, std::string_view& text, const Explanation* explanation) {
  REWRIGHT_TRY(TermId term, replay.accept(from));
  if (explanation) explanation->begin(term);
  REWRIGHT_TRY(const TermId wanted, replay.accept(to));
  for (std::size_t number = 1; !text.empty() && !text.starts_with("output "); ++number) {
    const std::string_view line = take_line(text);
    const auto next = replay.step(term, line);
    if (!next) return make_error(next.error().code, "step {}: {}", number, next.error().message);
    term = *next;
    if (explanation) REWRIGHT_CHECK(explanation->add(line, term));
  }
  if (term != wanted) return mismatch("the steps do not lead to the target");
  return {};
}

}  // namespace

struct CertificateChecker::State {
  const Registry& registry;
  AxiomsByName axioms;
  std::unordered_map<std::string, std::unique_ptr<RuleSpace>> inputs;
  std::size_t replays = 0;

  Status check(const Rule& rule, std::string_view text, std::vector<ProofChain>* chains = nullptr) {
    if (replays > kMostReplays) inputs.clear(), replays = 0;
    ByteKey names, facts;
    for (const PatternInput& input : rule.inputs) {
      names.add(std::string_view(input.name));
      names.add(input.rank);
    }
    auto& over = inputs[names.bytes()];
    if (!over) over = std::make_unique<RuleSpace>(RuleSpace{Terms(rule.inputs), {}});
    std::vector<Constraint> known, wanted;
    REWRIGHT_TRY(const auto source, outputs_of(over->terms, rule, rule.source, known));
    REWRIGHT_TRY(const auto target, outputs_of(over->terms, rule, rule.target, wanted));
    known.insert(known.end(), rule.precondition.begin(), rule.precondition.end());
    facts.add(known);
    auto& replay = over->replays[facts.bytes()];
    if (!replay) replay = std::make_unique<Replay>(over->terms, known, axioms, registry), ++replays;
    if (replay->contradictory()) return mismatch("no sizes meet the rule's conditions");
    if (source.size() != target.size()) return mismatch("source and target have different numbers of outputs");
    if (take_line(text) != "certificate 1")
      return make_error(ErrorCode::kParse, "the first line is not 'certificate 1'");
    std::optional<Explanation> explanation;
    if (chains) explanation.emplace([&](TermId term) { return read_out(over->terms, rule.inputs, term); }, *chains);
    for (std::size_t k = 0; k < source.size(); ++k) {
      if (take_line(text) != fmt::format("output {}", k)) return mismatch("the proof of output {} is missing", k);
      const Status status = replay_output(*replay, source[k], target[k], text, explanation ? &*explanation : nullptr);
      if (!status) return make_error(status.error().code, "output {}: {}", k, status.error().message);
    }
    if (!text.empty()) return mismatch("the certificate goes on after the last output");
    return {};
  }
};

CertificateChecker::CertificateChecker(std::span<const Axiom> axioms, const Registry& registry)
    : state_(std::make_unique<State>(State{registry, {}, {}, 0})) {
  for (const Axiom& axiom : axioms) state_->axioms.try_emplace(axiom.name, &axiom, statement_digest(axiom));
}
CertificateChecker::~CertificateChecker() = default;

Status CertificateChecker::check(const Rule& rule, std::string_view certificate) {
  return state_->check(rule, certificate);
}

Result<std::vector<ProofChain>> CertificateChecker::explain(const Rule& rule, std::string_view certificate) {
  std::vector<ProofChain> chains;
  REWRIGHT_CHECK(state_->check(rule, certificate, &chains));
  return chains;
}

}  // namespace rewright
