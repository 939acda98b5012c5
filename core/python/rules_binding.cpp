// rewright.Rule, and rules from stores and files.
#include <rewright/tensor/dim.h>

#include <fmt/format.h>

#include "campaign/rule_source.h"
#include "python/bindings.h"
#include "report/dot.h"
#include "store/store.h"

namespace rewright::python {
namespace {

/// The parts of the text form: inputs, source, target, precondition.
RuleText parts(const OwnedRule& rule) { return split_rule_text(to_text(rule.rule)); }

std::vector<OwnedRule> owned(std::vector<Rule> rules, const Plugins& plugins) {
  std::vector<OwnedRule> all;
  for (Rule& rule : rules) all.push_back({plugins, std::move(rule)});
  return all;
}

std::string svg_of(const OwnedRule& rule) { return value_of(render_svg(to_dot(rule.rule))); }

}  // namespace

void bind_rules(py::module_& module) {
  py::class_<OwnedRule>(
      module, "Rule",
      "A substitution source => target, and where it holds. Rules are equal if their ids are: their texts, names of "
      "inputs aside.")
      .def_property_readonly(
          "id", [](const OwnedRule& rule) { return rule.rule.id; }, "32 hexadecimal digits, from its canonical form.")
      .def_property_readonly(
          "name", [](const OwnedRule& rule) { return rule.rule.name; }, "Readable, unique in a library.")
      .def_property_readonly(
          "text", [](const OwnedRule& rule) { return to_text(rule.rule); }, "The text form, one line.")
      .def_property_readonly(
          "inputs", [](const OwnedRule& rule) { return parts(rule).inputs; }, "Names and ranks: 'x:2, y:2'.")
      .def_property_readonly(
          "source", [](const OwnedRule& rule) { return parts(rule).source; }, "What is replaced.")
      .def_property_readonly(
          "target", [](const OwnedRule& rule) { return parts(rule).target; }, "What takes its place.")
      .def_property_readonly(
          "precondition", [](const OwnedRule& rule) { return parts(rule).precondition; },
          "What must hold of sizes, beyond the source's being defined; '' if nothing.")
      .def_property_readonly(
          "trust", [](const OwnedRule& rule) { return name_of(rule.rule.trust); },
          "What its correctness rests on: 'theorem', 'certificate', 'solver' or 'none'.")
      .def_property_readonly(
          "certificate", [](const OwnedRule& rule) { return rule.rule.certificate; },
          "The proof, as the checker replays it; '' if there is none.")
      .def(
          "to_dot", [](const OwnedRule& rule) { return to_dot(rule.rule); }, "Both sides drawn, for Graphviz.")
      .def("to_svg", &svg_of, "Both sides drawn as SVG, by Graphviz's program dot.")
      .def("_repr_svg_", &svg_of)
      .def_static(
          "from_graphs",
          [](const OwnedGraph& source, const OwnedGraph& target) {
            return OwnedRule{source.plugins, value_of(generalise(source.graph, target.graph))};
          },
          py::arg("source"), py::arg("target"),
          "The rule of two graphs with equal inputs, of the same plugins; sizes become variables. It is not proved. "
          "Raises Error: inputs or outputs differ ('mismatch'), a size that nothing determines ('unsupported').")
      .def("__eq__", [](const OwnedRule& a, const OwnedRule& b) { return a.rule.id == b.rule.id; })
      .def("__hash__", [](const OwnedRule& rule) { return std::hash<std::string>()(rule.rule.id); })
      .def("__str__", [](const OwnedRule& rule) { return to_text(rule.rule); })
      .def("__repr__", [](const OwnedRule& rule) { return fmt::format("<rewright.Rule {}>", rule.rule.name); });

  module.def(
      "load_rules",
      [](const std::string& path, const std::optional<Plugins>& plugins) {
        const Plugins owner = plugins_or_own(plugins);
        return owned(value_of(read_rule_source(path, *owner)), owner);
      },
      py::arg("path"), py::kw_only(), py::arg("plugins") = py::none(),
      "The rules of a store (a folder), of a file of rules with proofs, each of which is replayed, or of a text file "
      "with a "
      "rule a line (trust 'none').");
  module.def(
      "parse_rule",
      [](const std::string& text, const std::optional<Plugins>& plugins) {
        const Plugins owner = plugins_or_own(plugins);
        return OwnedRule{owner, value_of(parse_rule(text, *owner))};
      },
      py::arg("text"), py::kw_only(), py::arg("plugins") = py::none(), "Reads one rule; it is not proved.");
}

}  // namespace rewright::python
