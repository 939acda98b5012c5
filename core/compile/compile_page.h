// A compiled model as a page: how fast it is, its kernels and what the machine allows for them.
#pragma once

#include <string>

#include "compile/compile_model.h"
#include "report/compiling.h"

namespace rewright::compile {

/// `model`: the file's name.
[[nodiscard]] REWRIGHT_API CompilingReport page_of(const CompileReport& report, const std::string& model);

}  // namespace rewright::compile
