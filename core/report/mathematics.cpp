#include "report/mathematics.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <optional>
#include <vector>

#include "report/gallery/html.h"

namespace rewright {
namespace {

using gallery::escaped;

bool opens(char c) { return c == '(' || c == '[' || c == '{'; }
bool closes(char c) { return c == ')' || c == ']' || c == '}'; }

/// Parts between separators that no bracket is around.
std::vector<std::string_view> split_outside(std::string_view text, std::string_view separator) {
  std::vector<std::string_view> parts;
  std::size_t begin = 0;
  int depth = 0;
  for (std::size_t at = 0; at < text.size(); ++at) {
    depth += opens(text[at]) ? 1 : closes(text[at]) ? -1 : 0;
    if (depth != 0 || !text.substr(at).starts_with(separator)) continue;
    parts.push_back(text.substr(begin, at - begin));
    at += separator.size() - 1;
    begin = at + 1;
  }
  parts.push_back(text.substr(begin));
  return parts;
}

/// What stands in the brackets that begin at `text`'s first character, if they end at its last.
std::optional<std::string_view> inside(std::string_view text) {
  if (text.size() < 2 || !opens(text.front()) || !closes(text.back())) return {};
  int depth = 0;
  for (std::size_t at = 0; at < text.size(); ++at) {
    depth += opens(text[at]) ? 1 : closes(text[at]) ? -1 : 0;
    if (depth == 0 && at + 1 < text.size()) return {};
  }
  return text.substr(1, text.size() - 2);
}

std::string mo(std::string_view sign) { return fmt::format("<mo stretchy=\"false\">{}</mo>", escaped(sign)); }
std::string mrow(const std::string& content) { return fmt::format("<mrow>{}</mrow>", content); }

// --- numbers, sizes and indices
// ----------------------------------------------------------------------------------------

/// "i0" with a lower index; "x.0" as it is.
std::string name_mathml(std::string_view name) {
  const std::size_t letters = name.find_first_of("0123456789.");
  const bool is_numbered =
      letters != std::string_view::npos && letters > 0 && name[letters] != '.' &&
      std::ranges::all_of(name.substr(letters), [](unsigned char c) { return std::isdigit(c) != 0; });
  if (is_numbered)
    return fmt::format("<msub><mi>{}</mi><mn>{}</mn></msub>", name.substr(0, letters), name.substr(letters));
  if (name.size() == 1 && std::isalpha(static_cast<unsigned char>(name[0])) != 0)
    return fmt::format("<mi>{}</mi>", name);
  return fmt::format("<mi mathvariant=\"normal\">{}</mi>", escaped(name));
}

std::string expression_mathml(std::string_view text);

/// floor((a)/(b)).
std::string floor_mathml(std::string_view content) {
  const auto parts = split_outside(content, "/");
  const auto top = parts.size() == 2 ? inside(parts[0]) : std::nullopt,
             bottom = parts.size() == 2 ? inside(parts[1]) : std::nullopt;
  const std::string body = top && bottom ? fmt::format("<mfrac>{}{}</mfrac>", mrow(expression_mathml(*top)),
                                                       mrow(expression_mathml(*bottom)))
                                         : expression_mathml(content);
  return mrow(mo("\u230a") + body + mo("\u230b"));
}

std::string sign_mathml(std::string_view text, std::size_t& at) {
  struct Sign {
    std::string_view text, shown;
  };
  constexpr Sign kSigns[] = {{"<=", "\u2264"}, {">=", "\u2265"}, {"!=", "\u2260"}, {"*", "\u22c5"}, {"-", "\u2212"}};
  for (const Sign& sign : kSigns) {
    if (!text.substr(at).starts_with(sign.text)) continue;
    at += sign.text.size();
    return mo(sign.shown);
  }
  return mo(text.substr(at++, 1));
}

std::string expression_mathml(std::string_view text) {
  const auto is_word = [](unsigned char c) { return std::isalnum(c) != 0 || c == '_' || c == '.'; };
  std::string html;
  for (std::size_t at = 0; at < text.size();) {
    if (text[at] == ' ') {
      ++at;
      continue;
    }
    if (!is_word(static_cast<unsigned char>(text[at]))) {
      html += sign_mathml(text, at);
      continue;
    }
    std::size_t end = at;
    while (end < text.size() && is_word(static_cast<unsigned char>(text[end]))) ++end;
    const std::string_view word = text.substr(at, end - at);
    at = end;
    if (word == "floor" && at < text.size() && text[at] == '(') {
      int depth = 0;
      do depth += opens(text[end]) ? 1 : closes(text[end]) ? -1 : 0;
      while (++end < text.size() && depth > 0);
      html += floor_mathml(text.substr(at + 1, end - at - 2));
      at = end;
    } else {
      html += std::isdigit(static_cast<unsigned char>(word.front())) != 0 ? fmt::format("<mn>{}</mn>", word)
                                                                          : name_mathml(word);
    }
  }
  return html;
}

// --- sums ------------------------------------------------------------------------------------------------------------

std::string sum_mathml(std::string_view text);

std::string comma_list(std::string_view text) {
  std::string html;
  for (const std::string_view part : split_outside(text, ", "))
    html += (html.empty() ? "" : mo(",")) + mrow(expression_mathml(part));
  return html;
}

/// "0 <= k0 < x.1" of the guards that say just that; these are taken out.
std::string range_of(std::string_view variable, std::vector<std::string_view>& guards) {
  std::string least, most;
  std::erase_if(guards, [&](std::string_view guard) {
    const std::size_t below = guard.find(" < "), above = guard.find(" <= ");
    if (below != std::string_view::npos && guard.substr(0, below) == variable && most.empty()) {
      most = mo("<") + expression_mathml(guard.substr(below + 3));
      return true;
    }
    if (above != std::string_view::npos && guard.substr(above + 4) == variable && least.empty()) {
      least = expression_mathml(guard.substr(0, above)) + mo("\u2264");
      return true;
    }
    return false;
  });
  return least + name_mathml(variable) + most;
}

std::string sign_of_sum(std::string_view variables, std::vector<std::string_view>& guards) {
  std::string rows;
  const auto row = [&](const std::string& content) { rows += fmt::format("<mtr><mtd>{}</mtd></mtr>", content); };
  for (const std::string_view variable : split_outside(variables, ", ")) row(range_of(variable, guards));
  for (const std::string_view guard : guards) row(expression_mathml(guard));
  guards.clear();
  return fmt::format(
      "<munder><mo largeop=\"true\" movablelimits=\"false\">&#x2211;</mo><mtable rowspacing=\"0\">{}</mtable></munder>",
      rows);
}

std::string maximum_mathml(std::string_view branches) {
  std::string html;
  for (const std::string_view branch : split_outside(branches, "; ")) {
    const auto parts = split_outside(branch, " | ");
    html += (html.empty() ? "" : mo(",")) + mrow(sum_mathml(parts[0]));
    if (parts.size() > 1) html += mo("|") + comma_list(parts[1]);
  }
  return "<mi>max</mi>" + mrow(mo("{") + html + mo("}"));
}

std::string base_mathml(std::string_view factor) {
  if (factor.starts_with("max{") && factor.ends_with('}'))
    return mrow(maximum_mathml(factor.substr(4, factor.size() - 5)));
  if (factor.starts_with("1/(") && factor.ends_with(')'))
    return fmt::format("<mfrac><mn>1</mn>{}</mfrac>", mrow(sum_mathml(factor.substr(3, factor.size() - 4))));
  if (const auto content = inside(factor); content && factor.front() == '(')
    return mrow(mo("(") + expression_mathml(*content) + mo(")"));
  if (factor.ends_with(']') || factor.ends_with(')')) {
    std::size_t begin = factor.size();
    int depth = 0;
    do depth += closes(factor[--begin]) ? 1 : opens(factor[begin]) ? -1 : 0;
    while (begin > 0 && depth > 0);
    const std::string_view name = factor.substr(0, begin),
                           content = factor.substr(begin + 1, factor.size() - begin - 2);
    if (factor.back() == ')')
      return mrow(fmt::format("<mi mathvariant=\"normal\">{}</mi>", escaped(name)) + mo("(") + sum_mathml(content) +
                  mo(")"));
    const bool is_plain = std::ranges::all_of(name, [](unsigned char c) { return std::isalnum(c) != 0 || c == '_'; });
    const std::string shown = is_plain && name.size() == 1 ? fmt::format("<mi>{}</mi>", name)
                              : is_plain                   ? name_mathml(name)
                                                           : fmt::format("<mtext>{}</mtext>", escaped(name));
    return mrow(shown + (content.empty() ? "" : mo("[") + comma_list(content) + mo("]")));
  }
  const std::size_t slash = factor.find('/');
  if (slash != std::string_view::npos)
    return fmt::format("<mfrac>{}{}</mfrac>", mrow(expression_mathml(factor.substr(0, slash))),
                       mrow(expression_mathml(factor.substr(slash + 1))));
  return mrow(expression_mathml(factor));
}

std::string factor_mathml(std::string_view factor) {
  const auto parts = split_outside(factor, "^");
  if (parts.size() != 2) return base_mathml(factor);
  return fmt::format("<msup>{}{}</msup>", base_mathml(parts[0]), mrow(expression_mathml(parts[1])));
}

/// "x[i0, k0]" as pieces: a long list of indices may break between them.
std::vector<std::string> factor_pieces(std::string_view factor) {
  constexpr std::size_t kShort = 22;
  const std::size_t open = factor.rfind('[');
  if (factor.size() <= kShort || factor.back() != ']' || open == std::string_view::npos ||
      split_outside(factor, "^").size() > 1)
    return {factor_mathml(factor)};
  std::vector<std::string> pieces;
  const auto indices = split_outside(factor.substr(open + 1, factor.size() - open - 2), ", ");
  for (std::size_t i = 0; i < indices.size(); ++i)
    pieces.push_back(mrow((i == 0 ? base_mathml(factor.substr(0, open)) + mo("[") : "") +
                          expression_mathml(indices[i]) + mo(i + 1 < indices.size() ? "," : "]")));
  return pieces;
}

/// The pieces of a product, the sum's sign first: between them a line may break.
std::vector<std::string> product_pieces(std::string_view term) {
  std::vector<std::string> pieces;
  std::string_view variables;
  std::vector<std::string_view> guards, factors;
  for (const std::string_view part : split_outside(term, " ")) {
    if (part.starts_with("sum(") && part.ends_with(')'))
      variables = part.substr(4, part.size() - 5);
    else if (part.starts_with('[') && inside(part))
      guards.push_back(*inside(part));
    else if (!part.empty())
      factors.push_back(part);
  }
  std::size_t begin = 0;  // A number stands before the sign.
  if (!variables.empty() && !factors.empty() &&
      (std::isdigit(static_cast<unsigned char>(factors[0].front())) != 0 || factors[0].front() == '-') &&
      !factors[0].starts_with("1/("))
    pieces.push_back(factor_mathml(factors[begin++]));
  if (!variables.empty()) pieces.push_back(sign_of_sum(variables, guards));
  for (const std::string_view guard : guards) pieces.push_back(mrow(mo("[") + expression_mathml(guard) + mo("]")));
  for (std::size_t i = begin; i < factors.size(); ++i) {
    const std::size_t first = pieces.size();
    for (std::string& piece : factor_pieces(factors[i])) pieces.push_back(std::move(piece));
    if (i > begin) pieces[first] = mrow("<mspace width=\"0.2em\"/>" + pieces[first]);
  }
  return pieces;
}

std::vector<std::string> sum_pieces(std::string_view text) {
  std::vector<std::string> pieces;
  for (const std::string_view sum : split_outside(text, " + ")) {
    const auto terms = split_outside(sum, " - ");
    for (std::size_t i = 0; i < terms.size(); ++i) {
      if (i > 0) pieces.push_back(mo("\u2212"));
      if (i == 0 && !pieces.empty()) pieces.push_back(mo("+"));
      for (std::string& piece : product_pieces(terms[i])) pieces.push_back(std::move(piece));
    }
  }
  return pieces;
}

/// Without elements; a sum's sign is narrow, whatever stands below it.
std::size_t letters_of(std::string_view mathml) {
  std::size_t count = 0;
  bool is_inside = false;
  for (const char c : mathml) {
    is_inside = is_inside || c == '<';
    count += is_inside ? 0 : 1;
    is_inside = is_inside && c != '>';
  }
  return mathml.starts_with("<munder>") ? 0 : count;
}

std::string sum_mathml(std::string_view text) {
  std::string html;
  for (const std::string& piece : sum_pieces(text)) html += piece;
  return html;
}

}  // namespace

std::string sum_html(std::string_view sum) {
  constexpr std::size_t kWide = 34;  ///< Letters of a piece that a phone has no room for.
  std::string html;
  bool is_wide = false;
  for (const std::string& piece : sum_pieces(sum)) {
    is_wide = is_wide || letters_of(piece) > kWide;
    html += fmt::format("<math displaystyle=\"true\">{}</math> ", piece);
  }
  return fmt::format("<span class=\"formula\"{}>{}</span>", is_wide ? " tabindex=\"0\"" : "", html);
}

std::string condition_html(std::string_view condition) {
  return fmt::format("<math>{}</math>", expression_mathml(condition));
}

}  // namespace rewright
