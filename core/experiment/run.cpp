#include "experiment/run.h"

#include <algorithm>
#include <filesystem>

#include "base/files.h"
#include "experiment/kinds/clock.h"
#include "report/plot.h"

namespace rewright::experiment {
namespace {

namespace fs = std::filesystem;

struct PlannedUnit {
  const RunSpec* run = nullptr;
  const UnitSpec* spec = nullptr;
  Job job;
  std::vector<std::string> files;  ///< That it reads.
  std::string key;
};

Result<std::vector<PlannedUnit>> plan(const Manifest& manifest, const std::vector<UnitSpec>& units, const Lab& lab,
                                      const std::string& build) {
  std::vector<PlannedUnit> planned;
  for (const UnitSpec& unit : units) {
    const RunSpec& run = manifest.runs[unit.run];
    REWRIGHT_TRY(const Kind* kind, find_kind(run.kind, run.place));
    Parameters parameters(unit.parameters, manifest.folder, run.place, run.lines);
    REWRIGHT_TRY(Job job, kind->job(parameters, lab));
    REWRIGHT_CHECK(parameters.finish());
    std::vector<std::string> files = parameters.named_files();
    files.insert(files.end(), job.files.begin(), job.files.end());
    REWRIGHT_TRY(std::string key, key_of(run.kind, unit.parameters, files, build));
    planned.push_back({&run, &unit, std::move(job), std::move(files), std::move(key)});
  }
  return planned;
}

/// "acnet greedy", from what is swept.
std::string label_of(const PlannedUnit& unit, bool quick) {
  std::string label = unit.run->name;
  for (const auto& [key, values] : (quick ? *unit.run->quick : unit.run->full).each) {
    const Json& value = unit.spec->parameters.at(key);
    label += fmt::format(" {}", value.is_string() ? value.get<std::string>() : value.dump());
  }
  return label;
}

/// A folder that goes with the object.
class WorkFolder {
 public:
  explicit WorkFolder(std::string path) : path_(std::move(path)) {
    std::error_code ignored;
    fs::remove_all(path_, ignored);
    fs::create_directories(path_, ignored);
  }
  ~WorkFolder() {
    std::error_code ignored;
    fs::remove_all(path_, ignored);
  }
  WorkFolder(const WorkFolder&) = delete;
  WorkFolder& operator=(const WorkFolder&) = delete;

