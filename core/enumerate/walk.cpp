#include "enumerate/walk.h"

#include <algorithm>

#include "enumerate/walk_data.h"

namespace rewright::enumeration {

Walk::Walk(std::unique_ptr<Space> space, const Scope& scope, std::size_t cache_slots)
    : space_(std::move(space)), scope_(scope), binary_of_types_(std::make_unique<BinaryOfTypes>()) {
  const auto inputs = space_->inputs();
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    auto data = std::make_unique<ValueData>();
    data->elements.resize(space_->words(inputs[i].type));
    space_->input(i, data->elements.data());
    const auto hash = [&](Samples samples) {
      return hash_of(*space_, inputs[i].type, space_->hash(inputs[i].type, data->elements.data(), samples));
    };
    input_hashes_.push_back(hash(Samples::kAll));
    few_input_hashes_.push_back(hash(Samples::kFew));
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
  sum_at_[depth + 1] = fingerprint(entry, Samples::kAll);
  few_sum_at_[depth + 1] = fingerprint(entry, Samples::kFew);
  used_at_[depth + 1] = used_at_[depth] | entry.inputs;
  consumed_at_[depth + 1] = consumed_at_[depth] | entry.consumed;
  graph_.push_back(entry);
  for (std::uint32_t k = 0; k < entry.signature->output_count; ++k) {
    made_.push_back({entry.hashes[k], entry.few[k], entry.signature->outputs[k], static_cast<std::uint8_t>(depth)});
    made_data_.push_back(nullptr);
  }
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
  if (!scope_.extend_repetitions &&
      (entry.repeats_input || repeats_itself(entry, Samples::kAll) || repeats_made(entry, Samples::kAll))) {
    const std::uint64_t lot = mix(sum_at_[graph_.size()] ^ mix(entry.hashes[0].identity + entry.choice));
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
  if (scope_.samples == Samples::kFew) hash_outputs(entry, Samples::kFew);
  if (!last || scope_.samples == Samples::kAll) hash_outputs(entry, Samples::kAll);
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
    if ((consumed >> i & 1) == 0) hashes.push_back(output_hash(made_[i].on(leaf.samples)));
  }
  for (std::uint32_t k = 0; k < leaf.last->signature->output_count; ++k)
    hashes.push_back(output_hash(leaf.last->on(leaf.samples)[k]));
}

Entry Walk::completed(const Entry& last) {
  Entry all = last;
  // Applications that were possible earlier have been hashed on all samples then.
  if (last.created == graph_.size()) hash_outputs(all, Samples::kAll);
  return all;
}

Leaf Walk::complete(const Leaf& leaf) {
  if (leaf.samples == Samples::kAll) return leaf;
  completed_ = completed(*leaf.last);
  return {leaf.applications, &completed_, fingerprint(completed_, Samples::kAll), Samples::kAll};
}

}  // namespace rewright::enumeration
