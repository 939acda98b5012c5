// An ONNX Runtime that knows no version of its interface that is asked for.
#include <cstdint>

namespace {

struct Base {
  const void* (*get_api)(std::uint32_t version);
  const char* (*get_version_string)();
};

const Base kBase = {[](std::uint32_t) -> const void* { return nullptr; }, [] { return "1.2.0"; }};

}  // namespace

extern "C" __attribute__((visibility("default"))) const Base* OrtGetApiBase() { return &kBase; }