 private:
  std::string path_;
};

/// In place of what the unit gave before. Settings that nothing refers to any longer go.
void replace(UnitResult result, const Json& setting, ResultFile& results) {
  std::erase_if(results.units, [&](const UnitResult& old) {
    return old.run == result.run && nlohmann::json(old.parameters) == nlohmann::json(result.parameters);
  });
  results.units.push_back(std::move(result));
  if (results.setting(setting.at("id")) == nullptr) results.settings.push_back(setting);
  std::erase_if(results.settings, [&](const Json& known) {
    return std::ranges::none_of(
        results.units, [&](const UnitResult& one) { return one.setting == known.at("id").get<std::string>(); });
  });
}

Status keep(const PlannedUnit& unit, Outcome outcome, const Clock& clock, const Json& setting,
            const std::string& folder, ResultFile& results) {
  UnitResult result{unit.run->name, unit.run->kind, unit.key, setting.at("id"),       now_text(), unit.spec->parameters,
                    clock.wall(),   clock.cpu(),    {},       std::move(outcome.rows)};
  for (const Drawing& drawing : outcome.drawings) {
    const std::string name = drawing.name + ".svg";
    REWRIGHT_CHECK(write_file(folder + "/" + name, drawing.svg));
    result.drawings.emplace_back(name, drawing.title);
  }
  replace(std::move(result), setting, results);
  return write_results(folder + "/results.jsonl", results);
}

/// What another machine has measured, with its drawings. False: there is no record with these parameters.
Result<bool> take_record(const PlannedUnit& unit, const Manifest& manifest, const ResultFile& records,
                         const std::string& folder, RunOutcome& outcome) {
  const UnitResult* record = records.find(manifest, *unit.spec);
  const Json* setting = record == nullptr ? nullptr : records.setting(record->setting);
  if (setting == nullptr) return false;
  const UnitResult* before = outcome.results.find(manifest, *unit.spec);
  if (before != nullptr && before->key == record->key && before->date == record->date) {
    ++outcome.known;
    return true;
  }
  for (const auto& [file, title] : record->drawings) {
    REWRIGHT_TRY(const std::string svg, read_file(records_folder(manifest) + "/" + file));
    REWRIGHT_CHECK(write_file(folder + "/" + file, svg));
  }
  replace(*record, *setting, outcome.results);
  ++outcome.recorded;
  REWRIGHT_CHECK(write_results(folder + "/results.jsonl", outcome.results));
  return true;
}

Error named(const Error& error, const Manifest& manifest, const std::string& label) {
  return {error.code, fmt::format("experiment {}, {}: {}", manifest.name, label, error.message)};
}

/// Whether some build has done it with the files as they are.
Result<bool> has_these_files(const PlannedUnit& unit, const UnitResult* before, const ResultFile& results) {
  const Json* setting = before == nullptr ? nullptr : results.setting(before->setting);
  if (setting == nullptr) return false;
  REWRIGHT_TRY(const std::string key,
               key_of(unit.run->kind, unit.spec->parameters, unit.files, setting->value("build", "")));
  return before->key == key;
}

/// Done already: by this build, or with the same files by another.
Result<bool> is_known(const PlannedUnit& unit, const UnitResult* before, const ResultFile& results, bool any_build) {
  if (before == nullptr || before->key == unit.key || !any_build) return before != nullptr && before->key == unit.key;
  return has_these_files(unit, before, results);
}

}  // namespace

Result<RunOutcome> run_experiment(const Manifest& manifest, const RunExperiment& options) {
  const Json setting = setting_of(*options.lab.registry, options.git);
  const std::vector<UnitSpec> units = units_of(manifest, options.quick);
  REWRIGHT_TRY(const std::vector<PlannedUnit> planned, plan(manifest, units, options.lab, setting.at("build")));
  std::error_code failed;
  fs::create_directories(options.folder, failed);
  if (failed) return make_error(ErrorCode::kIo, "the folder '{}' cannot be made: {}", options.folder, failed.message());
  RunOutcome outcome;
  REWRIGHT_TRY(outcome.results, read_results(options.folder + "/results.jsonl"));
  if (options.fresh) outcome.results = {};
  ResultFile records;
  if (options.from_records) {
    REWRIGHT_TRY(records, read_results(records_folder(manifest) + "/results.jsonl"));
  }

  for (std::size_t i = 0; i < planned.size(); ++i) {
    const PlannedUnit& unit = planned[i];
    bool takes_record = options.from_records && unit.job.measures;
    if (options.from_records && !options.fresh && !takes_record) {
      REWRIGHT_TRY(takes_record, has_these_files(unit, records.find(manifest, *unit.spec), records));
    }
    if (takes_record) {
      REWRIGHT_TRY(const bool is_recorded, take_record(unit, manifest, records, options.folder, outcome));
      if (!is_recorded)
        outcome.missing[unit.run->name] =
            fmt::format("'{}/results.jsonl' has no record of it, and nothing is measured with --from-records",
                        records_folder(manifest));
      continue;
    }
    const UnitResult* before = outcome.results.find(manifest, *unit.spec);
    REWRIGHT_TRY(const bool known, is_known(unit, before, outcome.results, options.any_build));
    if (known) {
      ++outcome.known;
      continue;
    }
    if (outcome.missing.contains(unit.run->name)) continue;
    if (options.lab.stopped()) {
      outcome.stopped = true;
      break;
    }
    const std::string label = label_of(unit, options.quick);
    Lab lab = options.lab;
    lab.work = options.folder + "/work";
    lab.progress = [&](const std::string& what, double fraction) {
      if (options.progress) options.progress(i, planned.size(), label + ": " + what, fraction);
    };
    const WorkFolder work(lab.work);
    const Clock clock;
    Result<Outcome> done = unit.job.work(lab);
    if (!done && options.lab.stopped()) {
      outcome.stopped = true;
      break;
    }
    if (!done) return named(done.error(), manifest, label);
    if (!done->missing.empty()) {
      outcome.missing[unit.run->name] = done->missing;
      continue;
    }
    REWRIGHT_CHECK(keep(unit, *std::move(done), clock, setting, options.folder, outcome.results));
    ++outcome.done;
  }
  return outcome;
}

Json claims_json(const Findings& findings) {
  Json claims = Json::array();
  for (const ClaimFinding& finding : findings.claims) {
    const Claim& claim = *finding.claim;
    Json json = {{"experiment", findings.manifest->name},
                 {"id", claim.id},
                 {"claim", claim.claim},
                 {"source", claim.source},
                 {"paper", claim.paper},
                 {"ours", finding.ours},
                 {"verdict", name_of(finding.answer)},
                 {"because", finding.because},
                 {"recorded", finding.recorded.empty() ? Json(nullptr) : Json(finding.recorded)},
                 {"value", finding.value ? Json(*finding.value) : Json(nullptr)},
                 {"criterion", claim.criterion},
                 {"note", claim.note}};
    if (claim.expected) json["expected"] = {claim.expected->first, claim.expected->second};
    claims.push_back(std::move(json));
  }
  return claims;
}

Status write_outputs(const Findings& findings, const std::string& folder) {
  REWRIGHT_CHECK(write_file(folder + "/results.md", fmt::format("# {}\n\n{}\n\n{}", findings.manifest->title,
                                                                findings.manifest->question, markdown(findings))));
  REWRIGHT_CHECK(write_file(folder + "/claims.json", claims_json(findings).dump(2) + "\n"));
  REWRIGHT_CHECK(write_file(folder + "/claims.csv", csv(claims_table(findings))));
  for (std::size_t i = 0; i < findings.manifest->tables.size(); ++i)
    REWRIGHT_CHECK(
        write_file(fmt::format("{}/table-{}.csv", folder, i + 1), csv(shown(findings, findings.manifest->tables[i]))));
  const auto plots = plots_of(findings);
  for (std::size_t i = 0; i < plots.size(); ++i)
    REWRIGHT_CHECK(write_file(fmt::format("{}/plot-{}.svg", folder, i + 1), plot::as_file(plots[i].svg)));
  return {};
}

}  // namespace rewright::experiment
