// init throws.
#include <rewright/plugin/plugin.h>

#include <stdexcept>

REWRIGHT_PLUGIN("bad.throwing_init", "1.0.0", "Throws") { throw std::runtime_error("the licence server is on fire"); }
