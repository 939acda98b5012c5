#include "enumerate/walk.h"

#include <algorithm>

namespace rewright::enumeration {

namespace {
// For each tensor in the cache; applications are many more. What is remembered grows where more is forgotten than kept.
constexpr std::size_t kFirstRemembered = 16, kMostRemembered = 1024;
constexpr std::size_t kGrowth = 4;
}  // namespace

// A tensor that was evaluated: its elements, and its reductions as far as they were asked for.
struct Walk::ValueData {
  std::uint64_t hash = 0;
  std::uint32_t pins = 0;
  std::vector<Word> elements;
  std::vector<std::pair<std::uint32_t, std::uint32_t>> index;  // (number of the reduction, offset)
  std::vector<Word> reductions;
};

// For two types, the choices that are defined on them in this order. A table with open addressing.
struct Walk::BinaryOfTypes {
  struct Slot {
    std::uint64_t key = 0;  // 0: free
    std::uint32_t begin = 0, end = 0;
  };
  std::vector<Slot> slots = std::vector<Slot>(1024);
  std::size_t used = 0;
  std::vector<std::pair<ChoiceId, const Signature*>> lists;

  Slot& find(std::uint64_t key) {
    std::size_t at = mixed(key) & (slots.size() - 1);
    while (slots[at].key != key && slots[at].key != 0) at = (at + 1) & (slots.size() - 1);
    return slots[at];
  }
  void grow() {
    std::vector<Slot> old(slots.size() * 2);
    old.swap(slots);
    for (const Slot& slot : old) {
      if (slot.key != 0) find(slot.key) = slot;
    }
  }
};

Walk::Walk(std::unique_ptr<Space> space, const Scope& scope, std::size_t cache_slots)
    : space_(std::move(space)), scope_(scope), binary_of_types_(std::make_unique<BinaryOfTypes>()) {
  const auto inputs = space_->inputs();
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    auto data = std::make_unique<ValueData>();
    data->elements.resize(space_->words(inputs[i].type));
    space_->input(i, data->elements.data());
    input_hashes_.push_back(hash_of(*space_, inputs[i].type, space_->hash(inputs[i].type, data->elements.data())));
    input_data_.push_back(std::move(data));
    if (i == 0 || inputs[i].group != inputs[i - 1].group) {
      group_starts_ |= 1U << i;
      group_masks_.push_back(0);
    }
    group_masks_.back() |= 1U << i;
  }
  const auto choices = space_->choices();
  for (ChoiceId choice = 0; choice < choices.size(); ++choice) {
    largest_arity_ = std::max<std::size_t>(largest_arity_, choices[choice].arity);
    std::vector<ChoiceId>* const by_arity[] = {&constants_, &unary_, &binary_, &ternary_};
    by_arity[choices[choice].arity]->push_back(choice);
  }
  cache_.resize(cache_slots);
  remembered_.resize(cache_slots * kFirstRemembered);
}

Walk::~Walk() = default;

Space::~Space() = default;

TypeId Walk::type_of(std::uint8_t tensor) const {
  const std::size_t inputs = input_hashes_.size();
  return tensor < inputs ? space_->inputs()[tensor].type : made_[tensor - inputs].type;
}

// --- evaluation ------------------------------------------------------------------------------------------------------

