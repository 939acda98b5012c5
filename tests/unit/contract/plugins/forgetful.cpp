// A triangle whose reader forgets the attribute of ONNX's Trilu; it writes nothing to ONNX.
#include <rewright/plugin/plugin.h>

#include "unit/contract/plugins/triangle.h"

REWRIGHT_PLUGIN("test.forgetful", "1.0.0", "A triangle of each matrix") {
  registry.add(rewright::make_operator<rewright::testing::Triangle<true>>());
}
