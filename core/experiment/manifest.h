// The manifest of an experiment, experiments/NAME/experiment.toml: what is claimed, what is run to see whether it
// holds, how it is shown. The format is described in core/experiment/README.md.
#pragma once

#include <rewright/base/result.h>
#include <rewright/base/visibility.h>

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "experiment/parameters.h"

namespace rewright::experiment {

/// Parameters that every unit of a run has, and those that are swept: the units are all combinations, the last swept
/// parameter changing fastest.
struct Sweep {
  Json fixed = Json::object();
  std::vector<std::pair<std::string, Json>> each;  ///< By parameter: a list of values.
};

struct RunSpec {
  std::string name;
  std::string kind;
  Sweep full;
  std::optional<Sweep> quick;  ///< Nothing: left out of a quick run.
  Place place;
  std::map<std::string, std::size_t> lines;  ///< Where each parameter stands.
};

/// One number from the rows of a run: of those that have all of `where`, the field, taken together.
struct Selection {
  std::string run;
  std::string field;
  Json where = Json::object();
  std::string take = "only";  ///< "only", "sum", "least", "most", "mean", "geomean", "count" or
                              ///< "distinct" (values, of any type).
};

inline constexpr const char* kOwnWork = "this project";

struct Claim {
  std::string id;
  std::string claim;
  std::string source;
  std::string work;   ///< What it is taken from, a name of works.toml; kOwnWork where it is the project's own.
  std::string paper;  ///< The figure as the source has it.
  std::optional<double> paper_value;  ///< The same as a number in `unit`, to be drawn beside ours.
  std::optional<Selection> ours;
  std::optional<Selection> over;  ///< Ours is divided by it.
  /// Not empty: each of our rows is divided by the one of `over` that has the same value in this field, and the
  /// quotients are taken together.
  std::string pair;
  std::string unit;  ///< "", "s", "us", "x" or "%".
  std::optional<std::pair<double, double>> expected;
  std::optional<double> at_least;
  std::optional<double> at_most;
  std::string criterion;
  std::string because;            ///< Not empty: why it cannot be compared here.
  std::string note;               ///< What a reader should know of the outcome.
  bool quick = true;              ///< False: a quick run says nothing of it; the records that came with the program do.
  std::string not_quick;          ///< Why.
  std::vector<Claim> quick_form;  ///< One or none: what is asked of a quick run in its place.

  /// What is judged in a quick run, or in a full one.
  [[nodiscard]] const Claim& form(bool in_quick) const {
    return in_quick && !quick_form.empty() ? quick_form[0] : *this;
  }
};

/// Columns side by side; or, where `value` is not empty, one line for each value of `rows` and one column for each of
/// `across`.
struct TableSpec {
  std::string title;
  std::vector<std::string> runs;
  Json where = Json::object();
  std::vector<std::string> columns;
  std::string rows, across, value;
  bool in_readme = true;  ///< Otherwise on the page of the report alone.
};

struct PlotSpec {
  enum class Kind { kLines, kBars, kHeat };
  std::string title;
  Kind kind = Kind::kLines;
  std::vector<std::string> runs;
  Json where = Json::object();
  std::string x, y, series;         ///< Lines: a series for each value of that field; steps where `steps`.
  std::string rows, across, value;  ///< Heat map. Bars: `rows` names them, `value` is their length.
  bool log_x = false, log_y = false, steps = false;
};

struct Manifest {
  std::string name;  ///< Of its folder.
  std::string folder;
  std::string title;
  std::string question;
  double minutes = 0;  ///< Rough time of a full run on two cores.
  std::vector<RunSpec> runs;
  std::vector<Claim> claims;
  std::vector<TableSpec> tables;
  std::vector<PlotSpec> plots;
};

/// Errors: "FILE:LINE:COLUMN: SENTENCE" for what is misspelt, missing or of the wrong type; runs that nobody has.
[[nodiscard]] REWRIGHT_API Result<Manifest> load_manifest(const std::string& file);
/// Of the folder's experiments, by name. Errors: a folder without any; a manifest that cannot be read.
[[nodiscard]] REWRIGHT_API Result<std::vector<Manifest>> load_manifests(const std::string& folder);

/// A paper or thesis that claims are taken from.
struct Work {
  std::string name;  ///< What a claim's `work` says.
  std::string title;
  std::string by;  ///< Authors, place, year.
};
/// FOLDER/works.toml, in its order; none where there is no such file. Errors: "FILE:LINE:COLUMN: SENTENCE".
[[nodiscard]] REWRIGHT_API Result<std::vector<Work>> load_works(const std::string& folder);

/// Results that came with the manifest: those of a full run, "../results/NAME/results.jsonl" from its folder.
[[nodiscard]] REWRIGHT_API std::string records_folder(const Manifest& manifest);

struct UnitSpec {
  std::size_t run = 0;  ///< Position among the manifest's runs.
  Json parameters;
};
/// What is to be done, in order.
[[nodiscard]] REWRIGHT_API std::vector<UnitSpec> units_of(const Manifest& manifest, bool quick);

}  // namespace rewright::experiment
