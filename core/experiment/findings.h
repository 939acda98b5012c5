// From rows of figures to answers: what each claim's figure is here, whether it holds, and the tables.
#pragma once

#include <rewright/base/result.h>
#include <rewright/base/visibility.h>

#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "experiment/manifest.h"
#include "experiment/results.h"

namespace rewright::experiment {

enum class Answer { kReproduced, kNotReproduced, kNotComparable, kNotRun };
/// "reproduced", "not reproduced", "not comparable here", "not run".
[[nodiscard]] REWRIGHT_API const char* name_of(Answer answer);

struct REWRIGHT_API ClaimFinding {
  const Claim* claim = nullptr;
  Answer answer = Answer::kNotRun;
  std::optional<double> value;
  std::string ours;     ///< As text; "-" where there is none.
  std::string because;  ///< Not comparable, not run: why.
  bool unexpected = false;
  std::string recorded;  ///< Not empty: it is not of this run, but of the records of that day.

  /// "reproduced", "not comparable here, because ...".
  [[nodiscard]] std::string verdict() const;
};

struct REWRIGHT_API Findings {
  const Manifest* manifest = nullptr;
  bool quick = false;
  std::map<std::string, std::vector<Json>> rows;  ///< By run, in the order of its units, with what was swept.
  std::vector<std::pair<std::string, std::string>> drawings;  ///< File name and title.
  std::vector<ClaimFinding> claims;
  std::size_t done = 0, total = 0;  ///< Units.
  double seconds = 0;
  std::vector<Json> settings;
  std::string first_date, last_date;

  [[nodiscard]] bool all_claims_hold() const;
};

/// `missing`: by run, why it cannot be done here. `records`: of a full run, for claims of which a quick run says
/// nothing. Errors: a claim that asks for one row and finds several.
[[nodiscard]] REWRIGHT_API Result<Findings> findings_of(const Manifest& manifest, const ResultFile& results, bool quick,
                                                        const std::map<std::string, std::string>& missing = {},
                                                        const ResultFile* records = nullptr);

/// Rows of these runs that have all of `where`.
[[nodiscard]] REWRIGHT_API std::vector<const Json*> rows_where(const Findings& findings,
                                                               const std::vector<std::string>& runs, const Json& where);

struct ShownTable {
  std::string title;
  std::vector<std::string> header;
  std::vector<std::vector<std::string>> cells;  ///< For people.
  std::vector<std::vector<std::string>> raw;    ///< For machines.
  std::vector<bool> to_the_right;               ///< By column.
};
[[nodiscard]] REWRIGHT_API ShownTable shown(const Findings& findings, const TableSpec& table);
/// Claim, source, the paper's figure, ours, the verdict with its note.
[[nodiscard]] REWRIGHT_API ShownTable claims_table(const Findings& findings);
/// By what they are taken from, in the order of `works`, those of no work of the list and the project's own last: work,
/// experiment, claim, the paper's figure, ours, the answer.
[[nodiscard]] REWRIGHT_API ShownTable overview(std::span<const Findings> all, std::span<const Work> works);

[[nodiscard]] REWRIGHT_API std::string markdown(const ShownTable& table);
[[nodiscard]] REWRIGHT_API std::string csv(const ShownTable& table);
/// A field's value for people: "12.5 ms" of best_us, "3.1 s" of seconds, "1.25x" of gain.
[[nodiscard]] std::string value_text(const std::string& field, const Json& value);
/// Of a "setting" record; "unknown" where the source tree was no checkout.
[[nodiscard]] std::string commit_of(const Json& setting);
/// "cost before" of cost_before_us.
[[nodiscard]] std::string words(std::string field);

struct Plotted {
  std::string title;
  std::string svg;   ///< For a file.
  std::string html;  ///< For a page: one drawing for a desk, one for a phone.
};
/// The plots of the manifest that have something to show.
[[nodiscard]] std::vector<Plotted> plots_of(const Findings& findings);

enum class Tables { kAll, kReadme };  ///< kReadme: without tables that say `readme = false`.
/// Claims, tables and where they come from, as Markdown.
[[nodiscard]] REWRIGHT_API std::string markdown(const Findings& findings, Tables which = Tables::kAll);

/// The text with what stands between the lines "<!-- NAME: begin ... -->" and "<!-- NAME: end -->" replaced. Errors:
/// kNotFound where they are not there.
[[nodiscard]] REWRIGHT_API Result<std::string> with_section(const std::string& text, const std::string& name,
                                                            const std::string& content);

}  // namespace rewright::experiment
