// The entry point returns nothing.
#include <rewright/plugin/plugin.h>

extern "C" REWRIGHT_API const RewrightPlugin* rewright_plugin() { return nullptr; }
