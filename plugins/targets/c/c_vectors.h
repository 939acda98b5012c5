// Vector loops in C: the body for so many iterations at once, each statement on vectors.
//
//   for j vector 20 { y[i, j] += x[i] * w[j] }       8 lanes
//
//   store_v8f32(&y[i * 20], fma_v8f32(splat_v8f32(x[i]), load_v8f32(&w[0]), load_v8f32(&y[i * 20])));
//   ... at 8, and the rest by load_part, store_part
//
// Iterations depend on nothing of each other, so that all lanes may do one statement before the next. What has no
// vector form is computed lane by lane.
#pragma once

#include <rewright/loop/loop_program.h>

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "c_expression.h"
#include "c_registers.h"
#include "c_vector_helpers.h"

namespace rewright::c {

class VectorWriter {
 public:
  /// `owners`: of the program's buffers; `names`: those that are in use. All outlive the object.
  VectorWriter(const loop::Program& program, const std::vector<std::optional<std::uint32_t>>& owners,
               const std::set<std::string>& names, ExpressionWriter& expressions, VectorHelpers& helpers,
               Registers& registers);

  /// Otherwise its iterations run one after the other.
  [[nodiscard]] bool can(const loop::Loop& loop);
  /// Lines, indented among themselves. `variable`: a name for where a vector begins, if there are many.
  [[nodiscard]] std::vector<std::string> write(const loop::Loop& loop, const std::string& variable);
  /// The name of a place while lines are written, for ExpressionWriter::set_naming.
  [[nodiscard]] std::optional<std::string> name(BufferId buffer, const IndexExpr& flat);

 private:
  /// Vectors that are written one after the other.
  static constexpr std::int64_t kMostWritten = 8;
  /// What is at work: all lanes; the first so many; or the first so many of a number that the code computes.
  struct Live {
    int known = 0;
    std::string computed = {};
    [[nodiscard]] bool is_full(int lanes) const { return known == lanes && computed.empty(); }
    [[nodiscard]] std::string text() const { return computed.empty() ? std::to_string(known) : computed; }
  };

  [[nodiscard]] bool can(const loop::Body& body, const Axis& axis);
  [[nodiscard]] bool owns(BufferId buffer) const;
  [[nodiscard]] bool depends(const IndexExpr& index) const;
  [[nodiscard]] bool depends(const ValueExpr& value) const;
  [[nodiscard]] bool depends(const IndexCondition& condition) const;
  /// How far the index moves from lane to lane; nothing if not evenly.
  [[nodiscard]] std::optional<std::int64_t> stride(const IndexExpr& index) const;
  /// The index at a lane.
  [[nodiscard]] IndexExpr at_lane(const IndexExpr& index, int lane) const;
  [[nodiscard]] bool is_inside(const ValueExpr& value);

  void chunk(const loop::Loop& loop, const IndexExpr& base, int count);
  void line(std::string text) { lines_.push_back(std::string(2 * depth_, ' ') + std::move(text)); }
  void write(const loop::Body& body);
  void write(const loop::Branch& branch);
  void write(const loop::Store& store);
  [[nodiscard]] std::string combined(loop::StoreKind kind, const std::string& old, const ValueExpr& value,
                                     ElementType type);
  [[nodiscard]] std::string loaded(BufferId buffer, const IndexExpr& flat, ElementType type);

  /// For all lanes: floor(lane / 16) of a vector of 16.
  [[nodiscard]] bool is_one_place(const IndexExpr& flat);
  /// Lanes that lie within one vector of memory, in another order; nothing if they do not.
  [[nodiscard]] std::optional<std::string> shuffled(BufferId buffer, const IndexExpr& flat, ElementType type);

  /// Lanes two elements apart; nothing if they are not.
  [[nodiscard]] std::optional<std::string> every_second(BufferId buffer, const IndexExpr& flat, ElementType type);

  [[nodiscard]] std::string text(const ValueExpr& value, ElementType type);
  [[nodiscard]] std::string arithmetic(const ValueExpr& value, ElementType type);
  [[nodiscard]] std::string selected(const ValueExpr& value, ElementType type);
  /// Lanes in which the condition holds, as integers of the type's size; nothing if it has no such form.
  [[nodiscard]] std::optional<std::string> mask(const ValueExpr& condition, ElementType type);
  [[nodiscard]] std::optional<std::string> indices(const ValueExpr& value);
  [[nodiscard]] std::string by_lanes(const ValueExpr& value, ElementType type);
  [[nodiscard]] std::string scalar(const ValueExpr& value, ElementType type, int lane);
  [[nodiscard]] ValueExpr at_lane(const ValueExpr& value, int lane);

  const loop::Program& program_;
  const std::vector<std::optional<std::uint32_t>>& owners_;
  const std::set<std::string>& names_;
  ExpressionWriter& expressions_;
  VectorHelpers& helpers_;
  Registers& registers_;
  std::vector<std::string> lines_;
  std::size_t depth_ = 0;
  Axis axis_;
  IndexExpr base_ = 0;
  Live live_;
  bool is_guarded_ = false;      ///< Some lanes are at rest that exist.
  std::vector<ValueExpr> kept_;  ///< Values made here: the expressions remember types by address.
  int lane_ = 0;                 ///< Whose places are named.
  bool is_vector_ = false;       ///< Lines are being written.
};

}  // namespace rewright::c
