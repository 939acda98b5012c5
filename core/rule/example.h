// Sizes at which a rule applies.
#pragma once

#include <rewright/rule.h>

namespace rewright {

/// Sets the rule's example to small sizes at which both sides are defined, unequal where they may be. Leaves it empty
/// where a bounded search finds none. The same rule gets the same example.
void find_example(Rule& rule);

}  // namespace rewright
