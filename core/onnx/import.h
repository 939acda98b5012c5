// ONNX models as graphs.
//
// A node becomes operator applications where an operator of the registry reads it; every other node is carried as an
// opaque node. Tensors that operators do not compute on (integers, strings, sequences, tensors whose sizes are not
// known before the model runs) pass between opaque nodes; those without a type that a Graph can say have
// ElementType::kUnknown. So every valid model can be given, and export_model gives a model that computes the same.
//
// Initializers, Constant nodes and ConstantOfShape nodes of known shape become inputs of kind kWeight with a value;
// a filled tensor stays one number. An initializer that the caller may override (listed among the inputs of a model
// of IR 4 or later) is an input of kind kData.
//
// Bodies  A graph inside a node (a branch of an If, the body of a Loop or a Scan) is a model of its own: what it uses
// from
//         outside are inputs, or weights where their values are known and copies of them would cost nothing: nothing
//         else uses them, or they are small. It stays as it is where names in it mean something else outside.
#pragma once

#include <rewright/base/result.h>
#include <rewright/base/visibility.h>
#include <rewright/plugin/registry.h>

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "onnx/imported_model.h"

namespace rewright {

/// Of all inputs that must be given, in the model's order. Errors: as import_model.
[[nodiscard]] REWRIGHT_API Result<std::vector<OpenSize>> open_sizes(std::span<const std::byte> model,
                                                                    const std::string& file);

/// Reads a serialized ModelProto.
///
/// Errors  one sentence that names the model, the node or tensor, and what to do: kParse (not a model, cut short,
///         against ONNX's rules), kShape (operands that do not fit), kUsage (an open dimension: `--dim NAME=SIZE`),
///         kIo (external data that cannot be read), kUnsupported.
[[nodiscard]] REWRIGHT_API Result<ImportedModel> import_model(std::span<const std::byte> bytes,
                                                              const Registry& registry,
                                                              const ImportOptions& options = {});
/// Reads a file; its path names it in errors, its folder is where external data lies. Errors also: kIo.
[[nodiscard]] REWRIGHT_API Result<ImportedModel> import_model_file(const std::string& path, const Registry& registry,
                                                                   ImportOptions options = {});

}  // namespace rewright