Walk::ValueData& Walk::data_of(std::uint8_t tensor) {
  const std::size_t inputs = input_hashes_.size();
  if (tensor < inputs) return *input_data_[tensor];
  ValueData*& data = made_data_[tensor - inputs];
  if (data != nullptr) return *data;
  const MadeTensor& made = made_[tensor - inputs];
  // Two places where it may be kept; one that is in use by the current graph is not given up.
  ValueData* place = nullptr;
  const std::uint64_t hash = made.hash.identity;
  for (const std::size_t at : {hash % cache_.size(), (hash >> 32) % cache_.size()}) {
    if (cache_[at] == nullptr) cache_[at] = std::make_unique<ValueData>();
    if (cache_[at]->hash == hash) {
      data = cache_[at].get();
      ++data->pins;
      return *data;
    }
    if (cache_[at]->pins == 0 && place == nullptr) place = cache_[at].get();
  }
  if (place == nullptr) {
    for (const auto& spare : spare_) {
      if (spare->pins == 0) place = spare.get();
    }
    if (place == nullptr) place = spare_.emplace_back(std::make_unique<ValueData>()).get();
  }
  ++place->pins;
  place->hash = 0;
  place->index.clear();
  place->reductions.clear();
  const Entry& entry = graph_[made.producer];
  std::array<const Word*, kMaxOperands> in{};
  const std::size_t arity = space_->choices()[entry.choice].arity;
  for (std::size_t i = 0; i < arity; ++i) in[i] = elements_of(entry.operands[i]);
  std::array<Word*, kMaxOutputs> out{};
  std::size_t first_made = tensor - inputs;
  while (first_made > 0 && made_[first_made - 1].producer == made.producer) --first_made;
  std::size_t scratch = 0;
  for (std::uint32_t k = 0; k < entry.signature->output_count; ++k)
    scratch += space_->words(entry.signature->outputs[k]);
  if (scratch_.size() < scratch) scratch_.resize(scratch);
  scratch = 0;
  for (std::uint32_t k = 0; k < entry.signature->output_count; ++k) {
    const std::size_t count = space_->words(entry.signature->outputs[k]);
    if (first_made + k == tensor - inputs) {
      place->elements.resize(count);
      out[k] = place->elements.data();
    } else {
      out[k] = scratch_.data() + scratch;
      scratch += count;
    }
  }
  space_->evaluate(*entry.signature, {in.data(), arity}, {out.data(), entry.signature->output_count});
  place->hash = hash;
  made_data_[tensor - inputs] = place;
  return *place;
}

const Word* Walk::elements_of(std::uint8_t tensor) { return data_of(tensor).elements.data(); }

const Word* Walk::reduction_of(std::uint8_t tensor, const Signature& signature, std::size_t operand) {
  ValueData& data = data_of(tensor);
  const std::uint32_t number = signature.reductions[operand];
  for (const auto& [known, offset] : data.index) {
    if (known == number) return data.reductions.data() + offset;
  }
  const auto offset = static_cast<std::uint32_t>(data.reductions.size());
  data.reductions.resize(offset + signature.reduction);
  space_->reduce(signature, operand, data.elements.data(), data.reductions.data() + offset);
  data.index.emplace_back(number, offset);
  return data.reductions.data() + offset;
}

void Walk::hash_outputs(Entry& entry) {
  const Signature& signature = *entry.signature;
  if (signature.reduction > 0) {
    reduction_of(entry.operands[0], signature, 0);
    const Word* right = reduction_of(entry.operands[1], signature, 1);
    const Word* left = reduction_of(entry.operands[0], signature, 0);
    entry.hashes[0] = hash_of(*space_, signature.outputs[0], space_->product(signature, left, right));
    return;
  }
  const std::size_t arity = space_->choices()[entry.choice].arity;
  std::uint64_t key = entry.choice + 1;
  const std::size_t inputs = input_hashes_.size();
  for (std::size_t i = 0; i < arity; ++i) {
    const std::uint8_t tensor = entry.operands[i];
    key = mixed(key ^ (tensor < inputs ? input_hashes_[tensor] : made_[tensor - inputs].hash).identity) + i;
  }
  Remembered& remembered = remembered_[key % remembered_.size()];
  if (remembered.key != key) {
    evaluate_outputs(entry, remembered.hashes);
    remembered.key = key;
    ++evaluated_;
  }
  for (std::uint32_t k = 0; k < signature.output_count; ++k)
    entry.hashes[k] = hash_of(*space_, signature.outputs[k], remembered.hashes[k]);
  if (evaluated_ > remembered_.size()) remember_more();
}

void Walk::remember_more() {
  evaluated_ = 0;
  if (remembered_.size() >= cache_.size() * kMostRemembered) return;
  std::vector<Remembered> more(remembered_.size() * kGrowth);
  for (const Remembered& each : remembered_) more[each.key % more.size()] = each;
  remembered_.swap(more);
}

