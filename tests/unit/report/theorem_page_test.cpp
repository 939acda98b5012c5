// The page of proofs: what was proved, what is open and what is false, each said; names are no markup.
#include "report/theorem_page.h"

#include <gmock/gmock.h>

#include "support/operators.h"

namespace rewright {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

theorem::AxiomReading reading() {
  theorem::AxiomReading reading{.at = "ranks 2",
                                .setting = "x of rank 2",
                                .left = "relu(x)",
                                .right = "x",
                                .conditions = {"x.0 = y.1"},
                                .proof = {}};
  reading.proof.index = {"i0", "i1"};
  reading.proof.cases = 1;
  reading.proof.told.push_back({{"i0 < x.0"},
                                "max{0; x[i0, i1]}",
                                "x[i0, i1]",
                                {{"", "relu(x)[i0, i1]"}, {"relu", "max{0; x[i0, i1]}"}},
                                {},
                                "They are <equal>."});
  return reading;
}

TEST(TheoremPage, SaysStepByStepWhyBothSidesAreEqual) {
  const theorem::AxiomReading shown = reading();
  const std::string html = reading_html(shown.proof, shown.left, shown.right);
  EXPECT_THAT(html, HasSubstr("definition of <code>relu</code>"));
  EXPECT_THAT(html, HasSubstr("<h3>Where <math>"));
  EXPECT_THAT(html, HasSubstr("They are &lt;equal&gt;."));
  EXPECT_THAT(html, Not(HasSubstr("Further cases")));
  EXPECT_THAT(html, HasSubstr("definitions, and what sizes and the index decide")) << "the right side has no steps";
}

TEST(TheoremPage, TellsProvedOpenAndFalseApart) {
  const std::vector<std::string> files = {REWRIGHT_SOURCE_DIR "/axioms/layout.smt2"};
  const auto set = load_axioms(files, testing::loaded());
  ASSERT_TRUE(set) << set.error().message;
  const Axiom& axiom = set->axioms().front();
  theorem::AxiomProof proved, open, wrong;
  proved.name = "<one>", open.name = "two", wrong.name = "three";
  proved.proved = true;
  proved.instances = proved.shown = proved.certified = 3;
  open.reason = "x[i0] is left";
  const std::string page = theorems_html(
      {{&axiom, proved, reading(), "", true}, {&axiom, open, {}, "", false}, {&axiom, wrong, {}, "x = 1", false}});
  for (const char* part : {"1 of 3 axioms proved", "has replayed a certificate of each", "x[i0] is left", ">open<",
                           ">false<", "x = 1", "<a href=\"#theorem-3\">three</a>", "&lt;one&gt;", "for x of rank 2"})
    EXPECT_THAT(page, HasSubstr(part));
  EXPECT_THAT(page, Not(HasSubstr("<one>")));
}

}  // namespace
}  // namespace rewright
