// Registers an operator that exists, after one that does not.
#include "minimal_operator.h"

namespace {
struct Fresh {
  static constexpr const char* kName = "fresh_name";
};
struct Taken {
  static constexpr const char* kName = "relu";
};
}  // namespace

REWRIGHT_PLUGIN("bad.taken_name", "1.0.0", "Takes a name") {
  registry.add(rewright::make_operator<MinimalOperator<Fresh>>());
  registry.add(rewright::make_operator<MinimalOperator<Taken>>());
}
