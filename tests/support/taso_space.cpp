#include "support/taso_space.h"

#include <algorithm>
#include <cstdlib>

// Whichever vector instructions the machine has.
#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__) && !defined(REWRIGHT_SANITIZED)
#define VECTORISED __attribute__((target_clones("avx512f", "avx2", "default")))
#else
#define VECTORISED
#endif

namespace rewright::test {

using namespace enumeration;

namespace {
using U32 = std::uint32_t;
constexpr std::size_t kMostElements = 512;
constexpr std::size_t kLargestSize = 512;
constexpr int kBatch = 2;

U32 random_number(std::uint64_t seed) { return static_cast<U32>(mix(seed)); }
U32 relu_of_taso(U32 x) { return x * (x + 1) + 1; }
U32* elements(Word* words) { return reinterpret_cast<U32*>(words); }
const U32* elements(const Word* words) { return reinterpret_cast<const U32*>(words); }

VECTORISED U32 dot(const U32* a, const U32* b, std::size_t count) {
  U32 sum = 0;
  for (std::size_t i = 0; i < count; ++i) sum += a[i] * b[i];
  return sum;
}
VECTORISED void multiply_add(U32* sums, const U32* values, U32 factor, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) sums[i] += values[i] * factor;
}
VECTORISED void multiply(const U32* a, const U32* b, U32* out, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) out[i] = a[i] * b[i];
}
}  // namespace

TasoSpace::TasoSpace(TasoOperators operators) : operators_(operators) {
  for (std::size_t half = 0; half < 2; ++half) {
    for (std::size_t axis = 0; axis < 4; ++axis) {
      const U32 base = random_number(1000 + half * 4 + axis) | 1;
      powers_[half][axis].resize(kLargestSize);
      U32 power = 1;
      for (U32& each : powers_[half][axis]) {
        each = power;
        power *= base;
      }
    }
  }
  const std::vector<std::pair<std::vector<int>, int>> groups = {
      {{kBatch, 4}, 3},  {{4, 4}, 3},       {{kBatch, 4, 5, 5}, 3}, {{4, 4, 3, 3}, 3},
      {{4, 4, 1, 3}, 3}, {{4, 4, 3, 1}, 3}, {{4, 1, 3, 3}, 1},      {{}, 1}};
  std::uint32_t weights = 0;
  for (std::uint32_t group = 0; group < groups.size(); ++group) {
    Type type;
    type.rank = static_cast<int>(groups[group].first.size());
    std::copy(groups[group].first.begin(), groups[group].first.end(), type.dims.begin());
    lay_out(type);
    const TypeId id = intern(std::move(type));
    for (int i = 0; i < groups[group].second; ++i) {
      if (group == 1 || (group >= 3 && group <= 6)) weights |= 1U << inputs_.size();
      inputs_.push_back({id, group});
    }
  }
  const bool wide = operators == TasoOperators::kWide;
  ChoiceRules unlike{.arity = 2};
  unlike.distinct = true;
  ChoiceRules listed{.arity = 2};
  listed.commutative = listed.distinct = true;
  ChoiceRules data{.arity = 2};
  data.inputs[0] = ~weights;
  ChoiceRules in_order{.arity = 2};
  in_order.distinct = in_order.made_in_order = true;
  ChoiceRules inputs_only{.arity = 1};
  inputs_only.inputs_only = true;
  const ChoiceRules one{.arity = 1}, none{.arity = 0};
  add({.kind = Kind::kMatmul}, unlike);
  if (wide) add({.kind = Kind::kMatmul, .relu = true}, unlike);
  add({.kind = Kind::kAdd}, listed);
  add({.kind = Kind::kMul}, listed);
  for (const bool same : wide ? std::vector<bool>{true, false} : std::vector<bool>{true}) {
    for (const int stride : wide ? std::vector<int>{1, 2} : std::vector<int>{1}) {
      for (const auto& [h, w] : {std::pair(3, 3), std::pair(1, 1), std::pair(1, 3)}) {
        for (const bool relu : {false, true}) {
          add({.kind = Kind::kConv, .kernel_h = h, .kernel_w = w, .stride = stride, .same = same, .relu = relu}, data);
        }
      }
      for (const Kind kind : {Kind::kAverage, Kind::kMax})
        add({.kind = kind, .kernel_h = 3, .kernel_w = 3, .stride = stride, .same = same}, one);
    }
  }
  add({.kind = Kind::kPoolOnes}, none);
  add({.kind = Kind::kIdentityKernel}, none);
  add({.kind = Kind::kIdentityMatrix}, none);
  add({.kind = Kind::kOnes}, none);
  add({.kind = Kind::kEnlarge, .kernel_h = 3, .kernel_w = 3}, inputs_only);
  add({.kind = Kind::kScale}, unlike);
  add({.kind = Kind::kRelu}, one);
  for (const int axis : {1, 0}) add({.kind = Kind::kConcat, .rank = 2, .axis = axis}, in_order);
  for (const int axis : {1, 0}) add({.kind = Kind::kConcat, .rank = 4, .axis = axis}, in_order);
  if (wide) {
    for (const int axis : {2, 3}) add({.kind = Kind::kConcat, .rank = 4, .axis = axis}, in_order);
    for (const int axis : {2, 3}) add({.kind = Kind::kSplit, .axis = axis}, one);
  }
  for (const int axis : {1, 0}) add({.kind = Kind::kSplit, .axis = axis}, one);
  for (const bool shuffle : {false, true}) add({.kind = Kind::kTranspose, .shuffle = shuffle}, one);
}

