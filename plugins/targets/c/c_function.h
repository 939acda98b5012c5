// One loop program as a C function.
//
//   static int NAME(const float *restrict x, ..., float *restrict y)     0, or 1 where data lay outside of its range
//
// A parallel loop is a function of its own, over iterations begin .. end - 1, which rewright_parallel runs on threads
// where there are some; one inside another, and one that uses what this function keeps to itself, runs in order.
#pragma once

#include <rewright/loop/target.h>

#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "c_expression.h"
#include "c_registers.h"
#include "c_vectors.h"

namespace rewright::c {

/// Words that C11, the headers that are included and the code around have taken.
[[nodiscard]] bool is_taken(std::string_view word);

class FunctionWriter {
 public:
  /// Plain C11.
  FunctionWriter(const loop::NamedProgram& named, Helpers& helpers);
  /// With vectors and threads. `registers`: settled, or to see what can be one.
  FunctionWriter(const loop::NamedProgram& named, Helpers& helpers, VectorHelpers& vectors, Registers& registers);
  FunctionWriter(const FunctionWriter&) = delete;
  FunctionWriter& operator=(const FunctionWriter&) = delete;

  [[nodiscard]] std::string write();
  [[nodiscard]] bool has_parallel_loops() const { return parallel_ > 0; }

 private:
  template <class... Args>
  void line(fmt::format_string<Args...> format, Args&&... args) {
    text_.append(2 * depth_, ' ');
    fmt::format_to(std::back_inserter(text_), format, std::forward<Args>(args)...);
    text_ += '\n';
  }
  void comment(const std::string& note);
  /// Those that an iteration of this loop owns; nothing: those of the function.
  void declare_locals(std::optional<std::uint32_t> owner);
  void write(const loop::Body& body);
  void inside(const loop::Body& body);
  void write(const loop::Loop& loop);
  void write_iterations(const loop::Loop& loop, const std::string& from, const std::string& to);
  void write_parallel(const loop::Loop& loop);
  [[nodiscard]] bool uses_locals_around(const loop::Loop& loop) const;
  [[nodiscard]] bool has_shared_places(const loop::Loop& loop) const;
  /// As short as the names around allow: k, y_k, y_k_0.
  [[nodiscard]] std::string variable(const Axis& axis);

  std::string name_;
  std::vector<BufferId> taken_;
  loop::Program program_;
  std::vector<std::optional<std::uint32_t>> owners_;
  ExpressionWriter expressions_;
  std::optional<VectorWriter> vectors_;
  VectorHelpers* vector_types_ = nullptr;
  Registers* registers_ = nullptr;
  std::vector<BufferId> locals_;
  std::set<std::string> names_;
  std::vector<std::string> variables_;         ///< Of the loops around.
  std::vector<const loop::Loop*> loops_ = {};  ///< Around, those of vectors apart.
  std::string before_;                         ///< What stands before the function.
  std::string text_;
  std::size_t depth_ = 0;
  int parallel_ = 0;
  bool is_parallel_ = false;
};

}  // namespace rewright::c
