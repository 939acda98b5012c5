// The checker of certificates. It replays every step on terms of its own (checked_terms.h), with the operators' shape
// rules and <rewright/tensor/linear.h>; nothing here comes from a prover.
//
// What a step says is read once for all rules whose inputs have the same names and ranks (statements.h); whether its
// conditions follow is asked once for each set of conditions that rules come with.
#include <rewright/tensor/linear.h>
#include <rewright/verify/certificate.h>
#include <rewright/verify/theorem_certificate.h>

#include <algorithm>

#include "verify/explanation.h"
#include "verify/statements.h"

namespace rewright {
namespace {

// Kept; then all is forgotten, so that memory stays bounded.
constexpr std::string_view kTheorem = "theorem 1";

constexpr std::size_t kMostFacts = 20'000, kMostTerms = 1'000'000;

/// What is known of the sizes, and what has been found to follow from it.
class Facts {
 public:
  Facts(CheckedTerms& terms, ConditionSet known) : terms_(terms), sizes_(SizeOrder(SizeOrder::Least::kOneInTensors)) {
    for (const ConditionId id : terms.conditions(known)) {
      sizes_.add(terms.condition(id));
      follows_.add(id);
    }
  }

  [[nodiscard]] bool contradictory() const { return sizes_.contradictory(); }
  Status require(ConditionSet wanted) {
    if (granted_.has(wanted)) return {};
    for (const ConditionId id : terms_.conditions(wanted)) {
      if (follows_.has(id)) continue;
      if (!sizes_.implies(terms_.condition(id)))
        return mismatch("{} does not follow from the rule's conditions", to_string(terms_.condition(id)));
      follows_.add(id);
    }
    granted_.add(wanted);
    return {};
  }
  /// The term with every size in its one normal form, so that equal terms are one; what it requires must be known.
  Result<TermId> accept(TermId id) {
    REWRIGHT_CHECK(require(terms_[id].defined));
    return normal_form(id);
  }
  Result<TermId> normal_form(TermId id) {
    if (sizes_.solved().empty()) return id;
    return terms_.with_sizes(
        id, [this](const SymbolicDim& size) { return sizes_.normalise(size); }, normal_);
  }

 private:
  CheckedTerms& terms_;
  SizeSystem sizes_;
  Marks follows_, granted_;  ///< Conditions; sets of them.
  std::unordered_map<TermId, TermId> normal_;
};

}  // namespace

struct CertificateChecker::State {
  std::span<const Axiom> axioms;
  const Registry& registry;
  CheckedTerms terms;
  Statements statements;
  std::unordered_map<ConditionSet, Facts> facts;
  std::vector<std::size_t> position;  ///< Of the step that is replayed.

  State(std::span<const Axiom> given, const Registry& operators)
      : axioms(given), registry(operators), statements(terms, given, operators) {}

  /// The same, or a fresh one where it is full.
  static State& with_room(std::unique_ptr<State>& state) {
    if (state->facts.size() > kMostFacts || state->terms.size() > kMostTerms)
      state = std::make_unique<State>(state->axioms, state->registry);
    return *state;
  }

  Status check(const Rule& rule, std::string_view text, Explanation* explanation = nullptr) {
    // A rule lies scattered in memory: its parts are on their way while the first is read.
    for (const Pattern* side : {&rule.source, &rule.target}) {
      for (const PatternNode& node : side->nodes) {
        __builtin_prefetch(node.params.values().data());
        __builtin_prefetch(node.inputs.data());
      }
    }
    TermList inputs, source, target;
    for (const PatternInput& input : rule.inputs) {
      if (&*std::ranges::find(rule.inputs, input.name, &PatternInput::name) != &input)
        return mismatch("two inputs are called {}", input.name);
      inputs.push_back(terms.input(input));
    }
    TextsRead& texts = statements.texts_over(rule.inputs, inputs);
    REWRIGHT_CHECK(find_outputs(inputs, rule.source, source));
    REWRIGHT_CHECK(find_outputs(inputs, rule.target, target));
    ConditionSet known = 0;
    for (const TermId output : source) known = terms.unite(known, terms[output].defined);
    for (const Constraint& condition : rule.precondition) known = terms.unite(known, terms.set_of(condition));
    Facts& given = facts.try_emplace(known, terms, known).first->second;
    if (given.contradictory()) return mismatch("no sizes meet the rule's conditions");
    if (source.size() != target.size()) return mismatch("source and target have different numbers of outputs");
    const std::string_view kind = take_line(text);
    if (kind == kTheorem) return check_theorems(rule, given, source, target, text);
    if (kind != "certificate 1")
      return make_error(ErrorCode::kParse, "the first line is neither 'certificate 1' nor 'theorem 1'");
    for (std::size_t k = 0; k < source.size(); ++k) {
      if (take_line(text) != "output " + std::to_string(k)) return mismatch("the proof of output {} is missing", k);
      const Status status = replay(texts, given, source[k], target[k], text, explanation);
      if (!status) return make_error(status.error().code, "output {}: {}", k, status.error().message);
    }
    if (!text.empty()) return mismatch("the certificate goes on after the last output");
    return {};
  }

