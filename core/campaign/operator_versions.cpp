#include "campaign/operator_versions.h"

#include <rewright/operator/operator.h>

#include <algorithm>

namespace rewright {
namespace {

constexpr const char* kPluginsOfStore =
    "SELECT name, version FROM ingredients WHERE kind = 'plugin' UNION "
    "SELECT json_extract(value, '$.name'), json_extract(value, '$.version') "
    "FROM campaigns, json_each(campaigns.ingredients) WHERE json_extract(value, '$.kind') = 'plugin' ORDER BY 1, 2";

}  // namespace

Result<std::vector<OtherVersion>> other_versions(Store& store, const Registry& registry) {
  std::vector<OtherVersion> others;
  REWRIGHT_TRY(SqlStatement rows, store.database().prepare(kPluginsOfStore));
  REWRIGHT_TRY(bool more, rows.query());
  while (more) {
    const std::string name = rows.text(0), version = rows.text(1);
    const auto plugin = std::ranges::find(registry.plugins(), name, &LoadedPlugin::name);
    if (plugin != registry.plugins().end() && plugin->version != version)
      for (const std::string& object : plugin->provides)
        if (constexpr std::string_view kKind = "operator "; object.starts_with(kKind))
          others.push_back({object.substr(kKind.size()), version, plugin->version});
    REWRIGHT_TRY(more, rows.step());
  }
  return others;
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
