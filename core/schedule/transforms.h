// One function a transform; apply.h calls them.
#pragma once

#include "schedule/loop_tree.h"

namespace rewright::schedule {

[[nodiscard]] Outcome transformed(const Program& program, const Split& split);
[[nodiscard]] Outcome transformed(const Program& program, const Fuse& fuse);
[[nodiscard]] Outcome transformed(const Program& program, const Reorder& reorder);
[[nodiscard]] Outcome transformed(const Program& program, const Distribute& distribute);
[[nodiscard]] Outcome transformed(const Program& program, const Mark& mark);
[[nodiscard]] Outcome transformed(const Program& program, const Cache& cache);
[[nodiscard]] Outcome transformed(const Program& program, const ComputeAt& compute);
[[nodiscard]] Outcome transformed(const Program& program, const CacheWrite& cache);
[[nodiscard]] Outcome transformed(const Program& program, const ReductionFactor& factor);
[[nodiscard]] Outcome transformed(const Program& program, const Inline& inlined);
[[nodiscard]] Outcome transformed(const Program& program, const Pack& pack);
[[nodiscard]] Outcome transformed(const Program& program, const Tensorise& tensorise);

}  // namespace rewright::schedule
