// What `rewright compile` is asked for, and a model up to where its kernels are made: rewritten by rules, its schedules
// searched, opened at its sizes, as is asked for.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "cli/arguments.h"
#include "cli/program.h"
#include "compile/artefact_version.h"
#include "optimize/model_run.h"

namespace rewright::cli {

struct CompileArguments {
  std::string model;
  std::string folder;
  std::vector<std::string> dims, open;
  std::string target = "c";
  std::string dialect = "vectors";
  int threads = 1;
  std::string runtime = "onnxruntime";
  std::vector<std::string> inputs;
  int seconds = 300;
  bool force = false;
  bool simplify = false;  ///< The default; so that it can be said.
  bool as_it_is = false;
  bool measure = false;
  bool regions = false;
  std::string records;
  int effort = 0;
  std::string optimize = "no";
  std::string fuse;  ///< A cost model, or none.
  std::vector<std::string> fuse_options;
  std::string algorithm;                ///< By which all nodes that it fits are computed; empty: by none.
  std::vector<std::string> algorithms;  ///< That nodes may be computed by; "all".
  std::string report;                   ///< A page; empty: none.
  int in_context = 0;  ///< Schedules of each kernel that are tried among the others; 0: the best alone is taken.
};

/// Where schedules are: what was said, or the user's cache where some are to be found. Empty: there are none.
[[nodiscard]] Result<std::string> records_of(const CompileArguments& arguments);

/// The greater the effort, the more schedules of each kernel are tried first, those first that promise most, until the
/// time is over; those of earlier runs count.
Status search_schedules(const Settings& settings, const CompileArguments& arguments, const std::string& model,
                        const std::string& records);

/// A model at its sizes, as it is compiled.
struct Version {
  compile::OpenSizes sizes;
  ModelSource source;
  std::optional<OpenedModel> opened = {};
  std::size_t rewrites = 0;
  std::string rewritten = {};  ///< The model after them.
};

[[nodiscard]] Result<ModelSource> read_source(const CompileArguments& arguments);
[[nodiscard]] Result<Version> read_version(const CompileArguments& arguments);
/// Rewritten, tuned and opened, as is asked for.
Status prepare(const Settings& settings, CompileArguments arguments, const Registry& registry, const Runtime& runtime,
               const std::string& records, const std::string& rewritten_model, Version& version);
/// The model that regions are taken of, at fixed sizes: rewritten or simplified, as is asked for.
[[nodiscard]] Result<std::string> start_of(const CompileArguments& arguments, const Version& version);

}  // namespace rewright::cli
