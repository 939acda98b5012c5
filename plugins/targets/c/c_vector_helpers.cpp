#include "c_vector_helpers.h"

#include <fmt/format.h>

#include <array>
#include <cstdlib>
#include <utility>

#include "c_expression.h"

namespace rewright::c {
namespace {

struct Template {
  std::string_view stem;
  std::string_view elements;  ///< Suffixes: "f32 f64".
  std::string_view needs;     ///< Stems that come before it.
  std::string_view text;      ///< VEC, INT, ELEM, LANES and NAME are put in.
};

constexpr std::array kTemplates = {
    Template{"splat", "f32 f64 i32 i64", "", "static inline VEC splat_VEC(ELEM x) { return x - (VEC){0}; }\n"},
    Template{"load", "f32 f64 i32 i64", "", "static inline VEC load_VEC(const ELEM *p) { return *(const VECu *)p; }\n"},
    Template{"store", "f32 f64 i32 i64", "", "static inline void store_VEC(ELEM *p, VEC x) { *(VECu *)p = x; }\n"},
    Template{"load_part", "f32", "", R"(/* The first n lanes, 0 < n <= LANES; the others are 0. */
static inline VEC load_part_VEC(const ELEM *p, int64_t n) {
#if defined(__AVX512F__) && !defined(__clang__) && LANES == 16
  return __builtin_ia32_loadups512_mask(p, (VEC){0}, (uint16_t)((1u << n) - 1));
#elif defined(__AVX2__) && LANES == 8
  return __builtin_ia32_maskloadps256((const VEC *)p, lanes_INT < (int32_t)n);
#else
  VEC x = {0};
  for (int64_t l = 0; l < n; ++l) x[l] = p[l];
  return x;
#endif
}
)"},
    Template{"store_part", "f32", "", R"(/* The first n lanes, 0 < n <= LANES. */
static inline void store_part_VEC(ELEM *p, VEC x, int64_t n) {
#if defined(__AVX512F__) && !defined(__clang__) && LANES == 16
  __builtin_ia32_storeups512_mask(p, x, (uint16_t)((1u << n) - 1));
#elif defined(__AVX2__) && LANES == 8
  __builtin_ia32_maskstoreps256((VEC *)p, lanes_INT < (int32_t)n, x);
#else
  for (int64_t l = 0; l < n; ++l) p[l] = x[l];
#endif
}
)"},
    Template{"load_part", "f64 i32 i64", "", R"(/* The first n lanes, 0 < n <= LANES; the others are 0. */
static inline VEC load_part_VEC(const ELEM *p, int64_t n) {
  VEC x = {0};
  for (int64_t l = 0; l < n; ++l) x[l] = p[l];
  return x;
}
)"},
    Template{"store_part", "f64 i32 i64", "", R"(/* The first n lanes, 0 < n <= LANES. */
static inline void store_part_VEC(ELEM *p, VEC x, int64_t n) {
  for (int64_t l = 0; l < n; ++l) p[l] = x[l];
}
)"},
    Template{"load_even", "f32", "load_part",
             R"(/* n lanes, 0 < n <= LANES, of every second element; the others are 0. */
static inline VEC load_even_VEC(const ELEM *p, int64_t n) {
#if defined(__GNUC__) && !defined(__clang__)
  const VEC low = load_part_VEC(p, 2 * n - 1 < LANES ? 2 * n - 1 : LANES);
  const VEC high = 2 * n > LANES ? load_part_VEC(p + LANES - 1, 2 * n - LANES) : (VEC){0};
  return __builtin_shuffle(low, high, lanes_INT * 2 - (lanes_INT >= LANES / 2));
#else
  VEC x = {0};
  for (int64_t l = 0; l < n; ++l) x[l] = p[2 * l];
  return x;
#endif
}
)"},
    Template{"fma", "f32", "", R"(/* a b + c, rounded once where the processor can. */
static inline VEC fma_VEC(VEC a, VEC b, VEC c) {
#if defined(__AVX512F__) && !defined(__clang__) && LANES == 16
  return __builtin_ia32_vfmaddps512_mask(a, b, c, -1, 4);
#elif defined(__FMA__) && LANES == 8
  return __builtin_ia32_vfmaddps256(a, b, c);
#else
  return a * b + c;
#endif
}
)"},
    Template{"fma", "f64", "", "static inline VEC fma_VEC(VEC a, VEC b, VEC c) { return a * b + c; }\n"},
    Template{"select", "f32 f64 i32 i64", "",
             "static inline VEC select_VEC(INT mask, VEC a, VEC b) { return (VEC)((mask & (INT)a) | (~mask & (INT)b)); "
             "}\n"},
    Template{"max", "f32", "select", R"(static inline VEC max_VEC(VEC a, VEC b) {
#if defined(__AVX512F__) && !defined(__clang__) && LANES == 16
  return __builtin_ia32_maxps512_mask(b, a, a, -1, 4);
#elif defined(__AVX__) && LANES == 8
  return __builtin_ia32_maxps256(b, a);
#else
  return select_VEC(a < b, b, a);
#endif
}
)"},
    Template{"min", "f32", "select", R"(static inline VEC min_VEC(VEC a, VEC b) {
#if defined(__AVX512F__) && !defined(__clang__) && LANES == 16
  return __builtin_ia32_minps512_mask(b, a, a, -1, 4);
#elif defined(__AVX__) && LANES == 8
  return __builtin_ia32_minps256(b, a);
#else
  return select_VEC(b < a, b, a);
#endif
}
)"},
    Template{"max", "f64 i32 i64", "select",
             "static inline VEC max_VEC(VEC a, VEC b) { return select_VEC(a < b, b, a); }\n"},
    Template{"min", "f64 i32 i64", "select",
             "static inline VEC min_VEC(VEC a, VEC b) { return select_VEC(b < a, b, a); }\n"},
    Template{"add", "i32 i64", "", "static inline VEC add_VEC(VEC a, VEC b) { return (VEC)((UNS)a + (UNS)b); }\n"},
    Template{"sub", "i32 i64", "", "static inline VEC sub_VEC(VEC a, VEC b) { return (VEC)((UNS)a - (UNS)b); }\n"},
    Template{"mul", "i32 i64", "", "static inline VEC mul_VEC(VEC a, VEC b) { return (VEC)((UNS)a * (UNS)b); }\n"},
    Template{"divide", "f32", "splat",
             R"(/* x / d for one d: a product with 1 / d, as long as that is a normal number. */
static inline VEC divide_VEC(VEC x, float d) {
  const float r = 1.0f / d;
  return fabsf(d) > 1e-37f && fabsf(d) < 1e37f ? x * splat_VEC(r) : x / splat_VEC(d);
}
)"},
    Template{"sqrt", "f32", "", R"(static inline VEC sqrt_VEC(VEC x) {
#if defined(__AVX512F__) && !defined(__clang__) && LANES == 16
  return __builtin_ia32_sqrtps512_mask(x, x, -1, 4);
#elif defined(__AVX__) && LANES == 8
  return __builtin_ia32_sqrtps256(x);
#else
  for (int l = 0; l < LANES; ++l) x[l] = sqrtf(x[l]);
  return x;
#endif
}
)"},
    Template{"exp", "f32", "splat min max fma select", R"(/* 2^n e^r, |r| <= log(2) / 2: 1 + r + r^2 q(r) */
static inline VEC exp_VEC(VEC x) {
  const VEC magic = splat_VEC(12582912.0f);
  VEC t = min_VEC(max_VEC(x, splat_VEC(-104.0f)), splat_VEC(89.0f));
  VEC n = fma_VEC(t, splat_VEC(1.44269504f), magic) - magic;
  VEC r = fma_VEC(n, splat_VEC(-0.693145752f), t);
  r = fma_VEC(n, splat_VEC(-1.42860677e-6f), r);
  VEC q = splat_VEC(0.00138131424f);
  q = fma_VEC(q, r, splat_VEC(0.00836941904f));
  q = fma_VEC(q, r, splat_VEC(0.0416684568f));
  q = fma_VEC(q, r, splat_VEC(0.166665148f));
  q = fma_VEC(q, r, splat_VEC(0.499999931f));
  q = fma_VEC(q * r, r, r) + 1.0f;
  const INT k = __builtin_convertvector(n, INT), half = k >> 1;
  q = q * (VEC)((half + 127) << 23) * (VEC)((k - half + 127) << 23);
  return select_VEC(x != x, x, q);
}
)"},
    Template{"sigmoid", "f32", "exp", "static inline VEC sigmoid_VEC(VEC x) { return 1.0f / (1.0f + exp_VEC(-x)); }\n"},
    Template{"tanh", "f32", "splat fma select", R"(/* x p(z) / q(z), z = x^2; 1 with the sign of x from 9.05 on */
static inline VEC tanh_VEC(VEC x) {
  const INT sign = (INT)x & (INT)splat_VEC(-0.0f);
  const VEC a = (VEC)((INT)x ^ sign), z = x * x;
  VEC p = splat_VEC(1.85515923e-14f);
  p = fma_VEC(p, z, splat_VEC(9.95973512e-12f));
  p = fma_VEC(p, z, splat_VEC(-1.08412899e-08f));
  p = fma_VEC(p, z, splat_VEC(8.74543139e-06f));
  p = fma_VEC(p, z, splat_VEC(0.00286831405f));
  p = fma_VEC(p, z, splat_VEC(0.128715332f));
  p = fma_VEC(p, z, splat_VEC(0.999999911f));
  VEC q = splat_VEC(0.000220613309f);
  q = fma_VEC(q, z, splat_VEC(0.0235519598f));
  q = fma_VEC(q, z, splat_VEC(0.462047939f));
  q = fma_VEC(q, z, splat_VEC(1.0f));
  return select_VEC(a >= 9.05f, (VEC)((INT)splat_VEC(1.0f) | sign), x * p / q);
}
)"},
    Template{"erf", "f32", "splat fma select", R"(/* x p(z) / q(z), z = x^2; 1 with the sign of x from 3.9375 on */
static inline VEC erf_VEC(VEC x) {
  const INT sign = (INT)x & (INT)splat_VEC(-0.0f);
  const VEC a = (VEC)((INT)x ^ sign), z = x * x;
  VEC p = splat_VEC(1.98312351e-08f);
  p = fma_VEC(p, z, splat_VEC(-1.93733989e-06f));
  p = fma_VEC(p, z, splat_VEC(0.000138753096f));
  p = fma_VEC(p, z, splat_VEC(0.0035910519f));
  p = fma_VEC(p, z, splat_VEC(0.0502385537f));
  p = fma_VEC(p, z, splat_VEC(0.197462176f));
  p = fma_VEC(p, z, splat_VEC(1.12837919f));
  VEC q = splat_VEC(0.000927729468f);
  q = fma_VEC(q, z, splat_VEC(0.0141357015f));
  q = fma_VEC(q, z, splat_VEC(0.113971421f));
  q = fma_VEC(q, z, splat_VEC(0.508328941f));
  q = fma_VEC(q, z, splat_VEC(1.0f));
  return select_VEC(a >= 3.9375f, (VEC)((INT)splat_VEC(1.0f) | sign), x * p / q);
}
)"},
    Template{"log", "f32", "splat fma select",
             R"(/* x = 2^e (1 + m), 1 / sqrt(2) <= 1 + m < sqrt(2): m - m^2 / 2 + m^3 q(m) */
static inline VEC log_VEC(VEC x) {
  const INT tiny = x < 1.17549435e-38f;
  const VEC y = select_VEC(tiny, x * 8388608.0f, x);
  const INT bits = (INT)y - 0x3f3504f3, e = (bits >> 23) - (tiny & 23);
  const VEC m = (VEC)((bits & 0x007fffff) + 0x3f3504f3) - 1.0f, n = __builtin_convertvector(e, VEC), z = m * m;
  VEC q = splat_VEC(0.0674660232f);
  q = fma_VEC(q, m, splat_VEC(-0.116756422f));
  q = fma_VEC(q, m, splat_VEC(0.118881747f));
  q = fma_VEC(q, m, splat_VEC(-0.124055912f));
  q = fma_VEC(q, m, splat_VEC(0.142195509f));
  q = fma_VEC(q, m, splat_VEC(-0.166679957f));
  q = fma_VEC(q, m, splat_VEC(0.200021187f));
  q = fma_VEC(q, m, splat_VEC(-0.250000096f));
  q = fma_VEC(q, m, splat_VEC(0.333333126f));
  VEC r = fma_VEC(n, splat_VEC(-2.12194440e-4f), fma_VEC(q, z * m, z * -0.5f));
  r = fma_VEC(n, splat_VEC(0.693359375f), r + m);
  r = select_VEC(x == INFINITY, x, r);
  r = select_VEC(x == 0.0f, splat_VEC(-INFINITY), r);
  return select_VEC((x < 0.0f) | (x != x), splat_VEC(NAN), r);
}
)"},
};

