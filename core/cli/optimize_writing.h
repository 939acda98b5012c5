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
  /// The best of an interrupted search, before it is compared.
  void has_candidate(std::string model);
  /// Errors: kIo.
  Status write(const std::string& model);
  /// The original, unless a model is written, and the candidate beside it. Nothing is written after it.
  void overtake();

 private:
  [[nodiscard]] bool write_candidate() const;
  void say_what_was_written(bool is_original, bool is_kept) const;
  [[nodiscard]] std::string how_to_go_on() const;

  const OptimizeArguments& arguments_;
  const Settings& settings_;
  std::mutex mutex_;
  std::optional<ModelFiles> files_;
  std::string candidate_;  ///< Empty: there is none.
  double gain_ = 1;
  double searched_s_ = 0;
  std::uint64_t candidates_ = 0;
  bool is_written_ = false;
};

}  // namespace rewright::cli
