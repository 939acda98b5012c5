// What `rewright compile` writes of a model: one C file, its header, weights beside it where they are large, a program
// over raw files and build files. These depend on nothing but C11, libm and, to map weights, POSIX.
//
//   NAME.hpp            the same for C++17
//   NAME.py, wheel.py   for Python; a wheel of it
//   NAME.onnx, NAME_ort.c   one node, and the operator of ONNX Runtime that it is
//
//   int NAME_open(NAME_weights *, const char *file)       the weights: those in the code, or a file, mapped
//   int NAME_run(const NAME_weights *, inputs, outputs, memory)
//   void NAME_close(NAME_weights *)
//
// Where sizes stay open, each choice of them is a version: kernels of its own in NAME_0.c, NAME_1.c ..., over the same
// weights. NAME_version(size, ...) numbers them, and that number is the first argument of what depends on it.
//
// Runs with memories of their own may go on at once, over the same weights. There is no global state, but for code with
// parallel loops: these share one pool of threads, from the first open to the last close. It serves one run at a time;
// the loops of others run in order, so that no run waits for another.
#pragma once

#include <rewright/graph/graph.h>
#include <rewright/loop/target.h>

#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "compile/artefact_version.h"
#include "compile/weights_file.h"
#include "tune/instruction_set.h"

namespace rewright::compile {

struct REWRIGHT_API Artefact {
  std::string name;                          ///< As artefact_name gives it.
  std::map<std::string, std::string> files;  ///< All but that of the weights, by name.
  std::vector<std::string> sources;          ///< Of these: C, without main.c.
  std::vector<PlacedWeight> weights;         ///< In NAME.weights, by offset; none: they are in the code.
  std::int64_t weight_bytes = 0;
  std::vector<ArtefactVersion> versions;  ///< At least one.
  std::string instructions;               ///< That a processor must have; may be empty.
  std::vector<std::string> flags;         ///< For the compiler.
  /// Of all files.
  [[nodiscard]] std::int64_t bytes() const;
  /// Of a run of the version that needs most.
  [[nodiscard]] std::int64_t memory_bytes() const;
};

/// Weights of more bytes than this lie beside the code.
inline constexpr std::int64_t kMostEmbeddedBytes = 64 << 10;

/// What a model's functions begin with: a word of the name of its file, that is no file's or target's of an artefact.
[[nodiscard]] REWRIGHT_API std::string artefact_name(std::string_view stem);

/// Of one model at different sizes. `instructions`: null for plain C11. Errors: of the target; kIo, weights that cannot
/// be read.
[[nodiscard]] REWRIGHT_API Result<Artefact> make_artefact(const std::string& name,
                                                          std::span<const ModelVersion> versions, const Target& target,
                                                          const tune::InstructionSet* instructions = nullptr);

/// Writes the files into a folder, which is there. Errors: kIo.
[[nodiscard]] REWRIGHT_API Status write_artefact(const Artefact& artefact, const std::string& folder);

}  // namespace rewright::compile
