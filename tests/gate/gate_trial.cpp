// What the equivalence gate says of true and of wrong rewrites of a model, each applied by itself, whatever it costs.
//
//   rewright_gate_trial MODEL FOLDER --rules FILE... [--wrong N] [--seed S] [--half] [--dim NAME=SIZE...]
//
// Every rule of the files that matches somewhere in the model is applied at its first match, and so are mutants of
// them: rules with one operator, parameter, constant or operand changed in the target (tests/support/mutants.h). FOLDER
// gets original.onnx and, for each rewrite, N.onnx; standard output gets a line of JSON for each:
//
//   {"file": "3.onnx", "wrong": true, "rule": TEXT, "said": "equal" | "different" | "not comparable", "why": SENTENCE}
//
// A mutant may be true by chance; tests/gate/judge.mjs says by itself whether it is. With --half the model is taken in
// half precision.
#include <rewright/plugin/registry.h>

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>
#include <onnx/onnx_pb.h>

#include <cctype>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <memory>
#include <optional>
#include <random>
#include <set>
#include <sstream>
#include <string>

#include "base/files.h"
#include "onnx/export.h"
#include "onnx/import.h"
#include "optimize/equivalence.h"
#include "support/mutants.h"
#include "support/rewriter.h"

namespace {
using namespace rewright;

struct Settings {
  std::string model, folder;
  std::vector<std::string> rules, dims;
  std::size_t wrong = 100, most = 100;
  std::uint64_t seed = 1;
  bool half = false;
};

// --- half precision ------------------------------------------------------------------------------------------------

using onnx::TensorProto;

void make_half(onnx::TypeProto& type) {
  if (type.has_tensor_type() && type.tensor_type().elem_type() == TensorProto::FLOAT)
    type.mutable_tensor_type()->set_elem_type(TensorProto::FLOAT16);
}

void make_half(TensorProto& tensor) {
  if (tensor.data_type() != TensorProto::FLOAT) return;
  const std::string raw = tensor.raw_data();
  std::vector<float> values(tensor.float_data().begin(), tensor.float_data().end());
  if (values.empty()) {
    values.resize(raw.size() / sizeof(float));
    std::memcpy(values.data(), raw.data(), values.size() * sizeof(float));
  }
  std::string halves;
  for (const float value : values) {
    const auto half = static_cast<_Float16>(value);
    halves.append(reinterpret_cast<const char*>(&half), sizeof half);
  }
  tensor.clear_float_data();
  tensor.set_raw_data(halves);
  tensor.set_data_type(TensorProto::FLOAT16);
}

void make_half(onnx::GraphProto& graph) {
  for (auto& tensor : *graph.mutable_initializer()) make_half(tensor);
  for (auto* values : {graph.mutable_input(), graph.mutable_output(), graph.mutable_value_info()})
    for (auto& value : *values) make_half(*value.mutable_type());
  for (auto& node : *graph.mutable_node()) {
    for (auto& attribute : *node.mutable_attribute()) {
      if (attribute.has_t()) make_half(*attribute.mutable_t());
      if (attribute.has_g()) make_half(*attribute.mutable_g());
      if (attribute.name() == "to" && attribute.i() == TensorProto::FLOAT) attribute.set_i(TensorProto::FLOAT16);
    }
  }
}

Result<std::string> in_half(const std::string& bytes) {
  onnx::ModelProto model;
  if (!model.ParseFromString(bytes)) return make_error(ErrorCode::kParse, "it is no model");
  make_half(*model.mutable_graph());
  return model.SerializeAsString();
}

// --- rules -----------------------------------------------------------------------------------------------------------

/// Those of a file of rules; their certificates and families do not matter here.
Status read_rules(const std::string& file, const Registry& registry, std::vector<Rule>& rules) {
  REWRIGHT_TRY(const std::string content, read_file(file));
  std::istringstream lines(content);
  for (std::string line; std::getline(lines, line);) {
    const bool named = line.starts_with("rule ");
    if (!named && !line.starts_with("(")) continue;
    REWRIGHT_TRY(Rule rule, parse_rule(named ? line.substr(5) : line, registry));
    rules.push_back(std::move(rule));
  }
  return {};
}

/// One number of the target that is another, or 2 where there is none: constants, factors, exponents, bounds.
std::optional<Rule> with_other_number(const Rule& rule, std::mt19937_64& random) {
  const std::string text = to_text(rule);
  std::vector<std::size_t> places;
  for (std::size_t at = text.find("=> "); at < text.size(); ++at)
    if (std::isdigit(static_cast<unsigned char>(text[at])) != 0 && text[at - 1] == '=') places.push_back(at);
  if (places.empty()) return std::nullopt;
  std::string changed = text;
  const std::size_t at = places[random() % places.size()];
  changed[at] = changed[at] == '2' ? '3' : '2';
  auto read = parse_rule(changed.substr(0, changed.find(" where ")), rewright::testing::loaded());
  if (!read) return std::nullopt;
  return *std::move(read);
}

std::vector<Rule> wrong_rules(std::vector<Rule> rules, std::size_t count, std::uint64_t seed) {
  std::erase_if(rules, [](const Rule& rule) { return rule.inputs.empty(); });
  std::vector<Rule> wrong = rewright::testing::mutants(rules, count, seed);
  std::mt19937_64 random(seed);
  for (const Rule& rule : rules)
    if (auto changed = with_other_number(rule, random)) wrong.push_back(*std::move(changed));
  return wrong;
}

// --- trials ----------------------------------------------------------------------------------------------------------

class Trials {
 public:
  Trials(const Settings& settings, const ImportedModel& imported, const EquivalenceGate& gate)
      : settings_(settings), imported_(imported), gate_(gate) {}

