// Opens the library with the solver when it is first needed.
#include <dlfcn.h>

#include <filesystem>
#include <mutex>
#include <string>

#include "integer_program.h"

namespace rewright::egraph_search {
namespace {

Result<Minimise*> open_solver() {
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
