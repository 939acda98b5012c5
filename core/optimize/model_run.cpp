#include "optimize/model_run.h"

#include <algorithm>
#include <chrono>
#include <set>
#include <span>
#include <utility>

#include "onnx/export.h"
#include "onnx/proto.h"
#include "onnx/scope.h"
#include "onnx/simplify.h"
#include "optimize/random_inputs.h"

namespace rewright {
namespace {

/// Bodies of nodes are read so far down.
constexpr int kBodyDepth = 16;
/// A model that takes longer for one run is compared at one assignment of its sizes.
constexpr double kSlowRunSeconds = 2;

std::span<const std::byte> bytes_of(const std::string& text) { return std::as_bytes(std::span(text)); }

/// Runs the original where it can be loaded, to see which sizes it takes.
class Trials {
 public:
  Trials(const ModelSource& source, const Runtime* runtime) : source_(source) {
    if (runtime == nullptr) return;
    if (auto session = runtime->load(bytes_of(source.bytes), {source.directory})) session_ = *std::move(session);
  }

  [[nodiscard]] bool can_run() const { return session_ != nullptr; }
  [[nodiscard]] bool takes(const Graph& graph) {
    if (!session_ || !check_given(graph, source_.inputs)) return false;
    const auto inputs = random_inputs(graph, 1, source_.inputs);
    if (!inputs) return false;
    const auto start = std::chrono::steady_clock::now();
    const bool is_run = session_->run(*inputs).has_value();
    seconds_ = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    return is_run;
  }
  [[nodiscard]] bool are_slow() const { return seconds_ > kSlowRunSeconds; }

 private:
  const ModelSource& source_;
  std::unique_ptr<RuntimeSession> session_;
  double seconds_ = 0;
};

ImportOptions import_options(const ModelSource& source, const Sizes& sizes) {
  ImportOptions options{sizes, source.file, source.directory};
  options.dimensions.insert(source.sizes.begin(), source.sizes.end());
  options.leave_external = true;
  options.freeze = source.freeze;
  return options;
}

Result<ImportedModel> import_at(const ModelSource& source, const Registry& registry, const Sizes& sizes) {
  ImportOptions options = import_options(source, sizes);
  options.body_depth = kBodyDepth;
  return import_model(bytes_of(source.bytes), registry, options);
}

bool is_given(const OpenSize& size, const Sizes& given) {
  return given.contains(size.name) || std::ranges::any_of(size.places, [&](const OpenSize::Place& place) {
           return given.contains(place.input + "." + std::to_string(place.axis));
         });
}

/// Sizes that were given stay as they are at every case only where the result is frozen to them.
void add_other_cases(std::span<const OpenSize> open, Trials& trials, OpenedModel& model) {
  if (model.source->freeze || trials.are_slow() || !trials.can_run()) return;
  for (const Sizes& sizes : other_sizes(open, model.sizes.front())) {
    auto imported = import_model(bytes_of(model.source->bytes), *model.registry, [&] {
      ImportOptions options{sizes, model.source->file, model.source->directory};
      options.leave_external = true;
      return options;
    }());
    if (imported && trials.takes(imported->graph)) {
      model.at_others.push_back(*std::move(imported));
      model.sizes.push_back(sizes);
    } else {
      model.refused.push_back(sizes);
    }
  }
}

/// Judges the graph after the first `rewrites` of the path; what cannot be written is different.
class Judge {
 public:
  /// `written`: the whole path's model, where it is written already.
  Judge(const OpenedModel& model, const OptimizeReport& report, const EquivalenceGate& gate, bool fast_math,
        std::string written)
      : model_(model), report_(report), gate_(gate), fast_math_(fast_math), written_(std::move(written)) {}

