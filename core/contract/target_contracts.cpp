// What a target promises: compiled code computes what the interpreter computes.
#include <rewright/base/mixing.h>
#include <rewright/loop/element_types.h>
#include <rewright/loop/target.h>

#include <cmath>

#include "contract/contracts.h"
#include "contract/samples.h"
#include "loop/compiled_run.h"
#include "loop/interpreter.h"
#include "loop/lower.h"

namespace rewright::contract {
namespace {

/// A product with a window, a shift and a tail; a softmax; indices that are divided, and such that are data.
constexpr std::string_view kPrograms[] = {
    R"(buffer x[5, 7] float32 in
buffer w[3, 6] float32 weight
buffer acc[] float32 temporary
buffer y[5, 6] float32 out
for y.i 5 parallel {
  for y.j 6 vector {
    store acc[] = 0
    for y.k 3 unroll {
      if 0 <= y.i + y.k - 1 and y.i + y.k - 1 < 5 {
        store acc[] += x[y.i + y.k - 1, y.j] * w[y.k, y.j]
      }
    }
    store y[y.i, y.j] = max(acc[] + 0.5, min(x[y.i, 0], 1)) / (x[y.i, 6] * x[y.i, 6] + 1)
  }
}
)",
    R"(buffer x[3, 9] float32 in
buffer top[3] float32 temporary
buffer sum[3] float32 temporary
buffer y[3, 9] float32 out
for top.i 3 serial {
  store top[top.i] = -inf
  for top.k 9 serial {
    store top[top.i] max= x[top.i, top.k]
  }
}
for sum.i 3 serial {
  store sum[sum.i] = 0
  for sum.k 9 serial {
    store sum[sum.i] += exp(x[sum.i, sum.k] - top[sum.i])
  }
}
for y.i 3 serial {
  for y.j 9 serial {
    store y[y.i, y.j] = exp(x[y.i, y.j] - top[y.i]) / sum[y.i]
  }
}
)",
    R"(buffer x[24] float32 in
buffer n[4] int64 in
buffer m[4] uint16 weight
buffer y[4, 6] float32 out
for y.i 4 serial {
  for y.j 6 serial {
    store y[y.i, y.j] = select(x[y.j*4 + y.i] < 0 or index(y.i) = 2, tanh(x[floor((y.i*6 + y.j) / 2)]), x[data(n[y.i], -24, 24) mod 24] * sigmoid(x[(y.i*5 + y.j) mod 24]) + erf(index(y.j)) * x[data(m[y.i], 0, 10)] + sqrt(index(y.i)) + log(index(y.j + 1)))
  }
}
)",
};

using Numbers = std::vector<std::vector<double>>;

/// Small whole numbers for inputs and weights; where they are indices, within the bounds of these.
Numbers inputs_of(const loop::Program& program, std::uint64_t seed) {
  Random random(seed);
  Numbers all(program.buffers.size());
  for (std::size_t b = 0; b < all.size(); ++b) {
    const Buffer& buffer = program.buffers[b];
    if (buffer.role != BufferRole::kInput && buffer.role != BufferRole::kWeight) continue;
    const std::int64_t limit = buffer.element == ElementType::kInt64 ? 2 : 9;
    const std::int64_t least = loop::is_of_indices(buffer.element) ? 0 : -limit;
    for (std::int64_t i = *loop::element_count(buffer); i > 0; --i) {
      all[b].push_back(static_cast<double>(random.between(least, limit)));
    }
  }
  return all;
}

template <class Scalar>
Result<Numbers> interpreted(const loop::Program& program, const Numbers& inputs) {
  loop::Contents<Scalar> contents(inputs.size());
  for (std::size_t b = 0; b < inputs.size(); ++b) {
    for (const double number : inputs[b]) contents[b].push_back(Scalar::from_double(number));
  }
  REWRIGHT_CHECK(loop::interpret(program, contents));
  Numbers result(inputs.size());
  for (std::size_t b = 0; b < inputs.size(); ++b) {
    for (const Scalar& element : contents[b]) result[b].push_back(static_cast<double>(element.value));
  }
  return result;
}

/// `tolerance` is relative to the larger number, or to 1.
Status compare(const loop::Program& program, const Numbers& expected, const Numbers& found, double tolerance) {
  for (std::size_t b = 0; b < expected.size(); ++b) {
    if (program.buffers[b].role != BufferRole::kOutput) continue;
    for (std::size_t i = 0; i < expected[b].size(); ++i) {
      const double a = expected[b][i], c = found[b][i];
      if (a == c || std::abs(a - c) <= tolerance * std::max({1.0, std::abs(a), std::abs(c)})) continue;
      return make_error(ErrorCode::kMismatch, "element {} of {} is {}, compiled, and {}, interpreted, in\n{}", i,
                        program.buffers[b].name, c, a, to_string(program));
    }
  }
  return {};
}

/// Interpreted over a scalar algebra, and compiled.
template <class Scalar>
Status agrees(const Target& target, const loop::Program& program, double tolerance) {
  Numbers numbers = inputs_of(program, 7);
  REWRIGHT_TRY(const Numbers expected, interpreted<Scalar>(program, numbers));
  REWRIGHT_TRY(const auto code, compile_one(target, program));
  REWRIGHT_CHECK(loop::run_compiled(*code, program, numbers));
  return compare(program, expected, numbers, tolerance);
}

Outcome computes(const Target& target, const std::function<Status(const loop::Program&)>& agree) {
  const auto version = target.version();
  if (!version) return Outcome::skipped(version.error().message);
  for (const std::string_view text : kPrograms) {
    const auto program = loop::parse_program(text);
    if (!program) return Outcome::skipped(program.error().message);
    const Status status = agree(*program);
    if (!status) return Outcome::broken(status.error().message);
  }
  return Outcome::kept(fmt::format("{} programs, by {}", std::size(kPrograms), *version));
}

Outcome reports_data(const Target& target) {
  if (const auto version = target.version(); !version) return Outcome::skipped(version.error().message);
  const auto program = loop::parse_program(
      "buffer n[1] int64 in buffer x[4] float32 in buffer y[1] float32 out store y[0] = x[data(n[0], 0, 4)]");
  const auto code = compile_one(target, *program);
  if (!code) return Outcome::broken(code.error().message);
  for (const double index : {-1.0, 4.0}) {
    Numbers numbers = {{index}, {1, 2, 3, 4}, {}};
    if (loop::run_compiled(**code, *program, numbers)) {
      return Outcome::broken(fmt::format("x[{}] of 4 elements is read without a word", index));
    }
  }
  return Outcome::kept("indices below and above their range");
}

constexpr const char* kAdvice =
    "see loop/loop_program.h: Semantics; usual cause: operands are computed in another type";

}  // namespace

std::vector<Contract> contracts_of(const Target& target) {
  return {{"describes itself", [&] { return describes_itself(target.name(), target.summary()); }, kAdviceOnNames},
          {"computes integers modulo 2^32 to the bit",
           [&] {
             return computes(target, [&](const loop::Program& program) {
               return agrees<loop::Wrapping>(target, loop::over_wrapping_integers(program), 0);
             });
           },
           kAdvice},
          {"computes float32 within rounding",
           [&] {
             return computes(target, [&](const loop::Program& program) { return agrees<Real>(target, program, 1e-5); });
           },
           kAdvice},
          {"reports data outside of its range", [&] { return reports_data(target); },
           "see loop/target.h: CompiledProgram::run; usual cause: an index that was read is not compared"}};
}

}  // namespace rewright::contract
