// Files that came with the program: installed, or in the source tree that it was built from.
#pragma once

#include <rewright/result.h>

#include <string>
#include <vector>

namespace rewright::cli {

/// The axiom files, without those of rejected axioms. Errors: kNotFound.
[[nodiscard]] Result<std::vector<std::string>> own_axioms();
/// The files of rules in experiments/library: what its campaign found, and longer rules for networks. Errors:
/// kNotFound.
[[nodiscard]] Result<std::vector<std::string>> own_libraries();
/// The folder that holds experiments/ and axioms/. Errors: kNotFound.
[[nodiscard]] Result<std::string> own_data();
/// The folder of what `rewright new` begins with. Errors: kNotFound.
[[nodiscard]] Result<std::string> own_templates();

}  // namespace rewright::cli