const Template* find(std::string_view stem, ElementType element) {
  const std::string_view wanted = suffix(element);
  for (const Template& each : kTemplates)
    if (each.stem == stem && each.elements.find(wanted) != std::string_view::npos) return &each;
  return nullptr;
}

void replace_all(std::string& text, std::string_view from, const std::string& to) {
  for (std::size_t at = 0; (at = text.find(from, at)) != std::string::npos; at += to.size())
    text.replace(at, from.size(), to);
}

std::string type_name(int lanes, ElementType element) { return fmt::format("v{}{}", lanes, suffix(element)); }

constexpr ElementType kElements[] = {ElementType::kInt32, ElementType::kInt64, ElementType::kFloat32,
                                     ElementType::kFloat64};

const std::array kInstructions = {
    Instructions{"avx512", 64, "-mavx512f -mavx512vl -mavx512dq -mavx512bw -mfma -mprefer-vector-width=512"},
    Instructions{"avx2", 32, "-mavx2 -mfma"},
    Instructions{"portable", 16, ""},
};

}  // namespace

std::vector<Instructions> instructions_here() {
  std::vector<Instructions> here;
#if defined(__x86_64__)
  const bool has_wide = __builtin_cpu_supports("avx512f") != 0 && __builtin_cpu_supports("avx512vl") != 0 &&
                        __builtin_cpu_supports("avx512dq") != 0 && __builtin_cpu_supports("avx512bw") != 0;
  if (has_wide) here.push_back(kInstructions[0]);
  if (__builtin_cpu_supports("avx2") != 0 && __builtin_cpu_supports("fma") != 0) here.push_back(kInstructions[1]);
#endif
  here.push_back(kInstructions[2]);
  return here;
}

