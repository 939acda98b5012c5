#include "campaign/operator_versions.h"

#include <rewright/operator/operator.h>

#include <algorithm>

namespace rewright {

Result<std::vector<OtherVersion>> other_versions(Store& store, const Registry& registry) {
  std::vector<OtherVersion> others;
  REWRIGHT_TRY(const std::vector<Ingredient> made_with, store.plugins());
  for (const Ingredient& part : made_with) {
    const auto plugin = std::ranges::find(registry.plugins(), part.name, &LoadedPlugin::name);
    if (plugin != registry.plugins().end() && plugin->version != part.version)
      for (const std::string& object : plugin->provides)
        if (constexpr std::string_view kKind = "operator "; object.starts_with(kKind))
          others.push_back({object.substr(kKind.size()), part.version, plugin->version});
  }
  return others;
}

std::vector<std::string> missing_plugins(const std::string& folder, const Registry& registry) {
  std::vector<std::string> missing;
  const auto store = Store::open(folder, Store::Mode::kRead);
  if (!store) return missing;
  const auto made_with = (*store)->plugins();
  if (!made_with) return missing;
  for (const Ingredient& plugin : *made_with)
    if (std::ranges::find(registry.plugins(), plugin.name, &LoadedPlugin::name) == registry.plugins().end())
      missing.push_back(plugin.name + " " + plugin.version);
  return missing;
}

void distrust(std::vector<Rule>& rules, std::span<const OtherVersion> others) {
  const auto is_other = [&](const PatternNode& node) {
    return std::ranges::find(others, node.op->name(), &OtherVersion::op) != others.end();
  };
  for (Rule& rule : rules)
    if (std::ranges::any_of(rule.source.nodes, is_other) || std::ranges::any_of(rule.target.nodes, is_other))
      rule.trust = Trust::kNone;
}

}  // namespace rewright
