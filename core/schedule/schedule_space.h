// Spaces: schedules with choices left open.
//
//   space := (knob | where | with | step)*      a line each, steps also with ";" between
//   knob  := "knob" name "in" "{" number ("," number)* "}" | "knob" name number ".." number ["step" number]
//          | "knob" name "in" "orders(" loop ("," loop)* ")"
//   where := "where" condition                  loop/loop_program.h, over knobs of numbers
//   with  := "with" (name "=" choice)*          a number, or loops with "," between
//   step  := as in transform.h, $name for what a knob says
//
//   knob tj in {8, 16, 32}; knob order in orders(c.k, c.i)
//   where tj <= 16
//   split c.j $tj tail=cut; reorder $order
//
// Nothing in it depends on sizes, so that a space of one program can be replayed on another. A space without knobs is a
// schedule.
#pragma once

#include <rewright/schedule/transform.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "schedule/step_text.h"

namespace rewright::schedule {

/// Its choices are numbers, or the orders of some loops.
struct Knob {
  std::string name;
  std::vector<std::int64_t> numbers = {};
  std::vector<LoopName> loops = {};  ///< Empty where it has numbers.
  friend bool operator==(const Knob&, const Knob&) = default;
};
[[nodiscard]] REWRIGHT_API std::int64_t choice_count(const Knob& knob);
/// "16", or "c.i c.k c.j", in the order of choices from 0 on.
[[nodiscard]] REWRIGHT_API std::string choice_text(const Knob& knob, std::int64_t choice);

/// Of each knob, which of its choices.
using Choices = std::vector<std::int64_t>;

struct Space {
  std::vector<Knob> knobs = {};
  Guard constraints = {};  ///< An axis is a knob, by its place.
  std::vector<std::optional<std::int64_t>> given = {};
  std::vector<StepText> steps = {};
  friend bool operator==(const Space&, const Space&) = default;
};
/// The knobs, constraints, given choices and steps, a line each.
[[nodiscard]] REWRIGHT_API std::string to_string(const Space& space);
/// Errors: kParse, the line, what is wrong, and the nearest name; steps are read with the first choice of each knob.
[[nodiscard]] REWRIGHT_API Result<Space> parse_space(std::string_view text);
/// Sets what is given: "tj=16". Errors: kUsage, there is no such knob or choice.
[[nodiscard]] REWRIGHT_API Status give(Space& space, std::string_view choice);

/// Do the constraints hold?
[[nodiscard]] REWRIGHT_API bool is_allowed(const Space& space, const Choices& choices);
/// The allowed choices, the last knob fastest, those that are given being given; at most `most`.
[[nodiscard]] REWRIGHT_API std::vector<Choices> all_choices(const Space& space, std::size_t most);
/// Allowed ones, each equally likely; nothing where none was met in 10,000 draws.
[[nodiscard]] REWRIGHT_API std::optional<Choices> random_choices(const Space& space, std::uint64_t seed);
/// Choices of the knobs that are not given, in their order, with those that are. `free`: one for each of them.
[[nodiscard]] REWRIGHT_API Choices completed(const Space& space, const Choices& free);
/// Those that are given. Errors: kUsage, the knob for which there is none; a constraint does not hold.
[[nodiscard]] REWRIGHT_API Result<Choices> given_choices(const Space& space);
/// The same steps without knobs. Errors: kParse, there is no such knob.
[[nodiscard]] REWRIGHT_API Result<Space> resolved(const Space& space, const Choices& choices);
/// Errors: kParse, as parse_schedule.
[[nodiscard]] REWRIGHT_API Result<Schedule> schedule_of(const Space& space, const Choices& choices);

// --- for what reads and writes spaces --------------------------------------------------------------------------

[[nodiscard]] std::vector<std::string> knob_names(const Space& space);
/// A sentence, with the nearest name.
[[nodiscard]] std::string no_such_knob(const Space& space, std::string_view name);
/// "knob tj in {8, 16}"
[[nodiscard]] std::string to_string(const Knob& knob);
/// Loops with "," between.
[[nodiscard]] std::string in_one_word(std::string choice);
[[nodiscard]] std::string constraints_text(const Space& space);
/// The step with choices in place of $name. Errors: kParse, there is no such knob.
[[nodiscard]] Result<StepText> bound(const Space& space, const StepText& step, const Choices& choices);
/// Adds a knob, a constraint or a given choice, as text. Errors: kParse; kUsage of `with`.
[[nodiscard]] Status add_knob(Space& space, const std::string& text, int line);
[[nodiscard]] Status add_constraint(Space& space, const std::string& text, int line);
/// Reads the steps with the first choice of each knob. Errors: those of the first that cannot be read.
[[nodiscard]] Status check_steps(const Space& space);

}  // namespace rewright::schedule
