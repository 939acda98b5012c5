#include "campaign/config.h"

#include <rewright/operator/operator.h>
#include <rewright/rule/pruner.h>

#include <nlohmann/json.hpp>

#include <algorithm>
#include <filesystem>

#include "base/files.h"
#include "base/spelling.h"
#include "base/toml_section.h"
#include "campaign/operator_choices.h"

namespace rewright {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

constexpr std::int64_t kMostOperators = 7;
constexpr std::int64_t kMostOperatorsOnAllSamples = 4;  // Larger spaces are told apart on a few samples first.
constexpr std::size_t kMostInputs = 32;
constexpr std::int64_t kMostElements = std::int64_t{1} << 16;

bool is_identifier(std::string_view name) {
  const auto letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; };
  return !name.empty() && letter(name.front()) &&
         std::all_of(name.begin(), name.end(), [&](char c) { return letter(c) || (c >= '0' && c <= '9'); });
}

// Paths in a campaign file are relative to the file.
std::string beside(const std::string& file, const std::string& path) {
  return (fs::path(file).parent_path() / path).lexically_normal().string();
}

Result<Shape> read_shape(const Section& section, const std::string& input, const toml::array& list,
                         std::int64_t max_elements) {
  if (list.size() > kMaxRank) {
    return section.error(list,
                         fmt::format("input '{}' has {} axes; a tensor has at most {}", input, list.size(), kMaxRank));
  }
  Shape shape;
  std::int64_t elements = 1;
  for (const toml::node& size : list) {
    const auto* value = size.as_integer();
    if (value == nullptr || value->get() < 1 || value->get() > max_elements) {
      return section.error(size, fmt::format("a size of input '{}' must be an integer from 1 to {} (max_elements), not "
                                             "{}",
                                             input, max_elements, describe(size)));
    }
    elements *= value->get();
    if (elements > max_elements) {
      return section.error(list,
                           fmt::format("input '{}' has more than {} elements (max_elements)", input, max_elements));
    }
    shape.append(value->get());
  }
  return shape;
}

// shape = [2, 4], or shapes = [[2, 4], [3, 5]]: every graph is computed on the first, and again on the second.
Status read_shapes(Section& section, std::int64_t max_elements, EnumerationInput& input) {
  const toml::node* const several = section.find("shapes");
  REWRIGHT_TRY(const toml::array* one, section.list("shape", several == nullptr));
  if (several == nullptr) {
    REWRIGHT_TRY(input.shape, read_shape(section, input.name, *one, max_elements));
    return {};
  }
  if (section.find("shape") != nullptr) {
    return section.error(*several,
                         fmt::format("input '{}' has both 'shape' and 'shapes'; give one of them", input.name));
  }
  REWRIGHT_TRY(const toml::array* list, section.list("shapes", true));
  if (list->empty())
    return section.error(*list, fmt::format("'shapes' of input '{}' must list at least one shape", input.name));
  for (const toml::node& node : *list) {
    if (!node.is_array()) {
      return section.error(
          node, fmt::format("'shapes' of input '{}' is a list of shapes like [[2, 4], [3, 5]], not of {}", input.name,
                            describe(node)));
    }
    REWRIGHT_TRY(Shape shape, read_shape(section, input.name, *node.as_array(), max_elements));
    if (&node == &list->front()) {
      input.shape = std::move(shape);
    } else if (shape.rank() != input.shape.rank()) {
      return section.error(node, fmt::format("the shapes of input '{}' have ranks {} and {}; they must be equal",
                                             input.name, input.shape.rank(), shape.rank()));
    } else {
      input.more_shapes.push_back(std::move(shape));
    }
  }
  return {};
}

