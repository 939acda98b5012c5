#include "enumerate/record.h"

#include <algorithm>
#include <map>
#include <optional>

#define XXH_INLINE_ALL
#include <xxhash.h>

namespace rewright::enumeration {

namespace {
constexpr std::size_t kKnown = 1 << 16;
constexpr std::size_t kValues = 1 << 12;
}  // namespace

namespace {
void append(const Entry& entry, Record& record) {
  record.two_outputs |= static_cast<std::uint8_t>((entry.signature->output_count - 1) << record.count);
  record.steps[record.count++] = {entry.choice, entry.operands};
}
}  // namespace

Record record_of(std::span<const Entry> applications) {
  Record record;
  for (const Entry& entry : applications) append(entry, record);
  return record;
}

Record record_of(const Leaf& leaf) {
  Record record = record_of(leaf.applications);
  append(*leaf.last, record);
  record.fingerprint = leaf.fingerprint;
  return record;
}

std::vector<Record> wires(const Walk& walk, bool inputs_in_order) {
  std::vector<Record> records;
  const auto inputs = static_cast<std::uint8_t>(walk.input_hashes().size());
  for (std::uint8_t a = 0; a < inputs; ++a) {
    for (std::uint8_t b = a; b < inputs; ++b) {
      if (inputs_in_order && !walk.in_order(1U << a | 1U << b)) continue;
      Record record;
      record.wires = {a, b};
      record.wire_count = a == b ? 1 : 2;
      record.fingerprint = fingerprint_of(record, walk, Samples::kAll);
      records.push_back(record);
    }
  }
  return records;
}

std::uint64_t fingerprint_of(const Record& wires, const Walk& walk, Samples samples) {
  std::uint64_t sum = 0;
  for (std::size_t i = 0; i < wires.wire_count; ++i) sum += output_hash(walk.input_hashes(samples)[wires.wires[i]]);
  return sum;
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
    made = before + part.made();
  }
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
  std::uint64_t term = mix(step.choice + std::uint64_t{0x100});
  for (std::uint32_t i = 0; i < rules.arity; ++i) term = mix(term ^ operands[i]);
  return term;
}

}  // namespace

struct Evaluator::Known {
  std::uint64_t term = 0;
  const Signature* signature = nullptr;
  std::uint32_t hashed = 0;  // Bit k: the hash of output k is there.
  std::array<TensorHash, kMaxOutputs> hashes{};
};

struct Evaluator::Values {
  std::uint64_t term = 0;
  std::array<std::vector<Word>, kMaxOutputs> words;
};

Evaluator::Evaluator(const EnumerationConfig& config) : space_(config), known_(kKnown), values_(kValues) {
  for (std::size_t i = 0; i < space_.inputs().size(); ++i) {
    const TypeId type = space_.inputs()[i].type;
    input_words_.emplace_back(space_.words(type));
    space_.input(i, input_words_.back().data());
    input_hashes_.push_back(hash_of(space_, type, space_.hash(type, input_words_.back().data(), Samples::kAll)));
    tensors_.push_back({type, false, mix(i + 1)});
  }
}

Evaluator::~Evaluator() = default;

Evaluator::Evaluator(Evaluator&&) noexcept = default;

std::span<const Evaluator::Tensor> Evaluator::run(const Record& record, std::span<const std::uint64_t> free) {
  const std::size_t inputs = input_hashes_.size();
  tensors_.resize(inputs);
  signatures_.clear();
  made_.clear();
  steps_ = record.all();
  wires_ = std::span(record.wires.data(), record.wire_count);
  for (std::size_t s = 0; s < steps_.size(); ++s) {
    const Step& step = steps_[s];
    const std::uint32_t arity = space_.choices()[step.choice].arity;
    std::array<TypeId, kMaxOperands> types{};
    for (std::uint32_t i = 0; i < arity; ++i) {
      Tensor& operand = tensors_[step.operands[i]];
      operand.consumed = step.operands[i] >= inputs;
      types[i] = operand.type;
    }
    const std::uint64_t term = application_term(space_, step, tensors_);
    Known& known = known_[term % known_.size()];
    if (known.term != term) known = {term, &space_.signature(step.choice, std::span(types.data(), arity)), 0, {}};
    const Signature& signature = *known.signature;
    signatures_.push_back(&signature);
    const auto first = made_.size();
    for (std::uint32_t k = 0; k < signature.output_count; ++k) {
      Tensor& tensor = tensors_.emplace_back(Tensor{signature.outputs[k], false, mix(term + k)});
      Made& made = made_.emplace_back();
      made.application = term;
      made.step = static_cast<std::uint8_t>(s);
      made.output = static_cast<std::uint8_t>(k);
      made.first = static_cast<std::uint8_t>(first);
      if (!std::binary_search(free.begin(), free.end(), tensor.term)) continue;
      made.random = tensor.term;
      tensor.term = mix(tensor.term ^ kReplacement);
    }
  }
  if (words_.size() < made_.size()) words_.resize(made_.size());
  return tensors_;
}

