// One line on standard error that is overwritten while something long runs.
//
// Shown only on a terminal, only once the work has taken two seconds, at most ten times a second; wiped when the
// object goes. Not for use from several threads at once.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace rewright::cli {

class ProgressLine {
 public:
  explicit ProgressLine(bool quiet);
  ~ProgressLine();
  ProgressLine(const ProgressLine&) = delete;
  ProgressLine& operator=(const ProgressLine&) = delete;

  /// "enumerate, 3 operators: 1,204,311 graphs, 210,400 graphs/s, 37 %, 12 s left".
  /// `fraction`: of the work, 0 to 1, where it is known; the time left is reckoned from it.
  void show(std::string_view what, std::uint64_t done, std::string_view unit, std::optional<double> fraction = {});
  /// "compile, 14 s": of work that is done all at once.
  void show(std::string_view what);
  /// Wipes the line; the next `what` starts counting anew.
  void clear();

 private:
  using Clock = std::chrono::steady_clock;

  /// Notes the time where `what` is another than before. False: nothing is to be printed now.
  [[nodiscard]] bool begin(std::string_view what, Clock::time_point now);
  void print(const std::string& line, Clock::time_point now);

  bool wanted_;
  bool visible_ = false;
  std::string what_;
  std::uint64_t done_at_start_ = 0;
  double fraction_at_start_ = 0;
  Clock::time_point created_ = Clock::now();
  Clock::time_point started_ = created_;
  Clock::time_point shown_;
};

}  // namespace rewright::cli
