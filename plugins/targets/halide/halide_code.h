// A statement of Halide's intermediate form: lowered, compiled into this process by LLVM, and run.
#pragma once

#include <rewright/loop/target.h>

#include <Halide.h>

#include <memory>
#include <string>
#include <vector>

#include "halide_statements.h"

namespace rewright::halide {

/// A program as a function of Halide's, its loops unrolled, vectorised and divided among threads.
struct LoweredProgram {
  Halide::Module module;
  std::vector<BufferId> taken;
};

/// The processor at hand.
[[nodiscard]] Halide::Target processor(bool is_strict);
[[nodiscard]] Result<LoweredProgram> lowered(const loop::NamedProgram& named, const StatementOptions& options);
/// Code of `lowered`, run on this many threads of Halide's.
[[nodiscard]] Result<std::unique_ptr<loop::CompiledProgram>> compiled(const LoweredProgram& lowered, int threads);

/// How many threads Halide's parallel loops run on, all of this process's.
void set_threads(int threads);

/// What `action` returns. Errors: kUnsupported, what Halide threw.
template <class Action>
[[nodiscard]] auto caught(const Action& action) -> decltype(action()) {
  try {
    return action();
  } catch (const Halide::Error& error) {
    std::string text = error.what();
    while (text.ends_with('\n') || text.ends_with('.')) text.pop_back();
    for (char& c : text)
      if (c == '\n') c = ' ';
    return make_error(ErrorCode::kUnsupported, "target halide: {}", text);
  }
}

}  // namespace rewright::halide
