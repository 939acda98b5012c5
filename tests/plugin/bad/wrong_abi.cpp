// A descriptor of another ABI. Its other members are nonsense: nothing after the version may be read.
#include <rewright/plugin/plugin.h>

extern "C" REWRIGHT_API const RewrightPlugin* rewright_plugin() {
  static const RewrightPlugin kPlugin = {sizeof(RewrightPlugin),
                                         999,
                                         reinterpret_cast<const char*>(8),
                                         reinterpret_cast<const char*>(16),
                                         nullptr,
                                         nullptr,
                                         nullptr};
  return &kPlugin;
}
