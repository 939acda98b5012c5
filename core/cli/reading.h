// What was read of a model, and what is carried as it is, for people and machines.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "cli/output.h"
#include "onnx/import.h"

namespace rewright::cli {

/// "3 of 7 nodes are read; carried as they are: 2 Resize (no operator reads it); 2 Loop (...).", the most frequent
/// reasons first; empty where all are read.
[[nodiscard]] std::string sentence_of_reading(const std::vector<CarriedNode>& carried, std::size_t nodes);

/// Adds the keys read, carried and carried_reasons.
void add_reading(Json& json, const std::vector<CarriedNode>& carried, std::size_t nodes);

}  // namespace rewright::cli
