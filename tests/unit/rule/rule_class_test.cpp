// What rules do to floating-point numbers: exact, reassociating, range-changing.
#include "rule/rule_class.h"

#include <gtest/gtest.h>

#include "rules.h"

namespace rewright::testing {
namespace {

std::string class_of(std::string_view text) { return std::string(name_of(classify(rule(text)))); }

struct Claim {
  const char* rule;
  const char* rule_class;
};

class RuleClasses : public ::testing::TestWithParam<Claim> {};

TEST_P(RuleClasses, AreDerivedFromBothSides) {
  EXPECT_EQ(class_of(GetParam().rule), GetParam().rule_class);
  EXPECT_EQ(is_range_changing(rule(GetParam().rule)), GetParam().rule_class == std::string("range-changing"));
}

constexpr Claim kExact[] = {
    {"(x:2, y:2) ewadd(x, y) => ewadd(y, x)", "exact"},
    {"(x:2) relu(relu(x)) => relu(x)", "exact"},
    {"(x:2) transpose(transpose(x)) => x", "exact"},
    {"(x:2, y:2) transpose(matmul(x, y)) => matmul(transpose(y), transpose(x))", "exact"},
    {"(x:2, y:2, z:2) concat[axis=1](matmul(x, y), matmul(x, z)) => matmul(x, concat[axis=1](y, z))", "exact"},
    {"(x:2) neg(neg(x)) => x", "exact"},
    {"(x:2) abs(neg(x)) => abs(x)", "exact"},
    {"(x:2) tanh(neg(x)) => neg(tanh(x))", "exact"},
    {"(x:2) clip[low=0, high=6](clip[low=0, high=6](x)) => clip[low=0, high=6](x)", "exact"},
    {"(x:4) pool2d_max[kernel=[1, 1]](x) => x", "exact"},
    {"(x:2) power[exponent=3](x) => ewmul(x, ewmul(x, x))", "exact"},
};
constexpr Claim kReassociating[] = {
    {"(x:2, y:2, z:2) ewadd(ewadd(x, y), z) => ewadd(x, ewadd(y, z))", "reassociating"},
    {"(x:2, y:2, z:2) ewmul(ewmul(x, y), z) => ewmul(x, ewmul(y, z))", "reassociating"},
    {"(x:2, y:2, z:2) ewmul(ewadd(x, y), z) => ewadd(ewmul(x, z), ewmul(y, z))", "reassociating"},
    {"(x:2, y:2, z:2) matmul(matmul(x, y), z) => matmul(x, matmul(y, z))", "reassociating"},
    {"(x:2, y:2, s:0) matmul(smul(x, s), y) => smul(matmul(x, y), s)", "reassociating"},
    {"(x:2, y:2, z:2, w:2) matmul(concat[axis=1](x, y), concat[axis=0](z, w)) => ewadd(matmul(x, z), matmul(y, w))",
     "reassociating"},
    {"(x:2, y:2, z:2) tanh(ewadd(ewadd(x, y), z)) => tanh(ewadd(x, ewadd(y, z)))", "reassociating"},
    {"(x:2, y:2, z:2) broadcast_div(ewadd(x, y), z) => ewadd(broadcast_div(x, z), broadcast_div(y, z))",
     "reassociating"},
    // inf - inf is no number; relu of no number is 0.
    {"(x:2) broadcast_sub(ewadd(x, x), x) => x", "reassociating"},
    {"(x:2) relu(softmax[axis=1](x)) => softmax[axis=1](x)", "reassociating"},
};
constexpr Claim kRangeChanging[] = {
    {"(x:2) log(exp(x)) => x", "range-changing"},
    {"(x:2) exp(log(x)) => x", "range-changing"},
    {"(x:2, y:2) exp(ewadd(x, y)) => ewmul(exp(x), exp(y))", "range-changing"},
    {"(x:2) sqrt(ewmul(x, x)) => abs(x)", "range-changing"},
    {"(x:2, y:2) ewmul(broadcast_div(x, y), y) => x", "range-changing"},
    {"(x:2) power[exponent=-1](power[exponent=-1](x)) => x", "range-changing"},
    {"(x:2, y:2) broadcast_div(x, y) => ewmul(x, power[exponent=-1](y))", "range-changing"},
    {"(x:2) log(softmax[axis=1](x)) => log_softmax[axis=1](x)", "range-changing"},
};

INSTANTIATE_TEST_SUITE_P(Exact, RuleClasses, ::testing::ValuesIn(kExact));
INSTANTIATE_TEST_SUITE_P(Reassociating, RuleClasses, ::testing::ValuesIn(kReassociating));
INSTANTIATE_TEST_SUITE_P(RangeChanging, RuleClasses, ::testing::ValuesIn(kRangeChanging));

TEST(RuleClasses, ZerosThatMeetAnInfinityAreNotExact) {
  for (const auto& [from, to] :
       {std::pair(2, 1), std::pair(4, 2), std::pair(4, 1), std::pair(16, 8), std::pair(64, 1)}) {
    const std::string text = fmt::format(
        "(x:4, w:4) conv2d[groups={0}](x, w) => conv2d[groups={1}](x, merge_gconv[count={2}, groups={1}](w))", from, to,
        from / to);
    EXPECT_EQ(class_of(text), "reassociating") << text << ": 0 * inf is no number";
  }
}

TEST(RuleClasses, ARuleThatIsFalseOfOrdinaryNumbersIsLeftToTheComparison) {
  EXPECT_EQ(class_of("(x:2) tanh(x) => sigmoid(x)"), "reassociating");
  EXPECT_EQ(class_of("(x:2) relu(x) => x"), "reassociating");
}

TEST(RuleClasses, OperatorsDecideWhereNoSizesAreFound) {
  Rule far = rule("(x:2, y:2, z:2) matmul(matmul(x, y), z) => matmul(x, matmul(y, z))");
  far.precondition = {{Constraint::Kind::kEqual, SymbolicDim::variable(SizeVar::read("x.0")), SymbolicDim(1'000'000)}};
  far.example.clear();
  EXPECT_EQ(classify(far), RuleClass::kReassociating);
  Rule exponentials = rule("(x:2) log(exp(x)) => x");
  exponentials.precondition = far.precondition;
  exponentials.example.clear();
  EXPECT_EQ(classify(exponentials), RuleClass::kRangeChanging);
}

}  // namespace
}  // namespace rewright::testing