void TasoSpace::add(const Choice& choice, const ChoiceRules& rules) {
  choices_.push_back(choice);
  rules_.push_back(rules);
}

void TasoSpace::lay_out(Type& type) {
  int size = 1;
  for (int i = type.rank - 1; i >= 0; --i) {
    type.strides[static_cast<std::size_t>(i)] = size;
    size *= type.dims[static_cast<std::size_t>(i)];
  }
}

TypeId TasoSpace::intern(Type type) {
  std::vector<int> key{type.rank};
  type.elements = 1;
  for (std::size_t i = 0; i < static_cast<std::size_t>(type.rank); ++i) {
    key.insert(key.end(), {type.dims[i], type.strides[i], static_cast<int>(type.cuts[i].size())});
    key.insert(key.end(), type.cuts[i].begin(), type.cuts[i].end());
    type.elements *= static_cast<std::size_t>(type.dims[i]);
  }
  type.hash = 0;
  for (const int number : key) type.hash = mix(type.hash ^ static_cast<std::uint64_t>(number));
  const auto [place, fresh] = type_index_.try_emplace(std::move(key), static_cast<TypeId>(types_.size()));
  if (fresh) {
    for (std::size_t half = 0; half < 2; ++half) {
      const auto& power = powers_[half];
      type.weights[half].clear();
      for (std::size_t n = 0; n < static_cast<std::size_t>(type.dims[0]); ++n) {
        for (std::size_t c = 0; c < static_cast<std::size_t>(type.dims[1]); ++c) {
          for (std::size_t h = 0; h < static_cast<std::size_t>(type.dims[2]); ++h) {
            for (std::size_t w = 0; w < static_cast<std::size_t>(type.dims[3]); ++w)
              type.weights[half].push_back(power[0][n] * power[1][c] * power[2][h] * power[3][w]);
          }
        }
      }
    }
    types_.push_back(std::move(type));
  }
  return place->second;
}

