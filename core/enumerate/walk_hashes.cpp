// The values of tensors, and their hashes.
#include <algorithm>

#include "enumerate/walk.h"
#include "enumerate/walk_data.h"

namespace rewright::enumeration {

namespace {
// For each tensor in the cache; applications are many more. What is remembered grows where more is forgotten than kept.
constexpr std::size_t kMostRemembered = 1024;
constexpr std::size_t kGrowth = 4;
}  // namespace

ValueData& Walk::place_for(std::uint64_t identity) {
  // Two places where it may be kept; one that is in use by the current graph is not given up.
  ValueData* place = nullptr;
  for (const std::size_t at : {identity % cache_.size(), (identity >> 32) % cache_.size()}) {
    if (cache_[at] == nullptr) cache_[at] = std::make_unique<ValueData>();
    if (cache_[at]->identity == identity) return *cache_[at];
    if (cache_[at]->pins == 0 && place == nullptr) place = cache_[at].get();
  }
  if (place == nullptr) {
    for (const auto& spare : spare_) {
      if (spare->pins == 0) place = spare.get();
    }
    if (place == nullptr) place = spare_.emplace_back(std::make_unique<ValueData>()).get();
  }
  place->identity = 0;
  place->index.clear();
  place->reductions.clear();
  return *place;
}

ValueData& Walk::data_of(std::uint8_t tensor, Samples samples) {
  const std::size_t inputs = input_hashes_.size();
  if (tensor < inputs) return *input_data_[tensor];
  ValueData*& data = made_data_[tensor - inputs];
  const MadeTensor& made = made_[tensor - inputs];
  if (data == nullptr) {
    data = &place_for(made.hash.identity);
    ++data->pins;
  }
  if (data->identity != 0 && (data->samples == Samples::kAll || samples == Samples::kFew)) return *data;
  ValueData* const place = data;
  const Entry& entry = graph_[made.producer];
  std::array<const Word*, kMaxOperands> in{};
  const std::size_t arity = space_->choices()[entry.choice].arity;
  for (std::size_t i = 0; i < arity; ++i) in[i] = elements_of(entry.operands[i], samples);
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
  space_->evaluate(*entry.signature, {in.data(), arity}, {out.data(), entry.signature->output_count}, samples);
  place->identity = made.hash.identity;
  place->samples = samples;
  return *place;
}

const Word* Walk::elements_of(std::uint8_t tensor, Samples samples) { return data_of(tensor, samples).elements.data(); }

const Word* Walk::reduction_of(std::uint8_t tensor, const Signature& signature, std::size_t operand, Samples samples) {
  ValueData& data = data_of(tensor, samples);
  const std::uint32_t number = signature.reductions[operand];
  for (const ValueData::Reduction& known : data.index) {
    if (known.number == number && (known.samples == Samples::kAll || samples == Samples::kFew))
      return data.reductions.data() + known.offset;
  }
  const auto offset = static_cast<std::uint32_t>(data.reductions.size());
  data.reductions.resize(offset + signature.reduction_words(samples));
  space_->reduce(signature, operand, data.elements.data(), data.reductions.data() + offset, samples);
  data.index.push_back({number, offset, samples});
  return data.reductions.data() + offset;
}

void Walk::hash_outputs(Entry& entry, Samples samples) {
  const Signature& signature = *entry.signature;
  auto& hashes = samples == Samples::kAll ? entry.hashes : entry.few;
  bool& repeats_input = samples == Samples::kAll ? entry.repeats_input : entry.few_repeat_input;
  if (signature.reduction > 0) {
    reduction_of(entry.operands[0], signature, 0, samples);
    const Word* right = reduction_of(entry.operands[1], signature, 1, samples);
    const Word* left = reduction_of(entry.operands[0], signature, 0, samples);
    hashes[0] = hash_of(*space_, signature.outputs[0], space_->product(signature, left, right, samples));
  } else {
    const std::size_t arity = space_->choices()[entry.choice].arity;
    std::uint64_t key = 2 * (entry.choice + std::uint64_t{1}) + (samples == Samples::kAll ? 1 : 0);
    const std::size_t inputs = input_hashes_.size();
    for (std::size_t i = 0; i < arity; ++i) {
      const std::uint8_t tensor = entry.operands[i];
      key = mix(key ^ (tensor < inputs ? input_hashes_[tensor] : made_[tensor - inputs].hash).identity) + i;
    }
    Remembered& remembered = remembered_[key % remembered_.size()];
    if (remembered.key != key) {
      evaluate_outputs(entry, remembered.hashes, samples);
      remembered.key = key;
      ++evaluated_;
    }
    for (std::uint32_t k = 0; k < signature.output_count; ++k)
      hashes[k] = hash_of(*space_, signature.outputs[k], remembered.hashes[k]);
    if (evaluated_ > remembered_.size()) remember_more();
  }
  repeats_input = false;
  for (std::uint32_t k = 0; k < signature.output_count; ++k) {
    for (const TensorHash& hash : input_hashes(samples)) repeats_input |= hash.identity == hashes[k].identity;
  }
}

void Walk::remember_more() {
  evaluated_ = 0;
  if (remembered_.size() >= cache_.size() * kMostRemembered) return;
  std::vector<Remembered> more(remembered_.size() * kGrowth);
  for (const Remembered& each : remembered_) more[each.key % more.size()] = each;
  remembered_.swap(more);
}

/// h of each.
void Walk::evaluate_outputs(const Entry& entry, std::span<std::uint64_t> hashes, Samples samples) {
  const Signature& signature = *entry.signature;
  const std::size_t arity = space_->choices()[entry.choice].arity;
  std::array<const Word*, kMaxOperands> in{};
  for (std::size_t i = 0; i < arity; ++i) in[i] = elements_of(entry.operands[i], samples);
  std::array<Word*, kMaxOutputs> out{};
  std::size_t total = 0;
  for (std::uint32_t k = 0; k < signature.output_count; ++k) total += space_->words(signature.outputs[k]);
  if (scratch_.size() < total) scratch_.resize(total);
  total = 0;
  for (std::uint32_t k = 0; k < signature.output_count; ++k) {
    out[k] = scratch_.data() + total;
    total += space_->words(signature.outputs[k]);
  }
  space_->evaluate(signature, {in.data(), arity}, {out.data(), signature.output_count}, samples);
  for (std::uint32_t k = 0; k < signature.output_count; ++k)
    hashes[k] = space_->hash(signature.outputs[k], out[k], samples);
}

}  // namespace rewright::enumeration
