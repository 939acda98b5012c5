// Which local temporaries can be variables: those of which every place that the code touches is known.
//
//   acc[i * 16 + 0 .. 7]  with i a number everywhere:   v8f32 acc_0, acc_16, ...
//
// The code is written twice: once to see which places it touches, and once with the variables.
#pragma once

#include <rewright/loop/loop_program.h>

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace rewright::c {

class Registers {
 public:
  struct Piece {
    int count = 1;
    bool is_vector = false;
    friend bool operator==(const Piece&, const Piece&) = default;
  };
  /// While the places are being seen. `first`: the place in the buffer, row-major, if it is known.
  void consider(BufferId buffer) { uses_[buffer.value]; }
  void touch(BufferId buffer, std::optional<std::int64_t> first, Piece piece);
  /// Variables from now on, for each buffer whose places are all known and do not cross; and not too many.
  void settle();

  [[nodiscard]] bool holds(BufferId buffer) const { return settled_ && pieces_.contains(buffer.value); }
  /// Its variables, by their first place.
  [[nodiscard]] const std::map<std::int64_t, Piece>& pieces(BufferId buffer) const { return pieces_.at(buffer.value); }
  /// "acc_3" or, in a vector, "acc_0[3]"; `name` is the buffer's.
  [[nodiscard]] std::string element(const std::string& name, BufferId buffer, std::int64_t at) const;

 private:
  static constexpr std::size_t kMostPieces = 64;
  struct Uses {
    std::map<std::int64_t, Piece> vectors;
    std::set<std::int64_t> numbers;
    bool is_known = true;
  };
  std::map<std::uint32_t, Uses> uses_;
  std::map<std::uint32_t, std::map<std::int64_t, Piece>> pieces_;
  bool settled_ = false;
};

}  // namespace rewright::c
