#include "c_helpers.h"

#include <fmt/format.h>

#include <array>
#include <cstdlib>
#include <utility>

namespace rewright::c {
namespace {

struct Helper {
  std::string_view name;
  std::string_view needs;  ///< Another one, that comes before.
  std::string_view text;
};

// Signed arithmetic wraps, which C leaves undefined: it is done on unsigned numbers.
constexpr std::array kHelpers = {
    Helper{"floor_div", "", R"(/* Rounded down; b > 0. */
static inline int64_t floor_div(int64_t a, int64_t b) { return a / b - (a % b < 0); }
)"},
    Helper{"floor_mod", "", R"(/* a - b floor(a / b); b > 0. */
static inline int64_t floor_mod(int64_t a, int64_t b) { return a % b + (a % b < 0 ? b : 0); }
)"},
    Helper{"data_in", "",
           R"(/* An index that was read: what lies outside of low .. high - 1 is a fault, and read as low. */
static inline int64_t data_in(int64_t index, int64_t low, int64_t high, int *fault) {
  if (index >= low && index < high) return index;
  *fault = 1;
  return low;
}
)"},
    Helper{"max_f32", "", "static inline float max_f32(float a, float b) { return a < b ? b : a; }\n"},
    Helper{"min_f32", "", "static inline float min_f32(float a, float b) { return b < a ? b : a; }\n"},
    Helper{"max_f64", "", "static inline double max_f64(double a, double b) { return a < b ? b : a; }\n"},
    Helper{"min_f64", "", "static inline double min_f64(double a, double b) { return b < a ? b : a; }\n"},
    Helper{"max_i32", "", "static inline int32_t max_i32(int32_t a, int32_t b) { return a < b ? b : a; }\n"},
    Helper{"min_i32", "", "static inline int32_t min_i32(int32_t a, int32_t b) { return b < a ? b : a; }\n"},
    Helper{"max_i64", "", "static inline int64_t max_i64(int64_t a, int64_t b) { return a < b ? b : a; }\n"},
    Helper{"min_i64", "", "static inline int64_t min_i64(int64_t a, int64_t b) { return b < a ? b : a; }\n"},
    Helper{"mod_f32", "", R"(/* a - b floor(a / b) */
static inline float mod_f32(float a, float b) {
  const float rest = fmodf(a, b);
  return rest != 0 && (rest < 0) != (b < 0) ? rest + b : rest;
}
)"},
    Helper{"mod_f64", "", R"(/* a - b floor(a / b) */
static inline double mod_f64(double a, double b) {
  const double rest = fmod(a, b);
  return rest != 0 && (rest < 0) != (b < 0) ? rest + b : rest;
}
)"},
    Helper{"mod_i32", "", R"(/* a - b floor(a / b); a mod 0 = 0 */
static inline int32_t mod_i32(int32_t a, int32_t b) {
  if (b == 0 || b == -1) return 0;
  return a % b != 0 && (a % b < 0) != (b < 0) ? a % b + b : a % b;
}
)"},
    Helper{"mod_i64", "", R"(/* a - b floor(a / b); a mod 0 = 0 */
static inline int64_t mod_i64(int64_t a, int64_t b) {
  if (b == 0 || b == -1) return 0;
  return a % b != 0 && (a % b < 0) != (b < 0) ? a % b + b : a % b;
}
)"},
    Helper{"add_i32", "",
           "static inline int32_t add_i32(int32_t a, int32_t b) { return (int32_t)((uint32_t)a + (uint32_t)b); }\n"},
    Helper{"sub_i32", "",
           "static inline int32_t sub_i32(int32_t a, int32_t b) { return (int32_t)((uint32_t)a - (uint32_t)b); }\n"},
    Helper{"mul_i32", "",
           "static inline int32_t mul_i32(int32_t a, int32_t b) { return (int32_t)((uint32_t)a * (uint32_t)b); }\n"},
    Helper{"add_i64", "",
           "static inline int64_t add_i64(int64_t a, int64_t b) { return (int64_t)((uint64_t)a + (uint64_t)b); }\n"},
    Helper{"sub_i64", "",
           "static inline int64_t sub_i64(int64_t a, int64_t b) { return (int64_t)((uint64_t)a - (uint64_t)b); }\n"},
    Helper{"mul_i64", "",
           "static inline int64_t mul_i64(int64_t a, int64_t b) { return (int64_t)((uint64_t)a * (uint64_t)b); }\n"},
    Helper{"div_i32", "sub_i32", R"(/* Towards 0; a / 0 = 0 */
static inline int32_t div_i32(int32_t a, int32_t b) { return b == 0 ? 0 : b == -1 ? sub_i32(0, a) : a / b; }
)"},
    Helper{"div_i64", "sub_i64", R"(/* Towards 0; a / 0 = 0 */
static inline int64_t div_i64(int64_t a, int64_t b) { return b == 0 ? 0 : b == -1 ? sub_i64(0, a) : a / b; }
)"},
    Helper{"mix_i32", "", R"(/* A function without any law, for checks over the integers modulo 2^32. */
static inline int32_t mix_i32(uint32_t key, int32_t x) {
  uint32_t bits = ((uint32_t)x ^ (key * 0x9e3779b9U)) * 0x85ebca6bU;
  bits = (bits ^ (bits >> 13)) * 0xc2b2ae35U;
  return (int32_t)(bits ^ (bits >> 16));
}
)"},
    Helper{"sigmoid_f32", "", "static inline float sigmoid_f32(float x) { return 1.0f / (1.0f + expf(-x)); }\n"},
    Helper{"sigmoid_f64", "", "static inline double sigmoid_f64(double x) { return 1.0 / (1.0 + exp(-x)); }\n"},
};

}  // namespace

std::string_view Helpers::use(std::string_view name) {
  for (const Helper& helper : kHelpers) {
    if (helper.name != name) continue;
    if (!helper.needs.empty()) use(helper.needs);
    used_.emplace(name);
    return helper.name;
  }
  fmt::print(stderr, "rewright: internal error: no C helper {}\n", name);
  std::abort();
}

std::string Helpers::text() const {
  std::string text = "#include <math.h>\n#include <stdbool.h>\n#include <stdint.h>\n\n";
  for (const Helper& helper : kHelpers) {
    if (used_.contains(helper.name)) text += helper.text;
  }
  return used_.empty() ? text : text + "\n";
}

}  // namespace rewright::c
