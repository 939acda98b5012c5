// What plugins are tried with: rules that are known to hold or not, and what all kinds promise alike.
#pragma once

#include <rewright/optimize/cost.h>
#include <rewright/rule/rule.h>
#include <rewright/verify/verifier.h>

#include <memory>
#include <string_view>

#include "contract/contracts.h"

namespace rewright::contract {

/// Rules of the library's own operators. Each true one has a short proof from the axioms; each false one fails on small
/// tensors of small numbers.
[[nodiscard]] const std::vector<std::string_view>& true_rules();
[[nodiscard]] const std::vector<std::string_view>& false_rules();
/// Errors: an operator that is not loaded.
[[nodiscard]] Result<std::vector<Rule>> read_rules(std::span<const std::string_view> texts, const Registry& registry);

/// What searches are tried with: a product costs ten, everything else one.
[[nodiscard]] REWRIGHT_API std::unique_ptr<CostModel> plain_prices();

/// Advice on the promises that all kinds make (Contract::advice).
inline constexpr const char* kAdviceOnNames =
    "see plugin.h: REWRIGHT_PLUGIN; usual cause: a name with capitals or '-', or no summary";
inline constexpr const char* kAdviceOnOptions =
    "see verifier.h: Options; usual cause: configure() or start() looks up the options that it knows and at no others";

/// A name of lower-case letters, digits and _, and a summary.
[[nodiscard]] Outcome describes_itself(const std::string& name, const std::string& summary);
/// Options that no plugin has.
[[nodiscard]] const Options& unknown_options();
/// `status` is the answer to these: an error that names the option.
[[nodiscard]] Outcome refused_unknown_option(const Status& status);

}  // namespace rewright::contract
