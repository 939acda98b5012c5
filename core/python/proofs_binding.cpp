// rewright.verify, rewright.check_certificate, rewright.explain, rewright.save_rules: verdicts and their proofs.
#include <rewright/verify/certificate.h>

#include <fmt/format.h>

#include <filesystem>

#include "base/files.h"
#include "campaign/rule_verdict.h"
#include "python/bindings.h"
#include "verify/certificate_text.h"
#include "verify/rule_judge.h"

namespace rewright::python {
namespace {

namespace fs = std::filesystem;

/// What verify() found, and the rule as it is proved.
struct OwnedVerdict {
  RuleVerdict found;
  OwnedRule rule;
};

std::string word_for(VerdictKind kind) {
  switch (kind) {
    case VerdictKind::kProved: return "proved";
    case VerdictKind::kRefuted: return "refuted";
    case VerdictKind::kUnknown: break;
  }
  return "unknown";
}

OwnedVerdict verify(const OwnedRule& rule, const OwnedAxioms& axioms,
                    const std::optional<std::vector<std::string>>& verifiers, std::uint64_t work_units,
                    std::uint64_t memory_bytes) {
  std::vector<VerifierChoice> choices;
  for (const std::string& name : verifiers ? *verifiers : default_verifiers(*rule.plugins))
    choices.push_back({name, {}});
  LongWork work;
  PortfolioOptions options;
  options.budget = {work_units, memory_bytes};
  options.stop = [&] { return work.stopped(); };
  RuleVerdict found =
      value_of(work.run([&] { return verify_rule(rule.rule, *axioms.set, choices, *rule.plugins, options); }));
  OwnedRule proved{rule.plugins, found.rule};
  return {std::move(found), std::move(proved)};
}

void check_certificate(const OwnedRule& rule, const OwnedAxioms& axioms,
                       const std::optional<std::string>& certificate) {
  const std::string& text = certificate ? *certificate : rule.rule.certificate;
  if (text.empty())
    throw Failure(make_error(ErrorCode::kUsage, "rule {} has no certificate; verify() finds one", rule.rule.name));
  LongWork work;
  check(
      work.run([&] { return RuleJudge(*axioms.set, *rule.plugins, RuleJudge::Memory::kNone).prove(rule.rule, text); }));
}

std::string text_of(const ProofTerm& term) {
  if (term.operands.empty()) return term.text;
  std::string text = term.text + "(";
  for (std::size_t i = 0; i < term.operands.size(); ++i) text += (i == 0 ? "" : ", ") + text_of(term.operands[i]);
  return text + ")";
}

std::vector<ProofChain> explain(const OwnedRule& rule, const OwnedAxioms& axioms) {
  RuleJudge judge(*axioms.set, *rule.plugins);
  check(judge.prove(rule.rule, rule.rule.certificate));
  return value_of(judge.checker().explain(rule.rule, rule.rule.certificate));
}

void save_rules(const std::string& path, const std::vector<OwnedRule>& rules, const OwnedAxioms& axioms) {
  CertificateFile file;
  const fs::path folder = fs::absolute(path).parent_path();
  for (const std::string& axiom : axioms.set->files())
    file.axioms.push_back(fs::absolute(axiom).lexically_relative(folder).string());
  for (const OwnedRule& rule : rules) {
    if (rule.rule.certificate.empty())
      throw Failure(make_error(ErrorCode::kUsage,
                               "rule {} has no certificate, and the file holds proofs; verify() finds one",
                               rule.rule.name));
    file.entries.push_back({to_text(rule.rule), rule.rule.certificate});
  }
  check(write_file(path, to_text(file)));
}

void bind_steps(py::module_& module) {
  py::class_<ProofChain::Step>(module, "ProofStep", "One equation that is used, and what it leads to.")
      .def_readonly("axiom", &ProofChain::Step::axiom, "Its name.")
      .def_readonly("left_to_right", &ProofChain::Step::left_to_right, "The direction in which it is read.")
      .def_readonly("position", &ProofChain::Step::position,
                    "The operands to follow from the root to the part that is replaced; [] is the root.")
      .def_readonly("substitution", &ProofChain::Step::substitution, "Variables and what stands for them, as text.")
      .def_property_readonly(
          "after", [](const ProofChain::Step& step) { return text_of(step.after); },
          "The whole term, once the part is replaced.")
      .def("__repr__", [](const ProofChain::Step& step) {
        return fmt::format("<rewright.ProofStep {} {}>", step.axiom, step.left_to_right ? "->" : "<-");
      });
  py::class_<ProofChain>(module, "ProofChain", "How one output of a rule's source becomes that of its target.")
      .def_property_readonly(
          "start", [](const ProofChain& chain) { return text_of(chain.start); }, "The source's output as a term.")
      .def_readonly("steps", &ProofChain::steps, "In their order; the last one's term is the target's output.")
      .def("__len__", [](const ProofChain& chain) { return chain.steps.size(); })
      .def("__iter__", [](const ProofChain& chain) { return py::iter(py::cast(chain.steps)); })
      .def("__repr__", [](const ProofChain& chain) {
        return fmt::format("<rewright.ProofChain: {} steps from {}>", chain.steps.size(), text_of(chain.start));
      });
}

}  // namespace

void bind_proofs(py::module_& module) {
  bind_steps(module);
  py::class_<OwnedVerdict>(module, "Verdict", "Does a rule hold?")
      .def_property_readonly(
          "verdict", [](const OwnedVerdict& verdict) { return word_for(verdict.found.verdict.kind); },
          "'proved', 'refuted' or 'unknown'. Unknown is not proved.")
      .def_property_readonly(
          "proved", [](const OwnedVerdict& verdict) { return verdict.found.verdict.kind == VerdictKind::kProved; },
          "verdict == 'proved'.")
      .def_property_readonly(
          "reason", [](const OwnedVerdict& verdict) { return verdict.found.verdict.reason; },
          "One sentence: how it was proved, where the sides differ, or why nothing is known.")
      .def_property_readonly(
          "counterexample", [](const OwnedVerdict& verdict) { return verdict.found.verdict.counterexample; },
          "Refuted: shapes, inputs, and the two outputs; else ''.")
      .def_property_readonly(
          "certificate", [](const OwnedVerdict& verdict) { return verdict.found.verdict.certificate; },
          "Proved: what the checker has replayed; '' where only a solver's word is there.")
      .def_property_readonly(
          "axioms", [](const OwnedVerdict& verdict) { return verdict.found.verdict.axioms; },
          "Proved: names of those that were used, where the verifier tells.")
      .def_property_readonly(
          "decided_by", [](const OwnedVerdict& verdict) { return verdict.found.decided_by; },
          "The verifier; '' where none decided.")
      .def_readonly("rule", &OwnedVerdict::rule,
                    "Proved: under the conditions of the proof, with its certificate and trust, fit for optimize(). "
                    "Otherwise as it was given.")
      .def("__repr__", [](const OwnedVerdict& verdict) {
        return fmt::format("<rewright.Verdict {}: {}>", word_for(verdict.found.verdict.kind),
                           verdict.found.verdict.reason);
      });

  module.def("verify", &verify, py::arg("rule"), py::arg("axioms"), py::kw_only(), py::arg("verifiers") = py::none(),
             py::arg("work") = 2'000'000, py::arg("memory_bytes") = std::uint64_t{1} << 30,
             "Asks verifiers by name, in order, until one decides (default: evaluate, which refutes; egraph, which "
             "proves; z3 where it is loaded). `work`: each one's budget in its own units of work, not in time, so that "
             "the answer is the same on every machine. A certificate is replayed before the rule counts as proved. "
             "Raises Error: an axiom that fails its audit ('mismatch'), no such verifier ('not found').");
  module.def("check_certificate", &check_certificate, py::arg("rule"), py::arg("axioms"),
             py::arg("certificate") = py::none(),
             "Replays a proof of the rule, its own unless another is given, on axioms that stand their audit. Raises "
             "Error ('mismatch', 'parse') with the step that does not fit; returns None where it holds.");
  module.def("explain", &explain, py::arg("rule"), py::arg("axioms"),
             "The rule's proof to read: for each output, every term on the way. Raises Error: a proof that does not "
             "hold; 'unsupported' for one from definitions, which has no steps.");
  module.def("save_rules", &save_rules, py::arg("path"), py::arg("rules"), py::arg("axioms"),
             "Writes rules with their certificates, for load_rules() and rewright optimize --rules. The file names the "
             "axioms' files, relative to itself. Raises Error for a rule without a certificate.");
}

}  // namespace rewright::python
