// Files that came with the program: installed, or in the source tree that it was built from.
#pragma once

#include <rewright/result.h>

#include <string>
#include <vector>

namespace rewright::cli {

/// The axiom files, without those of rejected axioms. Errors: kNotFound.
[[nodiscard]] Result<std::vector<std::string>> own_axioms();
/// The library of rules (experiments/library). Errors: kNotFound.
[[nodiscard]] Result<std::string> own_library();

}  // namespace rewright::cli
