// Families: which parameters of a rule may be free, and whether members hold.
#include <rewright/egraph/prover.h>
#include <rewright/verify/certificate.h>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "campaign/family_members.h"
#include "campaign/rule_source.h"
#include "unit/verify/rules.h"

namespace rewright {
namespace {

namespace fs = std::filesystem;
using test::axioms;
using test::plugins;
using testing::Contains;
using testing::HasSubstr;
using testing::Not;

Rule proved(std::string_view text) {
  Rule rule = test::rule(text);
  EqualityProver prover(axioms().axioms());
  SaturationLimits limits;
  limits.assume = false;
  auto proof = prover.prove(rule, limits);
  if (!proof) fail(fmt::format("{}: {}", text, proof.error().message));
  rule.certificate = proof->certificate;
  return rule;
}
Result<Rule> member(std::string_view text, const std::vector<ParamText>& free, const std::vector<std::string>& values) {
  CertificateChecker checker(axioms().axioms(), plugins());
  return Family(proved(text), free, axioms().axioms(), plugins()).member(values, checker);
}
std::vector<ParamText> free_of(std::string_view text) {
  CertificateChecker checker(axioms().axioms(), plugins());
  return free_parameters(proved(text), axioms().axioms(), plugins(), checker);
}
std::string text_or_error(const Result<Rule>& rule) { return rule ? to_text(*rule) : "error: " + rule.error().message; }

TEST(Family, HasAMemberForEveryAxis) {
  constexpr const char* kRule = "(x:3, y:3) concat(relu(x), relu(y)) => relu(concat(x, y))";
  EXPECT_EQ(text_or_error(member(kRule, {{"axis", "0"}}, {"2"})),
            "(x:3, y:3) concat[axis=2](relu(x), relu(y)) => relu(concat[axis=2](x, y))");
  EXPECT_THAT(text_or_error(member(kRule, {{"axis", "0"}}, {"3"})), HasSubstr("error"));
}
TEST(Family, MovesSizesWithTheirAxis) {
  EXPECT_EQ(text_or_error(member("(x:2, y:2) split[sizes=[x.0, y.0]](concat(x, y)) => x, y", {{"axis", "0"}}, {"1"})),
            "(x:2, y:2) split[axis=1, sizes=[x.1, y.1]](concat[axis=1](x, y)) => x, y");
}
TEST(Family, ExchangesTwoAxes) {
  const auto exchanged = member(
      "(a:2, b:2, c:2, d:2) concat(concat[axis=1](a, b), concat[axis=1](c, d)) => concat[axis=1](concat(a, c), "
      "concat(b, d)) where a.0 = b.0, c.0 = d.0, a.1 = c.1",
      {{"axis", "0"}, {"axis", "1"}}, {"1", "0"});
  EXPECT_THAT(text_or_error(exchanged),
              HasSubstr("concat[axis=1](concat(a, b), concat(c, d)) => concat(concat[axis=1]"));
}
TEST(Family, FindsTheConditionsOfAMemberAnew) {
  constexpr const char* kRule = "(x:4, y:4, w:4) concat(conv2d(x, w), conv2d(y, w)) => conv2d(concat(x, y), w)";
  EXPECT_EQ(text_or_error(member(kRule, {{"padding", "same"}}, {"valid"})),
            "(x:4, y:4, w:4) concat(conv2d[padding=valid](x, w), conv2d[padding=valid](y, w)) => "
            "conv2d[padding=valid](concat(x, y), w)");
}
TEST(Family, HasNoMemberWhereTheProofDoesNotHold) {
  // With two groups each half of the output channels reads half of the input channels.
  constexpr const char* kRule =
      "(x:4, y:4, z:4) concat[axis=1](conv2d(x, y), conv2d(x, z)) => conv2d(x, concat(y, z)) "
      "where y.2 = z.2, y.3 = z.3";
  EXPECT_THAT(text_or_error(member(kRule, {{"groups", "1"}}, {"2"})), HasSubstr("error"));
  EXPECT_THAT(free_of(kRule), Contains(ParamText("strides", "[1, 1]")));
  EXPECT_THAT(free_of(kRule), Not(Contains(ParamText("groups", "1"))));
}
TEST(Family, LeavesFreeWhatTheProofDoesNotAskFor) {
  const auto free =
      free_of("(x:4, w:4, v:4) ewadd(conv2d(x, w), conv2d(x, v)) => conv2d(x, ewadd(w, v)) where w.2 = v.2, w.3 = v.3");
  for (const char* name : {"strides", "padding", "pads", "dilations", "groups"})
    EXPECT_TRUE(std::ranges::any_of(free, [&](const ParamText& param) { return param.first == name; })) << name;
  EXPECT_THAT(free, Not(Contains(ParamText("activation", "none"))));
  EXPECT_EQ(
      to_text(free_of("(x:4, y:4) pool2d_max[kernel=[3, 3]](concat(x, y)) => concat(pool2d_max[kernel=[3, 3]](x), "
                      "pool2d_max[kernel=[3, 3]](y))")),
      "kernel=[3, 3]; strides=[1, 1]; padding=same; pads=[0, 0, 0, 0]");
  EXPECT_EQ(to_text(free_of("(x:2, y:2) ewadd(x, ewadd(x, y)) => ewadd(y, ewadd(x, x))")), "rank=2");
  EXPECT_EQ(to_text(free_of("(x:2, y:2, z:2) matmul(matmul(x, y), z) => matmul(x, matmul(y, z))")), "rank=2");
}
TEST(Family, GivesTheMembersThatAGraphAsksFor) {
  const Rule rule =
      proved("(x:4, w:4, v:4) ewadd(conv2d(x, w), conv2d(x, v)) => conv2d(x, ewadd(w, v)) where w.2 = v.2, w.3 = v.3");
  CertificateChecker checker(axioms().axioms(), plugins());
  const Family family(rule, free_parameters(rule, axioms().axioms(), plugins(), checker), axioms().axioms(), plugins());
  ParameterUses uses;
  EXPECT_TRUE(members_for(family, uses).empty());
  uses.add(
      test::rule("(x:4, w:4, y:4) ewadd(conv2d[strides=[2, 2], padding=valid](x, w), y) => ewadd(y, "
                 "conv2d[strides=[2, 2], padding=valid](x, w))"));
  const auto members = members_for(family, uses);
  ASSERT_EQ(members.size(), 1u);
  const auto found = family.member(members[0], checker);
  ASSERT_TRUE(found) << found.error().message;
  EXPECT_THAT(to_text(*found), HasSubstr("conv2d[strides=[2, 2], padding=valid](x, ewadd(w, v))"));
  // An operator that the graph lacks asks for nothing.
  ParameterUses other;
  other.add(test::rule("(x:4, w:4) conv2d[strides=[2, 2]](x, w) => conv2d[strides=[2, 2]](x, w)"));
  EXPECT_TRUE(members_for(family, other).empty());
}

constexpr const char* kLibrary = REWRIGHT_SOURCE_DIR "/experiments/library/library.rules";

/// Every member at parameters that no rule of the library has: replayed, and never refuted.
TEST(FamilyProperty, NoMemberOfTheProgramsOwnLibraryIsRefuted) {
  ParameterUses uses;
  for (const char* text :
       {"(x:4, w:4, y:4) ewadd(conv2d[strides=[2, 2], padding=valid](x, w), relu(y)) => ewadd(relu(y), "
        "conv2d[strides=[2, 2], padding=valid](x, w))",
        "(x:4, w:4, s:0) smul(conv2d[groups=2](x, w), s) => smul(conv2d[groups=2](x, w), s)",
        "(x:4, y:4) pool2d_max[kernel=[2, 2], strides=[2, 2], padding=valid](concat[axis=3](x, y)) => "
        "pool2d_max[kernel=[2, 2], strides=[2, 2], padding=valid](concat[axis=3](x, y))",
        "(x:3, y:3) ewmul(split[axis=2, sizes=[x.2, y.2]](concat[axis=2](x, y))) => ewmul(x, y)"})
    uses.add(test::rule(text));
  const auto base = read_rule_source(kLibrary, plugins());
  const auto all = read_rule_source(kLibrary, plugins(), uses);
  ASSERT_TRUE(base && all);
  EXPECT_GT(all->size(), base->size() + 100);
  std::size_t asked = 0;
  for (std::size_t i = base->size(); i < all->size(); i += 3) {
    EXPECT_EQ((*all)[i].trust, Trust::kCertificate);
    EXPECT_NE(test::ask("evaluate", (*all)[i]).kind, VerdictKind::kRefuted) << to_text((*all)[i]);
    ++asked;
  }
  EXPECT_GT(asked, 40u);
}

class FamilyFile : public testing::Test {
 protected:
  ~FamilyFile() override { fs::remove(file_); }
  Result<std::vector<Rule>> read(const std::string& lines) {
    const Rule rule = proved("(x:2, y:2) concat(relu(x), relu(y)) => relu(concat(x, y))");
    std::ofstream(file_) << "axioms " << REWRIGHT_SOURCE_DIR << "/axioms/elementwise.smt2\naxioms "
                         << REWRIGHT_SOURCE_DIR << "/axioms/layout.smt2\n\nrule " << to_text(rule) << "\n"
                         << lines << rule.certificate;
    return read_rule_source(file_.string(), plugins());
  }
  fs::path file_ = fs::temp_directory_path() / fmt::format("rewright-family-{}.rules", ::getpid());
};

TEST_F(FamilyFile, GivesTheRuleAndTheMembersThatItNames) {
  const auto rules = read("any axis=0; rank=2\nmember axis=1; rank=2\nmember axis=0; rank=4\n");
  ASSERT_TRUE(rules) << rules.error().message;
  ASSERT_EQ(rules->size(), 3u);
  EXPECT_EQ(to_text((*rules)[1]), "(x:2, y:2) concat[axis=1](relu(x), relu(y)) => relu(concat[axis=1](x, y))");
  EXPECT_EQ(to_text((*rules)[2]), "(x:4, y:4) concat(relu(x), relu(y)) => relu(concat(x, y))");
}
TEST_F(FamilyFile, WithAMemberThatIsNotProvedIsRefusedWithItsLine) {
  EXPECT_THAT(read("any axis=0\nmember axis=2\n").error().message,
              HasSubstr(":4: the proof is rejected for the member axis=2"));
  EXPECT_THAT(read("any axis=0\nmember rank=2\n").error().message,
              HasSubstr(":4: the member rank=2 does not have the parameters of axis=0, in this order"));
  EXPECT_THAT(read("any axis\n").error().message, HasSubstr(":4: found 'axis', expected NAME=VALUE"));
}

}  // namespace
}  // namespace rewright
