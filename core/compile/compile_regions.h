// A model for ONNX Runtime in which each region that is faster as C is one operator: NAME.onnx beside libNAME_ort.so.
//
// Regions (compile/model_regions.h) are compiled, compared and measured one by one beside the runtime; one that is not
// faster stays as it is. The model with the others as operators is compared with the original and measured beside it.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "compile/compile_model.h"
#include "optimize/comparison.h"

namespace rewright::compile {

struct RegionReport {
  std::string name;  ///< Of its operator, if it is kept.
  std::size_t nodes = 0;
  VersionReport found = {};  ///< Times are medians, in the runtime: of the region's nodes, and of its operator.
  std::string reason;        ///< Why it is not kept: it cannot be compiled, differs, is not faster. Empty: it is kept.
};

struct REWRIGHT_API RegionsReport {
  std::vector<RegionReport> regions;
  std::size_t nodes = 0;  ///< Of the model, without stored tensors.
  Equivalence equivalence = {};
  std::optional<TimeComparison> times = {};  ///< The original's, and of the model with operators.
  [[nodiscard]] std::size_t kept() const;
  [[nodiscard]] std::size_t kept_nodes() const;
};

struct RegionOptions {
  /// As for each region; `folder` is for all, `name` what the regions' names begin with.
  CompileOptions compile;
  double seconds = 5;  ///< For the last comparison of times.
  /// Schedules for a region's file, which are searched if need be; may be empty.
  std::function<Result<std::vector<ScheduleRecord>>(const std::string& file)> schedules = {};
};

/// `start`: a model that computes the same at the opened model's sizes, serialized. What the folder holds is the
/// original's equal only where the report says so; nothing is written where no region is kept. Errors: as
/// compile_model; kUnsupported, weights in files.
[[nodiscard]] REWRIGHT_API Result<RegionsReport> compile_regions(const OpenedModel& model, const std::string& start,
                                                                 const Target& target, const Runtime& runtime,
                                                                 const RegionOptions& options);

}  // namespace rewright::compile
