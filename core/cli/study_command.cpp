// rewright study run PLAN.toml -o DIR
//
// Each cell is compiled, compared and measured by a process of its own, one after the other; what became of it is kept
// at once, so that the same command goes on where a study was stopped. So are convolutions alone, after the cells.
#include <rewright/base/command.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <map>
#include <memory>
#include <numeric>
#include <set>

#include "base/files.h"
#include "cli/arguments.h"
#include "cli/commands.h"
#include "cli/interrupt.h"
#include "cli/output.h"
#include "cli/own_files.h"
#include "cli/program.h"
#include "cli/progress.h"
#include "compile/child_processes.h"
#include "report/study.h"
#include "study/cells.h"
#include "study/network_layers.h"
#include "tune/this_machine.h"

namespace rewright::cli {
namespace {

namespace fs = std::filesystem;
using study::Cell;
using study::CellResult;
using study::Plan;

constexpr double kUsualSeconds = 60;  ///< Of a cell, where none was done yet.
constexpr int kCompressSeconds = 600;

struct StudyArguments {
  std::string file, folder, models;
  bool preview = false, fresh = false;
  std::optional<int> alone;  ///< Seconds for convolutions alone.
};

double seconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

/// The program's answer: its last line, if that is a JSON object.
Json answer_of(const CommandOutcome& outcome) {
  const std::size_t end = outcome.text.find_last_not_of('\n');
  if (end == std::string::npos) return {};
  const std::size_t begin = outcome.text.rfind('\n', end);
  const std::size_t first = begin == std::string::npos ? 0 : begin + 1;
  Json json = Json::parse(outcome.text.substr(first, end + 1 - first), nullptr, false);
  return json.is_object() ? json : Json();
}
std::optional<double> number(const Json& json, const char* name) {
  const auto at = json.find(name);
  return at != json.end() && at->is_number() ? std::optional(at->get<double>()) : std::nullopt;
}
std::string sentence_of(const CommandOutcome& outcome) {
  const Json json = answer_of(outcome);
  if (const auto at = json.find("error"); at != json.end()) {
    if (at->is_string()) return at->get<std::string>();
    if (const auto message = at->find("message"); at->is_object() && message != at->end()) return *message;
  }
  return outcome.first_error_line();
}

/// A network as a compression makes it.
struct CompressedNetwork {
  std::string file, hash;
  std::string why = {};              ///< It is not there: why.
  double left = 1;                   ///< Of its multiply-adds; of its weights what is not 0, where those have zeros.
  std::optional<double> error = {};  ///< Of its outputs, by the greatest of the original's.
  std::vector<study::LoneLayer> convolutions = {};
};

class Study {
 public:
  Study(const Settings& settings, const StudyArguments& arguments, Plan plan)
      : settings_(settings),
        arguments_(arguments),
        plan_(std::move(plan)),
        program_(own_prefix() + "/bin/rewright"),
        models_(arguments.models.empty() ? own_prefix() + "/models" : arguments.models) {}

  Result<ExitCode> run() {
    std::error_code code;
    for (const std::string& network : plan_.networks)
      if (!fs::is_regular_file(file_of(network), code))
        return make_error(ErrorCode::kNotFound, "network {}: there is no '{}'; name the folder of models with --models",
                          network, file_of(network));
    fs::create_directories(fs::path(arguments_.folder) / "models", code);
    if (code) return make_error(ErrorCode::kIo, "'{}' cannot be made: {}", arguments_.folder, code.message());
    if (arguments_.fresh)
      for (const std::string& file : {cells_file(), alone_file()}) fs::remove(file, code);
    REWRIGHT_TRY(results_, study::read_cells(cells_file()));
    REWRIGHT_TRY(alone_, study::read_cells(alone_file()));
    if (arguments_.preview) return preview();
    const StopInTime stop_in_time([this] { say_stopped(); });
    const std::vector<Cell> cells = cells_of(plan_);
    ProgressLine line(settings_.quiet);
    for (std::size_t i = 0; i < cells.size(); ++i) {
      if (interrupted()) break;
      line.show(fmt::format("cell {} of {}, {}", i + 1, cells.size(), to_string(plan_, cells[i])), i, "cells",
                static_cast<double>(i) / static_cast<double>(cells.size()));
      REWRIGHT_CHECK(do_cell(cells[i]));
    }
    if (!interrupted()) REWRIGHT_CHECK(time_alone(line));
    line.clear();
    if (interrupted()) {
      say_stopped();
      return ExitCode::kStopped;
    }
    return finish();
  }