  /// Without axioms: the answers for each output are those that an equation between definitions needs.
  Status check_theorems(const Rule& rule, Facts& given, const TermList& source, const TermList& target,
                        std::string_view text) {
    REWRIGHT_TRY(const certified::RuleEquations equations, certified::equations_of(rule));
    for (std::size_t k = 0; k < source.size(); ++k) {
      if (take_line(text) != "output " + std::to_string(k)) return mismatch("the proof of output {} is missing", k);
      std::size_t end = 0;
      while (end < text.size() && !text.substr(end).starts_with("output "))
        end = std::min(text.find('\n', end), text.size() - 1) + 1;
      const std::string_view answers = text.substr(0, end);
      text.remove_prefix(end);
      const auto checked = [&]() -> Status {
        REWRIGHT_CHECK(given.accept(source[k]));
        REWRIGHT_CHECK(given.accept(target[k]));
        if (terms.shape(source[k]).rank() != terms.shape(target[k]).rank())
          return mismatch("the sides have different ranks");
        REWRIGHT_CHECK(given.require(terms.equal_shapes(source[k], target[k])));
        return certified::check_theorem(equations.outputs[k], answers);
      }();
      if (!checked) return make_error(checked.error().code, "output {}: {}", k, checked.error().message);
    }
    if (!text.empty()) return mismatch("the certificate goes on after the last output");
    return {};
  }

  Status find_outputs(const TermList& inputs, const Pattern& side, TermList& found) {
    TermList firsts(inputs.begin(), inputs.end());  // Of each node its first output.
    const auto find = [&](const std::vector<Port>& ports) -> Status {
      found.clear();
      for (const Port port : ports) {
        const TermId first = found.emplace_back(firsts[port.node.value]);
        const Head& head = terms.head(terms[first].head);
        if (port.output == 0 || !head.op) continue;
        REWRIGHT_TRY(found.back(), terms.apply(terms.head(*head.op, port.output, head.params), terms.operands(first)));
      }
      return {};
    };
    for (const PatternNode& node : side.nodes) {
      REWRIGHT_CHECK(find(node.inputs));
      REWRIGHT_TRY(firsts.emplace_back(), terms.apply(terms.head(*node.op, 0, node.params), found));
    }
    return find(side.outputs);
  }

  /// The steps of one output, up to the next "output" or the end.
  Status replay(TextsRead& texts, Facts& given, TermId from, TermId to, std::string_view& text,
                Explanation* explanation) {
    REWRIGHT_TRY(TermId term, given.accept(from));
    if (explanation) explanation->begin(term);
    REWRIGHT_TRY(const TermId wanted, given.accept(to));
    for (std::size_t number = 1; !text.empty() && !text.starts_with("output "); ++number) {
      const std::string_view line = take_line(text);
      const auto next = step(texts, given, term, line);
      if (!next) return make_error(next.error().code, "step {}: {}", number, next.error().message);
      term = *next;
      if (explanation) REWRIGHT_CHECK(explanation->add(line, term));
    }
    if (term != wanted) return mismatch("the steps do not lead to the target");
    return {};
  }
  /// The term after one line of a certificate.
  Result<TermId> step(TextsRead& texts, Facts& given, TermId term, std::string_view line) {
    REWRIGHT_TRY(const StepText text, read_step(line));
    REWRIGHT_TRY(const Statement* statement, statements.read(text.equation, texts));
    REWRIGHT_CHECK(given.require(statement->conditions));
    REWRIGHT_TRY(const TermId from, given.normal_form(statement->from));
    REWRIGHT_TRY(const TermId to, given.normal_form(statement->to));
    REWRIGHT_CHECK(read_position(text.position, position));
    REWRIGHT_TRY(const TermId changed, replace(term, position, from, to));
    return given.accept(changed);
  }
  /// The term with the subterm at the position replaced.
  Result<TermId> replace(TermId id, std::span<const std::size_t> position, TermId from, TermId to) {
    if (position.empty()) {
      if (id == from) return to;
      return mismatch("the term at the position is not the side of the axiom that is to be replaced");
    }
    TermList operands = terms.operands(id);
    if (position[0] >= operands.size()) return mismatch("the position is outside the term");
    REWRIGHT_TRY(operands[position[0]], replace(operands[position[0]], position.subspan(1), from, to));
    return terms.apply(terms[id].head, operands);
  }
};

CertificateChecker::CertificateChecker(std::span<const Axiom> axioms, const Registry& registry)
    : state_(std::make_unique<State>(axioms, registry)) {}
CertificateChecker::~CertificateChecker() = default;

Status CertificateChecker::check(const Rule& rule, std::string_view certificate) {
  return State::with_room(state_).check(rule, certificate);
}

Result<std::vector<ProofChain>> CertificateChecker::explain(const Rule& rule, std::string_view certificate) {
  if (trust_by(certificate) == Trust::kTheorem)
    return make_error(ErrorCode::kUnsupported,
                      "it is proved from the operators' definitions, without axioms to follow");
  State& state = State::with_room(state_);
  std::vector<ProofChain> chains;
  Explanation explanation(state.terms, rule.inputs, chains);
  REWRIGHT_CHECK(state.check(rule, certificate, &explanation));
  return chains;
}

}  // namespace rewright
