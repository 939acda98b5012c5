#include "enumerate/record.h"

#include <algorithm>
#include <optional>
#include <set>

#define XXH_INLINE_ALL
#include <xxhash.h>

namespace rewright::enumeration {

namespace {
constexpr std::size_t kCacheSlots = 1 << 13;
}

Record record_of(std::span<const Entry> applications) {
  Record record;
  for (const Entry& entry : applications) {
    record.two_outputs |= static_cast<std::uint8_t>((entry.signature->output_count - 1) << record.count);
    record.made = static_cast<std::uint8_t>(record.made + entry.signature->output_count);
    record.steps[record.count++] = {entry.choice, entry.operands};
  }
  return record;
}

Record record_of(const Leaf& leaf) {
  std::array<Entry, kMaxOperators> all;
  std::copy(leaf.applications.begin(), leaf.applications.end(), all.begin());
  all[leaf.applications.size()] = *leaf.last;
  Record record = record_of(std::span<const Entry>(all.data(), leaf.applications.size() + 1));
  record.fingerprint = leaf.fingerprint;
  return record;
}

std::vector<Record> wires(const Walk& walk, bool inputs_in_order) {
  std::vector<Record> records;
  const auto hashes = walk.input_hashes();
  for (std::uint8_t a = 0; a < hashes.size(); ++a) {
    for (std::uint8_t b = a; b < hashes.size(); ++b) {
      if (inputs_in_order && !walk.in_order(1U << a | 1U << b)) continue;
      Record record;
      record.wires = {a, b};
      record.wire_count = a == b ? 1 : 2;
      record.fingerprint = output_hash(hashes[a]) + (a == b ? 0 : output_hash(hashes[b]));
      records.push_back(record);
    }
  }
  return records;
}

std::optional<Record> union_of(std::span<const Record> parts, const Space& space) {
  const std::size_t inputs = space.inputs().size();
  std::vector<std::uint64_t> terms, seen;
  for (const Record& part : parts) {
    application_terms(part, space, terms);
    for (const std::uint64_t term : terms) {
      if (std::find(seen.begin(), seen.end(), term) != seen.end()) return std::nullopt;
    }
    seen.insert(seen.end(), terms.begin(), terms.end());
  }
  Record all;
  std::size_t made = inputs;
  for (const Record& part : parts) {
    all.fingerprint += part.fingerprint;
    if (all.count + part.count > kMaxOperators || all.wire_count + part.wire_count > 2) return std::nullopt;
    for (std::size_t i = 0; i < part.wire_count && all.wire_count < all.wires.size(); ++i)
      all.wires[all.wire_count++] = part.wires[i];
    const std::size_t before = made;
    for (Step step : part.all()) {
      for (std::uint8_t& operand : step.operands) {
        if (operand >= inputs) operand = static_cast<std::uint8_t>(operand - inputs + before);
      }
      all.steps[all.count++] = step;
    }
    all.two_outputs |= static_cast<std::uint8_t>(part.two_outputs << (all.count - part.count));
    made = before + part.made;
  }
  all.made = static_cast<std::uint8_t>(made - inputs);
  return all;
}

// --- evaluation ------------------------------------------------------------------------------------------------------

namespace {

constexpr std::uint64_t kReplacement = 0x3c6ef372fe94f82b;

/// The term of an application, given those of its operands; the same for either order where order does not count.
std::uint64_t application_term(const Space& space, const Step& step, std::span<const Evaluator::Tensor> tensors) {
  const ChoiceRules& rules = space.choices()[step.choice];
  std::array<std::uint64_t, kMaxOperands> operands{};
  for (std::uint32_t i = 0; i < rules.arity; ++i) operands[i] = tensors[step.operands[i]].term;
  if (rules.commutative && operands[1] < operands[0]) std::swap(operands[0], operands[1]);
  std::uint64_t term = mixed(step.choice + std::uint64_t{0x100});
  for (std::uint32_t i = 0; i < rules.arity; ++i) term = mixed(term ^ operands[i]);
  return term;
}

}  // namespace

struct Evaluator::Slot {
  std::uint64_t term = 0;
  std::array<std::vector<Word>, kMaxOutputs> words;
  std::array<TensorHash, kMaxOutputs> hashes{};
};

Evaluator::Evaluator(const EnumerationConfig& config) : space_(config), cache_(kCacheSlots) {
  for (std::size_t i = 0; i < space_.inputs().size(); ++i) {
    const TypeId type = space_.inputs()[i].type;
    input_words_.emplace_back(space_.words(type));
    space_.input(i, input_words_.back().data());
    input_hashes_.push_back(hash_of(space_, type, space_.hash(type, input_words_.back().data())));
  }
}

Evaluator::~Evaluator() = default;

std::span<const Evaluator::Tensor> Evaluator::run(const Record& record, std::uint64_t replaced) {
  tensors_.clear();
  signatures_.clear();
  made_words_.clear();
  for (std::size_t i = 0; i < input_hashes_.size(); ++i)
    tensors_.push_back({space_.inputs()[i].type, input_hashes_[i], mixed(i + 1), false});
  wires_ = std::span(record.wires.data(), record.wire_count);
  std::vector<const Word*> words;
  for (const auto& each : input_words_) words.push_back(each.data());
  for (const Step& step : record.all()) {
    const std::uint32_t arity = space_.choices()[step.choice].arity;
    std::array<TypeId, kMaxOperands> types{};
    std::array<const Word*, kMaxOperands> in{};
    for (std::uint32_t i = 0; i < arity; ++i) {
      Tensor& operand = tensors_[step.operands[i]];
      operand.consumed = true;
      types[i] = operand.type;
      in[i] = words[step.operands[i]];
    }
    std::uint64_t term = application_term(space_, step, tensors_);
    const Signature& signature = space_.signature(step.choice, std::span(types.data(), arity));
    signatures_.push_back(&signature);
    if (replaced != 0 && term == replaced) term = mixed(replaced ^ kReplacement);
    std::unique_ptr<Slot>& cached = cache_[term % cache_.size()];
    if (cached == nullptr) cached = std::make_unique<Slot>();
    if (cached->term != term) {
      std::array<Word*, kMaxOutputs> out{};
      for (std::uint32_t k = 0; k < signature.output_count; ++k) {
        cached->words[k].resize(space_.words(signature.outputs[k]));
        out[k] = cached->words[k].data();
      }
      if (term == mixed(replaced ^ kReplacement)) {
        space_.fill(signature.outputs[0], replaced, out[0]);
      } else {
        space_.evaluate(signature, {in.data(), arity}, {out.data(), signature.output_count});
      }
      for (std::uint32_t k = 0; k < signature.output_count; ++k)
        cached->hashes[k] = hash_of(space_, signature.outputs[k], space_.hash(signature.outputs[k], out[k]));
      cached->term = term;
    }
    for (std::uint32_t k = 0; k < signature.output_count; ++k) {
      tensors_.push_back({signature.outputs[k], cached->hashes[k], mixed(term + k), false});
      // A copy: a later step of this record may want the same slot.
      words.push_back(made_words_.emplace_back(cached->words[k]).data());
    }
  }
  return tensors_;
}

std::vector<std::size_t> Evaluator::outputs() const {
  std::vector<std::size_t> outputs(wires_.begin(), wires_.end());
  for (std::size_t i = input_hashes_.size(); i < tensors_.size(); ++i) {
    if (!tensors_[i].consumed) outputs.push_back(i);
  }
  std::sort(outputs.begin(), outputs.end(),
            [&](std::size_t a, std::size_t b) { return tensors_[a].hash.content < tensors_[b].hash.content; });
  return outputs;
}

bool Evaluator::repeats(const Record& record) {
  const auto tensors = run(record);
  const std::size_t last = tensors.size() - record.output_count(record.count - 1U);
  for (std::size_t i = last; i < tensors.size(); ++i) {
    for (std::size_t j = 0; j < i; ++j) {
      if (tensors[i].hash.identity == tensors[j].hash.identity) return true;
    }
  }
  return false;
}

std::uint64_t Evaluator::fingerprint(const Record& record) { return fingerprint_without(record, 0); }

std::uint64_t Evaluator::fingerprint_without(const Record& record, std::uint64_t term) {
  run(record, term);
  std::uint64_t sum = 0;
  for (const std::size_t output : outputs()) sum += output_hash(tensors_[output].hash);
  return sum;
}

namespace {

std::uint32_t inputs_of(const Record& record, const Space& space) {
  std::uint32_t used = 0;
  for (std::uint8_t i = 0; i < record.wire_count; ++i) used |= 1U << record.wires[i];
  for (const Step& step : record.all()) {
    for (std::uint32_t i = 0; i < space.choices()[step.choice].arity; ++i) {
      if (step.operands[i] < space.inputs().size()) used |= 1U << step.operands[i];
    }
  }
  return used;
}

}  // namespace

namespace {

/// Terms of the applications to inputs alone that have one output of a type that some input has.
struct Beginning {
  std::uint64_t term = 0;
  TypeId type = 0;
  std::uint32_t others = 0;  ///< Inputs that the rest of the graph uses.
};

void beginnings(const Record& record, std::span<const Evaluator::Tensor> tensors, const Space& space,
                std::vector<Beginning>& found) {
  found.clear();
  const std::size_t inputs = space.inputs().size();
  std::size_t made = inputs;
  for (std::size_t s = 0; s < record.count; ++s) {
    const Step& step = record.steps[s];
    const std::uint32_t arity = space.choices()[step.choice].arity;
    bool on_inputs = record.output_count(s) == 1;
    for (std::uint32_t i = 0; i < arity; ++i) on_inputs &= step.operands[i] < inputs;
    const TypeId type = tensors[made].type;
    if (on_inputs) {
      Record rest = record;
      rest.steps[s] = {step.choice, {}};
      rest.steps[s].operands.fill(static_cast<std::uint8_t>(inputs));
      found.push_back({application_term(space, step, tensors), type, inputs_of(rest, space)});
    }
    made += record.output_count(s);
  }
}

/// Choice, operands and what is left without it, of the applications whose outputs nothing consumes.
struct Ending {
  std::uint16_t choice = 0;
  std::array<std::uint64_t, kMaxOperands> operands{};
  std::uint64_t rest = 0;  ///< Fingerprint of the graph without the application.
  friend auto operator<=>(const Ending&, const Ending&) = default;
};

void endings(const Record& record, std::span<const Evaluator::Tensor> tensors, const Space& space,
             std::vector<Ending>& found) {
  found.clear();
  if (record.count < 2) return;
  const std::size_t inputs = space.inputs().size();
  std::array<std::uint32_t, kMaxInputs + kMaxOperators * kMaxOutputs> uses{};
  for (const Step& step : record.all()) {
    for (std::uint32_t i = 0; i < space.choices()[step.choice].arity; ++i) ++uses[step.operands[i]];
  }
  std::size_t first = inputs;
  for (std::size_t s = 0; s < record.count; first += record.output_count(s), ++s) {
    const Step& step = record.steps[s];
    bool is_sink = true;
    for (std::size_t k = 0; k < record.output_count(s); ++k) is_sink &= uses[first + k] == 0;
    if (!is_sink) continue;
    const ChoiceRules& rules = space.choices()[step.choice];
    Ending ending;
    ending.choice = step.choice;
    for (std::uint32_t i = 0; i < rules.arity; ++i) ending.operands[i] = tensors[step.operands[i]].hash.identity;
    if (rules.commutative && ending.operands[1] < ending.operands[0]) std::swap(ending.operands[0], ending.operands[1]);
    auto left = uses;
    for (std::uint32_t i = 0; i < rules.arity; ++i) --left[step.operands[i]];
    for (std::size_t t = inputs; t < tensors.size(); ++t) {
      const bool of_sink = t >= first && t < first + record.output_count(s);
      if (!of_sink && left[t] == 0) ending.rest += output_hash(tensors[t].hash);
    }
    found.push_back(ending);
  }
}

}  // namespace

bool is_instance(Evaluator& evaluator, const Record& source, const Record& target) {
  const Space& space = evaluator.space();
  std::vector<Beginning> begin_source, begin_target;
  std::vector<Ending> end_source, end_target;
  const auto tensors = evaluator.run(source);
  beginnings(source, tensors, space, begin_source);
  endings(source, tensors, space, end_source);
  const auto others = evaluator.run(target);
  beginnings(target, others, space, begin_target);
  endings(target, others, space, end_target);
  for (const Ending& a : end_source) {
    if (a.rest != 0 && std::find(end_target.begin(), end_target.end(), a) != end_target.end()) return true;
  }
  for (const Beginning& a : begin_source) {
    const auto same =
        std::find_if(begin_target.begin(), begin_target.end(), [&](const Beginning& b) { return a.term == b.term; });
    if (same == begin_target.end()) continue;
    const std::uint32_t used = a.others | same->others;
    // The smaller pair is enumerated if there is an input to take the application's place.
    bool free_input = false;
    for (std::size_t i = 0; i < space.inputs().size(); ++i)
      free_input |= space.inputs()[i].type == a.type && (used >> i & 1) == 0;
    if (!free_input) continue;
    if (evaluator.fingerprint_without(source, a.term) == evaluator.fingerprint_without(target, a.term)) return true;
  }
  return false;
}

void application_terms(const Record& record, const Space& space, std::vector<std::uint64_t>& terms) {
  terms.clear();
  const std::size_t inputs = space.inputs().size();
  std::array<std::uint64_t, kMaxInputs + kMaxOperators * kMaxOutputs> tensors{};
  for (std::size_t i = 0; i < inputs; ++i) tensors[i] = mixed(i + 1);
  std::size_t made = inputs;
  for (std::size_t s = 0; s < record.count; ++s) {
    const Step& step = record.steps[s];
    const ChoiceRules& rules = space.choices()[step.choice];
    std::array<std::uint64_t, kMaxOperands> operands{};
    for (std::uint32_t i = 0; i < rules.arity; ++i) operands[i] = tensors[step.operands[i]];
    if (rules.commutative && operands[1] < operands[0]) std::swap(operands[0], operands[1]);
    std::uint64_t term = mixed(step.choice + std::uint64_t{0x100});
    for (std::uint32_t i = 0; i < rules.arity; ++i) term = mixed(term ^ operands[i]);
    terms.push_back(term);
    for (std::uint32_t k = 0; k < record.output_count(s); ++k) tensors[made++] = mixed(term + k);
  }
  std::sort(terms.begin(), terms.end());
}

// --- candidates ------------------------------------------------------------------------------------------------------

namespace {

Result<Graph> make_graph(const EnumerationConfig& config, Evaluator& evaluator, const Record& record,
                         std::uint32_t used) {
  OperatorSpace& space = evaluator.space();
  evaluator.run(record);
  GraphBuilder builder;
  std::vector<Port> ports;
  for (std::size_t i = 0; i < space.inputs().size(); ++i) {
    ports.emplace_back();
    if ((used >> i & 1) == 0) continue;
    const EnumerationInput& input = config.inputs[space.config_index(i)];
    REWRIGHT_TRY(ports.back(), builder.input(input.name, {input.shape, ElementType::kFloat32}, input.kind));
  }
  for (std::size_t s = 0; s < record.count; ++s) {
    const Step& step = record.steps[s];
    std::vector<Port> operands;
    for (std::uint32_t i = 0; i < space.choices()[step.choice].arity; ++i) operands.push_back(ports[step.operands[i]]);
    REWRIGHT_TRY(const auto made, builder.apply(*config.operators[step.choice].op,
                                                space.params(*evaluator.signatures()[s], 0), std::move(operands)));
    ports.insert(ports.end(), made.begin(), made.end());
  }
  for (const std::size_t output : evaluator.outputs()) builder.output(ports[output]);
  return builder.finish();
}

}  // namespace

Result<Candidate> make_candidate(const EnumerationConfig& config, Evaluator& evaluator, const Record& source,
                                 const Record& target) {
  const std::uint32_t used = inputs_of(source, evaluator.space()) | inputs_of(target, evaluator.space());
  Candidate candidate;
  REWRIGHT_TRY(candidate.source, make_graph(config, evaluator, source, used));
  REWRIGHT_TRY(candidate.target, make_graph(config, evaluator, target, used));
  const Hash128 hashes[2] = {structural_hash(candidate.source), structural_hash(candidate.target)};
  const XXH128_hash_t id = XXH3_128bits(hashes, sizeof(hashes));
  candidate.id = to_string(Hash128{id.low64, id.high64});
  return candidate;
}

}  // namespace rewright::enumeration
