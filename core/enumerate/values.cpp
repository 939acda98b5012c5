// The pool of values: hash-consing, shape signatures, evaluation.
#include "enumerate/values.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <algorithm>

namespace rewright::enumeration {

namespace {

Hash128 hash_tensor(const Shape& shape, std::span<const Field> elements) {
  static_assert(sizeof(Field) == sizeof(std::uint64_t));
  const XXH128_hash_t of_shape = XXH3_128bits(shape.dims().data(), shape.dims().size_bytes());
  const XXH128_hash_t hash = XXH3_128bits_withSeed(elements.data(), elements.size_bytes(),
                                                   of_shape.low64 ^ static_cast<std::uint64_t>(shape.rank()));
  return {hash.low64, hash.high64};
}

Shape plain(const CutShape& shape) {
  Shape result;
  for (const CutDim& dim : shape) result.append(dim.extent());
  return result;
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

}  // namespace

std::size_t ValuePool::KeyHash::operator()(const Key& key) const { return XXH3_64bits(&key, sizeof(key)); }

Result<ValuePool> ValuePool::make(const EnumerationConfig& config) {
  ValuePool pool(config);
  for (const OperatorChoice& choice : config.operators) {
    if (choice.op->info().min_arity > static_cast<int>(kMaxOperands)) {
      return make_error(ErrorCode::kUnsupported, "{}: takes {} operands; enumeration handles at most {}",
                        choice.op->name(), choice.op->info().min_arity, kMaxOperands);
    }
  }
  for (const EnumerationInput& input : config.inputs) {
    CutShape shape;
    for (const std::int64_t size : input.shape) shape.append(CutDim(size));
    Value value;
    value.shape = pool.intern(shape);
    value.output = pool.input_count_++;
    std::vector<Field> elements;
    for (std::uint32_t sample = 0; sample < pool.samples_; ++sample) {
      const auto of_sample = sample_elements(input.name, input.shape, config.seed, sample);
      elements.insert(elements.end(), of_sample.begin(), of_sample.end());
    }
    value.hash = hash_tensor(input.shape, elements);
    pool.values_.push_back(value);
    pool.elements_.push_back(std::move(elements));
  }
  return pool;
}

std::uint32_t ValuePool::intern(const CutShape& shape) {
  for (std::uint32_t i = 0; i < shapes_.size(); ++i) {
    if (shapes_[i] == shape) return i;
  }
  shapes_.push_back(shape);
  plain_shapes_.push_back(plain(shape));
  return static_cast<std::uint32_t>(shapes_.size() - 1);
}

Shape ValuePool::shape(ValueId id) const { return plain_shapes_[values_[id].shape]; }

std::uint32_t ValuePool::signature_of(std::uint32_t choice, std::span<const ValueId> operands) {
  Key key{choice, {kNone, kNone, kNone}};
  for (std::size_t i = 0; i < operands.size(); ++i) key.operands[i] = values_[operands[i]].shape;
  const auto [place, fresh] = signature_index_.try_emplace(key, static_cast<std::uint32_t>(signatures_.size()));
  if (fresh) {
    Signature signature = make_signature(choice, operands);
    signatures_.push_back(std::move(signature));
  }
  return place->second;
}

ValuePool::Signature ValuePool::make_signature(std::uint32_t number, std::span<const ValueId> operands) {
  const OperatorChoice& choice = config_->operators[number];
  Signature signature;
  signature.params = choice.params;
  std::vector<CutShape> in;
  for (const ValueId id : operands) in.push_back(shapes_[values_[id].shape]);
  if (const auto open = open_sizes(choice)) {
    const std::int64_t axis = axis_of(choice);
    if (in.empty() || axis < 0 || axis >= in[0].rank() || in[0][static_cast<int>(axis)].cut() == nullptr)
      return signature;
    const auto& [left, right] = *in[0][static_cast<int>(axis)].cut();
    std::vector<ParamValue> values(choice.params.values().begin(), choice.params.values().end());
    values[*open] = SizeList<std::int64_t>{{left.extent(), right.extent()}};
    signature.params = Params(std::move(values));
  }
  auto shapes = choice.op->infer(signature.params, in);
  if (!shapes) return signature;
  if (const auto open = open_sizes(choice)) {
    // The parts keep the cuts that they had before they were joined.
    const int axis = static_cast<int>(axis_of(choice));
    const auto& [left, right] = *in[0][axis].cut();
    (*shapes)[0][axis] = left;
    (*shapes)[1][axis] = right;
  }
  for (const CutShape& shape : *shapes) {
    if (plain(shape).elements() > config_->max_elements || plain(shape).elements() == 0) return signature;
  }
  signature.defined = true;
  for (const CutShape& shape : *shapes) signature.outputs.push_back(intern(shape));
  return signature;
}

ApplicationId ValuePool::apply(std::uint32_t choice, std::span<const ValueId> operands) {
  const std::uint32_t signature = signature_of(choice, operands);
  if (!signatures_[signature].defined) return kNone;
  Key key{choice, {kNone, kNone, kNone}};
  std::copy(operands.begin(), operands.end(), key.operands.begin());
  const auto [place, fresh] = application_index_.try_emplace(key, static_cast<ApplicationId>(applications_.size()));
  if (!fresh) return place->second;
  Application application;
  application.choice = choice;
  std::copy(operands.begin(), operands.end(), application.operands.begin());
  application.operand_count = static_cast<std::uint32_t>(operands.size());
  application.first_output = static_cast<ValueId>(values_.size());
  application.output_count = static_cast<std::uint32_t>(signatures_[signature].outputs.size());
  application.signature = signature;
  for (std::uint32_t i = 0; i < application.output_count; ++i) {
    values_.push_back({signatures_[signature].outputs[i], place->second, i, {}});
    elements_.emplace_back();
  }
  applications_.push_back(application);
  return place->second;
}

std::vector<std::vector<Field>> ValuePool::compute(const Application& application) const {
  const OperatorChoice& choice = config_->operators[application.choice];
  const Signature& signature = signatures_[application.signature];
  std::vector<std::vector<Field>> results;
  for (const std::uint32_t shape : signature.outputs) {
    results.emplace_back(static_cast<std::size_t>(plain_shapes_[shape].elements()) * samples_);
  }
  for (std::uint32_t sample = 0; sample < samples_; ++sample) {
    std::vector<TensorView<const Field>> in;
    std::vector<TensorView<Field>> out;
    for (std::uint32_t i = 0; i < application.operand_count; ++i) {
      const Value& operand = values_[application.operands[i]];
      const Shape& shape = plain_shapes_[operand.shape];
      in.emplace_back(elements_[application.operands[i]].data() + sample * shape.elements(), shape);
    }
    for (std::size_t i = 0; i < results.size(); ++i) {
      const Shape& shape = plain_shapes_[signature.outputs[i]];
      out.emplace_back(results[i].data() + sample * shape.elements(), shape);
    }
    choice.op->evaluate(signature.params, Inputs<Field>(in), Outputs<Field>(out));
  }
  return results;
}

void ValuePool::evaluate_hash(ApplicationId id) {
  Application& application = applications_[id];
  const auto results = compute(application);
  for (std::uint32_t i = 0; i < application.output_count; ++i) {
    Value& value = values_[application.first_output + i];
    value.hash = hash_tensor(plain_shapes_[value.shape], results[i]);
  }
  application.evaluated = true;
}

void ValuePool::evaluate_and_keep(ApplicationId id) {
  Application& application = applications_[id];
  if (application.evaluated && !elements_[application.first_output].empty()) return;
  auto results = compute(application);
  for (std::uint32_t i = 0; i < application.output_count; ++i) {
    Value& value = values_[application.first_output + i];
    value.hash = hash_tensor(plain_shapes_[value.shape], results[i]);
    elements_[application.first_output + i] = std::move(results[i]);
  }
  application.evaluated = true;
}

}  // namespace rewright::enumeration
