// Costs that take long to find out: progress, and what is left when somebody stops.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <pty.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <limits>
#include <sstream>

#include "onnx/export.h"
#include "optimize/cost_cache.h"
#include "optimize/optimizer.h"
#include "support/random.h"
#include "support/true_rules.h"
#include "support/fixed_prices.h"

namespace rewright {
namespace {

namespace fs = std::filesystem;
using ::testing::AnyOf;
using testing::FixedPrices;
using ::testing::HasSubstr;
using testing::loaded;
using testing::Random;
using testing::read_graph;

constexpr std::uint64_t kNever = std::numeric_limits<std::uint64_t>::max();
constexpr double kInfinite = std::numeric_limits<double>::infinity();

/// Convolutions cost 10, with their channels last on both sides 4; everything else costs 1.
class Prices final : public CostModel {
 public:
  [[nodiscard]] std::string name() const override { return "prices"; }
  [[nodiscard]] std::string summary() const override { return "of a test"; }
  [[nodiscard]] std::string device() const override { return "none"; }
  [[nodiscard]] bool measured() const override { return true; }
  [[nodiscard]] bool knows_layouts() const override { return true; }
  Status configure(const Options&, const Registry&) override { return {}; }
  [[nodiscard]] Result<double> cost_us(const Application& application) override {
    ++questions;
    const auto& orders = application.orders;
    if (application.op.name() != "conv2d") return 1.0;
    if (orders.empty()) return 10.0;
    if (orders.front() != orders.back() || block_of(orders.back()) > 0) return kInfinite;
    return orders.back().empty() ? in_order : 4.0;
  }
  [[nodiscard]] std::unique_ptr<CostModel> clone() const override { return std::make_unique<Prices>(); }

