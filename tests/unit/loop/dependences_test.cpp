// What the analysis calls independent the validator, which walks the iterations, lets run in any order.
#include "loop/dependences.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "loop/lower.h"
#include "loop/validator.h"
#include "support/random_definitions.h"

namespace {

using namespace rewright;
using namespace rewright::loop;
using test_support::RandomDefinition;
using testing::ElementsAre;

/// "a/b over loop" of each, reductions with a star.
std::set<std::string> words(std::string_view text) {
  const auto program = parse_program(text);
  std::set<std::string> found;
  for (const Dependence& d : dependences(*program)) {
    found.insert((*program)[d.first.buffer].name + " over " + d.carrier->axis.name + (d.is_reduction ? " *" : ""));
  }
  return found;
}

constexpr const char* kProduct =
    "buffer a[6, 8] float32 in buffer b[8, 5] float32 in buffer c[6, 5] float32 out\n"
    "for c.i 6 serial { for c.j 5 serial { store c[c.i, c.j] = 0\n"
    "for c.k 8 serial { store c[c.i, c.j] += a[c.i, c.k] * b[c.k, c.j] } } }";

TEST(Dependences, OfAProductAreOverItsReduction) { EXPECT_THAT(words(kProduct), ElementsAre("c over c.k *")); }

TEST(Dependences, OfARecurrenceAreOverItsSteps) {
  EXPECT_THAT(words("buffer x[9] float32 in buffer y[9] float32 out\n"
                    "store y[0] = x[0] for y.i 8 serial { store y[y.i + 1] = y[y.i] + x[y.i + 1] }"),
              ElementsAre("y over y.i"));
  EXPECT_THAT(words("buffer y[2, 9] float32 out\n"
                    "for y.i 9 serial { store y[0, y.i] = 1 } for z.i 9 serial { store y[1, z.i] = y[0, z.i] }"),
              ElementsAre());
  EXPECT_THAT(words("buffer y[8] float32 out for y.i 4 serial { for y.j 2 serial { store y[y.i*2 + y.j] = 1 } }"),
              ElementsAre());
}

TEST(Dependences, DimensionsThatOneLoopWalksAreOneTogether) {
  EXPECT_THAT(words("buffer y[3, 4, 6] float32 out\n"
                    "for y.f 2 serial { for y.g 12 serial { for y.h 3 serial {\n"
                    "store y[y.h, floor((y.f*12 + y.g) / 6), (y.f*12 + y.g) mod 6] = 1 } } }"),
              ElementsAre());
  EXPECT_THAT(
      words("buffer y[4, 6] float32 out\n"
            "for y.f 2 serial { for y.g 13 serial { store y[floor((y.f*11 + y.g) / 6), (y.f*11 + y.g) mod 6] = 1 } }"),
      ElementsAre("y over y.f"))
      << "11 and 12 of the first are 0 and 1 of the second";
  EXPECT_THAT(words("buffer y[4, 4, 6] float32 out\n"
                    "for y.f 24 serial { store y[floor(y.f / 6), 0, y.f mod 6] = y[0, floor(y.f / 6), y.f mod 6] }"),
              ElementsAre("y over y.f"))
      << "of other dimensions";
}

TEST(Dependences, FootprintIsWhatInnerLoopsTouch) {
  const auto program = parse_program(kProduct);
  for (const Access& access : accesses(*program)) {
    if ((*program)[access.buffer].name == "a") {
      EXPECT_THAT(footprint(*program, access, 0), ElementsAre(6, 8));
      EXPECT_THAT(footprint(*program, access, 2), ElementsAre(1, 8));
      EXPECT_THAT(footprint(*program, access, 3), ElementsAre(1, 1));
    }
    if ((*program)[access.buffer].name == "b") {
      EXPECT_THAT(footprint(*program, access, 1), ElementsAre(8, 5));
    }
  }
}

Body with_kind(const Body& body, const std::string& loop_name, LoopKind kind) {
  Body result;
  for (const Statement& statement : body) {
    if (const Loop* loop = statement.loop()) {
      const LoopKind own = loop->axis.name == loop_name ? kind : loop->kind;
      result.emplace_back(Loop{loop->axis, loop->extent, own, with_kind(loop->body, loop_name, kind)});
    } else if (const Branch* branch = statement.branch()) {
      result.emplace_back(Branch{branch->condition, with_kind(branch->body, loop_name, kind)});
    } else {
      result.push_back(statement);
    }
  }
  return result;
}

TEST(Dependences, LoopsWithoutOneRunInAnyOrder) {
  std::size_t free_loops = 0;
  for (std::uint64_t seed = 0; seed < 200 && !HasFailure(); ++seed) {
    const auto program = lower(RandomDefinition(seed).make());
    ASSERT_TRUE(program);
    std::set<std::string> loops, carriers;
    for (const Access& access : accesses(*program)) {
      for (const Loop* loop : access.loops) loops.insert(loop->axis.name);
    }
    for (const Dependence& d : dependences(*program)) carriers.insert(d.carrier->axis.name);
    for (const std::string& loop : loops) {
      if (carriers.contains(loop)) continue;
      ++free_loops;
      const Program parallel{program->buffers, with_kind(program->body, loop, LoopKind::kParallel)};
      const auto status = validate(parallel);
      EXPECT_TRUE(status) << seed << " " << loop << ": " << status.error().message << "\n" << to_string(parallel);
    }
  }
  EXPECT_GT(free_loops, 200u);
}

}  // namespace
