// A compressed graph as the model that it was read from: nodes, names and attributes stay, the weights are others.
#pragma once

#include <rewright/base/result.h>
#include <rewright/base/visibility.h>
#include <rewright/plugin/registry.h>

#include <string>

#include "compress/compression.h"
#include "onnx/imported_model.h"

namespace rewright::compress {

/// The names of the model's nodes, by the applications that they were read as.
[[nodiscard]] REWRIGHT_API NodeNames node_names(const ImportedModel& model);

/// A serialized ModelProto. It was read again and has the graph's nodes and shapes. A node whose new sizes neither an
/// attribute nor a stored shape says is written by its operator under a new name.
/// Errors: as export_model; kUnsupported where what was written reads as something else.
[[nodiscard]] REWRIGHT_API Result<std::string> compressed_model(const ImportedModel& original,
                                                                const CompressedGraph& compressed,
                                                                const Registry& registry, const ImportOptions& options);

}  // namespace rewright::compress
