// Updates by operations that may be carried out in any order: their neutral elements, and whose they are.
//
//   +=  0      *=  1      max=  -inf      min=  inf
#pragma once

#include <optional>

#include "schedule/loop_tree.h"

namespace rewright::schedule {

[[nodiscard]] ValueExpr neutral(loop::StoreKind kind);
/// The kind of all stores to a buffer in a body; nothing if there are several, or none.
[[nodiscard]] std::optional<loop::StoreKind> only_update(const Body& body, BufferId buffer);
/// Does a buffer belong to iterations of the loop at a path, or of one inside of it?
[[nodiscard]] bool owner_is_inside(const Program& program, const LoopPath& path, BufferId buffer);

}  // namespace rewright::schedule
