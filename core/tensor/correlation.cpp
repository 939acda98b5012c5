// Eight sums at a time: with a = a0 + 2^52 a1 and b alike, the multiply-add instruction gives the lower and upper 52
// bits of products of lower 52 bits, so that
//
//     a b = lo(a0 b0) + 2^52 (hi(a0 b0) + lo(a0 b1) + lo(a1 b0)) + 2^104 (hi(a0 b1) + hi(a1 b0) + a1 b1),
//
// three sums of numbers below 2^52, reduced modulo 2^61 - 1 (2^104 = 2^43) once at the end.
//
// Weights are often small: the inputs of an enumeration are halves, and what is made from a few of them has a power of
// two for a denominator. Then 16 b fits into a signed 32-bit number, and
//
//     16 a b = (a mod 2^31) 16 b + 2^31 floor(a / 2^31) 16 b
//
// takes two multiplications and no carries. Division by 16 modulo 2^61 - 1 is a rotation by four bits.
//
// The order of an element is its product with a number below 2^52, so of one number of each kind.
#include <rewright/tensor/correlation.h>
#include <rewright/tensor/sum_of_products.h>

#include <algorithm>
#include <array>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace rewright {

namespace {

#if defined(__x86_64__)
#define REWRIGHT_IFMA __attribute__((target("avx512f,avx512ifma")))

constexpr std::size_t kLanes = 8;
constexpr std::size_t kMaxProducts = 1365;  // 3 * 1365 * 2^52 < 2^64.
constexpr unsigned kSmallShift = 4;
constexpr std::int64_t kMaxSmall = std::int64_t{1} << 22;
constexpr std::size_t kMaxSmallProducts = 128;  // 128 * 2^31 * 2^22 < p.

using Eight = std::uint64_t __attribute__((vector_size(64)));

struct Sums {
  Eight units{}, at_52{}, at_104{};
};

REWRIGHT_IFMA inline Eight add_low(Eight sum, Eight a, Eight b) {
  return reinterpret_cast<Eight>(_mm512_madd52lo_epu64(reinterpret_cast<__m512i>(sum), reinterpret_cast<__m512i>(a),
                                                       reinterpret_cast<__m512i>(b)));
}
REWRIGHT_IFMA inline Eight add_high(Eight sum, Eight a, Eight b) {
  return reinterpret_cast<Eight>(_mm512_madd52hi_epu64(reinterpret_cast<__m512i>(sum), reinterpret_cast<__m512i>(a),
                                                       reinterpret_cast<__m512i>(b)));
}

REWRIGHT_IFMA inline void add_product(Sums& sums, Eight a, Eight b, Eight b1) {
  const Eight a1 = a >> 52;
  sums.units = add_low(sums.units, a, b);
  sums.at_52 = add_high(sums.at_52, a, b);
  sums.at_104 = add_high(sums.at_104, a, b1);
  sums.at_52 = add_low(sums.at_52, a, b1);
  sums.at_104 = add_high(sums.at_104, a1, b);
  sums.at_52 = add_low(sums.at_52, a1, b);
  sums.at_104 = add_low(sums.at_104, a1, b1);
}

/// 2^kPower * sum modulo p, below 2^61 + 2^55.
template <unsigned kPower>
REWRIGHT_IFMA inline Eight folded(Eight sum) {
  return ((sum & ((std::uint64_t{1} << (61 - kPower)) - 1)) << kPower) + (sum >> (61 - kPower));
}

REWRIGHT_IFMA inline Eight reduced(const Sums& sums) {
  const Eight sum = folded<0>(folded<0>(sums.units) + folded<52>(sums.at_52) + folded<43>(sums.at_104));
  return sum >= Field::kPrime ? sum - Field::kPrime : sum;
}

/// Sums q to q + 8 kVectors, or to the last one.
template <std::size_t kVectors>
REWRIGHT_IFMA void correlate_block(const Field* x, std::span<const std::uint32_t> offsets,
                                   std::span<const Field> weights, std::span<Field> sums) {
  std::array<Sums, kVectors> of;
  const std::size_t rest = sums.size() - (kVectors - 1) * kLanes;
  const auto in_last = static_cast<__mmask8>((1U << std::min(rest, kLanes)) - 1);
  const auto mask = [&](std::size_t v) { return v + 1 == kVectors ? in_last : static_cast<__mmask8>(0xff); };
  for (std::size_t k = 0; k < offsets.size(); ++k) {
    const Eight weight = Eight{} + weights[k].residue(), upper = weight >> 52;
    for (std::size_t v = 0; v < kVectors; ++v)
      add_product(of[v], reinterpret_cast<Eight>(_mm512_maskz_loadu_epi64(mask(v), x + v * kLanes + offsets[k])),
                  weight, upper);
  }
  for (std::size_t v = 0; v < kVectors; ++v)
    _mm512_mask_storeu_epi64(sums.data() + v * kLanes, mask(v), reinterpret_cast<__m512i>(reduced(of[v])));
}

/// 16 times each weight as a small number. False: one is not.
REWRIGHT_IFMA bool as_small(std::span<const Field> weights, std::span<std::int64_t> small) {
  __mmask8 others = 0;
  for (std::size_t k = 0; k < weights.size(); k += kLanes) {
    const auto mask = static_cast<__mmask8>((1U << std::min(weights.size() - k, kLanes)) - 1);
    const auto residue = reinterpret_cast<Eight>(_mm512_maskz_loadu_epi64(mask, weights.data() + k));
    const Eight shifted = (residue << kSmallShift & Field::kPrime) | residue >> (61 - kSmallShift);
    const Eight number = shifted < static_cast<std::uint64_t>(kMaxSmall) ? shifted : shifted - Field::kPrime;
    others |= _mm512_cmple_epi64_mask(reinterpret_cast<__m512i>(number), _mm512_set1_epi64(-kMaxSmall));
    _mm512_mask_storeu_epi64(small.data() + k, mask, reinterpret_cast<__m512i>(number));
  }
  return others == 0;
}

REWRIGHT_IFMA inline Eight small_products(Eight a, Eight b) {
  return reinterpret_cast<Eight>(
      _mm512_maskz_mul_epi32(0xff, reinterpret_cast<__m512i>(a), reinterpret_cast<__m512i>(b)));
}

/// As correlate_block, for small weights.
template <std::size_t kVectors>
REWRIGHT_IFMA void correlate_small(const Field* x, std::span<const std::uint32_t> offsets,
                                   std::span<const std::int64_t> weights, std::span<Field> sums) {
  constexpr std::uint64_t kLowBits = (std::uint64_t{1} << 31) - 1;
  std::array<Eight, kVectors> low{}, high{};
  const std::size_t rest = sums.size() - (kVectors - 1) * kLanes;
  const auto in_last = static_cast<__mmask8>((1U << std::min(rest, kLanes)) - 1);
  const auto mask = [&](std::size_t v) { return v + 1 == kVectors ? in_last : static_cast<__mmask8>(0xff); };
  for (std::size_t k = 0; k < offsets.size(); ++k) {
    const Eight weight = Eight{} + static_cast<std::uint64_t>(weights[k]);
    for (std::size_t v = 0; v < kVectors; ++v) {
      const auto a = reinterpret_cast<Eight>(_mm512_maskz_loadu_epi64(mask(v), x + v * kLanes + offsets[k]));
      low[v] += small_products(a & kLowBits, weight);
      high[v] += small_products(a >> 31, weight);
    }
  }
  for (std::size_t v = 0; v < kVectors; ++v) {
    // A multiple of p more, so that none is negative.
    Eight sum = folded<0>(folded<0>(low[v] + Field::kPrime) + folded<31>(high[v] + Field::kPrime));
    sum = sum >= Field::kPrime ? sum - Field::kPrime : sum;
    sum = (sum >> kSmallShift) | ((sum & ((std::uint64_t{1} << kSmallShift) - 1)) << (61 - kSmallShift));
    _mm512_mask_storeu_epi64(sums.data() + v * kLanes, mask(v), reinterpret_cast<__m512i>(sum));
  }
}

/// Goes through the sums in blocks of up to as many vectors as there are functions for.
template <class Blocks, class Weights>
void in_blocks(const Blocks& blocks, const Field* x, std::span<const std::uint32_t> offsets, const Weights& weights,
               std::span<Field> sums) {
  while (!sums.empty()) {
    const std::size_t vectors = std::min(blocks.size(), (sums.size() + kLanes - 1) / kLanes);
    blocks[vectors - 1](x, offsets, weights, sums);
    const std::size_t done = std::min(vectors * kLanes, sums.size());
    x += done;
    sums = sums.subspan(done);
  }
}

void correlate_by_eights(const Field* x, std::span<const std::uint32_t> offsets, std::span<const Field> weights,
                         std::span<Field> sums) {
  static constexpr std::array kBlocks = {correlate_block<1>, correlate_block<2>, correlate_block<3>, correlate_block<4>,
                                         correlate_block<5>};
  static constexpr std::array kSmall = {correlate_small<1>, correlate_small<2>, correlate_small<3>, correlate_small<4>,
                                        correlate_small<5>};
  std::array<std::int64_t, kMaxSmallProducts> room;
  const std::span small(room.data(), std::min(weights.size(), room.size()));
  if (weights.size() <= room.size() && as_small(weights, small)) {
    in_blocks(kSmall, x, offsets, std::span<const std::int64_t>(small), sums);
  } else {
    in_blocks(kBlocks, x, offsets, weights, sums);
  }
}

REWRIGHT_IFMA Field dot_by_eights(std::span<const Field> a, std::span<const Field> b) {
  Sums sums;
  for (std::size_t at = 0; at < a.size(); at += kLanes) {
    const auto mask = static_cast<__mmask8>((1U << std::min(a.size() - at, kLanes)) - 1);
    const auto right = reinterpret_cast<Eight>(_mm512_maskz_loadu_epi64(mask, b.data() + at));
    add_product(sums, reinterpret_cast<Eight>(_mm512_maskz_loadu_epi64(mask, a.data() + at)), right, right >> 52);
  }
  const Eight lanes = reduced(sums);
  std::uint64_t sum = 0;  // Below 8 p < 2^64.
  for (std::size_t i = 0; i < kLanes; ++i) sum += lanes[i];
  return Field::from_residue((sum & Field::kPrime) % Field::kPrime) + Field::from_residue(sum >> 61);
}

/// Whole eights alone; how many elements these are.
REWRIGHT_IFMA std::size_t relu_by_eights(std::span<Field> elements) {
  const Eight denominator = Eight{} + Field::kOrderDenominator;
  const std::size_t end = elements.size() - elements.size() % kLanes;
  for (std::size_t at = 0; at < end; at += kLanes) {
    const auto x = reinterpret_cast<Eight>(_mm512_loadu_si512(elements.data() + at));
    Sums order;
    order.units = add_low(order.units, x, denominator);
    order.at_52 = add_low(add_high(order.at_52, x, denominator), x >> 52, denominator);
    const Eight positive = reduced(order) <= Field::kPrime / 2 ? x : Eight{};
    _mm512_storeu_si512(elements.data() + at, reinterpret_cast<__m512i>(positive));
  }
  return end;
}
#endif

void correlate_one_by_one(const Field* x, std::span<const std::uint32_t> offsets, std::span<const Field> weights,
                          std::span<Field> sums) {
  for (std::size_t q = 0; q < sums.size(); ++q) {
    SumOfProducts<Field> sum;
    for (std::size_t k = 0; k < offsets.size(); ++k) sum.add(x[q + offsets[k]], weights[k]);
    sums[q] = sum.value();
  }
}

}  // namespace

void correlate(const Field* x, std::span<const std::uint32_t> offsets, std::span<const Field> weights,
               std::span<Field> sums) {
#if defined(__x86_64__)
  static const bool kEights = __builtin_cpu_supports("avx512ifma") != 0;
  if (kEights && offsets.size() <= kMaxProducts) return correlate_by_eights(x, offsets, weights, sums);
#endif
  correlate_one_by_one(x, offsets, weights, sums);
}

Field dot(std::span<const Field> a, std::span<const Field> b) {
#if defined(__x86_64__)
  static const bool kEights = __builtin_cpu_supports("avx512ifma") != 0;
  if (kEights && a.size() <= kLanes * kMaxProducts) return dot_by_eights(a, b);
#endif
  SumOfProducts<Field> sum;
  for (std::size_t i = 0; i < a.size(); ++i) sum.add(a[i], b[i]);
  return sum.value();
}

void relu_all(std::span<Field> elements) {
  std::size_t done = 0;
#if defined(__x86_64__)
  static const bool kEights = __builtin_cpu_supports("avx512ifma") != 0;
  if (kEights) done = relu_by_eights(elements);
#endif
  for (Field& element : elements.subspan(done)) element = relu(element);
}

}  // namespace rewright