bool TasoSpace::infer(const Choice& choice, std::span<const TypeId> in, std::vector<Type>& out) const {
  const Type* const a = in.empty() ? nullptr : &types_[in[0]];
  const Type* const b = in.size() < 2 ? nullptr : &types_[in[1]];
  const auto axis = static_cast<std::size_t>(choice.axis);
  Type type;
  const auto constant = [&](int rank, std::array<int, 4> dims) {
    type.rank = rank;
    type.dims = dims;
    lay_out(type);
    out.push_back(type);
    return true;
  };
  const auto windows = [&](int kernel_h, int kernel_w) {
    const int kernel[2] = {kernel_h, kernel_w};
    for (std::size_t i = 0; i < 2; ++i) {
      if (!choice.same && a->dims[2 + i] < kernel[i]) return false;
      type.dims[2 + i] = choice.same ? (a->dims[2 + i] + choice.stride - 1) / choice.stride
                                     : (a->dims[2 + i] - kernel[i]) / choice.stride + 1;
      type.cuts[2 + i] = a->cuts[2 + i];
    }
    return true;
  };
  switch (choice.kind) {
    case Kind::kMatmul:
      if (a->rank != 2 || b->rank != 2 || a->dims[1] != b->dims[0] || b->dims[0] == kBatch) return false;
      type.rank = 2;
      type.dims = {a->dims[0], b->dims[1], 1, 1};
      type.cuts[0] = a->cuts[0];
      type.cuts[1] = b->cuts[1];
      break;
    case Kind::kAdd:
    case Kind::kMul:
      if (a->rank != b->rank || a->dims != b->dims || a->strides != b->strides) return false;
      type = *a;
      for (std::size_t i = 0; i < 4; ++i) {
        if (a->cuts[i] != b->cuts[i]) type.cuts[i].clear();
      }
      out.push_back(std::move(type));
      return true;
    case Kind::kConv: {
      if (a->rank != 4 || b->rank != 4 || b->dims[2] != choice.kernel_h || b->dims[3] != choice.kernel_w) return false;
      if (a->dims[1] % b->dims[1] != 0 || b->dims[0] % (a->dims[1] / b->dims[1]) != 0) return false;
      type.rank = 4;
      type.dims[0] = a->dims[0];
      type.dims[1] = b->dims[0];
      type.cuts[0] = a->cuts[0];
      type.cuts[1] = b->cuts[0];
      if (!windows(choice.kernel_h, choice.kernel_w)) return false;
      break;
    }
    case Kind::kAverage:
    case Kind::kMax:
      if (a->rank != 4) return false;
      type.rank = 4;
      type.dims[0] = a->dims[0];
      type.dims[1] = a->dims[1];
      type.cuts[0] = a->cuts[0];
      if (!windows(3, 3)) return false;
      break;
    case Kind::kPoolOnes: return constant(4, {4, 1, 3, 3});
    case Kind::kIdentityKernel: return constant(4, {4, 4, 3, 3});
    case Kind::kIdentityMatrix: return constant(2, {4, 4, 1, 1});
    case Kind::kOnes: return constant(4, {2, 4, 5, 5});
    case Kind::kEnlarge:
      if (a->rank != 4 || a->dims[2] > 3 || a->dims[3] > 3 || (a->dims[2] == 3 && a->dims[3] == 3)) return false;
      type = *a;
      type.dims[2] = type.dims[3] = 3;
      type.cuts[2].clear();
      type.cuts[3].clear();
      break;
    case Kind::kScale:
      if (b->rank != 0) return false;
      out.push_back(*a);
      return true;
    case Kind::kRelu: out.push_back(*a); return true;
    case Kind::kConcat:
      if (a->rank != choice.rank || b->rank != choice.rank) return false;
      type = *a;
      for (std::size_t i = 0; i < static_cast<std::size_t>(a->rank); ++i) {
        if (i == axis) {
          for (const int cut : b->cuts[i]) type.cuts[i].push_back(a->dims[i] + cut);
          type.cuts[i].push_back(a->dims[i]);
          type.dims[i] += b->dims[i];
        } else {
          if (a->dims[i] != b->dims[i]) return false;
          if (a->cuts[i] != b->cuts[i]) type.cuts[i].clear();
        }
      }
      break;
    case Kind::kSplit: {
      if (choice.axis >= a->rank || a->cuts[axis].empty() || a->cuts[axis].back() >= a->dims[axis]) return false;
      const int at = a->cuts[axis].back();
      Type left = *a, right = *a;
      left.cuts[axis].clear();
      right.cuts[axis].clear();
      for (std::size_t i = 0; i + 1 < a->cuts[axis].size(); ++i) {
        const int cut = a->cuts[axis][i];
        if (cut < at) left.cuts[axis].push_back(cut);
        if (cut > at) right.cuts[axis].push_back(cut - at);
      }
      left.dims[axis] = at;
      right.dims[axis] -= at;
      for (Type* part : {&left, &right}) {
        lay_out(*part);
        out.push_back(*part);
      }
      return true;
    }
    case Kind::kTranspose:
      if (a->rank != 2) return false;
      type = *a;
      std::swap(type.dims[0], type.dims[1]);
      std::swap(type.cuts[0], type.cuts[1]);
      std::swap(type.strides[0], type.strides[1]);
      if (choice.shuffle) lay_out(type);
      out.push_back(std::move(type));
      return true;
  }
  lay_out(type);
  std::size_t elements = 1;
  for (const int dim : type.dims) elements *= static_cast<std::size_t>(dim);
  if (elements > kMostElements) return false;
  out.push_back(std::move(type));
  return true;
}

