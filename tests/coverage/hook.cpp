// Linked into every program, library and plugin where coverage is measured: tells counters.cpp, if it is preloaded, how
// to write the counters of this one and to begin anew. (libgcov has a copy in each, that others do not see.)
#include <dlfcn.h>

extern "C" {
void __gcov_dump();
void __gcov_reset();
}

namespace {

[[gnu::constructor]] void tell() {
  using Take = void (*)(void (*write)(), void (*reset)());
  if (const auto take = reinterpret_cast<Take>(dlsym(RTLD_DEFAULT, "rewright_take_counters")))
    take(__gcov_dump, __gcov_reset);
}

/// Comes before libgcov's own destructor, which writes.
[[gnu::destructor]] void make_room() {
  if (const auto lift = reinterpret_cast<void (*)()>(dlsym(RTLD_DEFAULT, "rewright_lift_limits"))) lift();
}

}  // namespace
