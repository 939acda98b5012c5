#include "campaign/identity.h"

#include <rewright/operator/operator.h>

#include <nlohmann/json.hpp>

#include <algorithm>
#include <set>

#include "base/files.h"
#include "plugin/own_folder.h"

namespace rewright {
namespace {

using Json = nlohmann::ordered_json;

// "operator matmul", "pruner renaming", ...: what the campaign uses, in the words of LoadedPlugin::provides.
std::set<std::string> used(const CampaignConfig& config) {
  std::set<std::string> objects;
  for (const OperatorChoice& choice : config.enumeration.operators) objects.insert("operator " + choice.op->name());
  for (const PluginUse& use : config.pruners) objects.insert("pruner " + use.name);
  for (const PluginUse& use : config.verifiers) objects.insert("verifier " + use.name);
  return objects;
}

std::string difference_of_files(const std::vector<Ingredient>& stored, const std::vector<Ingredient>& now) {
  const auto find = [](const std::vector<Ingredient>& all, const Ingredient& part) {
    return std::find_if(all.begin(), all.end(),
                        [&](const Ingredient& other) { return other.kind == part.kind && other.name == part.name; });
  };
  for (const Ingredient& part : now) {
    const auto old = find(stored, part);
    if (old == stored.end()) return fmt::format("{} {} was not used", part.kind, part.name);
    if (old->version != part.version) {
      return fmt::format("{} {} had version {} and has {}", part.kind, part.name, old->version, part.version);
    }
    if (old->hash != part.hash) return fmt::format("the file of {} {} has changed", part.kind, part.name);
  }
  for (const Ingredient& part : stored) {
    if (find(now, part) == now.end()) return fmt::format("{} {} was used and is not", part.kind, part.name);
  }
  return "";
}

}  // namespace

Result<std::vector<Ingredient>> plugins_of(const std::set<std::string>& objects, const Registry& registry) {
  std::vector<Ingredient> plugins;
  for (const LoadedPlugin& plugin : registry.plugins()) {
    const auto takes_part = [&](const std::string& object) { return objects.contains(object); };
    if (std::none_of(plugin.provides.begin(), plugin.provides.end(), takes_part)) continue;
    REWRIGHT_TRY(const std::string hash, file_hash(plugin.file));
    plugins.push_back({"plugin", plugin.name, plugin.version, hash});
  }
  return plugins;
}

Result<CampaignRecord> identity(const CampaignConfig& config, const Registry& registry) {
  CampaignRecord record;
  record.name = config.name;
  record.config = resolved_text(config);
  record.config_hash = content_hash(record.config);
  REWRIGHT_TRY(const std::string own_hash, file_hash(own_library()));
  record.ingredients.push_back({"program", "librewright", REWRIGHT_VERSION, own_hash});
  REWRIGHT_TRY(const std::vector<Ingredient> plugins, plugins_of(used(config), registry));
  record.ingredients.insert(record.ingredients.end(), plugins.begin(), plugins.end());
  for (const AxiomFile& axioms : config.axioms) {
    REWRIGHT_TRY(const std::string hash, file_hash(axioms.path));
    record.ingredients.push_back({"axioms", axioms.name, "", hash});
  }
  for (const AxiomFile& rules : config.rules) {
    REWRIGHT_TRY(const std::string hash, file_hash(rules.path));
    record.ingredients.push_back({"rules", rules.name, "", hash});
  }
  std::sort(record.ingredients.begin(), record.ingredients.end(), [](const Ingredient& a, const Ingredient& b) {
    return std::tie(a.kind, a.name) < std::tie(b.kind, b.name);
  });
  return record;
}

std::string difference(const CampaignRecord& stored, const CampaignRecord& now) {
  if (stored.config_hash != now.config_hash) {
    const Json before = Json::parse(stored.config, nullptr, false), after = Json::parse(now.config, nullptr, false);
    for (const auto& [key, value] : after.items()) {
      const std::string old = before.is_object() && before.contains(key) ? before[key].dump() : "nothing";
      if (old != value.dump()) return fmt::format("'{}' was {} and is {}", key, old, value.dump());
    }
    return "the campaign file has changed";
  }
  return difference_of_files(stored.ingredients, now.ingredients);
}

}  // namespace rewright