Result<EnumerationInput> read_input(const std::string& file, const toml::node& node, std::int64_t max_elements) {
  if (!node.is_table()) {
    return toml_error(file, node, "an input is a table like { name = \"x\", shape = [2, 4] }, not " + describe(node));
  }
  Section section(file, "an input", *node.as_table());
  EnumerationInput input;
  REWRIGHT_TRY(input.name, section.text("name"));
  if (!is_identifier(input.name)) {
    return section.error(*section.find("name"), fmt::format("'{}' is no name for an input: letters, digits and _ only, "
                                                            "and no digit first",
                                                            input.name));
  }
  REWRIGHT_CHECK(read_shapes(section, max_elements, input));
  REWRIGHT_TRY(const bool weight, section.boolean("weight", false));
  input.kind = weight ? InputKind::kWeight : InputKind::kData;
  REWRIGHT_CHECK(section.finish());
  return input;
}

Status read_inputs(Section& campaign, const std::string& file, EnumerationConfig& config) {
  REWRIGHT_TRY(const toml::array* list, campaign.list("inputs", true));
  for (const toml::node& node : *list) {
    REWRIGHT_TRY(EnumerationInput input, read_input(file, node, config.max_elements));
    const auto same = [&](const EnumerationInput& other) { return other.name == input.name; };
    if (std::any_of(config.inputs.begin(), config.inputs.end(), same)) {
      return toml_error(file, node, fmt::format("two inputs are named '{}'", input.name));
    }
    if (!config.inputs.empty() && config.inputs[0].more_shapes.size() != input.more_shapes.size()) {
      return toml_error(
          file, node,
          fmt::format("input '{}' has {} and '{}' has {}; all inputs need equally many shapes", input.name,
                      input.more_shapes.size() + 1, config.inputs[0].name, config.inputs[0].more_shapes.size() + 1));
    }
    if (config.inputs.size() == kMostInputs) {
      return toml_error(file, node, fmt::format("more than {} inputs", kMostInputs));
    }
    config.inputs.push_back(std::move(input));
  }
  if (config.inputs.empty()) return toml_error(file, *list, "'inputs' must name at least one input");
  return {};
}

Result<std::variant<bool, std::int64_t, double, std::string>> read_option(const std::string& file,
                                                                          const std::string& key,
                                                                          const toml::node& node) {
  using Option = std::variant<bool, std::int64_t, double, std::string>;
  if (const auto* truth = node.as_boolean()) return Option(truth->get());
  if (const auto* number = node.as_integer()) return Option(number->get());
  if (const auto* number = node.as_floating_point()) return Option(number->get());
  if (const auto* text = node.as_string()) return Option(text->get());
  return toml_error(file, node,
                    fmt::format("option '{}' must be true, false, a number or a text, not {}", key, describe(node)));
}

// "z3" or { name = "z3", OPTION = ... }.
Result<PluginUse> read_use(const std::string& file, const char* kind, const toml::node& node) {
  PluginUse use;
  if (const auto* name = node.as_string()) {
    use.name = name->get();
    return use;
  }
  if (!node.is_table()) {
    return toml_error(file, node,
                      fmt::format("a {} is a name or a table like {{ name = \"...\" }}, not {}", kind, describe(node)));
  }
  Section section(file, fmt::format("a {}", kind), *node.as_table());
  REWRIGHT_TRY(use.name, section.text("name"));
  for (const auto& [key, value] : in_file_order(section.table())) {
    if (key == "name") continue;
    REWRIGHT_TRY(use.options[key], read_option(file, key, *value));
  }
  return use;
}

// Finds the plugin and tries its options, so that a mistake is reported where it stands.
Status try_use(const PluginUse& use, const Pruner& pruner) {
  if (pruner.subject() == Pruner::Subject::kRules) {
    REWRIGHT_CHECK(pruner.start_on_rules(use.options));
  } else {
    REWRIGHT_CHECK(pruner.start(use.options));
  }
  return {};
}
Status try_use(const PluginUse& use, const Verifier& verifier) { return verifier.clone()->configure(use.options); }

