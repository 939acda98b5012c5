// The checker of certificates. It replays every step on terms of its own (checked_terms.h), with the operators' shape
// rules and <rewright/linear.h>; nothing here comes from a prover.
//
// What a step says is read once for all rules whose inputs have the same names and ranks (statements.h); whether its
// conditions follow is asked once for each set of conditions that rules come with.
#include <rewright/certificate.h>
#include <rewright/linear.h>

#include <algorithm>
#include <unordered_map>

#include "verify/certificate_text.h"
#include "verify/checked_terms.h"
#include "verify/explanation.h"
#include "verify/statements.h"

namespace rewright {
namespace {

// Kept; then all is forgotten, so that memory stays bounded.
constexpr std::size_t kMostFacts = 20'000, kMostTerms = 1'000'000;

template <class... Args>
Error mismatch(fmt::format_string<Args...> format, Args&&... args) {
  return make_error(ErrorCode::kMismatch, format, std::forward<Args>(args)...);
}

/// What is known of the sizes, and what has been found to follow from it.
class Facts {
 public:
  Facts(CheckedTerms& terms, ConditionSet known)
      : terms_(terms), sizes_(constraints_of(terms, known), SizeOrder(SizeOrder::Least::kOneInTensors)) {
    for (const ConditionId id : terms.conditions(known)) mark(follows_, id);
  }

  [[nodiscard]] bool contradictory() const { return sizes_.contradictory(); }
  Status require(ConditionSet wanted) {
    if (wanted < granted_.size() && granted_[wanted]) return {};
    for (const ConditionId id : terms_.conditions(wanted)) {
      if (id < follows_.size() && follows_[id]) continue;
      if (!sizes_.implies(terms_.condition(id)))
        return mismatch("{} does not follow from the rule's conditions", to_string(terms_.condition(id)));
      mark(follows_, id);
    }
    mark(granted_, wanted);
    return {};
  }
  /// The term with every size in its one normal form, so that equal terms are one; what it requires must be known.
  Result<TermId> accept(TermId id) {
    REWRIGHT_CHECK(require(terms_[id].defined));
    return normal_form(id);
  }
  Result<TermId> normal_form(TermId id) {
    const CheckedTerm& term = terms_[id];
    if (!term.has_sizes || sizes_.solved().empty()) return id;
    if (const auto found = normal_.find(id); found != normal_.end()) return found->second;
    std::vector<TermId> operands = terms_.operands(id);
    for (TermId& operand : operands) {
      REWRIGHT_TRY(operand, normal_form(operand));
    }
    const auto given = terms_.params(term.params).values();
    std::vector<BasicParamValue<SymbolicDim>> values(given.begin(), given.end());
    for (auto& value : values) {
      auto* list = std::get_if<SizeList<SymbolicDim>>(&value);
      if (!list) continue;
      for (SymbolicDim& size : list->values) size = sizes_.normalise(size);
    }
    const ParamsId params = terms_.number(SymbolicParams(std::move(values)));
    REWRIGHT_TRY(const TermId normal, terms_.apply(*term.op, term.output, params, operands));
    return normal_[id] = normal;
  }

 private:
  static std::vector<Constraint> constraints_of(const CheckedTerms& terms, ConditionSet set) {
    std::vector<Constraint> constraints;
    for (const ConditionId id : terms.conditions(set)) constraints.push_back(terms.condition(id));
    return constraints;
  }
  static void mark(std::vector<bool>& marks, std::uint32_t place) {
    if (marks.size() <= place) marks.resize(place + 1);
    marks[place] = true;
  }

  CheckedTerms& terms_;
  SizeSystem sizes_;
  std::vector<bool> follows_, granted_;  ///< Conditions; sets of them.
  std::unordered_map<TermId, TermId> normal_;
};

}  // namespace

struct CertificateChecker::State {
  std::span<const Axiom> axioms;
  const Registry& registry;
  CheckedTerms terms;
  Statements statements;
  std::unordered_map<std::string, TextsRead> texts;  ///< By the names and ranks of inputs.
  std::unordered_map<ConditionSet, Facts> facts;

  State(std::span<const Axiom> given, const Registry& operators)
      : axioms(given), registry(operators), statements(terms, given, operators) {}

  [[nodiscard]] bool is_full() const { return facts.size() > kMostFacts || terms.size() > kMostTerms; }

  Status check(const Rule& rule, std::string_view text, std::vector<ProofChain>* chains = nullptr) {
    TextsRead& read = texts_over(rule.inputs);
    const auto inputs = std::span(read.term_of).first(rule.inputs.size());
    ConditionSet known = 0, wanted = 0;
    REWRIGHT_TRY(const auto source, outputs_of(inputs, rule.source, known));
    REWRIGHT_TRY(const auto target, outputs_of(inputs, rule.target, wanted));
    for (const Constraint& condition : rule.precondition) known = terms.unite(known, terms.set_of(condition));
    Facts& given = facts.try_emplace(known, terms, known).first->second;
    if (given.contradictory()) return mismatch("no sizes meet the rule's conditions");
    if (source.size() != target.size()) return mismatch("source and target have different numbers of outputs");
    if (take_line(text) != "certificate 1")
      return make_error(ErrorCode::kParse, "the first line is not 'certificate 1'");
    std::optional<Explanation> explanation;
    if (chains) explanation.emplace([&](TermId term) { return read_out(rule.inputs, term); }, *chains);
    for (std::size_t k = 0; k < source.size(); ++k) {
      if (take_line(text) != "output " + std::to_string(k)) return mismatch("the proof of output {} is missing", k);
      const Status status = replay(read, given, source[k], target[k], text, explanation ? &*explanation : nullptr);
      if (!status) return make_error(status.error().code, "output {}: {}", k, status.error().message);
    }
    if (!text.empty()) return mismatch("the certificate goes on after the last output");
    return {};
  }

