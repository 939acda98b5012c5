// Calls itself what another plugin is called.
#include <rewright/plugin/plugin.h>

REWRIGHT_PLUGIN("operator.relu", "9.9.9", "Not relu") {}
