// Registers one operator twice.
#include "minimal_operator.h"

namespace {
struct Name {
  static constexpr const char* kName = "twice";
};
}  // namespace

REWRIGHT_PLUGIN("bad.twice", "1.0.0", "Registers twice") {
  registry.add(rewright::make_operator<MinimalOperator<Name>>());
  registry.add(rewright::make_operator<MinimalOperator<Name>>());
}
