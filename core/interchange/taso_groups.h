// How many groups the convolutions of a TASO rule have, where the file does not say.
//
// TASO takes groups = channels of the image / channels of the weight for each convolution, so that a file's rule speaks
// of every number of groups, and the sides may differ: concat(conv(x, v), conv(y, w)) with one group each is
// conv(concat(x, y), concat(v, w)) with two. Each convolution of the source is read with one group and with two; at
// small sizes at which that source is defined, the target's shapes say how many groups its convolutions have.
#pragma once

#include <rewright/rule/rule.h>

#include <vector>

#include "interchange/taso_rule.h"
#include "interchange/taso_side.h"

namespace rewright::taso_format {

/// One instance for each choice of groups at which both sides are defined at some small sizes, fewest groups first.
/// Errors: kShape where there is none; what read_side() and make_rule() say where no groups are open.
[[nodiscard]] Result<std::vector<TasoInstance>> read_with_groups(const taso::Rule& rule, Scope scope);

}  // namespace rewright::taso_format
