// The validator takes what lowering makes, and refuses each kind of fault with the iteration that shows it.
#include "loop/validator.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>

#include "loop/lower.h"
#include "support/random_definitions.h"

namespace {

using namespace rewright;
using namespace rewright::loop;
using test_support::RandomDefinition;
using testing::HasSubstr;

/// What the validator says of a program; "" if nothing is wrong.
std::string said_of(std::string_view text) {
  const auto program = parse_program(text);
  if (!program) return "cannot be read: " + program.error().message;
  const auto status = validate(*program);
  return status ? "" : status.error().message;
}

constexpr std::string_view kBuffers =
    "buffer x[4, 8] float32 in\n"
    "buffer n[4] int64 in\nbuffer m[4] uint16 weight\n"
    "buffer y[4] float32 out\n"
    "buffer t[] float32 temporary\n";
std::string with_buffers(std::string_view body) { return std::string(kBuffers) + std::string(body); }

TEST(Validator, TakesWhatLoweringMakes) {
  for (std::uint64_t seed = 0; seed < 300 && !HasFailure(); ++seed) {
    const auto program = lower(RandomDefinition(seed).make());
    ASSERT_TRUE(program);
    const auto status = validate(*program);
    EXPECT_TRUE(status) << seed << ": " << status.error().message << "\n" << to_string(*program);
  }
}

TEST(Validator, NamesTheFault) {
  const std::pair<const char*, const char*> cases[] = {
      {"for y.i 4 serial { store y[y.i] = x[y.i, 8] }", "x[0, 8] lies outside of [4, 8], at y.i = 0"},
      {"for y.i 5 serial { store y[y.i] = 0 }", "y[4] lies outside of [4], at y.i = 4"},
      {"for y.i 3 serial { store y[y.i] = 0 }", "y[3] is never set"},
      {"for y.i 4 serial { store y[floor(y.i / 2)] = 0 }", "y[0] is set twice, at y.i = 1"},
      {"for y.i 4 serial { store y[y.i] += 1 }", "y[0] is updated before it was set, at y.i = 0"},
      {"for y.i 4 serial { store y[y.i] = t[] }", "t[] is read before it was set, at y.i = 0"},
      {"for y.i 4 serial { store y[y.i] = 0 for y.k 8 parallel { store y[y.i] += x[y.i, y.k] } }",
       "y[0] is touched by two iterations of a loop whose iterations have no order, at y.i = 0, y.k = 1"},
      {"for y.i 4 parallel { store y[y.i] = select(index(y.i) < 1, 0, y[y.i - 1]) }", "y[0] is"},
      {"store t[] = 0 for y.i 4 parallel { store t[] += 1 store y[y.i] = t[] }", "t[] is touched by two iterations"},
      {"for y.i 4 serial { store y[y.i] = x[data(n[y.i], 0, 5), 0] }", "x[0..4, 0] lies outside of [4, 8]"},
      {"for y.i 4 serial { store y[data(n[y.i], 0, 4)] = 0 }", "is set at a place that depends on data"},
      {"for y.i 4 serial { store y[y.i] = 0 } store y[y.j] = 1", "size y.j has no number"},
      {"for y.i 4 serial { store y[y.i] = n[y.i] }", "y has element type float32, a value stored in it int64"},
      {"for y.i 4 serial { store y[y.i] = m[y.i] }",
       "m is loaded as a value; numbers of uint16 are read as indices, by data(...)"},
      {"for y.i 4 serial { store y[y.i] = x[y.i] }", "x has 2 sizes; a place in it has 1 indices"},
      {"for y.i 4 serial { store y[y.i] = x[y.i, y.i mod 0] }", "an index is divided by 0"},
      {"for y.i 4 serial { store y[y.i] = 0 store x[y.i, 0] = 1 }", "x is written, though it is given"},
      {"for y.i 4 serial { store y[y.i] = x[y.i, 0] < 1 }", "y has element type float32, a value stored in it bool"},
  };
  for (const auto& [body, fault] : cases) EXPECT_THAT(said_of(with_buffers(body)), HasSubstr(fault)) << body;
}

TEST(Validator, TakesWhatHoldsInTheEnd) {
  const char* const bodies[] = {
      "for y.i 4 parallel { store t[] = 0 for y.k 8 serial { store t[] += x[y.i, y.k] } store y[y.i] = t[] }",
      "for y.i/0 2 parallel { for y.i/1 3 serial { if y.i/0*3 + y.i/1 < 4 { store y[y.i/0*3 + y.i/1] = 0 } } }",
      "for y.i 4 vector { store y[y.i] = x[data(n[y.i], 0, 4), 2] }",
      "for y.i 4 serial { store y[y.i] = select(index(y.i) < 1, 0, y[y.i - 1]) }",
      "for y.i 4 serial { store y[y.i] = 0 } for y.a 9 serial { store y[data(n[y.a mod 4], 0, 4)] += 1 }",
  };
  for (const char* body : bodies) EXPECT_EQ(said_of(with_buffers(body)), "") << body;
}

// --- mutants ---------------------------------------------------------------------------------------------------

/// The program with one statement changed: the n-th of those that `change` gives something for.
std::optional<Program> mutant(const Program& program, std::size_t n,
                              const std::function<std::optional<Body>(const Statement&)>& change) {
  std::size_t seen = 0;
  const std::function<Body(const Body&)> rebuilt = [&](const Body& body) {
    Body result;
    for (const Statement& statement : body) {
      const auto changed = change(statement);
      if (changed && seen++ == n) {
        result.insert(result.end(), changed->begin(), changed->end());
      } else if (const Loop* loop = statement.loop()) {
        result.emplace_back(Loop{loop->axis, loop->extent, loop->kind, rebuilt(loop->body)});
      } else if (const Branch* branch = statement.branch()) {
        result.emplace_back(Branch{branch->condition, rebuilt(branch->body)});
      } else {
        result.push_back(statement);
      }
    }
    return result;
  };
  Program changed{program.buffers, rebuilt(program.body)};
  return seen > n ? std::optional(changed) : std::nullopt;
}

void expect_refused(const std::function<std::optional<Body>(const Program&, const Statement&)>& change) {
  std::size_t mutants = 0;
  for (std::uint64_t seed = 0; seed < 120 && !testing::Test::HasFailure(); ++seed) {
    const auto program = lower(RandomDefinition(seed).make());
    ASSERT_TRUE(program);
    for (std::size_t n = 0; n < 5; ++n) {
      const auto wrong = mutant(*program, n, [&](const Statement& s) { return change(*program, s); });
      if (!wrong) break;
      ++mutants;
      EXPECT_FALSE(validate(*wrong)) << "seed " << seed << ", mutant " << n << "\n" << to_string(*wrong);
    }
  }
  EXPECT_GT(mutants, 20u);
}

bool is_of_an_output(const Program& program, const Store& store) {
  return program[store.buffer].role == BufferRole::kOutput;
}
/// A loop over an axis of a stage that runs at all: its statements store something in an output.
bool is_outer(const Loop& loop) { return loop.axis.name.find(".i") != std::string::npos && loop.extent.number() > 0; }

TEST(Validator, RefusesAStoreAtTheNextPlace) {
  expect_refused([](const Program& program, const Statement& s) -> std::optional<Body> {
    if (s.store() == nullptr || s.store()->at.empty() || !is_of_an_output(program, *s.store())) return std::nullopt;
    if (s.store()->kind != StoreKind::kSet) return std::nullopt;  // It may be in a loop that is never run.
    Store store = *s.store();
    store.at[0] = store.at[0] + 1;
    return Body{Statement(store)};
  });
}

TEST(Validator, RefusesAStageLoopThatIsTooShortOrTooLong) {
  for (const int more : {-1, 1}) {
    expect_refused([more](const Program& program, const Statement& s) -> std::optional<Body> {
      if (s.loop() == nullptr || !is_outer(*s.loop())) return std::nullopt;
      const std::string stage = parse_loop_name(s.loop()->axis.name)->parts[0].stage;
      const bool of_output = std::ranges::any_of(program.buffers, [&](const Buffer& buffer) {
        return buffer.role == BufferRole::kOutput && (buffer.name == stage || buffer.name + "b" == stage);
      });
      if (!of_output) return std::nullopt;
      Loop loop = *s.loop();
      loop.extent = loop.extent + more;
      return Body{Statement(loop)};
    });
  }
}

TEST(Validator, RefusesAStatementThatIsLeftOutOrRunTwice) {
  expect_refused([](const Program& program, const Statement& s) -> std::optional<Body> {
    const Store* store = s.store();
    if (store == nullptr || store->kind != StoreKind::kSet || !is_of_an_output(program, *store)) return std::nullopt;
    return Body{};
  });
  expect_refused([](const Program& program, const Statement& s) -> std::optional<Body> {
    const Store* store = s.store();
    if (store == nullptr || store->kind != StoreKind::kSet || !is_of_an_output(program, *store)) return std::nullopt;
    return Body{s, s};
  });
}

TEST(Validator, SaysWhichWalksAreTooLong) {
  const auto code_of = [](std::string_view body, std::int64_t steps) {
    const auto status = validate(*parse_program(with_buffers(body)), steps);
    return status ? std::nullopt : std::optional(status.error().code);
  };
  constexpr std::string_view kNest = "for y.i 4 serial { store y[y.i] = 0 for y.k 8 serial { store y[y.i] += 1 } }";
  constexpr std::string_view kBranch =
      "for y.i 4 serial { store y[y.i] = 0 for y.k 1000 serial { if y.k < 1 { for y.l 9 serial { store y[y.i] += 1 } } "
      "} }";
  EXPECT_EQ(code_of(kNest, 4 + 1 + 1 + 4 * 2 + 4 * 8), std::nullopt) << "elements of y and t, statements";
  EXPECT_EQ(code_of(kNest, 4 + 1 + 1 + 4 * 2 + 4 * 8 - 1), ErrorCode::kBudget);
  EXPECT_EQ(code_of(kBranch, 4200), std::nullopt) << "the branch is entered four times";
  constexpr std::string_view kHuge =
      "for y.i 4 serial { store y[y.i] = 0 for y.k 4000000000 serial { for y.l 4000000000 serial { for y.m 4000000000 "
      "serial { store y[y.i] += 1 } } } }";
  EXPECT_EQ(code_of(kHuge, kValidationSteps), ErrorCode::kBudget);
}

}  // namespace