/// h of each.
void Walk::evaluate_outputs(const Entry& entry, std::span<std::uint64_t> hashes) {
  const Signature& signature = *entry.signature;
  const std::size_t arity = space_->choices()[entry.choice].arity;
  std::array<const Word*, kMaxOperands> in{};
  for (std::size_t i = 0; i < arity; ++i) in[i] = elements_of(entry.operands[i]);
  std::array<Word*, kMaxOutputs> out{};
  std::size_t total = 0;
  for (std::uint32_t k = 0; k < signature.output_count; ++k) total += space_->words(signature.outputs[k]);
  if (scratch_.size() < total) scratch_.resize(total);
  total = 0;
  for (std::uint32_t k = 0; k < signature.output_count; ++k) {
    out[k] = scratch_.data() + total;
    total += space_->words(signature.outputs[k]);
  }
  space_->evaluate(signature, {in.data(), arity}, {out.data(), signature.output_count});
  for (std::uint32_t k = 0; k < signature.output_count; ++k) hashes[k] = space_->hash(signature.outputs[k], out[k]);
}

// --- the current graph -----------------------------------------------------------------------------------------------

void Walk::reset(std::size_t operators) {
  while (!graph_.empty()) pop();
  if (operators_ == operators && !segments_.empty()) {
    restore_segments(1);
    return;
  }
  operators_ = operators;
  entries_.clear();
  segments_.clear();
  expand(false);
}

void Walk::push(const Entry& entry) {
  const std::size_t depth = graph_.size();
  graph_.push_back(entry);
  used_at_[depth + 1] = used_at_[depth] | entry.inputs;
  const std::uint16_t consumed = consumed_at_[depth];
  std::uint64_t sum = sum_at_[depth];
  for (unsigned bits = entry.consumed & ~consumed & 0xffffU; bits != 0; bits &= bits - 1)
    sum -= output_hash(made_[static_cast<std::size_t>(__builtin_ctz(bits))].hash);
  for (std::uint32_t k = 0; k < entry.signature->output_count; ++k) {
    made_.push_back({entry.hashes[k], entry.signature->outputs[k], static_cast<std::uint8_t>(depth)});
    made_data_.push_back(nullptr);
    sum += output_hash(entry.hashes[k]);
  }
  sum_at_[depth + 1] = sum;
  consumed_at_[depth + 1] = consumed | entry.consumed;
  // The parts that the new application touches become one with it.
  std::uint8_t joined = static_cast<std::uint8_t>(1U << depth);
  std::size_t count = 0;
  for (std::size_t i = 0; i < part_count_at_[depth]; ++i) {
    const std::uint8_t part = parts_at_[depth][i];
    if ((part & entry.producers) != 0) {
      joined |= part;
    } else {
      parts_at_[depth + 1][count++] = part;
    }
  }
  parts_at_[depth + 1][count++] = joined;
  part_count_at_[depth + 1] = count;
}

void Walk::pop() {
  const std::uint32_t outputs = graph_.back().signature->output_count;
  for (std::uint32_t k = 0; k < outputs; ++k) {
    if (made_data_.back() != nullptr) --made_data_.back()->pins;
    made_data_.pop_back();
    made_.pop_back();
  }
  graph_.pop_back();
}

void Walk::restore_segments(std::size_t count) {
  if (segments_.size() <= count) return;
  entries_.resize(segments_[count]);
  segments_.resize(count);
}

int Walk::skipped_inputs(std::uint32_t used) const {
  int skipped = 0;
  for (const std::uint32_t group : group_masks_) {
    const std::uint32_t here = used & group;
    if (here == 0) continue;
    const auto up_to_highest = static_cast<std::uint32_t>((std::uint64_t{2} << (31 - __builtin_clz(here))) - 1);
    skipped += __builtin_popcount(group & up_to_highest & ~used);
  }
  return skipped;
}

