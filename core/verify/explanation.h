// What a replay of a certificate goes through, taken down for readers.
#pragma once

#include <rewright/certificate.h>

#include <functional>
#include <string_view>
#include <vector>

#include "verify/certificate_text.h"

namespace rewright {

class Explanation {
 public:
  using ReadOut = std::function<ProofTerm(std::uint32_t term)>;
  Explanation(ReadOut read_out, std::vector<ProofChain>& chains) : read_out_(std::move(read_out)), chains_(chains) {}

  void begin(std::uint32_t term) const { chains_.push_back({read_out_(term), {}}); }
  /// One line of the certificate, and the term after it.
  Status add(std::string_view line, std::uint32_t term) const {
    REWRIGHT_TRY(const StepText step, read_step(line));
    REWRIGHT_TRY(const EquationText equation, read_equation(step.equation));
    ProofChain::Step& said = chains_.back().steps.emplace_back();
    REWRIGHT_TRY(said.position, read_position(step.position));
    said.left_to_right = equation.left_to_right;
    said.axiom = equation.axiom;
    for (const auto& [variable, value] : equation.substitution) said.substitution.emplace_back(variable, value);
    said.after = read_out_(term);
    return {};
  }

 private:
  ReadOut read_out_;
  std::vector<ProofChain>& chains_;
};

}  // namespace rewright
