#include "experiment/findings.h"

#include <algorithm>
#include <cmath>
#include <set>

#include "report/plot.h"

namespace rewright::experiment {
namespace {

std::optional<double> number_in(const Json& row, const std::string& field) {
  const auto found = row.find(field);
  if (found == row.end()) return std::nullopt;
  if (found->is_boolean()) return found->get<bool>() ? 1.0 : 0.0;
  if (!found->is_number()) return std::nullopt;
  return found->get<double>();
}

std::optional<double> figure_in(const Json& row, const Selection& selection) {
  return selection.field.empty() ? std::optional(1.0) : number_in(row, selection.field);
}

/// The figures of our rows; where the claim pairs them, each divided by that of its partner. Errors: kMismatch, it has
/// several.
Result<std::vector<double>> values_of(const Findings& findings, const Selection& selection, const Claim& claim) {
  std::vector<double> values;
  const bool paired = !claim.pair.empty() && claim.over;
  const auto partners =
      paired ? rows_where(findings, {claim.over->run}, claim.over->where) : std::vector<const Json*>();
  for (const Json* row : rows_where(findings, {selection.run}, selection.where)) {
    auto value = figure_in(*row, selection);
    if (paired && value) {
      const auto is_partner = [&](const Json* other) {
        return row->contains(claim.pair) && other->contains(claim.pair) && row->at(claim.pair) == other->at(claim.pair);
      };
      const auto partner = std::ranges::find_if(partners, is_partner);
      if (std::ranges::count_if(partners, is_partner) > 1)
        return make_error(ErrorCode::kMismatch,
                          "{}: the claim '{}' pairs rows by '{}', and run '{}' has several where it is {}: say more in "
                          "'where', or leave 'pair' out",
                          findings.manifest->folder, claim.id, claim.pair, claim.over->run, row->at(claim.pair).dump());
      const auto divisor = partner == partners.end() ? std::nullopt : figure_in(**partner, *claim.over);
      value = divisor && *divisor != 0 ? std::optional(*value / *divisor) : std::nullopt;
    }
    if (value) values.push_back(*value);
  }
  return values;
}

double distinct_values(const Findings& findings, const Selection& selection) {
  std::set<std::string> values;
  for (const Json* row : rows_where(findings, {selection.run}, selection.where))
    if (row->contains(selection.field)) values.insert(row->at(selection.field).dump());
  return static_cast<double>(values.size());
}

Result<std::optional<double>> value_of(const Findings& findings, const Selection& selection, const Claim& claim) {
  if (selection.take == "distinct") return std::optional(distinct_values(findings, selection));
  REWRIGHT_TRY(const std::vector<double> values, values_of(findings, selection, claim));
  if (selection.take == "count") return std::optional(static_cast<double>(values.size()));
  if (values.empty()) return std::optional<double>();
  if (selection.take == "only") {
    if (values.size() == 1) return std::optional(values.front());
    return make_error(ErrorCode::kMismatch,
                      "{}: the claim '{}' takes the only '{}' of run '{}', and there are {}: say more in 'where', or "
                      "choose another 'take'",
                      findings.manifest->folder, claim.id, selection.field, selection.run, values.size());
  }
  double sum = 0, logs = 0;
  for (const double value : values) {
    sum += value;
    logs += std::log(value);
  }
  const auto count = static_cast<double>(values.size());
  if (selection.take == "sum") return std::optional(sum);
  if (selection.take == "mean") return std::optional(sum / count);
  if (selection.take == "geomean") return std::optional(std::exp(logs / count));
  return std::optional(selection.take == "least" ? *std::ranges::min_element(values)
                                                 : *std::ranges::max_element(values));
}

std::string figure_text(double value, const std::string& unit) {
  if (unit == "s") return value_text("seconds", value);
  if (unit == "us") return value_text("best_us", value);
  if (unit == "x") return fmt::format("{:.2f}x", value);
  if (unit == "%") return fmt::format("{:.1f} %", value);
  if (unit == "yes" && (value == 0 || value == 1)) return value == 1 ? "yes" : "no";
  return plot::number_text(value, 4);
}

/// Is everything there that the claim's figures are taken from? If not: why.
std::optional<std::string> lacking(const Claim& claim, const std::map<std::string, std::size_t>& open,
                                   const std::map<std::string, std::string>& missing, bool quick, bool& not_here) {
  for (const std::optional<Selection>* selection : {&claim.ours, &claim.over}) {
    if (!*selection) continue;
    const std::string& run = (*selection)->run;
    const auto reason = missing.find(run);
    if (reason != missing.end()) {
      not_here = true;
      return reason->second;
    }
    const auto left = open.find(run);
    if (left == open.end()) return fmt::format("the run '{}' is left out {}", run, quick ? "with --quick" : "");
    if (left->second == 1) return fmt::format("1 unit of the run '{}' is still to be done", run);
    if (left->second > 1) return fmt::format("{} units of the run '{}' are still to be done", left->second, run);
  }
  return std::nullopt;
}

Result<ClaimFinding> judge(const Findings& findings, const Claim& claim, const std::map<std::string, std::size_t>& open,
                           const std::map<std::string, std::string>& missing) {
  ClaimFinding finding;
  finding.claim = &claim;
  finding.ours = "-";
  bool not_here = false;
  if (findings.quick && !claim.quick) {
    finding.because = claim.not_quick;
  } else if (const auto why = lacking(claim, open, missing, findings.quick, not_here)) {
    finding.because = *why;
    finding.answer = not_here ? Answer::kNotComparable : Answer::kNotRun;
  } else if (claim.ours) {
    REWRIGHT_TRY(finding.value, value_of(findings, *claim.ours, claim));
    if (claim.over && claim.pair.empty() && finding.value) {
      REWRIGHT_TRY(const std::optional<double> divisor, value_of(findings, *claim.over, claim));
      finding.value = divisor && *divisor != 0 ? std::optional(*finding.value / *divisor) : std::nullopt;
    }
    if (finding.value) finding.ours = figure_text(*finding.value, claim.unit);
    if (!finding.value) {
      finding.because = findings.quick ? "--quick has no such figure" : "no such figure was measured";
    } else {
      const bool holds = (!claim.at_least || *finding.value >= *claim.at_least) &&
                         (!claim.at_most || *finding.value <= *claim.at_most);
      finding.answer = holds ? Answer::kReproduced : Answer::kNotReproduced;
      finding.unexpected =
          claim.expected && (*finding.value < claim.expected->first || *finding.value > claim.expected->second);
    }
  }
  if (!claim.because.empty()) {
    finding.answer = Answer::kNotComparable;
    finding.because = claim.because;
  }
  return finding;
}

}  // namespace

const char* name_of(Answer answer) {
  switch (answer) {
    case Answer::kReproduced: return "reproduced";
    case Answer::kNotReproduced: return "not reproduced";
    case Answer::kNotComparable: return "not comparable here";
    case Answer::kNotRun: break;
  }
  return "not run";
}

std::string ClaimFinding::verdict() const {
  if (!recorded.empty()) return fmt::format("{} in the records of {}, because {}", name_of(answer), recorded, because);
  if (because.empty()) return name_of(answer);
  return fmt::format("{}, because {}", name_of(answer), because);
}

bool Findings::all_claims_hold() const {
  return std::ranges::none_of(claims, [](const ClaimFinding& claim) {
    return claim.answer == Answer::kNotReproduced && claim.recorded.empty();
  });
}

std::vector<const Json*> rows_where(const Findings& findings, const std::vector<std::string>& runs, const Json& where) {
  std::vector<const Json*> chosen;
  for (const std::string& run : runs) {
    const auto rows = findings.rows.find(run);
    if (rows == findings.rows.end()) continue;
    for (const Json& row : rows->second) {
      const auto& wanted = where.items();
      const bool fits = std::all_of(wanted.begin(), wanted.end(), [&](const auto& entry) {
        const auto found = row.find(entry.key());
        return found != row.end() && *found == entry.value();
      });
      if (fits) chosen.push_back(&row);
    }
  }
  return chosen;
}

Result<Findings> findings_of(const Manifest& manifest, const ResultFile& results, bool quick,
                             const std::map<std::string, std::string>& missing, const ResultFile* records) {
  Findings findings;
  findings.manifest = &manifest;
  findings.quick = quick;
  std::map<std::string, std::size_t> open;
  std::set<std::string> settings;
  for (const UnitSpec& unit : units_of(manifest, quick)) {
    const RunSpec& run = manifest.runs[unit.run];
    ++findings.total;
    std::size_t& left = open[run.name];
    const UnitResult* result = results.find(manifest, unit);
    if (result == nullptr) {
      ++left;
      continue;
    }
    ++findings.done;
    findings.seconds += result->seconds;
    if (const Json* setting = results.setting(result->setting);
        setting != nullptr && settings.insert(result->setting).second)
      findings.settings.push_back(*setting);
    if (findings.first_date.empty() || result->date < findings.first_date) findings.first_date = result->date;
    findings.last_date = std::max(findings.last_date, result->date);
    findings.drawings.insert(findings.drawings.end(), result->drawings.begin(), result->drawings.end());
    for (const Json& row : result->rows) {
      Json& kept = findings.rows[run.name].emplace_back(row);
      for (const auto& [key, values] : (quick ? *run.quick : run.full).each)
        if (!kept.contains(key) && unit.parameters.at(key).is_primitive()) kept[key] = unit.parameters.at(key);
    }
  }
  for (const Claim& claim : manifest.claims) {
    REWRIGHT_TRY(ClaimFinding finding, judge(findings, claim.form(quick), open, missing));
    findings.claims.push_back(std::move(finding));
  }
  if (quick && records != nullptr) {
    REWRIGHT_TRY(const Findings full, findings_of(manifest, *records, false));
    for (std::size_t i = 0; i < findings.claims.size(); ++i) {
      ClaimFinding& claim = findings.claims[i];
      if (claim.claim->quick || claim.answer != Answer::kNotRun || full.claims[i].answer == Answer::kNotRun) continue;
      const std::string why = claim.claim->not_quick;
      claim = full.claims[i];
      std::string date;
      for (const UnitResult& unit : records->units)
        if (claim.claim->ours && unit.run == claim.claim->ours->run) date = std::max(date, unit.date);
      claim.recorded = date.substr(0, 10);
      claim.because = why;
    }
  }
  return findings;
}

}  // namespace rewright::experiment
