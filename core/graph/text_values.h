// Values of weights in the text form of graphs, behind the type:
//
//     w = weight (64, 64) 0.5                        one number, repeated
//     b = weight (3) [1, -2.5, inf]                  all numbers, row-major: float32, float64, int32, int64, bool
//     v = weight float16 (64, 64) "g.weights" 4096   bytes of a file beside the graph's, from this offset: row-major,
//                                                    little-endian, as ONNX raw_data
#pragma once

#include <rewright/graph/graph.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/scanner.h"

namespace rewright {

/// The bytes of a file beside the graph's; `bytes` of them from `offset`. Errors: kIo, in the caller's words.
using WeightReader =
    std::function<Result<std::vector<std::byte>>(const std::string& file, std::uint64_t offset, std::uint64_t bytes)>;

/// Where values go that are too long for a line.
struct WeightFile {
  std::string name;   ///< As the text names it.
  std::string bytes;  ///< What it is to hold.
};

/// " 0.5", " [1, 2]" or " \"g.weights\" 4096"; in the last case the bytes are added to the file.
[[nodiscard]] std::string text_of_value(const ConstantData& value, WeightFile& file);

/// Reads a value; null where the line ends here. `read` may be null: files are refused then. Errors: kParse; those of
/// `read`, with the line.
[[nodiscard]] Result<std::shared_ptr<const ConstantData>> read_value(Scanner& scanner, const TensorType& type,
                                                                     const WeightReader& read);

}  // namespace rewright
