// What the program ends with.
#pragma once

namespace rewright::cli {

/// What the shell sees. Documented in `rewright --help`.
enum class ExitCode : int {
  kDone = 0,
  kNegative = 1,  ///< Done, and the answer is no: a rule refuted, a claim not reproduced, graphs not equal.
  kBadInput = 2,  ///< Wrong usage or bad input; nothing was changed.
  kStopped = 3,   ///< Stopped before the end; can be resumed.
  kOwnFault = 4,
};

}  // namespace rewright::cli