  [[nodiscard]] Result<Graph> graph_after(std::size_t rewrites) const {
    const auto& path = report_.search.path;
    if (rewrites == path.size()) return report_.best;
    if (rewrites == 0) return model_.imported.graph;
    return written_form(path[rewrites - 1].graph, report_.exact);
  }
  /// Where it was found equal: the same bytes that were checked.
  [[nodiscard]] Result<std::string> bytes_after(std::size_t rewrites) const {
    if (rewrites == 0) return model_.source->bytes;
    if (rewrites == equal_after_) return equal_bytes_;
    REWRIGHT_TRY(const Graph graph, graph_after(rewrites));
    return write(graph);
  }
  [[nodiscard]] Result<std::string> write(const Graph& graph) const {
    return write_graph(graph, model_.start(), {.exact = report_.exact, .fast_math = fast_math_});
  }
  [[nodiscard]] Result<Equivalence> check(std::size_t rewrites) const {
    REWRIGHT_TRY(const Graph graph, graph_after(rewrites));
    const bool is_written = rewrites == report_.search.path.size() && !written_.empty();
    auto bytes = rewrites == 0 ? Result<std::string>(model_.source->bytes)
                 : is_written  ? Result<std::string>(written_)
                               : write(graph);
    if (!bytes && bytes.error().code != ErrorCode::kUnsupported) return bytes.error();
    if (bytes) {
      REWRIGHT_TRY(Equivalence checked, gate_.check(graph, *bytes));
      if (checked.equal()) {
        equal_after_ = rewrites, equal_bytes_ = *std::move(bytes);
      } else {
        cause_ = checked.is_rounding ? Cause::kRounding : checked.case_index > 0 ? Cause::kSizes : Cause::kWrong;
      }
      return checked;
    }
    cause_ = Cause::kWriting;
    Equivalence equivalence;
    equivalence.verdict = GateVerdict::kDifferent;
    equivalence.difference = bytes.error().message;
    return equivalence;
  }
  /// Of the last check that said different.
  [[nodiscard]] Cause cause() const { return cause_; }

