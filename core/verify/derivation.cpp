// Derivations: the checker of certificates over rules in place of axioms, and what can be read off their text.
#include <rewright/verify/certificate.h>
#include <rewright/verify/derivation.h>

#include <algorithm>
#include <set>

#include "verify/certificate_text.h"

namespace rewright {
namespace {

constexpr std::string_view kFirstLine = "certificate 1";

}  // namespace

Result<std::vector<DerivationUse>> uses_of(std::string_view derivation) {
  std::set<DerivationUse> uses;
  for (std::size_t number = 1; !derivation.empty(); ++number) {
    const std::string_view line = take_line(derivation);
    if (line == kFirstLine || line.starts_with("output ")) continue;
    const auto step = read_step(line);
    if (!step) return make_error(ErrorCode::kParse, "line {}: {}", number, step.error().message);
    const auto equation = read_equation(step->equation);
    if (!equation) return make_error(ErrorCode::kParse, "line {}: {}", number, equation.error().message);
    if (const std::string_view rule = rule_of_step(equation->axiom); !rule.empty())
      uses.insert({std::string(rule), !equation->left_to_right});
  }
  return std::vector<DerivationUse>(uses.begin(), uses.end());
}

Result<std::string> reversed_certificate(std::string_view certificate) {
  std::string text;
  std::vector<std::string> steps;
  const auto flush = [&] {
    for (std::size_t i = steps.size(); i-- > 0;) text += steps[i] + "\n";
    steps.clear();
  };
  for (std::size_t number = 1; !certificate.empty(); ++number) {
    const std::string_view line = take_line(certificate);
    if (line == kFirstLine || line.starts_with("output ")) {
      flush();
      text.append(line).push_back('\n');
      continue;
    }
    std::string step(line);
    const std::size_t direction = step.find(' ') + 1;
    if (direction == 0 || direction >= step.size() || (step[direction] != '>' && step[direction] != '<'))
      return make_error(ErrorCode::kParse, "line {}: '{}' is no step", number, line);
    step[direction] = step[direction] == '>' ? '<' : '>';
    steps.push_back(std::move(step));
  }
  flush();
  return text;
}

struct DerivationChecker::State {
  std::vector<Axiom> equations;
  std::unique_ptr<CertificateChecker> checker;
};

Result<DerivationChecker> DerivationChecker::over(std::span<const Rule> library, const Registry& registry) {
  auto state = std::make_unique<State>();
  state->equations = operand_order_axioms(registry);
  for (const Rule& rule : library) {
    auto equations = equations_of(rule);
    if (!equations) return make_error(equations.error().code, "rule {}: {}", rule.id, equations.error().message);
    std::ranges::move(*equations, std::back_inserter(state->equations));
  }
  state->checker = std::make_unique<CertificateChecker>(state->equations, registry);
  return DerivationChecker(std::move(state));
}

DerivationChecker::DerivationChecker(std::unique_ptr<State> state) : state_(std::move(state)) {}
DerivationChecker::~DerivationChecker() = default;
DerivationChecker::DerivationChecker(DerivationChecker&&) noexcept = default;
DerivationChecker& DerivationChecker::operator=(DerivationChecker&&) noexcept = default;

Status DerivationChecker::check(const Rule& rule, std::string_view derivation) {
  return state_->checker->check(chain_form(rule), derivation);
}

}  // namespace rewright
