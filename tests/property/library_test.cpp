// Libraries of enumerated rules: what is dropped follows from what is kept, and no altered derivation passes.
#include <rewright/egraph/prover.h>
#include <rewright/verify/certificate.h>
#include <rewright/verify/derivation.h>

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "support/mutants.h"
#include "unit/verify/rules.h"

namespace rewright {
namespace {

/// Proved rules of up to two operators, small ones first.
const std::vector<Rule>& proved() {
  static const std::vector<Rule> kRules = [] {
    EqualityProver prover(test::axioms().axioms());
    SaturationLimits limits;
    limits.assume = false;
    std::vector<Rule> rules;
    for (const auto& found : {testing::matrix_rules(2), testing::image_rules(2)}) {
      for (const Rule& made : found) {
        const Rule rule = test::rule(to_text(made));
        if (prover.prove(rule, limits)) rules.push_back(rule);
      }
    }
    std::ranges::stable_sort(rules, {},
                             [](const Rule& rule) { return rule.source.nodes.size() + rule.target.nodes.size(); });
    return rules;
  }();
  return kRules;
}

struct Selected {
  std::vector<Rule> library;
  std::vector<std::pair<Rule, Derivation>> dropped;
};

Selected select(bool instances_only, int threads = 1) {
  DeriveOptions options;
  options.instances_only = instances_only;
  options.threads = threads;
  const auto answers = select_rules(proved(), test::plugins(), options);
  if (!answers) fail(answers.error().message);
  Selected selected;
  for (std::size_t i = 0; i < proved().size(); ++i) {
    if ((*answers)[i]) {
      selected.dropped.emplace_back(proved()[i], *(*answers)[i]);
    } else {
      selected.library.push_back(proved()[i]);
    }
  }
  return selected;
}

const Selected& selected() {
  static const Selected kSelected = select(false);
  return kSelected;
}

TEST(Library, IsMuchSmallerThanWhatItStandsFor) {
  ASSERT_GT(proved().size(), 300u);
  EXPECT_LT(3 * selected().library.size(), proved().size());
}
TEST(Library, DerivesEveryRuleThatWasDropped) {
  for (const bool instances_only : {true, false}) {
    const Selected& chosen = instances_only ? select(true) : selected();
    auto checker = DerivationChecker::over(chosen.library, test::plugins());
    ASSERT_TRUE(checker);
    for (const auto& [rule, derivation] : chosen.dropped) {
      const Status status = checker->check(rule, derivation.certificate);
      EXPECT_TRUE(status) << to_text(rule) << "\n" << derivation.certificate << status.error().message;
    }
  }
}
TEST(Library, HasNoRuleThatFollowsFromThoseBeforeIt) {
  RuleDeriver before(test::plugins());
  for (const Rule& rule : selected().library) {
    EXPECT_FALSE(before.derive(rule)) << to_text(rule);
    (void)before.add(rule);
  }
}
TEST(Library, IsTheSameOnAnyNumberOfThreads) {
  for (const bool instances_only : {true, false}) {
    const Selected one = select(instances_only, 1), four = select(instances_only, 4);
    ASSERT_EQ(one.dropped.size(), four.dropped.size());
    for (std::size_t i = 0; i < one.dropped.size(); ++i) {
      EXPECT_EQ(one.dropped[i].first.id, four.dropped[i].first.id);
      EXPECT_EQ(one.dropped[i].second.certificate, four.dropped[i].second.certificate);
    }
  }
}
TEST(Library, WithoutOneOfItsRulesNoLongerDerivesAll) {
  const std::vector<Rule>& library = selected().library;
  for (std::size_t without = 0; without < library.size(); without += 7) {
    std::vector<Rule> fewer = library;
    fewer.erase(fewer.begin() + static_cast<std::ptrdiff_t>(without));
    const auto users = std::ranges::count_if(selected().dropped, [&](const auto& dropped) {
      return std::ranges::any_of(dropped.second.uses, [&](const auto& use) { return use.rule == library[without].id; });
    });
    auto checker = DerivationChecker::over(fewer, test::plugins());
    ASSERT_TRUE(checker);
    std::ptrdiff_t rejected = 0;
    for (const auto& [rule, derivation] : selected().dropped) rejected += !checker->check(rule, derivation.certificate);
    EXPECT_EQ(rejected, users) << to_text(library[without]);
  }
}

/// One change of a derivation's text: a line left out or doubled, two lines exchanged, a direction, an operand's
/// number, a name in a substitution, another rule's id, a digit of a digest.
std::string altered(const std::string& text, std::mt19937_64& random) {
  std::vector<std::string> lines;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = text.find('\n', at);
    lines.push_back(text.substr(at, end - at));
    at = end + 1;
  }
  const auto pick = [&](std::size_t count) { return static_cast<std::size_t>(random() % count); };
  const std::size_t at = 2 + pick(lines.size() - 2);
  std::string& line = lines[at];
  const std::size_t direction = line.find(' ') + 1;
  switch (random() % 7) {
    case 0: lines.erase(lines.begin() + static_cast<std::ptrdiff_t>(at)); break;
    case 1: lines.insert(lines.begin() + static_cast<std::ptrdiff_t>(at), std::string(line)); break;
    case 2: std::swap(lines[at], lines[2 + pick(lines.size() - 2)]); break;
    case 3:
      if (direction < line.size()) line[direction] = line[direction] == '>' ? '<' : '>';
      break;
    case 4: line = line.starts_with('.') ? "0" + line.substr(1) : "." + line.substr(1); break;
    case 5: {
      const std::size_t equals = line.find("x1=");
      if (equals != std::string::npos) line.replace(equals, 3, "x0=");
      break;
    }
    default: {
      const std::size_t digest = line.find('@');
      if (digest != std::string::npos) line[digest + 1] = line[digest + 1] == '0' ? '1' : '0';
    }
  }
  std::string changed;
  for (const std::string& each : lines) changed += each + "\n";
  return changed;
}

TEST(Library, RejectsAlteredDerivations) {
  std::mt19937_64 random(20);
  auto checker = DerivationChecker::over(selected().library, test::plugins());
  ASSERT_TRUE(checker);
  std::size_t changed = 0, accepted = 0;
  for (int round = 0; round < 600; ++round) {
    const auto& [rule, derivation] = selected().dropped[random() % selected().dropped.size()];
    if (derivation.steps == 0) continue;
    const std::string other = altered(derivation.certificate, random);
    if (other == derivation.certificate) continue;
    ++changed;
    // A doubled or exchanged step may do no harm (a sum's operands exchanged thrice); it must then prove the same.
    accepted += checker->check(rule, other).has_value();
  }
  EXPECT_GT(changed, 300u);
  EXPECT_LT(accepted, changed / 20);
}
TEST(Library, RejectsADerivationOfAnotherRule) {
  auto checker = DerivationChecker::over(selected().library, test::plugins());
  ASSERT_TRUE(checker);
  const auto changed = testing::mutants(proved(), 150, 4);
  ASSERT_GT(changed.size(), 60u);
  EqualityProver prover(test::axioms().axioms());
  for (const Rule& made : changed) {
    const Rule wrong = test::rule(to_text(made));
    if (prover.prove(wrong)) continue;
    for (std::size_t i = 0; i < selected().dropped.size(); i += 11)
      EXPECT_FALSE(checker->check(wrong, selected().dropped[i].second.certificate)) << to_text(wrong);
  }
}
TEST(Library, DerivesNoMutantThatIsRefuted) {
  RuleDeriver deriver(test::plugins());
  for (const Rule& rule : selected().library) (void)deriver.add(rule);
  std::size_t refuted = 0;
  for (const Rule& made : testing::mutants(proved(), 150, 5)) {
    const Rule wrong = test::rule(to_text(made));
    if (test::ask("evaluate", wrong).kind != VerdictKind::kRefuted) continue;
    ++refuted;
    EXPECT_FALSE(deriver.derive(wrong)) << to_text(wrong);
  }
  EXPECT_GT(refuted, 40u);
}

}  // namespace
}  // namespace rewright
