#include "optimize/pool_costs.h"

#include <algorithm>
#include <cmath>
#include <deque>
#include <limits>
#include <map>
#include <optional>

namespace rewright {
namespace {

constexpr double kUnitsPerUs = 1 << 30;

std::int64_t to_units(double us) {
  const double units = us * kUnitsPerUs;
  return units < static_cast<double>(PoolCosts::kMost) ? std::llround(units) : PoolCosts::kMost;
}

/// A signature's shapes, which an Application borrows.
struct Link {
  Link(const NodePool& pool, SignatureId id) : signature(pool.signature_at(id)), label(pool.label_at(signature.label)) {
    for (const TypeId type : signature.in) shapes.push_back(pool.type_at(type).shape);
  }
  [[nodiscard]] Application application() const { return {*label.op, label.params, shapes, signature.kinds}; }

  const NodePool::Signature& signature;
  const NodePool::Label& label;
  std::vector<Shape> shapes;
};

/// What an operator computes at the end by itself: the name of the operator that does the same.
std::optional<std::string> activation_of(const NodePool::Label& label) {
  const std::vector<ParamSpec>& specs = label.op->info().params;
  for (std::size_t i = 0; i < specs.size(); ++i)
    if (specs[i].name == "activation" && label.params[i] != specs[i].default_value)
      return specs[i].choices[static_cast<std::size_t>(label.params.choice(i))];
  return std::nullopt;
}

}  // namespace

double PoolCosts::to_us(std::int64_t units) { return static_cast<double>(units) / kUnitsPerUs; }

double PoolCosts::to_us_or_infinity(std::int64_t units) {
  return units >= kMost ? std::numeric_limits<double>::infinity() : to_us(units);
}

Result<std::int64_t> PoolCosts::of_signature(SignatureId signature) {
  if (known_.size() <= signature) known_.resize(pool_.signature_count(), -1);
  if (known_[signature] >= 0) return known_[signature];
  const NodePool::Signature& what = pool_.signature_at(signature);
  std::int64_t units = 0;
  if (pool_.label_at(what.label).op != nullptr && !what.weight_only) {
    const Link link(pool_, signature);
    const Application application = link.application();
    REWRIGHT_TRY(const double us, kernels_.us({{&application, 1}}));
    units = to_units(us);
  } else if (const NodeId node{pool_.label_at(what.label).start_node}; is_opaque(what)) {
    REWRIGHT_TRY(const double us, kernels_.opaque_us(pool_.start(), node));
    units = to_units(us);
  }
  return known_[signature] = units;
}

bool PoolCosts::is_opaque(const NodePool::Signature& signature) const {
  const NodePool::Label& label = pool_.label_at(signature.label);
  return label.op == nullptr && !pool_.start().node({label.start_node}).is_input();
}

const PoolCosts::OfLabel& PoolCosts::label(LabelId id) {
  if (labels_.size() <= id) labels_.resize(pool_.label_count());
  OfLabel& of = labels_[id];
  if (of.known) return of;
  of.known = true;
  of.extended.assign(kernels_.prefix_count(), KernelCosts::kNoPrefix);
  const NodePool::Label& what = pool_.label_at(id);
  if (what.op == nullptr) return of;
  of.is_concat = what.op->name() == "concat";
  of.is_split = what.op->name() == "split";
  const std::optional<std::string> activation = activation_of(what);
  for (Prefix from = 0; from < of.extended.size(); ++from) {
    Prefix& to = of.extended[from] = kernels_.extended(from, what.op->name());
    if (activation && to != KernelCosts::kNoPrefix) to = kernels_.extended(to, *activation);
  }
  return of;
}

/// Asks about the kernel that ends with the link.
template <class Ask>
auto PoolCosts::with_kernel(const Chain& last, const Ask& ask) const {
  std::vector<Link> links;
  std::vector<std::uint32_t> joined;
  for (const Chain* at = &last;; at = &chains_[at->before]) {
    links.emplace_back(pool_, at->signature);
    if (at->before == kNoId) break;
    joined.push_back(at->joined);
  }
  std::vector<Application> applications;
  for (std::size_t i = links.size(); i-- > 0;) applications.push_back(links[i].application());
  std::ranges::reverse(joined);
  const std::vector<Kernel::Source> sources = chain_sources(applications, joined);
  return ask(Kernel{applications, sources});
}

// --- a graph ---------------------------------------------------------------------------------------------------

Result<std::int64_t> PoolCosts::of(std::span<const std::uint32_t> nodes, std::span<const Port> outputs) {
  count_uses(nodes, outputs);
  if (kernels_.fuses())
    for (const std::uint32_t node : nodes) {
      REWRIGHT_TRY(const Joined joined, join(node));
      if (joined.absorbed != kNoId) of_node_[joined.absorbed].is_absorbed = true;
      of_node_[node].chain = joined.chain;
    }
  if (kernels_.reorder() != nullptr) return with_layouts(nodes, outputs);
  REWRIGHT_CHECK(ask_together(nodes));
  std::int64_t total = 0;
  for (const std::uint32_t node : nodes) {
    REWRIGHT_TRY(const std::int64_t own, of_node(node));
    total = std::min(total + own, kMost);  // Each time: thousands that cost infinitely much would overflow.
  }
  return total;
}

void PoolCosts::count_uses(std::span<const std::uint32_t> nodes, std::span<const Port> outputs) {
  if (of_node_.size() < pool_.size()) of_node_.resize(std::size_t{2} * pool_.size());
  if (++graph_ == 0) std::ranges::fill(of_node_, OfNode{}), graph_ = 1;
  for (const std::uint32_t node : nodes) of_node_[node] = {.graph = graph_};
  split_uses_.clear();
  for (const std::uint32_t node : nodes) {
    const LabelId own = pool_.node(node).label;
    const bool is_concat = label(own).is_concat;
    for (const Port port : pool_.operands(node)) {
      OfNode& operand = of_node_[port.node.value];
      const LabelId maker = pool_.node(port.node.value).label;
      ++operand.uses;
      if (is_concat && maker == own) operand.by_equal_concat = true;
      if (labels_[maker].is_split) split_uses_.emplace_back(port, node);
    }
  }
  for (const Port port : outputs) {
    ++of_node_[port.node.value].uses;
    if (labels_[pool_.node(port.node.value).label].is_split) split_uses_.emplace_back(port, kNoId);
  }
  if (!split_uses_.empty()) join_splits();
}

Result<std::int64_t> PoolCosts::of_node(std::uint32_t node) {
  const OfNode& of = of_node_[node];
  if (of.is_absorbed) return 0;
  if (of.chain != kNoId) return chains_[of.chain].cost;
  return of_application(node);
}

/// Of one that ends no kernel.
Result<std::int64_t> PoolCosts::of_application(std::uint32_t node) {
  const std::optional<SignatureId> own = application(node);
  return own ? of_signature(*own) : 0;
}

/// What a node by itself costs as; nothing if it is part of another one.
std::optional<SignatureId> PoolCosts::application(std::uint32_t node) {
  const NodePool::PoolNode& what = pool_.node(node);
  const OfNode& of = of_node_[node];
  if (of.is_part_of_split) return std::nullopt;
  if (of.has_further_splits) return signature_of_joined(node);
  if (!labels_[what.label].is_concat || pool_.signature(node).weight_only) return what.signature;
  if (is_part_of_concat(node)) return std::nullopt;
  ports_.clear();
  append_operands(node, ports_);
  return pool_.signature_of(what.label, ports_);
}

/// Asks about what is not known of those that are no kernel with others.
Status PoolCosts::ask_together(std::span<const std::uint32_t> nodes) {
  if (!kernels_.is_asked_together()) return {};
  std::vector<SignatureId> unknown;
  for (const std::uint32_t node : nodes) {
    if (of_node_[node].is_absorbed || of_node_[node].chain != kNoId) continue;
    const std::optional<SignatureId> own = application(node);
    if (!own || (*own < known_.size() && known_[*own] >= 0)) continue;
    const NodePool::Signature& what = pool_.signature_at(*own);
    if (pool_.label_at(what.label).op != nullptr && !what.weight_only) unknown.push_back(*own);
  }
  if (unknown.size() < 2) return {};
  std::ranges::sort(unknown);
  unknown.erase(std::ranges::unique(unknown).begin(), unknown.end());
  std::deque<Link> links;  // What is borrowed stays where it is.
  std::deque<Application> applications;
  std::vector<Kernel> kernels;
  for (const SignatureId signature : unknown) {
    const Application& asked = applications.emplace_back(links.emplace_back(pool_, signature).application());
    kernels.push_back({{&asked, 1}});
  }
  return kernels_.ask(kernels);
}

Result<double> PoolCosts::spread_us(std::span<const std::uint32_t> nodes) {
  const auto spread = [this](const Kernel& kernel) -> Result<double> {
    REWRIGHT_TRY(const Estimate known, kernels_.estimate(kernel));
    return known.spread;
  };
  std::map<std::pair<bool, std::uint32_t>, double> sums;  // By chain, or signature.
  for (const std::uint32_t node : nodes) {
    const OfNode& of = of_node_[node];
    if (of.is_absorbed) continue;
    const Chain* chain = of.chain == kNoId ? nullptr : &chains_[of.chain];
    if (chain != nullptr && chain->before != kNoId) {
      REWRIGHT_TRY(const double us, with_kernel(*chain, spread));
      sums[{true, of.chain}] += us;
      continue;
    }
    const SignatureId own = chain != nullptr ? chain->signature : application(node).value_or(kNoId);
    if (own == kNoId || pool_.signature_at(own).weight_only) continue;
    if (pool_.label_at(pool_.signature_at(own).label).op == nullptr) continue;
    const Link link(pool_, own);
    const Application alone = link.application();
    REWRIGHT_TRY(const double us, spread({{&alone, 1}}));
    sums[{false, own}] += us;
  }
  double variance = 0;
  for (const auto& [kernel, sum] : sums) variance += sum * sum;
  return std::sqrt(variance);
}

// --- concats ---------------------------------------------------------------------------------------------------

bool PoolCosts::is_part_of_concat(std::uint32_t node) const {
  const OfNode& of = of_node_[node];
  return of.uses == 1 && of.by_equal_concat && !pool_.signature(node).weight_only;
}

void PoolCosts::append_operands(std::uint32_t node, std::vector<Port>& ports) const {
  for (const Port operand : pool_.operands(node)) {
    const Port port = current(node, operand);
    if (is_part_of_concat(port.node.value)) {
      append_operands(port.node.value, ports);
    } else {
      ports.push_back(port);
    }
  }
}

// --- splits ----------------------------------------------------------------------------------------------------

/// A split that is the only use of a part of another one, on the same axis, is one with it. Of the uses, these stay.
void PoolCosts::join_splits() {
  std::ranges::sort(split_uses_);
  const auto is_joined = [&](std::size_t i) {
    const auto& [part, user] = split_uses_[i];
    if (i > 0 && split_uses_[i - 1].first == part) return false;
    if (i + 1 < split_uses_.size() && split_uses_[i + 1].first == part) return false;
    if (user == kNoId || !labels_[pool_.node(user).label].is_split || pool_.signature(user).weight_only) return false;
    return pool_.label(user).params.integer(0) == pool_.label(part.node.value).params.integer(0);
  };
  std::vector<std::pair<Port, std::uint32_t>> joined;
  for (std::size_t i = 0; i < split_uses_.size(); ++i) {
    if (!is_joined(i)) continue;
    joined.push_back(split_uses_[i]);
    of_node_[split_uses_[i].first.node.value].has_further_splits = true;
    of_node_[split_uses_[i].second].is_part_of_split = true;
  }
  split_uses_ = std::move(joined);
}

void PoolCosts::append_sizes(std::uint32_t split, std::vector<std::int64_t>& sizes) const {
  const std::vector<std::int64_t>& own = pool_.label(split).params.sizes(1);
  for (std::uint32_t k = 0; k < own.size(); ++k) {
    const Port part{{split}, k};
    const auto further = std::ranges::lower_bound(split_uses_, part, {}, &std::pair<Port, std::uint32_t>::first);
    if (further != split_uses_.end() && further->first == part) {
      append_sizes(further->second, sizes);
    } else {
      sizes.push_back(own[k]);
    }
  }
}

SignatureId PoolCosts::signature_of_joined(std::uint32_t split) {
  SizeList<std::int64_t> sizes;
  append_sizes(split, sizes.values);
  const NodePool::Label& own = pool_.label(split);
  const LabelId joined = pool_.label_of(*own.op, Params({own.params.integer(0), std::move(sizes)}));
  return pool_.signature_of(joined, pool_.operands(split));
}

// --- kernels of several applications ---------------------------------------------------------------------------

/// Can the operand's maker be done along with the node, its own chain aside?
bool PoolCosts::may_join(std::uint32_t node, std::uint32_t operand) const {
  const std::span<const Port> operands = pool_.operands(node);
  const NodePool::Signature& what = pool_.signature(node);
  const std::uint32_t maker = current(node, operands[operand]).node.value;
  if (of_node_[maker].uses != 1 || of_node_[maker].chain == kNoId || what.out.size() != 1) return false;
  for (std::size_t k = 0; k < what.in.size(); ++k)
    if (what.in[k] != what.out[0] && (k == operand || what.kinds[k] != InputKind::kWeight)) return false;
  return true;
}

/// What comes before the node must be in its own.
Result<PoolCosts::Joined> PoolCosts::join(std::uint32_t node) {
  const NodePool::PoolNode& what = pool_.node(node);
  const std::vector<Prefix>& extended = label(what.label).extended;
  const NodePool::Signature& signature = pool_.signature(node);
  if (signature.weight_only || signature.out.size() != 1 || signature.in.empty()) return Joined{};
  Joined best;
  std::int64_t least = 0;
  for (std::uint32_t k = 0; k < what.operand_count && k < 4; ++k) {
    if (!may_join(node, k)) continue;
    const std::uint32_t maker = current(node, pool_.operands(node)[k]).node.value;
    const ChainId before = of_node_[maker].chain;
    const Prefix prefix = extended[chains_[before].prefix];
    if (prefix == KernelCosts::kNoPrefix) continue;
    REWRIGHT_TRY(const ChainId longer, chain(before, k, node, prefix));
    const std::int64_t growth = chains_[longer].cost - chains_[before].cost;
    if (best.chain == kNoId || growth < least) best = {longer, maker}, least = growth;
  }
  const Prefix first = extended[KernelCosts::kNoPrefix];
  if (best.chain == kNoId && first != KernelCosts::kNoPrefix) {
    REWRIGHT_TRY(best.chain, chain(kNoId, 0, node, first));
  }
  return best;
}

Result<PoolCosts::ChainId> PoolCosts::chain(ChainId before, std::uint32_t joined, std::uint32_t node, Prefix prefix) {
  const SignatureId signature = pool_.node(node).signature;
  const std::uint64_t key = std::uint64_t{before + 1} << 34 | std::uint64_t{signature} << 2 | joined;
  if (const auto known = chain_ids_.find(key); known != chain_ids_.end()) return known->second;
  Chain made{before, signature, joined, prefix, 0};
  if (before == kNoId) {
    REWRIGHT_TRY(made.cost, of_signature(signature));
  } else {
    REWRIGHT_TRY(const double us, with_kernel(made, [&](const Kernel& kernel) { return kernels_.us(kernel); }));
    made.cost = to_units(us);
  }
  const auto id = static_cast<ChainId>(chains_.size());
  chains_.push_back(made);
  chain_ids_.emplace(key, id);
  return id;
}

// --- layouts ---------------------------------------------------------------------------------------------------

Result<std::int64_t> PoolCosts::with_layouts(std::span<const std::uint32_t> nodes, std::span<const Port> outputs) {
  if (layouts_.empty())  // Should the questions be stopped, there is a choice as soon as these are answered.
    for (const std::uint32_t node : nodes)
      if (ends_kernel(node)) REWRIGHT_CHECK(ask_in_order(node));
  problem_.clear();
  for (const std::uint32_t node : nodes)
    if (ends_kernel(node)) REWRIGHT_CHECK(choose_for(node));
  for (const Port port : outputs) REWRIGHT_CHECK(bring_into_order(port));
  choice_ = problem_.solve();
  return choice_.cost >= Pbqp::kBarred ? kMost : choice_.cost;
}

/// An input, or an opaque node, by itself.
bool PoolCosts::ends_kernel(std::uint32_t node) const {
  return !pool_.signature(node).weight_only && !of_node_[node].is_absorbed && !is_part_of_concat(node);
}

Status PoolCosts::ask_in_order(std::uint32_t node) {
  if (of_node_[node].is_part_of_split || pool_.label(node).op == nullptr) return {};
  const Chain last = last_of(node, gather_operands(node));
  return with_kernel(last, [&](const Kernel& kernel) { return rewright::ask_in_order(kernels_, kernel); });
}

/// What must be in order, whatever made it.
Status PoolCosts::bring_into_order(Port port) {
  if (of_node_[port.node.value].choice == kNoId) return {};
  REWRIGHT_TRY(const Pbqp::Pair reorders, reorder_costs(kernels_, pool_.shape(port)));
  Pbqp::Own own;
  for (std::size_t from = 0; from < own.size(); ++from) own[from] = reorders[from][0];
  problem_.charge(of_node_[port.node.value].choice, own);
  return {};
}

Status PoolCosts::choose_for(std::uint32_t node) {
  OfNode& of = of_node_[node];
  if (of.is_part_of_split) {  // One kernel with the split that makes its operand.
    of.choice = of_node_[pool_.operands(node)[0].node.value].choice;
    return {};
  }
  if (pool_.label(node).op == nullptr) {
    Pbqp::Own in_order;
    in_order.fill(Pbqp::kBarred);
    REWRIGHT_TRY(in_order[0], of_signature(pool_.node(node).signature));
    of.choice = problem_.add(in_order);
    for (const Port port : pool_.operands(node)) REWRIGHT_CHECK(bring_into_order(port));
    return {};
  }
  const SignatureId signature = gather_operands(node);
  REWRIGHT_TRY(const KernelLayouts* layouts, layouts_of(node, signature));
  of.choice = problem_.add(layouts->own);
  std::size_t outside = 0;
  for (const Port port : ports_)
    if (pool_.kind(port) == InputKind::kData)
      problem_.join(of_node_[port.node.value].choice, of.choice, layouts->operands[outside++]);
  return {};
}

/// Into ports_, those of the kernel that the node ends; the kernel's signature where it is one application.
SignatureId PoolCosts::gather_operands(std::uint32_t node) {
  const OfNode& of = of_node_[node];
  ports_.clear();
  if (of.chain != kNoId) {
    append_outside(node, ports_);
    return pool_.node(node).signature;
  }
  append_operands(node, ports_);
  if (of.has_further_splits) return signature_of_joined(node);
  if (ports_.size() == pool_.operands(node).size()) return pool_.node(node).signature;
  return pool_.signature_of(pool_.node(node).label, ports_);
}

/// The last link of the kernel that the node ends.
PoolCosts::Chain PoolCosts::last_of(std::uint32_t node, SignatureId signature) const {
  const ChainId chain = of_node_[node].chain;
  return chain == kNoId ? Chain{kNoId, signature} : chains_[chain];
}

/// In the order of KernelLayouts.
void PoolCosts::append_outside(std::uint32_t node, std::vector<Port>& ports) const {
  const Chain& link = chains_[of_node_[node].chain];
  const std::span<const Port> operands = pool_.operands(node);
  if (link.before != kNoId) append_outside(operands[link.joined].node.value, ports);
  for (std::uint32_t k = 0; k < operands.size(); ++k)
    if (link.before == kNoId || k != link.joined) ports.push_back(operands[k]);
}

Result<const KernelLayouts*> PoolCosts::layouts_of(std::uint32_t node, SignatureId signature) {
  const ChainId chain = of_node_[node].chain;
  const bool is_chain = chain != kNoId;
  const std::uint64_t key = std::uint64_t{is_chain ? chain : signature} << 1 | (is_chain ? 1 : 0);
  if (const auto known = layouts_.find(key); known != layouts_.end()) return &known->second;
  const auto ask = [&](const Kernel& kernel) { return kernel_layouts(kernels_, kernel); };
  REWRIGHT_TRY(KernelLayouts made, with_kernel(last_of(node, signature), ask));
  return &layouts_.emplace(key, std::move(made)).first->second;
}

std::vector<std::uint8_t> PoolCosts::chosen(std::span<const std::uint32_t> nodes) const {
  std::vector<std::uint8_t> states(nodes.size(), 0);
  std::unordered_map<std::uint32_t, std::uint8_t> of_kernel;  // By what is absorbed: the state of what absorbs it.
  for (std::size_t i = nodes.size(); i-- > 0;) {              // Users before what they use.
    const std::uint32_t node = nodes[i];
    const OfNode& of = of_node_[node];
    const auto absorbed = of_kernel.find(node);
    if (absorbed != of_kernel.end()) {
      states[i] = absorbed->second;
    } else if (of.choice != kNoId) {
      states[i] = choice_.states[of.choice];
    }
    for (const Port port : pool_.operands(node)) {
      const std::uint32_t maker = port.node.value;
      if (of_node_[maker].is_absorbed || (labels_[pool_.node(maker).label].is_concat && is_part_of_concat(maker)))
        of_kernel.emplace(maker, states[i]);
    }
  }
  return states;
}

}  // namespace rewright
