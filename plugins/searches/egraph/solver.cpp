// Opens the library with the solver when it is first needed.
#include <dlfcn.h>
#include <sys/mman.h>

#include <filesystem>
#include <mutex>
#include <string>

#include "integer_program.h"

namespace rewright::egraph_search {
namespace {

constexpr std::size_t kSolverBytes = std::size_t{192}
                                     << 20U;  // Its libraries, OpenBLAS with 64 MiB of buffers among them.

/// OpenBLAS, where it stands in for BLAS, tries for ever to map its buffers while it is opened. So memory is asked for
/// first.
Status has_room_for_solver() {
  void* room = mmap(nullptr, kSolverBytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (room == MAP_FAILED)
    return make_error(
        ErrorCode::kBudget,
        "the solver of integer programs needs {} MiB of memory that the limit (ulimit -v) does not leave; "
        "raise it, or choose greedily (--search-option exact=0)",
        kSolverBytes >> 20U);
  munmap(room, kSolverBytes);
  return {};
}

Result<Minimise*> open_solver() {
  REWRIGHT_CHECK(has_room_for_solver());
  Dl_info self;
  if (dladdr(reinterpret_cast<const void*>(&open_solver), &self) == 0)
    return make_error(ErrorCode::kIo, "search egraph does not find its own file, and so not the solver beside it");
  const std::string file = std::filesystem::path(self.dli_fname).replace_extension(".solver").string();
  void* library = dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL);
  void* found = library == nullptr ? nullptr : dlsym(library, kMinimise);
  if (found == nullptr)
    return make_error(ErrorCode::kIo,
                      "the solver of integer programs cannot be opened: {}; install the program again, or choose "
                      "greedily (--search-option exact=0)",
                      dlerror());
  return reinterpret_cast<Minimise*>(found);
}

}  // namespace

Result<std::optional<IntegerSolution>> minimise(const IntegerProgram& program, const std::vector<double>& known,
                                                const IntegerLimits& limits) {
  static std::mutex mutex;
  static Minimise* solver = nullptr;
  {
    const std::scoped_lock lock(mutex);
    if (solver == nullptr) {
      REWRIGHT_TRY(solver, open_solver());
    }
  }
  std::optional<IntegerSolution> solution;
  solver(program, known, limits, solution);
  return solution;
}

}  // namespace rewright::egraph_search
