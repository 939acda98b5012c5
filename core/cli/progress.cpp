#include "cli/progress.h"

#include <unistd.h>

#include <cstdio>

#include "cli/output.h"

namespace rewright::cli {
namespace {

using Seconds = std::chrono::duration<double>;

constexpr Seconds kPatience{2.0};
constexpr Seconds kPause{0.1};

}  // namespace

ProgressLine::ProgressLine(bool quiet) : wanted_(!quiet && isatty(STDERR_FILENO) == 1) {}

ProgressLine::~ProgressLine() { clear(); }

bool ProgressLine::begin(std::string_view what, Clock::time_point now) {
  if (!wanted_) return false;
  if (what != what_) {
    what_ = what;
    started_ = now;
  }
  return now - created_ >= kPatience && !(visible_ && now - shown_ < kPause);
}

void ProgressLine::print(const std::string& line, Clock::time_point now) {
  fmt::print(stderr, "\r\033[K{}", line);
  std::fflush(stderr);
  visible_ = true;
  shown_ = now;
}

void ProgressLine::show(std::string_view what) {
  const Clock::time_point now = Clock::now();
  if (begin(what, now)) print(fmt::format("{}, {}", what, duration(Seconds(now - started_).count())), now);
}

void ProgressLine::show(std::string_view what, std::uint64_t done, std::string_view unit,
                        std::optional<double> fraction) {
  const Clock::time_point now = Clock::now();
  if (what != what_) {
    done_at_start_ = done;
    fraction_at_start_ = fraction.value_or(0);
  }
  if (!begin(what, now)) return;
  const double elapsed = Seconds(now - started_).count();
  std::string line = fmt::format("{}: {} {}", what, with_commas(done), unit);
  if (elapsed > 0.5 && done >= done_at_start_) {
    line += fmt::format(", {} {}/s",
                        with_commas(static_cast<std::uint64_t>(static_cast<double>(done - done_at_start_) / elapsed)),
                        unit);
  }
  if (fraction) {
    line += fmt::format(", {:.0f} %", 100 * *fraction);
    const double gained = *fraction - fraction_at_start_;
    if (gained > 0.01 && elapsed > 0.5) line += fmt::format(", {} left", duration(elapsed * (1 - *fraction) / gained));
  }
  print(line, now);
}

void ProgressLine::clear() {
  if (visible_) {
    fmt::print(stderr, "\r\033[K");
    std::fflush(stderr);
  }
  visible_ = false;
  what_.clear();
}

}  // namespace rewright::cli
