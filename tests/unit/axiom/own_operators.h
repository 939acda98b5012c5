// The operators of this tree and two of a person's own (plugins/own_operators.h), which each room has as a plugin.
#pragma once

#include <rewright/registry.h>

#include <string>

namespace rewright::test {

inline Registry load_own_operators(const std::string& room) {
  Registry registry;
  if (auto status = registry.load_default(); !status) fail(status.error().message);
  const std::string file = std::string(REWRIGHT_BUILD_DIR "/tests/plugins/") + room + "/own_operators.so";
  if (auto status = registry.load(file); !status) fail(status.error().message);
  return registry;
}

}  // namespace rewright::test
