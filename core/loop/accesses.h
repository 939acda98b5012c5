// Every place where a loop program touches a buffer, with what surrounds it.
#pragma once

#include <rewright/loop/loop_program.h>

#include <span>
#include <vector>

namespace rewright::loop {

struct Access {
  BufferId buffer;
  std::vector<IndexExpr> at;
  bool is_write = false;  ///< An update, += and the like, is a write, and a read of the same place.
  bool is_update = false;
  std::vector<const Loop*> loops;  ///< Around it, outermost first.
  Guard when;                      ///< Conditions on indices under which it happens, as far as they are known.
};

/// In the order of the program; loops point into it.
[[nodiscard]] REWRIGHT_API std::vector<Access> accesses(const Program& program);

/// The condition that a value is, if it compares indices.
[[nodiscard]] std::optional<Guard> guard_of(const ValueExpr& value);
/// Of < and <=; an equality's opposite is no one condition.
[[nodiscard]] std::optional<IndexCondition> opposite(const IndexCondition& condition);

}  // namespace rewright::loop
