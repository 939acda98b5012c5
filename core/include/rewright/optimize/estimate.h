// What is thought of a cost, and how sure that is.
#pragma once

namespace rewright {

/// What a kernel costs.
struct Estimate {
  double us = 0;
  double spread = 0;  ///< Standard deviation, in microseconds; 0: the figure is taken as it is.
  friend bool operator==(const Estimate&, const Estimate&) = default;
};

}  // namespace rewright
