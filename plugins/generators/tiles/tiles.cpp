// Generators `register-tiles`, `projective-tiles` and `placed-tiles`.
#include "tiles.h"

#include <rewright/plugin/plugin.h>

REWRIGHT_PLUGIN("generator.tiles", "1.0.0", "Schedules by models of registers and caches") {
  registry.add<rewright::Generator>(register_tiles());
  registry.add<rewright::Generator>(projective_tiles());
  registry.add<rewright::Generator>(placed_tiles());
}