 private:
  [[nodiscard]] std::string file_of(const std::string& network) const { return models_ + "/" + network + ".onnx"; }
  [[nodiscard]] std::string cells_file() const { return arguments_.folder + "/cells.jsonl"; }
  [[nodiscard]] std::string alone_file() const { return arguments_.folder + "/alone.jsonl"; }
  void say_stopped() const {
    compile::end_child_processes();
    note(fmt::format("stopped; {} of {} cells are kept in {}; the same command goes on", known().size(),
                     cells_of(plan_).size(), cells_file()),
         settings_.quiet);
  }
  /// Of the plan's cells those that are done.
  [[nodiscard]] std::map<std::string, const CellResult*> known() const {
    std::map<std::string, const CellResult*> found;
    for (const CellResult& result : results_) found[result.cell] = &result;
    std::map<std::string, const CellResult*> own;
    for (const Cell& cell : cells_of(plan_)) {
      const auto at = found.find(to_string(plan_, cell));
      if (at != found.end()) own.insert(*at);
    }
    return own;
  }

  Result<ExitCode> preview() {
    const auto done = known();
    double seconds = 0;
    for (const auto& [cell, result] : done) seconds += result->seconds;
    const double each = done.empty() ? kUsualSeconds : seconds / static_cast<double>(done.size());
    const std::size_t cells = cells_of(plan_).size(), left = cells - done.size();
    if (settings_.json) {
      print_json({{"cells", cells}, {"done", done.size()}, {"seconds_left", each * static_cast<double>(left)}});
      return ExitCode::kDone;
    }
    for (const Cell& cell : cells_of(plan_)) {
      const auto at = done.find(to_string(plan_, cell));
      print_line(fmt::format("{}: {}", to_string(plan_, cell), at == done.end() ? "to be done" : at->second->state));
    }
    print_line(fmt::format("{} cells, {} done; the others take about {:.0f} minutes, at {:.0f} s each ({})", cells,
                           done.size(), each * static_cast<double>(left) / 60, each,
                           done.empty() ? "a guess" : "as those that are done"));
    return ExitCode::kDone;
  }

  /// Made once for all cells, and kept with what was said of it.
  Result<const CompressedNetwork*> compressed(const Cell& cell) {
    const study::Compression& compression = plan_.compressions[cell.compression];
    const auto [at, is_new] = networks_.try_emplace(cell.network + ", " + compression.name);
    CompressedNetwork& made = at->second;
    if (!is_new) return &made;
    const std::string source = file_of(cell.network);
    REWRIGHT_TRY(const std::string source_hash, file_hash(source));
    if (compression.is_none()) {
      made.file = source, made.hash = source_hash;
      return &made;
    }
    const std::string stem = fmt::format("{}/models/{}-{}", arguments_.folder, cell.network, cell.compression);
    const std::string option = compression.zeros ? fmt::format("--zeros={}", *compression.zeros)
                                                 : fmt::format("--channels={}", *compression.channels);
    const auto kept = read_file(stem + ".json");
    Json report = kept ? Json::parse(*kept, nullptr, false) : Json();
    const bool is_kept = report.is_object() && report.value("source", "") == source_hash &&
                         report.value("option", "") == option && fs::exists(stem + ".onnx");
    if (!is_kept) {
      std::error_code ignored;
      fs::remove(stem + ".onnx", ignored);
      const std::vector<std::string> words = {program_,       "compress", source,   "-o",
                                              stem + ".onnx", option,     "--json", "--quiet"};
      REWRIGHT_TRY(const CommandOutcome outcome, run_command(words, kCompressSeconds));
      report = answer_of(outcome);
      if (outcome.exit_code != 0 || report.is_null() || !fs::exists(stem + ".onnx")) {
        made.why = outcome.timed_out ? "rewright compress took too long" : sentence_of(outcome);
        return &made;
      }
      report["source"] = source_hash;
      report["option"] = option;
      REWRIGHT_CHECK(write_file(stem + ".json", report.dump(1) + "\n"));
    }
    made.file = stem + ".onnx";
    REWRIGHT_TRY(made.hash, file_hash(made.file));
    const char* amount = compression.zeros ? "nonzeros" : "multiply_adds";
    const auto before = number(report["before"], amount), after = number(report["after"], amount);
    if (before && after && *before > 0) made.left = *after / *before;
    for (const Json& output : report["outputs"])
      made.error = std::max(made.error.value_or(0), number(output, "max_rel_error").value_or(0));
    return &made;
  }

