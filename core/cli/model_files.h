// A model on the disk: one file, or two where its weights lie in a file of their own.
//
// The model's file is replaced in one step, by a rename, and the weights that it refers to lie under a name that
// nothing used before. So a process that is killed at any moment leaves the old model with its weights, or the new one
// with its own. Weights of the old one go last, and only under the names that this program gives (OUT.data, OUT.1.data,
// ...), where no other model of the folder names them.
#pragma once

#include <rewright/base/result.h>

#include <string>

namespace rewright::cli {

/// A model that was read and where its result goes.
struct ModelFiles {
  std::string input;
  std::string output;
  std::string original;   ///< What `input` holds.
  std::string directory;  ///< Where the weights of `original` lie, if they lie in files of their own.
};

/// Refuses a folder, and a file in a folder that is not there. Errors: kUsage, kNotFound.
[[nodiscard]] Status check_output_path(const std::string& path);

/// Refuses an output that is one of the files in which the input's weights lie, whatever it is called. Errors: kUsage.
[[nodiscard]] Status check_output(const ModelFiles& files);

/// Writes `model`, whose weights may lie in `directory` still. Where the original's weights lie in files of their own,
/// so do the result's; those that come from there are copied from file to file. The original's bytes are written as
/// they are where the output lies beside the input, and not at all where it is the input. Errors: kUsage, kIo.
[[nodiscard]] Status write_model(const ModelFiles& files, const std::string& model);

}  // namespace rewright::cli
