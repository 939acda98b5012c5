// A plugin that says it was built by another compiler with another standard.
#include <rewright/plugin/plugin.h>

extern "C" REWRIGHT_API const RewrightPlugin* rewright_plugin() {
  static const RewrightPlugin kPlugin = {sizeof(RewrightPlugin),
                                         rewright::kPluginAbiVersion,
                                         "gcc7-cxx201402L",
                                         "bad.other_standard",
                                         "1.0.0",
                                         "",
                                         nullptr};
  return &kPlugin;
}
