// Generators: plugins that write schedules for a program down, without a search: rules of their own beside those of
// rewright tune.
//
// A schedule may leave choices open (core/schedule/schedule_space.h): a rule for a kind of programs then gives one
// schedule with knobs, and a tuner fills them in. What a generator writes is applied like any other schedule, so that
// it cannot change what is computed.
#pragma once

#include <rewright/base/abi.h>
#include <rewright/base/result.h>
#include <rewright/base/visibility.h>
#include <rewright/loop/loop_program.h>
#include <rewright/tune/machine.h>

#include <cstdint>
#include <string>
#include <vector>

namespace rewright {

class Generator;
template <>
inline constexpr std::uint32_t kAbiVersion<Generator> = 2;

class REWRIGHT_API Generator {
 public:
  virtual ~Generator();
  [[nodiscard]] virtual std::string name() const = 0;
  [[nodiscard]] virtual std::string summary() const = 0;
  /// Texts of schedules, with knobs or without, for a program without a schedule whose sizes are numbers; the best
  /// first, the same each time. None: it has no rule for such a program.
  [[nodiscard]] virtual std::vector<std::string> schedules(const loop::Program& program,
                                                           const tune::Machine& machine) const = 0;
  /// Sentences on what could not be done for it as the generator would, and what it does instead: a cache that is too
  /// small, a programme without a solution, a solver at its limit. None where all went well.
  [[nodiscard]] virtual std::vector<std::string> notes(const loop::Program& program,
                                                       const tune::Machine& machine) const;
};

}  // namespace rewright