  Status do_cell(const Cell& cell) {
    REWRIGHT_TRY(const CompressedNetwork* network, compressed(cell));
    const std::string name = to_string(plan_, cell);
    const auto known_at = std::ranges::find(results_.rbegin(), results_.rend(), name, &CellResult::cell);
    if (known_at != results_.rend() && known_at->model == network->hash) return {};
    CellResult result{name, network->hash, "unsupported", network->why};
    if (network->why.empty()) {
      const auto start = std::chrono::steady_clock::now();
      REWRIGHT_TRY(result, measured({name, network->hash, network->file, computed_by(plan_, cell)}, cell));
      result.seconds = seconds_since(start);
    }
    if (interrupted()) return {};  // It was ended, not done.
    REWRIGHT_CHECK(study::add_cell(cells_file(), result));
    results_.push_back(std::move(result));
    return {};
  }

  struct Compilation {
    std::string name, hash, file, algorithm;
  };
  /// On as many threads and with such schedules as the cell.
  [[nodiscard]] Result<CellResult> measured(const Compilation& what, const Cell& cell) const {
    REWRIGHT_TRY(const TemporaryFolder folder, TemporaryFolder::make());
    std::vector<std::string> words = {program_,    "compile", what.file, "-o",        folder.path() + "/code",
                                      "--measure", "--json",  "--quiet", "--threads", std::to_string(cell.threads)};
    if (what.algorithm == "cost") {
      words.insert(words.end(), {"--algorithms", "all"});
    } else if (what.algorithm != "usual") {
      words.insert(words.end(), {"--algorithm", what.algorithm});
    }
    if (cell.schedules == "tuned") words.insert(words.end(), {"--effort", "1"});
    REWRIGHT_TRY(const CommandOutcome outcome, run_command(words, static_cast<int>(plan_.seconds)));
    CellResult result{what.name, what.hash, "failed"};
    const Json answer = answer_of(outcome);
    if (outcome.timed_out) {
      result.state = "over budget";
      result.why = fmt::format("it took more than the {} s that the plan lets a cell", plan_.seconds);
    } else if (outcome.exit_code < 0) {
      result.state = "crashed";
      result.why = "the process that compiled or ran it was ended by a signal";
    } else if (const auto equal = answer.find("equal"); equal != answer.end() && *equal == true) {
      result.state = "ok";
      result.us = number(answer, "ours_us");
      result.onnxruntime_us = number(answer, "onnxruntime_us");
      result.max_abs_error = number(answer, "max_abs_error");
      result.peak_bytes = number(answer, "peak_bytes");
      double limit = 0;
      for (const Json& kernel : answer.value("profile", Json::array())) limit += number(kernel, "limit_us").value_or(0);
      if (limit > 0) result.limit_us = limit;
      result.profile = answer.value("profile", Json::array());
    } else if (equal != answer.end()) {
      result.state = "unequal";
      result.why = answer.value("reason", std::string("its outputs are not those of the network"));
    } else {
      result.why = sentence_of(outcome);
      if (result.why.find("fits no node") != std::string::npos) result.state = "unsupported";
    }
    return result;
  }

