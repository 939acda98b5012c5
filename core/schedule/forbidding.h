// Dependences that forbid a change of order, and two iterations that show it.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "loop/dependences.h"
#include "schedule/apply.h"

namespace rewright::schedule {

/// The first of a program's dependences that `forbids`, as a conflict.
[[nodiscard]] std::optional<Conflict> forbidding(const loop::Program& program, const std::string& needed,
                                                 const std::function<bool(const loop::Dependence&)>& forbids);

}  // namespace rewright::schedule
