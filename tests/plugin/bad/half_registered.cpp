// Registers an operator, then fails.
#include <stdexcept>

#include "minimal_operator.h"

namespace {
struct Name {
  static constexpr const char* kName = "half_registered";
};
}  // namespace

REWRIGHT_PLUGIN("bad.half_registered", "1.0.0", "Fails half-way") {
  registry.add(rewright::make_operator<MinimalOperator<Name>>());
  throw std::runtime_error("the second half is missing");
}