const Instructions* instructions_named(std::string_view name) {
  for (const Instructions& each : kInstructions)
    if (each.name == name) return &each;
  return nullptr;
}

std::string VectorHelpers::type(ElementType element) {
  used_.emplace("", element);
  return type_name(lanes_, element);
}

bool VectorHelpers::has(std::string_view stem, ElementType element) { return find(stem, element) != nullptr; }

std::string VectorHelpers::use(std::string_view stem, ElementType element) {
  const Template* found = find(stem, element);
  if (found == nullptr) {
    fmt::print(stderr, "rewright: internal error: no vector helper {} of {}\n", stem, suffix(element));
    std::abort();
  }
  for (std::string_view rest = found->needs; !rest.empty();) {
    const std::size_t end = std::min(rest.find(' '), rest.size());
    (void)use(rest.substr(0, end), element);
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  used_.emplace("", element);
  used_.emplace(std::string(stem), element);
  return fmt::format("{}_{}", stem, type_name(lanes_, element));
}

std::string VectorHelpers::text() const {
  if (used_.empty()) return {};
  std::string text =
      "/* vNf32: N lanes of float; ...u: in memory, where they may not be aligned. */\n"
      "#define shuffled(x, ...) __builtin_shufflevector(x, x, __VA_ARGS__)\n";
  std::string lane_numbers;
  for (int l = 0; l < lanes_; ++l) lane_numbers += fmt::format("{}{}", l == 0 ? "" : ", ", l);
  for (const ElementType element : kElements) {
    const bool is_wide = element_size(element) == 8;
    const std::string name = type_name(lanes_, element), c = loop::c_type(element);
    const std::size_t bytes = element_size(element) * static_cast<std::size_t>(lanes_);
    fmt::format_to(std::back_inserter(text), "typedef {} {} __attribute__((vector_size({})));\n", c, name, bytes);
    fmt::format_to(std::back_inserter(text),
                   "typedef {} {}u __attribute__((vector_size({}), aligned({}), may_alias));\n", c, name, bytes,
                   element_size(element));
    if (!is_floating(element))
      fmt::format_to(std::back_inserter(text), "typedef u{} v{}u{} __attribute__((vector_size({})));\n", c, lanes_,
                     is_wide ? 64 : 32, bytes);
  }
  fmt::format_to(std::back_inserter(text), "static const {0} lanes_{0} __attribute__((unused)) = {{{1}}};\n\n",
                 type_name(lanes_, ElementType::kInt32), lane_numbers);
  for (const ElementType element : kElements) {
    for (const Template& each : kTemplates) {
      if (find(each.stem, element) != &each || !used_.contains({std::string(each.stem), element})) continue;
      const bool is_wide = element_size(element) == 8;
      std::string made(each.text);
      replace_all(made, "VEC", type_name(lanes_, element));
      replace_all(made, "INT", type_name(lanes_, is_wide ? ElementType::kInt64 : ElementType::kInt32));
      replace_all(made, "UNS", fmt::format("v{}u{}", lanes_, is_wide ? 64 : 32));
      replace_all(made, "ELEM", loop::c_type(element));
      replace_all(made, "LANES", std::to_string(lanes_));
      text += made;
    }
  }
  return text + "\n";
}

}  // namespace rewright::c
