// A study as one page: what became of each cell, how much faster than dense it is, and what time costs in error.
#pragma once

#include <rewright/base/visibility.h>

#include <optional>
#include <string>
#include <vector>

namespace rewright {

/// What makes one result, in a network.
struct StudyLayer {
  std::string name;
  double us = 0;                        ///< Among the others.
  std::optional<double> alone_us = {};  ///< Of a network of its convolution alone.
};
struct StudyCell {
  std::string state;     ///< "ok", "unsupported", ...
  std::string why = {};  ///< Of others than "ok": a sentence.
  std::optional<double> us = {}, onnxruntime_us = {}, peak_bytes = {};
  std::optional<double> achieved = {}, expected = {};  ///< Times as fast as dense.
  std::optional<double> of_limit = {};                 ///< The time that the machine allows, by its own.
  std::vector<StudyLayer> layers = {};
};
struct StudyRow {
  std::string network, compression;
  std::string setting = {};           ///< Threads and schedules, where there are several.
  std::optional<double> error = {};   ///< Of its outputs, by the greatest of the original's.
  std::vector<StudyCell> cells = {};  ///< By column.
};
struct StudyReport {
  std::string title;
  std::string machine = {};
  std::vector<std::string> columns = {};  ///< Algorithms.
  std::vector<StudyRow> rows = {};
};
/// A page that needs no other file.
[[nodiscard]] REWRIGHT_API std::string study_html(const StudyReport& report);

}  // namespace rewright
