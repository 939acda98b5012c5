#include "tune/machine_probe.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace rewright::tune {
namespace {

/// Twelve chains of multiply-adds hide a latency of four to six cycles on two units.
constexpr const char* kText = R"c(
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#if defined(__AVX512F__)
#define BYTES 64
#elif defined(__AVX__)
#define BYTES 32
#else
#define BYTES 16
#endif
typedef float vec __attribute__((vector_size(BYTES)));
enum { kLanes = BYTES / 4, kChains = 12 };

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC_RAW, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static volatile float sink;

static double peak(void) {
  const long rounds = 20000;
  double best = 0;
  vec c[kChains], a, b;
  const vec a0 = {0};
  for (int i = 0; i < kChains; ++i) c[i] = a0 + (sink + (float)i);  /* All different, whatever a compiler can see. */
  for (int l = 0; l < kLanes; ++l) a[l] = 0.999f, b[l] = 0.001f;
  const double end = now() + 0.6;
  while (now() < end) {
    vec c0 = c[0], c1 = c[1], c2 = c[2], c3 = c[3], c4 = c[4], c5 = c[5];
    vec c6 = c[6], c7 = c[7], c8 = c[8], c9 = c[9], c10 = c[10], c11 = c[11];
    const double start = now();
    for (long i = 0; i < rounds; ++i) {
      c0 = c0 * a + b; c1 = c1 * a + b; c2 = c2 * a + b; c3 = c3 * a + b;
      c4 = c4 * a + b; c5 = c5 * a + b; c6 = c6 * a + b; c7 = c7 * a + b;
      c8 = c8 * a + b; c9 = c9 * a + b; c10 = c10 * a + b; c11 = c11 * a + b;
    }
    const double seconds = now() - start;
    vec sum = c0 + c1 + c2 + c3 + c4 + c5 + c6 + c7 + c8 + c9 + c10 + c11;
    sink = sum[0];
    const double figure = 2e-9 * kLanes * kChains * (double)rounds / seconds;
    if (figure > best) best = figure;
  }
  return best;
}

/* Dot products of narrow types: the instructions are asked for here, so that the processor is asked when it runs. */
enum { kDotLanes = 16, kDotBytes = 64, kDotRounds = 20000 };
typedef struct { uint32_t lanes[kChains][kDotLanes]; } dot_sums;
typedef void dot(dot_sums *sums, const void *left, const void *right, long rounds);

#if defined(__x86_64__) && !defined(PORTABLE)
#include <immintrin.h>
#define DOT(NAME, FEATURES, VECTOR, LOAD, STORE, OPERAND, MULTIPLY)                                           \
  __attribute__((target(FEATURES))) static void NAME(dot_sums *sums, const void *left, const void *right,     \
                                                     long rounds) {                                           \
    const OPERAND a = (OPERAND)_mm512_loadu_si512(left), b = (OPERAND)_mm512_loadu_si512(right);              \
    VECTOR c[kChains];                                                                                        \
    for (int i = 0; i < kChains; ++i) c[i] = LOAD(sums->lanes[i]);                                            \
    VECTOR c0 = c[0], c1 = c[1], c2 = c[2], c3 = c[3], c4 = c[4], c5 = c[5];                                  \
    VECTOR c6 = c[6], c7 = c[7], c8 = c[8], c9 = c[9], c10 = c[10], c11 = c[11];                              \
    for (long i = 0; i < rounds; ++i) {                                                                       \
      c0 = MULTIPLY(c0, a, b); c1 = MULTIPLY(c1, a, b); c2 = MULTIPLY(c2, a, b); c3 = MULTIPLY(c3, a, b);     \
      c4 = MULTIPLY(c4, a, b); c5 = MULTIPLY(c5, a, b); c6 = MULTIPLY(c6, a, b); c7 = MULTIPLY(c7, a, b);     \
      c8 = MULTIPLY(c8, a, b); c9 = MULTIPLY(c9, a, b); c10 = MULTIPLY(c10, a, b); c11 = MULTIPLY(c11, a, b); \
    }                                                                                                         \
    const VECTOR ended[kChains] = {c0, c1, c2, c3, c4, c5, c6, c7, c8, c9, c10, c11};                         \
    for (int i = 0; i < kChains; ++i) STORE(sums->lanes[i], ended[i]);                                        \
  }
DOT(dot_bfloat16, "avx512f,avx512bf16", __m512, _mm512_loadu_ps, _mm512_storeu_ps, __m512bh, _mm512_dpbf16_ps)
DOT(dot_int8, "avx512f,avx512vnni", __m512i, _mm512_loadu_si512, _mm512_storeu_si512, __m512i, _mm512_dpbusd_epi32)
static dot *known_dot(int is_int8) {
  if (!__builtin_cpu_supports("avx512f")) return NULL;
  if (is_int8) return __builtin_cpu_supports("avx512vnni") ? dot_int8 : NULL;
  return __builtin_cpu_supports("avx512bf16") ? dot_bfloat16 : NULL;
}
#else
static dot *known_dot(int is_int8) { (void)is_int8; return NULL; }
#endif

static double dot_peak(int is_int8) {
  dot *const run = known_dot(is_int8);
  if (run == NULL) return 0;
  static dot_sums sums;
  static uint8_t zeros[kDotBytes];
  const double operations = 2.0 * kDotBytes / (is_int8 ? 1 : 2) * kChains * kDotRounds;
  double best = 0;
  for (const double end = now() + 0.3; now() < end;) {
    const double start = now();
    run(&sums, zeros, zeros, kDotRounds);
    const double figure = 1e-9 * operations / (now() - start);
    if (figure > best) best = figure;
  }
  return best;
}

/* Element k is k % 7 - 3 by k % 5 - 2, of int8 3 * k + 64 by k % 5 - 2; three rounds, chain i from i on. */
static void show_dot(int is_int8) {
  dot *const run = known_dot(is_int8);
  if (run == NULL) { puts("none"); return; }
  dot_sums sums;
  uint8_t left[kDotBytes], right[kDotBytes];
  for (int k = 0; k < (is_int8 ? kDotBytes : kDotBytes / 2); ++k) {
    const int pair[2] = {is_int8 ? 3 * k + 64 : k % 7 - 3, k % 5 - 2};
    for (int side = 0; side < 2; ++side) {
      uint8_t *const bytes = side == 0 ? left : right;
      if (is_int8) { bytes[k] = (uint8_t)pair[side]; continue; }
      const float value = (float)pair[side];
      memcpy(bytes + 2 * k, (const char *)&value + 2, 2);
    }
  }
  for (int i = 0; i < kChains; ++i) {
    for (int l = 0; l < kDotLanes; ++l) {
      const float value = (float)i;
      if (is_int8) sums.lanes[i][l] = (uint32_t)i; else memcpy(&sums.lanes[i][l], &value, 4);
    }
  }
  run(&sums, left, right, 3);
  for (int i = 0; i < kChains; ++i) {
    for (int l = 0; l < kDotLanes; ++l) {
      float value;
      memcpy(&value, &sums.lanes[i][l], 4);
      printf("%d ", is_int8 ? (int)(int32_t)sums.lanes[i][l] : (int)value);
    }
  }
  puts("");
}

static double read_rate(size_t bytes) {
  const size_t count = bytes / sizeof(vec) / 8 * 8;
  vec *data = aligned_alloc(64, (count * sizeof(vec) + 63) / 64 * 64);
  if (data == NULL) exit(1);
  memset(data, 0, count * sizeof(vec));
  size_t passes = (8u << 20) / (count * sizeof(vec));
  if (passes == 0) passes = 1;
  double best = 0;
  const double end = now() + 0.25;
  do {
    vec s[8];
    memset(s, 0, sizeof s);
    vec s0 = s[0], s1 = s0, s2 = s0, s3 = s0, s4 = s0, s5 = s0, s6 = s0, s7 = s0;
    const double start = now();
    for (size_t p = 0; p < passes; ++p) {
      for (size_t i = 0; i < count; i += 8) {
        s0 += data[i]; s1 += data[i + 1]; s2 += data[i + 2]; s3 += data[i + 3];
        s4 += data[i + 4]; s5 += data[i + 5]; s6 += data[i + 6]; s7 += data[i + 7];
      }
      __asm__ volatile("" ::: "memory");
    }
    const double seconds = now() - start;
    vec sum = s0 + s1 + s2 + s3 + s4 + s5 + s6 + s7;
    sink = sum[0];
    const double figure = 1e-9 * (double)(count * sizeof(vec)) * (double)passes / seconds;
    if (figure > best) best = figure;
  } while (now() < end);
  free(data);
  return best;
}

int main(int count, char **words) {
  (void)words;
  if (count > 1) {
    show_dot(0);
    show_dot(1);
    return 0;
  }
  cpu_set_t one;
  CPU_ZERO(&one);
  const int cpu = sched_getcpu();
  CPU_SET(cpu < 0 ? 0 : cpu, &one);
  sched_setaffinity(0, sizeof one, &one);
  printf("%.3f\n", peak());
  printf("%.3f\n%.3f\n", dot_peak(0), dot_peak(1));
  for (size_t i = 0; i < sizeof kSizes / sizeof kSizes[0]; ++i) printf("%.3f\n", read_rate(kSizes[i]));
  return 0;
}
)c";

}  // namespace

std::string probe_source(std::span<const std::int64_t> bytes) {
  return fmt::format("#define _GNU_SOURCE\n#include <stddef.h>\nstatic const size_t kSizes[] = {{{}}};\n{}",
                     fmt::join(bytes, ", "), kText);
}

}  // namespace rewright::tune