template <class Kind>
Result<std::vector<PluginUse>> read_uses(Section& campaign, const std::string& file, const char* kind,
                                         const Registry& registry) {
  const std::string key = fmt::format("{}s", kind);
  REWRIGHT_TRY(const toml::array* list, campaign.list(key, false));
  std::vector<PluginUse> uses;
  for (const toml::node& node : *list) {
    REWRIGHT_TRY(PluginUse use, read_use(file, kind, node));
    const Kind* plugin = registry.find<Kind>(use.name);
    if (plugin == nullptr) {
      std::vector<std::string> names;
      for (const Kind* known : registry.all<Kind>()) names.push_back(known->name());
      const std::optional<std::string> near = nearest(use.name, names);
      return toml_error(file, node,
                        fmt::format("there is no {} '{}'; {}there are: {}", kind, use.name,
                                    near ? fmt::format("did you mean '{}'? ", *near) : "", fmt::join(names, ", ")));
    }
    const auto same = [&](const PluginUse& other) { return other.name == use.name && other.options == use.options; };
    if (std::any_of(uses.begin(), uses.end(), same)) {
      return toml_error(file, node, fmt::format("{} '{}' is listed twice", kind, use.name));
    }
    if (const Status status = try_use(use, *plugin); !status) return toml_error(file, node, status.error().message);
    uses.push_back(std::move(use));
  }
  return uses;
}

// Pruners of rules come last: they work on what is proved, the others on what is to be proved.
Result<std::vector<PluginUse>> read_pruners(Section& campaign, const std::string& file, const Registry& registry) {
  REWRIGHT_TRY(std::vector<PluginUse> uses, read_uses<Pruner>(campaign, file, "pruner", registry));
  const PluginUse* before = nullptr;
  for (PluginUse& use : uses) {
    use.on_rules = registry.find<Pruner>(use.name)->subject() == Pruner::Subject::kRules;
    if (before != nullptr && !use.on_rules) {
      return toml_error(file, *campaign.find("pruners"),
                        fmt::format("pruner '{}' works on candidates and '{}' on proved rules; list '{}' first",
                                    use.name, before->name, use.name));
    }
    if (use.on_rules) before = &use;
  }
  return uses;
}

Result<std::vector<AxiomFile>> read_files(Section& campaign, const std::string& file, const std::string& key,
                                          const std::string& kind) {
  REWRIGHT_TRY(const toml::array* list, campaign.list(key, false));
  std::vector<AxiomFile> files;
  for (const toml::node& node : *list) {
    const auto* name = node.as_string();
    if (name == nullptr)
      return toml_error(file, node, fmt::format("{} is a path in quotes, not {}", kind, describe(node)));
    const std::string path = beside(file, name->get());
    if (!fs::is_regular_file(path)) {
      return toml_error(
          file, node,
          fmt::format("there is no file '{}' (paths are relative to the campaign file); {} is wanted", path, kind));
    }
    files.push_back({name->get(), path});
  }
  return files;
}

Result<Budget> read_budget(Section& root, const std::string& file) {
  REWRIGHT_TRY(const toml::table* table, root.section("budget", false));
  Section section(file, "[budget]", *table);
  Budget budget;
  REWRIGHT_TRY(const std::int64_t work, section.integer("work", {.least = 1}, static_cast<std::int64_t>(budget.work)));
  budget.work = static_cast<std::uint64_t>(work);
  REWRIGHT_TRY(budget.memory_bytes, section.size_bytes("memory", budget.memory_bytes));
  REWRIGHT_CHECK(section.finish());
  return budget;
}

