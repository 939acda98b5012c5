#include "contract/samples.h"

#include <algorithm>

namespace rewright::contract {

const std::vector<std::string_view>& true_rules() {
  static const std::vector<std::string_view> kRules = {
      "(x:2) relu(relu(x)) => relu(x)",
      "(x:2) transpose(transpose(x)) => x",
      "(x:2, y:2, z:2) matmul(matmul(x, y), z) => matmul(x, matmul(y, z))",
      "(x:2, y:2, z:2) ewadd(matmul(x, y), matmul(x, z)) => matmul(x, ewadd(y, z))",
      "(x:2, y:2) transpose(matmul(x, y)) => matmul(transpose(y), transpose(x))",
      "(x:2, y:2) relu(concat(x, y)) => concat(relu(x), relu(y))",
      "(x:4, w:4, v:4) ewadd(conv2d(x, w), conv2d(x, v)) => conv2d(x, ewadd(w, v))",
      "(x:2, s:0, t:0) smul(smul(x, s), t) => smul(x, smul(s, t))",
  };
  return kRules;
}

const std::vector<std::string_view>& false_rules() {
  static const std::vector<std::string_view> kRules = {
      "(x:2) relu(x) => x",
      "(x:2) transpose(x) => x where x.0 = x.1",
      "(x:2, y:2) matmul(x, y) => matmul(y, x) where x.0 = y.1",
      "(x:2, s:0) relu(smul(x, s)) => smul(relu(x), s)",
      "(x:2, y:2) transpose(matmul(x, y)) => matmul(transpose(x), transpose(y)) where x.0 = y.1, x.1 = y.0, x.0 = x.1",
      "(x:2, y:2) concat(x, y) => concat(y, x)",
      "(x:2) ewadd(x, x) => ewmul(x, x)",
      "(x:4, w:4, v:4) conv2d(conv2d(x, w), v) => conv2d(conv2d(x, v), w) where w.0 = w.1, v.0 = v.1, w.2 = v.2, w.3 = "
      "v.3",
  };
  return kRules;
}

Result<std::vector<Rule>> read_rules(std::span<const std::string_view> texts, const Registry& registry) {
  std::vector<Rule> rules;
  for (const std::string_view text : texts) {
    REWRIGHT_TRY(Rule rule, parse_rule(text, registry));
    rules.push_back(std::move(rule));
  }
  return rules;
}

Outcome describes_itself(const std::string& name, const std::string& summary) {
  const bool is_word = !name.empty() && !(name[0] >= '0' && name[0] <= '9') && std::ranges::all_of(name, [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_';
  });
  if (!is_word)
    return Outcome::broken(fmt::format("its name is '{}', expected lower-case letters, digits and _", name));
  if (summary.empty()) return Outcome::broken("its summary is empty");
  return Outcome::kept(fmt::format("{}: {}", name, summary));
}

const Options& unknown_options() {
  static const Options kOptions = {{"no_such_option", true}};
  return kOptions;
}

Outcome refused_unknown_option(const Status& status) {
  if (status) return Outcome::broken("it takes an option 'no_such_option', which it cannot know");
  if (status.error().message.find("no_such_option") == std::string::npos)
    return Outcome::broken("it refuses an unknown option without naming it: " + status.error().message);
  return Outcome::kept(status.error().message);
}

}  // namespace rewright::contract