bool Walk::extensible(const Entry& entry, std::size_t left) const {
  if (!scope_.extend_repetitions && (entry.repeats_input || repeats_itself(entry) || repeats_made(entry))) {
    const std::uint64_t lot = mixed(sum_at_[graph_.size()] ^ mixed(entry.hashes[0].identity + entry.choice));
    if (lot % kAuditOne == 0) {
      repetitions_.push_back(graph_);
      repetitions_.back().push_back(entry);
    }
    return false;
  }
  const std::size_t depth = graph_.size();
  const int skipped = scope_.inputs_in_order ? skipped_inputs(used_at_[depth] | entry.inputs) : 0;
  auto operands = static_cast<int>(left * largest_arity_);
  if (scope_.connected) {
    std::size_t parts = 1;
    for (std::size_t i = 0; i < part_count_at_[depth]; ++i)
      parts += (parts_at_[depth][i] & entry.producers) == 0 ? 1 : 0;
    // To hang together in the end, the parts there are and the applications to come need one edge less than they are.
    operands -= static_cast<int>(parts + left) - 1;
    if (operands < 0) return false;
  }
  return skipped <= operands;
}

// --- extensions ------------------------------------------------------------------------------------------------------

void Walk::expand(bool last) {
  segments_.push_back(entries_.size());
  const auto inputs = static_cast<std::uint8_t>(input_hashes_.size());
  const auto end = static_cast<std::uint8_t>(tensor_count());
  std::uint8_t fresh = 0;
  if (graph_.empty()) {
    for (const ChoiceId choice : constants_) {
      const Signature& signature = space_->signature(choice, {});
      if (signature.defined) add(choice, signature, {}, last);
    }
  } else {
    fresh = static_cast<std::uint8_t>(inputs + made_.size() - graph_.back().signature->output_count);
  }
  for (std::uint8_t a = fresh; a < end; ++a) expand_unary(a, last);
  for (std::uint8_t a = 0; a < end; ++a) {
    for (std::uint8_t b = a < fresh ? fresh : 0; b < end; ++b) expand_binary(a, b, last);
  }
  if (!ternary_.empty()) expand_ternary(fresh, last);
}

void Walk::expand_unary(std::uint8_t tensor, bool last) {
  const TypeId type = type_of(tensor);
  if (unary_known_.size() <= type) {
    unary_known_.resize(type + 64, false);
    unary_of_type_.resize(type + 64);
  }
  if (!unary_known_[type]) {
    unary_known_[type] = true;
    for (const ChoiceId choice : unary_) {
      const Signature& signature = space_->signature(choice, std::span(&type, 1));
      if (signature.defined) unary_of_type_[type].emplace_back(choice, &signature);
    }
  }
  for (std::size_t i = 0; i < unary_of_type_[type].size(); ++i) {
    const auto& [choice, signature] = unary_of_type_[type][i];
    add(choice, *signature, std::span(&tensor, 1), last);
  }
}

void Walk::expand_binary(std::uint8_t a, std::uint8_t b, bool last) {
  const TypeId types[2] = {type_of(a), type_of(b)};
  const std::uint64_t key = (static_cast<std::uint64_t>(types[0]) + 1) << 32 | types[1];
  BinaryOfTypes& table = *binary_of_types_;
  if (table.find(key).key == 0) {
    const auto begin = static_cast<std::uint32_t>(table.lists.size());
    for (const ChoiceId choice : binary_) {
      const Signature& signature = space_->signature(choice, types);
      if (signature.defined) table.lists.emplace_back(choice, &signature);
    }
    table.find(key) = {key, begin, static_cast<std::uint32_t>(table.lists.size())};
    if (++table.used * 2 > table.slots.size()) table.grow();
  }
  const BinaryOfTypes::Slot slot = table.find(key);
  const std::uint8_t operands[2] = {a, b};
  for (std::uint32_t i = slot.begin; i < slot.end; ++i)
    add(table.lists[i].first, *table.lists[i].second, operands, last);
}

