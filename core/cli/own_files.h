// Files that came with the program: installed, or in the source tree that it was built from.
#pragma once

#include <rewright/base/result.h>

#include <filesystem>
#include <string>
#include <vector>

namespace rewright::cli {

/// The folder in which bin/rewright lies: a prefix, or a build folder. Both hold what find_package(Rewright) asks for.
[[nodiscard]] std::string own_prefix();

/// Where such files may be, the installed ones first.
using Roots = std::vector<std::filesystem::path>;
[[nodiscard]] Roots own_roots();

/// The axiom files, without those of rejected axioms. Errors: kNotFound.
[[nodiscard]] Result<std::vector<std::string>> own_axioms(const Roots& roots = own_roots());
/// The files of rules in experiments/library: what its campaign found, and longer rules for networks. Errors:
/// kNotFound.
[[nodiscard]] Result<std::vector<std::string>> own_libraries(const Roots& roots = own_roots());
/// The folder that holds experiments/ and axioms/. Errors: kNotFound.
[[nodiscard]] Result<std::string> own_data(const Roots& roots = own_roots());
/// The folder of what `rewright new` begins with. Errors: kNotFound.
[[nodiscard]] Result<std::string> own_templates(const Roots& roots = own_roots());

}  // namespace rewright::cli
