// Two operators with parameters side by side that no operator of this tree has.
#include "support/own_operators.h"

REWRIGHT_PLUGIN("operator.own", "0.1.0", "Two operators of a person's own") {
  rewright::test::add_own_operators(registry);
}
