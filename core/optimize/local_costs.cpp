#include "optimize/local_costs.h"

#include <algorithm>

namespace rewright {
namespace {

/// A change of what more nodes use is not local.
constexpr std::size_t kMostUsers = 256;

}  // namespace

// --- the graph as it is ----------------------------------------------------------------------------------------

Status LocalCosts::open(std::span<const std::uint32_t> nodes, std::span<const Port> outputs) {
  REWRIGHT_TRY(const std::int64_t cost, of(nodes, outputs));
  is_finite_ = cost < kMost;
  if (!is_finite_) return {};
  outputs_.assign(outputs.begin(), outputs.end());
  fit();
  count_users(nodes);
  total_ = 0;
  for (const std::uint32_t node : nodes) {
    REWRIGHT_TRY(share_[node], share_of(node));
    total_ += share_[node];
  }
  return {};
}

void LocalCosts::fit() {
  const std::size_t size = pool_.size();
  if (of_node_.size() < size) of_node_.resize(2 * size);
  if (share_.size() < size) share_.resize(2 * size), first_user_.resize(2 * size), user_count_.resize(2 * size);
}

void LocalCosts::count_users(std::span<const std::uint32_t> nodes) {
  std::uint32_t places = 0;
  for (const std::uint32_t node : nodes) {
    first_user_[node] = places;
    user_count_[node] = 0;
    places += of_node_[node].uses;
  }
  users_.resize(places);
  for (const std::uint32_t node : nodes)
    for (const Port port : pool_.operands(node)) {
      const std::uint32_t maker = port.node.value;
      users_[first_user_[maker] + user_count_[maker]++] = node;
    }
}

Result<std::int64_t> LocalCosts::share_of(std::uint32_t node) {
  const ChainId chain = of_node_[node].chain;
  if (chain == kNoId) return of_application(node);
  const ChainId before = chains_[chain].before;
  return chains_[chain].cost - (before == kNoId ? 0 : chains_[before].cost);
}

// --- a change --------------------------------------------------------------------------------------------------

Result<std::optional<std::int64_t>> LocalCosts::after(const PoolRewriter::Change& change) {
  if (!is_finite_) return std::optional<std::int64_t>();
  fit();
  const Wide total = total_;
  const auto cost = changed(change);
  take_back();
  total_ = total;
  return cost;
}

Result<std::optional<std::int64_t>> LocalCosts::changed(const PoolRewriter::Change& change) {
  replaced_ = change.replaced;
  for (const std::uint32_t node : change.made) {
    if (!is_live(node)) {
      add_node(node);
    } else if (uses_replaced(node)) {
      return std::optional<std::int64_t>();  // It stays, and is changed too.
    }
  }
  for (const auto& [before, after] : change.replaced)
    if (!redirect(before, after)) return std::optional<std::int64_t>();
  for (const auto& [before, after] : change.replaced)
    if (is_live(before.node.value) && of_node_[before.node.value].uses == 0) remove_node(before.node.value);
  if (joins_equal() || touches_split(change)) return std::optional<std::int64_t>();
  spread_uses();
  REWRIGHT_CHECK(settle());
  return std::optional(static_cast<std::int64_t>(std::min(total_, Wide{kMost})));
}

PoolCosts::OfNode& LocalCosts::entry(std::uint32_t node) {
  journal_.push_back({node, of_node_[node], share_[node]});
  return of_node_[node];
}

void LocalCosts::take_back() {
  for (std::size_t i = journal_.size(); i-- > 0;)
    of_node_[journal_[i].node] = journal_[i].of, share_[journal_[i].node] = journal_[i].share;
  journal_.clear(), touched_.clear(), new_users_.clear(), redirected_.clear(), queue_.clear();
  replaced_.clear();
}

void LocalCosts::set_uses(std::uint32_t node, std::uint32_t uses) {
  if (std::ranges::find(touched_, node, &Uses::node) == touched_.end()) touched_.push_back({node, of_node_[node].uses});
  entry(node).uses = uses;
}

void LocalCosts::add_node(std::uint32_t node) {
  entry(node) = {.graph = graph_, .is_made = true};
  share_[node] = 0;
  user_count_[node] = 0;
  queue_.push_back(node);
  for (const Port port : pool_.operands(node)) {
    new_users_.emplace_back(port.node.value, node);
    set_uses(port.node.value, of_node_[port.node.value].uses + 1);
  }
}

/// And what nothing else uses.
void LocalCosts::remove_node(std::uint32_t node) {
  dying_.assign(1, node);
  while (!dying_.empty()) {
    const std::uint32_t gone = dying_.back();
    dying_.pop_back();
    entry(gone).graph = 0;
    total_ -= share_[gone];
    for (const Port port : pool_.operands(gone)) {
      const std::uint32_t maker = port.node.value;
      set_uses(maker, of_node_[maker].uses - 1);
      if (of_node_[maker].uses == 0) dying_.push_back(maker);
    }
  }
}

bool LocalCosts::uses_replaced(std::uint32_t node) const {
  return std::ranges::any_of(pool_.operands(node), [&](Port port) { return current(node, port) != port; });
}

std::uint32_t LocalCosts::uses_by(std::uint32_t user, Port port) const {
  return static_cast<std::uint32_t>(std::ranges::count(pool_.operands(user), port));
}

/// False: nothing uses the tensor, or too much.
bool LocalCosts::redirect(Port before, Port after) {
  const std::uint32_t from = before.node.value, to = after.node.value;
  if (user_count_[from] > kMostUsers || user_count_[to] > kMostUsers) return false;
  auto moved = static_cast<std::uint32_t>(std::ranges::count(outputs_, before));
  std::uint32_t last = kNoId;
  for (std::uint32_t i = 0; i < user_count_[from]; ++i) {
    const std::uint32_t user = users_[first_user_[from] + i];
    if (user == last) continue;
    last = user;
    const std::uint32_t times = uses_by(user, before);
    if (times == 0) continue;
    moved += times;
    redirected_.push_back(user);
    new_users_.emplace_back(to, user);
  }
  if (moved == 0) return false;
  set_uses(from, of_node_[from].uses - moved);
  set_uses(to, of_node_[to].uses + moved);
  return true;
}

/// Some more than once.
template <class Visit>
void LocalCosts::visit_users(std::uint32_t node, const Visit& visit) const {
  for (std::uint32_t i = 0; i < user_count_[node]; ++i) {
    const std::uint32_t user = users_[first_user_[node] + i];
    if (!is_live(user)) continue;
    if (std::ranges::any_of(pool_.operands(user), [&](Port port) { return current(user, port).node.value == node; }))
      visit(user);
  }
  for (const auto& [used, user] : new_users_)
    if (used == node && is_live(user)) visit(user);
}

bool LocalCosts::are_equal(std::uint32_t a, std::uint32_t b) const {
  if (pool_.node(a).label != pool_.node(b).label) return false;
  const auto left = pool_.operands(a), right = pool_.operands(b);
  if (left.size() != right.size()) return false;
  const auto same = [&](std::size_t i, std::size_t j) { return current(a, left[i]) == current(b, right[j]); };
  for (std::size_t k = 2; k < left.size(); ++k)
    if (!same(k, k)) return false;
  if (left.size() < 2) return left.empty() || same(0, 0);
  return (same(0, 0) && same(1, 1)) || (pool_.is_commuting(a) && same(0, 1) && same(1, 0));
}

/// Is what uses a replaced tensor now what something else is already?
bool LocalCosts::joins_equal() const {
  for (const std::uint32_t user : redirected_) {
    if (!is_live(user)) continue;
    for (const Port port : pool_.operands(user)) {
      const Port now = current(user, port);
      if (now == port) continue;
      bool found = false;
      visit_users(now.node.value,
                  [&](std::uint32_t other) { found = found || (other != user && are_equal(user, other)); });
      if (found) return true;
    }
  }
  return false;
}

/// Which splits are one depends on who uses each of their parts, and that is not followed here.
bool LocalCosts::touches_split(const PoolRewriter::Change& change) {
  const auto is_split = [&](std::uint32_t node) { return label(pool_.node(node).label).is_split; };
  return std::ranges::any_of(change.made, is_split) || std::ranges::any_of(touched_, is_split, &Uses::node);
}

/// What a node's number of uses matters to: whether it ends its kernel, whether it is part of another concat.
void LocalCosts::spread_uses() {
  queue_.insert(queue_.end(), redirected_.begin(), redirected_.end());
  for (const Uses& uses : touched_) {
    const std::uint32_t node = uses.node;
    if (!is_live(node)) continue;
    const OfNode& of = of_node_[node];
    bool by_equal_concat = false;
    if (of.uses == 1 && label(pool_.node(node).label).is_concat)
      visit_users(node, [&](std::uint32_t user) {
        by_equal_concat = by_equal_concat || pool_.node(user).label == pool_.node(node).label;
      });
    const bool was_part = uses.before == 1 && of.by_equal_concat;
    const bool is_part = of.uses == 1 && by_equal_concat;
    if ((uses.before == 1) == (of.uses == 1) && was_part == is_part) continue;
    if (by_equal_concat != of.by_equal_concat) entry(node).by_equal_concat = by_equal_concat;
    queue_.push_back(node);
    visit_users(node, [&](std::uint32_t user) { queue_.push_back(user); });
  }
}

/// Works out anew what depends on what has changed, until nothing does: no graph has a circle, so this ends.
Status LocalCosts::settle() {
  while (!queue_.empty()) {
    const std::uint32_t node = queue_.back();
    queue_.pop_back();
    if (!is_live(node)) continue;
    const auto queue_user = [&](std::uint32_t user) { queue_.push_back(user); };
    if (kernels_.fuses()) {
      REWRIGHT_TRY(const Joined joined, join(node));
      if (joined.chain != of_node_[node].chain) {
        entry(node).chain = joined.chain;
        visit_users(node, queue_user);
      }
    }
    if (label(pool_.node(node).label).is_concat && is_part_of_concat(node)) visit_users(node, queue_user);
    REWRIGHT_TRY(const std::int64_t share, share_of(node));
    if (share == share_[node]) continue;
    entry(node);
    total_ += share - share_[node];
    share_[node] = share;
  }
  return {};
}

}  // namespace rewright
