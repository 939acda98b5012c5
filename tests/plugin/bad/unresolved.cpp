// Needs a symbol that nobody has.
#include <rewright/plugin/plugin.h>

extern "C" int a_symbol_that_nobody_has();

REWRIGHT_PLUGIN("bad.unresolved", "1.0.0", "Unresolved") { static_cast<void>(a_symbol_that_nobody_has()); }
