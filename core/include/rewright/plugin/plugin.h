// Plugins: how a shared object hands its objects to Rewright.
//
//   #include <rewright/operator/operator.h>
//   #include <rewright/plugin/plugin.h>
//   REWRIGHT_PLUGIN("operator.matmul", "1.0.0", "Matrix product") { registry.add(make_operator<MatMul>()); }
//
// A plugin includes the header of its kind: operator/operator.h, verify/verifier.h, rule/pruner.h, optimize/search.h,
// optimize/cost.h, onnx/runtime.h, loop/target.h, tune/tuner.h, tune/predictor.h or tune/generator.h, each below
// <rewright/>.
//
// REWRIGHT_PLUGIN defines the one C symbol that a plugin exports: rewright_plugin(), which returns a pointer to a
// static descriptor. The loader reads `size` and `abi_version` before anything else, then compares `build_tag`
// (compiler, standard library, C++ standard), then calls `init` with a staging registry. What was staged is taken over
// only if init succeeded, the versions of the kinds are the program's, and no name is taken; no exception crosses the
// boundary; a library is never unloaded.
#pragma once

#include <rewright/base/result.h>
#include <rewright/base/visibility.h>
#include <rewright/plugin/registry.h>

#include <cstdint>
#include <exception>

extern "C" {

/// What a plugin says of itself. New members are added at the end only; `size` tells which are there.
struct RewrightPlugin {
  std::uint32_t size;
  std::uint32_t abi_version;
  const char* build_tag;
  const char* name;     ///< "operator.matmul": kind.name, unique among the loaded plugins.
  const char* version;  ///< Semantic version of the plugin.
  const char* summary;  ///< One line.
  /// Stages objects. Returns null, or a sentence (valid until the next call) that says what went wrong.
  const char* (*init)(rewright::Registry* staging);
};
}

namespace rewright {

/// The version of the descriptor and of the Registry; each kind of objects has one of its own (base/abi.h).
inline constexpr std::uint32_t kPluginAbiVersion = 7;

#define REWRIGHT_STRINGIFY_(x) #x
#define REWRIGHT_STRINGIFY(x) REWRIGHT_STRINGIFY_(x)
/// What must be equal in core and plugin for C++ objects to cross the boundary.
#define REWRIGHT_BUILD_TAG                                                                                \
  "gcc" REWRIGHT_STRINGIFY(__GNUC__) "-cxx" REWRIGHT_STRINGIFY(__cplusplus) "-cxxabi" REWRIGHT_STRINGIFY( \
      __GXX_ABI_VERSION) "-cxx11abi" REWRIGHT_STRINGIFY(_GLIBCXX_USE_CXX11_ABI)

/// For REWRIGHT_PLUGIN: runs `fill`, turns exceptions into a sentence.
template <class Fill>
const char* initialise_plugin(Registry* staging, Fill fill) noexcept {
  static std::string sentence;
  try {
    fill(*staging);
    return nullptr;
  } catch (const std::exception& exception) {
    sentence = exception.what();
  } catch (...) {
    sentence = "an exception that is not a std::exception";
  }
  return sentence.c_str();
}

#define REWRIGHT_PLUGIN(plugin_name, plugin_version, plugin_summary)                              \
  static void rewright_fill_registry(::rewright::Registry& registry);                             \
  static const char* rewright_init(::rewright::Registry* staging) {                               \
    return ::rewright::initialise_plugin(staging, rewright_fill_registry);                        \
  }                                                                                               \
  extern "C" REWRIGHT_API const RewrightPlugin* rewright_plugin() {                               \
    static const RewrightPlugin kPlugin = {sizeof(RewrightPlugin), ::rewright::kPluginAbiVersion, \
                                           REWRIGHT_BUILD_TAG,     plugin_name,                   \
                                           plugin_version,         plugin_summary,                \
                                           rewright_init};                                        \
    return &kPlugin;                                                                              \
  }                                                                                               \
  static void rewright_fill_registry([[maybe_unused]] ::rewright::Registry& registry)

}  // namespace rewright
