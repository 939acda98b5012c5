// A loop program as a statement of Halide's intermediate form, before its loops are unrolled and vectorised.
//
// Loops      Serial, Parallel, Vectorized, Unrolled, as their kinds say. A vector loop of more than 64 iterations, or
// of
//            an extent that is data, is serial; so are parallel loops where there is one thread.
// Memory     a temporary that one iteration owns is allocated inside of its loop.
// Numbers    strict: no operation is fused with another, and none changes its order.
#pragma once

#include <rewright/loop/target.h>

#include <Halide.h>

#include <optional>
#include <string>
#include <vector>

#include "halide_expressions.h"

namespace rewright::halide {

struct StatementOptions {
  bool is_strict = true;
  bool has_threads = false;
};

/// The buffer of one int32 that is set to 1 where data lay outside of their range.
inline constexpr const char* kFault = "fault";

class StatementBuilder {
 public:
  StatementBuilder(const loop::Program& program, const StatementOptions& options);
  [[nodiscard]] Halide::Internal::Stmt build();
  /// Buffers that the statement takes, in their order: all that it does not allocate.
  [[nodiscard]] const std::vector<BufferId>& taken() const { return taken_; }
  [[nodiscard]] const std::string& name(BufferId buffer) const { return expressions_.name(buffer); }

 private:
  [[nodiscard]] Halide::Internal::Stmt build(const loop::Body& body);
  [[nodiscard]] Halide::Internal::Stmt build(const loop::Loop& loop);
  [[nodiscard]] Halide::Internal::Stmt build(const loop::Store& store);
  [[nodiscard]] Halide::Internal::ForType kind_of(const loop::Loop& loop) const;
  /// `statement` behind the checks of the data that it reads.
  [[nodiscard]] Halide::Internal::Stmt checked(Halide::Internal::Stmt statement,
                                               const std::vector<Halide::Expr>& faults) const;
  /// Inside of the temporaries that an iteration of this loop, or the program, owns.
  [[nodiscard]] Halide::Internal::Stmt allocated(std::optional<std::uint32_t> owner, Halide::Internal::Stmt body) const;

  const loop::Program& program_;
  StatementOptions options_;
  ExpressionBuilder expressions_;
  std::vector<std::optional<std::uint32_t>> owners_;
  std::vector<BufferId> taken_;
  Halide::Internal::Parameter fault_;
};

}  // namespace rewright::halide
