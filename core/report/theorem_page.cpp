#include "report/theorem_page.h"

#include <fmt/ranges.h>

#include <algorithm>

#include "axiom/writer.h"
#include "report/gallery/html.h"
#include "report/mathematics.h"
#include "report/page.h"

namespace rewright {
namespace {

using gallery::escaped;

std::string line_of_proof(std::string_view what, const std::string& formula, const std::string& reason) {
  return fmt::format("<li><span class=\"what\">{}</span>{}<span class=\"reason\">{}</span></li>\n", what, formula,
                     reason);
}

/// From the side as it is to what it is by all definitions.
std::string side_html(std::string_view title, std::string_view term, const std::vector<std::string>& index,
                      const std::vector<theorem::ProofStep>& steps, const std::string& value) {
  std::string lines;
  std::string last;
  for (const theorem::ProofStep& step : steps) {
    if (step.op.empty() || step.value == last) continue;
    lines += line_of_proof("=", sum_html(step.value), fmt::format("definition of <code>{}</code>", escaped(step.op)));
    last = step.value;
  }
  if (last != value) lines += line_of_proof("=", sum_html(value), "definitions, and what sizes and the index decide");
  const std::string name = term.empty() ? std::string(title) : fmt::format("<code>{}</code>", escaped(term));
  return fmt::format("<p>{} at the index ({}):</p>\n<ol class=\"proof-lines\">\n{}</ol>\n", name,
                     escaped(fmt::format("{}", fmt::join(index, ", "))), lines);
}

std::string theorem_statement(const theorem::AxiomReading& reading) {
  std::string html = fmt::format(
      "<div class=\"statement\"><p><strong>Theorem</strong>, for {}.</p>\n<p class=\"equation\"><code>{} <b>=</b> "
      "{}</code></p>\n",
      escaped(reading.setting), escaped(reading.left), escaped(reading.right));
  if (reading.conditions.empty()) return html + "<p>It holds for all sizes.</p></div>\n";
  html += "<p>It holds for all sizes with</p>\n<ul class=\"inline-list\">\n";
  for (const std::string& condition : reading.conditions)
    html += fmt::format("<li>{}</li>\n", condition_html(condition));
  return html + "</ul></div>\n";
}

std::string verdict_of(const ShownTheorem& theorem) {
  const theorem::AxiomProof& proof = theorem.proof;
  if (!theorem.counterexample.empty())
    return fmt::format("<p><span class=\"badge refuted\">false</span></p>\n<pre tabindex=\"0\">{}</pre>\n",
                       escaped(theorem.counterexample));
  if (!proof.proved)
    return fmt::format("<p><span class=\"badge condition\">open</span> {}</p>\n", escaped(proof.reason));
  std::string laws;
  if (proof.laws.order) laws += " It uses that squares are at least 0, and signs.";
  if (proof.laws.functions) laws += " It uses laws of functions, such as exp(a + b) = exp(a) exp(b).";
  std::string certified;
  if (theorem.is_certified_asked)
    certified = proof.is_certified() ? " The independent checker has replayed a certificate of each."
                                     : fmt::format(" Without a certificate: {}.", proof.uncertified);
  return fmt::format(
      "<p><span class=\"badge theorem\">proved</span> for all sizes and values, at {} {} of ranks and "
      "parameters.{}{}</p>\n",
      proof.instances, proof.instances == 1 ? "combination" : "combinations", escaped(laws), escaped(certified));
}

std::string theorem_section(const ShownTheorem& theorem, std::size_t number) {
  std::string body = verdict_of(theorem);
  if (theorem.reading)
    body += theorem_statement(*theorem.reading) + "<p><strong>Proof.</strong></p>\n" +
            reading_html(theorem.reading->proof, theorem.reading->left, theorem.reading->right) +
            "<p class=\"qed\">Both sides are equal at every index. &#x220e;</p>\n";
  if (const auto text = to_smt(*theorem.axiom))
    body += fmt::format(
        "<details><summary>The axiom as its file says it</summary><pre "
        "tabindex=\"0\"><code>{}</code></pre></details>\n",
        escaped(*text));
  if (!theorem.axiom->source.empty())
    body += fmt::format("<p class=\"quiet\">Source: {}.</p>\n", escaped(theorem.axiom->source));
  return section_html(fmt::format("theorem-{}", number), escaped(theorem.proof.name), body);
}

}  // namespace

std::string reading_html(const theorem::InstanceProof& proof, std::string_view left, std::string_view right,
                         int heading) {
  std::string html;
  for (const theorem::ProofCase& one : proof.told) {
    if (!one.where.empty()) {
      std::string where;
      for (const std::string& each : one.where) where += (where.empty() ? "" : ", ") + condition_html(each);
      html += fmt::format("<h{0}>Where {1}</h{0}>\n", heading, where);
    }
    html += side_html("The left side", left, proof.index, one.left_steps, one.left);
    html += side_html("The right side", right, proof.index, one.right_steps, one.right);
    html += fmt::format("<p>{}</p>\n", one.because.empty() ? "They are compared case by case:" : escaped(one.because));
  }
  if (proof.told.size() < static_cast<std::size_t>(proof.cases))
    html += "<p class=\"quiet\">Further cases are alike.</p>\n";
  return html;
}

std::string theorems_html(const std::vector<ShownTheorem>& theorems) {
  const auto proved = std::ranges::count_if(theorems, [](const ShownTheorem& theorem) { return theorem.proof.proved; });
  std::string body = fmt::format(
      "<h1>{} of {} axioms proved</h1>\n<p class=\"lede\">From the definitions of the operators, over the real "
      "numbers, for "
      "all sizes. <code>x.0</code> is the size of x along axis 0. Each proof is shown at its first ranks and "
      "parameters.</p>\n",
      proved, theorems.size());
  if (theorems.size() > 1) {
    body += "<nav aria-label=\"Axioms\"><ul class=\"inline-list\">\n";
    for (std::size_t i = 0; i < theorems.size(); ++i)
      body += fmt::format("<li><a href=\"#theorem-{}\">{}</a></li>\n", i + 1, escaped(theorems[i].proof.name));
    body += "</ul></nav>\n";
  }
  for (std::size_t i = 0; i < theorems.size(); ++i) body += theorem_section(theorems[i], i + 1);
  return page_html("Proofs of axioms", body);
}

}  // namespace rewright
