// Spaces as text: read, and written.
#include <fmt/ranges.h>

#include <algorithm>

#include "base/scanner.h"
#include "loop/expression_reader.h"
#include "loop/expression_walk.h"
#include "schedule/schedule_space.h"

namespace rewright::schedule {
namespace {

constexpr std::int64_t kMostNumbers = 100'000;
constexpr std::size_t kMostLoops = 8;
/// Numbers at equal distances are written as a range from this many on.
constexpr std::size_t kFewNumbers = 5;

std::string joined(const StepText& step, std::size_t from) {
  return fmt::format("{}", fmt::join(step.words.begin() + static_cast<std::ptrdiff_t>(from), step.words.end(), " "));
}

Status read_numbers(Scanner& in, Knob& knob) {
  do {
    REWRIGHT_TRY(const std::int64_t number, in.number("a number"));
    knob.numbers.push_back(number);
  } while (in.take(","));
  return in.expect("}", "after the numbers");
}

Status read_range(Scanner& in, Knob& knob) {
  REWRIGHT_TRY(const std::int64_t low, in.number("in, or the least number"));
  REWRIGHT_CHECK(in.expect("..", "after the least number"));
  const std::size_t at = in.position();
  REWRIGHT_TRY(const std::int64_t high, in.number("the greatest number"));
  std::int64_t step = 1;
  if (in.take("step")) {
    REWRIGHT_TRY(step, in.number("the distance of the numbers"));
  }
  if (step < 1 || high < low || (high - low) / step >= kMostNumbers)
    return in.error_at(at, ErrorCode::kParse, "a range has 1 to 100000 numbers");
  for (std::int64_t number = low; number <= high; number += step) knob.numbers.push_back(number);
  return {};
}

Status read_orders(Scanner& in, Knob& knob) {
  static const std::vector<Buffer> kNone;
  loop::ExpressionReader reader(in, kNone);
  REWRIGHT_CHECK(in.expect("(", "after orders"));
  do {
    const std::size_t at = in.position();
    REWRIGHT_TRY(const std::string text, reader.loop_name());
    auto name = loop::parse_loop_name(text);
    if (!name) return in.error_at(at, ErrorCode::kParse, fmt::format("'{}' is no loop (stage.axis)", text));
    knob.loops.push_back(*std::move(name));
  } while (in.take(","));
  if (knob.loops.size() > kMostLoops)
    return in.error_at(in.position(), ErrorCode::kParse, "orders are of at most 8 loops");
  return in.expect(")", "after the loops");
}

/// The size variables of an index: names that are no knob's.
std::optional<std::string> unknown_name(const Guard& guard) {
  std::optional<std::string> found;
  loop::for_each_index(guard, [&](const IndexExpr& part) {
    if (part.kind() == IndexExpr::Kind::kSize && !part.number()) found = rewright::to_string(*part.size());
  });
  return found;
}

}  // namespace

std::string in_one_word(std::string choice) {
  std::ranges::replace(choice, ' ', ',');
  return choice;
}

std::string to_string(const Knob& knob) {
  if (!knob.loops.empty()) {
    std::vector<std::string> names;
    for (const LoopName& name : knob.loops) names.push_back(loop::to_string(name));
    return fmt::format("knob {} in orders({})", knob.name, fmt::join(names, ", "));
  }
  const std::vector<std::int64_t>& numbers = knob.numbers;
  const std::int64_t step = numbers.size() < 2 ? 0 : numbers[1] - numbers[0];
  bool is_range = numbers.size() >= kFewNumbers && step > 0;
  for (std::size_t i = 1; i < numbers.size(); ++i) is_range &= numbers[i] - numbers[i - 1] == step;
  if (!is_range) return fmt::format("knob {} in {{{}}}", knob.name, fmt::join(numbers, ", "));
  const std::string range = fmt::format("knob {} {}..{}", knob.name, numbers.front(), numbers.back());
  return step == 1 ? range : fmt::format("{} step {}", range, step);
}

std::string constraints_text(const Space& space) {
  return to_string(space.constraints, [](BufferId) { return std::string(); });
}

Status add_knob(Space& space, const std::string& text, int line) {
  Scanner in(text, static_cast<std::size_t>(line));
  const auto name = in.identifier();
  if (!name) return in.expected("a knob's name");
  Knob knob{std::string(*name)};
  if (std::ranges::find(space.knobs, knob.name, &Knob::name) != space.knobs.end())
    return in.error_at(0, ErrorCode::kParse, fmt::format("there are two knobs {}", knob.name));
  if (!in.take("in")) {
    REWRIGHT_CHECK(read_range(in, knob));
  } else if (in.take("orders")) {
    REWRIGHT_CHECK(read_orders(in, knob));
  } else {
    REWRIGHT_CHECK(in.expect("{", "or orders( after in"));
    REWRIGHT_CHECK(read_numbers(in, knob));
  }
  if (!in.at_end()) return in.expected("the end of the knob");
  space.knobs.push_back(std::move(knob));
  space.given.emplace_back();
  return {};
}

Status add_constraint(Space& space, const std::string& text, int line) {
  static const std::vector<Buffer> kNone;
  Scanner in(text, static_cast<std::size_t>(line));
  loop::ExpressionReader reader(in, kNone);
  for (std::uint32_t k = 0; k < space.knobs.size(); ++k)
    if (space.knobs[k].loops.empty()) reader.enter({k, space.knobs[k].name});
  REWRIGHT_TRY(Guard guard, reader.guard());
  if (!in.at_end()) return in.expected("the end of the condition");
  if (const auto name = unknown_name(guard))
    return in.error_at(0, ErrorCode::kParse, no_such_knob(space, *name) + " (of numbers, declared above)");
  space.constraints.insert(space.constraints.end(), guard.begin(), guard.end());
  return {};
}

Status check_steps(const Space& space) {
  const auto steps = schedule_of(space, Choices(space.knobs.size(), 0));
  return steps ? Status() : Status(steps.error());
}

std::string to_string(const Space& space) {
  std::string text;
  for (const Knob& knob : space.knobs) text += to_string(knob) + '\n';
  if (!space.constraints.empty()) text += fmt::format("where {}\n", constraints_text(space));
  std::string given;
  for (std::size_t k = 0; k < space.knobs.size(); ++k)
    if (space.given[k])
      given += fmt::format(" {}={}", space.knobs[k].name, in_one_word(choice_text(space.knobs[k], *space.given[k])));
  if (!given.empty()) text += fmt::format("with{}\n", given);
  std::string origin;
  for (const StepText& step : space.steps) {
    if (step.origin != origin) text += fmt::format("from {}\n", step.origin.empty() ? kHere : step.origin);
    origin = step.origin;
    text += joined(step, 0) + '\n';
  }
  return text;
}

Result<Space> parse_space(std::string_view text) {
  Space space;
  for (StepText& step : step_texts(text)) {
    if (step.words[0] == "knob") {
      REWRIGHT_CHECK(add_knob(space, joined(step, 1), step.line));
    } else if (step.words[0] == "where") {
      REWRIGHT_CHECK(add_constraint(space, joined(step, 1), step.line));
    } else if (step.words[0] == "with") {
      for (std::size_t w = 1; w < step.words.size(); ++w) {
        const auto given = give(space, step.words[w]);
        if (!given) return make_error(ErrorCode::kParse, "{}: {}", step.line, given.error().message);
      }
    } else {
      space.steps.push_back(std::move(step));
    }
  }
  REWRIGHT_CHECK(check_steps(space));
  return space;
}

}  // namespace rewright::schedule
