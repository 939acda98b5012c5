// Rules in the texts of other programs.
#include "interchange/interchange.h"

#include <gmock/gmock.h>

#include "unit/rule/rules.h"

namespace rewright::testing {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

TEST(Interchange, SizesAreExpressionsOfTheirLanguage) {
  const std::vector<Rule> rules = {rule("(x:2) reshape[sizes=[x.0*x.1]](relu(x)) => relu(reshape[sizes=[x.0*x.1]](x))"),
                                   rule("(x:2) split[sizes=[floor(x.0 / 2), x.0 - floor(x.0 / 2)]](relu(x)) => "
                                        "split[sizes=[floor(x.0 / 2), x.0 - floor(x.0 / 2)]](relu(relu(x)))")};
  const std::string smt = to_smt2(rules), egg = to_egg(rules);
  EXPECT_THAT(smt,
              AllOf(HasSubstr("(sizes1 (* x.0 x.1))"), HasSubstr("(div x.0 2)"), HasSubstr("(* (- 1) (div x.0 2))")));
  EXPECT_THAT(egg, AllOf(HasSubstr("[x.0*x.1]"), HasSubstr("floor((x.0)/2)")));
}

TEST(Interchange, NumbersWithAFractionAreTerms) {
  const std::vector<Rule> rules = {rule("(x:2) relu(leaky_relu[alpha=-0.5](x)) => leaky_relu[alpha=0.25](relu(x))")};
  EXPECT_THAT(to_smt2(rules), AllOf(HasSubstr("(leaky_relu (- 0.5) x)"), HasSubstr("(leaky_relu 0.25 ")));
  EXPECT_THAT(to_egg(rules), AllOf(HasSubstr("(leaky_relu -0.5 "), HasSubstr("(leaky_relu 0.25 ")));
}
TEST(Interchange, SmallAndInfiniteNumbersKeepTheirValue) {
  const std::vector<Rule> small = {rule("(x:2) relu(leaky_relu[alpha=1e-07](x)) => leaky_relu[alpha=1e-07](relu(x))")};
  EXPECT_THAT(to_smt2(small), HasSubstr("(leaky_relu 0.0000001 x)"));
  EXPECT_THAT(to_egg(small), HasSubstr("(leaky_relu 1e-07 "));
  const std::vector<Rule> open = {rule("(x:2) clip[low=0](clip[low=0](x)) => clip[low=0](x)")};
  EXPECT_THAT(to_smt2(open), HasSubstr("(clip 0.0 (/ 1.0 0.0) x)"));
}

}  // namespace
}  // namespace rewright::testing