  // --- convolutions alone ----------------------------------------------------------------------------------------

  [[nodiscard]] bool has_alone() const { return arguments_.alone || !alone_.empty(); }
  /// By which a convolution is computed in the cell; nothing where nodes differ in it.
  [[nodiscard]] std::optional<std::string> algorithm_of(const Cell& cell, const study::LoneLayer& layer) const {
    const std::string algorithm = computed_by(plan_, cell);
    if (algorithm == "cost") return std::nullopt;
    return layer.algorithms.contains(algorithm) ? algorithm : "usual";
  }
  static std::string name_of(const Cell& cell, const study::LoneLayer& layer, const std::string& algorithm) {
    return fmt::format("{}, {}, {} threads, {}", layer.key, algorithm, cell.threads, cell.schedules);
  }
  [[nodiscard]] const CellResult* alone_of(const std::string& name) const {
    const auto at = std::ranges::find(alone_.rbegin(), alone_.rend(), name, &CellResult::cell);
    return at == alone_.rend() ? nullptr : &*at;
  }

  /// Of each cell that is ok the convolutions that were not timed yet, as long as there is time.
  Status time_alone(ProgressLine& line) {
    if (!has_alone()) return {};
    REWRIGHT_TRY(const Registry registry, settings_.registry());
    const auto start = std::chrono::steady_clock::now();
    const auto done = known();
    std::size_t left = 0;
    for (const Cell& cell : cells_of(plan_)) {
      const auto result = done.find(to_string(plan_, cell));
      if (result == done.end() || !result->second->is_ok()) continue;
      CompressedNetwork& network = networks_.at(cell.network + ", " + plan_.compressions[cell.compression].name);
      if (network.convolutions.empty()) {
        REWRIGHT_TRY(network.convolutions, study::lone_convolutions(network.file, registry));
      }
      for (const study::LoneLayer& layer : network.convolutions) {
        const auto algorithm = algorithm_of(cell, layer);
        if (!algorithm || alone_of(name_of(cell, layer, *algorithm)) != nullptr) continue;
        if (seconds_since(start) >= arguments_.alone.value_or(0)) {
          ++left;
          continue;
        }
        line.show(fmt::format("alone: {} of {}", layer.node, to_string(plan_, cell)), alone_.size(), "layers", 0);
        REWRIGHT_CHECK(time_alone(layer, *algorithm, cell));
        if (interrupted()) return {};
      }
    }
    if (left > 0 && arguments_.alone)
      note(fmt::format("{} convolutions are not timed alone yet; the same command goes on", left), settings_.quiet);
    return {};
  }
  Status time_alone(const study::LoneLayer& layer, const std::string& algorithm, const Cell& cell) {
    REWRIGHT_TRY(const TemporaryFolder folder, TemporaryFolder::make());
    const std::string file = folder.path() + "/layer.onnx";
    REWRIGHT_CHECK(write_file(file, layer.model));
    const auto start = std::chrono::steady_clock::now();
    REWRIGHT_TRY(CellResult result,
                 measured({name_of(cell, layer, algorithm), content_hash(layer.model), file, algorithm}, cell));
    if (interrupted()) return {};
    result.seconds = seconds_since(start);
    result.profile = Json::array();
    REWRIGHT_CHECK(study::add_cell(alone_file(), result));
    alone_.push_back(std::move(result));
    return {};
  }

  /// In the order of a run; of those that hold a convolution what that takes alone.
  [[nodiscard]] std::vector<StudyLayer> layers_of(const Cell& cell, const CellResult& result) const {
    std::vector<StudyLayer> layers;
    const auto network = networks_.find(cell.network + ", " + plan_.compressions[cell.compression].name);
    for (const study::LayerTime& time : study::layers_of(result.profile)) {
      StudyLayer& made = layers.emplace_back(StudyLayer{time.layer, time.us});
      if (network == networks_.end()) continue;
      for (const study::LoneLayer& layer : network->second.convolutions) {
        const auto algorithm = algorithm_of(cell, layer);
        if (!algorithm || std::ranges::find(time.nodes, layer.node) == time.nodes.end()) continue;
        const CellResult* alone = alone_of(name_of(cell, layer, *algorithm));
        if (alone != nullptr && alone->us) made.alone_us = made.alone_us.value_or(0) + *alone->us;
      }
    }
    return layers;
  }

