// What generalising an equation is told.
#pragma once

#include <rewright/plugin/registry.h>

#include <cstdint>
#include <functional>

namespace rewright {

struct LawOptions {
  const Registry* registry = nullptr;  ///< To tell laws of relu from those of every function; null: it is not told.
  std::uint64_t seed = 1;
  int threads = 1;
  std::function<bool()> stop;  ///< Asked now and then; true ends the work with kBudget.
};

}  // namespace rewright
