// The text form of rules: what it says, what it refuses and how, and that the id looks at meaning only.
#include <gmock/gmock.h>

#include "rules.h"

namespace rewright::testing {
namespace {

std::string error_of(std::string_view text) {
  const auto parsed = parse_rule(text, loaded());
  return parsed ? "parsed: " + to_text(*parsed) : parsed.error().message;
}

std::string id_of(std::string_view text) { return rule(text).id; }

// --- ids -----------------------------------------------------------------------------------------------------

TEST(RuleId, IsThirtyTwoHexadecimalDigits) {
  EXPECT_THAT(id_of("(x:2) relu(x) => relu(x)"), ::testing::MatchesRegex("[0-9a-f]{32}"));
}

TEST(RuleId, DoesNotDependOnNames) {
  EXPECT_EQ(id_of("(x:2, y:2) ewadd(x, relu(y)) => ewadd(relu(y), x)"),
            id_of("(first:2, b:2) ewadd(first, relu(b)) => ewadd(relu(b), first)"));
  EXPECT_EQ(id_of("(x:2, y:2) ewadd(x, relu(y)) => ewadd(relu(y), x)"),
            id_of("(y:2, x:2) ewadd(y, relu(x)) => ewadd(relu(x), y)"));
  EXPECT_EQ(id_of("(x:2) concat(split[sizes=[s0, s1]](x)) => x"), id_of("(x:2) concat(split[sizes=[n, m]](x)) => x"));
}

TEST(RuleId, DoesNotDependOnTheOrderOfTheInputList) {
  EXPECT_EQ(id_of("(x:2, y:2) matmul(x, y) => matmul(x, y)"), id_of("(y:2, x:2) matmul(x, y) => matmul(x, y)"));
}

TEST(RuleId, DoesNotDependOnSharingOrUnusedParts) {
  EXPECT_EQ(id_of("(x:2) ewadd(relu(x), relu(x)) => relu(x)"),
            id_of("(x:2) let a = relu(x) in ewadd(a, a) => relu(x)"));
  EXPECT_EQ(id_of("(x:2) relu(x) => relu(x)"), id_of("(x:2, y:3) let a = relu(y) in relu(x) => relu(x)"));
}

TEST(RuleId, DoesNotDependOnHowConditionsArePut) {
  const auto with = [](std::string_view where) {
    return id_of(fmt::format("(x:2, y:2, z:2) concat(x, y) => concat(x, y) where {}", where));
  };
  EXPECT_EQ(with("x.0 = y.0, x.1 >= 2"), with("2 <= x.1, y.0 = x.0"));
  EXPECT_EQ(with("2*x.0 = 2*y.0"), with("x.0 = y.0"));
  EXPECT_EQ(with("x.0 >= y.0 + 1"), with("x.0 - y.0 >= 1"));
  EXPECT_EQ(with("2 | x.0 + 2*y.0"), with("2 | 3*x.0"));
  EXPECT_EQ(with("x.0 = y.0, x.0 = y.0"), with("x.0 = y.0"));
}

TEST(RuleId, DiffersWhereTheRulesDiffer) {
  const std::vector<std::string> ids = {
      id_of("(x:2, y:2) ewadd(x, y) => ewadd(y, x)"),
      id_of("(x:2, y:2) ewmul(x, y) => ewmul(y, x)"),
      id_of("(x:3, y:3) ewadd(x, y) => ewadd(y, x)"),
      id_of("(x:2, y:2) ewadd(x, y) => ewadd(x, y)"),
      id_of("(x:2, y:2) ewadd(x, y) => ewadd(y, x) where x.0 >= 2"),
      id_of("(x:2, y:2) ewadd(x, y) => ewadd(y, x) where x.1 >= 2"),
      id_of("(x:2, y:2) concat(x, y) => concat(x, y)"),
      id_of("(x:2, y:2) concat[axis=1](x, y) => concat[axis=1](x, y)"),
      id_of("(x:2, y:2) relu(x), relu(y) => relu(x), relu(y)"),
      id_of("(x:2) relu(x), relu(x) => relu(x), relu(x)"),
  };
  for (std::size_t i = 0; i < ids.size(); ++i) {
    for (std::size_t j = 0; j < i; ++j) EXPECT_NE(ids[i], ids[j]) << i << " and " << j;
  }
}

// --- writing and reading ---------------------------------------------------------------------------------------

TEST(RuleText, ComesBackAsItWas) {
  for (const std::string text : {
           "(x:2, y:2) split[sizes=[x.0, y.0]](concat(x, y)) => x, y",
           "(v0:2) let v1 = relu(v0) in ewadd(v1, v1) => ewadd(v0, v0)",
           "(x:2) let v0, v1 = split[sizes=[s0, s1]](x) in relu(v1) => let v0, v1 = split[sizes=[s0, s1]](relu(x)) in "
           "v1",
           "(x:2) concat(split[sizes=[s0, s1]](x)) => x",
           "(x:2, y:2) concat(x, split[sizes=[s0, s1]](y)) => concat(x, y)",
           "() constant_one[sizes=[s0]] => let v0 = constant_one[sizes=[s0]] in ewmul(v0, v0)",
           "(x:2) let v0 = relu(x) in v0, v0 => let v0 = relu(x) in v0, v0",
           "(x:4, w:4) conv2d[strides=[2, 2], padding=valid](x, w) => conv2d[strides=[2, 2], padding=valid](x, w) "
           "where "
           "2 | x.2, x.3 >= w.3 + 1, x.0 != 3",
       }) {
    EXPECT_EQ(to_text(rule(text)), text);
  }
}

TEST(RuleText, ReadsWhatPeopleWrite) {
  EXPECT_EQ(to_text(rule("  ( x : 2,y:2 )\n  split[axis=0,sizes=[x.0,y.0]]( concat[axis=0](x,y) )\n  =>x ,y\n")),
            "(x:2, y:2) split[sizes=[x.0, y.0]](concat(x, y)) => x, y");
  EXPECT_EQ(to_text(rule("(x:2) ewmul(x, constant_one[sizes=[x.0, x.1]]()) => x")),
            "(x:2) ewmul(x, constant_one[sizes=[x.0, x.1]]) => x");
}

TEST(RuleText, AddsTheConditionsThatTheTargetNeeds) {
  EXPECT_EQ(to_text(rule("(x:2, y:2) concat(x, y) => ewadd(concat(x, y), concat(y, x))")),
            "(x:2, y:2) concat(x, y) => ewadd(concat(x, y), concat(y, x))");
  EXPECT_EQ(to_text(rule("(x:2, y:2) ewadd(relu(x), relu(x)), y => ewadd(x, x), ewadd(y, x)")),
            "(x:2, y:2) ewadd(relu(x), relu(x)), y => ewadd(x, x), ewadd(y, x) where x.0 = y.0, x.1 = y.1");
}

TEST(RuleText, ComesWithAnExampleOfSizes) {
  EXPECT_EQ(rule("(x:2, y:2) split[sizes=[x.0, y.0]](concat(x, y)) => x, y").example,
            (std::vector<Shape>{{2, 3}, {4, 3}}));
  for (const std::string_view text : {
           "(x:2) let v0, v1 = split[sizes=[s0, s1]](x) in relu(v1) => let v0, v1 = split[sizes=[s0, s1]](relu(x)) in "
           "v1",
           "(x:4, w:4) conv2d[groups=2, padding=valid](x, w) => conv2d[groups=2, padding=valid](x, w) where x.2 >= "
           "2*w.2",
           "(x:4, w:4) conv2d[strides=[2, 2]](x, w) => conv2d[strides=[2, 2]](x, w) where 3 | x.2, floor((x.3 + 1) / "
           "2) = 3",
           "() constant_one[sizes=[s0, s0]] => constant_one[sizes=[s0, s0]]",
       }) {
    const Rule made = rule(text);
    ASSERT_EQ(made.example.size(), made.inputs.size()) << text;
    const DimBinding sizes = bind_sizes(made.inputs, made.example, bind_sizes(made.example_sizes));
    for (const Constraint& constraint : domain(made, true))
      EXPECT_EQ(constraint.holds(sizes), std::optional(true)) << text;
    EXPECT_TRUE(instantiate(made.inputs, made.source, made.example, bind_sizes(made.example_sizes))) << text;
    EXPECT_TRUE(instantiate(made.inputs, made.target, made.example, bind_sizes(made.example_sizes))) << text;
  }
}

TEST(RuleText, ReadsAFileOfRules) {
  const auto rules = parse_rules(
      "# two rules\n\n(x:2) relu(relu(x)) => relu(x)\r\n  # and\n(x:2, y:2) ewadd(x, y) => ewadd(y, x)", loaded());
  ASSERT_TRUE(rules) << rules.error().message;
  ASSERT_EQ(rules->size(), 2u);
  EXPECT_EQ((*rules)[0].name, "relu-relu-to-relu-509a6c8b");
  const auto broken = parse_rules("# one rule\n(x:2) relu(x) => relu(y)\n", loaded());
  ASSERT_FALSE(broken);
  EXPECT_THAT(broken.error().message, ::testing::StartsWith("line 2, column 23: 'y' is no input"));
}

// --- what is wrong with a text ---------------------------------------------------------------------------------

struct Wrong {
  const char* text;
  const char* message;
};

class RuleTextError : public ::testing::TestWithParam<Wrong> {};

TEST_P(RuleTextError, SaysWhereAndWhatWasExpected) {
  EXPECT_THAT(error_of(GetParam().text), ::testing::HasSubstr(GetParam().message));
}

const Wrong kWrong[] = {
    {"", "line 1, column 1: expected '(' before the list of inputs, as in (x:2, y:2), found the end"},
    {"x => x", "line 1, column 1: expected '(' before the list of inputs, as in (x:2, y:2), found 'x'"},
    {"(x) x => x", "line 1, column 3: expected ':' and the rank of the input, found ')'"},
    {"(x:) x => x", "line 1, column 4: expected the rank of the input, found ')'"},
    {"(x:9) x => x", "line 1, column 4: input x has rank 9; at most 8 is supported"},
    {"(x:99999999999999999999) x => x", "line 1, column 4: this number is too large for the rank of the input"},
    {"(x:2, x:2) x => x", "line 1, column 7: the name 'x' is given twice"},
    {"(let:2) relu(let) => let", "line 1, column 2: 'let' is a word of the rule's text and cannot be a name"},
    {"(3:2) x => x", "line 1, column 2: expected the name of an input, found '3'"},
    {"(x:2) relu(x)", "line 1, column 14: expected '=>' between source and target, found the end"},
    {"(x:2) relu(x) =>", "line 1, column 17: expected an input, a name or an operator, found the end"},
    {"(x:2) relu(x => x", "line 1, column 14: expected ')' or ',' after an operand of relu, found '='"},
    {"(x:2)\n  relu(x) =>\n relu(y)",
     "line 3, column 7: 'y' is no input and no name given by 'let' before (there are: x)"},
    {"(x:2) rleu(x) => x", "line 1, column 7: "},
    {"(x:2) relu(x)) => x", "line 1, column 14: expected '=>' between source and target, found ')'"},
    {"(x:2) relu(x, x) => x", "line 1, column 7: relu: takes 1 operands, but was given 2"},
    {"(x:2, y:3) ewadd(x, y) => x", "line 1, column 12: ewadd: "},
    {"(x:2) split[sizes=[2, 2](x) => x", "line 1, column 12: this bracket is not closed"},
    {"(x:2) split[sizes=[2, 2) => x", "line 1, column 24: ')' closes nothing that is open here"},
    {"(x:2) split[sizes=[2, 2] => x", "line 1, column 12: this bracket is not closed"},
    {"(x:2) split[size=[2, 2]](x) => x, x", "line 1, column 12: split: "},
    {"(x:2) split(x) => x, x", "line 1, column 12: split: parameter 'sizes' is missing"},
    {"(x:2) relu(x) => x, x", "line 1: the source has 1 outputs and the target has 2"},
    {"(x:2, y:3) relu(x), y => y, relu(x)", "line 1: output 0 has rank 2 in the source and 3 in the target"},
    {"(x:2, y:2) relu(x) => relu(y)", "line 1, column 1: the target uses input 'y', which the source does not use"},
    {"(x:2) relu(x) => ewmul(relu(x), constant_one[sizes=[x.0, n]])", "the size 'n' is no size of an input"},
    {"(x:2) relu(x) => relu(x) where x.2 = 3", "the size 'x.2' is no size of an input"},
    {"(x:2) split[sizes=[2*n, 1]](x) => split[sizes=[2*n, 1]](x)", "the size 'n' is no size of an input"},
    {"(x:2) relu(x) => relu(x) where", "line 1, column 31: "},
    {"(x:2) relu(x) => relu(x) where x.0 ~ 2", "line 1, column 32: condition 'x.0 ~ 2'"},
    {"(x:2) relu(x) => relu(x) where 0 | x.0", "line 1, column 32: "},
    {"(x:2) relu(x) => relu(x) nonsense",
     "line 1, column 26: expected 'where' or the end of the rule, found 'nonsense'"},
    {"(x:2) let a, b = relu(x) in a => x", "line 1, column 18: this has 1 outputs, and 'let' names 2"},
    {"(x:2) let a = split[sizes=[s0, s1]](x) in a => x", "line 1, column 15: this has 2 outputs, and 'let' names 1"},
    {"(x:2) let a, a = split[sizes=[s0, s1]](x) in a => x", "line 1, column 14: the name 'a' is given twice"},
    {"(x:2) let a = relu(x) a => x", "line 1, column 23: expected 'in' after the term of a 'let', found 'a'"},
    {"(x:2) let a = relu(a) in a => x", "line 1, column 20: 'a' is no input"},
    {"(x:2) let a = relu(b) in let b = relu(a) in b => x", "line 1, column 20: 'b' is no input"},
    {"(x:2) let a = relu(x) in a => a", "line 1, column 31: 'a' is no input and no name given by 'let' before"},
    {"(x:2) relu(x) => relu(x) where x.0 = x.0 + 1", "line 1: the conditions on sizes contradict each other"},
    {"(x:2) relu(x) => \xff\xfe", "line 1, column 18: expected an input, a name or an operator, found '"},
};

INSTANTIATE_TEST_SUITE_P(Texts, RuleTextError, ::testing::ValuesIn(kWrong),
                         [](const auto& info) { return fmt::format("N{}", info.index); });

// --- hostile texts -----------------------------------------------------------------------------------------------

TEST(RuleText, DepthCostsNoStack) {
  constexpr int kDepth = 20000;
  std::string open, close;
  for (int i = 0; i < kDepth; ++i) {
    open += "relu(";
    close += ")";
  }
  const std::string text = fmt::format("(x:2) {}x{} => relu(x)", open, close);
  const auto parsed = parse_rule(text, loaded());
  ASSERT_TRUE(parsed) << parsed.error().message;
  EXPECT_EQ(to_text(*parsed), text);
  EXPECT_THAT(error_of("(x:2) " + open),
              ::testing::HasSubstr("expected an input, a name or an operator, found the end"));
  EXPECT_THAT(error_of(fmt::format("(x:2) split[sizes=[{}x.0{}, 1]](x) => x, x", std::string(100000, '('),
                                   std::string(100000, ')'))),
              ::testing::HasSubstr("brackets are nested deeper than 64"));
  EXPECT_FALSE(parse_rule(
      fmt::format("(x:2) relu(x) => x where {}x.0{} = 1", std::string(100000, '('), std::string(100000, ')')),
      loaded()));
}

TEST(PatternShapes, AreRefusedWhereSizesCannotBeEqual) {
  const Rule sum = rule("(x:2) matmul(x, ewadd(constant_one[sizes=[2, 2]], constant_identity[sizes=[2, 2]])) => x");
  ASSERT_TRUE(infer_shapes(sum.inputs, sum.source));
  Pattern pattern = sum.source;
  pattern.nodes[0].params = rule("(x:2) matmul(x, constant_one[sizes=[3, 2]]) => matmul(x, constant_one[sizes=[3, 2]])")
                                .source.nodes[0]
                                .params;
  const auto shapes = infer_shapes(sum.inputs, pattern);
  ASSERT_FALSE(shapes);
  EXPECT_THAT(shapes.error().message, ::testing::HasSubstr("2 can never hold"));
}

TEST(Patterns, AreRefusedWhereTheyDoNotFitWhatTheyAreGiven) {
  const Rule given = rule("(x:2) split[sizes=[s0, s1]](relu(x)) => split[sizes=[s0, s1]](relu(x))");
  const auto refusal = [&](const std::vector<Shape>& shapes, const Pattern& pattern) {
    const auto graph = instantiate(given.inputs, pattern, shapes);
    return graph ? "no error" : graph.error().message;
  };
  EXPECT_EQ(refusal({}, given.source), "a pattern of 1 inputs was given 0 shapes");
  EXPECT_EQ(refusal({{2, 3, 4}}, given.source),
            "input x of the pattern has rank 2, and the shape (2, 3, 4) has rank 3");
  EXPECT_EQ(refusal({{2, 3}}, given.source),
            "split[sizes=[s0, s1]]: a size variable is not bound; bind every variable that is no input's size");
  Pattern backward = given.source;
  backward.nodes[0].inputs[0].node.value = 7;
  const std::string sentence =
      "pattern: relu reads output 0 of node 7, which is not made before it (there are 1 nodes)";
  EXPECT_EQ(refusal({{2, 3}}, backward), sentence);
  EXPECT_EQ(infer_shapes(given.inputs, backward).error().message, sentence);
}

TEST(RuleText, DamagedTextsAreRefusedOrReadButNeverCrash) {
  const std::vector<std::string> seeds = {
      "(x:2, y:2) split[sizes=[x.0, y.0]](concat(x, y)) => x, y",
      "(x:4, w:4, v:4) concat[axis=1](conv2d(x, w), conv2d(x, v)) => conv2d(x, concat(w, v)) where w.2 = v.2, w.3 = "
      "v.3",
      "(x:2) let v0, v1 = split[sizes=[s0, s1]](x) in relu(v1) => let v0, v1 = split[sizes=[s0, s1]](relu(x)) in v1",
      "(x:2) relu(x) => relu(x) where floor((x.0 + 1) / 2) = 3, 2 | x.1, x.0*x.1 >= 4, x.0 != 7",
  };
  const std::string alphabet = "(){}[],:=><|!.*+-/ \n\"xyvs0129let in where floor relu concat\\\xc3";
  std::mt19937_64 random(11);
  int read = 0;
  for (int round = 0; round < 10000; ++round) {
    std::string text = seeds[random() % seeds.size()];
    for (std::uint64_t edits = 1 + random() % 4; edits > 0; --edits) {
      const std::size_t at = random() % (text.size() + 1);
      switch (random() % 4) {
        case 0: text.insert(at, 1, alphabet[random() % alphabet.size()]); break;
        case 1: text.erase(at, 1 + random() % 5); break;
        case 2: text.insert(at, text.substr(random() % (text.size() + 1), random() % 12)); break;
        default:
          if (at < text.size()) text[at] = alphabet[random() % alphabet.size()];
      }
    }
    const auto parsed = parse_rule(text, loaded());
    if (!parsed) {
      EXPECT_FALSE(parsed.error().message.empty());
      continue;
    }
    ++read;
    const auto again = parse_rule(to_text(*parsed), loaded());
    ASSERT_TRUE(again) << text << "\n" << to_text(*parsed) << "\n" << again.error().message;
    EXPECT_EQ(again->id, parsed->id) << text << "\n" << to_text(*parsed);
  }
  EXPECT_GT(read, 100);
}

}  // namespace
}  // namespace rewright::testing
