// What was measured: results.jsonl, one JSON object a line.
//
//   {"record": "setting", "id": ..., "machine": {...}, "program": ..., "git": ..., "library": ..., "plugins": {...}}
//   {"record": "unit", "run": ..., "kind": ..., "key": ..., "parameters": {...}, "setting": ..., "date": ...,
//    "seconds": ..., "cpu_seconds": ..., "drawings": [...], "rows": [...]}
//
// A unit's key is a hash of its kind, its parameters, the files that it reads and the program's build: what has the
// same key is not done again.
#pragma once

#include <rewright/base/result.h>
#include <rewright/base/visibility.h>
#include <rewright/plugin/registry.h>

#include <string>
#include <vector>

#include "experiment/manifest.h"

namespace rewright::experiment {

struct UnitResult {
  std::string run, kind, key, setting, date;
  Json parameters;
  double seconds = 0;
  double cpu_seconds = 0;
  std::vector<std::pair<std::string, std::string>> drawings;  ///< File name and title.
  std::vector<Json> rows;
};

struct REWRIGHT_API ResultFile {
  std::vector<Json> settings;
  std::vector<UnitResult> units;  ///< In the order in which they were done.

  /// The newest result with these parameters, of any build; or null.
  [[nodiscard]] const UnitResult* find(const Manifest& manifest, const UnitSpec& unit) const;
  [[nodiscard]] const Json* setting(const std::string& id) const;
};

/// An empty one where there is no file. Errors: FILE:LINE: what is wrong.
[[nodiscard]] REWRIGHT_API Result<ResultFile> read_results(const std::string& file);
/// The whole file, under a temporary name first.
REWRIGHT_API Status write_results(const std::string& file, const ResultFile& results);

/// Machine, program and plugins. `git`: of the source tree, "" where it is not known.
[[nodiscard]] Json setting_of(const Registry& registry, const std::string& git);
/// "2026-11-22T02:31:07Z".
[[nodiscard]] std::string now_text();
/// Errors: a file that cannot be read.
[[nodiscard]] Result<std::string> key_of(const std::string& kind, const Json& parameters,
                                         const std::vector<std::string>& files, const std::string& build);

}  // namespace rewright::experiment
