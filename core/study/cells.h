// What became of a study's cells: a JSON object a line, added when a cell is done, so that a study that was stopped
// goes on where it was.
//
//   {"cell": "cifar_resnet18, zeros, direct, 1 thread, one-shot", "model": HASH, "state": "ok", "us": ..., ...}
//
// States  ok           compared with the original in double precision, and equal
//         unsupported  the algorithm fits no node of it, or there is no such network: `why`
//         unequal      compared, and not equal: `why`
//         crashed      the process that compiled or ran it did not end by itself: `why`
//         over budget  it took longer than the plan lets it
//         failed       anything else: `why`
#pragma once

#include <rewright/base/result.h>
#include <rewright/base/visibility.h>

#include <nlohmann/json.hpp>

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "study/plan.h"

namespace rewright::study {

using Json = nlohmann::ordered_json;

struct CellResult {
  std::string cell;   ///< to_string(plan, cell).
  std::string model;  ///< Hash of the file that was compiled; empty: there is none.
  std::string state;
  std::string why = {};
  double seconds = 0;                                  ///< That it took.
  std::optional<double> us = {}, onnxruntime_us = {};  ///< Of a run.
  std::optional<double> limit_us = {};                 ///< Of its kernels, by this machine's measured peaks.
  std::optional<double> max_abs_error = {};            ///< Against double precision, of the compressed network.
  std::optional<double> peak_bytes = {};
  Json profile = Json::array();  ///< Kernels: result, us, limit_us.
  [[nodiscard]] bool is_ok() const { return state == "ok"; }
};

/// Reads those that were kept; a last line that was cut off is as if it were not there. None: there is no file. Errors:
/// FILE:LINE: what is wrong.
[[nodiscard]] REWRIGHT_API Result<std::vector<CellResult>> read_cells(const std::string& file);
/// Errors: kIo.
REWRIGHT_API Status add_cell(const std::string& file, const CellResult& result);

/// A cell among others.
struct Standing {
  std::optional<double> expected;  ///< Times as fast as dense, if time went with the multiply-adds that are left.
  std::optional<double> achieved;  ///< By the network's fastest dense cell of as many threads.
};
/// `left`: of a network's multiply-adds, by "NETWORK, COMPRESSION"; the share that is not 0, where weights have zeros.
[[nodiscard]] REWRIGHT_API std::map<std::string, Standing> standings(const Plan& plan,
                                                                     const std::vector<CellResult>& results,
                                                                     const std::map<std::string, double>& left);

}  // namespace rewright::study
