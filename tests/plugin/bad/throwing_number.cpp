// init throws what is no std::exception.
#include <rewright/plugin/plugin.h>

REWRIGHT_PLUGIN("bad.throwing_number", "1.0.0", "Throws a number") { throw 7; }
