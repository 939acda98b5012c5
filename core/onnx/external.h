// Weights in a file of their own, beside the model.
#pragma once

#include <rewright/base/result.h>
#include <rewright/base/visibility.h>

#include <cstdint>
#include <set>
#include <string>
#include <vector>

namespace rewright {

/// The files that tensors of the serialized model lie in, as it names them: relative to its folder.
[[nodiscard]] REWRIGHT_API std::set<std::string> external_files(const std::string& model);

/// What goes into the file of weights at one place: bytes, or a part of another file.
struct WeightPiece {
  std::uint64_t at = 0;
  std::uint64_t length = 0;
  std::string bytes;
  std::string file;  ///< Empty: `bytes` it is.
  std::uint64_t from = 0;
};

struct SplitModel {
  std::string model;              ///< Says of each tensor that was taken out where it lies.
  std::vector<WeightPiece> data;  ///< What goes into the other file, ascending; none where no tensor is large enough.
};

/// Takes initializers of 1 KiB and more out of a serialized model; each begins at a multiple of 4096 bytes, so that it
/// can be mapped into memory. Those that lie in files of `folder` already, however small, come over from there. `file`
/// is the name of the file that the data goes to, in the model's folder. Errors: kParse, kIo.
[[nodiscard]] REWRIGHT_API Result<SplitModel> split_off_weights(const std::string& model, const std::string& file,
                                                                const std::string& folder = {});

/// Writes the pieces; what lies in files is copied by the system and not held. False: errno says why.
[[nodiscard]] REWRIGHT_API bool write_weights(int descriptor, const std::vector<WeightPiece>& pieces);

}  // namespace rewright
