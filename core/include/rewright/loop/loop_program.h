// Loop programs: what is run, as loops and stores over buffers; made from definitions, changed by transforms.
//
//   program   := buffer* statement*
//   buffer    := "buffer" name "[" size* "]" element-type ("in" | "out" | "weight" | "temporary")
//   statement := "for" loop extent ("serial" | "parallel" | "vector" | "unroll") "{" statement* "}"
//              | "if" condition "{" statement* "}"
//              | "store" name "[" index* "]" ("=" | "+=" | "*=" | "max=" | "min=") value
//   index     := operator/expression.h                  extent    := index without axes
//   value     := operator/expression.h, without reductions
//   condition := index ("=" | "<" | "<=") index, joined by "and"
//
//   buffer x[4, 8] float32 in
//   buffer y[4] float32 out
//   # y[i] = sum(k < 8, x[i, k])
//   for y.i 4 serial {
//     store y[y.i] = 0
//     for y.k 8 serial {
//       store y[y.i] += x[y.i, y.k]
//     }
//   }
//
// A loop is called by its stage, its axis in the definition and the path of splits (y.k/0/1), joined by & where loops
// were fused, so that a name outlives changes elsewhere. No two loops of a program share a name.
//
// Semantics  Statements run in order; iterations of serial and unrolled loops too, those of parallel and vector loops
//            in any. A temporary all of whose uses lie in one iteration of a loop is that iteration's own
//            (buffer_owners.h). select, and, or evaluate what decides first, and of the rest only what is chosen: a
//            load in a branch that is not taken may lie outside its buffer. A value takes the element type of what it
//            is stored in.
// Element types  float32, float64, int32, int64 (both wrap), bool; uint16 for given numbers that are read as indices.
//            bfloat16 and int8 have names and no meaning yet.
#pragma once

#include <rewright/base/result.h>
#include <rewright/base/visibility.h>
#include <rewright/operator/expression.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace rewright::loop {

/// stage.axis/path, of one or more loops that were fused.
struct LoopName {
  struct Part {
    std::string stage;
    std::string axis;
    std::vector<int> path = {};  ///< 0: outer part, 1: inner part, of each split in turn.
    friend bool operator==(const Part&, const Part&) = default;
  };
  std::vector<Part> parts;
  friend bool operator==(const LoopName&, const LoopName&) = default;
};
[[nodiscard]] REWRIGHT_API std::string to_string(const LoopName& name);
/// Nothing where the text is no such name.
[[nodiscard]] REWRIGHT_API std::optional<LoopName> parse_loop_name(std::string_view text);

enum class LoopKind : std::uint8_t { kSerial, kParallel, kVector, kUnroll };
enum class StoreKind : std::uint8_t { kSet, kAdd, kMultiply, kMaximum, kMinimum };
[[nodiscard]] REWRIGHT_API const char* name_of(LoopKind kind);
[[nodiscard]] REWRIGHT_API const char* name_of(StoreKind kind);  ///< "=", "+=", ...

class Statement;
using Body = std::vector<Statement>;

/// axis = 0 .. extent - 1; the axis's name is the loop's.
struct Loop {
  Axis axis;
  IndexExpr extent;
  LoopKind kind = LoopKind::kSerial;
  Body body = {};
  friend bool operator==(const Loop&, const Loop&) = default;
};

struct Branch {
  Guard condition;
  Body body = {};
  friend bool operator==(const Branch&, const Branch&) = default;
};

struct Store {
  BufferId buffer;
  std::vector<IndexExpr> at;
  StoreKind kind = StoreKind::kSet;
  ValueExpr value;
  friend bool operator==(const Store&, const Store&) = default;
};

/// Immutable and shared: copies are cheap.
class REWRIGHT_API Statement {
 public:
  using Content = std::variant<Loop, Branch, Store>;
  Statement(Content content, std::string note = {});
  [[nodiscard]] const Loop* loop() const { return std::get_if<Loop>(content_.get()); }
  [[nodiscard]] const Branch* branch() const { return std::get_if<Branch>(content_.get()); }
  [[nodiscard]] const Store* store() const { return std::get_if<Store>(content_.get()); }
  /// What it computes, for readers: printed above it, a line each with "# ".
  [[nodiscard]] const std::string& note() const { return note_; }
  friend REWRIGHT_API bool operator==(const Statement& a, const Statement& b);

 private:
  std::shared_ptr<const Content> content_;
  std::string note_;
};

/// The statements inside; none for a store.
[[nodiscard]] REWRIGHT_API const Body& body_of(const Statement& statement);

struct Program {
  std::vector<Buffer> buffers;
  Body body;

  [[nodiscard]] const Buffer& operator[](BufferId id) const { return buffers[id.value]; }
  friend bool operator==(const Program&, const Program&) = default;
};

[[nodiscard]] REWRIGHT_API std::string to_string(const Program& program);
/// Reads what to_string wrote: the same program, axes numbered in the order of their loops. Errors: kParse,
/// "LINE:COLUMN: what is wrong"; the validator says what a program that can be read does wrong.
[[nodiscard]] REWRIGHT_API Result<Program> parse_program(std::string_view text);

}  // namespace rewright::loop
