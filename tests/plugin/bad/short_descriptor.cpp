// A descriptor that says it is shorter than its ABI version demands.
#include <rewright/plugin/plugin.h>

extern "C" REWRIGHT_API const RewrightPlugin* rewright_plugin() {
  static const RewrightPlugin kPlugin = {12, rewright::kPluginAbiVersion, nullptr, nullptr, nullptr, nullptr, nullptr};
  return &kPlugin;
}
