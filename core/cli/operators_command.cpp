// rewright operators list | show NAME
#include "base/spelling.h"
#include "cli/commands.h"
#include "cli/output.h"
#include "cli/program.h"

#include <rewright/operator/operator.h>

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
  if (settings.json) {
    print_json(to_json(op->info()));
  } else {
    print_operator(op->info());
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
