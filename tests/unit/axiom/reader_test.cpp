// What the reader takes, and the sentence that each mistake gets.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "axiom/audit.h"
#include "axiom/sexpr.h"
#include "axiom/writer.h"
#include "unit/axiom/loaded.h"

namespace rewright {
namespace {

using testing::HasSubstr;

constexpr const char* kHead = R"((set-logic UFNIRA)
(declare-sort Tensor 0) (declare-sort Sizes 0)
(declare-fun ewadd (Tensor Tensor) Tensor) (declare-fun relu (Tensor) Tensor) (declare-fun nowhere (Tensor) Tensor)
(declare-fun concat (Int Tensor Tensor) Tensor) (declare-fun transpose (Sizes Tensor) Tensor)
(declare-fun conv2d (Sizes Int Sizes Sizes Int Int Tensor Tensor) Tensor) (declare-fun sizes2 (Int Int) Sizes)
(declare-fun dim (Int Tensor) Int) (declare-fun split.1 (Int Sizes Tensor) Tensor)
(define-fun padding.valid () Int 1) (define-fun padding.same () Int 3)
)";

Result<AxiomSet> read(const std::string& text) {
  AxiomSet set;
  if (auto status = set.add(text, "f.smt2", test::operators()); !status) return status.error();
  return set;
}
std::string error_of(const std::string& text) {
  auto set = read(text);
  return set ? "no error" : set.error().message;
}
std::string error_after_head(const std::string& text) { return error_of(kHead + text); }
std::string with_equation(const std::string& variables, const std::string& equation,
                          const std::string& attributes = ":ranks \"x y 2\"") {
  return "(assert (! (forall (" + variables + ") " + equation + ") :named n :source \"s\" " + attributes + "))";
}
const std::string kXY = "(x Tensor) (y Tensor)";

TEST(AxiomReader, TakesNameRanksConditionSourceAndNeeds) {
  const auto set =
      read(kHead + with_equation(kXY, "(= (ewadd x y) (ewadd y x))",
                                 ":ranks \"x y 1..2; x 3, y 3\" :condition \"x.0 >= 2\" :needs \"real-relu\""));
  ASSERT_TRUE(set) << set.error().message;
  const Axiom& axiom = set->axioms()[0];
  EXPECT_EQ(axiom.name, "n");
  EXPECT_EQ(axiom.line, 8);
  EXPECT_THAT(axiom.ranks, testing::ElementsAre(AxiomRanks{1, 1}, AxiomRanks{2, 2}, AxiomRanks{3, 3}));
  ASSERT_EQ(axiom.condition.size(), 1u);
  EXPECT_EQ(to_string(axiom.condition[0]), "x.0 >= 2");
  EXPECT_EQ(axiom.needs, "real-relu");
}

TEST(AxiomReader, TakesEveryRankThatATensorCanHave) {
  const auto set = read(kHead + with_equation(kXY, "(= (ewadd x y) (ewadd y x))", ":ranks \"x y all\""));
  ASSERT_TRUE(set) << set.error().message;
  const Axiom& axiom = set->axioms()[0];
  ASSERT_EQ(axiom.ranks.size(), kMaxRank + 1U);
  EXPECT_EQ(axiom.ranks.front(), (AxiomRanks{0, 0}));
  EXPECT_EQ(axiom.ranks.back(), (AxiomRanks{kMaxRank, kMaxRank}));
  EXPECT_THAT(*to_smt(axiom), testing::HasSubstr(":ranks \"x y all\""));
  EXPECT_THAT(error_of(kHead + with_equation(kXY, "(= (ewadd x y) (ewadd y x))", ":ranks \"x y any\"")),
              testing::HasSubstr("expected names and a rank, a range up to 8 or \"all\""));
}

TEST(AxiomReader, KnowsOutputsAritiesAndSizeExpressions) {
  const auto set = read(kHead + with_equation("(a Int) (x Tensor) (y Tensor)",
                                              "(= (split.1 a (sizes2 (dim a x) (+ (dim a y) 0)) (concat a x y)) y)"));
  ASSERT_TRUE(set) << set.error().message;
  EXPECT_EQ(set->axioms()[0].terms.back().output, 1u);
}

// --- numbers ---

std::string leaky(const std::string& slope) {
  return "(declare-sort Tensor 0) (declare-fun leaky_relu (Real Tensor) Tensor)" +
         with_equation("(x Tensor)", "(= (leaky_relu " + slope + " x) x)", ":ranks \"x 1\"");
}

TEST(AxiomReader, TakesDecimalsAndFractions) {
  for (const auto& [text, slope] : std::vector<std::pair<std::string, double>>{{"0.1", 0.1},
                                                                               {"0.10", 0.1},
                                                                               {"2", 2},
                                                                               {"(- 0.5)", -0.5},
                                                                               {"(/ 1 6)", 1.0 / 6},
                                                                               {"(/ 2 12)", 1.0 / 6},
                                                                               {"(/ 1.0 6.0)", 1.0 / 6},
                                                                               {"(- (/ 2 3))", -2.0 / 3}}) {
    const auto set = read(leaky(text));
    ASSERT_TRUE(set) << set.error().message;
    const Axiom& axiom = set->axioms()[0];
    EXPECT_EQ(std::get<double>(axiom.terms[axiom.left].params[0]), slope) << text;
  }
}
TEST(AxiomReader, RefusesANumberThatNoParameterMeans) {
  EXPECT_EQ(error_of(leaky("0.16666666666666666")),
            "f.smt2:1:117: the decimal 0.16666666666666666 is too long for a parameter, which would be (/ 1 6); write "
            "that");
  EXPECT_THAT(error_of(leaky("(/ 1000003 3000017)")), HasSubstr("the fraction 1000003/3000017 is too long"));
  EXPECT_THAT(error_of(leaky("(/ 1 0)")), HasSubstr("'1/0' is no fraction"));
  EXPECT_THAT(error_of(leaky("(/ 1 0.5)")),
              HasSubstr("found ('/' ...), expected a Real variable or a number: 0.5, (/ 1 6) or (- 0.5)"));
}

TEST(AxiomReader, NamesTheOperatorThatIsNotLoaded) {
  EXPECT_THAT(error_after_head(with_equation("(x Tensor)", "(= (nowhere x) x)", ":ranks \"x 2\"")),
              HasSubstr("f.smt2:8:36: no operator 'nowhere' is loaded"));
}
TEST(AxiomReader, RefusesAFunctionThatIsNotDeclared) {
  EXPECT_THAT(error_after_head(with_equation(kXY, "(= (ewmul x y) x)")), HasSubstr("'ewmul' is not declared"));
}
TEST(AxiomReader, RefusesAWrongNumberOfArguments) {
  EXPECT_THAT(error_after_head(with_equation(kXY, "(= (concat x y) x)")),
              HasSubstr("concat has 2 arguments, expected 1 parameters and then 2 or more operands"));
}
TEST(AxiomReader, RefusesAChoiceThatTheOperatorCountsOtherwise) {
  EXPECT_THAT(error_after_head(with_equation("(x Tensor) (y Tensor) (s Sizes)",
                                             "(= (conv2d s padding.same s s 1 0 x y) x)", ":ranks \"x y 4\"")),
              HasSubstr("'padding.same' is defined as 3, but the operator counts it as 0"));
}
TEST(AxiomReader, RefusesAConventionThatTheOperatorsDoNotKeep) {
  EXPECT_THAT(error_of("(set-info :padding-same \"as little as possible, more at the end\")"),
              HasSubstr("f.smt2:1:1: the file says padding-same"));
}
TEST(AxiomReader, RefusesAConditionOnWhatIsNotThere) {
  EXPECT_THAT(error_after_head(with_equation(kXY, "(= (ewadd x y) x)", ":ranks \"x y 2\" :condition \"z.0 = 1\"")),
              HasSubstr("speaks of 'z.0'"));
}
TEST(AxiomReader, RefusesRanksThatLeaveAVariableOut) {
  EXPECT_THAT(error_after_head(with_equation(kXY, "(= (ewadd x y) x)", ":ranks \"x 2\"")),
              HasSubstr("leave out the tensor variable 'y'"));
}
TEST(AxiomReader, RefusesRanksWithoutEnd) {
  std::string ranks = "x y 2";
  for (int i = 0; i < 20; ++i) ranks += ", x 0..8";
  EXPECT_THAT(error_after_head(with_equation(kXY, "(= (ewadd x y) x)", ":ranks \"" + ranks + "\"")),
              HasSubstr("more than 10000 combinations"));
}
TEST(AxiomReader, RefusesUnknownAttributesAndCommands) {
  EXPECT_THAT(error_after_head(with_equation(kXY, "(= (ewadd x y) x)", ":ranks \"x y 2\" :note \"n\"")),
              HasSubstr("found the attribute :note"));
  EXPECT_THAT(error_of("(push 1)"), HasSubstr("f.smt2:1:1: found ('push' ...)"));
}
TEST(AxiomReader, RefusesASecondAxiomOfTheSameName) {
  const std::string one = with_equation(kXY, "(= (ewadd x y) (ewadd y x))");
  EXPECT_THAT(error_after_head(one + "\n" + one), HasSubstr("there is an axiom n already"));
}
TEST(AxiomReader, RefusesAnAxiomWithoutSource) {
  EXPECT_THAT(error_after_head("(assert (! (forall ((x Tensor)) (= (relu x) x)) :named n :ranks \"x 1\"))"),
              HasSubstr("axiom n has no :source"));
}
TEST(AxiomReader, SaysWhichFileCannotBeRead) {
  const std::vector<std::string> files = {"/nowhere/a.smt2"};
  EXPECT_THAT(load_axioms(files, test::operators()).error().message, HasSubstr("/nowhere/a.smt2: the axiom file"));
}

// 600 files with a few bytes changed, doubled or cut: each is read, or refused with its name and line; what is read can
// be audited. Never a crash.
TEST(AxiomReader, SurvivesDamagedFiles) {
  std::uint64_t state = 11;
  const auto next = [&state](std::uint64_t below) {
    state = state * 6364136223846793005 + 1442695040888963407;
    return static_cast<std::size_t>((state >> 33) % below);
  };
  const std::string bytes = "()\"|;:!.0129 xas=-+*/\n";
  std::vector<std::string> originals;
  for (const char* name : {"elementwise.smt2", "rejected.smt2"}) {
    std::ifstream stream(test::axiom_file(name));
    originals.emplace_back(std::istreambuf_iterator<char>(stream), std::istreambuf_iterator<char>());
  }
  int refused = 0, taken = 0;
  for (int round = 0; round < 600; ++round) {
    std::string text = originals[next(2)];
    for (std::size_t change = 0; change <= next(4); ++change) {
      const std::size_t at = next(text.size());
      switch (next(4)) {
        case 0: text[at] = bytes[next(bytes.size())]; break;
        case 1: text.insert(at, 1, bytes[next(bytes.size())]); break;
        case 2: text.erase(at, 1 + next(12)); break;
        default: text.insert(next(text.size()), text.substr(at, next(40)));
      }
    }
    const auto set = read(text);
    if (!set) {
      ++refused;
      EXPECT_THAT(set.error().message, testing::StartsWith("f.smt2:"));
      continue;
    }
    ++taken;
    if (set->axioms().empty() || round % 10 != 0) continue;
    AuditOptions options;
    options.max_dim = 2;
    options.max_sizes = 2;
    options.max_typings = 2;
    const auto result = audit(set->axioms()[next(set->axioms().size())], options);
    EXPECT_TRUE(result || result.error().message.starts_with("f.smt2:")) << result.error().message;
  }
  EXPECT_GT(refused, 100);
  EXPECT_GT(taken, 20);
}

TEST(SExpressions, GiveLineAndColumnOfWhatIsWrong) {
  const auto message = [](std::string_view text) { return parse_sexprs(text, "f").error().message; };
  EXPECT_THAT(message("(a\n (b)"), HasSubstr("f:1:1: the list that opens here is not closed"));
  EXPECT_THAT(message("(a))"), HasSubstr("f:1:4: found ')' that closes nothing"));
  EXPECT_THAT(message("(a\n  \"b)"), HasSubstr("f:2:3: what is quoted here does not end"));
  EXPECT_THAT(message("(a 1b)"), HasSubstr("f:1:4: found '1b', expected a number"));
  EXPECT_THAT(message("(a {)"), HasSubstr("f:1:4: found '{'"));
}
TEST(SExpressions, TakeCommentsStringsAndQuotedSymbols) {
  const auto read = parse_sexprs("; c\n(|a b| \"x \"\"y\"\"\" :k 1.5 2)", "f");
  ASSERT_TRUE(read);
  const auto& items = read->at(0).items;
  EXPECT_EQ(items[0].text, "a b");
  EXPECT_EQ(items[1].text, "x \"y\"");
  EXPECT_EQ(items[2].kind, SExpr::Kind::kKeyword);
  EXPECT_EQ(items[3].kind, SExpr::Kind::kDecimal);
}
TEST(SExpressions, RefuseAMillionOpenLists) {
  EXPECT_THAT(parse_sexprs(std::string(1'000'000, '('), "f").error().message, HasSubstr("nested deeper than 500"));
}

}  // namespace
}  // namespace rewright
