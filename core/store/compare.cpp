#include "store/compare.h"

#include <unordered_map>

namespace rewright {
namespace {

/// Errors: the text cannot be read, or has another id than the one it stands under.
Status check_id(const RuleText& rule, const std::string& place, const Registry& registry) {
  const Result<Rule> read = parse_rule(rule.text, registry);
  if (!read) return make_error(read.error().code, "'{}', rule {}: {}", place, rule.id, read.error().message);
  if (read->id == rule.id) return {};
  return make_error(ErrorCode::kMismatch,
                    "'{}' holds another rule under the id {} than its id says: '{}' has the id {}; the library is "
                    "damaged or was changed by hand: take a copy that is whole",
                    place, rule.id, rule.text, read->id);
}

}  // namespace

Status check_same_rule(const RuleText& left, const std::string& left_place, const RuleText& right,
                       const std::string& right_place, const Registry& registry) {
  if (left.text == right.text) return {};
  REWRIGHT_CHECK(check_id(left, left_place, registry));
  return check_id(right, right_place, registry);
}

Result<RuleDiff> diff(const RuleSource& before, const RuleSource& after, const Registry& registry) {
  std::unordered_map<std::string, const RuleText*> known;
  for (const RuleText& rule : before.rules) known.emplace(rule.id, &rule);
  RuleDiff result;
  for (const RuleText& rule : after.rules) {
    const auto same = known.find(rule.id);
    if (same == known.end()) {
      result.fresh.push_back(&rule);
      continue;
    }
    if (same->second == nullptr) continue;  // Twice in `after`.
    REWRIGHT_CHECK(check_same_rule(*same->second, before.place, rule, after.place, registry));
    same->second = nullptr;
    ++result.common;
  }
  for (const RuleText& rule : before.rules) {
    if (known[rule.id] == &rule) result.lost.push_back(&rule);
  }
  return result;
}

}  // namespace rewright
