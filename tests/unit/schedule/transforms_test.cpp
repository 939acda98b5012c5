// Each transform where it applies, and where it is refused: with what it needed, what it found, and an example.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "loop/validator.h"
#include "schedule/apply.h"

namespace {

using namespace rewright;
using namespace rewright::schedule;
using testing::HasSubstr;

loop::Program program_of(std::string_view text) {
  auto program = loop::parse_program(text);
  EXPECT_TRUE(program) << program.error().message;
  return *std::move(program);
}

/// The program after a schedule; "" and a failure where it is refused.
std::string scheduled(std::string_view program, std::string_view schedule) {
  const auto steps = parse_schedule(schedule);
  if (!steps) return ADD_FAILURE() << steps.error().message, "";
  const auto result = schedule::apply(program_of(program), *steps);
  if (!result) return ADD_FAILURE() << result.error().message, "";
  const auto valid = loop::validate(result->program);
  EXPECT_TRUE(valid) << valid.error().message << to_string(result->program);
  return to_string(result->program);
}
std::string refusal(std::string_view program, std::string_view schedule) {
  const auto steps = parse_schedule(schedule);
  if (!steps) return "cannot be read: " + steps.error().message;
  const auto result = schedule::apply(program_of(program), *steps);
  return result ? "" : result.error().message;
}
std::string same(std::string_view program) { return to_string(program_of(program)); }

constexpr const char* kCopy =
    "buffer x[10] float32 in\nbuffer y[10] float32 out\nfor y.i 10 serial { store y[y.i] = x[y.i] }";
constexpr const char* kProduct =
    "buffer a[6, 8] float32 in\nbuffer b[8, 5] float32 in\nbuffer c[6, 5] float32 out\n"
    "buffer s[] float32 temporary\n"
    "for c.i 6 serial { for c.j 5 serial { store s[] = 0\n"
    "for c.k 8 serial { store s[] += a[c.i, c.k] * b[c.k, c.j] }\nstore c[c.i, c.j] = max(s[], 0) } }";
constexpr const char* kSteps =
    "buffer x[9] float32 in\nbuffer y[9, 3] float32 out\nfor z.j 3 serial { store y[0, z.j] = x[0] }\n"
    "for y.j 3 serial { for y.i 8 serial { store y[y.i + 1, y.j] = y[y.i, y.j] + x[y.i + 1] } }";

TEST(Transforms, SplitDividesMasksOrCuts) {
  EXPECT_EQ(scheduled(kCopy, "split y.i 5"),
            same("buffer x[10] float32 in\nbuffer y[10] float32 out\n"
                 "for y.i/0 2 serial { for y.i/1 5 serial { store y[y.i/0*5 + y.i/1] = x[y.i/0*5 + y.i/1] } }"));
  EXPECT_EQ(scheduled(kCopy, "split y.i 4 tail=mask"),
            same("buffer x[10] float32 in\nbuffer y[10] float32 out\n"
                 "for y.i/0 3 serial { for y.i/1 4 serial { if y.i/0*4 + y.i/1 < 10 {\n"
                 "store y[y.i/0*4 + y.i/1] = x[y.i/0*4 + y.i/1] } } }"));
  EXPECT_EQ(scheduled(kCopy, "split y.i 4 tail=cut"),
            same("buffer x[10] float32 in\nbuffer y[10] float32 out\n"
                 "for y.i/0 2 serial { for y.i/1 4 serial { store y[y.i/0*4 + y.i/1] = x[y.i/0*4 + y.i/1] } }\n"
                 "for y.i/2 2 serial { store y[y.i/2 + 8] = x[y.i/2 + 8] }"));
  EXPECT_THAT(refusal(kCopy, "split y.i 4"), HasSubstr("a factor that divides the extent 10 of y.i"));
  EXPECT_THAT(refusal(kCopy, "split y.j 5"), HasSubstr("a loop y.j; there are the loops y.i"));
}

TEST(Transforms, WhatACutLeavesHasTemporariesOfItsOwn) {
  const std::string result = scheduled(kProduct, "split c.j 2 tail=cut; parallelise c.j/0");
  EXPECT_THAT(result, HasSubstr("buffer s_2[]"));
  EXPECT_THAT(result, HasSubstr("for c.k/2 8"));
}

TEST(Transforms, FuseMakesOneLoopOfTwo) {
  EXPECT_EQ(scheduled(kCopy, "split y.i 5; fuse y.i/0 y.i/1"),
            same("buffer x[10] float32 in\nbuffer y[10] float32 out\nfor y.i/0&y.i/1 10 serial {\n"
                 "store y[floor(y.i/0&y.i/1 / 5)*5 + y.i/0&y.i/1 mod 5] ="
                 " x[floor(y.i/0&y.i/1 / 5)*5 + y.i/0&y.i/1 mod 5] }"));
  EXPECT_THAT(refusal(kProduct, "fuse c.j c.k"), HasSubstr("c.k alone in c.j"));
  EXPECT_THAT(refusal(kProduct, "parallelise c.i; fuse c.i c.j"), HasSubstr("loops of one kind"));
  EXPECT_THAT(scheduled(kProduct, "parallelise c.i; parallelise c.j; fuse c.i c.j"),
              HasSubstr("for c.i&c.j 30 parallel"));
}

TEST(Transforms, ReorderKeepsWhatDependsOnEachOtherInOrder) {
  EXPECT_THAT(scheduled(kSteps, "reorder y.i y.j"), HasSubstr("for y.i 8 serial {\n  for y.j 3 serial"));
  const char* const kSkewed =
      "buffer y[5, 5] float32 out\nfor z.i 5 serial { store y[0, z.i] = 1 }\n"
      "for w.i 4 serial { store y[w.i + 1, 4] = 1 }\n"
      "for y.i 4 serial { for y.j 4 serial { store y[y.i + 1, y.j] = y[y.i, y.j + 1] } }";
  const std::string refused = refusal(kSkewed, "reorder y.j y.i");
  EXPECT_THAT(refused, HasSubstr("iterations of y.i that touch the same elements of y"));
  EXPECT_THAT(refused, HasSubstr("y.i = 0, y.j = 1 writes y[1, 1]; y.i = 1, y.j = 0 reads y[1, 1]"));
  EXPECT_THAT(refusal(kProduct, "reorder c.k c.j"), HasSubstr("distribute takes these apart"));
  EXPECT_THAT(refusal(kProduct, "reorder c.i c.i"), HasSubstr("different loops"));
}

TEST(Transforms, DistributeGivesEachStatementItsLoop) {
  EXPECT_EQ(scheduled(kProduct, "distribute c.j; reorder c.k c.j"),
            same("buffer a[6, 8] float32 in\nbuffer b[8, 5] float32 in\nbuffer c[6, 5] float32 out\n"
                 "buffer s[5] float32 temporary\nfor c.i 6 serial {\n"
                 "for c.j/3 5 serial { store s[c.j/3] = 0 }\n"
                 "for c.k 8 serial { for c.j 5 serial { store s[c.j] += a[c.i, c.k] * b[c.k, c.j] } }\n"
                 "for c.j/4 5 serial { store c[c.i, c.j/4] = max(s[c.j/4], 0) } }"));
  const char* const kBackwards =
      "buffer y[6] float32 out\nbuffer t[6] float32 out\nstore y[0] = 0\n"
      "for t.i 5 serial { store t[t.i] = y[t.i] store y[t.i + 1] = t[t.i] } store t[5] = 1";
  EXPECT_THAT(refusal(kBackwards, "distribute t.i"), HasSubstr("of which none needs a later one"));
  EXPECT_THAT(refusal(kCopy, "distribute y.i"), HasSubstr("several statements in y.i"));
}

TEST(Transforms, MarksNeedIterationsThatDoNotDependOnEachOther) {
  EXPECT_THAT(scheduled(kProduct, "parallelise c.i"), HasSubstr("for c.i 6 parallel"));
  EXPECT_THAT(refusal(kProduct, "parallelise c.k"),
              HasSubstr("c.k = 0 writes s[]; c.i = 0, c.j = 0, c.k = 1 writes s[]"));
  EXPECT_THAT(refusal(kSteps, "parallelise y.i"), HasSubstr("do not depend on each other"));
  EXPECT_THAT(scheduled(kCopy, "split y.i 5; vectorise y.i/1"), HasSubstr("for y.i/1 5 vector"));
  EXPECT_THAT(refusal(kProduct, "vectorise c.j"), HasSubstr("a loop without loops in it"));
  EXPECT_THAT(scheduled(kProduct, "unroll c.k"), HasSubstr("for c.k 8 unroll"));
  EXPECT_THAT(refusal("buffer y[100] float32 out\nfor y.i 100 serial { store y[y.i] = 0 }", "unroll y.i"),
              HasSubstr("at most 64"));
}

TEST(Transforms, CacheCopiesWhatAnIterationReads) {
  const std::string result = scheduled(kProduct, "split c.k 4; cache a c.i row");
  EXPECT_THAT(result, HasSubstr("buffer row[1, 8]"));
  EXPECT_THAT(result, HasSubstr("store row[0, row.d1] = a[c.i, row.d1]"));
  EXPECT_THAT(result, HasSubstr("row[0, c.k/0*4 + c.k/1]"));
  EXPECT_THAT(refusal(kSteps, "cache y y.j t"), HasSubstr("a store to it"));
  EXPECT_THAT(refusal(kProduct, "cache d c.i t"), HasSubstr("a buffer d"));
  EXPECT_THAT(refusal(kProduct, "cache a c.i b"), HasSubstr("a word that is no buffer's name"));
}

constexpr const char* kBlur =
    "buffer x[12] float32 in\nbuffer y[10] float32 out\nbuffer t[12] float32 temporary\nbuffer s[] float32 temporary\n"
    "for t.i 12 serial { store s[] = 0\nfor t.k 2 serial { store s[] += x[t.i] }\nstore t[t.i] = s[] }\n"
    "for y.i 10 serial { store y[y.i] = t[y.i] + t[y.i + 2] }";

TEST(Transforms, ComputeAtComputesWhatAnIterationReads) {
  EXPECT_THAT(refusal(kBlur, "compute-at t y.i u"), HasSubstr("several"));
  const std::string one =
      "buffer x[12] float32 in\nbuffer y[12] float32 out\nbuffer t[12] float32 temporary\nbuffer s[] float32 "
      "temporary\nfor t.i 12 serial { store s[] = 0\nfor t.k 2 serial { store s[] += x[t.i] }\nstore t[t.i] = s[] }\n"
      "for y.i 12 serial { store y[y.i] = t[y.i] * 2 }";
  const std::string result = scheduled(one, "split y.i 4; compute-at t y.i/0 u");
  EXPECT_THAT(result, HasSubstr("buffer u[4]"));
  EXPECT_THAT(result, HasSubstr("store u[t.i/0] = s_2[]"));
  EXPECT_THAT(result, HasSubstr("x[y.i/0*4 + t.i/0]"));
  EXPECT_THAT(result, HasSubstr("u[y.i/1] * 2"));
  EXPECT_THAT(result, testing::Not(HasSubstr("for t.i 12"))) << "nothing else reads t";
  const std::string read_twice = one + "\nfor z.i 12 serial { store z[z.i] = t[z.i] }";
  EXPECT_THAT(refusal("buffer z[12] float32 out\n" + read_twice, "compute-at t y.i u; split t.i 4"),
              HasSubstr("names t.i/0 and t.i/1 that no loop has"));
  EXPECT_THAT(refusal(one, "compute-at x y.i u"), HasSubstr("none"));
  EXPECT_THAT(refusal(one, "compute-at x t.i u"), HasSubstr("x, which is no temporary"));
  EXPECT_THAT(refusal(kSteps, "compute-at y y.j u"), HasSubstr("a store to it"));
}

constexpr const char* kSum =
    "buffer x[4, 16] float32 in\nbuffer y[4] float32 out\n"
    "for y.i 4 serial { store y[y.i] = 0\nfor y.k 16 serial { store y[y.i] += x[y.i, y.k] } }";

TEST(Transforms, CacheWriteKeepsWhatAnIterationWritesUntilItsEnd) {
  EXPECT_EQ(scheduled(kSum, "cache-write y y.i acc"),
            same("buffer x[4, 16] float32 in\nbuffer y[4] float32 out\nbuffer acc[1] float32 temporary\n"
                 "for y.i 4 serial { store acc[0] = 0\nfor y.k 16 serial { store acc[0] += x[y.i, y.k] }\n"
                 "store y[y.i] = acc[0] }"));
  const std::string tile = scheduled(
      kProduct, "split c.j 5; distribute c.j/1; reorder c.k c.j/1; cache-write c c.j/0 tile; parallelise c.i");
  EXPECT_THAT(tile, HasSubstr("buffer tile[1, 5]"));
  EXPECT_THAT(tile, HasSubstr("store c[c.i, c.j/0*5 + tile.d1] = tile[0, tile.d1]"));
  EXPECT_THAT(refusal(kProduct, "cache-write c c.k t"), HasSubstr("stores to c in c.k"));
  EXPECT_THAT(refusal(kProduct, "cache-write s c.j t"), HasSubstr("a buffer that outlives an iteration of c.j"));
  EXPECT_THAT(refusal(kSteps, "cache-write y y.i t"), HasSubstr("several"));
}

TEST(Transforms, CacheWriteCopiesOldValuesOrSumsUpNewOnes) {
  const std::string of_output = scheduled(kSum, "split y.k 4; cache-write y y.k/0 acc");
  EXPECT_THAT(of_output, HasSubstr("store acc[0] = 0"));
  EXPECT_THAT(of_output, HasSubstr("store y[y.i] += acc[0]"));
  const std::string of_temporary = scheduled(kProduct, "split c.k 4; cache-write s c.k/0 acc");
  EXPECT_THAT(of_temporary, HasSubstr("store acc[] = s[]"));
  EXPECT_THAT(of_temporary, HasSubstr("store s[] = acc[]"));
  const char* const kLate =
      "buffer x[4] float32 in\nbuffer y[4] float32 out\nbuffer t[4] float32 temporary\n"
      "for t.i 4 serial { store t[t.i] = 0 }\n"
      "for r.i 2 serial { for r.k 4 serial { store t[r.k] += x[r.k] store t[r.k] = t[r.k] * 2 } }\n"
      "for y.i 4 serial { store y[y.i] = t[y.i] }";
  EXPECT_THAT(refusal(kLate, "cache-write t r.i u"), HasSubstr("elements that are set later"));
}

TEST(Transforms, ReductionFactorSumsUpInParts) {
  EXPECT_EQ(scheduled(kSum, "split y.k 8; rfactor y.k/1 part; vectorise y.k/1"),
            same("buffer x[4, 16] float32 in\nbuffer y[4] float32 out\nbuffer part[8, 1] float32 temporary\n"
                 "for y.i 4 serial { store y[y.i] = 0\n"
                 "for part.i0 8 serial { store part[part.i0, 0] = 0 }\n"
                 "for y.k/0 2 serial { for y.k/1 8 vector { store part[y.k/1, 0] += x[y.i, y.k/0*8 + y.k/1] } }\n"
                 "for part.d0 8 serial { store y[y.i] += part[part.d0, 0] } }"));
  EXPECT_THAT(scheduled(kProduct, "rfactor c.k part; parallelise c.k"), HasSubstr("store part[c.k] += a[c.i, c.k]"));
  EXPECT_THAT(refusal(kProduct, "rfactor c.i part"), HasSubstr("one place that iterations of c.i update"));
  EXPECT_THAT(refusal(kSteps, "rfactor y.i part"), HasSubstr("none that they do not set or read too"));
  EXPECT_THAT(refusal(kSum, "split y.k 5 tail=mask; rfactor y.k/1 part"), HasSubstr("a condition does not hold"));
}

TEST(Transforms, TensoriseFindsARegisterTile) {
  const char* const kTile =
      "buffer a[64, 8] float32 in\nbuffer b[8, 16] float32 in\nbuffer c[64, 16] float32 out\n"
      "for c.i 64 serial { for c.j 16 serial { store c[c.i, c.j] = 0\n"
      "for c.k 8 serial { store c[c.i, c.j] += a[c.i, c.k] * b[c.k, c.j] } } }";
  const std::string sorted =
      "split c.i 4; reorder c.i/0 c.i/1 c.j; distribute c.j; distribute c.i/1; reorder c.k c.i/1 c.j";
  EXPECT_EQ(scheduled(kTile, sorted + "; tensorise c.k outer-product"),
            scheduled(kTile, sorted + "; unroll c.i/1; vectorise c.j"));
  EXPECT_THAT(refusal(kTile, "tensorise c.k outer-product"), HasSubstr("0 of them"));
  EXPECT_THAT(refusal(kTile, sorted + "; tensorise c.k products"), HasSubstr("2 of them"));
  EXPECT_THAT(refusal(kTile, sorted + "; tensorise c.i/0 outer-product"), HasSubstr("found other statements"));
  EXPECT_THAT(refusal(kTile, sorted + "; reorder c.k c.j c.i/1; tensorise c.k outer-product"),
              HasSubstr("sums that do not lie beside each other along c.i/1"));
  const char* const kDepthwise =
      "buffer x[3, 8] float32 in\nbuffer w[3, 8] float32 in\nbuffer y[8] float32 out\n"
      "for y.c 8 serial { store y[y.c] = 0 }\n"
      "for y.k 3 serial { for y.d 8 serial { store y[y.d] += x[y.k, y.d] * w[y.k, y.d] } }";
  EXPECT_EQ(scheduled(kDepthwise, "tensorise y.k products"), scheduled(kDepthwise, "vectorise y.d"));
  EXPECT_THAT(refusal(kDepthwise, "tensorise y.d products"), HasSubstr("found 0 of them"));
  const auto with = [&](std::string_view before, std::string_view after) {
    std::string text = kDepthwise;
    return text.replace(text.find(before), before.size(), after);
  };
  EXPECT_THAT(refusal(with("+= x", "max= x"), "tensorise y.k products"), HasSubstr("another statement"));
  EXPECT_THAT(refusal(with("x[y.k, y.d] * w", "x[y.k, 0] * w"), "tensorise y.k products"),
              HasSubstr("along the lanes"));
  EXPECT_THAT(refusal(with("store y[y.d] += x", "store y[y.d - y.k + y.k] += x"), "tensorise y.d outer-product"),
              HasSubstr("0 of them"));
  EXPECT_THAT(scheduled(with("w[y.k, y.d] }", "w[y.k, 7 - y.d] }"), "tensorise y.k products or skip"),
              HasSubstr("for y.d 8 serial"));
}

TEST(Transforms, InlineComputesWhereItIsRead) {
  const char* const kTwo =
      "buffer x[12] float32 in\nbuffer y[10] float32 out\nbuffer t[12] float32 temporary\n"
      "for t.i 12 serial { store t[t.i] = exp(x[t.i]) }\n"
      "for y.i 10 serial { store y[y.i] = t[y.i] + t[y.i + 2] }";
  const std::string wanted = same(
      "buffer x[12] float32 in\nbuffer y[10] float32 out\n"
      "for y.i 10 serial { store y[y.i] = exp(x[y.i]) + exp(x[y.i + 2]) }");
  EXPECT_EQ(scheduled(kTwo, "inline t"), wanted);
  EXPECT_EQ(scheduled(kTwo, "split t.i 4; inline t"), wanted);
  EXPECT_THAT(scheduled(kTwo, "split y.i 5; inline t"), HasSubstr("exp(x[y.i/0*5 + y.i/1 + 2])"));
  EXPECT_THAT(refusal(kProduct, "inline s"), HasSubstr("updates, as of a reduction"));
  EXPECT_THAT(refusal(kTwo, "inline x"), HasSubstr("x, which is no temporary"));
  const std::string overwritten = refusal(
      "buffer y[4] float32 out\nbuffer t[4] float32 temporary\nbuffer u[4] float32 temporary\n"
      "for u.i 4 serial { store u[u.i] = 1 }\nfor t.i 4 serial { store t[t.i] = u[t.i] }\n"
      "for v.i 4 serial { store u[v.i] = 2 }\nfor y.i 4 serial { store y[y.i] = t[y.i] + u[y.i] }",
      "inline t");
  EXPECT_THAT(overwritten, HasSubstr("a later store to u"));
}

TEST(Transforms, PackGivesABufferAnotherLayout) {
  EXPECT_EQ(scheduled("buffer w[4, 6] float32 weight\nbuffer y[6, 4] float32 out\n"
                      "for y.i 6 serial { for y.k 4 serial { store y[y.i, y.k] = w[y.k, y.i] } }",
                      "split y.i 3; pack w wp 1/3 0 1%3"),
            same("buffer w[4, 6] float32 weight\nbuffer y[6, 4] float32 out\nbuffer wp[2, 4, 3] float32 temporary\n"
                 "# wp = w in blocks: once, as a weight does not change\n"
                 "for wp.d0 2 serial { for wp.d1 4 serial { for wp.d2 3 serial {\n"
                 "store wp[wp.d0, wp.d1, wp.d2] = w[wp.d1, wp.d0*3 + wp.d2] } } }\n"
                 "for y.i/0 2 serial { for y.i/1 3 serial { for y.k 4 serial {\n"
                 "store y[y.i/0*3 + y.i/1, y.k] = wp[y.i/0, y.k, y.i/1] } } }"));
  EXPECT_THAT(scheduled(kBlur, "pack t u 0%4 0/4"), HasSubstr("store u[t.i mod 4, floor(t.i / 4)] = s[]"));
  EXPECT_THAT(scheduled(kBlur, "pack t u 0/5 0%5 pad"), HasSubstr("store u[u.d0, u.d1] = 0"));
  EXPECT_THAT(refusal(kBlur, "pack t u 0/5 0%5"), HasSubstr("a factor that divides the size 12 of t, or pad"));
  EXPECT_THAT(refusal(kBlur, "pack t u 0/4 0%2"), HasSubstr("dimension 0 of t once, as 0 or as 0/F and 0%F"));
  EXPECT_THAT(refusal(kBlur, "pack t u 1"), HasSubstr("dimensions of t, of which there are 1"));
  EXPECT_THAT(refusal(kBlur, "pack y u 0"), HasSubstr("y, an output"));
}

TEST(Transforms, PaddedTilesComputeInTemporariesAlone) {
  const std::string result =
      scheduled(kProduct, "pack b p 1/2 0 1%2 pad; split c.j 2 tail=pad; distribute c.j/1; reorder c.k c.j/1");
  EXPECT_THAT(result, HasSubstr("select(index(p.d0*2 + p.d2) < 5, b[p.d1, p.d0*2 + p.d2], 0)"));
  EXPECT_THAT(result, HasSubstr("for c.j/1 2 serial {\n        store s[c.j/1] += a[c.i, c.k] * p["));
  EXPECT_THAT(result, HasSubstr("if c.j/0*2 + c.j/1/4 < 5 {"));
  EXPECT_THAT(refusal(kProduct, "split c.j 2 tail=pad"), HasSubstr("one of b that may not"));
}

TEST(Transforms, OverlappingTilesStoreWhatIsNew) {
  const std::string result = scheduled(kProduct, "split c.j 2 tail=overlap; parallelise c.i");
  EXPECT_THAT(result, HasSubstr("for c.j/2 2 serial {\n    store s_2[] = 0"));
  EXPECT_THAT(result, HasSubstr("if 4 <= c.j/2 + 3 {\n      store c[c.i, c.j/2 + 3] = max(s_2[], 0)"));
  const char* const kGather =
      "buffer x[5] int64 in\nbuffer y[5] float32 out\nbuffer t[] int64 temporary\n"
      "for y.i 5 serial { store t[] = x[y.i]\nstore y[y.i] = index(data(t[], 0, 9)) }";
  EXPECT_THAT(refusal(kGather, "split y.i 2 tail=overlap"), HasSubstr("one of t, which is computed"));
  EXPECT_THAT(refusal(kProduct, "split c.j 6 tail=overlap"), HasSubstr("a factor of at most the extent 5 of c.j"));
  EXPECT_THAT(scheduled(kSum, "split y.k 7 tail=overlap"), HasSubstr("if 14 <= y.k/2 + 9 {"));
}

TEST(Schedules, GoOnWithoutWhatDoesNotApplyIfTheySaySo) {
  const auto steps =
      *parse_schedule("split c.j 5; vectorise c.j or retarget; unroll c.z or skip; parallelise c.j or retarget");
  const auto result =
      schedule::apply(program_of("buffer c[15] float32 out\nfor c.j 15 serial { store c[c.j] = 0 }"), steps);
  ASSERT_TRUE(result) << result.error().message;
  ASSERT_EQ(result->deviations.size(), 3);
  EXPECT_EQ(result->deviations[0].instead, "vectorise c.j/1");
  EXPECT_EQ(result->deviations[1].instead, "");
  EXPECT_EQ(result->deviations[2].instead, "parallelise c.j/0");
  EXPECT_THAT(refusal(kProduct, "split c.j 5; vectorise c.j"), HasSubstr("step 2, vectorise c.j: it needs a loop c.j"));
}

TEST(Schedules, AreReadBackAsTheyWereWritten) {
  const std::string text =
      "split c.j 16 tail=cut\nsplit c.i 6 tail=mask or skip\nfuse c.i/0 c.j/0\nreorder c.k c.i/1 c.j/1\ndistribute "
      "c.j/1\n"
      "serial c.i\nparallelise c.i&c.j/0 or retarget\nvectorise c.j/1\nunroll c.i/1\ncache b c.k panel\ncompute-at t "
      "c.i u\ncache-write c c.i tile\nrfactor c.k/1 part or skip\ninline t\n"
      "pack w wp 1/16 0 1%16 pad\npack t u 1 0\nsplit c.j 7 tail=pad\nsplit c.j 7 tail=overlap\n";
  const auto read = parse_schedule(text);
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(to_string(*read), text);
  EXPECT_EQ(*parse_schedule("# nothing\n\n  split c.j 16 tail=cut ; ;"), Schedule({read->front()}));
}

TEST(Schedules, ThatCannotBeReadSayWhere) {
  for (const auto& [text, why] : std::vector<std::pair<const char*, const char*>>{
           {"split c.j 0", "1: expected a factor of at least 1, found '0'"},
           {"split c.j", "1: expected a factor, found 'the end of the step'"},
           {"\nsplit cj 2", "2: expected a loop (stage.axis"},
           {"splitt c.j 2", "found 'splitt'"},
           {"split c.j 2 tail=none", "found 'tail=none'"},
           {"split c.j 2 tail=cut more", "expected the end of the step, found 'more'"},
           {"pack w v 1/0", "expected a dimension, or one / or % a factor (1, 1/16, 1%16), found '1/0'"},
           {"pack w v pad 1", "found 'pad'"},
           {"reorder c.j", "two loops or more, found 'one'"},
           {"unroll c.j or else", "expected fail, skip or retarget, found 'else'"}}) {
    const auto read = parse_schedule(text);
    ASSERT_FALSE(read) << text;
    EXPECT_THAT(read.error().message, HasSubstr(why));
  }
}

TEST(Schedules, IndependentTransformsCommute) {
  EXPECT_EQ(scheduled(kSteps, "split y.i 4; reorder y.i/0 y.j"), scheduled(kSteps, "split y.i 4; reorder y.i/0 y.j"));
  const char* const kNest =
      "buffer x[4, 6, 8] float32 in\nbuffer y[4, 6, 8] float32 out\n"
      "for y.i 4 serial { for y.j 6 serial { for y.k 8 serial { store y[y.i, y.j, y.k] = x[y.i, y.j, y.k] } } }";
  EXPECT_EQ(scheduled(kNest, "split y.i 2; reorder y.k y.j"), scheduled(kNest, "reorder y.k y.j; split y.i 2"));
  EXPECT_EQ(scheduled(kNest, "split y.k 4; parallelise y.i"), scheduled(kNest, "parallelise y.i; split y.k 4"));
}

}  // namespace
