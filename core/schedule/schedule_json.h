// Spaces as JSON: the same data as in text (schedule_space.h), and both are read.
//
//   {"knobs": [{"name": "tj", "in": [8, 16]}, {"name": "order", "orders": ["c.k", "c.i"]}],
//    "where": "tj <= 16", "with": {"tj": 16},
//    "steps": [{"transform": "split", "loop": "c.j", "factor": "$tj", "tail": "cut", "or": "skip"},
//              {"transform": "reorder", "loops": ["$order"]}]}
#pragma once

#include <nlohmann/json.hpp>

#include <string>
#include <string_view>

#include "schedule/schedule_space.h"

namespace rewright::schedule {

/// The members in this order; those that are empty are left out, except steps.
[[nodiscard]] REWRIGHT_API nlohmann::ordered_json to_json(const Space& space);
/// Text, or JSON where it begins with "{". Errors: kParse, the line (of JSON: the number of the step).
[[nodiscard]] REWRIGHT_API Result<Space> read_space(std::string_view text);

}  // namespace rewright::schedule
