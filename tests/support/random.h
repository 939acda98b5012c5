// Seeded random choices, for tests.
#pragma once

#include "contract/random.h"

namespace rewright::testing {
using contract::Random;
}  // namespace rewright::testing