const TensorHash& Evaluator::hash(std::size_t tensor) {
  if (tensor < input_hashes_.size()) return input_hashes_[tensor];
  const std::size_t at = tensor - input_hashes_.size();
  Made& made = made_[at];
  if (made.hashed) return hashes_[at];
  made.hashed = true;
  const auto compute = [&] {
    return hash_of(space_, tensors_[tensor].type, space_.hash(tensors_[tensor].type, elements(tensor), Samples::kAll));
  };
  Known& known = known_[made.application % known_.size()];
  if (made.random != 0 || known.term != made.application) return hashes_[at] = compute();
  if ((known.hashed >> made.output & 1U) == 0) {
    known.hashes[made.output] = compute();
    known.hashed |= 1U << made.output;
  }
  return hashes_[at] = known.hashes[made.output];
}

const Word* Evaluator::elements(std::size_t tensor) {
  if (tensor < input_words_.size()) return input_words_[tensor].data();
  const std::size_t at = tensor - input_words_.size();
  Made& made = made_[at];
  if (!made.ready) {
    if (made.random != 0) {
      words_[at].resize(space_.words(tensors_[tensor].type));
      space_.fill(tensors_[tensor].type, made.random, words_[at].data());
    } else {
      Values& values = values_[made.application % values_.size()];
      if (values.term != made.application) {
        apply(made.first);
      } else {
        words_[at] = values.words[made.output];
      }
    }
    made_[at].ready = true;
  }
  return words_[at].data();
}

/// Evaluates the step of which the tensor made at this place is the first.
void Evaluator::apply(std::size_t first_made) {
  const Made made = made_[first_made];
  const Signature& signature = *signatures_[made.step];
  std::array<const Word*, kMaxOperands> in{};
  const std::uint32_t arity = space_.choices()[steps_[made.step].choice].arity;
  for (std::uint32_t i = 0; i < arity; ++i) in[i] = elements(steps_[made.step].operands[i]);
  Values& values = values_[made.application % values_.size()];
  values.term = 0;
  std::array<Word*, kMaxOutputs> out{};
  for (std::uint32_t k = 0; k < signature.output_count; ++k) {
    values.words[k].resize(space_.words(signature.outputs[k]));
    out[k] = values.words[k].data();
  }
  space_.evaluate(signature, {in.data(), arity}, {out.data(), signature.output_count}, Samples::kAll);
  values.term = made.application;
  for (std::uint32_t k = 0; k < signature.output_count; ++k) {
    if (made_[first_made + k].random != 0) continue;
    words_[first_made + k] = values.words[k];
    made_[first_made + k].ready = true;
  }
}

std::vector<std::size_t> Evaluator::outputs() {
  std::vector<std::size_t> outputs(wires_.begin(), wires_.end());
  for (std::size_t i = input_hashes_.size(); i < tensors_.size(); ++i) {
    if (!tensors_[i].consumed) outputs.push_back(i);
  }
  if (outputs.size() > 1) {
    std::sort(outputs.begin(), outputs.end(),
              [&](std::size_t a, std::size_t b) { return hash(a).content < hash(b).content; });
  }
  return outputs;
}

bool Evaluator::repeats(const Record& record) {
  const auto tensors = run(record);
  const std::size_t last = tensors.size() - record.output_count(record.count - 1U);
  for (std::size_t i = last; i < tensors.size(); ++i) {
    for (std::size_t j = 0; j < i; ++j) {
      if (hash(i).identity == hash(j).identity) return true;
    }
  }
  return false;
}

