#include "campaign/solver_rules.h"

#include <nlohmann/json.hpp>

namespace rewright {
namespace {

using Json = nlohmann::ordered_json;

/// Of the verifier at that place in the campaign's list; none where the campaign says none.
Options options_of(const Json& config, int place) {
  Options options;
  const auto given = config.value(Json::json_pointer(fmt::format("/verifiers/{}/options", place)), Json::object());
  for (const auto& [name, value] : given.items()) {
    if (value.is_boolean()) options[name] = value.get<bool>();
    if (value.is_number_integer()) options[name] = value.get<std::int64_t>();
    if (value.is_number_float()) options[name] = value.get<double>();
    if (value.is_string()) options[name] = value.get<std::string>();
  }
  return options;
}

}  // namespace

Result<SolverWord> solver_word(Store& store, const RuleText& row) {
  REWRIGHT_TRY(const auto campaign, store.campaign());
  REWRIGHT_TRY(const std::vector<VerdictRecord> verdicts, store.verdicts(row.goal));
  for (const VerdictRecord& record : verdicts) {
    if (record.verdict.kind != VerdictKind::kProved || !record.verdict.certificate.empty()) continue;
    const Json config = campaign ? Json::parse(campaign->config, nullptr, false) : Json();
    return SolverWord{{record.verifier, options_of(config, record.place)}, record.budget};
  }
  return make_error(ErrorCode::kMismatch, "the store names no solver that proved it");
}

}  // namespace rewright
