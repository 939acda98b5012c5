// A model from ONNX to C that computes the same: kernels, artefact, and the comparison before it is handed over.
//
// The artefact is written, built from what was written and run as its user would run it; the equivalence gate
// (optimize/equivalence.h) compares it with the original in a runtime and in double precision.
#pragma once

#include <rewright/onnx/runtime.h>
#include <rewright/optimize/cost.h>

#include <functional>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "compile/node_algorithms.h"
#include "compile/artefact.h"
#include "compile/kernel_profile.h"
#include "compile/network_tasks.h"
#include "optimize/comparison.h"
#include "optimize/model_run.h"
#include "store/schedule_records.h"

namespace rewright::compile {

struct CompileOptions {
  std::string name;             ///< As artefact_name gives it.
  std::string folder;           ///< An empty one, that the artefact is written into;
  std::string built;            ///< and one for what is built of it and its runs.
  std::string dialect = "c11";  ///< As tune::instruction_set reads it.
  int threads = 1;              ///< That a run uses, the caller's among them.
  bool measure = false;         ///< Time the artefact, its kernels and the runtime.
  int seconds = 300;            ///< For the compiler, and for a run.
  std::vector<ScheduleRecord> records =
      {};                      ///< Of which each kernel takes its best; others are scheduled by one_shot().
  Ranks ranks = {};            ///< Of kernels that do not take their best record (compile/network_tasks.h).
  Algorithms algorithms = {};  ///< By which nodes are computed.
  std::set<Port> stored = {};  ///< Results that no kernel keeps to itself (compile/grouping.h): of one version.
  /// Whose kernels are measured too, and added up: those of the compiled graph, of one version. May be null.
  CostModel* beside = nullptr;
  /// Called with what is done next: "compile". False: it is not to be done.
  std::function<bool(const std::string&)> goes_on = {};
};

/// Times that differ by no more are the same.
inline constexpr double kTie = 0.03;

/// A model at the sizes that a version is for. Borrows it.
struct OpenedVersion {
  const OpenedModel* model;
  OpenSizes sizes = {};  ///< Of those that stay open.
};

struct VersionReport {
  OpenSizes sizes;
  std::size_t kernels = 0;
  Equivalence equivalence = {};
  /// Least times, where they were measured: on as many threads, in turn.
  std::optional<double> ours_us = {}, runtime_us = {};
  /// Of the runtime's time by ours: the median of those of each turn, and the interval in which it lies by 95 %.
  std::optional<RatioSpread> turns = {};
  /// Of the runtime's time by ours: above 1, ours is faster.
  [[nodiscard]] double runtime_by_ours() const { return *runtime_us / *ours_us; }
  [[nodiscard]] bool is_slower() const { return ours_us && runtime_by_ours() < 1 - kTie; }
};

struct REWRIGHT_API CompileReport {
  Artefact artefact;
  std::size_t rewrites = 0;               ///< By rules, before.
  std::vector<NotCompiled> not_compiled;  ///< There is no artefact where there is one.
  std::vector<VersionReport> versions;    ///< Up to the first that is not equal.
  int threads = 1;
  double measuring_s = 0;           ///< How long that took.
  std::string runtime;              ///< "ONNX Runtime 1.30.0".
  std::optional<double> beside_us;  ///< What the kernels of CompileOptions::beside take, where it has all.
  std::string beside;               ///< "oneDNN 2.6.0, one thread, ...".
  /// What a run adds to its process at most: weights, inputs and outputs as well. Of an artefact with one version,
  /// where the system tells.
  std::optional<std::int64_t> ours_peak_bytes, runtime_peak_bytes;
  std::vector<KernelTime> profile;  ///< By call, where it was measured: of an artefact with one version.
  /// Times a run again, in us: of an artefact with one version that was measured, whose code lies where it was built.
  std::function<Result<double>()> time_again;
  [[nodiscard]] bool equal() const;
  /// Of which the least can be said: not equal, or the slowest beside the runtime.
  [[nodiscard]] const VersionReport& worst() const;
};

/// What becomes of a model in one of several ways to rewrite it.
struct WayToCompile {
  std::string name;
  CompileReport report;
  double us = 0;          ///< Least time.
  RatioSpread gain = {};  ///< The time of the first way by its own, of the same turn: the median, and its interval.
};
/// Times artefacts as wholes, in turn: kMeasurements turns. Those that cannot be timed again keep the times that they
/// were measured with, and a gain without an interval. Errors: as ArtefactSession::measure.
[[nodiscard]] REWRIGHT_API Status time_in_turn(std::span<WayToCompile> ways, const std::function<bool()>& goes_on);

/// What the folder holds is the original's equal, in all versions, only where the report says so; only then is it
/// measured. Errors: of the target, the compiler, the runtime, kIo; kBudget, it does not go on; kInternal where
/// definitions give no valid loops.
[[nodiscard]] REWRIGHT_API Result<CompileReport> compile_model(std::span<const OpenedVersion> versions,
                                                               const Target& target, const Runtime& runtime,
                                                               const CompileOptions& options);

}  // namespace rewright::compile