  // --- what came of it -------------------------------------------------------------------------------------------

  [[nodiscard]] Result<StudyReport> report() const {
    REWRIGHT_TRY(const tune::Machine machine, tune::measured_machine());
    StudyReport report{plan_.title,
                       fmt::format("{}; one core {:.0f} GFLOP/s, {:.0f} GB/s from memory, both measured.",
                                   machine.processor, machine.peak_gflops, machine.caches.back().read_gb_s),
                       plan_.algorithms};
    std::map<std::string, double> left;
    for (const auto& [name, network] : networks_) left[name] = network.left;
    const auto done = known();
    const auto standings = study::standings(plan_, results_, left);
    const bool has_settings = plan_.threads.size() * plan_.schedules.size() > 1;
    std::map<std::string, std::size_t> row_of;
    for (const Cell& cell : cells_of(plan_)) {
      const std::string& compression = plan_.compressions[cell.compression].name;
      const std::string setting =
          has_settings ? fmt::format("{} threads, {}", cell.threads, cell.schedules) : std::string();
      const auto [at, is_new] =
          row_of.try_emplace(cell.network + "\n" + compression + "\n" + setting, report.rows.size());
      if (is_new) report.rows.push_back({cell.network, compression, setting});
      StudyRow& row = report.rows[at->second];
      if (plan_.compressions[cell.compression].is_none()) row.error = 0;
      if (const auto network = networks_.find(cell.network + ", " + compression);
          network != networks_.end() && network->second.error)
        row.error = network->second.error;
      const auto result = done.find(to_string(plan_, cell));
      StudyCell& made = row.cells.emplace_back();
      made.state = result == done.end() ? "to be done" : result->second->state;
      if (result == done.end()) continue;
      made.why = result->second->why;
      made.us = result->second->us;
      made.onnxruntime_us = result->second->onnxruntime_us;
      made.peak_bytes = result->second->peak_bytes;
      if (result->second->limit_us && made.us) made.of_limit = *result->second->limit_us / *made.us / cell.threads;
      made.achieved = standings.at(to_string(plan_, cell)).achieved;
      made.expected = standings.at(to_string(plan_, cell)).expected;
      made.layers = layers_of(cell, *result->second);
    }
    return report;
  }