std::uint64_t Evaluator::fingerprint(const Record& record, std::span<const std::uint64_t> free) {
  run(record, free);
  std::uint64_t sum = 0;
  for (const std::uint8_t wire : wires_) sum += output_hash(hash(wire));
  for (std::size_t i = input_hashes_.size(); i < tensors_.size(); ++i) {
    if (!tensors_[i].consumed) sum += output_hash(hash(i));
  }
  return sum;
}

void application_terms(const Record& record, const Space& space, std::vector<std::uint64_t>& terms) {
  terms.clear();
  const std::size_t inputs = space.inputs().size();
  std::array<std::uint64_t, kMaxInputs + kMaxOperators * kMaxOutputs> tensors{};
  for (std::size_t i = 0; i < inputs; ++i) tensors[i] = mix(i + 1);
  std::size_t made = inputs;
  for (std::size_t s = 0; s < record.count; ++s) {
    const Step& step = record.steps[s];
    const ChoiceRules& rules = space.choices()[step.choice];
    std::array<std::uint64_t, kMaxOperands> operands{};
    for (std::uint32_t i = 0; i < rules.arity; ++i) operands[i] = tensors[step.operands[i]];
    if (rules.commutative && operands[1] < operands[0]) std::swap(operands[0], operands[1]);
    std::uint64_t term = mix(step.choice + std::uint64_t{0x100});
    for (std::uint32_t i = 0; i < rules.arity; ++i) term = mix(term ^ operands[i]);
    terms.push_back(term);
    for (std::uint32_t k = 0; k < record.output_count(s); ++k) tensors[made++] = mix(term + k);
  }
  std::sort(terms.begin(), terms.end());
}

// --- candidates ------------------------------------------------------------------------------------------------------

namespace {

/// Steps and inputs that the outputs need if free tensors are there.
struct Needed {
  unsigned steps = 0;
  std::uint32_t inputs = 0;
  std::vector<std::size_t> free;  ///< Tensors.
};

bool is_free(std::span<const std::uint64_t> free, std::uint64_t term) {
  return std::binary_search(free.begin(), free.end(), term);
}

Needed needed_for(const Record& record, std::span<const Evaluator::Tensor> tensors, const Space& space,
                  std::span<const std::size_t> outputs, std::span<const std::uint64_t> free) {
  const std::size_t inputs = space.inputs().size();
  std::vector<bool> wanted(tensors.size());
  for (const std::size_t output : outputs) wanted[output] = true;
  Needed needed;
  std::size_t made = tensors.size();
  for (std::size_t s = record.count; s-- > 0;) {
    bool is_needed = false;
    made -= record.output_count(s);
    for (std::size_t k = 0; k < record.output_count(s); ++k) {
      if (!wanted[made + k]) continue;
      if (is_free(free, tensors[made + k].term)) {
        needed.free.push_back(made + k);
      } else {
        is_needed = true;
      }
    }
    if (!is_needed) continue;
    needed.steps |= 1U << s;
    for (std::uint32_t i = 0; i < space.choices()[record.steps[s].choice].arity; ++i)
      wanted[record.steps[s].operands[i]] = true;
  }
  for (std::size_t i = 0; i < inputs; ++i) needed.inputs |= wanted[i] ? 1U << i : 0;
  return needed;
}

/// Is a tensor made from weights alone?
bool is_weight(const EnumerationConfig& config, const OperatorSpace& space, const Record& record, std::size_t tensor) {
  const std::size_t inputs = space.inputs().size();
  if (tensor < inputs) return config.inputs[space.config_index(tensor)].kind == InputKind::kWeight;
  std::size_t made = inputs, step = 0;
  while (made + record.output_count(step) <= tensor) made += record.output_count(step++);
  const std::uint32_t arity = space.choices()[record.steps[step].choice].arity;
  bool weight = true;
  for (std::uint32_t i = 0; i < arity; ++i)
    weight = weight && is_weight(config, space, record, record.steps[step].operands[i]);
  return weight;
}

struct Side {
  const Record* record = nullptr;
  std::vector<Evaluator::Tensor> tensors;
  std::vector<const Signature*> signatures;
  std::vector<std::size_t> outputs;
  Needed needed;
};

Result<Graph> make_graph(const EnumerationConfig& config, const OperatorSpace& space, const Side& side,
                         std::uint32_t used, const std::map<std::uint64_t, std::pair<std::string, InputKind>>& names,
                         const std::map<std::uint64_t, TypeId>& types) {
  GraphBuilder builder;
  std::vector<Port> ports(side.tensors.size());
  for (std::size_t i = 0; i < space.inputs().size(); ++i) {
    if ((used >> i & 1) == 0) continue;
    const EnumerationInput& input = config.inputs[space.config_index(i)];
    REWRIGHT_TRY(ports[i], builder.input(input.name, {input.shape, ElementType::kFloat32}, input.kind));
  }
  std::map<std::uint64_t, Port> free;
  for (const auto& [term, name] : names) {
    REWRIGHT_TRY(free[term],
                 builder.input(name.first, {space.shape(types.at(term), 0), ElementType::kFloat32}, name.second));
  }
  std::size_t made = space.inputs().size();
  for (std::size_t s = 0; s < side.record->count; made += side.record->output_count(s), ++s) {
    if ((side.needed.steps >> s & 1) != 0) {
      const Step& step = side.record->steps[s];
      std::vector<Port> operands;
      for (std::uint32_t i = 0; i < space.choices()[step.choice].arity; ++i)
        operands.push_back(ports[step.operands[i]]);
      REWRIGHT_TRY(const auto results, builder.apply(*config.operators[step.choice].op,
                                                     space.params(*side.signatures[s], 0), std::move(operands)));
      std::copy(results.begin(), results.end(), ports.begin() + static_cast<std::ptrdiff_t>(made));
    }
    for (std::size_t k = 0; k < side.record->output_count(s); ++k) {
      if (const auto name = free.find(side.tensors[made + k].term); name != free.end()) ports[made + k] = name->second;
    }
  }
  for (const std::size_t output : side.outputs) builder.output(ports[output]);
  return builder.finish();
}

}  // namespace

