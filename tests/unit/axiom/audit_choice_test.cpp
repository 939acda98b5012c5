// Which combinations of an axiom's domain the audit takes where it may not take all, and which failure it shows.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "axiom/audit.h"
#include "unit/axiom/loaded.h"

namespace rewright {
namespace {

using testing::HasSubstr;

Axiom read_axiom(const std::string& assertion) {
  AxiomSet set;
  const std::string head =
      R"((declare-sort Tensor 0)(declare-sort Sizes 0)(declare-fun sizes2 (Int Int) Sizes)(declare-fun ewadd (Tensor Tensor) Tensor)
    (declare-fun transpose (Sizes Tensor) Tensor)(declare-fun split.0 (Int Sizes Tensor) Tensor)
    (declare-fun conv2d (Sizes Int Sizes Sizes Int Int Tensor Tensor) Tensor))";
  if (auto status = set.add(head + assertion, "f.smt2", test::operators()); !status) fail(status.error().message);
  return set.axioms()[0];
}

TEST(AuditChoice, IsAnEvenPartOfTheDomainAsLargeAsItMayBe) {
  const Axiom commutes = read_axiom(R"((assert (! (forall ((x Tensor) (y Tensor)) (= (ewadd x y) (ewadd y x)))
      :named n :ranks "x y 1..6" :source "s")))");
  AuditOptions options;
  options.max_sizes = 0;
  options.max_dim = 2;
  const auto count = [&](std::size_t max_typings) -> std::pair<std::size_t, bool> {
    options.max_typings = max_typings;
    const auto result = audit(commutes, options);
    if (!result) fail(result.error().message);
    return {result->combinations, result->complete};
  };
  EXPECT_EQ(count(0), std::pair(2 + 4 + 8 + 16 + 32 + std::size_t{64}, true)) << "0: all";
  EXPECT_EQ(count(6), count(0));
  EXPECT_EQ(count(3), std::pair(2 + 8 + std::size_t{32}, false)) << "ranks 1, 3, 5";
}

TEST(AuditChoice, ShowsTheFailureOfFewestElements) {
  // Transposed by [1, 2, 0] the axes must be of one size for both sides to be of one shape; by [1, 0, 2] two of them.
  for (const char* domain : {"p [1,2,0] [1,0,2]", "p [1,0,2] [1,2,0]"}) {
    const auto result = audit(read_axiom(fmt::format(R"((assert (! (forall ((p Sizes) (x Tensor)) (= (transpose p x) x))
      :named n :ranks "x 3" :domain "{}" :source "s")))",
                                                     domain)));
    ASSERT_TRUE(result) << result.error().message;
    EXPECT_THAT(result->counterexample, HasSubstr("x (2, 2, 1) =\n")) << domain;
  }
}

TEST(AuditChoice, TakesTheKernelsOfAConvolutionThroughWhatTheyAreMadeOf) {
  const auto combinations = [](const std::string& kernels) {
    AuditOptions options;
    options.domain = AuditDomain::kTaso;
    options.max_sizes = 0;
    options.max_dim = 3;
    const auto result =
        audit(read_axiom(
                  R"((assert (! (forall ((s Sizes) (p Int) (q Sizes) (d Sizes) (a Int) (x Tensor) (y Tensor) (z Tensor))
          (= (conv2d s p q d 1 a x (ewadd y z)) (conv2d s p q d 1 a x (ewadd z y)))) :named n :ranks "x y z 4"
          :domain "s [1,1]; p same; q [0,0,0,0]; d [1,1]; a none; x.0 1; x.1 1 2; x.2 3; x.3 3; y.0 1)" +
                  kernels + R"(" :source "s")))"),
              options);
    if (!result) fail(result.error().message);
    return result->combinations;
  };
  EXPECT_EQ(combinations(""), combinations("; y.2 1 3; y.3 1 3; z.2 1 3; z.3 1 3"));
  EXPECT_EQ(combinations(""), 2u * 2u * 2u) << "channels, rows and columns of the kernel";
}

TEST(AuditChoice, HasNoSizeBelowItsLeast) {
  const auto error = [](const std::string& domain) {
    const auto result = audit(read_axiom(fmt::format(
        R"((assert (! (forall ((a Int) (n Int) (m Int) (x Tensor)) (= (split.0 a (sizes2 n m) x) (split.0 a (sizes2 n m) x)))
      :named n :ranks "x 1" :source "s" :domain "{}")))",
        domain)));
    return result ? "none" : result.error().message;
  };
  EXPECT_EQ(error("x.0 1; n 0"), "none");
  EXPECT_THAT(error("x.0 0"), HasSubstr("'0' is no size"));
  EXPECT_THAT(error("n -1"), HasSubstr("'-1' is no size"));
}

}  // namespace
}  // namespace rewright
