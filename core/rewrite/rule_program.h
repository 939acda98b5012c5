// A rule made ready for a search: its source as parts that are matched by themselves and joined, its conditions over
// numbered sizes, its target with what must be computed at each match.
//
// A part is what lies below one outermost output node of the source. Most rules have one; those that speak of several
// tensors at once ("matmul(x, a), matmul(x, b)") have more.
#pragma once

#include <rewright/rule/rule.h>
#include <rewright/tensor/size_code.h>

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "rewrite/node_pool.h"

namespace rewright {

/// The ports and nodes bound so far: of rule inputs, of source nodes (kNoId where none is), then the values of the size
/// variables that are no sizes of inputs.
struct Binding {
  std::vector<Port> inputs;
  std::vector<std::uint32_t> nodes;
  std::vector<std::int64_t> free_sizes;
};

struct RuleProgram {
  /// A size parameter of the source, as an equation.
  struct Equation {
    std::uint32_t node = 0;
    std::uint32_t param = 0;
    std::uint32_t element = 0;
    SizeCode size;
  };
  /// slot = (value of the equation - rest) / factor, where the rest is computed with the slot at 0.
  struct Solution {
    std::uint32_t equation = 0;
    std::uint32_t slot = 0;
    std::int64_t factor = 1;
  };
  struct TargetNode {
    const Operator* op = nullptr;
    std::optional<Params> fixed;  ///< Where no size depends on the match.
    SymbolicParams params;
    std::vector<SizeCode> sizes;  ///< Of all size lists, one after the other.
    std::vector<Port> inputs;
  };
  struct Part {
    std::uint32_t root = 0;           ///< A source node.
    std::uint32_t joined_by = kNoId;  ///< An input that an earlier part binds too.
    std::vector<std::uint32_t> inputs;
  };

  std::size_t rule = 0;
  std::vector<int> input_ranks;
  std::vector<std::uint32_t> first_slot;  ///< By input: of its sizes.
  std::uint32_t slot_count = 0;           ///< Sizes of inputs, then free sizes.
  std::uint32_t free_count = 0;
  std::vector<PatternNode> source;
  std::vector<Port> source_outputs;
  std::vector<Part> parts;
  std::vector<Equation> equations;
  std::vector<Solution> solutions;
  std::vector<ConstraintCode> precondition;
  std::vector<TargetNode> target;
  std::vector<Port> target_outputs;

  /// The rule must be one that check_usable() takes.
  [[nodiscard]] static RuleProgram compile(const Rule& rule, std::size_t position);

  /// Do sizes and precondition allow the match? Sets `binding.free_sizes`. `slots` is room to work in.
  [[nodiscard]] bool admits(const NodePool& pool, Binding& binding, std::vector<std::int64_t>& slots) const;
  /// The sizes at a match that was admitted.
  void read_sizes(const NodePool& pool, const Binding& binding, std::vector<std::int64_t>& slots) const;
  [[nodiscard]] Port output(const Binding& binding, std::size_t i) const {
    const Port port = source_outputs[i];
    return {{binding.nodes[port.node.value - input_ranks.size()]}, port.output};
  }

 private:
  void compile_sizes(const Rule& rule);
  void compile_target(const Rule& rule, const SlotOf& slot_of);
  void find_parts();
};

}  // namespace rewright