Result<Isolation> read_isolation(Section& root, const std::string& file) {
  static const std::map<std::string, Apart> kWhich = {
      {"foreign", Apart::kForeign}, {"all", Apart::kAll}, {"none", Apart::kNone}};
  REWRIGHT_TRY(const toml::table* table, root.section("isolation", false));
  Section section(file, "[isolation]", *table);
  Isolation isolation;
  REWRIGHT_TRY(const std::string which, section.text("verifiers", "foreign"));
  if (!kWhich.contains(which)) {
    return toml_error(
        file, *section.find("verifiers"),
        fmt::format("verifiers is '{}'; there are 'foreign' (those that did not come with the program run "
                    "in processes of their own), 'all' and 'none'",
                    which));
  }
  isolation.which = kWhich.at(which);
  REWRIGHT_TRY(isolation.answer_seconds,
               section.integer("answer_seconds", {.least = 1, .most = 1'000'000}, isolation.answer_seconds));
  REWRIGHT_TRY(const std::int64_t crashes, section.integer("most_crashes", {.least = 1, .most = 1'000'000},
                                                           static_cast<std::int64_t>(isolation.most_crashes)));
  isolation.most_crashes = static_cast<std::size_t>(crashes);
  REWRIGHT_CHECK(section.finish());
  return isolation;
}

Result<Trust> read_trust(Section& campaign, const std::string& file) {
  REWRIGHT_TRY(const std::string name, campaign.text("trust", name_of(Trust::kSolver)));
  for (const Trust trust : {Trust::kSolver, Trust::kCertificate, Trust::kTheorem}) {
    if (name == name_of(trust)) return trust;
  }
  return toml_error(
      file, *campaign.find("trust"),
      fmt::format("trust is '{}'; there are 'solver' (a solver's word will do), 'certificate' (only rules whose proof "
                  "has been replayed) and 'theorem' (only those that are proved from the operators' definitions)",
                  name));
}

Result<CampaignConfig> read_document(const std::string& file, const toml::table& document, const Registry& registry) {
  CampaignConfig config;
  config.file = file;
  Section root(file, "the file", document);
  REWRIGHT_TRY(const toml::table* table, root.section("campaign", true));
  Section campaign(file, "[campaign]", *table);
  REWRIGHT_TRY(config.name, campaign.text("name"));
  EnumerationConfig& enumeration = config.enumeration;
  REWRIGHT_TRY(const std::int64_t seed, campaign.integer("seed", {.least = 0}, 1));
  enumeration.seed = static_cast<std::uint64_t>(seed);
  REWRIGHT_TRY(const std::int64_t operators, campaign.integer("max_operators", {1, kMostOperators}));
  enumeration.max_operators = static_cast<int>(operators);
  enumeration.few_samples_first = operators > kMostOperatorsOnAllSamples;
  REWRIGHT_TRY(enumeration.max_elements,
               campaign.integer("max_elements", {1, kMostElements}, enumeration.max_elements));
  REWRIGHT_TRY(enumeration.instances, campaign.boolean("instances", true));
  REWRIGHT_CHECK(read_inputs(campaign, file, enumeration));
  REWRIGHT_TRY(config.budget, read_budget(root, file));
  REWRIGHT_TRY(config.isolation, read_isolation(root, file));
  REWRIGHT_TRY(config.pruners, read_pruners(campaign, file, registry));
  REWRIGHT_TRY(config.generalise, campaign.boolean("generalise", false));
  if (config.generalise && std::ranges::none_of(config.pruners, &PluginUse::on_rules)) {
    return toml_error(file, *campaign.find("generalise"),
                      "'generalise' needs a pruner of rules ('specialisation', 'derivable') that drops what a more "
                      "general rule makes superfluous");
  }
  REWRIGHT_TRY(config.verifiers, read_uses<Verifier>(campaign, file, "verifier", registry));
  REWRIGHT_TRY(config.axioms, read_files(campaign, file, "axioms", "an axiom file"));
  REWRIGHT_TRY(config.rules, read_files(campaign, file, "rules", "a file of rules with proofs"));
  REWRIGHT_TRY(config.cross_check, campaign.boolean("cross_check", false));
  REWRIGHT_TRY(config.trust, read_trust(campaign, file));
  if (campaign.find("store") != nullptr) {
    REWRIGHT_TRY(const std::string store, campaign.text("store"));
    config.store = beside(file, store);
  }
  REWRIGHT_CHECK(campaign.finish());
  REWRIGHT_TRY(const toml::table* choices, root.section("operators", true));
  REWRIGHT_TRY(enumeration.operators,
               read_operator_choices(file, *choices, enumeration.inputs[0].more_shapes.size() + 1, registry));
  REWRIGHT_CHECK(root.finish());
  return config;
}

