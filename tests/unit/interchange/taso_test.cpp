// TASO's rule files: what is read from them, what is written, and what broken ones are told.
#include "interchange/taso.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <limits>
#include <random>
#include <sstream>

#include "support/taso_file.h"
#include "unit/rule/rules.h"

namespace rewright::testing {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::vector<TasoRule> read(const std::vector<taso::Entry>& entries) {
  auto rules = read_taso(taso::bytes(entries), "test.pb", loaded());
  if (!rules) fail(rules.error().message);
  return *std::move(rules);
}
std::string text_of(const TasoRule& rule) {
  return rule.instances.empty() ? rule.reason : to_text(rule.instances.front().rule);
}
std::vector<std::string> groups_of(const TasoRule& rule) {
  std::vector<std::string> groups;
  for (const TasoInstance& instance : rule.instances) groups.push_back(instance.groups);
  return groups;
}

void expect_golden(const std::string& name, const std::string& wanted) {
  const std::string path = REWRIGHT_SOURCE_DIR "/tests/golden/taso/" + name;
  std::ostringstream content;
  content << std::ifstream(path, std::ios::binary).rdbuf();
  if (std::getenv("REWRIGHT_WRITE_GOLDEN"))
    std::ofstream(path, std::ios::binary) << wanted;
  else
    EXPECT_EQ(content.str(), wanted) << "run this test with REWRIGHT_WRITE_GOLDEN=1, and look at what changes";
}

TEST(TasoFile, GoldenFilesAreWhatTheGeneratorWrites) {
  expect_golden("known.pb", taso::bytes(taso::known_entries()));
  expect_golden("groups.pb", taso::bytes(taso::grouped_entries()));
}

TEST(TasoFile, IsReadAsRulesOverAllSizes) {
  const auto rules = read(taso::known_entries());
  ASSERT_EQ(rules.size(), 14u) << "two entries have ranks that nothing decides";
  EXPECT_EQ(text_of(rules[0]), "(x1:2, x2:2, x3:2) matmul(x1, matmul(x2, x3)) => matmul(matmul(x1, x2), x3)");
  EXPECT_EQ(text_of(rules[5]),
            "(x1:4, x2:4) conv2d(x1, x2) => conv2d(x1, enlarge[kernel=[3, 3]](x2)) where x2.2 = 1, x2.3 = 1");
  EXPECT_EQ(text_of(rules[6]),
            "(x1:4) pool2d_avg[kernel=[3, 3]](x1) => conv2d(x1, constant_pool[sizes=[x1.1, x1.1, 3, 3]])");
  EXPECT_EQ(text_of(rules[7]), "(x1:2, x2:2) split[sizes=[x1.0, x2.0]](relu(concat(x1, x2))) => relu(x1), relu(x2)");
}
TEST(TasoFile, ReadsRanksThatNothingDecidesTwice) {
  const auto rules = read({taso::known_entries()[8]});
  ASSERT_EQ(rules.size(), 2u);
  EXPECT_EQ(text_of(rules[0]), "(x1:2, x2:2) ewadd(x1, x2) => ewadd(x2, x1)");
  EXPECT_EQ(text_of(rules[1]), "(x1:4, x2:4) ewadd(x1, x2) => ewadd(x2, x1)");
  EXPECT_EQ(rules[1].index, 0u);
}
TEST(TasoFile, LeavesGroupsOpenWhereTheFileDoes) {
  const auto rules = read(taso::known_entries());
  EXPECT_THAT(groups_of(rules[2]), ElementsAre("1, 1 => 1", "2, 2 => 2"));
  EXPECT_THAT(to_text(rules[2].instances[1].rule), HasSubstr("conv2d[groups=2](x1, x2)"));
  EXPECT_THAT(groups_of(rules[3]), ElementsAre("")) << "the file says how many groups";
  EXPECT_THAT(text_of(rules[3]), HasSubstr("conv2d[groups=2]"));
}
TEST(TasoFile, ReadsTheGroupsOfEachConvolutionFromItsShapes) {
  const auto rules = read(taso::grouped_entries());
  ASSERT_EQ(rules.size(), 6u);
  EXPECT_THAT(groups_of(rules[0]), ElementsAre("1, 1 => 2", "2, 1 => 3", "1, 2 => 3", "2, 2 => 4"));
  EXPECT_EQ(text_of(rules[0]),
            "(x1:4, x3:4, x2:4, x4:4) concat[axis=1](conv2d(x1, x3), conv2d(x2, x4)) => "
            "conv2d[groups=2](concat[axis=1](x1, x2), concat(x3, x4)) where 2 | x3.0 + x4.0, x1.1 = x2.1, "
            "x3.2 = x4.2, x3.3 = x4.3");
  EXPECT_THAT(groups_of(rules[2]), ElementsAre("2 => 1"));
  EXPECT_THAT(groups_of(rules[4]), Contains("1, 1, 1 => 3"));
}

TEST(TasoFile, SaysWhyAnEntryIsNoRule) {
  const taso::Operand x{-1}, first{0};
  const auto reason = [&](const taso::Entry& entry) { return read({entry})[0].reason; };
  EXPECT_THAT(reason(taso::known_entries()[11]), HasSubstr("target operator 0 (merge_gconv) has no counterpart"));
  EXPECT_THAT(reason({{{99, {x}}}, {{taso::kRelu, {x}}}, {{first, first}}}),
              HasSubstr("its type is 99, expected 0 to 25"));
  EXPECT_THAT(reason({{{taso::kRelu, {{3, 0}}}}, {{taso::kRelu, {x}}}, {{first, first}}}),
              HasSubstr("reads output 0 of operator 3, which is not made before it"));
  EXPECT_THAT(reason({{{taso::kRelu, {{std::numeric_limits<int>::min(), 0}}}}, {{taso::kRelu, {x}}}, {{first, first}}}),
              HasSubstr("reads output 0 of operator -2147483648"));
  EXPECT_THAT(reason({{{taso::kRelu, {x}}}, {{taso::kRelu, {x}}}, {{{7}, first}}}),
              HasSubstr("mapped from operator 7"));
  EXPECT_THAT(reason({{{taso::kRelu, {x}}}, {{taso::kRelu, {x}}}, {{{0, 4}, first}}}), HasSubstr("output 4 of source"));
  EXPECT_THAT(reason({{{taso::kConcat, {x, x}}}, {{taso::kRelu, {x}}}, {{first, first}}}),
              HasSubstr("has no parameter numdim"));
  EXPECT_THAT(reason({{{taso::kRelu, {x, x}}}, {{taso::kRelu, {x}}}, {{first, first}}}), HasSubstr("has 2 inputs"));
  EXPECT_THAT(
      reason(
          {{{taso::kTranspose, {x}, {{taso::kNumDim, 2}, {taso::kPerm, 3}}}}, {{taso::kRelu, {x}}}, {{first, first}}}),
      HasSubstr("perm is no permutation of 2 axes"));
}
TEST(TasoFile, ReadsOnesAndActivationsOfOtherOperators) {
  const taso::Operand x{-1}, y{-2}, first{0};
  // x * 1 = x, and relu within a product of matrices.
  const auto ones = read({{{{taso::kConstantOne, {}}, {taso::kMul, {x, first}}, {taso::kRelu, {{1, 0}}}},
                           {{taso::kRelu, {x}}},
                           {{{2, 0}, first}}}});
  EXPECT_THAT(text_of(ones[0]), ::testing::AllOf(HasSubstr("constant_one[sizes=["), HasSubstr("=> relu(x1)")));
  const auto product = read({{{{taso::kMatMul, {x, y}, {{taso::kActi, 2}}}},
                              {{taso::kMatMul, {x, y}, {{taso::kActi, 0}}}, {taso::kRelu, {first}}},
                              {{first, {1, 0}}}}});
  EXPECT_EQ(text_of(product[0]), "(x1:2, x2:2) relu(matmul(x1, x2)) => relu(matmul(x1, x2))");
}

TEST(TasoFile, RefusesSidesThatAreTooLargeOrNeverDefined) {
  const taso::Operand x{-1}, y{-2}, first{0};
  std::vector<taso::Op> many(70, {taso::kRelu, {x}});
  EXPECT_THAT(text_of(read({{many, {{taso::kRelu, {x}}}, {{first, first}}}})[0]),
              HasSubstr("a side has 70 operators; at most "));
  const auto conv = [](taso::Operand image, taso::Operand weight, int kernel) {
    return taso::Op{taso::kConv,
                    {image, weight},
                    {{taso::kGroup, 1},
                     {taso::kKernelH, kernel},
                     {taso::kKernelW, kernel},
                     {taso::kStrideH, 1},
                     {taso::kStrideW, 1},
                     {taso::kPad, 0},
                     {taso::kActi, 0}}};
  };
  const taso::Op enlarge{taso::kEnlarge, {y}, {{taso::kKernelH, 3}, {taso::kKernelW, 3}}};
  EXPECT_EQ(text_of(read({{{enlarge, conv(x, first, 5)}, {conv(x, y, 3)}, {{{1, 0}, first}}}})[0]),
            "no small sizes were found at which both sides are defined");
}

TEST(TasoFile, IsRefusedWhereAnOperatorOfThatNameHasOtherRanks) {
  Registry others;  // Their relu adds an axis.
  const Status loaded = others.load(REWRIGHT_BUILD_DIR "/tests/plugins/interchange/other_relu.so");
  ASSERT_TRUE(loaded) << loaded.error().message;
  const taso::Operand x{-1}, first{0}, second{1};
  const std::vector<taso::Entry> twice = {
      {{{taso::kRelu, {x}}}, {{taso::kRelu, {x}}, {taso::kRelu, {first}}}, {{first, second}}}};
  const auto rules = read_taso(taso::bytes(twice), "test.pb", others);
  ASSERT_TRUE(rules) << rules.error().message;
  EXPECT_EQ(text_of(rules->at(0)), "output 0 has rank 3 in the source and 4 in the target");
}

TEST(TasoFile, WithUnknownBytesIsRefusedInOneSentence) {
  const auto refused = read_taso("this is no protobuf file", "notes.txt", loaded());
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().message, HasSubstr("notes.txt: this is no rule file of TASO"));
}

