// An init function written by hand lets its exception out.
#include <rewright/plugin/plugin.h>

#include <stdexcept>

static const char* init(rewright::Registry*) { throw std::runtime_error("out of the boundary"); }

extern "C" REWRIGHT_API const RewrightPlugin* rewright_plugin() {
  static const RewrightPlugin kPlugin = {sizeof(RewrightPlugin),
                                         rewright::kPluginAbiVersion,
                                         REWRIGHT_BUILD_TAG,
                                         "bad.throwing_past_the_macro",
                                         "1.0.0",
                                         "",
                                         init};
  return &kPlugin;
}