 private:
  const OpenedModel& model_;
  const OptimizeReport& report_;
  const EquivalenceGate& gate_;
  bool fast_math_;
  std::string written_;
  mutable Cause cause_ = Cause::kWrong;
  mutable std::size_t equal_after_ = 0;  ///< Of the last check that said equal: how many rewrites, and the model.
  mutable std::string equal_bytes_;
};

/// Whether the graph itself, before its weights were rounded, equals the original in double precision.
Result<bool> is_right_of_reals(const Judge& judge, std::size_t rewrites, std::span<const GateCase> cases,
                               EquivalenceOptions options) {
  options.from_model = {};
  REWRIGHT_TRY(const EquivalenceGate gate, EquivalenceGate::create(cases.first(1), std::move(options)));
  REWRIGHT_TRY(const Graph graph, judge.graph_after(rewrites));
  REWRIGHT_TRY(const Equivalence checked, gate.check(graph));
  return checked.equal() || checked.is_rounding;
}

/// What simplification makes of the original with other weights, at the first sizes.
Result<Graph> simplified_graph(const OpenedModel& model, const Graph& original) {
  ImportOptions options = import_options(*model.source, model.sizes.front());
  if (options.freeze) options.dimensions.clear(), options.freeze = false;  // What is written has no open sizes.
  REWRIGHT_TRY(const std::string written, export_model(original, model.imported));
  REWRIGHT_TRY(const Simplified simplified, simplify_model(bytes_of(written), options, model.level));
  REWRIGHT_TRY(ImportedModel imported,
               import_model(bytes_of(simplified.model.empty() ? written : simplified.model), *model.registry, options));
  return std::move(imported.graph);
}

std::vector<GateCase> gate_cases(const OpenedModel& model) {
  std::vector<GateCase> cases;
  for (std::size_t i = 0; i < model.sizes.size(); ++i)
    cases.push_back({to_text(model.sizes[i]), i == 0 ? &model.imported.graph : &model.at_others[i - 1].graph});
  return cases;
}

EquivalenceOptions gate_options(const OpenedModel& model, EquivalenceOptions options) {
  options.original_model = model.source->bytes;
  options.directory = model.source->directory;
  options.registry = model.registry;
  options.inputs = model.source->inputs;
  options.external = &model.imported.external;
  options.to_model = [&](const Graph& graph) { return export_model(graph, model.imported); };
  if (model.simplified && model.level != SimplifyLevel::kExact)
    options.simplify = [&](const Graph& original) { return simplified_graph(model, original); };
  options.from_model = [&](const std::string& written, std::size_t i) -> Result<Graph> {
    ImportOptions at{model.source->freeze ? Sizes{} : model.sizes[i], "the result", model.source->directory};
    at.leave_external = true;
    REWRIGHT_TRY(ImportedModel imported, import_model(bytes_of(written), *model.registry, at));
    return std::move(imported.graph);
  };
  return options;
}

void count_nodes(const model::GraphProto& graph, std::size_t& count) {
  count += static_cast<std::size_t>(graph.node_size());
  for (const auto& node : graph.node())
    model::for_each_subgraph(node, [&](const model::GraphProto& inner) { count_nodes(inner, count); });
}

}  // namespace

Result<OpenedModel> open_model(const ModelSource& source, const Registry& registry, const Runtime* runtime) {
  REWRIGHT_TRY(const std::vector<OpenSize> open, open_sizes(bytes_of(source.bytes), source.file));
  OpenedModel model;
  model.source = &source;
  model.registry = &registry;
  model.is_chosen = std::ranges::any_of(open, [&](const OpenSize& size) { return !is_given(size, source.sizes); });
  if (open.empty()) {
    REWRIGHT_TRY(model.imported, import_at(source, registry, {}));
    model.sizes.emplace_back();
    return model;
  }
  Trials trials(source, runtime);
  std::optional<Error> refusal;
  for (const Sizes& sizes : plausible_sizes(open, source.sizes)) {
    auto imported = import_at(source, registry, sizes);
    if (!imported) {
      if (!refusal) refusal = imported.error();
      continue;
    }
    const bool is_taken = !trials.can_run() || trials.takes(imported->graph);
    if (!is_taken && !model.sizes.empty()) continue;
    model.imported = *std::move(imported);
    model.sizes.assign(1, sizes);
    if (is_taken) break;
  }
  if (model.sizes.empty()) return *refusal;
  add_other_cases(open, trials, model);
  return model;
}

void simplify(OpenedModel& model, SimplifyLevel level) {
  const ModelSource& source = *model.source;
  model.simplified.reset();
  model.gate.reset();  // What it simplifies is of another level.
  model.level = level;
  auto simplified = simplify_model(bytes_of(source.bytes), import_options(source, model.sizes.front()), level);
  if (!simplified || simplified->model.empty()) return;
  ImportOptions options = import_options(source, model.sizes.front());
  if (source.freeze) options.dimensions.clear();  // No size is open any more.
  options.body_depth = kBodyDepth;
  auto imported = import_model(bytes_of(simplified->model), *model.registry, options);
  if (!imported) return;
  model.simplified = *std::move(imported);
  model.is_exact = simplified->is_exact();
  model.simplifications = std::move(simplified->steps);
}

Status start_from(OpenedModel& model, const std::string& bytes) {
  ImportOptions options = import_options(*model.source, model.sizes.front());
  options.body_depth = kBodyDepth;
  REWRIGHT_TRY(model.simplified, import_model(bytes_of(bytes), *model.registry, options));
  model.gate.reset();
  model.is_exact = false;
  model.simplifications.clear();
  return {};
}

bool simplify_less(OpenedModel& model, const JudgedModel& judged, std::size_t steps, bool only, std::string& reason) {
  if (!model.simplified || steps == 0) return false;
  const bool is_blamed = judged.culprit && *judged.culprit == 0;
  const bool is_unjudged = steps == 1 && judged.equivalence.verdict == GateVerdict::kNotComparable && !judged.culprit;
  reason = is_blamed ? judged.equivalence.difference : judged.reason;
  if (only) {
    if (model.level == SimplifyLevel::kExact || (!is_blamed && !is_unjudged)) return false;
    const bool is_next = is_blamed && model.level == SimplifyLevel::kWeights;
    simplify(model, is_next ? SimplifyLevel::kSums : SimplifyLevel::kExact);
    return true;
  }
  if ((!is_blamed || judged.cause == Cause::kWrong) && !is_unjudged) return false;
  model.simplified.reset();
  return true;
}

void enter_simplification(const OpenedModel& model, double original_cost_us, OptimizeReport& report) {
  if (!model.simplified) return;
  SearchResult& search = report.search;
  search.path.insert(search.path.begin(), RewriteStep{"", kSimplificationStep, original_cost_us, search.cost_before_us,
                                                      model.simplified->graph});
  search.cost_before_us = original_cost_us;
  if (search.path.size() == 1) report.best = model.simplified->graph;
}

void prepare_gate(const OpenedModel& model, EquivalenceOptions options) {
  model.gate_to_come = std::async(std::launch::async, [&model, options = std::move(options)] {
    return EquivalenceGate::create(gate_cases(model), gate_options(model, options));
  });
}

Status await_gate(const OpenedModel& model) {
  if (!model.gate_to_come.valid()) return {};
  REWRIGHT_TRY(EquivalenceGate gate, model.gate_to_come.get());
  model.gate = std::make_shared<const EquivalenceGate>(std::move(gate));
  return {};
}

Result<JudgedModel> judge_result(const OpenedModel& model, const OptimizeReport& report, EquivalenceOptions options,
                                 bool fast_math, std::string written) {
  JudgedModel judged;
  judged.bytes = model.source->bytes;
  judged.is_original = true;
  const std::size_t rewrites = report.search.path.size();
  if (rewrites == 0) {
    judged.equivalence.verdict = GateVerdict::kEqual;
    return judged;
  }
  const std::vector<GateCase> cases = gate_cases(model);
  options = gate_options(model, std::move(options));
  REWRIGHT_CHECK(await_gate(model));
  if (model.gate == nullptr) {
    REWRIGHT_TRY(EquivalenceGate gate, EquivalenceGate::create(cases, options));
    model.gate = std::make_shared<const EquivalenceGate>(std::move(gate));
  }
  const Judge judge(model, report, *model.gate, fast_math, std::move(written));
  REWRIGHT_TRY(judged.equivalence, judge.check(rewrites));
  if (judged.equivalence.equal()) {
    judged.is_original = false;
    judged.rewrites = rewrites;
    REWRIGHT_TRY(judged.bytes, judge.bytes_after(rewrites));
    return judged;
  }
  judged.cause = judge.cause();
  if (judged.equivalence.verdict == GateVerdict::kNotComparable) {
    judged.reason = judged.equivalence.reason;
    return judged;
  }
  Equivalence at_culprit = judged.equivalence;  // The bisection ends beside it: of the graph right after it.
  std::size_t least = rewrites;
  const auto check = [&](std::size_t n) -> Result<Equivalence> {
    REWRIGHT_TRY(Equivalence checked, judge.check(n));
    if (!checked.equal() && n < least) least = n, at_culprit = checked, judged.cause = judge.cause();
    return checked;
  };
  REWRIGHT_TRY(const Culprit culprit, find_culprit(rewrites, check, judged.equivalence));
  judged.culprit = culprit.rewrite;
  if (!culprit.rewrite) {
    judged.reason = culprit.reason;
    judged.equivalence.verdict = GateVerdict::kNotComparable;
    return judged;
  }
  judged.equivalence.difference = at_culprit.difference;
  if (judged.cause == Cause::kWrong) {
    REWRIGHT_TRY(const bool is_right, is_right_of_reals(judge, least, cases, options));
    if (is_right) judged.cause = Cause::kRounding;
  }
  judged.rewrites = *culprit.rewrite;
  judged.is_original = judged.rewrites == 0;
  REWRIGHT_TRY(judged.bytes, judge.bytes_after(judged.rewrites));
  return judged;
}

Result<Equivalence> compare_models(const OpenedModel& model, const std::string& other, const std::string& file,
                                   EquivalenceOptions options) {
  options = gate_options(model, std::move(options));
  options.draws_weights = false;
  ImportOptions at{model.sizes.front(), file, model.source->directory};
  at.leave_external = true;
  REWRIGHT_TRY(const ImportedModel imported, import_model(bytes_of(other), *model.registry, at));
  const std::vector<GateCase> cases = gate_cases(model);
  REWRIGHT_TRY(const EquivalenceGate gate, EquivalenceGate::create(cases, std::move(options)));
  return gate.check(imported.graph, other);
}

Result<std::string> write_graph(const Graph& graph, const ImportedModel& origin, ExportOptions options) {
  std::string lost;
  options.lost = [&](const std::string& sentence) {
    if (lost.empty()) lost = sentence;
  };
  REWRIGHT_TRY(std::string bytes, export_model(graph, origin, options));
  if (!lost.empty()) return make_error(ErrorCode::kUnsupported, "{}", lost);
  return bytes;
}

Result<std::string> write_result(const OpenedModel& model, const OptimizeReport& report, bool fast_math) {
  return write_graph(report.best, model.start(), {.exact = report.exact, .fast_math = fast_math});
}

Result<std::size_t> node_count(const std::string& bytes) {
  REWRIGHT_TRY(const model::ModelProto proto, model::parse_model(bytes_of(bytes), "the model"));
  std::size_t count = 0;
  count_nodes(proto.graph(), count);
  return count;
}

}  // namespace rewright