  /// The outputs of one side; what its applications require is added to `known`.
  Result<std::vector<TermId>> outputs_of(std::span<const TermId> inputs, const Pattern& side, ConditionSet& known) {
    std::vector<std::pair<ParamsId, std::vector<TermId>>> nodes;
    const auto term_of = [&](Port port) -> Result<TermId> {
      if (port.node.value < inputs.size()) return inputs[port.node.value];
      const auto& [params, in] = nodes[port.node.value - inputs.size()];
      return terms.apply(*side.nodes[port.node.value - inputs.size()].op, port.output, params, in);
    };
    for (const PatternNode& node : side.nodes) {
      nodes.emplace_back(terms.number(node.params), std::vector<TermId>());
      for (const Port port : node.inputs) {
        REWRIGHT_TRY(const TermId operand, term_of(port));
        nodes.back().second.push_back(operand);
      }
      REWRIGHT_TRY(const TermId first,
                   term_of({NodeId{static_cast<std::uint32_t>(inputs.size() + nodes.size() - 1)}, 0}));
      known = terms.unite(known, terms[first].own);
    }
    std::vector<TermId> outputs;
    for (const Port port : side.outputs) {
      REWRIGHT_TRY(const TermId output, term_of(port));
      outputs.push_back(output);
    }
    return outputs;
  }

  /// The steps of one output, up to the next "output" or the end.
  Status replay(TextsRead& read, Facts& given, TermId from, TermId to, std::string_view& text,
                const Explanation* explanation) {
    REWRIGHT_TRY(TermId term, given.accept(from));
    if (explanation) explanation->begin(term);
    REWRIGHT_TRY(const TermId wanted, given.accept(to));
    for (std::size_t number = 1; !text.empty() && !text.starts_with("output "); ++number) {
      const std::string_view line = take_line(text);
      const auto next = step(read, given, term, line);
      if (!next) return make_error(next.error().code, "step {}: {}", number, next.error().message);
      term = *next;
      if (explanation) REWRIGHT_CHECK(explanation->add(line, term));
    }
    if (term != wanted) return mismatch("the steps do not lead to the target");
    return {};
  }
  /// The term after one line of a certificate.
  Result<TermId> step(TextsRead& read, Facts& given, TermId term, std::string_view line) {
    REWRIGHT_TRY(const StepText text, read_step(line));
    REWRIGHT_TRY(const Statement* statement, statements.read(text.equation, read));
    REWRIGHT_CHECK(given.require(statement->conditions));
    REWRIGHT_TRY(const TermId from, given.normal_form(statement->from));
    REWRIGHT_TRY(const TermId to, given.normal_form(statement->to));
    REWRIGHT_TRY(const auto position, read_position(text.position));
    REWRIGHT_TRY(const TermId changed, replace(term, position, from, to));
    return given.accept(changed);
  }
  /// The term with the subterm at the position replaced.
  Result<TermId> replace(TermId id, std::span<const std::size_t> position, TermId from, TermId to) {
    if (position.empty()) {
      if (id == from) return to;
      return mismatch("the term at the position is not the side of the axiom that is to be replaced");
    }
    const CheckedTerm& term = terms[id];
    std::vector<TermId> operands = terms.operands(id);
    if (position[0] >= operands.size()) return mismatch("the position is outside the term");
    REWRIGHT_TRY(operands[position[0]], replace(operands[position[0]], position.subspan(1), from, to));
    return terms.apply(*term.op, term.output, term.params, operands);
  }

  TextsRead& texts_over(std::span<const PatternInput> inputs) {
    ByteKey key;
    for (const PatternInput& input : inputs) {
      key.add(std::string_view(input.name));
      key.add(input.rank);
    }
    auto& found = texts[key.bytes()];
    if (found.term_of.size() < inputs.size()) found = statements.texts_over(inputs);
    return found;
  }
  /// For people to read.
  ProofTerm read_out(std::span<const PatternInput> inputs, TermId id) {
    const CheckedTerm& term = terms[id];
    if (!term.op) {
      const auto input = std::ranges::find(inputs, id, [&](const PatternInput& one) { return terms.input(one); });
      return {input->name, true, {}};
    }
    ProofTerm out{term.op->name(), false, {}};
    if (term.output > 0) out.text += fmt::format(".{}", term.output);
    out.text += to_string(term.op->info().params, terms.params(term.params));
    for (const TermId operand : terms.operands(id)) out.operands.push_back(read_out(inputs, operand));
    return out;
  }
};

CertificateChecker::CertificateChecker(std::span<const Axiom> axioms, const Registry& registry)
    : state_(std::make_unique<State>(axioms, registry)) {}
CertificateChecker::~CertificateChecker() = default;

Status CertificateChecker::check(const Rule& rule, std::string_view certificate) {
  if (state_->is_full()) state_ = std::make_unique<State>(state_->axioms, state_->registry);
  return state_->check(rule, certificate);
}

Result<std::vector<ProofChain>> CertificateChecker::explain(const Rule& rule, std::string_view certificate) {
  std::vector<ProofChain> chains;
  REWRIGHT_CHECK(state_->check(rule, certificate, &chains));
  return chains;
}

}  // namespace rewright
