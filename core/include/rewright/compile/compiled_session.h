// A model compiled by a target and run in this process: what the runtime `native` is made of.
#pragma once

#include <rewright/base/result.h>
#include <rewright/base/visibility.h>
#include <rewright/loop/target.h>
#include <rewright/onnx/runtime.h>
#include <rewright/plugin/registry.h>

#include <cstddef>
#include <memory>
#include <span>

namespace rewright::compile {

/// The model is compiled when it is first run, for the sizes of these inputs, and again for others. The session
/// borrows registry and target; it is not for several threads at once. `options.optimise`: the model is simplified
/// first. Errors: kParse here; in a run kUnsupported, with the nodes that cannot be compiled, and those of the target.
[[nodiscard]] REWRIGHT_API Result<std::unique_ptr<RuntimeSession>> compiled_session(std::span<const std::byte> model,
                                                                                    const Registry& registry,
                                                                                    const Target& target,
                                                                                    const LoadOptions& options);

}  // namespace rewright::compile
