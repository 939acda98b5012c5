#include "rewrite/node_pool.h"

#include <rewright/base/mixing.h>

#include <algorithm>
#include <bit>
#include <string_view>
#include <utility>

namespace rewright {
namespace {

void append(WordKey& key, std::uint64_t value) {
  key.push_back(static_cast<char32_t>(value));
  key.push_back(static_cast<char32_t>(value >> 32));
}
void append(WordKey& key, const std::vector<std::int64_t>& values) {
  append(key, values.size());
  for (const std::int64_t value : values) append(key, static_cast<std::uint64_t>(value));
}
void append(WordKey& key, const ParamValue& value) {
  append(key, value.index());
  if (const auto* number = std::get_if<0>(&value)) append(key, static_cast<std::uint64_t>(*number));
  if (const auto* real = std::get_if<1>(&value)) append(key, std::bit_cast<std::uint64_t>(*real));
  if (const auto* list = std::get_if<2>(&value)) append(key, *list);
  if (const auto* sizes = std::get_if<3>(&value)) append(key, sizes->values);
}

/// The same in every pool and process. The first two words of the key are an address.
std::uint64_t label_hash(std::string_view name, const WordKey& key) {
  std::uint64_t hash = 1;
  for (const char c : name) hash = mix(hash, static_cast<unsigned char>(c));
  for (std::size_t i = 2; i < key.size(); ++i) hash = mix(hash, key[i]);
  return hash;
}

/// Of 64 bits the upper ones: shifted, so that no sum of the field is needed.
Field to_field(std::uint64_t bits) { return Field::from_residue(bits >> 3 == Field::kPrime ? 0 : bits >> 3); }

}  // namespace

NodePool::NodePool(const Graph& start) : start_(&start), table_(1024, kNoId) {
  const auto nodes = start.nodes();
  std::vector<Port> operands;
  for (std::uint32_t i = 0; i < nodes.size(); ++i) {
    const Node& node = nodes[i];
    operands.clear();
    for (const Port port : node.inputs) operands.push_back({{start_nodes_[port.node.value]}, port.output});
    const ApplicationNode* application = node.application();
    const LabelId label = application ? label_of(*application->op, application->params) : start_label(i);
    const auto id = add(label, operands, i);
    if (!id) fail(fmt::format("a node of a graph is refused: {}", refusal_));
    start_nodes_.push_back(*id);
  }
  for (const Port port : start.outputs()) start_outputs_.push_back({{start_nodes_[port.node.value]}, port.output});
}

// --- labels, types, signatures ---------------------------------------------------------------------------------

LabelId NodePool::label_of(const Operator& op, const Params& params) {
  key_.clear();
  append(key_, reinterpret_cast<std::uintptr_t>(&op));
  for (const ParamValue& value : params.values()) append(key_, value);
  const auto [entry, is_new] = label_ids_.try_emplace(key_, static_cast<LabelId>(labels_.size()));
  if (is_new) labels_.push_back({&op, params, op.info().commutative, kNoId, label_hash(op.name(), key_)});
  return entry->second;
}

LabelId NodePool::start_label(std::uint32_t start_node) {
  labels_.push_back({nullptr, {}, false, start_node, mix(start_node, 0)});
  return static_cast<LabelId>(labels_.size() - 1);
}

TypeId NodePool::type_id(const TensorType& type) {
  WordKey key;
  append(key, static_cast<std::uint64_t>(type.element));
  for (const std::int64_t size : type.shape) append(key, static_cast<std::uint64_t>(size));
  const auto [entry, is_new] = type_ids_.try_emplace(std::move(key), static_cast<TypeId>(types_.size()));
  if (is_new) types_.push_back(type);
  return entry->second;
}

SignatureId NodePool::signature_of(LabelId label, std::span<const Port> operands) {
  key_.clear();
  key_.push_back(static_cast<char32_t>(label));
  for (const Port port : operands) key_.push_back(static_cast<char32_t>(type(port) << 1 | (kind(port) != InputKind{})));
  if (const auto known = signature_ids_.find(key_); known != signature_ids_.end()) return known->second;
  WordKey key = key_;
  const SignatureId id = new_signature(label, operands);
  signature_ids_.emplace(std::move(key), id);
  return id;
}

SignatureId NodePool::new_signature(LabelId label, std::span<const Port> operands) {
  Signature signature{label, true, true, {}, {}, {}, {}};
  for (const Port port : operands) {
    signature.in.push_back(type(port));
    signature.kinds.push_back(kind(port));
    signature.weight_only = signature.weight_only && kind(port) == InputKind::kWeight;
  }
  if (labels_[label].op == nullptr) {
    const Node& node = start_->nodes()[labels_[label].start_node];
    signature.weight_only = node.is_weight();
    for (const TensorType& type : node.outputs) signature.out.push_back(type_id(type));
  } else if (const auto graph = application(label, signature.in, signature.kinds)) {
    const Node& node = graph->node(graph->outputs().front().node);
    for (const TensorType& type : node.outputs) signature.out.push_back(type_id(type));
  } else {
    signature.defined = false;
    signature.reason = graph.error().message;
  }
  signatures_.push_back(std::move(signature));
  return static_cast<SignatureId>(signatures_.size() - 1);
}

Result<Graph> NodePool::application(LabelId label, std::span<const TypeId> in, std::span<const InputKind> kinds) const {
  GraphBuilder builder;
  std::vector<Port> operands;
  for (std::size_t i = 0; i < in.size(); ++i) {
    REWRIGHT_TRY(const Port port, builder.input(fmt::format("x{}", i), types_[in[i]], kinds[i]));
    operands.push_back(port);
  }
  REWRIGHT_TRY(const std::vector<Port> outputs,
               builder.apply(*labels_[label].op, labels_[label].params, std::move(operands)));
  for (const Port port : outputs) builder.output(port);
  return builder.finish();
}

// --- nodes -----------------------------------------------------------------------------------------------------

Field NodePool::hash_slope(LabelId label, std::size_t k) const {
  if (k == 1 && labels_[label].commutative) k = 0;
  return to_field(mix(labels_[label].hash, k + 1));
}

Field NodePool::output_slope(std::size_t i) { return to_field(mix(i + 1, kGoldenGamma)); }

Field NodePool::hash_of(Port port) const { return nodes_[port.node.value].hash + to_field(port.output * kGoldenGamma); }

Field NodePool::hash_of(std::span<const Port> outputs) const {
  Field hash = Field::from_residue(outputs.size());
  for (std::size_t i = 0; i < outputs.size(); ++i) hash += output_slope(i) * hash_of(outputs[i]);
  return hash;
}

Field NodePool::hash_of(LabelId label, std::span<const Port> operands) const {
  Field hash = to_field(labels_[label].hash);
  for (std::size_t k = 0; k < operands.size(); ++k) hash += hash_slope(label, k) * hash_of(operands[k]);
  return hash;
}

std::uint64_t NodePool::key_of(std::span<const Port> outputs) const {
  std::uint64_t key = outputs.size();
  for (const Port output : outputs) key = mix(mix(key, nodes_[output.node.value].key), output.output);
  return std::max<std::uint64_t>(key, 1);
}

std::uint64_t NodePool::key_of(LabelId label, std::span<const Port> operands) const {
  const auto of = [&](std::size_t k) { return mix(nodes_[operands[k].node.value].key, operands[k].output); };
  std::uint64_t key = mix(labels_[label].hash, operands.size());
  std::size_t k = 0;
  if (labels_[label].commutative && operands.size() >= 2) {
    key = mix(mix(key, std::min(of(0), of(1))), std::max(of(0), of(1)));
    k = 2;
  }
  for (; k < operands.size(); ++k) key = mix(key, of(k));
  return key;
}

bool NodePool::same(std::uint32_t id, LabelId label, std::span<const Port> operands) const {
  const std::span<const Port> own = this->operands(id);
  if (nodes_[id].label != label || own.size() != operands.size()) return false;
  if (std::equal(own.begin(), own.end(), operands.begin())) return true;
  return labels_[label].commutative && own.size() >= 2 && own[0] == operands[1] && own[1] == operands[0] &&
         std::equal(own.begin() + 2, own.end(), operands.begin() + 2);
}

std::optional<std::uint32_t> NodePool::find(std::uint64_t key, LabelId label, std::span<const Port> operands) const {
  const std::size_t mask = table_.size() - 1;
  for (std::size_t slot = key & mask; table_[slot] != kNoId; slot = (slot + 1) & mask)
    if (nodes_[table_[slot]].key == key && same(table_[slot], label, operands)) return table_[slot];
  return std::nullopt;
}

std::uint32_t NodePool::insert(std::uint64_t key, LabelId label, SignatureId signature, std::span<const Port> operands,
                               std::uint32_t named_like) {
  if (nodes_.size() * 2 >= table_.size()) grow();
  const auto id = static_cast<std::uint32_t>(nodes_.size());
  nodes_.push_back({label, signature, static_cast<std::uint32_t>(operands_.size()),
                    static_cast<std::uint32_t>(operands.size()), named_like, hash_of(label, operands), key});
  operands_.insert(operands_.end(), operands.begin(), operands.end());
  const std::size_t mask = table_.size() - 1;
  std::size_t slot = key & mask;
  while (table_[slot] != kNoId) slot = (slot + 1) & mask;
  table_[slot] = id;
  return id;
}

void NodePool::grow() {
  table_.assign(table_.size() * 2, kNoId);
  const std::size_t mask = table_.size() - 1;
  for (std::uint32_t id = 0; id < nodes_.size(); ++id) {  // In order of age, as rollback() needs it.
    std::size_t slot = nodes_[id].key & mask;
    while (table_[slot] != kNoId) slot = (slot + 1) & mask;
    table_[slot] = id;
  }
}

std::optional<std::uint32_t> NodePool::add(LabelId label, std::span<const Port> operands, std::uint32_t named_like) {
  const std::uint64_t key = key_of(label, operands);
  if (const auto known = find(key, label, operands)) return known;
  const SignatureId signature = signature_of(label, operands);
  if (!signatures_[signature].defined) {
    refusal_ = signatures_[signature].reason;
    return std::nullopt;
  }
  return insert(key, label, signature, operands, named_like);
}

std::optional<std::uint32_t> NodePool::add_like(std::uint32_t id, std::span<const Port> operands) {
  const PoolNode& node = nodes_[id];
  const std::uint64_t key = key_of(node.label, operands);
  if (const auto known = find(key, node.label, operands)) return known;
  const Signature& signature = signatures_[node.signature];
  for (std::size_t i = 0; i < operands.size(); ++i)
    if (type(operands[i]) != signature.in[i] || kind(operands[i]) != signature.kinds[i])
      return add(node.label, operands, node.named_like);
  return insert(key, node.label, node.signature, operands, node.named_like);
}

void NodePool::rollback(std::uint32_t size) {
  const std::size_t mask = table_.size() - 1;
  // Newest first: nothing that stays was ever put behind what goes.
  for (auto id = static_cast<std::uint32_t>(nodes_.size()); id-- > size;) {
    std::size_t slot = nodes_[id].key & mask;
    while (table_[slot] != id) slot = (slot + 1) & mask;
    table_[slot] = kNoId;
  }
  if (size >= nodes_.size()) return;
  operands_.resize(nodes_[size].first_operand);
  nodes_.erase(nodes_.begin() + size, nodes_.end());
}

// --- graphs ----------------------------------------------------------------------------------------------------

Result<Graph> NodePool::graph(std::span<const Port> outputs) const {
  std::vector<std::uint32_t> needed;
  std::vector<bool> seen(nodes_.size(), false);
  std::vector<std::uint32_t> open;
  for (const Port port : outputs) open.push_back(port.node.value);
  while (!open.empty()) {
    const std::uint32_t id = open.back();
    open.pop_back();
    if (seen[id]) continue;
    seen[id] = true;
    needed.push_back(id);
    for (const Port port : operands(id)) open.push_back(port.node.value);
  }
  std::sort(needed.begin(), needed.end());

  GraphBuilder builder;
  std::unordered_map<std::uint32_t, std::vector<Port>> made;
  for (const NodeId input : start_->inputs()) {
    REWRIGHT_TRY(made[start_nodes_[input.value]], builder.copy(start_->node(input), {}));
  }
  for (const std::uint32_t id : needed) {
    if (made.contains(id)) continue;
    std::vector<Port> in;
    for (const Port port : operands(id)) in.push_back(made[port.node.value][port.output]);
    const Label& what = label(id);
    if (what.op == nullptr) {
      REWRIGHT_TRY(made[id], builder.copy(start_->nodes()[what.start_node], std::move(in)));
      continue;
    }
    const std::uint32_t named = nodes_[id].named_like;
    REWRIGHT_TRY(made[id], builder.apply(*what.op, what.params, std::move(in),
                                         named == kNoId ? std::string() : start_->nodes()[named].name));
  }
  for (std::size_t i = 0; i < outputs.size(); ++i)
    builder.output(made[outputs[i].node.value][outputs[i].output],
                   start_->output_names().empty() ? std::string() : start_->output_names()[i]);
  return builder.finish();
}

}  // namespace rewright
