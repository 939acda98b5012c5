// Doing an experiment: its units one after the other, each kept as soon as it is done.
#pragma once

#include <rewright/base/result.h>
#include <rewright/base/visibility.h>

#include <functional>
#include <map>
#include <string>

#include "experiment/findings.h"
#include "experiment/kind.h"
#include "experiment/manifest.h"

namespace rewright::experiment {

struct RunExperiment {
  std::string folder;  ///< Of the experiment's results; made if it is not there.
  bool quick = false;
  bool fresh = false;      ///< Do everything again.
  bool any_build = false;  ///< What another build of the program has done counts as done.
  /// What would be measured is taken from records_folder(), and so is, unless `fresh`, what was computed from the files
  /// as they are. Nothing is measured.
  bool from_records = false;
  std::string git;  ///< Of the source tree, for the record.
  Lab lab;          ///< Without `work` and `progress`.
  /// Units done, units in all, what is being done, how much of it.
  std::function<void(std::size_t, std::size_t, const std::string&, double)> progress;
};

struct RunOutcome {
  std::size_t done = 0;      ///< Units, now.
  std::size_t known = 0;     ///< Done before.
  std::size_t recorded = 0;  ///< Taken from records, now.
  bool stopped = false;
  std::map<std::string, std::string> missing;  ///< By run: why it cannot be done here.
  ResultFile results;
};

/// All parameters are looked at before anything is done. Errors: of a manifest, of a unit (what was done before it is
/// kept), of the disk.
[[nodiscard]] REWRIGHT_API Result<RunOutcome> run_experiment(const Manifest& manifest, const RunExperiment& options);

/// results.md, claims.json, table-N.csv, plot-N.svg, beside results.jsonl.
REWRIGHT_API Status write_outputs(const Findings& findings, const std::string& folder);
/// The claims for machines: id, claim, source, paper, ours, verdict, because, value, criterion.
[[nodiscard]] REWRIGHT_API Json claims_json(const Findings& findings);

}  // namespace rewright::experiment
