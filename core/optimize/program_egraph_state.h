// The inside of a program's e-graph: classes over the tensors of a pool.
#pragma once

#include <rewright/optimize/program_egraph.h>

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "optimize/class_levels.h"
#include "optimize/class_matcher.h"
#include "optimize/engine_content.h"
#include "optimize/pool_costs.h"
#include "optimize/tensor_classes.h"
#include "rewrite/node_pool.h"
#include "rewrite/target_labels.h"

namespace rewright {

struct ProgramEGraph::Content {
  Content(SearchEngineContent& shared, const Graph& graph);

  [[nodiscard]] Result<Round> round(bool several, const Limits& limits, const std::function<bool()>& go_on);
  /// Makes choices, classes and the start's selection anew.
  [[nodiscard]] Status refresh();
  [[nodiscard]] Result<Graph> graph(std::span<const std::int32_t> selection);
  [[nodiscard]] Result<std::vector<RewriteStep>> path(std::span<const std::int32_t> selection,
                                                      const std::function<bool()>& keep_going);
  /// False: `keep_going` said no on the way.
  [[nodiscard]] bool filter_circles(const std::function<bool()>& keep_going);

  /// Adds what a match stands for and makes it equal. False where nothing became equal: the rule is refused, a circle
  /// would close that cannot be filtered out, or all was known.
  [[nodiscard]] bool apply(std::uint32_t program, const Binding& binding);
  [[nodiscard]] bool add_target(std::uint32_t program, const Binding& binding, std::vector<Port>& made);
  /// Is the class `to` computed, by any choice, on the way to the class `from`, or the same?
  [[nodiscard]] bool reaches(std::uint32_t from, std::uint32_t to);
  [[nodiscard]] bool has_other_maker(std::uint32_t of_class, std::uint32_t node) const;
  [[nodiscard]] std::uint32_t on_circle();

  SearchEngineContent& engine;
  NodePool pool;
  TensorClasses classes;
  ClassLevels levels;
  ClassMatcher matcher;
  TargetLabels labels;
  PoolCosts costs;
  std::uint32_t start_size = 0;          ///< Nodes of the start.
  std::vector<std::uint32_t> made_by;    ///< By node: the program; kNoId: the start has it.
  std::vector<std::uint32_t> joined_by;  ///< By tensor that stood for a class: the program that joined it last.
  std::vector<Choice> choices;
  std::vector<std::uint32_t> node_of_choice;
  std::vector<std::int32_t> start;
  std::vector<Class> outputs;
  std::vector<std::uint32_t> class_ids;  ///< By tensor, of those that stand for a class.
  std::size_t class_count = 0;
  // Room to work in.
  std::vector<std::uint32_t> seen;
  std::vector<std::uint32_t> open;
  std::uint32_t now = 0;
};

}  // namespace rewright
