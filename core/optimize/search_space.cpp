#include "optimize/search_space.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <utility>

namespace rewright {
namespace {

/// Looks from one state that are made in full before a preparation is thought to pay.
constexpr int kLooksInFull = 2;
/// Graphs of one linear hash that are compared as they are; of more, those whose keys are equal.
constexpr std::ptrdiff_t kFewOfOneHash = 4;

}  // namespace

SearchSpace::Content::Content(SearchEngineContent& shared, const Graph& start)
    : engine(shared),
      pool(start),
      table(pool, shared.rules),
      rewriter(pool, shared.rules),
      costs(shared.cost.kernels(), pool),
      looks_kept(LookStream::of_next_space()),
      local_costs(shared.cost.kernels(), pool),
      slopes(pool),
      comparison(pool) {}

Status SearchSpace::Content::enter_start() {
  StateRecord start;
  start.outputs.assign(pool.start_outputs().begin(), pool.start_outputs().end());
  collect_live(start.outputs);
  start.nodes = live;
  REWRIGHT_TRY(start.cost, costs.of(start.nodes, start.outputs));
  seen.emplace(pool.hash_of(start.outputs).residue(), Seen{});
  states.push_back(std::move(start));
  return {};
}

const std::vector<MatchRecord>& SearchSpace::Content::matches(State state) {
  StateRecord& record = states[state];
  if (!record.matched) {
    table.find(record.nodes, record.matches);
    record.matched = true;
  }
  return record.matches;
}

bool SearchSpace::Content::apply(State from, std::size_t move, std::vector<Port>& made) {
  const MatchRecord match = matches(from)[move];
  table.read(match, binding);
  const StateRecord& state = states[from];
  const auto outcome = rewriter.apply(state.nodes, state.outputs, match.program, binding, made);
  if (outcome == PoolRewriter::Outcome::kRefused)
    engine.refuse(engine.rules.programs()[match.program].rule, rewriter.refusal());
  return outcome == PoolRewriter::Outcome::kDone;
}

void SearchSpace::Content::collect_live(std::span<const Port> from) {
  if (reached.size() < pool.size()) reached.resize(pool.size() * 2, 0);
  if (++now == 0) std::ranges::fill(reached, 0), now = 1;
  live.clear();
  open.clear();
  const auto reach = [&](Port port) {
    if (reached[port.node.value] == now) return;
    reached[port.node.value] = now;
    open.push_back(port.node.value);
    live.push_back(port.node.value);
  };
  for (const Port port : from) reach(port);
  while (!open.empty()) {
    const std::uint32_t node = open.back();
    open.pop_back();
    for (const Port port : pool.operands(node)) reach(port);
  }
  std::ranges::sort(live);
}

Result<std::int64_t> SearchSpace::Content::cost_of(std::span<const Port> of) {
  collect_live(of);
  return costs.of(live, of);
}

bool SearchSpace::Content::seen_before(State from, std::size_t move, std::span<const Port> made) {
  last_hash = pool.hash_of(made).residue();
  const std::uint64_t key = pool.key_of(made);
  const auto [first, last] = seen.equal_range(last_hash);
  for (auto at = first; at != last; ++at) {
    if (at->second.key != 0 && at->second.key != key) continue;
    // While both graphs are in the pool they are equal exactly if their outputs are the same ports.
    const bool is_state = at->second.move == kNoId;
    if (is_state) outputs_seen = states[at->second.from].outputs;
    const bool is_there = is_state || apply(at->second.from, at->second.move, outputs_seen);
    if (is_there && std::ranges::equal(outputs_seen, made)) return true;
    if (is_there) at->second.key = pool.key_of(outputs_seen);
  }
  seen.emplace(last_hash, Seen{from, static_cast<std::uint32_t>(move), key});
  return false;
}

Result<bool> SearchSpace::Content::prepare(State from, bool remember) {
  if (engine.cost.kernels().reorder() != nullptr) return false;
  if (from != looked_from) looked_from = from, looks = 0;
  if (++looks <= kLooksInFull) return false;
  const StateRecord& state = states[from];
  if (costs_of != from) {
    costs_of = kNone;
    REWRIGHT_CHECK(local_costs.open(state.nodes, state.outputs));
    costs_of = from;
  }
  if (remember && slopes_of != from) slopes.open(state.nodes, state.outputs), slopes_of = from;
  return true;
}

std::uint64_t SearchSpace::Content::key_after(State from, std::uint32_t move) {
  if (move == kNoId) return pool.key_of(states[from].outputs);
  const std::uint32_t size = pool.size();
  const std::uint64_t key = apply(from, move, outputs_seen) ? pool.key_of(outputs_seen) : 0;
  pool.rollback(size);
  return key;
}

std::optional<bool> SearchSpace::Content::seen_locally(State from, std::size_t move) {
  const auto [first, last] = seen.equal_range(last_hash);
  const bool are_many = std::distance(first, last) > kFewOfOneHash;
  const std::uint64_t key = are_many ? key_after(from, static_cast<std::uint32_t>(move)) : 0;
  for (auto at = first; at != last; ++at) {
    auto& [from_seen, move_seen, key_seen] = at->second;
    if (are_many && key_seen == 0) key_seen = key_after(from_seen, move_seen);
    if (key != 0 && key_seen != 0 && key_seen != key) continue;
    change_seen.replaced.clear();
    if (move_seen != kNoId) {
      const MatchRecord match = states[from_seen].matches[move_seen];
      table.read(match, binding);
      if (!rewriter.change(match.program, binding, change_seen)) return std::nullopt;
    }
    if (comparison.equal({states[from].outputs, change.replaced}, {states[from_seen].outputs, change_seen.replaced}))
      return true;
  }
  return false;
}

Result<std::optional<SearchSpace::Look>> SearchSpace::Content::look_locally(State from, std::size_t move, bool remember,
                                                                            bool& is_new) {
  REWRIGHT_TRY(const bool prepared, prepare(from, remember));
  const MatchRecord match = states[from].matches[move];
  if (!prepared) return std::optional<Look>();
  table.read(match, binding);
  if (!rewriter.change(match.program, binding, change)) return std::optional<Look>();
  if (remember) {
    last_hash = slopes.after(change.replaced).residue();
    const std::optional<bool> known = seen_locally(from, move);
    if (!known) return std::optional<Look>();
    if (*known) return std::optional(Look{true, true, 0});
    is_new = true;
  }
  REWRIGHT_TRY(const auto cost, local_costs.after(change));
  if (!cost) return std::optional<Look>();
  if (remember) seen.emplace(last_hash, Seen{from, static_cast<std::uint32_t>(move)});
  return std::optional(Look{true, false, PoolCosts::to_us(*cost)});
}

Result<SearchSpace::Look> SearchSpace::Content::look(State from, std::size_t move, bool remember) {
  if (looks_kept == nullptr) return look_now(from, move, remember);
  const std::uint32_t asked = static_cast<std::uint32_t>(move) | (remember ? LookRecord::kIsNew : 0);
  if (const auto kept = looks_kept->next(from, asked)) {
    const Look look{(kept->move & LookRecord::kPossible) != 0, (kept->move & LookRecord::kKnown) != 0, kept->cost_us};
    if (remember && look.possible && !look.known)
      seen.emplace(kept->hash, Seen{from, static_cast<std::uint32_t>(move)});
    return look;
  }
  last_hash = 0;
  REWRIGHT_TRY(const Look look, look_now(from, move, remember));
  if (engine.cost.kernels().stopped()) return look;  // What it says may rest on costs that were not asked for.
  const std::uint32_t answer = (look.possible ? LookRecord::kPossible : 0) | (look.known ? LookRecord::kKnown : 0);
  looks_kept->add({from, asked | answer, look.cost_us, last_hash});
  return look;
}

Result<SearchSpace::Look> SearchSpace::Content::look_now(State from, std::size_t move, bool remember) {
  static_cast<void>(matches(from));
  const std::uint32_t size = pool.size();
  bool is_new = false;
  const auto local = look_locally(from, move, remember, is_new);
  pool.rollback(size);
  if (!local) return local.error();
  if (*local) return **local;
  Look result;
  result.possible = apply(from, move, outputs);
  if (result.possible && is_new) seen.emplace(last_hash, Seen{from, static_cast<std::uint32_t>(move)});
  result.known = result.possible && remember && !is_new && seen_before(from, move, outputs);
  if (result.possible && !result.known) {
    const auto cost = cost_of(outputs);
    pool.rollback(size);
    if (!cost) return cost.error();
    result.cost_us = PoolCosts::to_us(*cost);
  }
  pool.rollback(size);
  return result;
}

Result<std::optional<SearchSpace::State>> SearchSpace::Content::enter(State from, std::size_t move) {
  static_cast<void>(matches(from));
  const std::uint32_t size = pool.size();
  if (!apply(from, move, outputs)) {
    pool.rollback(size);
    return std::optional<State>();
  }
  StateRecord record;
  collect_live(outputs);
  record.nodes = live;
  record.outputs = outputs;
  record.parent = from;
  record.program = states[from].matches[move].program;
  REWRIGHT_TRY(record.cost, costs.of(record.nodes, record.outputs));
  states.push_back(std::move(record));
  return std::optional<State>(static_cast<State>(states.size() - 1));
}

Result<std::vector<RewriteStep>> SearchSpace::Content::path(State state) {
  std::vector<State> way;
  for (State at = state; at != kStart; at = states[at].parent) way.push_back(at);
  way.push_back(kStart);
  std::ranges::reverse(way);
  // A graph that comes again: what lies between is a detour.
  std::vector<State> straight;
  std::map<std::vector<Port>, std::size_t> position;
  for (const State at : way) {
    if (const auto before = position.find(states[at].outputs); before != position.end()) {
      const std::size_t keep = before->second + 1;
      for (std::size_t i = keep; i < straight.size(); ++i) position.erase(states[straight[i]].outputs);
      straight.resize(keep);
      continue;
    }
    position.emplace(states[at].outputs, straight.size());
    straight.push_back(at);
  }
  std::vector<RewriteStep> steps;
  double before_us = PoolCosts::to_us_or_infinity(states[kStart].cost);
  for (std::size_t i = 1; i < straight.size(); ++i) {
    const StateRecord& record = states[straight[i]];
    const Rule& rule = engine.rules.rules()[engine.rules.programs()[record.program].rule];
    REWRIGHT_TRY(Graph graph, pool.graph(record.outputs));
    const double after_us = PoolCosts::to_us_or_infinity(record.cost);
    steps.push_back({rule.id, rule.name, before_us, after_us, std::move(graph)});
    before_us = after_us;
  }
  return steps;
}

// --- the face --------------------------------------------------------------------------------------------------

SearchSpace::SearchSpace(std::unique_ptr<Content> content) : content_(std::move(content)) {}
SearchSpace::~SearchSpace() = default;

double SearchSpace::cost_us(State state) const { return PoolCosts::to_us(content_->states[state].cost); }
std::size_t SearchSpace::move_count(State state) { return content_->matches(state).size(); }
std::size_t SearchSpace::rule_of(State state, std::size_t move) const {
  return content_->engine.rules.programs()[content_->states[state].matches[move].program].rule;
}
Result<SearchSpace::Look> SearchSpace::look(State from, std::size_t move) { return content_->look(from, move, false); }
Result<SearchSpace::Look> SearchSpace::look_for_new(State from, std::size_t move) {
  return content_->look(from, move, true);
}
Result<std::optional<SearchSpace::State>> SearchSpace::enter(State from, std::size_t move) {
  return content_->enter(from, move);
}
Result<Graph> SearchSpace::graph(State state) const { return content_->pool.graph(content_->states[state].outputs); }
Result<std::vector<RewriteStep>> SearchSpace::path(State state) const { return content_->path(state); }
std::size_t SearchSpace::node_count() const { return content_->pool.size(); }

}  // namespace rewright
