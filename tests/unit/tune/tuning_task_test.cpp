// Tasks have keys that say what is computed, at which sizes, and nothing else.
#include "tune/tuning_task.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tune/before_runs.h"

namespace {

using namespace rewright;
using namespace rewright::tune;
using testing::ElementsAre;
using testing::IsEmpty;

loop::Program program_of(const std::string& text) {
  auto program = loop::parse_program(text);
  EXPECT_TRUE(program) << program.error().message;
  return *std::move(program);
}

std::string copy_of(int size, const std::string& note = "") {
  return fmt::format(
      "buffer x1[{0}] float32 in\nbuffer y[{0}] float32 out\n{1}for y.i0 {0} serial {{ store y[y.i0] = "
      "x1[y.i0] }}",
      size, note);
}

TEST(TuningTask, ProgramsThatDifferInSizesHaveOneStructure) {
  const TuningTask small = program_task("a", program_of(copy_of(8))),
                   large = program_task("b", program_of(copy_of(96)));
  EXPECT_EQ(small.structure, large.structure);
  EXPECT_THAT(small.sizes, ElementsAre(8, 8, 8)) << "names are no sizes";
  EXPECT_THAT(large.sizes, ElementsAre(96, 96, 96));
}

TEST(TuningTask, NotesDoNotCount) {
  const TuningTask plain = program_task("a", program_of(copy_of(8))),
                   noted = program_task("a", program_of(copy_of(8, "# a copy of 8\n")));
  EXPECT_EQ(plain.structure, noted.structure);
  EXPECT_EQ(plain.sizes, noted.sizes);
}

TEST(TuningTask, OtherProgramsHaveOtherStructures) {
  const loop::Program sum = program_of(
      "buffer x1[8] float32 in\nbuffer y[8] float32 out\nfor y.i0 8 serial { store y[y.i0] = x1[y.i0] + 1 }");
  EXPECT_NE(program_task("a", program_of(copy_of(8))).structure, program_task("a", sum).structure);
}

constexpr const char* kBuffers =
    "buffer x[4] float32 in\nbuffer w[4] float32 weight\nbuffer t[4] float32 temporary\nbuffer y[4] float32 out\n";
SplitProgram split_of(std::string_view first) {
  return split_before_runs(
      program_of(fmt::format("{}{}for y.i 4 serial {{ store y[y.i] = x[y.i] * t[y.i] }}\n", kBuffers, first)));
}

TEST(BeforeRuns, CopiesOfWeightsAreMadeOnce) {
  const SplitProgram split = split_of("for t.i 4 serial { store t[t.i] = w[3 - t.i] }\n");
  EXPECT_EQ(split.before.body.size(), 1);
  EXPECT_EQ(split.rest.body.size(), 1);
  EXPECT_EQ(split.before.buffers[2].role, BufferRole::kOutput);
  EXPECT_EQ(split.rest.buffers[2].role, BufferRole::kWeight);
}

TEST(BeforeRuns, WhatIsComputedOrDependsOnInputsIsNot) {
  for (const char* first :
       {"for t.i 4 serial { store t[t.i] = w[t.i] * 2 }\n", "for t.i 4 serial { store t[t.i] = x[t.i] }\n",
        "for t.i 4 serial { store t[t.i] = w[t.i] }\nfor t.j 4 serial { store t[t.j] = x[t.j] }\n"}) {
    const SplitProgram split = split_of(first);
    EXPECT_THAT(split.before.body, IsEmpty()) << first;
    EXPECT_EQ(split.rest.buffers[2].role, BufferRole::kTemporary) << first;
  }
}

}  // namespace