const Signature& TasoSpace::signature(ChoiceId choice, std::span<const TypeId> operands) {
  std::array<std::uint32_t, 3> key{choice, ~0U, ~0U};
  std::copy(operands.begin(), operands.end(), key.begin() + 1);
  const auto [place, fresh] = signature_index_.try_emplace(key, signatures_.size());
  if (!fresh) return signatures_[place->second];
  Signature signature;
  signature.number = static_cast<std::uint32_t>(signatures_.size());
  std::vector<Type> out;
  signature.defined = infer(choices_[choice], operands, out);
  Use use{choices_[choice], {}};
  std::copy(operands.begin(), operands.end(), use.operands.begin());
  if (signature.defined) {
    signature.output_count = static_cast<std::uint32_t>(out.size());
    for (std::size_t i = 0; i < out.size(); ++i) signature.outputs[i] = intern(std::move(out[i]));
    const auto product = [&](const Type& type, std::size_t from) {
      std::uint32_t count = 1;
      for (std::size_t i = from; i < 4; ++i) count *= static_cast<std::uint32_t>(type.dims[i]);
      return count;
    };
    switch (choices_[choice].relu ? Kind::kRelu : choices_[choice].kind) {
      case Kind::kMatmul: signature.reduction = static_cast<std::uint32_t>(types_[operands[0]].dims[1]); break;
      case Kind::kAdd:
      case Kind::kConcat: signature.reduction = 2; break;
      case Kind::kMul: signature.reduction = static_cast<std::uint32_t>(types_[operands[0]].elements); break;
      case Kind::kConv:
        signature.reduction = static_cast<std::uint32_t>(types_[operands[0]].dims[1]) * product(types_[operands[1]], 2);
        break;
      case Kind::kScale: signature.reduction = 1; break;
      default: break;
    }
    signature.few_reduction = signature.reduction;
    signature.reductions = {2 * signature.number, 2 * signature.number + 1};
  }
  signatures_.push_back(signature);
  uses_.push_back(use);
  return signatures_.back();
}

void TasoSpace::input(std::size_t index, Word* out) const {
  // The program draws its inputs from std::rand() as the C library seeds it, one after the other.
  random_data state{};
  std::array<char, 128> buffer{};
  initstate_r(1, buffer.data(), buffer.size(), &state);
  const auto next = [&] {
    std::int32_t number = 0;
    random_r(&state, &number);
    return number - RAND_MAX / 2;
  };
  for (std::size_t before = 0; before < index; ++before) {
    for (std::size_t i = 0; i < types_[inputs_[before].type].elements; ++i) next();
  }
  const std::size_t count = types_[inputs_[index].type].elements;
  out[(count - 1) / 2] = 0;
  for (std::size_t i = 0; i < count; ++i) elements(out)[i] = static_cast<U32>(next());
}

std::uint64_t TasoSpace::hash(TypeId id, const Word* value, Samples) const {
  const Type& type = types_[id];
  return dot(elements(value), type.weights[0].data(), type.elements) |
         static_cast<std::uint64_t>(dot(elements(value), type.weights[1].data(), type.elements)) << 32;
}

std::uint64_t TasoSpace::product(const Signature& signature, const Word* left, const Word* right, Samples) const {
  const std::size_t length = signature.reduction;
  return dot(elements(left), elements(right), length) |
         static_cast<std::uint64_t>(dot(elements(left) + length, elements(right) + length, length)) << 32;
}

namespace {
int padding(bool same, int out, int stride, int window, int in) {
  return same ? std::max((out - 1) * stride + window - in, 0) / 2 : 0;
}
}  // namespace

