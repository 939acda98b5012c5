// What a replay of a certificate goes through, taken down for readers.
#pragma once

#include <rewright/verify/certificate.h>

#include <algorithm>
#include <string_view>
#include <vector>

#include "verify/certificate_text.h"
#include "verify/checked_terms.h"

namespace rewright {

class Explanation {
 public:
  Explanation(CheckedTerms& terms, std::span<const PatternInput> inputs, std::vector<ProofChain>& chains)
      : terms_(terms), inputs_(inputs), chains_(chains) {}

  void begin(TermId term) { chains_.push_back({read_out(term), {}}); }
  /// One line of the certificate, and the term after it.
  Status add(std::string_view line, TermId term) {
    REWRIGHT_TRY(const StepText step, read_step(line));
    REWRIGHT_TRY(const EquationText equation, read_equation(step.equation));
    ProofChain::Step& said = chains_.back().steps.emplace_back();
    REWRIGHT_CHECK(read_position(step.position, said.position));
    said.left_to_right = equation.left_to_right;
    said.axiom = equation.axiom;
    for (const auto& [variable, value] : equation.substitution) said.substitution.emplace_back(variable, value);
    said.after = read_out(term);
    return {};
  }

 private:
  ProofTerm read_out(TermId id) {
    const Head& head = terms_.head(terms_[id].head);
    if (!head.op) {
      const auto input = std::ranges::find(inputs_, id, [&](const PatternInput& one) { return terms_.input(one); });
      return {input->name, true, {}};
    }
    ProofTerm out{head.op->name(), false, {}};
    if (head.output > 0) out.text += fmt::format(".{}", head.output);
    out.text += to_string(head.op->info().params, head.params);
    for (const TermId operand : terms_.operands(id)) out.operands.push_back(read_out(operand));
    return out;
  }

  CheckedTerms& terms_;
  std::span<const PatternInput> inputs_;
  std::vector<ProofChain>& chains_;
};

}  // namespace rewright
