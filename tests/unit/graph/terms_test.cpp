// Canonical forms against the least of all texts, over every renaming, order and direction.
#include <rewright/graph/terms.h>
#include <rewright/plugin/registry.h>

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>

namespace rewright {
namespace {

using Names = std::map<TermId, std::string>;
using Pairs = std::vector<TermPair>;

std::string label_of(const TensorTerm& input) { return input.kind == InputKind::kWeight ? "w" : "x"; }

std::string naive_text(const TermBank& bank, TermId id, const Names& names) {
  const TensorTerm& term = bank[id];
  if (term.is_input()) return names.at(id);
  std::vector<std::string> operands;
  for (const TermId operand : term.operands) operands.push_back(naive_text(bank, operand, names));
  if (term.op->info().commutative) std::sort(operands.begin(), operands.end());
  return fmt::format("{}.{}({})", bank.text_of_head(term), term.output, fmt::join(operands, ","));
}

/// The least text; inputs that do not occur have no name.
std::string naive_form(const TermBank& bank, const Pairs& pairs) {
  std::vector<TermId> roots;
  for (const auto& [left, right] : pairs) roots.insert(roots.end(), {left, right});
  std::vector<TermId> inputs;
  for (const TermId id : bank.below(roots)) {
    if (bank[id].is_input()) inputs.push_back(id);
  }
  std::string least;
  do {
    Names names;
    for (std::size_t i = 0; i < inputs.size(); ++i)
      names[inputs[i]] = fmt::format("{}{}", label_of(bank[inputs[i]]), i);
    for (const bool exchanged : {false, true}) {
      std::vector<std::string> texts;
      for (const auto& [left, right] : pairs) {
        const std::string a = naive_text(bank, left, names), b = naive_text(bank, right, names);
        texts.push_back(exchanged ? b + "=" + a : a + "=" + b);
      }
      std::sort(texts.begin(), texts.end());
      const std::string text = fmt::format("{}", fmt::join(texts, ";"));
      if (least.empty() || text < least) least = text;
    }
  } while (std::next_permutation(inputs.begin(), inputs.end()));
  return least;
}

class Terms : public testing::Test {
 protected:
  Terms() {
    if (const Status status = registry_.load_default(); !status) ADD_FAILURE() << status.error().message;
  }

  /// A graph of a few operators on inputs x, y, z and a weight w, all of its tensors outputs.
  Graph random_graph(std::mt19937& random, std::size_t operators) {
    GraphBuilder builder(&registry_);
    std::vector<Port> tensors;
    for (const char* name : {"x", "y", "z"}) tensors.push_back(*builder.input(name, {Shape{4, 4}}));
    tensors.push_back(*builder.input("w", {Shape{4, 4}}, InputKind::kWeight));
    const auto any = [&] { return tensors[random() % tensors.size()]; };
    for (std::size_t i = 0; i < operators; ++i) {
      switch (random() % 4) {
        case 0: tensors.push_back(*builder.apply1("relu", {}, {any()})); break;
        case 1: tensors.push_back(*builder.apply1("ewadd", {}, {any(), any()})); break;
        case 2: tensors.push_back(*builder.apply1("matmul", {}, {any(), any()})); break;
        default: {  // Halves of a square, put together again the other way round.
          const std::vector<NamedParam> in_two = {{"axis", std::int64_t{0}},
                                                  {"sizes", std::vector<std::int64_t>{2, 2}}};
          const auto halves = builder.apply("split", in_two, {any()});
          const Port first = (*halves)[1], second = (*halves)[random() % 2];
          tensors.push_back(*builder.apply1("concat", {{"axis", std::int64_t{0}}}, {first, second}));
        }
      }
    }
    for (const Port port : tensors) builder.output(port);
    return builder.finish();
  }

  Registry registry_;
};

TEST_F(Terms, FormsAreEqualWhereTheLeastTextsAre) {
  std::mt19937 random(11);
  std::map<std::string, std::string> naive_of;  // By form.
  std::map<std::string, std::string> form_of;   // By least text.
  std::size_t met_again = 0;
  TermBank bank;
  for (int i = 0; i < 4'000; ++i) {
    bank.clear();
    const std::vector<TermId> terms = bank.outputs(random_graph(random, 1 + random() % 4));
    Pairs pairs;
    for (std::size_t count = 1 + random() % 2; pairs.size() < count;)
      pairs.emplace_back(terms[random() % terms.size()], terms[random() % terms.size()]);
    const std::string form = canonical_form(bank, pairs, label_of), naive = naive_form(bank, pairs);
    const auto [known, fresh] = naive_of.emplace(form, naive);
    ASSERT_EQ(known->second, naive) << "different claims of form " << form;
    const auto [other, new_text] = form_of.emplace(naive, form);
    ASSERT_EQ(other->second, form) << "one claim, " << naive << ", of two forms";
    met_again += fresh ? 0 : 1;
  }
  EXPECT_GT(met_again, 500U);
  EXPECT_GT(naive_of.size(), 500U);
}

TEST_F(Terms, OneTensorForAnotherIsReplacedWhereverItStands) {
  TermBank bank;
  GraphBuilder builder(&registry_);
  const Port x = *builder.input("x", {Shape{4, 4}});
  const Port relu = *builder.apply1("relu", {}, {x});
  builder.output(*builder.apply1("matmul", {}, {relu, *builder.apply1("ewadd", {}, {relu, x})}));
  builder.output(relu);
  const std::vector<TermId> terms = bank.outputs(builder.finish());
  const TermId t = bank.input("t", Shape{4, 4}, InputKind::kData);
  const TermId replaced = bank.replace(terms[0], terms[1], t);
  EXPECT_EQ(naive_text(bank, replaced, {{t, "t"}, {bank.input("x", Shape{4, 4}, InputKind::kData), "x"}}),
            fmt::format("{}.0(t,{}.0(t,x))", bank.text_of_head(bank[terms[0]]),
                        bank.text_of_head(bank[bank[terms[0]].operands[1]])));
  EXPECT_EQ(bank.replace(terms[1], terms[0], t), terms[1]);
}

}  // namespace
}  // namespace rewright
