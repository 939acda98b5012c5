// Programs that compute the same, told by running them.
#pragma once

#include <gtest/gtest.h>

#include <cstdlib>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "loop/interpreter.h"
#include "loop/validator.h"
#include "support/random_definitions.h"

namespace test_support {

using namespace rewright;

/// REWRIGHT_RANDOM_RUNS, or as many as a test may take time for.
inline std::uint64_t random_runs(std::uint64_t daily) {
  const char* wanted = std::getenv("REWRIGHT_RANDOM_RUNS");
  return wanted == nullptr ? daily : std::strtoull(wanted, nullptr, 10);
}

inline loop::Program program_of(std::string_view text) {
  auto program = loop::parse_program(text);
  EXPECT_TRUE(program) << program.error().message;
  return *std::move(program);
}

/// Outputs by name, of contents that depend on the names of what is read.
template <class Scalar>
std::map<std::string, std::vector<Scalar>> outputs(const loop::Program& program, std::uint64_t seed) {
  auto contents = random_contents<Scalar>(program.buffers, seed);
  const auto status = interpret(program, contents);
  EXPECT_TRUE(status) << status.error().message << "\n" << to_string(program);
  std::map<std::string, std::vector<Scalar>> found;
  for (std::size_t b = 0; b < program.buffers.size(); ++b)
    if (program.buffers[b].role == BufferRole::kOutput) found[program.buffers[b].name] = contents[b];
  return found;
}

/// The validator takes it, and it computes the same over the prime field and in wrapping integers.
inline void expect_equal(const loop::Program& made, const loop::Program& plain, std::uint64_t seed,
                         const std::string& steps) {
  const auto valid = loop::validate(made);
  EXPECT_TRUE(valid) << seed << ": " << valid.error().message << "\n" << steps << to_string(plain);
  EXPECT_EQ(outputs<Field>(made, seed), outputs<Field>(plain, seed)) << seed << "\n" << steps << to_string(plain);
  EXPECT_EQ(outputs<loop::Wrapping>(made, seed), outputs<loop::Wrapping>(plain, seed)) << seed << "\n" << steps;
}

/// y[i, n, o] = sum(k, x[i, k] w[n, k, o]), as a convolution of matrices has it.
inline std::string lanes_of_two(std::int64_t outer, std::int64_t inner) {
  return fmt::format(
      "buffer x[3, 5] float32 in\nbuffer w[{0}, 5, {1}] float32 weight\nbuffer y[3, {0}, {1}] float32 out\n"
      "buffer acc[] float32 temporary\nfor y.i 3 serial {{ for y.n {0} serial {{ for y.o {1} serial {{\n"
      "store acc[] = 0\nfor y.k 5 serial {{ store acc[] += x[y.i, y.k] * w[y.n, y.k, y.o] }}\n"
      "store y[y.i, y.n, y.o] = acc[] }} }} }}",
      outer, inner);
}

}  // namespace test_support
