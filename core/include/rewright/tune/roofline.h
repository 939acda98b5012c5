// What the machine's figures alone say of a program: the fair baseline of every predictor.
//
//   statement  the greatest of: vectors by two a cycle, shuffles too (gathers by their lanes); multiply-adds by the latency that a
//              small tile leaves open; bytes of each level by its bandwidth. Steps of loops come on top.
//   program    the sum of its statements
//
// Source  Williams, Waterman & Patterson, Roofline, CACM 2009, over cache levels as Ilic, Pratas & Sousa, IEEE CAL
// 2014.
#pragma once

#include <rewright/base/visibility.h>
#include <rewright/tune/predictor.h>

#include <string>
#include <string_view>
#include <vector>

namespace rewright::tune {

class REWRIGHT_API Roofline {
 public:
  /// `columns`: of the rows of Features::stages; those that it does not find count as 0.
  Roofline(std::vector<std::string> columns, Machine machine);
  /// In microseconds, above 0.
  [[nodiscard]] double us_of(const Features& program) const;

 private:
  [[nodiscard]] double us_of(const std::vector<double>& row) const;
  [[nodiscard]] double value(const std::vector<double>& row, std::string_view column) const;

  std::vector<std::string> columns_;
  Machine machine_;
};

}  // namespace rewright::tune