void TasoSpace::convolve(const Use& use, const Type& y, const U32* image, const U32* weight, U32* out) {
  const Type &x = types_[use.operands[0]], &w = types_[use.operands[1]];
  const int stride = use.choice.stride;
  const int top = padding(use.choice.same, y.dims[2], stride, w.dims[2], x.dims[2]);
  const int left = padding(use.choice.same, y.dims[3], stride, w.dims[3], x.dims[3]);
  const int per_group = w.dims[0] / (x.dims[1] / w.dims[1]);
  // The image with a border of zeros. Under each tap of the kernel the sums of all positions, those between the rows
  // included, are one run of memory.
  const int rows = (y.dims[2] - 1) * stride + w.dims[2], columns = (y.dims[3] - 1) * stride + w.dims[3];
  const int planes = x.dims[0] * x.dims[1], plane = rows * columns, taps = w.dims[2] * w.dims[3];
  padded_.assign(static_cast<std::size_t>(planes * plane), 0);
  for (int i = 0; i < planes; ++i) {
    for (int row = 0; row < std::min(x.dims[2], rows - top); ++row) {
      std::copy_n(image + (i * x.dims[2] + row) * x.dims[3], std::min(x.dims[3], columns - left),
                  padded_.data() + i * plane + (row + top) * columns + left);
    }
  }
  const int run = (rows - w.dims[2]) * columns + columns - w.dims[3] + 1;
  plane_.resize(static_cast<std::size_t>(run));
  for (int n = 0; n < y.dims[0]; ++n) {
    for (int o = 0; o < y.dims[1]; ++o) {
      const U32* from = padded_.data() + (n * x.dims[1] + o / per_group * w.dims[1]) * plane;
      const U32* kernel = weight + o * w.dims[1] * taps;
      std::fill(plane_.begin(), plane_.end(), 0);
      for (int c = 0; c < w.dims[1]; ++c) {
        for (int tap = 0; tap < taps; ++tap) {
          multiply_add(plane_.data(), from + c * plane + tap / w.dims[3] * columns + tap % w.dims[3],
                       kernel[c * taps + tap], static_cast<std::size_t>(run));
        }
      }
      for (int h = 0; h < y.dims[2]; ++h) {
        for (int v = 0; v < y.dims[3]; ++v) {
          const U32 value = plane_[static_cast<std::size_t>(h * stride * columns + v * stride)];
          *out++ = use.choice.relu ? relu_of_taso(value) : value;
        }
      }
    }
  }
}

