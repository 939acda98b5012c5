// What cancelling leaves, where no variables are bound around it: real numbers under maxima and quotients.
//
//   sigmoid(a) = e^a / (1 + e^a), tanh(a) = (e^2a - 1) / (e^2a + 1)
//   n = 0 if n s = 0                     for a quotient 1/s in n whose s is above 0
//   max{a, b} is a where a >= b, b where b > a: both cases are proved. A case that the signs exclude is none.
#pragma once

#include <vector>

#include "theorem/matching.h"
#include "theorem/sums.h"

namespace rewright::theorem {

class Finish {
 public:
  Finish(Sums& sums, Matching& matching) : sums_(sums), matching_(matching) {}

  [[nodiscard]] bool is_zero(const Sum& sum) { return is_zero(sum, 0); }

 private:
  /// value >= 0, or value > 0.
  struct Sign {
    Sum value;
    bool is_strict = false;
  };

  [[nodiscard]] bool is_zero(const Sum& sum, int depth);
  [[nodiscard]] Sum expanded(const Sum& sum);
  [[nodiscard]] std::optional<Sum> without_quotient(const Sum& sum);
  [[nodiscard]] bool excluded() const;
  [[nodiscard]] bool follows(const Sum& rest);
  /// The sum with every maximum of this key put as one of its branches.
  [[nodiscard]] Sum replaced(const Sum& sum, const std::string& key, const Sum& by);

  Sums& sums_;
  Matching& matching_;
  std::vector<Sign> signs_;
};

}  // namespace rewright::theorem
