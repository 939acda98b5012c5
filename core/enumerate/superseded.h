// Graphs that smaller equalities make superfluous.
//
// A graph is an instance of a smaller equality in two ways. Its end: take an application away whose outputs nothing
// consumes; of what is left, a connected part is equal to another graph that still has the tensors which the
// application consumes. Its beginning: put an input in the place of an application to inputs; of what is left, a
// connected part is equal to another graph, whatever that input is. In both cases the other graph can stand in the
// place of the part, and where that makes a graph of the space that comes first, the one at hand need not be kept: it
// is equal to that one by the smaller equality, and so on down to one that is kept.
//
// Graphs are ordered by the number of their applications, then by a sum of weights of their choices, then by a sum of
// weights of their applications, which are hashes of choice and operands' contents. The first two do not depend on what
// stands around a part, so that what comes first in a part mostly comes first in the whole.
#pragma once

#include <rewright/base/visibility.h>

#include <tbb/task_arena.h>

#include <array>
#include <compare>
#include <cstdint>
#include <span>
#include <vector>

#include "enumerate/fingerprint_filter.h"
#include "enumerate/record.h"
#include "enumerate/walk.h"

namespace rewright::enumeration {

/// Where a graph stands in its class.
struct Order {
  std::uint64_t count = 0;
  std::uint64_t choices = 0;       ///< Sum of weights of the choices.
  std::uint64_t applications = 0;  ///< Sum of weights of the applications.
  friend auto operator<=>(const Order&, const Order&) = default;
};

inline constexpr std::size_t kMaxPartTensors = 8;

/// A connected graph as a part of others; of at most kMaxPartTensors tensors.
struct PartGraph {
  std::uint64_t fingerprint = 0;
  std::uint64_t confirmed = 0;  ///< The fingerprint on fresh inputs.
  Order order;
  std::uint64_t syntax = 0;  ///< Equal for the same applications of the same inputs only, whatever their values.
  std::array<std::uint64_t, kMaxPartTensors> tensors{};   ///< Identities, in an order in which they can be made.
  std::array<std::uint8_t, kMaxPartTensors> needed{};     ///< Bit j of the i-th: tensor i is made from tensor j.
  std::array<std::uint8_t, kMaxPartTensors> producers{};  ///< Which application makes each.
  std::array<Step, kMaxOperators - 1> steps{};
  std::uint32_t inputs = 0;       ///< Bit i: input i is an operand.
  std::uint8_t unconsumed = 0;    ///< Bit i: tensor i is an output.
  std::uint8_t count = 0;         ///< Of applications.
  std::uint8_t two_outputs = 0;   ///< Bit i: application i has two outputs.
  std::uint8_t tensor_count = 0;  ///< Of tensors made.
};

/// The graphs of classes of several, over any inputs, and which of each class comes first. Graphs are of one class if
/// they are equal on fresh inputs, too.
class REWRIGHT_API FirstGraphs {
 public:
  FirstGraphs() = default;
  FirstGraphs(std::vector<PartGraph> graphs, const EnumerationConfig& fresh, tbb::task_arena& arena);
  /// The first graph of a class; null where the class has one graph only, or some of this fingerprint are not equal.
  [[nodiscard]] const PartGraph* of_class(std::uint64_t fingerprint) const;
  /// The first graph of the class of the graph of this syntax; null where that is the first or alone.
  [[nodiscard]] const PartGraph* before(std::uint64_t syntax) const;
  [[nodiscard]] std::size_t size() const { return firsts_.size(); }

 private:
  struct Later {
    std::uint64_t syntax = 0;
    std::uint32_t first = 0;
  };
  std::vector<PartGraph> firsts_;
  FingerprintFilter classes_{0}, syntaxes_{0};  ///< What the two tables hold: most graphs are in neither.
  std::vector<std::uint32_t> by_class_;         ///< Open addressing; 0: free, else place in firsts_ + 1.
  std::vector<Later> by_syntax_;                ///< Open addressing; syntax 0: free.
};

/// One thread's.
class REWRIGHT_API SupersededTest {
 public:
  SupersededTest(const FirstGraphs& firsts, const EnumerationConfig& config) : firsts_(firsts), evaluator_(config) {}
  [[nodiscard]] bool operator()(const Walk& walk, const Leaf& leaf);
  /// False if the graph has too many tensors.
  [[nodiscard]] static bool describe(const Walk& walk, const Leaf& leaf, PartGraph& part);

 private:
  struct Whole;
  [[nodiscard]] bool by_end(const Walk& walk, const Whole& whole) const;
  [[nodiscard]] bool by_beginning(const Walk& walk, const Whole& whole);
  [[nodiscard]] bool replaceable(const Walk& walk, const Whole& whole, std::size_t tensor, TypeId type, unsigned part,
                                 unsigned rest);
  [[nodiscard]] bool comes_before(const Walk& walk, const Whole& whole, const Record& other);

  const FirstGraphs& firsts_;
  Evaluator evaluator_;
};

}  // namespace rewright::enumeration
