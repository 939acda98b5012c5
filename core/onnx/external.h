// Weights in a file of their own, beside the model.
#pragma once

#include <rewright/export.h>
#include <rewright/result.h>

#include <set>
#include <string>

namespace rewright {

/// The files that tensors of the serialized model lie in, as it names them: relative to its folder.
[[nodiscard]] REWRIGHT_API std::set<std::string> external_files(const std::string& model);

struct SplitModel {
  std::string model;  ///< Says of each tensor that was taken out where it lies.
  std::string data;   ///< What goes into the other file; empty where no tensor is large enough.
};

/// Takes initializers of 1 KiB and more out of a serialized model; each begins at a multiple of 4096 bytes, so that it
/// can be mapped into memory. `file` is the name of the file that the data goes to, in the model's folder.
/// Errors: kParse.
[[nodiscard]] REWRIGHT_API Result<SplitModel> split_off_weights(const std::string& model, const std::string& file);

}  // namespace rewright
