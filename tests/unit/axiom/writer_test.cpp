// What is written is read as the same axiom.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "axiom/writer.h"
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
