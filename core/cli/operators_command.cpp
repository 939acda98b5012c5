// rewright operators list | show NAME
#include <rewright/operator/operator.h>

#include <optional>
#include <utility>

#include "base/spelling.h"
#include "cli/commands.h"
#include "cli/output.h"
#include "cli/program.h"
#include "contract/applications.h"

namespace rewright::cli {
namespace {

const char* name_of(ParamKind kind) {
  switch (kind) {
    case ParamKind::kInt: return "integer";
    case ParamKind::kInts: return "list of integers";
    case ParamKind::kSizes: return "list of sizes";
    case ParamKind::kChoice: return "choice";
    case ParamKind::kReal: break;
  }
  return "number";
}

std::string default_of(const ParamSpec& spec) {
  if (spec.required) return "required";
  if (spec.kind == ParamKind::kChoice) {
    return spec.choices.at(static_cast<std::size_t>(std::get<std::int64_t>(spec.default_value)));
  }
  if (const auto* number = std::get_if<std::int64_t>(&spec.default_value)) return fmt::format("{}", *number);
  if (const auto* number = std::get_if<double>(&spec.default_value)) return fmt::format("{}", *number);
  if (const auto* list = std::get_if<std::vector<std::int64_t>>(&spec.default_value)) {
    return fmt::format("[{}]", fmt::join(*list, ", "));
  }
  return fmt::format("[{}]", fmt::join(std::get<SizeList<std::int64_t>>(spec.default_value).values, ", "));
}

std::string arity_of(const OperatorInfo& info) {
  if (info.max_arity < 0) return fmt::format("{} or more", info.min_arity);
  if (info.max_arity == info.min_arity) return fmt::format("{}", info.min_arity);
  return fmt::format("{} to {}", info.min_arity, info.max_arity);
}

std::vector<std::string> traits_of(const OperatorInfo& info) {
  std::vector<std::string> traits;
  if (info.commutative) traits.emplace_back("commutative");
  if (info.multilinear) traits.emplace_back("multilinear");
  if (info.uses_order) traits.emplace_back("uses order");
  if (info.uses_functions) traits.emplace_back("uses functions");
  return traits;
}

Json to_json(const OperatorInfo& info) {
  Json params = Json::array();
  for (const ParamSpec& spec : info.params) {
    params.push_back(
        {{"name", spec.name}, {"kind", name_of(spec.kind)}, {"default", default_of(spec)}, {"choices", spec.choices}});
  }
  return {{"name", info.name},
          {"summary", info.summary},
          {"min_arity", info.min_arity},
          {"max_arity", info.max_arity},
          {"params", std::move(params)},
          {"traits", traits_of(info)},
          {"onnx", info.onnx}};
}

std::string params_of(const OperatorInfo& info) {
  std::vector<std::string> names;
  for (const ParamSpec& spec : info.params) names.push_back(spec.name);
  return fmt::format("{}", fmt::join(names, ", "));
}

Result<ExitCode> list_operators(const Settings& settings) {
  REWRIGHT_TRY(const Registry registry, settings.registry());
  Json list = Json::array();
  Table table({"name", "operands", "parameters", "summary"});
  for (const Operator* op : registry.all<Operator>()) {
    list.push_back(to_json(op->info()));
    table.add({op->name(), arity_of(op->info()), params_of(op->info()), op->info().summary});
  }
  if (settings.json) {
    print_json({{"operators", std::move(list)}});
  } else {
    print(table.to_string());
  }
  return ExitCode::kDone;
}

/// An application and what is computed there, a line a stage.
struct Example {
  std::string application;
  std::string definition;
};

std::int64_t elements_of(const contract::Application& application) {
  std::int64_t elements = 0;
  for (const Shape& shape : application.in) elements += shape.elements();
  return elements;
}

/// Of some small random applications the one that says most in a few lines, or the largest of these.
std::optional<Example> example_of(const Operator& op) {
  constexpr std::uint64_t kSeed = 4;
  constexpr std::size_t kMostText = 300;
  std::optional<Example> best;
  std::pair<std::size_t, std::int64_t> most = {0, -1};
  for (const contract::Application& drawn : contract::ApplicationSource(op, kSeed).accepted(40, 200, 50'000)) {
    const auto definition = op.definition(drawn.params, drawn.in);
    if (!definition) continue;
    Example example{contract::to_string(drawn), to_string(*definition)};
    const std::size_t length = example.definition.size();
    const std::pair says{length <= kMostText ? length : 0, elements_of(drawn)};
    if (says <= most) continue;
    most = says;
    best = std::move(example);
  }
  return best;
}

void print_example(const Example& example) {
  print_line("\n" + example.application);
  print(example.definition);
}

void print_operator(const OperatorInfo& info) {
  print_line(fmt::format("{}: {}", info.name, info.summary));
  print_line(fmt::format("operands    {}", arity_of(info)));
  if (const auto traits = traits_of(info); !traits.empty()) {
    print_line(fmt::format("traits      {}", fmt::join(traits, ", ")));
  }
  if (!info.onnx.empty()) print_line(fmt::format("ONNX        {}", fmt::join(info.onnx, ", ")));
  if (info.params.empty()) return;
  Table table({"parameter", "kind", "default", "choices"});
  for (const ParamSpec& spec : info.params) {
    table.add({spec.name, name_of(spec.kind), default_of(spec), fmt::format("{}", fmt::join(spec.choices, ", "))});
  }
  print("\n" + table.to_string());
}

Result<ExitCode> show_operator(const Settings& settings, const std::string& name) {
  REWRIGHT_TRY(const Registry registry, settings.registry());
  const Operator* op = registry.find<Operator>(name);
  if (op == nullptr) {
    std::vector<std::string> names;
    for (const Operator* known : registry.all<Operator>()) names.push_back(known->name());
    const std::optional<std::string> near = nearest(name, names);
    return make_error(ErrorCode::kNotFound, "there is no operator '{}'; {}rewright operators list shows them all", name,
                      near ? fmt::format("did you mean '{}'? ", *near) : "");
  }
  const std::optional<Example> example = example_of(*op);
  if (settings.json) {
    Json shown = to_json(op->info());
    if (example) shown["example"] = {{"application", example->application}, {"definition", example->definition}};
    print_json(shown);
  } else {
    print_operator(op->info());
    if (example) print_example(*example);
  }
  return ExitCode::kDone;
}

}  // namespace

void add_operators(Program& program) {
  const Command group = program.group("operators", "Operators: the tensor functions that graphs are made of");
  program.command(group, "list", "Lists every operator with its operands and parameters",
                  {"rewright operators list", "rewright operators list --json"}, list_operators);
  auto name = std::make_shared<std::string>();
  const Command show = program.command(group, "show", "Shows one operator: operands, parameters, traits, ONNX types",
                                       {"rewright operators show conv2d"},
                                       [name](const Settings& settings) { return show_operator(settings, *name); });
  show.add_option("NAME", *name, "The operator's name").required();
}

}  // namespace rewright::cli
