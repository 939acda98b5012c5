#include <algorithm>
#include <optional>
#include <set>

#include "report/gallery/html.h"
#include "report/gallery/pages.h"

namespace rewright::gallery {
namespace {

using Path = std::vector<std::size_t>;

/// A part of a term: where it begins, and where the axiom's variables stand in it, which stand for any term.
struct Part {
  Path root;
  std::set<Path> variables;
};

void find_variables(const Axiom& axiom, std::uint32_t term, Path& path, std::set<Path>& found) {
  if (axiom.terms[term].variable) found.insert(path);
  for (std::size_t i = 0; i < axiom.terms[term].operands.size(); ++i) {
    path.push_back(i);
    find_variables(axiom, axiom.terms[term].operands[i], path, found);
    path.pop_back();
  }
}

/// The side of the axiom that the step takes, or the one that it makes, at the step's position.
Part part_of(const ProofChain::Step& step, const AxiomsByName& axioms, bool taken) {
  Part part{step.position, {}};
  const auto axiom = axioms.find(step.axiom);
  if (axiom == axioms.end() || axiom->second.axiom == nullptr) return part;
  const Axiom& known = *axiom->second.axiom;
  Path path = step.position;
  find_variables(known, taken == step.left_to_right ? known.left : known.right, path, part.variables);
  return part;
}

// Writes a term; what one step made and the next one takes are marked, but for what their variables stand for.
class TermWriter {
 public:
  TermWriter(const std::optional<Part>& made, const std::optional<Part>& taken) : made_(made), taken_(taken) {}

  std::string write(const ProofTerm& term) {
    std::string text;
    put(term, text);
    return text;
  }

 private:
  void open(const std::optional<Part>& part, std::string_view tag, std::string& text) const {
    if (part && part->root == path_) text += fmt::format("<{}>", tag);
    if (part && part->variables.contains(path_)) text += fmt::format("<span class=\"{}\">", tag);
  }
  void close(const std::optional<Part>& part, std::string_view tag, std::string& text) const {
    if (part && part->variables.contains(path_)) text += "</span>";
    if (part && part->root == path_) text += fmt::format("</{}>", tag);
  }

  void put(const ProofTerm& term, std::string& text) {
    // Two parts lie one in the other, or side by side: the larger one is opened first.
    const bool made_first = !made_ || !taken_ || made_->root.size() <= taken_->root.size();
    made_first ? open(made_, "ins", text) : open(taken_, "mark", text);
    made_first ? open(taken_, "mark", text) : open(made_, "ins", text);
    text += term.is_input ? fmt::format("<var>{}</var>", escaped(term.text)) : escaped(term.text);
    for (std::size_t i = 0; i < term.operands.size(); ++i) {
      text += i == 0 ? "(" : ", ";
      path_.push_back(i);
      put(term.operands[i], text);
      path_.pop_back();
    }
    if (!term.operands.empty()) text += ")";
    made_first ? close(taken_, "mark", text) : close(made_, "ins", text);
    made_first ? close(made_, "ins", text) : close(taken_, "mark", text);
  }

  const std::optional<Part>& made_;
  const std::optional<Part>& taken_;
  Path path_;
};

std::string term_html(const ProofTerm& term, const std::optional<Part>& made, const std::optional<Part>& taken) {
  return fmt::format("<div class=\"term\"><code>{}</code></div>\n", TermWriter(made, taken).write(term));
}

std::string step_html(const ProofChain::Step& step, std::size_t number) {
  std::string values;
  for (const auto& [variable, value] : step.substitution)
    values += fmt::format("<li><code>{} = {}</code></li>", escaped(variable), escaped(value));
  return fmt::format(
      "<div class=\"by\"><span class=\"number\">{0}</span><a href=\"../{1}\">{2}</a> <span class=\"direction\">{3}"
      "</span><details><summary>with</summary><ul class=\"values\">{4}</ul></details></div>\n",
      number, axiom_file(step.axiom), escaped(step.axiom), step.left_to_right ? "left to right" : "right to left",
      values);
}

}  // namespace

std::string proof_html(const std::vector<ProofChain>& chains, const AxiomsByName& axioms) {
  std::string html;
  for (std::size_t k = 0; k < chains.size(); ++k) {
    const ProofChain& chain = chains[k];
    if (chains.size() > 1) html += fmt::format("<h3>Output {}</h3>\n", k);
    html += "<div class=\"chain\">\n";
    const ProofTerm* term = &chain.start;
    std::optional<Part> made;
    for (std::size_t i = 0; i < chain.steps.size(); ++i) {
      const ProofChain::Step& step = chain.steps[i];
      html += term_html(*term, made, part_of(step, axioms, true)) + step_html(step, i + 1);
      term = &step.after;
      made = part_of(step, axioms, false);
    }
    html += term_html(*term, made, {}) + "</div>\n";
  }
  return html;
}

}  // namespace rewright::gallery