  /// Those that matched, whether they were tried or not.
  std::vector<Rule> run(std::vector<Rule> rules, bool wrong) {
    const Rewriter rewriter(std::move(rules));
    std::set<std::size_t> matched;
    std::size_t tried = 0;
    for (const Match& match : rewriter.matches(imported_.graph)) {
      if (!matched.insert(match.rule).second || tried >= settings_.most) continue;
      const auto rewritten = rewriter.apply(imported_.graph, match);
      if (!rewritten || to_text(*rewritten) == to_text(imported_.graph)) continue;
      report(*rewritten, rewriter.rules()[match.rule], wrong);
      ++tried;
    }
    std::vector<Rule> those;
    for (const std::size_t rule : matched) those.push_back(rewriter.rules()[rule]);
    return those;
  }

 private:
  void report(const Graph& rewritten, const Rule& rule, bool wrong) {
    const auto model = export_model(rewritten, imported_);
    if (!model) return;
    const std::string name = fmt::format("{}.onnx", count_++);
    if (!write_file(settings_.folder + "/" + name, *model)) return;
    nlohmann::json line = {{"file", name}, {"wrong", wrong}, {"rule", to_text(rule)}};
    const auto checked = gate_.check(rewritten, *model);
    const bool is_judged = checked && checked->verdict != GateVerdict::kNotComparable;
    line["said"] = !is_judged ? "not comparable" : checked->equal() ? "equal" : "different";
    line["why"] = !checked ? checked.error().message : checked->difference + checked->reason;
    std::printf("%s\n", line.dump().c_str());
    std::fflush(stdout);
  }

  const Settings& settings_;
  const ImportedModel& imported_;
  const EquivalenceGate& gate_;
  int count_ = 0;
};

Result<int> run(const Settings& settings) {
  const Registry& registry = rewright::testing::loaded();
  REWRIGHT_TRY(const Runtime* runtime, registry.get<Runtime>("onnxruntime"));
  REWRIGHT_TRY(std::string bytes, read_file(settings.model));
  if (settings.half) {
    REWRIGHT_TRY(bytes, in_half(bytes));
  }
  REWRIGHT_CHECK(write_file(settings.folder + "/original.onnx", bytes));
  ImportOptions import;
  for (const std::string& dim : settings.dims)
    import.dimensions[dim.substr(0, dim.find('='))] = std::stoll(dim.substr(dim.find('=') + 1));
  REWRIGHT_TRY(const ImportedModel imported, import_model(std::as_bytes(std::span(bytes)), registry, import));
  std::vector<Rule> rules;
  for (const std::string& file : settings.rules) REWRIGHT_CHECK(read_rules(file, registry, rules));

  EquivalenceOptions options;
  options.runtime = runtime;
  options.original_model = bytes;
  options.to_model = [&](const Graph& graph) { return export_model(graph, imported); };
  options.from_model = [&](const std::string& written, std::size_t) -> Result<Graph> {
    REWRIGHT_TRY(ImportedModel read, import_model(std::as_bytes(std::span(written)), registry, import));
    return std::move(read.graph);
  };
  options.external = &imported.external;
  REWRIGHT_TRY(const EquivalenceGate gate, EquivalenceGate::create(imported.graph, options));
  if (gate.reason().find("draws random numbers") != std::string::npos)
    return make_error(ErrorCode::kUnsupported, "{}", gate.reason());
  Trials trials(settings, imported, gate);
  const std::vector<Rule> matched = trials.run(rules, false);
  trials.run(wrong_rules(matched, settings.wrong, settings.seed), true);
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app("What the gate says of true and wrong rewrites");
  Settings settings;
  app.add_option("model", settings.model)->required();
  app.add_option("folder", settings.folder)->required();
  app.add_option("--rules", settings.rules)->required();
  app.add_option("--wrong", settings.wrong, "Mutants that are made; those that match are tried");
  app.add_option("--most", settings.most, "Rewrites of each kind");
  app.add_option("--seed", settings.seed);
  app.add_option("--dim", settings.dims);
  app.add_flag("--half", settings.half);
  CLI11_PARSE(app, argc, argv);
  const Result<int> status = run(settings);
  if (!status) std::fprintf(stderr, "gate_trial: %s: %s\n", settings.model.c_str(), status.error().message.c_str());
  return status ? *status : 1;
}
