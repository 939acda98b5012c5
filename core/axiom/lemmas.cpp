#include "axiom/lemmas.h"

namespace rewright {

std::vector<std::string> lemma_premises(const Axiom& axiom) {
  constexpr std::string_view kMark = "lemma:";
  std::vector<std::string> premises;
  std::string_view rest = axiom.source;
  if (!rest.starts_with(kMark)) return premises;
  rest.remove_prefix(kMark.size());
  while (!rest.empty()) {
    const std::size_t end = rest.find_first_of(" ,");
    const std::string_view word = rest.substr(0, end);
    if (!word.empty() && word != "and") premises.emplace_back(word);
    rest = end == std::string_view::npos ? "" : rest.substr(end + 1);
  }
  return premises;
}

}  // namespace rewright
