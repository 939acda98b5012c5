// What is written is read as the same axiom.
#include "axiom/writer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "unit/axiom/loaded.h"

namespace rewright {
namespace {

TEST(AxiomWriter, WritesEveryAxiomSoThatItIsReadAsTheSame) {
  const AxiomSet& set = test::axioms();
  const auto text = to_smt(set.axioms());
  ASSERT_TRUE(text) << text.error().message;
  AxiomSet again;
  const auto read = again.add(*text, "written.smt2", test::operators());
  ASSERT_TRUE(read) << read.error().message;
  ASSERT_EQ(again.axioms().size(), set.axioms().size());
  for (std::size_t i = 0; i < set.axioms().size(); ++i) {
    const Axiom &one = set.axioms()[i], &other = again.axioms()[i];
    EXPECT_EQ(one.name, other.name);
    EXPECT_EQ(one.ranks, other.ranks) << one.name;
    EXPECT_EQ(one.condition, other.condition) << one.name;
    EXPECT_EQ(one.needs, other.needs) << one.name;
    EXPECT_EQ(one.source, other.source) << one.name;
    EXPECT_EQ(*to_smt(one), *to_smt(other)) << one.name;
  }
}

/// x => leaky_relu(x), of this slope.
Axiom leaky(double slope) {
  AxiomSet set;
  const auto read = set.add(
      "(declare-sort Tensor 0) (declare-fun leaky_relu (Real Tensor) Tensor)"
      "(assert (! (forall ((x Tensor)) (= (leaky_relu 0.5 x) x)) :named leaky :ranks \"x 1\" :source \"s\"))",
      "f.smt2", test::operators());
  if (!read) fail(read.error().message);
  Axiom axiom = set.axioms()[0];
  axiom.terms[axiom.left].params[0] = slope;
  return axiom;
}

TEST(AxiomWriter, WritesNumbersSoThatTheyAreReadAsTheSame) {
  for (const double slope :
       {0.25, 3.0, -0.1, 0.00001, -0.00003125, 1.0 / 6, -2.0 / 3, 1.4142135623730951, 0x1p60, 1e23, 0x3p-38}) {
    const Axiom axiom = leaky(slope);
    const auto text = to_smt(std::span(&axiom, 1));
    ASSERT_TRUE(text) << text.error().message;
    AxiomSet again;
    const auto read = again.add(*text, "written.smt2", test::operators());
    ASSERT_TRUE(read) << read.error().message << *text;
    const Axiom& other = again.axioms()[0];
    EXPECT_EQ(std::get<double>(other.terms[other.left].params[0]), slope) << *text;
  }
}

TEST(AxiomWriter, RefusesAQuotient) {
  Axiom axiom = test::axiom("split-first-of-concat");
  axiom.terms[axiom.left].params[1] =
      std::vector{floor_divide(SymbolicDim::variable(SizeVar::read("x.0")), 2), SymbolicDim(1)};
  const auto text = to_smt(axiom);
  ASSERT_FALSE(text);
  EXPECT_EQ(text.error().code, ErrorCode::kUnsupported);
  EXPECT_EQ(text.error().message,
            "axiom split-first-of-concat: the size floor((x.0) / 2) is a quotient, which axioms cannot state");
}

TEST(AxiomWriter, WritesWhatAPersonWould) {
  EXPECT_EQ(*to_smt(test::axiom("split-first-of-concat")),
            "(assert (! (forall ((a Int) (x Tensor) (y Tensor))\n"
            "    (= (split.0 a (sizes2 (dim a x) (dim a y)) (concat a x y)) x))\n"
            "  :named split-first-of-concat\n"
            "  :ranks \"x y 1..4\"\n"
            "  :source \"Jia et al., TASO, SOSP 2019, table 3\"))\n");
}

}  // namespace
}  // namespace rewright
