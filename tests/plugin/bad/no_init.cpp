// A descriptor without an init function.
#include <rewright/plugin/plugin.h>

extern "C" REWRIGHT_API const RewrightPlugin* rewright_plugin() {
  static const RewrightPlugin kPlugin = {
      sizeof(RewrightPlugin), rewright::kPluginAbiVersion, REWRIGHT_BUILD_TAG, "bad.no_init", "1.0.0", "", nullptr};
  return &kPlugin;
}
