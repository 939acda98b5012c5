// What the subcommands of `rewright axioms` share.
#pragma once

#include <rewright/base/result.h>
#include <rewright/plugin/registry.h>

#include <string>

#include "cli/program.h"
#include "discover/entailment.h"

namespace rewright::cli {

/// `wanted`, or as many as there are cores where it is 0.
[[nodiscard]] int threads_of(int wanted);

/// By the verifier of this name, or by the default one where it is empty.
[[nodiscard]] Result<Entailment> entailment_of(const Registry& registry, const std::string& verifier, int threads);

/// Each operator that is loaded, in order: "operator NAME VERSION" and a line's end.
[[nodiscard]] std::string operator_lines(const Registry& registry);

void add_axioms_suggest(Program& program, const Command& group);  // axioms_suggest.cpp
void add_axioms_prove(Program& program, const Command& group);    // axioms_prove.cpp

}  // namespace rewright::cli
