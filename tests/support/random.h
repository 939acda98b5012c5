// Seeded random choices, for tests.
#pragma once

#include <rewright/base/mixing.h>

namespace rewright::testing {
using rewright::Random;
}  // namespace rewright::testing