void Walk::expand_ternary(std::size_t fresh_from, bool last) {
  const auto end = static_cast<std::uint8_t>(tensor_count());
  for (std::uint8_t a = 0; a < end; ++a) {
    for (std::uint8_t b = 0; b < end; ++b) {
      const std::size_t from = a < fresh_from && b < fresh_from ? fresh_from : 0;
      for (std::size_t c = from; c < end; ++c) {
        const std::uint8_t operands[3] = {a, b, static_cast<std::uint8_t>(c)};
        const TypeId types[3] = {type_of(a), type_of(b), type_of(operands[2])};
        for (const ChoiceId choice : ternary_) {
          const Signature& signature = space_->signature(choice, types);
          if (signature.defined) add(choice, signature, operands, last);
        }
      }
    }
  }
}

bool Walk::admitted(const ChoiceRules& rules, std::span<const std::uint8_t> operands) const {
  const std::size_t inputs = input_hashes_.size();
  for (std::size_t i = 0; i < operands.size(); ++i) {
    const bool is_input = operands[i] < inputs;
    if (is_input ? (rules.inputs[i] >> operands[i] & 1) == 0 : rules.inputs_only) return false;
  }
  if (operands.size() < 2) return true;
  const std::uint8_t a = operands[0], b = operands[1];
  if ((rules.commutative && a > b) || (rules.distinct && a == b)) return false;
  if (!rules.made_in_order) return true;
  if (a < inputs || b < inputs) return a < b;
  const std::uint8_t made_by_a = made_[a - inputs].producer, made_by_b = made_[b - inputs].producer;
  if (made_by_a == made_by_b) return a < b;
  // Made later on the stack may be made earlier in another order of the same graph, unless it depends on b.
  std::uint8_t needed = static_cast<std::uint8_t>(1U << made_by_a);
  for (std::size_t i = made_by_a + 1U; i-- > 0;) {
    if ((needed >> i & 1) != 0) needed |= graph_[i].producers;
  }
  return (needed >> made_by_b & 1) == 0;
}

void Walk::add(ChoiceId choice, const Signature& signature, std::span<const std::uint8_t> operands, bool last) {
  if (!admitted(space_->choices()[choice], operands)) return;
  Entry entry;
  entry.signature = &signature;
  entry.choice = static_cast<std::uint16_t>(choice);
  entry.created = static_cast<std::uint8_t>(graph_.size());
  const std::size_t inputs = input_hashes_.size();
  for (std::size_t i = 0; i < operands.size(); ++i) {
    entry.operands[i] = operands[i];
    if (operands[i] < inputs) {
      entry.inputs |= 1U << operands[i];
    } else {
      entry.consumed |= static_cast<std::uint16_t>(1U << (operands[i] - inputs));
      entry.producers |= static_cast<std::uint8_t>(1U << made_[operands[i] - inputs].producer);
    }
  }
  if (last && !completes(entry)) return;
  hash_outputs(entry);
  for (std::uint32_t k = 0; k < signature.output_count; ++k) {
    for (const TensorHash& hash : input_hashes_) entry.repeats_input |= hash.identity == entry.hashes[k].identity;
  }
  entries_.push_back(entry);
}

std::vector<Unit> Walk::units(std::size_t operators) {
  reset(operators);
  std::vector<Unit> units;
  const auto first_count = static_cast<std::uint32_t>(entries_.size());
  for (std::uint32_t first = 0; first < first_count; ++first) {
    if (operators < 3) {
      units.push_back({first, Unit::kWhole});
      continue;
    }
    if (!extensible(entries_[first], operators - 1)) continue;
    push(entries_[first]);
    expand(false);
    const auto second_count = static_cast<std::uint32_t>(entries_.size()) - first - 1;
    for (std::uint32_t second = 0; second < second_count; ++second) units.push_back({first, second});
    restore_segments(1);
    pop();
  }
  return units;
}

void Walk::output_hashes(const Leaf& leaf, std::vector<std::uint64_t>& hashes) const {
  hashes.clear();
  const unsigned consumed = consumed_at_[graph_.size()] | leaf.last->consumed;
  for (std::size_t i = 0; i < made_.size(); ++i) {
    if ((consumed >> i & 1) == 0) hashes.push_back(output_hash(made_[i].hash));
  }
  for (std::uint32_t k = 0; k < leaf.last->signature->output_count; ++k)
    hashes.push_back(output_hash(leaf.last->hashes[k]));
}

}  // namespace rewright::enumeration
