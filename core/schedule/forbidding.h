// Dependences that forbid a change of order, and two iterations that show it.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "loop/dependences.h"
#include "schedule/apply.h"

namespace rewright::schedule {

/// The first of the dependences that wanted loops carry that `forbids`, as a conflict.
[[nodiscard]] std::optional<Conflict> forbidding(
    const loop::Program& program, const std::string& needed, const std::function<bool(const loop::Loop&)>& is_wanted,
    const std::function<bool(const loop::Dependence&)>& forbids = [](const loop::Dependence&) { return true; });

}  // namespace rewright::schedule
