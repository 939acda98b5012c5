// How knobs and their choices are written.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "schedule/space.h"

namespace rewright::schedule {

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
