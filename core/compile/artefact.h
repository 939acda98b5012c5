// What `rewright compile` writes of a model: one C file, its header, weights beside it where they are large, a program
// over raw files, build files and a Python wrapper. No file depends on anything but C11, libm and, to map weights,
// POSIX.
//
//   int NAME_open(NAME_weights *, const char *file)       the weights: those in the code, or a file, mapped
//   int NAME_run(const NAME_weights *, inputs, outputs, memory)
//   void NAME_close(NAME_weights *)
//
// There is no global state: runs with memories of their own may go on at once, over the same weights.
#pragma once

#include <rewright/graph/graph.h>
#include <rewright/loop/target.h>

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "compile/kernels.h"

namespace rewright::compile {

/// A tensor of the model's own, as its user knows it.
struct NamedTensor {
  std::string name;
  Port port;
  TensorType type;
};

/// A weight at a place in the file of weights.
struct PlacedWeight {
  std::int64_t offset = 0;
  std::shared_ptr<const ConstantData> constant;
};

struct REWRIGHT_API Artefact {
  std::string name;                          ///< A word, of the model's file.
  std::map<std::string, std::string> files;  ///< All but that of the weights, by name.
  std::vector<PlacedWeight> weights;         ///< In NAME.weights, by offset; none: they are in the code.
  std::int64_t weight_bytes = 0;
  std::vector<NamedTensor> inputs, outputs;
  std::int64_t memory_bytes = 0;
  /// Of all files.
  [[nodiscard]] std::int64_t bytes() const;
};

/// Weights of more bytes than this lie beside the code.
inline constexpr std::int64_t kMostEmbeddedBytes = 64 << 10;

/// Errors: of the target.
[[nodiscard]] REWRIGHT_API Result<Artefact> make_artefact(const std::string& name, const Graph& graph,
                                                          const Kernels& kernels, const Target& target);

/// Writes the files into a folder, which is made; weights one after another, so that they are not in memory twice.
/// Errors: kIo.
[[nodiscard]] REWRIGHT_API Status write_artefact(const Artefact& artefact, const std::string& folder);

}  // namespace rewright::compile
