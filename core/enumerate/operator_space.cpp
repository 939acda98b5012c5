#include "enumerate/operator_space.h"

#include <rewright/tensor/correlation.h>

#include <algorithm>
#include <numeric>

#define XXH_INLINE_ALL
#include <xxhash.h>

namespace rewright::enumeration {

namespace {

constexpr std::int64_t kMagnitudes = 15;
constexpr std::uint64_t kPointSeed = 0x6a09e667f3bcc908;
constexpr std::uint32_t kSignPatterns = 3;

static_assert(sizeof(Field) == sizeof(Word));
Field* fields(Word* words) { return reinterpret_cast<Field*>(words); }
const Field* fields(const Word* words) { return reinterpret_cast<const Field*>(words); }

Shape plain(const CutShape& shape) {
  Shape result;
  for (const CutDim& dim : shape) result.append(dim.extent());
  return result;
}

void append_text(const CutDim& dim, std::string& text) {
  if (dim.cut() == nullptr) {
    text += std::to_string(dim.extent());
    return;
  }
  text += '(';
  append_text(dim.cut()->first, text);
  text += '|';
  append_text(dim.cut()->second, text);
  text += ')';
}

/// The sizes parameter that a split leaves open, if this choice does.
std::optional<std::size_t> open_sizes(const OperatorChoice& choice) {
  const auto& specs = choice.op->info().params;
  for (std::size_t i = 0; i < specs.size(); ++i) {
    if (specs[i].kind == ParamKind::kSizes && choice.params.sizes(i).empty() && choice.op->info().min_arity == 1)
      return i;
  }
  return std::nullopt;
}

/// The first integer parameter is the axis along which a split cuts.
std::int64_t axis_of(const OperatorChoice& choice) {
  const auto& specs = choice.op->info().params;
  for (std::size_t i = 0; i < specs.size(); ++i) {
    if (specs[i].kind == ParamKind::kInt) return choice.params.integer(i);
  }
  return 0;
}

int arity_of(const OperatorInfo& info) { return info.max_arity < 0 ? std::max(info.min_arity, 2) : info.min_arity; }

bool exchangeable(const EnumerationInput& a, const EnumerationInput& b) {
  return a.kind == b.kind && a.shape == b.shape && a.more_shapes == b.more_shapes;
}

bool fits(const Shape& shape, const std::vector<std::int64_t>& largest) {
  if (shape.rank() != static_cast<int>(largest.size())) return false;
  for (int axis = 0; axis < shape.rank(); ++axis) {
    const std::int64_t most = largest[static_cast<std::size_t>(axis)];
    if (most != 0 && shape[axis] > most) return false;
  }
  return true;
}

bool is_scalar(const EnumerationInput& input) { return input.shape.elements() == 1; }

/// Which bit of the sample's number is the sign of the first element: scalars take turns.
std::vector<std::uint32_t> sign_patterns(const EnumerationConfig& config) {
  std::vector<std::uint32_t> patterns;
  for (std::size_t i = 0; i < config.inputs.size(); ++i) {
    const auto before = config.inputs.begin() + static_cast<std::ptrdiff_t>(i);
    patterns.push_back(static_cast<std::uint32_t>(std::count_if(config.inputs.begin(), before, is_scalar)) %
                       kSignPatterns);
  }
  return patterns;
}

Field random_field(std::uint64_t number) { return Field::from_residue(mix(number) % Field::kPrime); }

}  // namespace

const Shape& shape_in(const EnumerationInput& input, std::size_t world) {
  return world == 0 ? input.shape : input.more_shapes[world - 1];
}

std::size_t world_count(const EnumerationConfig& config) {
  return config.inputs.empty() ? 1 : config.inputs[0].more_shapes.size() + 1;
}

std::vector<std::uint32_t> samples_of_worlds(const EnumerationConfig& config) {
  const std::size_t worlds = world_count(config);
  const auto scalars = std::count_if(config.inputs.begin(), config.inputs.end(), is_scalar);
  const bool has_order =
      std::any_of(config.operators.begin(), config.operators.end(),
                  [](const OperatorChoice& choice) { return choice.op->traits(choice.params).uses_order; });
  // Under an order two elements are to be seen with all combinations of signs; a small tensor has few pairs of them.
  std::int64_t smallest = 64;
  for (const EnumerationInput& input : config.inputs) {
    if (!is_scalar(input)) smallest = std::min(smallest, input.shape.elements());
  }
  const std::uint32_t wanted = (!has_order ? 4 : smallest <= 4 ? 16 : 8) * (scalars > 3 ? 2 : 1) * config.sample_factor;
  std::vector<std::uint32_t> samples(worlds, 2 * config.sample_factor);
  const auto others = static_cast<std::uint32_t>(worlds - 1) * 2 * config.sample_factor;
  samples[0] = std::max(samples[0], wanted - std::min(wanted, others));
  return samples;
}

std::vector<Field> sample_elements(std::string_view name, std::uint32_t sign_pattern, const Shape& shape,
                                   std::uint64_t seed, std::uint32_t sample) {
  const std::uint64_t key = XXH3_64bits_withSeed(name.data(), name.size(), seed);
  static const Field half = Field::from_integer(2).inverse();
  std::vector<Field> elements;
  elements.reserve(static_cast<std::size_t>(shape.elements()));
  for (std::int64_t i = 0; i < shape.elements(); ++i) {
    const std::uint64_t words[2] = {sample, static_cast<std::uint64_t>(i)};
    const std::uint64_t random = XXH3_64bits_withSeed(words, sizeof(words), key);
    bool negative = (random & 1) != 0;
    if (i == 0) negative = ((sample >> sign_pattern ^ key) & 1) != 0;
    const bool is_half = sample % 2 == 1 && (random >> 40) % 3 == 0;
    const auto magnitude = is_half ? 1 : static_cast<std::int64_t>((random >> 8) % kMagnitudes) + 1;
    elements.push_back(Field::from_integer(negative ? -magnitude : magnitude) * half);
  }
  return elements;
}

Status check_space(const EnumerationConfig& config) {
  if (config.inputs.size() > kMaxInputs) {
    return make_error(ErrorCode::kUnsupported, "{} inputs; enumeration handles at most {}", config.inputs.size(),
                      kMaxInputs);
  }
  if (config.max_operators < 1 || config.max_operators > 7) {
    return make_error(ErrorCode::kUnsupported, "graphs of up to {} operators; enumeration handles 1 to 7",
                      config.max_operators);
  }
  for (const EnumerationInput& input : config.inputs) {
    if (input.more_shapes.size() + 1 != world_count(config)) {
      return make_error(ErrorCode::kUsage, "input '{}' has {} shapes and '{}' has {}; all inputs need equally many",
                        input.name, input.more_shapes.size() + 1, config.inputs[0].name, world_count(config));
    }
    for (const Shape& shape : input.more_shapes) {
      if (shape.rank() != input.shape.rank()) {
        return make_error(ErrorCode::kUsage, "input '{}' has shapes {} and {}; their ranks must be equal", input.name,
                          to_string(input.shape), to_string(shape));
      }
    }
  }
  for (const OperatorChoice& choice : config.operators) {
    if (arity_of(choice.op->info()) > static_cast<int>(kMaxOperands)) {
      return make_error(ErrorCode::kUnsupported, "{}: takes {} operands; enumeration handles at most {}",
                        choice.op->name(), choice.op->info().min_arity, kMaxOperands);
    }
  }
  return {};
}

OperatorSpace::OperatorSpace(const EnumerationConfig& config)
    : config_(&config),
      samples_(samples_of_worlds(config)),
      point_(kPointSeed, std::max<std::int64_t>(config.max_elements, 64) + 1),
      sign_patterns_(sign_patterns(config)),
      order_(config.inputs.size()) {
  std::uint64_t total = 0;
  for (const std::uint32_t count : samples_) total += count;
  for (std::uint64_t s = 0; s < total; ++s) sample_factors_.push_back(random_field(kPointSeed + 17 * s));
  // Exchangeable inputs become neighbours; each group stays where its first input stands.
  std::vector<std::size_t> group_of(config.inputs.size());
  for (std::size_t i = 0; i < config.inputs.size(); ++i) {
    group_of[i] = i;
    for (std::size_t j = 0; j < i; ++j) {
      if (exchangeable(config.inputs[i], config.inputs[j])) {
        group_of[i] = group_of[j];
        break;
      }
    }
  }
  std::iota(order_.begin(), order_.end(), std::size_t{0});
  std::stable_sort(order_.begin(), order_.end(),
                   [&](std::size_t a, std::size_t b) { return group_of[a] < group_of[b]; });
  for (const std::size_t i : order_) {
    std::vector<CutShape> cuts;
    for (std::size_t world = 0; world < samples_.size(); ++world) {
      CutShape shape;
      for (const std::int64_t size : shape_in(config.inputs[i], world)) shape.append(CutDim(size));
      cuts.push_back(std::move(shape));
    }
    inputs_.push_back({intern(std::move(cuts)), static_cast<std::uint32_t>(group_of[i])});
  }
  for (const OperatorChoice& choice : config.operators) {
    ChoiceRules rules;
    rules.arity = static_cast<std::uint32_t>(arity_of(choice.op->info()));
    rules.commutative = choice.op->info().commutative;
    for (std::size_t operand = 0; operand < rules.arity; ++operand) {
      if ((choice.no_weight_operands >> operand & 1) == 0) continue;
      for (std::size_t i = 0; i < order_.size(); ++i) {
        if (config.inputs[order_[i]].kind == InputKind::kWeight) rules.inputs[operand] &= ~(1U << i);
      }
    }
    rules.inputs_only = choice.inputs_only;
    rules.distinct = choice.distinct_operands;
    rules.made_in_order = choice.operands_in_order;
    rules_.push_back(rules);
    reductions_.push_back(rules.arity == 2 ? dynamic_cast<const HashReduction*>(choice.op) : nullptr);
  }
}

TypeId OperatorSpace::intern(std::vector<CutShape> cuts) {
  std::string key;
  for (const CutShape& shape : cuts) {
    for (const CutDim& dim : shape) {
      append_text(dim, key);
      key += ',';
    }
    key += ';';
  }
  const auto [place, fresh] = type_index_.try_emplace(std::move(key), static_cast<TypeId>(types_.size()));
  if (!fresh) return place->second;
  Type type;
  std::size_t first_sample = 0;
  std::string plain_text;
  for (std::size_t world = 0; world < cuts.size(); ++world) {
    World of_world{plain(cuts[world]), type.words, 0};
    of_world.elements = static_cast<std::size_t>(of_world.shape.elements());
    const std::vector<Field> weights = point_.weights(of_world.shape);
    for (std::size_t sample = 0; sample < samples_[world]; ++sample) {
      for (const Field weight : weights) type.weights.push_back(weight * sample_factors_[first_sample + sample]);
    }
    first_sample += samples_[world];
    type.words += of_world.elements * samples_[world];
    type.few_words += of_world.elements * sample_count(world, Samples::kFew);
    plain_text += to_string(of_world.shape);
    type.worlds.push_back(std::move(of_world));
  }
  type.cuts = std::move(cuts);
  type.shape_hash = XXH3_64bits(plain_text.data(), plain_text.size());
  type.type_hash = XXH3_64bits(place->first.data(), place->first.size());
  types_.push_back(std::move(type));
  return place->second;
}

bool OperatorSpace::infer(ChoiceId number, std::span<const TypeId> operands, Use& use,
                          std::vector<std::vector<CutShape>>& outputs) const {
  const OperatorChoice& choice = choice_of(number);
  const auto open = open_sizes(choice);
  const auto axis = static_cast<int>(axis_of(choice));
  for (std::size_t world = 0; world < samples_.size(); ++world) {
    std::vector<CutShape> in;
    for (std::size_t i = 0; i < operands.size(); ++i) {
      const Type& type = types_[operands[i]];
      if (!choice.operands_up_to.empty() && !fits(type.worlds[world].shape, choice.operands_up_to[i])) return false;
      in.push_back(type.cuts[world]);
    }
    Params params = world == 0 || choice.more_params.empty() ? choice.params : choice.more_params[world - 1];
    if (open) {
      if (axis < 0 || axis >= in[0].rank() || in[0][axis].cut() == nullptr) return false;
      const auto& [left, right] = *in[0][axis].cut();
      std::vector<ParamValue> values(choice.params.values().begin(), choice.params.values().end());
      values[*open] = SizeList<std::int64_t>{{left.extent(), right.extent()}};
      params = Params(std::move(values));
    }
    auto shapes = choice.op->infer(params, in);
    if (!shapes || shapes->size() > kMaxOutputs) return false;
    if (open) {
      // The parts keep the cuts that they had before they were joined.
      const auto& [left, right] = *in[0][axis].cut();
      (*shapes)[0][axis] = left;
      (*shapes)[1][axis] = right;
    }
    if (world == 0) outputs.resize(shapes->size());
    if (outputs.size() != shapes->size()) return false;
    for (std::size_t k = 0; k < shapes->size(); ++k) {
      const Shape shape = plain((*shapes)[k]);
      if (shape.elements() == 0 || shape.elements() > config_->max_elements || shape.rank() > HashPoint::kAxes)
        return false;
      outputs[k].push_back(std::move((*shapes)[k]));
    }
    use.params.push_back(std::move(params));
  }
  return true;
}

const Signature& OperatorSpace::signature(ChoiceId choice, std::span<const TypeId> operands) {
  std::array<std::uint32_t, kMaxOperands + 1> key{choice, ~0U, ~0U, ~0U};
  std::copy(operands.begin(), operands.end(), key.begin() + 1);
  const auto [place, fresh] = signature_index_.try_emplace(key, signatures_.size());
  if (!fresh) return signatures_[place->second];
  Signature signature;
  signature.number = static_cast<std::uint32_t>(signatures_.size());
  Use use;
  use.choice = choice;
  std::copy(operands.begin(), operands.end(), use.operands.begin());
  std::vector<std::vector<CutShape>> outputs;
  signature.defined = infer(choice, operands, use, outputs);
  if (signature.defined) {
    signature.output_count = static_cast<std::uint32_t>(outputs.size());
    for (std::size_t k = 0; k < outputs.size(); ++k) signature.outputs[k] = intern(std::move(outputs[k]));
    if (const HashReduction* reduction = reductions_[choice]; reduction != nullptr && outputs.size() == 1) {
      for (std::size_t world = 0; world < samples_.size(); ++world) {
        const std::array<Shape, 2> shapes = {types_[operands[0]].worlds[world].shape,
                                             types_[operands[1]].worlds[world].shape};
        use.reduction.push_back(reduction->reduction_length(use.params[world], shapes));
        signature.reduction += static_cast<std::uint32_t>(use.reduction.back()) * samples_[world];
        signature.few_reduction +=
            static_cast<std::uint32_t>(use.reduction.back()) * sample_count(world, Samples::kFew);
      }
      if (std::count(use.reduction.begin(), use.reduction.end(), 0U) != 0) signature.reduction = 0;
    }
  }
  signatures_.push_back(signature);
  uses_.push_back(std::move(use));
  for (std::size_t operand = 0; signature.reduction > 0 && operand < 2; ++operand)
    signatures_.back().reductions[operand] = reduction_number(signature, operand);
  return signatures_.back();
}

/// Reductions are linear, so that those which agree on one random value are the same, with an error below 2^-60. What
/// convolutions of different groups and numbers of output channels need of an image is one.
std::uint32_t OperatorSpace::reduction_number(const Signature& signature, std::size_t operand) {
  const TypeId type = uses_[signature.number].operands[operand];
  std::vector<Word> value(types_[type].words), reduction(signature.reduction);
  for (std::size_t i = 0; i < value.size(); ++i) fields(value.data())[i] = random_field(kPointSeed ^ mix(i));
  reduce(signature, operand, value.data(), reduction.data(), Samples::kAll);
  const std::uint64_t content = XXH3_64bits(reduction.data(), reduction.size() * sizeof(Word));
  const auto next = static_cast<std::uint32_t>(reduction_numbers_.size());
  return reduction_numbers_.try_emplace({type, content}, next).first->second;
}

const Params& OperatorSpace::params(const Signature& signature, std::size_t world) const {
  return uses_[signature.number].params[world];
}

void OperatorSpace::input(std::size_t index, Word* out) const {
  const EnumerationInput& input = config_->inputs[order_[index]];
  std::uint32_t first_sample = 0;
  for (std::size_t world = 0; world < samples_.size(); ++world) {
    for (std::uint32_t sample = 0; sample < samples_[world]; ++sample) {
      const std::vector<Field> elements = sample_elements(input.name, sign_patterns_[order_[index]],
                                                          shape_in(input, world), config_->seed, first_sample + sample);
      std::copy(elements.begin(), elements.end(), fields(out));
      out += elements.size();
    }
    first_sample += samples_[world];
  }
}

void OperatorSpace::fill(TypeId type, std::uint64_t key, Word* out) const {
  std::uint32_t first_sample = 0;
  for (std::size_t world = 0; world < samples_.size(); ++world) {
    for (std::uint32_t sample = 0; sample < samples_[world]; ++sample) {
      const auto elements =
          sample_elements("", static_cast<std::uint32_t>(key % kSignPatterns), types_[type].worlds[world].shape,
                          mix(key ^ config_->seed), first_sample + sample);
      std::copy(elements.begin(), elements.end(), fields(out));
      out += elements.size();
    }
    first_sample += samples_[world];
  }
}

void OperatorSpace::evaluate(const Signature& signature, Operands in, Results out, Samples samples) {
  const Use& use = uses_[signature.number];
  const Operator& op = *choice_of(use.choice).op;
  for (std::size_t world = 0; world < samples_.size(); ++world) {
    for (std::uint32_t sample = 0; sample < sample_count(world, samples); ++sample) {
      // Views hold references to shapes that types own; arrays on the stack, since this is called for every tensor.
      alignas(TensorView<const Field>) std::array<std::byte, sizeof(TensorView<const Field>) * kMaxOperands> in_room;
      alignas(TensorView<Field>) std::array<std::byte, sizeof(TensorView<Field>) * kMaxOutputs> out_room;
      auto* const views_in = reinterpret_cast<TensorView<const Field>*>(in_room.data());
      auto* const views_out = reinterpret_cast<TensorView<Field>*>(out_room.data());
      for (std::size_t i = 0; i < in.size(); ++i) {
        const World& of = types_[use.operands[i]].worlds[world];
        new (views_in + i) TensorView<const Field>(fields(in[i]) + of.offset + sample * of.elements, of.shape);
      }
      for (std::size_t k = 0; k < out.size(); ++k) {
        const World& of = types_[signature.outputs[k]].worlds[world];
        new (views_out + k) TensorView<Field>(fields(out[k]) + of.offset + sample * of.elements, of.shape);
      }
      op.evaluate(use.params[world], Inputs<Field>(views_in, in.size()), Outputs<Field>(views_out, out.size()));
    }
  }
}

std::uint64_t OperatorSpace::hash(TypeId id, const Word* value, Samples samples) const {
  const Type& type = types_[id];
  const std::size_t words = samples == Samples::kAll ? type.words : type.few_words;
  return dot(std::span(fields(value), words), std::span(type.weights).first(words)).residue();
}

void OperatorSpace::reduce(const Signature& signature, std::size_t operand, const Word* value, Word* out,
                           Samples samples) {
  const Use& use = uses_[signature.number];
  const HashReduction& reduction = *reductions_[use.choice];
  std::size_t sample_number = 0;
  for (std::size_t world = 0; world < samples_.size(); ++world) {
    const std::array<Shape, 2> shapes = {types_[use.operands[0]].worlds[world].shape,
                                         types_[use.operands[1]].worlds[world].shape};
    const World& of = types_[use.operands[operand]].worlds[world];
    const std::size_t length = use.reduction[world];
    for (std::uint32_t sample = 0; sample < sample_count(world, samples); ++sample, ++sample_number) {
      reduction.reduce(use.params[world], operand, shapes,
                       TensorView<const Field>(fields(value) + of.offset + sample * of.elements, of.shape), point_,
                       std::span(fields(out), length));
      if (operand == 0) {
        for (std::size_t k = 0; k < length; ++k) fields(out)[k] = fields(out)[k] * sample_factors_[sample_number];
      }
      out += length;
    }
  }
}

std::uint64_t OperatorSpace::product(const Signature& signature, const Word* left, const Word* right,
                                     Samples samples) const {
  const std::size_t words = signature.reduction_words(samples);
  return dot(std::span(fields(left), words), std::span(fields(right), words)).residue();
}

}  // namespace rewright::enumeration