  std::uint64_t questions = 0;
  double in_order = 10;  ///< Where it is told so, and not left to choose.
};

constexpr std::string_view kImages = R"(
x = input (1, 4, 6, 6)
w = weight (6, 4, 3, 3)
v = weight (4, 6, 3, 3)
u = weight (4, 6, 3, 3)
a = conv2d(x, w)
r = relu(a)
b = conv2d(r, v)
c = conv2d(r, u)
s = ewadd(b, c)
t = transpose[perm=[0, 2, 3, 1]](s)
output t
)";

std::vector<Field> values_of(const Graph& graph) {
  Random random(7);
  std::vector<Tensor<Field>> inputs;
  for (const NodeId id : graph.inputs()) {
    inputs.emplace_back(graph.node(id).outputs[0].shape);
    for (Field& value : inputs.back().values()) value = Field::from_integer(random.between(-1000, 1000));
  }
  const auto outputs = *evaluate<Field>(graph, std::span<const Tensor<Field>>(inputs));
  return {outputs[0].values().begin(), outputs[0].values().end()};
}

struct Stopped {
  OptimizeReport report;
  std::uint64_t questions = 0;
};

/// Stopped as soon as more than so many kernels would be asked about.
Stopped stopped_after(std::uint64_t most, LayoutUse layout, CostCache* cache = nullptr) {
  Prices prices;
  GraphCost in_order(prices, cache), in_layouts(prices, cache, *loaded().get<Operator>("transpose"));
  OptimizeOptions options{.registry = &loaded(), .layout = layout, .in_layouts = &in_layouts};
  options.measuring = [&](bool, std::uint64_t asked) {
    EXPECT_EQ(asked, prices.questions);
    return asked < most;
  };
  const auto search = (*loaded().get<SearchStrategy>("greedy"))->clone();
  const std::vector<Rule> rules = {testing::read_rule(
      "(x:4, v:4, w:4) ewadd(conv2d(x, v), conv2d(x, w)) => conv2d(x, ewadd(v, w)) where v.2 = w.2, v.3 = w.3")};
  auto report = optimize(read_graph(kImages), rules, *search, in_order, options);
  if (!report) fail(report.error().message);
  return {*std::move(report), prices.questions};
}

class Measuring : public ::testing::TestWithParam<LayoutUse> {};

TEST_P(Measuring, StoppedAnywhereGivesTheBestOfWhatIsKnown) {
  const std::vector<Field> expected = values_of(read_graph(kImages));
  const Stopped whole = stopped_after(kNever, GetParam());
  EXPECT_FALSE(whole.report.search.stopped_early);
  bool some_gain = GetParam() == LayoutUse::kNone;
  for (std::uint64_t most = 0; most < whole.questions; ++most) {
    SCOPED_TRACE(most);
    const auto [report, questions] = stopped_after(most, GetParam());
    const SearchResult& search = report.search;
    EXPECT_TRUE(search.stopped_early);
    EXPECT_EQ(questions, most);
    EXPECT_LE(search.cost_after_us, search.cost_before_us);
    EXPECT_GE(search.cost_after_us, whole.report.search.cost_after_us);
    EXPECT_TRUE(search.path.empty() || std::isfinite(search.cost_before_us)) << "a gain over what was not measured";
    EXPECT_EQ(values_of(report.best), expected);
    some_gain = some_gain || search.cost_after_us < search.cost_before_us;
  }
  EXPECT_TRUE(some_gain) << "what was known when it was stopped was of no use";
}

INSTANTIATE_TEST_SUITE_P(Layouts, Measuring,
                         ::testing::Values(LayoutUse::kNone, LayoutUse::kOnly, LayoutUse::kSequential,
                                           LayoutUse::kJoint));

TEST(MeasuringLayouts, AsksInOrderFirstSoThatThereIsSoonSomethingToChooseFrom) {
  const Stopped whole = stopped_after(kNever, LayoutUse::kOnly);
  const double least = whole.report.search.cost_after_us, most = whole.report.search.cost_before_us;
  EXPECT_EQ(most, 33) << "three convolutions, relu, ewadd, transpose";
  EXPECT_EQ(least, 1 + 4 + 1 + 4 + 4 + 1) << "in, and out by the transpose, which is none then";
  bool some_layouts = false;
  for (std::uint64_t asked = 0; asked < whole.questions && !some_layouts; ++asked) {
    const double after = stopped_after(asked, LayoutUse::kOnly).report.search.cost_after_us;
    some_layouts = after > least && after < most;
  }
  EXPECT_TRUE(some_layouts) << "part of the layouts, before all kernels were measured";
}

TEST(MeasuringLayouts, CallsNoGainThatTheSameWasMeasuredTwice) {
  Prices prices;
  prices.in_order = 1;
  GraphCost in_order(prices, nullptr), in_layouts(prices, nullptr, *loaded().get<Operator>("transpose"));
  const auto search = (*loaded().get<SearchStrategy>("greedy"))->clone();
  const Graph graph = read_graph("x = input (1, 4, 6, 6)\nw = weight (6, 4, 3, 3)\na = conv2d(x, w)\noutput a\n");
  const auto report = optimize(graph, {}, *search, in_order,
                               {.registry = &loaded(), .layout = LayoutUse::kOnly, .in_layouts = &in_layouts});
  ASSERT_TRUE(report) << report.error().message;
  EXPECT_EQ(report->reordered, 0u);
  EXPECT_TRUE(report->search.path.empty());
  EXPECT_EQ(report->search.cost_after_us, report->search.cost_before_us);
}

TEST(MeasuringSearches, StoppedGiveTheBestOfWhatIsKnown) {
  const Graph graph = read_graph(
      "x = input (4, 4)\nv = weight (4, 4)\nw = weight (4, 4)\na = matmul(x, v)\nb = matmul(x, w)\ns = ewadd(a, b)\n"
      "r = relu(s)\nt = transpose(r)\nu = transpose(t)\np = concat(u, x)\nq = relu(p)\noutput q\n");
  const std::vector<Field> expected = values_of(graph);
  for (const char* name : {"backtracking", "greedy", "beam", "annealing", "sampling", "mcts", "egraph"}) {
    SCOPED_TRACE(name);
    const SearchStrategy* strategy = *loaded().get<SearchStrategy>(name);
    std::uint64_t questions = 1;
    for (std::uint64_t most = 0; most <= questions; ++most) {
      SCOPED_TRACE(most);
      FixedPrices prices({{"matmul", 30}, {"ewadd", 10}, {"transpose", 2}});
      prices.sequences = {{"matmul", "ewadd", "relu"}};
      GraphCost cost(prices, nullptr);
      OptimizeOptions options{.steps = 10, .candidates = 300};
      std::uint64_t calls = 0;
      options.measuring = [&](bool, std::uint64_t asked) { return ++calls, most == 0 || asked < most; };
      const auto report = optimize(graph, testing::true_rules(), *strategy->clone(), cost, options);
      ASSERT_TRUE(report) << report.error().message;
      EXPECT_EQ(report->search.stopped_early, most > 0 && most < questions);
      EXPECT_LE(report->search.cost_after_us, report->search.cost_before_us);
      if (std::isfinite(report->search.cost_after_us)) {
        EXPECT_EQ(report->search.cost_after_us, *cost.cost_us(report->best)) << "it is one that was measured";
      }
      EXPECT_EQ(values_of(report->best), expected);
      if (most == 0) questions = calls;
    }
  }
}

TEST(MeasuringCaches, AreAskedEvenAfterAStop) {
  const fs::path file = fs::temp_directory_path() / fmt::format("rewright-measuring-{}.sqlite", ::getpid());
  fs::remove(file);
  {
    const auto cache = *open_cost_cache(file.string());
    const Stopped whole = stopped_after(kNever, LayoutUse::kJoint, cache.get());
    EXPECT_GT(whole.questions, 0u);
    const Stopped again = stopped_after(0, LayoutUse::kJoint, cache.get());
    EXPECT_EQ(again.questions, 0u);
    EXPECT_FALSE(again.report.search.stopped_early) << "there was nothing to stop";
    EXPECT_EQ(again.report.search.cost_after_us, whole.report.search.cost_after_us);
  }
  fs::remove(file);
}

TEST(MeasuredCosts, MayBeManySecondsLong) {
  const Graph graph = read_graph("x = input (1, 4, 6, 6)\nw = weight (4, 4, 3, 3)\na = conv2d(x, w)\noutput a\n");
  FixedPrices prices({{"conv2d", 20e6}});
  EXPECT_EQ(*GraphCost(prices, nullptr).cost_us(graph), 20e6);
  class Slow final : public CostModel {
   public:
    [[nodiscard]] std::string name() const override { return "slow"; }
    [[nodiscard]] std::string summary() const override { return "of a test"; }
    [[nodiscard]] std::string device() const override { return "none"; }
    [[nodiscard]] bool measured() const override { return false; }
    [[nodiscard]] bool knows_layouts() const override { return true; }
    Status configure(const Options&, const Registry&) override { return {}; }
    [[nodiscard]] Result<double> cost_us(const Application&) override { return 20e6; }
    [[nodiscard]] std::unique_ptr<CostModel> clone() const override { return std::make_unique<Slow>(); }
  } slow;
  EXPECT_EQ(*GraphCost(slow, nullptr, *loaded().get<Operator>("transpose")).cost_us(graph), 20e6);
}

// --- the program -----------------------------------------------------------------------------------------------

struct OnTerminal {
  std::string shown;
  int status = -1;
};

/// Runs `rewright optimize ARGUMENTS` in a folder on a terminal; sends the signal once the text was seen there.
OnTerminal run_on_terminal(const fs::path& folder, const std::string& arguments, const std::string& text, int signal) {
  int terminal = -1;
  const pid_t child = ::forkpty(&terminal, nullptr, nullptr, nullptr);
  if (child == 0) {
    const std::string command =
        fmt::format("cd '{}' && exec '{}/bin/rewright' optimize {}", folder.string(), REWRIGHT_BUILD_DIR, arguments);
    ::execl("/bin/sh", "sh", "-c", command.c_str(), nullptr);
    ::_exit(127);
  }
  OnTerminal seen;
  bool sent = false;
  char buffer[4096];
  for (ssize_t count = 0; (count = ::read(terminal, buffer, sizeof(buffer))) > 0;) {
    seen.shown.append(buffer, static_cast<std::size_t>(count));
    if (!sent && seen.shown.find(text) != std::string::npos) sent = true, ::kill(child, signal);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  ::close(terminal);
  seen.status = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  return seen;
}

class MeasuringProgram : public ::testing::Test {
 protected:
  MeasuringProgram() : folder_(fs::temp_directory_path() / fmt::format("rewright-measuring-{}", ::getpid())) {
    fs::remove_all(folder_);
    fs::create_directories(folder_);
    GraphBuilder builder(&loaded());
    const auto image = *builder.input("x", {Shape{1, 4, 6, 6}, ElementType::kFloat32});
    const TensorType type{Shape{4, 4, 3, 3}, ElementType::kFloat32};
    const auto weight =
        *builder.input("w", type, InputKind::kWeight, std::make_shared<const ConstantData>(ConstantData{type, 0.25}));
    const Port once = *builder.apply1("conv2d", {}, {image, weight});
    builder.output(*builder.apply1("conv2d", {}, {*builder.apply1("relu", {}, {once}), weight}), "y");
    std::ofstream(folder_ / "model.onnx", std::ios::binary) << *export_model(builder.finish());
  }
  ~MeasuringProgram() override { fs::remove_all(folder_); }
  [[nodiscard]] std::string content(const std::string& name) const {
    std::ifstream in(folder_ / name, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
  }
  fs::path folder_;
  /// A second for each kernel, and eight of them at least.
  const std::string command_ =
      "model.onnx -o out.onnx --cost onednn --cost-option formats=told --cost-option repetitions=5 "
      "--cost-option batch_us=200000 --cost-cache costs.sqlite --layout ";
};

TEST_F(MeasuringProgram, ShowsProgressAndStopsWithTheBestSoFar) {
  for (const auto& [layout, signal] : {std::pair("only", SIGINT), std::pair("joint", SIGTERM)}) {
    SCOPED_TRACE(layout);
    fs::remove(folder_ / "costs.sqlite");
    const OnTerminal ran = run_on_terminal(folder_, command_ + layout, " kernels", signal);
    EXPECT_EQ(ran.status, 3) << ran.shown;
    EXPECT_THAT(ran.shown, HasSubstr("measure: "));
    EXPECT_THAT(ran.shown, AnyOf(HasSubstr("the best graph so far was checked and written"),
                                 HasSubstr("stopped before a result was compared and measured")))
        << "the first, unless the machine does other work";
    EXPECT_FALSE(content("out.onnx").empty());
    EXPECT_GT(content("costs.sqlite").size(), 0u);
    fs::remove(folder_ / "out.onnx");
  }
}

}  // namespace
}  // namespace rewright
