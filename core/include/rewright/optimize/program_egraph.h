// Equality saturation over a whole graph: all graphs that the rules reach, at once.
//
// Tensors that rules make equal are in one class; an application takes classes and gives classes. A graph is one
// application for each class that is needed. Rules of several outputs join their parts over classes. Applications that
// would let a class be computed from itself are filtered out, so that every choice is a graph.
//
// Source  Yang et al.: Equality Saturation for Tensor Graph Superoptimization (TENSAT), MLSys 2021.
//         Willsey et al.: egg: Fast and Extensible Equality Saturation, POPL 2021.
#pragma once

#include <rewright/base/visibility.h>
#include <rewright/graph/graph.h>
#include <rewright/optimize/search.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <vector>

namespace rewright {

class REWRIGHT_API ProgramEGraph {
 public:
  struct Limits {
    std::size_t applications = 10'000;  ///< Rounds end where there are more.
    std::size_t matches = 20'000;       ///< Of one rule, taken in one round.
    /// Asked while matches are found and circles looked for; false stops the round. May be empty.
    std::function<bool()> keep_going = {};
  };
  using Class = std::uint32_t;
  struct Choice {
    std::vector<Class> operands;
    std::vector<Class> outputs;
    double cost_us = 0;
    bool is_input = false;
  };

  /// Both must outlive the object. Errors: of the cost model.
  [[nodiscard]] static Result<ProgramEGraph> create(SearchEngine& engine, const Graph& start);
  ~ProgramEGraph();
  ProgramEGraph(ProgramEGraph&&) noexcept;

  /// What a round did.
  struct Round {
    std::uint64_t matches = 0;  ///< That were applied.
    bool changed = false;
    bool full = false;     ///< There are as many applications as may be.
    bool cut = false;      ///< A rule had more matches than were taken.
    bool stopped = false;  ///< By `keep_going`: nothing may be chosen from the e-graph any more.
  };
  /// Finds all matches, of rules of several outputs only if `several`, then applies them, filters cycles out and joins
  /// what has become equal. `go_on` is asked before each application of a match.
  [[nodiscard]] Result<Round> round(bool several, const Limits& limits, const std::function<bool()>& go_on);

  /// The applications there are to choose from. Ids of classes are below class_count(); both are good until the next
  /// round.
  [[nodiscard]] std::span<const Choice> choices() const;
  [[nodiscard]] std::size_t class_count() const;
  [[nodiscard]] std::span<const Class> outputs() const;
  /// By class, the choice that the start graph makes; -1 where it does not compute it.
  [[nodiscard]] std::span<const std::int32_t> start() const;

  /// The graph that a choice for each class that is needed stands for.
  [[nodiscard]] Result<Graph> graph(std::span<const std::int32_t> selection) const;
  /// The way from the start to a selection, one class after the other, from the outputs down: each step is named after
  /// the rule that brought the choice. Once `keep_going` says no, the rest of the way is one step.
  [[nodiscard]] Result<std::vector<RewriteStep>> path(std::span<const std::int32_t> selection,
                                                      const std::function<bool()>& keep_going = {}) const;

 private:
  struct Content;
  explicit ProgramEGraph(std::unique_ptr<Content> content);
  std::unique_ptr<Content> content_;
};

}  // namespace rewright
