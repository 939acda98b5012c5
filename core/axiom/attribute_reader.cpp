#include "axiom/attribute_reader.h"

#include <algorithm>
#include <cctype>

namespace rewright {
namespace {

constexpr std::size_t kMostRanks = 10'000;

std::string_view trim(std::string_view text) {
  while (!text.empty() && std::isspace(static_cast<unsigned char>(text.front()))) text.remove_prefix(1);
  while (!text.empty() && std::isspace(static_cast<unsigned char>(text.back()))) text.remove_suffix(1);
  return text;
}

/// "x.0 = y.0; strides.0 = 1": names of constants are replaced, all others must be the axiom's.
Result<std::vector<Constraint>> parse_condition(const Scope& scope, const AxiomBuilder& builder, const SExpr& text) {
  std::vector<Constraint> condition;
  for (const std::string_view part : split_text(text.text, ';')) {
    auto constraint = Constraint::parse(part);
    if (!constraint) return error_at(scope, text, "{}", constraint.error().message);
    const auto constant = [&](SizeVar name) -> std::optional<SymbolicDim> {
      const auto found = scope.constants.find(name.text());
      if (found == scope.constants.end()) return std::nullopt;
      return SymbolicDim(found->second);
    };
    constraint->left = constraint->left.substitute(constant);
    constraint->right = constraint->right.substitute(constant);
    for (const SymbolicDim* side : {&constraint->left, &constraint->right}) {
      for (const SizeVar name : side->variables()) {
        const auto* variable = builder.find_variable(name.tensor());
        if (!variable || name.is_axis() == (variable->sort == AxiomSort::kInt) || variable->sort == AxiomSort::kReal)
          return error_at(scope, text,
                          "the condition '{}' speaks of '{}', which is no Int variable, no size x.0 of a tensor "
                          "variable and no constant of this file",
                          part, name.text());
      }
    }
    condition.push_back(*std::move(constraint));
  }
  return condition;
}

/// "x y 2..3, s 0; x y 4, s 0" for all tensor variables: alternatives, groups, names and a rank, a range or "all".
Result<std::vector<AxiomRanks>> parse_ranks(const Scope& scope, const Axiom& axiom, const SExpr& text) {
  std::vector<AxiomRanks> all;
  for (const std::string_view alternative : split_text(text.text, ';')) {
    std::vector<AxiomRanks> some = {AxiomRanks(axiom.variables.size(), -1)};
    for (const std::string_view group : split_text(alternative, ',')) {
      auto words = split_text(group, ' ');
      const std::string_view range = words.back();
      words.pop_back();
      const std::size_t dots = range.find("..");
      const bool is_all = range == "all";
      const auto low = is_all ? 0 : to_integer(range.substr(0, dots));
      const auto high = is_all ? kMaxRank : dots == std::string_view::npos ? low : to_integer(range.substr(dots + 2));
      if (!low || !high || *low < 0 || *high > kMaxRank || *low > *high || words.empty())
        return error_at(scope, text,
                        "ranks '{}': expected names and a rank, a range up to {} or \"all\", as in \"x y 2..4\"", group,
                        kMaxRank);
      if (some.size() > kMostRanks / static_cast<std::size_t>(*high - *low + 1))
        return error_at(scope, text, "ranks '{}': more than {} combinations", alternative, kMostRanks);
      std::vector<AxiomRanks> extended;
      for (const AxiomRanks& ranks : some) {
        for (std::int64_t rank = *low; rank <= *high; ++rank) {
          extended.push_back(ranks);
          for (const std::string_view word : words) {
            const auto found = std::ranges::find(axiom.variables, word, &AxiomVariable::name);
            if (found == axiom.variables.end() || found->sort != AxiomSort::kTensor)
              return error_at(scope, text, "ranks '{}': '{}' is no tensor variable of this axiom", group, word);
            extended.back()[static_cast<std::size_t>(found - axiom.variables.begin())] = static_cast<int>(rank);
          }
        }
      }
      some = std::move(extended);
    }
    all.insert(all.end(), some.begin(), some.end());
  }
  for (AxiomRanks& ranks : all) {
    for (std::size_t i = 0; i < ranks.size(); ++i) {
      if (axiom.variables[i].sort == AxiomSort::kTensor && ranks[i] < 0)
        return error_at(scope, text, "ranks \"{}\" leave out the tensor variable '{}'", text.text,
                        axiom.variables[i].name);
      ranks[i] = std::max(ranks[i], 0);
    }
  }
  return all;
}

}  // namespace

std::vector<std::string_view> split_text(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  while (true) {
    const std::size_t place = text.find(separator);
    if (const auto part = trim(text.substr(0, place)); !part.empty()) parts.push_back(part);
    if (place == std::string_view::npos) return parts;
    text.remove_prefix(place + 1);
  }
}

Status read_attributes(const Scope& scope, const AxiomBuilder& builder, std::span<const SExpr> attributes,
                       Axiom& axiom) {
  for (std::size_t i = 0; i < attributes.size(); i += 2) {
    const SExpr& key = attributes[i];
    if (key.kind != SExpr::Kind::kKeyword || i + 1 == attributes.size())
      return error_at(scope, key, "found {}, expected an attribute and its value, as in :named n", describe(key));
    const SExpr& value = attributes[i + 1];
    if (value.kind != (key.text == "named" ? SExpr::Kind::kSymbol : SExpr::Kind::kString))
      return error_at(scope, value, "found {}, expected a {} as the value of :{}", describe(value),
                      key.text == "named" ? "symbol" : "quoted string", key.text);
    if (key.text == "named")
      axiom.name = value.text;
    else if (key.text == "source")
      axiom.source = value.text;
    else if (key.text == "needs")
      axiom.needs = value.text;
    else if (key.text == "domain")
      axiom.domain = value.text;
    else if (key.text == "condition") {
      REWRIGHT_TRY(axiom.condition, parse_condition(scope, builder, value));
    } else if (key.text == "ranks") {
      REWRIGHT_TRY(axiom.ranks, parse_ranks(scope, axiom, value));
    } else {
      return error_at(scope, key,
                      "found the attribute :{}, expected :named, :ranks, :condition, :source, :needs or :domain",
                      key.text);
    }
  }
  return {};
}

Status check_attributes(const Scope& scope, const SExpr& at, Axiom& axiom) {
  if (axiom.name.empty()) return error_at(scope, at, "the axiom has no name; expected :named NAME");
  if (axiom.source.empty())
    return error_at(scope, at, "axiom {} has no :source that says where it comes from", axiom.name);
  if (!axiom.needs.empty() && axiom.needs != "real-relu" && axiom.needs != "real-functions")
    return error_at(scope, at, "axiom {} needs \"{}\"; expected \"real-relu\" or \"real-functions\"", axiom.name,
                    axiom.needs);
  const bool has_tensors =
      std::ranges::any_of(axiom.variables, [](const auto& v) { return v.sort == AxiomSort::kTensor; });
  if (axiom.ranks.empty() && has_tensors)
    return error_at(scope, at, "axiom {} has no :ranks for its tensor variables, as in :ranks \"x y 2\"", axiom.name);
  if (axiom.ranks.empty()) axiom.ranks.emplace_back(axiom.variables.size(), 0);
  return {};
}

}  // namespace rewright
