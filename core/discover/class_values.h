// The terms of an e-graph, evaluated at given sizes: which classes have two values?
#pragma once

#include <rewright/base/visibility.h>
#include <rewright/rule/rule.h>
#include <rewright/tensor/linear.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "egraph/egraph.h"
#include "egraph/heads.h"
#include "egraph/sizes.h"

namespace rewright {

/// Borrowed; it must not change while values of it are looked at.
struct GraphView {
  const egraph::Heads& heads;
  const egraph::Sizes& sizes;
  const egraph::EGraph& graph;
  std::span<const SizeVar> names;  ///< Of the size variables, by number.
};

/// At most `most` choices of the size variables at which both sides of the rule are defined and its precondition holds,
/// of few found those with the most distinct sizes; the rule's example where no other is found.
[[nodiscard]] std::vector<SizeAssignment> sizes_to_try(const Rule& rule, std::span<const SizeVar> names,
                                                       std::size_t most);

class REWRIGHT_API ClassValues {
 public:
  ClassValues(const GraphView& view, const SizeAssignment& place, std::uint64_t seed);
  ~ClassValues();

  /// Nodes that were compared with the first of their class, at all points together.
  [[nodiscard]] std::size_t pairs() const { return pairs_; }
  /// The first node, in the order of making, that differs from the first of its class; that one first.
  [[nodiscard]] std::optional<std::pair<egraph::NodeId, egraph::NodeId>> differing() const { return differing_; }
  [[nodiscard]] bool agree(egraph::NodeId a, egraph::NodeId b) const;
  /// Where two nodes differ, as a sentence.
  [[nodiscard]] std::string difference(std::pair<egraph::NodeId, egraph::NodeId> pair) const;

 private:
  class Values;
  template <class Scalar>
  class ValuesOver;

  std::vector<std::unique_ptr<Values>> points_;
  std::size_t pairs_ = 0;
  std::optional<std::pair<egraph::NodeId, egraph::NodeId>> differing_;
};

}  // namespace rewright
