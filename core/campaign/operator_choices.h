// The table [operators] of a campaign file: which operators, with which parameters.
#pragma once

#include <rewright/base/result.h>
#include <rewright/plugin/registry.h>

#include <string>
#include <vector>

#include "base/toml_section.h"
#include "enumerate/enumeration_config.h"

namespace rewright {

/// Every combination of the listed values, in the order of the file, the last parameter changing fastest. `shapes`: how
/// many each input has.
[[nodiscard]] Result<std::vector<OperatorChoice>> read_operator_choices(const std::string& file,
                                                                        const toml::table& table, std::size_t shapes,
                                                                        const Registry& registry);

}  // namespace rewright