  Result<ExitCode> finish() {
    REWRIGHT_TRY(const StudyReport made, report());
    const std::string page = arguments_.folder + "/index.html";
    REWRIGHT_CHECK(write_file(page, study_html(made)));
    std::map<std::string, std::size_t> states;
    for (const auto& [cell, result] : known()) ++states[result->state];
    const bool is_good = std::ranges::all_of(
        states, [](const auto& state) { return state.first == "ok" || state.first == "unsupported"; });
    if (settings_.json) {
      Json rows = Json::array();
      for (const StudyRow& row : made.rows)
        for (std::size_t c = 0; c < row.cells.size(); ++c) rows.push_back(row_json(row, made.columns[c], row.cells[c]));
      print_json({{"states", states}, {"cells", std::move(rows)}, {"page", page}});
    } else {
      print_matrix(made, states, page);
    }
    return is_good ? ExitCode::kDone : ExitCode::kNegative;
  }
  static Json row_json(const StudyRow& row, const std::string& algorithm, const StudyCell& cell) {
    Json json = {
        {"network", row.network}, {"compression", row.compression}, {"algorithm", algorithm}, {"state", cell.state}};
    if (!row.setting.empty()) json["setting"] = row.setting;
    if (cell.us) json["us"] = *cell.us;
    if (cell.onnxruntime_us) json["onnxruntime_us"] = *cell.onnxruntime_us;
    if (cell.achieved) json["achieved"] = *cell.achieved;
    if (cell.expected) json["expected"] = *cell.expected;
    if (cell.achieved && cell.expected) json["share"] = *cell.achieved / *cell.expected;
    if (cell.of_limit) json["of_limit"] = *cell.of_limit;
    if (row.error) json["error"] = *row.error;
    if (!cell.why.empty()) json["why"] = cell.why;
    Json layers = Json::array();
    for (const StudyLayer& layer : cell.layers) {
      layers.push_back({{"layer", layer.name}, {"us", layer.us}});
      if (layer.alone_us) layers.back()["alone_us"] = *layer.alone_us;
    }
    if (!layers.empty()) json["layers"] = std::move(layers);
    return json;
  }
  static void print_matrix(const StudyReport& made, const std::map<std::string, std::size_t>& states,
                           const std::string& page) {
    std::vector<std::string> head = {"network", "compression"};
    head.insert(head.end(), made.columns.begin(), made.columns.end());
    head.emplace_back("expected");
    Table table(head);
    std::vector<std::size_t> figures(made.columns.size() + 1);
    std::iota(figures.begin(), figures.end(), 2);
    for (const std::size_t column : figures) table.align_right({column});
    for (const StudyRow& row : made.rows) {
      std::vector<std::string> words = {row.network, row.compression + (row.setting.empty() ? "" : ", " + row.setting)};
      std::optional<double> expected;
      for (const StudyCell& cell : row.cells) {
        if (cell.expected) expected = cell.expected;
        words.push_back(cell.state != "ok"
                            ? cell.state
                            : fmt::format("{:.0f} us {:.2f}x", cell.us.value_or(0), cell.achieved.value_or(1)));
      }
      words.push_back(expected ? fmt::format("{:.2f}x", *expected) : "-");
      table.add(words);
    }
    print(table.to_string());
    std::string text;
    for (const auto& [state, count] : states) text += fmt::format("{}{} {}", text.empty() ? "" : ", ", count, state);
    print_line(fmt::format("Cells: {}. Times as fast as the network's fastest dense cell. The page: {}", text, page));
  }

  const Settings& settings_;
  const StudyArguments& arguments_;
  Plan plan_;
  std::string program_, models_;
  std::vector<CellResult> results_, alone_;            ///< Of cells; of convolutions alone.
  std::map<std::string, CompressedNetwork> networks_;  ///< By "NETWORK, COMPRESSION".
};

Result<ExitCode> run_study(const Settings& settings, const StudyArguments& arguments) {
  REWRIGHT_TRY(const std::string text, read_file(arguments.file));
  REWRIGHT_TRY(Plan plan, study::parse_plan(text, arguments.file));
  heed_interrupts();
  return Study(settings, arguments, std::move(plan)).run();
}

}  // namespace

void add_study(Program& program) {
  const Command group = program.group("study", "Studies: networks, compressions and algorithms, in every combination");
  auto arguments = std::make_shared<StudyArguments>();
  const Command run = program.command(
      group, "run",
      "Does the cells of a study that are not done yet, each compared and measured by a process of its own",
      {"rewright study run experiments/stack/networks.toml -o study",
       "rewright study run experiments/stack/networks.toml -o study --preview",
       "rewright study run my.toml -o study --models my_models --json"},
      [arguments](const Settings& settings) { return run_study(settings, *arguments); });
  run.add_option("PLAN", arguments->file, "The study's plan (TOML; core/study/plan.h)").required();
  run.add_option("-o,--output", arguments->folder,
                 "The folder for what is done (cells.jsonl) and the page (index.html)")
      .required();
  run.add_option("--models", arguments->models, "The folder of NETWORK.onnx (default: models beside the program)");
  run.add_flag("--preview", arguments->preview, "Say what is to be done and about how long that takes, and do nothing");
  run.add_option("--alone", arguments->alone,
                 "Seconds in which convolutions of the cells are then timed alone, too; the same command goes on")
      .check(in_range(1, 1'000'000));
  run.add_flag("--fresh", arguments->fresh, "Forget what was done");
}

}  // namespace rewright::cli
