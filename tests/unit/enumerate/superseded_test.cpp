// What is left out because of smaller equalities is never all of a class.
#include "enumerate/superseded.h"

#include <gtest/gtest.h>

#include <map>
#include <set>

#include "support/operators.h"

namespace rewright::enumeration {
namespace {

OperatorChoice choice(const std::string& name, const std::string& params = "") {
  const auto [op, values] = rewright::testing::call(name + params);
  return {op, values};
}

OperatorChoice in_order(OperatorChoice choice) {
  choice.distinct_operands = choice.operands_in_order = true;
  return choice;
}

template <class Visit>
void walk_all(Walk& walk, std::size_t operators, const Visit& visit) {
  for (const Unit& unit : walk.units(operators)) walk.run(operators, unit, visit);
}

/// Graphs of classes of several, of fewer operators than the configuration's, as the enumeration describes them.
std::vector<PartGraph> part_graphs(const EnumerationConfig& config) {
  constexpr Scope kAnyInputs{.inputs_in_order = false, .connected = true, .keep_repetitions = false};
  Walk walk(std::make_unique<OperatorSpace>(config), kAnyInputs, 64);
  std::map<std::uint64_t, int> times;
  for (const TensorHash& hash : walk.input_hashes()) ++times[output_hash(hash)];
  std::vector<PartGraph> all;
  for (std::size_t level = 1; level < static_cast<std::size_t>(config.max_operators); ++level) {
    walk_all(walk, level, [&](const Leaf& leaf) {
      ++times[leaf.fingerprint];
      PartGraph part;
      if (SupersededTest::describe(walk, leaf, part)) all.push_back(part);
    });
  }
  std::erase_if(all, [&](const PartGraph& part) { return times[part.fingerprint] == 1; });
  return all;
}

struct Counts {
  std::size_t graphs = 0, left_out = 0, classes_lost = 0;
};

Counts count(const EnumerationConfig& config) {
  EnumerationConfig fresh = config;
  fresh.seed = 99;
  fresh.sample_factor *= 2;
  tbb::task_arena arena(1);
  const FirstGraphs firsts(part_graphs(config), fresh, arena);
  SupersededTest is_superseded(firsts, config);
  Walk walk(std::make_unique<OperatorSpace>(config), Scope(), 64);
  std::map<std::uint64_t, bool> keeps_one;  // By class.
  for (const Record& wire : wires(walk, true)) keeps_one[wire.fingerprint] = true;
  Counts counts;
  for (std::size_t level = 1; level <= static_cast<std::size_t>(config.max_operators); ++level) {
    walk_all(walk, level, [&](const Leaf& leaf) {
      const bool left_out = is_superseded(walk, leaf);
      ++counts.graphs;
      counts.left_out += left_out ? 1 : 0;
      keeps_one[leaf.fingerprint] |= !left_out;
    });
  }
  for (const auto& [fingerprint, keeps] : keeps_one) counts.classes_lost += keeps ? 0 : 1;
  return counts;
}

EnumerationConfig config_of(int max_operators, std::vector<OperatorChoice> operators,
                            const std::vector<std::array<Shape, 2>>& inputs) {
  EnumerationConfig config;
  config.max_operators = max_operators;
  config.operators = std::move(operators);
  for (std::size_t i = 0; i < inputs.size(); ++i)
    config.inputs.push_back({fmt::format("x{}", i), inputs[i][0], InputKind::kData, {inputs[i][1]}});
  return config;
}

const std::array<Shape, 2> kWide = {Shape{2, 3}, Shape{3, 2}}, kSquare = {Shape{3, 3}, Shape{2, 2}},
                           kScalar = {Shape{}, Shape{}};

/// Nearly as much is left out now: less would be noticed nowhere else.
void expect_a_graph_of_every_class(const EnumerationConfig& config, std::size_t at_least) {
  const Counts counts = count(config);
  EXPECT_GT(counts.left_out, at_least) << "of " << counts.graphs;
  EXPECT_EQ(counts.classes_lost, 0U) << counts.left_out << " left out of " << counts.graphs;
}

TEST(Superseded, LeavesAGraphOfEveryClassOfManyOperators) {
  expect_a_graph_of_every_class(
      config_of(4,
                {choice("matmul"), choice("ewadd"), choice("ewmul"), choice("smul"), choice("relu"),
                 choice("transpose"), choice("concat", "[axis=0]"), choice("concat", "[axis=1]"),
                 choice("split", "[axis=0, sizes=[]]"), choice("split", "[axis=1, sizes=[]]")},
                {kWide, kWide, kSquare, kSquare, kScalar}),
      380'000);
}

TEST(Superseded, LeavesAGraphOfEveryClassWhereOperandsAreTakenInOrder) {
  const OperatorChoice rows = in_order(choice("concat", "[axis=0]")), columns = in_order(choice("concat", "[axis=1]"));
  const OperatorChoice upper = choice("split", "[axis=0, sizes=[]]"), left = choice("split", "[axis=1, sizes=[]]");
  expect_a_graph_of_every_class(
      config_of(5, {choice("transpose"), choice("ewadd"), rows, columns, upper, left}, {kWide, kWide}), 19'500);
  expect_a_graph_of_every_class(
      config_of(5, {choice("relu"), columns, left, choice("matmul")}, {kWide, kWide, kSquare}), 16'500);
}

TEST(Superseded, LeavesAGraphOfEveryClassOfFewOperators) {
  expect_a_graph_of_every_class(
      config_of(5, {choice("matmul"), choice("ewadd"), choice("transpose")}, {kWide, kWide, kSquare, kSquare}),
      670'000);
  expect_a_graph_of_every_class(
      config_of(5, {choice("relu"), choice("ewmul"), choice("smul")}, {kWide, kWide, kScalar}), 88'000);
}

/// y + y, whatever is before y.
template <int kArity>
class TwiceTheLast final : public OperatorOf<TwiceTheLast<kArity>> {
 public:
  static OperatorInfo describe() {
    return {.name = fmt::format("twice_the_last_of_{}", kArity),
            .summary = "y + y",
            .min_arity = kArity,
            .max_arity = kArity};
  }
  template <class Dim>
  static Result<Shapes<Dim>> shape(const BasicParams<Dim>&, ShapeInputs<Dim> in, Constraints<Dim>&) {
    return Shapes<Dim>{in.back()};
  }
  template <class A>
  static void define(A& a, const Params&) {
    const auto y = a.in(a.arity() - 1);
    a.out(0).is("i", [&](auto i) { return y(i) + y(i); });
  }
};

TEST(Superseded, LeavesAGraphOfEveryClassWhereAnInputDoesNotCount) {
  // (2 y)^2 from x and y comes after the same from y alone; but y is not used without x, which stands before it.
  static const TwiceTheLast<1> kTwice;
  static const TwiceTheLast<2> kTwiceTheSecond;
  const OperatorChoice twice{&kTwice, {}}, second{&kTwiceTheSecond, {}}, multiply = choice("ewmul");
  for (const auto& operators : {std::vector{twice, second, multiply}, std::vector{second, twice, multiply},
                                std::vector{multiply, second, twice}}) {
    const Counts counts = count(config_of(2, operators, {kWide, kWide}));
    EXPECT_GT(counts.left_out, 0U);
    EXPECT_EQ(counts.classes_lost, 0U);
  }
}

}  // namespace
}  // namespace rewright::enumeration
