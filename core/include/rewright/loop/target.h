// Targets: plugins that turn loop programs into code and run it.
#pragma once

#include <rewright/base/abi.h>
#include <rewright/base/result.h>
#include <rewright/base/visibility.h>
#include <rewright/loop/loop_program.h>

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace rewright::loop {

/// A program and the name of the function that computes it: a word that is no other's.
struct NamedProgram {
  std::string name;
  Program program;
};

/// A program, compiled and loaded into this process.
class REWRIGHT_API CompiledProgram {
 public:
  virtual ~CompiledProgram();
  /// `buffers`: the first element of each of the program's buffers, row-major, aligned for its type; bool is one byte.
  /// Those of temporaries that the code keeps to itself may be null (parameters). Errors: kShape, where data lay
  /// outside of its declared range; what outputs hold then says nothing.
  [[nodiscard]] virtual Status run(std::span<std::byte* const> buffers) const = 0;
};

struct TargetOptions {
  int seconds = 120;         ///< For the compiler.
  std::string dialect = {};  ///< "" is the target's plainest: c11.
  int threads = 1;           ///< For parallel loops.
};

/// The buffers that the code of a program takes, in their order: all but temporaries that one iteration owns, or that
/// have one element, if they are small.
[[nodiscard]] REWRIGHT_API std::vector<BufferId> parameters(const Program& program);

}  // namespace rewright::loop

namespace rewright::schedule {
struct Step;
}

namespace rewright {

class Target;
template <>
inline constexpr std::uint32_t kAbiVersion<Target> = 7;

class REWRIGHT_API Target {
 public:
  virtual ~Target();
  [[nodiscard]] virtual std::string name() const = 0;
  [[nodiscard]] virtual std::string summary() const = 0;
  /// The compiler's first line on itself; an error says why it cannot be used here and what to install.
  [[nodiscard]] virtual Result<std::string> version() const = 0;
  /// Source text that defines a function for each program, over pointers to its parameters, in their order. It returns
  /// 0, 1 where data lay outside of its range, or 4 where what a weight says does. Errors: kUnsupported, what it cannot
  /// write.
  [[nodiscard]] virtual Result<std::string> source(std::span<const loop::NamedProgram> programs,
                                                   const loop::TargetOptions& options) const = 0;
  /// One for each program, all out of one shared object, which stays loaded for as long as one of them lives. Programs
  /// must be valid (loop/validator.h), their names all different. Errors: kNotFound where there is no compiler,
  /// kUnsupported with its first error line where it fails or takes too long.
  [[nodiscard]] virtual Result<std::vector<std::unique_ptr<loop::CompiledProgram>>> compile(
      std::span<const loop::NamedProgram> programs, const loop::TargetOptions& options) const = 0;
  /// A program as it was lowered, its schedule applied by the target's own transforms. Errors: kUnsupported, the
  /// statement or step that it has no counterpart for; the default: it has none at all.
  [[nodiscard]] virtual Result<std::unique_ptr<loop::CompiledProgram>> compile_scheduled(
      const loop::Program& program, const std::vector<schedule::Step>& schedule,
      const loop::TargetOptions& options) const;
};

/// One program alone.
[[nodiscard]] REWRIGHT_API Result<std::unique_ptr<loop::CompiledProgram>> compile_one(
    const Target& target, const loop::Program& program, const loop::TargetOptions& options = {});

}  // namespace rewright