/// Whatever the bytes, the answer is rules or a sentence.
TEST(TasoFile, DamagedInAnyWayNeitherCrashesNorHangs) {
  const std::string whole = taso::bytes(taso::known_entries());
  std::mt19937_64 random(7);
  for (std::size_t cut = 0; cut < whole.size(); cut += 3) (void)read_taso(whole.substr(0, cut), "cut.pb", loaded());
  int read_as_rules = 0;
  for (int round = 0; round < 400; ++round) {
    std::string damaged = whole;
    for (int i = 0; i < 1 + round % 5; ++i) damaged[random() % damaged.size()] = static_cast<char>(random());
    if (const auto rules = read_taso(damaged, "damaged.pb", loaded())) {
      ++read_as_rules;
      for (const TasoRule& rule : *rules) EXPECT_NE(rule.instances.empty(), rule.reason.empty());
    }
  }
  EXPECT_GT(read_as_rules, 20) << "damage inside numbers should pass the wire format";
  for (int round = 0; round < 200; ++round) {
    std::string noise(random() % 64, '\0');
    for (char& c : noise) c = static_cast<char>(random());
    (void)read_taso(noise, "noise.pb", loaded());
  }
}

TEST(TasoFile, ThatIsWrittenReadsBackAsTheSameRules) {
  std::vector<Rule> rules;
  for (const TasoRule& read_rule : read(taso::known_entries())) {
    if (!read_rule.instances.empty()) rules.push_back(read_rule.instances.front().rule);
  }
  const TasoFile file = write_taso(rules);
  EXPECT_EQ(file.written, rules.size());
  const auto again = read_taso(file.bytes, "again.pb", loaded());
  ASSERT_TRUE(again);
  std::set<std::string> ids;
  for (const TasoRule& read_rule : *again) {
    for (const TasoInstance& instance : read_rule.instances) ids.insert(instance.rule.id);
  }
  for (const Rule& rule : rules) EXPECT_TRUE(ids.contains(rule.id)) << to_text(rule);
}
TEST(TasoFile, NamesWhatItCannotSay) {
  const std::vector<Rule> rules = {
      rule("(x:2) transpose(transpose(x)) => x"),
      rule("(x:2) softmax[axis=0](x) => softmax[axis=0](relu(x))"),
      rule("(x:2, y:2) ewadd(x, y) => ewadd(y, x) where x.0 = 3"),
      rule("(x:4, w:4) conv2d[dilations=[2, 2]](x, w) => relu(conv2d[dilations=[2, 2]](x, w))"),
      rule("(x:4) pool2d_avg[kernel=[3, 3], count_include_pad=no](x) => "
           "relu(pool2d_avg[kernel=[3, 3], count_include_pad=no](x))"),
      rule("(x:4) pool2d_max[kernel=[3, 3], padding=explicit, pads=[1, 0, 1, 0]](x) => "
           "relu(pool2d_max[kernel=[3, 3], padding=explicit, pads=[1, 0, 1, 0]](x))")};
  const TasoFile file = write_taso(rules);
  EXPECT_EQ(file.written, 0u);
  EXPECT_EQ(file.left_out.at("dilations"), 1u);
  EXPECT_EQ(file.left_out.at("averages without the padding"), 1u);
  EXPECT_EQ(file.left_out.at("explicit padding"), 1u);
  EXPECT_EQ(file.left_out.at("an output that is an input"), 1u);
  EXPECT_EQ(file.left_out.at("operator softmax"), 1u);
  EXPECT_EQ(file.left_out.at("a condition on sizes"), 1u);
}

}  // namespace
}  // namespace rewright::testing
