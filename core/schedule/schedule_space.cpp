#include "schedule/schedule_space.h"

#include <rewright/base/mixing.h>

#include <fmt/ranges.h>

#include <algorithm>

#include "base/spelling.h"

namespace rewright::schedule {
namespace {

constexpr int kMostDraws = 10'000;

bool is_name_part(char c) {
  return c == '_' || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
}

/// The odometer of the knobs that are not given; false behind the last choices.
bool advance(const Space& space, Choices& choices) {
  for (std::size_t k = choices.size(); k-- > 0;) {
    if (space.given[k]) continue;
    if (++choices[k] < choice_count(space.knobs[k])) return true;
    choices[k] = 0;
  }
  return false;
}

Choices first_choices(const Space& space) {
  Choices choices;
  for (const auto& given : space.given) choices.push_back(given.value_or(0));
  return choices;
}

}  // namespace

std::int64_t choice_count(const Knob& knob) {
  if (knob.loops.empty()) return static_cast<std::int64_t>(knob.numbers.size());
  std::int64_t orders = 1;
  for (std::size_t n = 2; n <= knob.loops.size(); ++n) orders *= static_cast<std::int64_t>(n);
  return orders;
}

std::string choice_text(const Knob& knob, std::int64_t choice) {
  if (knob.loops.empty()) return fmt::format("{}", knob.numbers[static_cast<std::size_t>(choice)]);
  std::vector<LoopName> left = knob.loops;
  std::int64_t orders = choice_count(knob);
  std::vector<std::string> names;
  while (!left.empty()) {
    orders /= static_cast<std::int64_t>(left.size());
    const auto next = left.begin() + choice / orders;
    choice %= orders;
    names.push_back(to_string(*next));
    left.erase(next);
  }
  return fmt::format("{}", fmt::join(names, " "));
}

std::vector<std::string> knob_names(const Space& space) {
  std::vector<std::string> names;
  for (const Knob& knob : space.knobs) names.push_back(knob.name);
  return names;
}

std::string no_such_knob(const Space& space, std::string_view name) {
  const std::vector<std::string> names = knob_names(space);
  const auto close = nearest(name, names);
  if (close) return fmt::format("there is no knob {}; did you mean {}?", name, *close);
  if (names.empty()) return fmt::format("there is no knob {}, and none at all", name);
  return fmt::format("there is no knob {}; there are {}", name, fmt::join(names, ", "));
}

Result<StepText> bound(const Space& space, const StepText& step, const Choices& choices) {
  StepText result{{}, step.line, step.origin};
  for (const std::string& word : step.words) {
    std::string text;
    for (std::size_t at = 0; at < word.size();) {
      if (word[at] != '$') {
        text += word[at++];
        continue;
      }
      const auto end = std::find_if_not(word.begin() + static_cast<std::ptrdiff_t>(at) + 1, word.end(), is_name_part);
      const std::string name(word.begin() + static_cast<std::ptrdiff_t>(at) + 1, end);
      const auto knob = std::ranges::find(space.knobs, name, &Knob::name);
      if (knob == space.knobs.end())
        return make_error(ErrorCode::kParse, "{}: {}", step.line, no_such_knob(space, name));
      text += choice_text(*knob, choices[static_cast<std::size_t>(knob - space.knobs.begin())]);
      at = static_cast<std::size_t>(end - word.begin());
    }
    for (std::size_t end = text.find(' '); end != std::string::npos; end = text.find(' ')) {
      result.words.push_back(text.substr(0, end));
      text.erase(0, end + 1);
    }
    result.words.push_back(std::move(text));
  }
  return result;
}

Status give(Space& space, std::string_view text) {
  const std::size_t sign = text.find('=');
  if (sign == std::string_view::npos)
    return make_error(ErrorCode::kUsage, "'{}' gives no choice; expected NAME=CHOICE", text);
  const std::string_view name = text.substr(0, sign);
  const auto knob = std::ranges::find(space.knobs, name, &Knob::name);
  if (knob == space.knobs.end()) return make_error(ErrorCode::kUsage, "{}", no_such_knob(space, name));
  std::string wanted(text.substr(sign + 1));
  std::ranges::replace(wanted, ',', ' ');
  for (std::int64_t choice = 0; choice < choice_count(*knob); ++choice) {
    if (choice_text(*knob, choice) != wanted) continue;
    space.given[static_cast<std::size_t>(knob - space.knobs.begin())] = choice;
    return {};
  }
  return make_error(ErrorCode::kUsage, "knob {} has no choice '{}'; it is declared as: {}", name, text.substr(sign + 1),
                    to_string(*knob));
}

bool is_allowed(const Space& space, const Choices& choices) {
  const Substitution parts{.axis = [&](const Axis& axis) -> std::optional<IndexExpr> {
    return IndexExpr(space.knobs[axis.id].numbers[static_cast<std::size_t>(choices[axis.id])]);
  }};
  return std::ranges::all_of(space.constraints, [&](const IndexCondition& condition) {
    const auto left = substitute(condition.left, parts).number(), right = substitute(condition.right, parts).number();
    if (!left || !right) return false;
    if (condition.relation == IndexCondition::Relation::kEqual) return *left == *right;
    return condition.relation == IndexCondition::Relation::kLess ? *left < *right : *left <= *right;
  });
}

std::vector<Choices> all_choices(const Space& space, std::size_t most) {
  std::vector<Choices> all;
  Choices choices = first_choices(space);
  bool is_there = true;
  while (is_there && all.size() < most) {
    if (is_allowed(space, choices)) all.push_back(choices);
    is_there = advance(space, choices);
  }
  return all;
}

std::optional<Choices> random_choices(const Space& space, std::uint64_t seed) {
  Random random(seed);
  Choices choices = first_choices(space);
  for (int draw = 0; draw < kMostDraws; ++draw) {
    for (std::size_t k = 0; k < choices.size(); ++k) {
      const auto count = static_cast<std::uint64_t>(choice_count(space.knobs[k]));
      if (!space.given[k]) choices[k] = static_cast<std::int64_t>(random.below(count));
    }
    if (is_allowed(space, choices)) return choices;
  }
  return std::nullopt;
}

Choices completed(const Space& space, const Choices& free) {
  Choices all;
  std::size_t next = 0;
  for (const auto& given : space.given) all.push_back(given ? *given : free[next++]);
  return all;
}

Result<Choices> given_choices(const Space& space) {
  Choices choices;
  for (std::size_t k = 0; k < space.knobs.size(); ++k) {
    if (!space.given[k])
      return make_error(ErrorCode::kUsage, "knob {} has no value; give one: with {}={}", space.knobs[k].name,
                        space.knobs[k].name, in_one_word(choice_text(space.knobs[k], 0)));
    choices.push_back(*space.given[k]);
  }
  if (!is_allowed(space, choices))
    return make_error(ErrorCode::kUsage, "the values given do not meet: {}", constraints_text(space));
  return choices;
}

Result<Space> resolved(const Space& space, const Choices& choices) {
  Space chosen;
  for (const StepText& step : space.steps) {
    REWRIGHT_TRY(chosen.steps.emplace_back(), bound(space, step, choices));
  }
  return chosen;
}

Result<Schedule> schedule_of(const Space& space, const Choices& choices) {
  Schedule schedule;
  for (const StepText& step : space.steps) {
    REWRIGHT_TRY(StepText words, bound(space, step, choices));
    REWRIGHT_TRY(Step read, parse_step(std::move(words)));
    schedule.push_back(std::move(read));
  }
  return schedule;
}

}  // namespace rewright::schedule
