// rewright.Axioms: loaded, listed, proved from the operators' definitions, audited by evaluation.
#include <rewright/axiom/axiom.h>

#include <fmt/format.h>

#include <algorithm>

#include "axiom/audit.h"
#include "axiom/writer.h"
#include "python/bindings.h"
#include "theorem/theorem_prover.h"

namespace rewright::python {
namespace {

/// One axiom of a set, which it keeps alive.
struct AxiomHandle {
  OwnedAxioms axioms;
  std::size_t index;
  [[nodiscard]] const Axiom& get() const { return axioms.set->axioms()[index]; }
};

OwnedAxioms load_axiom_files(const std::vector<std::string>& files, const std::optional<Plugins>& plugins) {
  const Plugins owner = plugins_or_own(plugins);
  return {owner, std::make_shared<const AxiomSet>(value_of(load_axioms(files, *owner)))};
}

AxiomHandle axiom_at(const OwnedAxioms& axioms, std::int64_t index) {
  const auto count = static_cast<std::int64_t>(axioms.set->axioms().size());
  const std::int64_t at = index < 0 ? index + count : index;
  if (at < 0 || at >= count) throw py::index_error(fmt::format("there are {} axioms, and none at {}", count, index));
  return {axioms, static_cast<std::size_t>(at)};
}

AxiomHandle axiom_named(const OwnedAxioms& axioms, const std::string& name) {
  const auto all = axioms.set->axioms();
  const auto found = std::ranges::find(all, name, &Axiom::name);
  if (found == all.end()) throw py::key_error(fmt::format("no axiom is named '{}'", name));
  return {axioms, static_cast<std::size_t>(found - all.begin())};
}

OwnedAxioms only(const OwnedAxioms& axioms, const std::vector<std::string>& names) {
  for (const std::string& name : names) (void)axiom_named(axioms, name);
  return {axioms.plugins, std::make_shared<const AxiomSet>(axioms.set->filtered([&](const Axiom& axiom) {
            return std::ranges::find(names, axiom.name) != names.end();
          }))};
}

void tell_share(LongWork& work, const py::object& progress, std::size_t done, std::size_t total) {
  work.tell(progress, done, total);
}

std::vector<theorem::AxiomProof> prove(const OwnedAxioms& axioms, bool certify, int threads,
                                       const py::object& progress) {
  LongWork work;
  theorem::AxiomProofOptions options;
  options.threads = threads;
  options.certify = certify;
  options.stop = [&] { return work.stopped(); };
  options.progress = [&](std::size_t done, std::size_t total) { tell_share(work, progress, done, total); };
  return value_of(work.run([&] { return theorem::prove(axioms.set->axioms(), options); }));
}

std::vector<AuditResult> audit_all(const OwnedAxioms& axioms, std::int64_t max_dim, std::uint64_t seed, int threads,
                                   const py::object& progress) {
  LongWork work;
  AuditOptions options;
  options.max_dim = max_dim;
  options.seed = seed;
  options.threads = threads;
  options.stop = [&] { return work.stopped(); };
  options.progress = [&](std::size_t done, std::size_t total, std::uint64_t) {
    tell_share(work, progress, done, total);
  };
  return value_of(work.run([&] { return audit(axioms.set->axioms(), options); }));
}

void bind_results(py::module_& module) {
  py::class_<theorem::AxiomProof>(module, "AxiomProof", "What became of proving an axiom from the definitions.")
      .def_readonly("name", &theorem::AxiomProof::name, "The axiom's.")
      .def_readonly("proved", &theorem::AxiomProof::proved, "For all sizes, at each combination that was tried.")
      .def_readonly("combinations", &theorem::AxiomProof::instances, "Of ranks and parameters, at which it was proved.")
      .def_property_readonly("certified", &theorem::AxiomProof::is_certified,
                             "The checker has replayed a certificate of each; False unless certify was asked for.")
      .def_readonly("reason", &theorem::AxiomProof::reason, "Where it is open: the combination, and what is left.")
      .def_readonly("seconds", &theorem::AxiomProof::seconds, "That it took.")
      .def("__repr__", [](const theorem::AxiomProof& proof) {
        return fmt::format("<rewright.AxiomProof {}: {}>", proof.name, proof.proved ? "proved" : "open");
      });
  py::class_<AuditResult>(module, "AxiomAudit", "What evaluating both sides of an axiom on small tensors gave.")
      .def_readonly("name", &AuditResult::name, "The axiom's.")
      .def_readonly("holds", &AuditResult::holds, "No combination told the sides apart.")
      .def_readonly("combinations", &AuditResult::combinations, "Of ranks, parameters and sizes that were compared.")
      .def_readonly("error", &AuditResult::error,
                    "Greatest chance that a polynomial difference was missed by one comparison.")
      .def_readonly("counterexample", &AuditResult::counterexample, "Where it fails: the smallest; '' if it holds.")
      .def("__repr__", [](const AuditResult& result) {
        return fmt::format("<rewright.AxiomAudit {}: {}>", result.name, result.holds ? "holds" : "FALSE");
      });
}

const char* word_for(AxiomSort sort) {
  switch (sort) {
    case AxiomSort::kTensor: return "Tensor";
    case AxiomSort::kInt: return "Int";
    case AxiomSort::kSizes: return "Sizes";
    case AxiomSort::kReal: break;
  }
  return "Real";
}

void bind_axiom(py::module_& module) {
  py::class_<AxiomHandle>(module, "Axiom", "A universally quantified equation between operators.")
      .def_property_readonly(
          "name", [](const AxiomHandle& axiom) { return axiom.get().name; }, "Unique among a set.")
      .def_property_readonly(
          "file", [](const AxiomHandle& axiom) { return axiom.get().file; }, "It was read from.")
      .def_property_readonly(
          "line", [](const AxiomHandle& axiom) { return axiom.get().line; }, "There, from 1.")
      .def_property_readonly(
          "source", [](const AxiomHandle& axiom) { return axiom.get().source; },
          "Where the equation is from, or how it follows.")
      .def_property_readonly(
          "domain", [](const AxiomHandle& axiom) { return axiom.get().domain; },
          "Of which parameters and sizes it is claimed; '' of all.")
      .def_property_readonly(
          "variables",
          [](const AxiomHandle& axiom) {
            std::vector<std::tuple<std::string, std::string>> variables;
            for (const AxiomVariable& variable : axiom.get().variables)
              variables.emplace_back(variable.name, word_for(variable.sort));
            return variables;
          },
          "Names and sorts: 'Tensor', 'Int', 'Sizes', 'Real'.")
      .def_property_readonly(
          "text", [](const AxiomHandle& axiom) { return value_of(to_smt(axiom.get())); },
          "As SMT-LIB: (assert (! (forall ...) :named ...)).")
      .def("__str__", [](const AxiomHandle& axiom) { return value_of(to_smt(axiom.get())); })
      .def("__eq__", [](const AxiomHandle& a,
                        const AxiomHandle& b) { return value_of(to_smt(a.get())) == value_of(to_smt(b.get())); })
      .def("__hash__", [](const AxiomHandle& axiom) { return std::hash<std::string>()(axiom.get().name); })
      .def("__repr__", [](const AxiomHandle& axiom) { return fmt::format("<rewright.Axiom {}>", axiom.get().name); });
}

}  // namespace

void bind_axioms(py::module_& module) {
  bind_axiom(module);
  bind_results(module);
  py::class_<OwnedAxioms>(module, "Axioms",
                          "Axioms in the order of their files: len(), iteration, axioms[3] and axioms['relu-relu'].")
      .def_static("load", &load_axiom_files, py::arg("files"), py::kw_only(), py::arg("plugins") = py::none(),
                  "Reads SMT-LIB files (axioms/README.md has the language). Raises Error with file, line and column.")
      .def_property_readonly(
          "files",
          [](const OwnedAxioms& axioms) {
            return std::vector<std::string>(axioms.set->files().begin(), axioms.set->files().end());
          },
          "In the order in which they were read.")
      .def("only", &only, py::arg("names"), "Those of these names, in the order of the files. Raises KeyError.")
      .def("prove", &prove, py::kw_only(), py::arg("certify") = false, py::arg("threads") = 1,
           py::arg("progress") = py::none(),
           "Proves each from the operators' definitions, for all sizes. What is not proved is open: see audit(). "
           "`progress(done, total)` counts axioms.")
      .def("audit", &audit_all, py::kw_only(), py::arg("max_dim") = 3, py::arg("seed") = 1, py::arg("threads") = 1,
           py::arg("progress") = py::none(),
           "Evaluates both sides of each, at sizes up to max_dim and some larger ones. An axiom that fails has a "
           "counterexample. `progress(done, total)` counts combinations of ranks and parameters.")
      .def("__len__", [](const OwnedAxioms& axioms) { return axioms.set->axioms().size(); })
      .def("__getitem__", &axiom_at, py::arg("index"))
      .def("__getitem__", &axiom_named, py::arg("name"))
      .def("__contains__",
           [](const OwnedAxioms& axioms, const std::string& name) {
             const auto all = axioms.set->axioms();
             return std::ranges::find(all, name, &Axiom::name) != all.end();
           })
      .def("__iter__",
           [](const OwnedAxioms& axioms) {
             std::vector<AxiomHandle> all;
             for (std::size_t i = 0; i < axioms.set->axioms().size(); ++i) all.push_back({axioms, i});
             return py::iter(py::cast(all));
           })
      .def("__repr__", [](const OwnedAxioms& axioms) {
        return fmt::format("<rewright.Axioms: {} of {} files>", axioms.set->axioms().size(),
                           axioms.set->files().size());
      });
}

}  // namespace rewright::python
