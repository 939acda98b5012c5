// The inside of a search space: states over one pool of nodes.
#pragma once

#include <rewright/optimize/search.h>

#include <cstdint>
#include <deque>
#include <memory>
#include <span>
#include <unordered_map>
#include <vector>

#include "optimize/engine_content.h"
#include "optimize/graph_comparison.h"
#include "optimize/hash_slopes.h"
#include "optimize/local_costs.h"
#include "optimize/look_log.h"
#include "optimize/pool_costs.h"
#include "rewrite/match_table.h"
#include "rewrite/node_pool.h"
#include "rewrite/pool_rewriter.h"

namespace rewright {

struct SearchSpace::Content {
  Content(SearchEngineContent& shared, const Graph& start);

  struct StateRecord {
    std::vector<std::uint32_t> nodes;  ///< Ascending.
    std::vector<Port> outputs;
    std::int64_t cost = 0;
    State parent = kStart;
    std::uint32_t program = 0;  ///< The rule that led here from the parent.
    bool matched = false;
    std::vector<MatchRecord> matches;
  };
  /// A graph that was seen: how it is made.
  struct Seen {
    State from = kStart;
    std::uint32_t move = kNoId;  ///< kNoId: it is the start.
    std::uint64_t key = 0;       ///< NodePool::key_of it; 0: not asked for yet.
  };

  [[nodiscard]] Status enter_start();
  [[nodiscard]] const std::vector<MatchRecord>& matches(State state);
  /// The outputs one move away; false where there is no such graph. Its nodes stay in the pool until rolled back.
  [[nodiscard]] bool apply(State from, std::size_t move, std::vector<Port>& outputs);
  /// Into `live`, ascending.
  void collect_live(std::span<const Port> outputs);
  [[nodiscard]] Result<std::int64_t> cost_of(std::span<const Port> outputs);
  /// Was an equal graph seen before? Remembers it if not.
  [[nodiscard]] bool seen_before(State from, std::size_t move, std::span<const Port> outputs);
  /// Answers from the checkpoint where that knows.
  [[nodiscard]] Result<Look> look(State from, std::size_t move, bool remember);
  [[nodiscard]] Result<Look> look_now(State from, std::size_t move, bool remember);
  /// From what the move changes alone; nothing where that does not say all. `is_new`: it was not seen before, whatever
  /// else is asked; its hash is the last.
  [[nodiscard]] Result<std::optional<Look>> look_locally(State from, std::size_t move, bool remember, bool& is_new);
  /// Is the graph that `change` makes of the state one that was seen? Nothing where that cannot be said locally.
  [[nodiscard]] std::optional<bool> seen_locally(State from, std::size_t move);
  /// Of the graph one move away, or of the state (kNoId); 0 where there is no such graph.
  [[nodiscard]] std::uint64_t key_after(State from, std::uint32_t move);
  /// False where few looks from the state do not pay for the preparation.
  [[nodiscard]] Result<bool> prepare(State from, bool remember);
  [[nodiscard]] Result<std::optional<State>> enter(State from, std::size_t move);
  [[nodiscard]] Result<std::vector<RewriteStep>> path(State state);

  SearchEngineContent& engine;
  NodePool pool;
  MatchTable table;
  PoolRewriter rewriter;
  PoolCosts costs;
  std::vector<StateRecord> states;
  std::unordered_multimap<std::uint64_t, Seen> seen;  ///< By hash.
  std::uint64_t last_hash = 0;                        ///< Of the graph that was last asked about there.
  std::unique_ptr<LookStream> looks_kept;             ///< May be null.
  LocalCosts local_costs;
  HashSlopes slopes;
  static constexpr State kNone = kNoId;
  State looked_from = kNone;  ///< Where the last look was from,
  int looks = 0;              ///< and how many before it, one after the other.
  State costs_of = kNone;     ///< What local_costs is turned to,
  State slopes_of = kNone;    ///< and slopes.
  GraphComparison comparison;
  PoolRewriter::Change change;
  PoolRewriter::Change change_seen;
  // Room to work in.
  std::vector<Port> outputs;
  std::vector<Port> outputs_seen;
  std::vector<std::uint32_t> live;
  std::vector<std::uint32_t> open;
  std::vector<std::uint32_t> reached;  ///< By node: when it was last reached.
  std::uint32_t now = 0;
  Binding binding;
};

}  // namespace rewright
