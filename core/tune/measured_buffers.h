// The buffers of a program in memory, and whether what they hold is right.
//
// Inputs    uniform in [low, high), integers in -8 .. 8; the same for one seed and name, whatever the candidate
// Outputs   bytes of ones before a run, so that an element that is not written is not right
// Compared  |a - b| <= (16 + R) 2^-23 max(1, |b|) in float32, R the elements that are accumulated; 2^-52 in float64;
//           integers and truth values are equal; what is no number is none in both
// Placement guarded: the last element lies before a page that cannot be touched; else at the begin of a page
#pragma once

#include <rewright/base/visibility.h>
#include <rewright/loop/loop_program.h>

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "tune/measure_task.h"

namespace rewright::tune {

/// Memory of its own pages.
class REWRIGHT_API PagedMemory {
 public:
  /// Throws std::bad_alloc.
  PagedMemory(std::size_t bytes, bool guarded);
  ~PagedMemory();
  PagedMemory(PagedMemory&& other) noexcept;
  PagedMemory& operator=(PagedMemory&&) = delete;
  [[nodiscard]] std::byte* data() const { return data_; }
  [[nodiscard]] std::size_t size() const { return size_; }

 private:
  std::byte* pages_ = nullptr;
  std::byte* data_ = nullptr;
  std::size_t mapped_ = 0;
  std::size_t size_ = 0;
};

class REWRIGHT_API MeasuredBuffers {
 public:
  /// One for each of the program. Throws std::bad_alloc.
  static Result<MeasuredBuffers> make(const loop::Program& program, const MeasureTask& task, bool guarded);
  [[nodiscard]] const std::vector<std::byte*>& places() const { return places_; }
  [[nodiscard]] std::size_t bytes(std::size_t buffer) const { return memory_[buffer].size(); }

 private:
  std::vector<PagedMemory> memory_;
  std::vector<std::byte*> places_;
};

/// Is every element of float32 outputs a number?
[[nodiscard]] REWRIGHT_API bool are_finite(const loop::Program& program, const MeasuredBuffers& buffers);
/// Where an output is wrong: "y[3] is 0.5, not 0.25". Empty: nowhere. The programs have the same outputs, by name.
[[nodiscard]] REWRIGHT_API std::string difference(const loop::Program& program, const MeasuredBuffers& found,
                                                  const loop::Program& plain, const MeasuredBuffers& expected,
                                                  std::int64_t reduction);

}  // namespace rewright::tune
