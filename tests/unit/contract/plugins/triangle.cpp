// A triangle that keeps every contract.
#include "unit/contract/plugins/triangle.h"

#include <rewright/plugin/plugin.h>

REWRIGHT_PLUGIN("test.triangle", "1.0.0", "A triangle of each matrix") {
  registry.add(rewright::make_operator<rewright::testing::Triangle<false>>());
}