void TasoSpace::evaluate(const Signature& signature, Operands operands, Results results, Samples) {
  const Use& use = uses_[signature.number];
  const Type& y = types_[signature.outputs[0]];
  const std::size_t count = y.elements;
  const U32* const a = operands.empty() ? nullptr : elements(operands[0]);
  const U32* const b = operands.size() < 2 ? nullptr : elements(operands[1]);
  U32* const out = elements(results[0]);
  for (std::size_t k = 0; k < results.size(); ++k) results[k][words(signature.outputs[k]) - 1] = 0;
  const auto x_type = [&]() -> const Type& { return types_[use.operands[0]]; };
  switch (use.choice.kind) {
    case Kind::kMatmul: {
      const int inner = x_type().dims[1];
      for (int i = 0; i < y.dims[0]; ++i) {
        for (int j = 0; j < y.dims[1]; ++j) {
          U32 sum = 0;
          for (int k = 0; k < inner; ++k) sum += a[i * inner + k] * b[k * y.dims[1] + j];
          out[i * y.dims[1] + j] = use.choice.relu ? relu_of_taso(sum) : sum;
        }
      }
      break;
    }
    case Kind::kAdd:
      for (std::size_t i = 0; i < count; ++i) out[i] = a[i] + b[i];
      break;
    case Kind::kMul:
      for (std::size_t i = 0; i < count; ++i) out[i] = a[i] * b[i];
      break;
    case Kind::kConv: convolve(use, y, a, b, out); break;
    case Kind::kAverage:
    case Kind::kMax: {
      const Type& x = x_type();
      const int stride = use.choice.stride;
      const int top = padding(use.choice.same, y.dims[2], stride, 3, x.dims[2]);
      const int left = padding(use.choice.same, y.dims[3], stride, 3, x.dims[3]);
      const bool is_max = use.choice.kind == Kind::kMax;
      U32* to = out;
      for (int plane = 0; plane < y.dims[0] * y.dims[1]; ++plane) {
        const U32* from = a + plane * x.dims[2] * x.dims[3];
        for (int h = 0; h < y.dims[2]; ++h) {
          const int row_end = std::min(h * stride - top + 3, x.dims[2]);
          for (int w = 0; w < y.dims[3]; ++w) {
            const int column_end = std::min(w * stride - left + 3, x.dims[3]);
            std::int32_t highest = 0;
            U32 sum = 0;
            for (int row = std::max(h * stride - top, 0); row < row_end; ++row) {
              for (int column = std::max(w * stride - left, 0); column < column_end; ++column) {
                const U32 element = from[row * x.dims[3] + column];
                highest = std::max(highest, static_cast<std::int32_t>(element));
                sum += element;
              }
            }
            *to++ = is_max ? static_cast<U32>(highest) : sum;
          }
        }
      }
      break;
    }
    case Kind::kPoolOnes:
    case Kind::kOnes: std::fill_n(out, count, 1); break;
    case Kind::kIdentityKernel:
      for (int i = 0; i < 144; ++i) out[i] = i / 36 == i / 9 % 4 && i % 9 == 4 ? 1 : 0;
      break;
    case Kind::kIdentityMatrix:
      for (int i = 0; i < 16; ++i) out[i] = i % 5 == 0 ? 1 : 0;
      break;
    case Kind::kEnlarge: {
      const Type& x = x_type();
      const int top = (3 - x.dims[2]) / 2, left = (3 - x.dims[3]) / 2;
      std::fill_n(out, count, 0);
      for (int plane = 0; plane < x.dims[0] * x.dims[1]; ++plane) {
        for (int h = 0; h < x.dims[2]; ++h) {
          for (int w = 0; w < x.dims[3]; ++w)
            out[plane * 9 + (h + top) * 3 + w + left] = a[(plane * x.dims[2] + h) * x.dims[3] + w];
        }
      }
      break;
    }
    case Kind::kScale:
      for (std::size_t i = 0; i < count; ++i) out[i] = a[i] * b[0];
      break;
    case Kind::kRelu:
      for (std::size_t i = 0; i < count; ++i) out[i] = relu_of_taso(a[i]);
      break;
    case Kind::kConcat:
    case Kind::kSplit: {
      std::size_t outer = 1;
      for (int i = 0; i < use.choice.axis; ++i) outer *= static_cast<std::size_t>(y.dims[static_cast<std::size_t>(i)]);
      const bool split = use.choice.kind == Kind::kSplit;
      const std::size_t left = types_[split ? signature.outputs[0] : use.operands[0]].elements / outer;
      const std::size_t right = types_[split ? signature.outputs[1] : use.operands[1]].elements / outer;
      for (std::size_t row = 0; row < outer; ++row) {
        if (split) {
          std::copy_n(a + row * (left + right), left, out + row * left);
          std::copy_n(a + row * (left + right) + left, right, elements(results[1]) + row * right);
        } else {
          std::copy_n(a + row * left, left, out + row * (left + right));
          std::copy_n(b + row * right, right, out + row * (left + right) + left);
        }
      }
      break;
    }
    case Kind::kTranspose:
      for (int i = 0; i < y.dims[0]; ++i) {
        for (int j = 0; j < y.dims[1]; ++j) out[i * y.dims[1] + j] = a[j * y.dims[0] + i];
      }
      break;
  }
}

void TasoSpace::reduce_kernel(const Use& use, const U32* kernel, std::size_t half, U32* out) const {
  const Type &x = types_[use.operands[0]], &w = types_[use.operands[1]];
  const int taps = w.dims[2] * w.dims[3], per_group = w.dims[0] / (x.dims[1] / w.dims[1]);
  for (int c = 0; c < x.dims[1]; ++c) {
    const int first = c / w.dims[1] * per_group;
    for (int tap = 0; tap < taps; ++tap) {
      U32 sum = 0;
      for (int o = first; o < first + per_group; ++o)
        sum += kernel[(o * w.dims[1] + c % w.dims[1]) * taps + tap] * powers_[half][1][static_cast<std::size_t>(o)];
      out[c * taps + tap] = sum;
    }
  }
}

