#include <rewright/loop/target.h>

#include <utility>

namespace rewright {

Result<std::unique_ptr<loop::CompiledProgram>> compile_one(const Target& target, const loop::Program& program,
                                                           const loop::TargetOptions& options) {
  const loop::NamedProgram named{"kernel", program};
  REWRIGHT_TRY(auto compiled, target.compile({&named, 1}, options));
  return std::move(compiled.front());
}

}  // namespace rewright
