// The file that weights were split off to.
#pragma once

#include <string>

#include "onnx/external.h"

namespace rewright {

/// Of pieces that are all in memory.
inline std::string content_of(const SplitModel& split) {
  std::string content;
  for (const WeightPiece& piece : split.data) {
    content.resize(piece.at, '\0');
    content += piece.bytes;
  }
  return content;
}

}  // namespace rewright