void TasoSpace::reduce_image(const Use& use, const Type& y, const U32* image, std::size_t half, U32* out) const {
  const Type &x = types_[use.operands[0]], &w = types_[use.operands[1]];
  const int stride = use.choice.stride, taps = w.dims[2] * w.dims[3];
  const int top = padding(use.choice.same, y.dims[2], stride, w.dims[2], x.dims[2]);
  const int left = padding(use.choice.same, y.dims[3], stride, w.dims[3], x.dims[3]);
  const auto& power = powers_[half];
  for (int c = 0; c < x.dims[1]; ++c) {
    for (int kw = 0; kw < w.dims[3]; ++kw) {
      // What each row of the image is worth under this column of the kernel; then the rows under each of its rows.
      std::array<U32, kLargestSize> rows;
      for (int row = 0; row < x.dims[2]; ++row) {
        U32 of_row = 0;
        for (int n = 0; n < x.dims[0]; ++n) {
          U32 of_n = 0;
          const U32* pixels = image + ((n * x.dims[1] + c) * x.dims[2] + row) * x.dims[3];
          for (int v = 0; v < y.dims[3]; ++v) {
            const int column = v * stride + kw - left;
            if (column >= 0 && column < x.dims[3]) of_n += pixels[column] * power[3][static_cast<std::size_t>(v)];
          }
          of_row += of_n * power[0][static_cast<std::size_t>(n)];
        }
        rows[static_cast<std::size_t>(row)] = of_row;
      }
      for (int kh = 0; kh < w.dims[2]; ++kh) {
        U32 sum = 0;
        for (int h = 0; h < y.dims[2]; ++h) {
          const int row = h * stride + kh - top;
          if (row >= 0 && row < x.dims[2])
            sum += rows[static_cast<std::size_t>(row)] * power[2][static_cast<std::size_t>(h)];
        }
        out[c * taps + kh * w.dims[3] + kw] = sum;
      }
    }
  }
}

void TasoSpace::reduce(const Signature& signature, std::size_t operand, const Word* value, Word* out, Samples) {
  const Use& use = uses_[signature.number];
  const Type& type = types_[use.operands[operand]];
  const U32* const in = elements(value);
  for (std::size_t half = 0; half < 2; ++half) {
    U32* const to = elements(out) + half * signature.reduction;
    const auto& power = powers_[half];
    const auto linear = [&] { return dot(in, type.weights[half].data(), type.elements); };
    switch (use.choice.kind) {
      case Kind::kMatmul:
        if (operand == 0) {
          std::fill_n(to, type.dims[1], 0);
          for (int i = 0; i < type.dims[0]; ++i) {
            for (int k = 0; k < type.dims[1]; ++k)
              to[k] += in[i * type.dims[1] + k] * power[0][static_cast<std::size_t>(i)];
          }
        } else {
          for (int k = 0; k < type.dims[0]; ++k) {
            to[k] = 0;
            for (int j = 0; j < type.dims[1]; ++j)
              to[k] += in[k * type.dims[1] + j] * power[1][static_cast<std::size_t>(j)];
          }
        }
        break;
      case Kind::kAdd:
        to[operand] = linear();
        to[1 - operand] = 1;
        break;
      case Kind::kConcat: {
        const auto axis = static_cast<std::size_t>(use.choice.axis);
        const int offset = types_[use.operands[0]].dims[axis];
        to[operand] = operand == 0 ? linear() : linear() * power[axis][static_cast<std::size_t>(offset)];
        to[1 - operand] = 1;
        break;
      }
      case Kind::kMul:
        if (operand == 0) {
          multiply(in, type.weights[half].data(), to, type.elements);
        } else {
          std::copy_n(in, type.elements, to);
        }
        break;
      case Kind::kScale: *to = operand == 0 ? linear() : *in; break;
      case Kind::kConv:
        if (operand == 0) {
          reduce_image(use, types_[signature.outputs[0]], in, half, to);
        } else {
          reduce_kernel(use, in, half, to);
        }
        break;
      default: break;
    }
  }
}

}  // namespace rewright::test
