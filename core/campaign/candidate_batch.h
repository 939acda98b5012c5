// How many candidates are written in one transaction.
#pragma once

#include <algorithm>
#include <cstddef>

namespace rewright {

/// Ids are hashes, so that every batch changes pages all over their index. Where `written` candidates are there already
/// the next batch is an eighth of them, so that ten million are some forty batches in place of three hundred.
[[nodiscard]] constexpr std::size_t candidate_batch(std::size_t written) {
  constexpr std::size_t kFewest = 32'768, kMost = 524'288;
  return std::clamp(written / 8, kFewest, kMost);
}

}  // namespace rewright