Json to_json(const PluginUse& use) {
  Json options = Json::object();
  for (const auto& [key, value] : use.options) {
    std::visit([&, &name = key](const auto& plain) { options[name] = plain; }, value);
  }
  Json json = {{"name", use.name}, {"options", std::move(options)}};
  if (use.on_rules) json["on_rules"] = true;
  return json;
}

}  // namespace

Result<CampaignConfig> load_campaign(const std::string& file, const Registry& registry) {
  REWRIGHT_TRY(const std::string text, read_file(file));
  REWRIGHT_TRY(const toml::table document, parse_toml(text, file));
  return read_document(file, document, registry);
}

std::string resolved_text(const CampaignConfig& config) {
  Json inputs = Json::array();
  for (const EnumerationInput& input : config.enumeration.inputs) {
    inputs.push_back(
        {{"name", input.name}, {"shape", input.shape.dims()}, {"weight", input.kind == InputKind::kWeight}});
    for (const Shape& shape : input.more_shapes) inputs.back()["more_shapes"].push_back(shape.dims());
  }
  Json operators = Json::array();
  for (const OperatorChoice& choice : config.enumeration.operators) {
    operators.push_back({{"choice", choice.op->name() + to_string(choice.op->info().params, choice.params)},
                         {"no_weight_operands", choice.no_weight_operands},
                         {"inputs_only", choice.inputs_only},
                         {"distinct_operands", choice.distinct_operands},
                         {"operands_in_order", choice.operands_in_order},
                         {"operands_up_to", choice.operands_up_to}});
    for (const Params& params : choice.more_params)
      operators.back()["more_params"].push_back(to_string(choice.op->info().params, params));
  }
  Json pruners = Json::array(), verifiers = Json::array(), axioms = Json::array(), rules = Json::array();
  for (const PluginUse& use : config.pruners) pruners.push_back(to_json(use));
  for (const PluginUse& use : config.verifiers) verifiers.push_back(to_json(use));
  for (const AxiomFile& axiom : config.axioms) axioms.push_back(axiom.name);
  for (const AxiomFile& library : config.rules) rules.push_back(library.name);
  return Json{{"name", config.name},
              {"seed", config.enumeration.seed},
              {"max_operators", config.enumeration.max_operators},
              {"max_elements", config.enumeration.max_elements},
              {"instances", config.enumeration.instances},
              {"inputs", std::move(inputs)},
              {"operators", std::move(operators)},
              {"pruners", std::move(pruners)},
              {"generalise", config.generalise},
              {"verifiers", std::move(verifiers)},
              {"work", config.budget.work},
              {"memory_bytes", config.budget.memory_bytes},
              {"answer_seconds", config.isolation.answer_seconds},
              {"most_crashes", config.isolation.most_crashes},
              {"cross_check", config.cross_check},
              {"trust", name_of(config.trust)},
              {"axioms", std::move(axioms)},
              {"rules", std::move(rules)}}
      .dump();
}

std::vector<PluginUse> pruners_of(const std::string& resolved) {
  const Json config = Json::parse(resolved, nullptr, false);
  std::vector<PluginUse> uses;
  if (!config.is_object() || !config.contains("pruners")) return uses;
  for (const Json& use : config["pruners"]) uses.push_back({use.value("name", ""), {}, use.value("on_rules", false)});
  return uses;
}

}  // namespace rewright