Result<Candidate> make_candidate(const EnumerationConfig& config, Evaluator& evaluator, const Record& source,
                                 const Record& target, std::span<const std::uint64_t> free) {
  const OperatorSpace& space = evaluator.space();
  std::array<Side, 2> sides;
  for (std::size_t i = 0; i < 2; ++i) {
    sides[i].record = i == 0 ? &source : &target;
    const auto tensors = evaluator.run(*sides[i].record);
    sides[i].tensors.assign(tensors.begin(), tensors.end());
    sides[i].signatures.assign(evaluator.signatures().begin(), evaluator.signatures().end());
    sides[i].outputs = evaluator.outputs();
  }
  if (!free.empty()) {
    std::array<std::vector<std::size_t>, 2> outputs;
    for (std::size_t i = 0; i < sides[0].outputs.size(); ++i) {
      const std::size_t u = sides[0].outputs[i], v = sides[1].outputs[i];
      if (sides[0].tensors[u].term == sides[1].tensors[v].term) continue;
      outputs[0].push_back(u);
      outputs[1].push_back(v);
    }
    for (std::size_t i = 0; i < 2; ++i) sides[i].outputs = outputs[i];
  }
  std::map<std::uint64_t, std::pair<std::string, InputKind>> names;
  std::map<std::uint64_t, TypeId> types;
  for (Side& side : sides) {
    side.needed = needed_for(*side.record, side.tensors, space, side.outputs, free);
    for (const std::size_t tensor : side.needed.free) {
      names[side.tensors[tensor].term].second =
          is_weight(config, space, *side.record, tensor) ? InputKind::kWeight : InputKind::kData;
      types[side.tensors[tensor].term] = side.tensors[tensor].type;
    }
  }
  int number = 0;
  for (auto& [term, name] : names) {
    const auto taken = [&name = name](const EnumerationInput& input) { return input.name == name.first; };
    do {
      name.first = fmt::format("t{}", ++number);
    } while (std::any_of(config.inputs.begin(), config.inputs.end(), taken));
  }
  const std::uint32_t used = sides[0].needed.inputs | sides[1].needed.inputs;
  Candidate candidate;
  REWRIGHT_TRY(candidate.source, make_graph(config, space, sides[0], used, names, types));
  REWRIGHT_TRY(candidate.target, make_graph(config, space, sides[1], used, names, types));
  const Hash128 hashes[2] = {structural_hash(candidate.source), structural_hash(candidate.target)};
  const XXH128_hash_t id = XXH3_128bits(hashes, sizeof(hashes));
  candidate.id = to_string(Hash128{id.low64, id.high64});
  return candidate;
}

}  // namespace rewright::enumeration
