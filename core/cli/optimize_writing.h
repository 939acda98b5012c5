// What `rewright optimize` writes, also where an interrupt leaves no time for more.
#pragma once

#include <rewright/base/result.h>

#include <cstdint>
#include <mutex>
#include <optional>
#include <string>

#include "cli/model_files.h"
#include "cli/optimize_arguments.h"
#include "cli/program.h"
#include "optimize/optimizer.h"

namespace rewright::cli {

/// The work and the thread that overtakes it share it. Borrows both.
class Writing {
 public:
  Writing(const OptimizeArguments& arguments, const Settings& settings) : arguments_(arguments), settings_(settings) {}

  /// From now on there is a model that can be written as it is.
  void has_read(ModelFiles files);
  /// `candidates`: what the search was limited to; 0: nothing.
  void has_found(const OptimizeReport& report, std::uint64_t candidates);
  /// Errors: kIo.
  Status write(const std::string& model);
  /// The original, unless a model is written. Nothing is written after it.
  void overtake();

 private:
  void say_what_was_written(bool is_original) const;
  [[nodiscard]] std::string how_to_go_on() const;

  const OptimizeArguments& arguments_;
  const Settings& settings_;
  std::mutex mutex_;
  std::optional<ModelFiles> files_;
  double gain_ = 1;
  double searched_s_ = 0;
  std::uint64_t candidates_ = 0;
  bool is_written_ = false;
};

}  // namespace rewright::cli
