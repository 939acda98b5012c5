#include "campaign/operator_choices.h"

#include <rewright/operator/operator.h>

#include <algorithm>
#include <limits>

#include "base/spelling.h"
#include "tensor/real.h"

namespace rewright {
namespace {

using Value = decltype(NamedParam::value);

constexpr std::size_t kMostChoices = 10'000;

const char* expectation(ParamKind kind) {
  switch (kind) {
    case ParamKind::kInt: return "an integer, or a list of integers to try";
    case ParamKind::kChoice: return "a name, or a list of names to try";
    case ParamKind::kReal: return "a number such as 0.5 or \"1/6\", or a list of numbers to try";
    case ParamKind::kInts:
    case ParamKind::kSizes: break;
  }
  return "a list of integers, or a list of such lists to try";
}

/// What of a list is no integer of at least `least`: the list itself where it is none, null where all is well.
const toml::node* wrong_in(const toml::node& list, std::int64_t least) {
  if (!list.is_array()) return &list;
  for (const toml::node& element : *list.as_array())
    if (const auto* value = element.as_integer(); value == nullptr || value->get() < least) return &element;
  return nullptr;
}

std::vector<std::int64_t> integers_of(const toml::node& list) {
  std::vector<std::int64_t> values;
  for (const toml::node& element : *list.as_array()) values.push_back(element.as_integer()->get());
  return values;
}

// One value of the parameter, if `node` is one.
std::optional<Value> single(const ParamSpec& spec, const toml::node& node) {
  switch (spec.kind) {
    case ParamKind::kInt:
      if (const auto* value = node.as_integer()) return Value(value->get());
      return std::nullopt;
    case ParamKind::kReal:
      if (const auto* value = node.as_floating_point()) return Value(value->get());
      if (const auto* value = node.as_integer()) return Value(static_cast<double>(value->get()));
      if (const auto* text = node.as_string()) {
        if (const auto value = parse_real(text->get())) return Value(*value);
      }
      return std::nullopt;
    case ParamKind::kChoice:
      if (const auto* value = node.as_string()) return Value(value->get());
      return std::nullopt;
    case ParamKind::kInts:
    case ParamKind::kSizes:
      if (wrong_in(node, std::numeric_limits<std::int64_t>::min()) == nullptr) return Value(integers_of(node));
      break;
  }
  return std::nullopt;
}

Status check_choice(const std::string& file, const ParamSpec& spec, const toml::node& node, const Value& value) {
  if (spec.kind != ParamKind::kChoice) return {};
  const std::string& name = std::get<std::string>(value);
  if (std::find(spec.choices.begin(), spec.choices.end(), name) != spec.choices.end()) return {};
  const std::optional<std::string> near = nearest(name, spec.choices);
  return toml_error(file, node,
                    fmt::format("'{}' is no value of '{}'; {}there are: {}", name, spec.name,
                                near ? fmt::format("did you mean '{}'? ", *near) : "", fmt::join(spec.choices, ", ")));
}

Result<std::vector<Value>> read_values(const std::string& file, const ParamSpec& spec, const toml::node& node) {
  std::vector<const toml::node*> nodes;
  if (single(spec, node)) {
    nodes.push_back(&node);
  } else if (const toml::array* list = node.as_array(); list != nullptr && !list->empty()) {
    for (const toml::node& element : *list) nodes.push_back(&element);
  }
  std::vector<Value> values;
  for (const toml::node* each : nodes) {
    std::optional<Value> value = single(spec, *each);
    if (!value) {
      return toml_error(file, *each,
                        fmt::format("'{}' must be {}, not {}", spec.name, expectation(spec.kind), describe(*each)));
    }
    REWRIGHT_CHECK(check_choice(file, spec, *each, *value));
    if (std::find(values.begin(), values.end(), *value) != values.end()) {
      return toml_error(file, *each, fmt::format("this value of '{}' is listed twice", spec.name));
    }
    values.push_back(*std::move(value));
  }
  if (values.empty()) {
    return toml_error(file, node,
                      fmt::format("'{}' must be {}, not {}", spec.name, expectation(spec.kind), describe(node)));
  }
  return values;
}

// Sizes that are left out are those of the operand's last concatenation: a split undoes a concat.
bool cuts_by_itself(const Operator& op, const ParamSpec& spec) {
  return spec.kind == ParamKind::kSizes && spec.required && op.info().min_arity == 1;
}

// Operands that take no weight directly: { data_operands = [0] }. Bit i stands for operand i.
Result<std::uint32_t> read_data_operands(const Operator& op, Section& section) {
  REWRIGHT_TRY(const toml::array* list, section.list("data_operands", false));
  const int most = op.info().max_arity < 0 ? 32 : op.info().max_arity;
  std::uint32_t bits = 0;
  for (const toml::node& node : *list) {
    const auto* operand = node.as_integer();
    if (operand == nullptr || operand->get() < 0 || operand->get() >= most) {
      return section.error(node, fmt::format("'data_operands' lists operands of '{}' by number, from 0 to {}, not {}",
                                             op.name(), most - 1, describe(node)));
    }
    bits |= std::uint32_t{1} << operand->get();
  }
  return bits;
}

// sizes = { shapes = [[3, 3], [2, 2]] }: one list for each shape that the inputs have.
Result<std::vector<Value>> read_sizes_by_shape(const std::string& file, const ParamSpec& spec, const toml::table& table,
                                               std::size_t shapes) {
  Section section(file, fmt::format("'{}'", spec.name), table);
  REWRIGHT_TRY(const toml::array* list, section.list("shapes", true));
  REWRIGHT_CHECK(section.finish());
  if (list->size() != shapes) {
    return section.error(
        *list, fmt::format("'shapes' of '{}' lists {} lists of sizes, and the inputs have {} shapes each", spec.name,
                           list->size(), shapes));
  }
  std::vector<Value> values;
  for (const toml::node& node : *list) {
    if (const toml::node* wrong = wrong_in(node, std::numeric_limits<std::int64_t>::min()); wrong != nullptr) {
      return section.error(*wrong, fmt::format("'shapes' of '{}' is a list of lists of integers, and this is {}",
                                               spec.name, describe(*wrong)));
    }
    values.push_back(integers_of(node));
  }
  return values;
}

// operands_up_to = [[0, 0, 0, 0], [0, 0, 3, 3]]: rank and largest sizes of each operand, 0 for any size.
Result<std::vector<std::vector<std::int64_t>>> read_operands_up_to(const Operator& op, Section& section) {
  REWRIGHT_TRY(const toml::array* list, section.list("operands_up_to", false));
  std::vector<std::vector<std::int64_t>> operands;
  for (const toml::node& node : *list) {
    if (const toml::node* wrong = wrong_in(node, 0); wrong != nullptr) {
      return section.error(
          *wrong, fmt::format("'operands_up_to' is a list of lists of sizes like [[0, 0, 3, 3]], and this is {}",
                              describe(*wrong)));
    }
    operands.push_back(integers_of(node));
  }
  const auto arity = static_cast<std::size_t>(op.info().max_arity < 0 ? 2 : op.info().min_arity);
  if (!operands.empty() && operands.size() != arity) {
    return section.error(
        *list, fmt::format("'operands_up_to' lists {} operands, and '{}' takes {}", operands.size(), op.name(), arity));
  }
  return operands;
}

// All combinations of one table { parameter = values, ... }.
Result<std::vector<std::vector<NamedParam>>> combinations(const Operator& op, const std::string& file, Section& section,
                                                          std::size_t shapes,
                                                          std::map<std::string, std::vector<Value>>& by_shape) {
  std::vector<std::vector<NamedParam>> all(1);
  for (const ParamSpec& spec : op.info().params) {
    const toml::node* node = section.find(spec.name);
    if (node == nullptr) {
      if (cuts_by_itself(op, spec)) {
        for (auto& chosen : all) chosen.push_back({spec.name, std::vector<std::int64_t>()});
      }
      continue;
    }
    if (spec.kind == ParamKind::kSizes && node->is_table()) {
      REWRIGHT_TRY(by_shape[spec.name], read_sizes_by_shape(file, spec, *node->as_table(), shapes));
      for (auto& chosen : all) chosen.push_back({spec.name, by_shape[spec.name][0]});
      continue;
    }
    REWRIGHT_TRY(const std::vector<Value> values, read_values(file, spec, *node));
    if (all.size() * values.size() > kMostChoices) {
      return toml_error(file, *node,
                        fmt::format("operator '{}' has more than {} combinations of values", op.name(), kMostChoices));
    }
    std::vector<std::vector<NamedParam>> longer;
    for (const auto& chosen : all) {
      for (const Value& value : values) {
        longer.push_back(chosen);
        longer.back().push_back({spec.name, value});
      }
    }
    all = std::move(longer);
  }
  return all;
}

Status add_choices(const std::string& file, const Operator& op, const toml::node& node, std::size_t shapes,
                   std::vector<OperatorChoice>& choices) {
  if (!node.is_table()) {
    return toml_error(file, node,
                      fmt::format("operator '{}' must be a table of parameters (may be empty: {{}}), or a "
                                  "list of such tables, not {}",
                                  op.name(), describe(node)));
  }
  Section section(file, fmt::format("operator '{}'", op.name()), *node.as_table());
  std::map<std::string, std::vector<Value>> by_shape;
  REWRIGHT_TRY(const auto all, combinations(op, file, section, shapes, by_shape));
  REWRIGHT_TRY(const std::uint32_t data_operands, read_data_operands(op, section));
  OperatorChoice chosen;
  chosen.op = &op;
  chosen.no_weight_operands = data_operands;
  REWRIGHT_TRY(chosen.inputs_only, section.boolean("inputs_only", false));
  REWRIGHT_TRY(chosen.distinct_operands, section.boolean("distinct_operands", false));
  REWRIGHT_TRY(chosen.operands_in_order, section.boolean("operands_in_order", false));
  REWRIGHT_TRY(chosen.operands_up_to, read_operands_up_to(op, section));
  REWRIGHT_CHECK(section.finish());
  for (const std::vector<NamedParam>& named : all) {
    Result<Params> params = make_params(op.name(), op.info().params, named);
    if (!params) return toml_error(file, node, params.error().message);
    const auto same = [&](const OperatorChoice& other) { return other.op == &op && other.params == *params; };
    if (std::any_of(choices.begin(), choices.end(), same)) {
      return toml_error(file, node,
                        fmt::format("{}{} is listed twice", op.name(), to_string(op.info().params, *params)));
    }
    choices.push_back(chosen);
    choices.back().params = *std::move(params);
    for (std::size_t shape = 1; shape < shapes && !by_shape.empty(); ++shape) {
      std::vector<NamedParam> other = named;
      for (NamedParam& param : other) {
        if (by_shape.contains(param.name)) param.value = by_shape.at(param.name)[shape];
      }
      params = make_params(op.name(), op.info().params, other);
      if (!params) return toml_error(file, node, params.error().message);
      choices.back().more_params.push_back(*std::move(params));
    }
  }
  return {};
}

}  // namespace

Result<std::vector<OperatorChoice>> read_operator_choices(const std::string& file, const toml::table& table,
                                                          std::size_t shapes, const Registry& registry) {
  std::vector<OperatorChoice> choices;
  for (const auto& [name, node] : in_file_order(table)) {
    const Operator* op = registry.find<Operator>(name);
    if (op == nullptr) {
      std::vector<std::string> names;
      for (const Operator* known : registry.all<Operator>()) names.push_back(known->name());
      const std::optional<std::string> near = nearest(name, names);
      return toml_error(
          file, *node,
          fmt::format("there is no operator '{}'; {}rewright operators list shows them all, and --plugin FILE.so "
                      "loads others",
                      name, near ? fmt::format("did you mean '{}'? ", *near) : ""));
    }
    const toml::array* tables = node->as_array();
    if (tables == nullptr) {
      REWRIGHT_CHECK(add_choices(file, *op, *node, shapes, choices));
      continue;
    }
    for (const toml::node& each : *tables) REWRIGHT_CHECK(add_choices(file, *op, each, shapes, choices));
  }
  if (choices.empty()) return toml_error(file, table, "[operators] must name at least one operator");
  return choices;
}

}  // namespace rewright
