// How graphs are written as ONNX models.
#pragma once

#include <cstdint>
#include <functional>
#include <set>
#include <string>

namespace rewright {

struct ExportOptions {
  /// Nodes that no rewrite touched are written as they were; otherwise the operators write all that they read.
  bool keep_original = true;
  /// A graph that no model was the origin of is written as it stands: each weight is an initializer under its name, no
  /// work on weights is done here, and what an application makes has the application's name.
  bool as_written = false;
  /// No sum is taken in another order: biases stay nodes of their own.
  bool exact = false;
  /// Bytes that folding may add to the file beyond the weights that it replaces.
  std::int64_t fold_bytes = std::int64_t{64} << 20;
  /// Floating-point operations that folding may take.
  double fold_flops = 2e10;
  /// Told, in one sentence, of work on weights that is left in the model because of these limits.
  std::function<void(const std::string&)> note = {};
  /// Values may lose numbers when they are rounded to their element type (lossy.h). Otherwise work on weights that
  /// would is left to the run.
  bool fast_math = false;
  /// Told, in one sentence each, where numbers are lost that the origin keeps: in work on weights that the origin does
  /// not have, in constants that operators write. Not called with fast_math.
  std::function<void(const std::string&)> lost = {};
  /// Names that nothing new may get, as something outside has them; null: none. Borrowed.
  const std::set<std::string>* taken = nullptr;
};

}  // namespace rewright
