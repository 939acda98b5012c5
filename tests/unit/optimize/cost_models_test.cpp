// What the cost models that come with the program say, and what they refuse.
#include <fmt/ranges.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <fstream>

#include "optimize/cost_cache.h"
#include "support/operators.h"
#include "support/fixed_prices.h"

namespace rewright {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::HasSubstr;
using testing::loaded;

Graph graph_of(std::string_view text) { return *parse_graph(text, loaded()); }

Result<std::unique_ptr<CostModel>> model(const std::string& name, const Options& options = {}) {
  REWRIGHT_TRY(const CostModel* known, loaded().get<CostModel>(name));
  auto made = known->clone();
  REWRIGHT_CHECK(made->configure(options, loaded()));
  return made;
}

double cost(const std::string& name, const Options& options, std::string_view text) {
  const auto made = model(name, options);
  if (!made) return ADD_FAILURE() << made.error().message, -1;
  return *GraphCost(**made, nullptr).cost_us(graph_of(text));
}

std::string refusal(const std::string& name, const Options& options) {
  const auto made = model(name, options);
  return made ? "" : made.error().message;
}

class CostModels : public ::testing::Test {
 protected:
  void SetUp() override {
    folder_ = fs::temp_directory_path() / fmt::format("rewright-models-{}-{}", ::getpid(),
                                                      ::testing::UnitTest::GetInstance()->current_test_info()->name());
    fs::remove_all(folder_);
    fs::create_directories(folder_);
  }
  void TearDown() override { fs::remove_all(folder_); }
  [[nodiscard]] std::string file(const std::string& name) const { return (folder_ / name).string(); }
  [[nodiscard]] std::string write(const std::string& name, const std::string& text) const {
    std::ofstream(file(name)) << text;
    return file(name);
  }
  fs::path folder_;
};

constexpr std::string_view kProduct = "x = input (64, 64)\nw = weight (64, 64)\na = matmul(x, w)\noutput a\n";
constexpr std::string_view kSplit = "x = input (1, 8)\na, b = split[axis=1, sizes=[4, 4]](x)\noutput a, b\n";

TEST_F(CostModels, FlopsIsTheRooflineOfTheDescribedDevice) {
  const std::string device = write("slow.toml", "name = \"slow\"\ngflops = 1\ngbytes_per_s = 1000\noverhead_us = 7\n");
  EXPECT_NEAR(cost("flops", {{"device", device}}, kProduct), 7 + 2.0 * 64 * 64 * 64 / 1e3, 1e-6);
  EXPECT_NEAR(cost("flops", {{"device", device}, {"gflops", 2.0}}, kProduct), 7 + 64.0 * 64 * 64 / 1e3, 1e-6);
  const std::string narrow = write("narrow.toml", "gflops = 1e6\ngbytes_per_s = 1\noverhead_us = 0\n");
  EXPECT_NEAR(cost("flops", {{"device", narrow}}, kProduct), 3 * 4.0 * 64 * 64 / 1e3, 1e-6);
}

TEST_F(CostModels, FlopsReachesItsShareOfThePeakWhereTheDeviceIsNotFilled) {
  const std::string text = "gflops = 1\ngbytes_per_s = 1e9\noverhead_us = 0\n";
  const std::string plain = write("plain.toml", text), wide = write("wide.toml", text + "filled_by = 8192\n");
  EXPECT_NEAR(cost("flops", {{"device", wide}}, kProduct), 2 * cost("flops", {{"device", plain}}, kProduct), 1e-6);
}

TEST_F(CostModels, FlopsKnowsWhatMovesNoData) {
  EXPECT_EQ(cost("flops", {}, "x = input (2, 8)\na = reshape[sizes=[16]](x)\noutput a\n"), 0);
  EXPECT_GT(cost("flops", {}, kSplit), 0) << "one core copies";
  EXPECT_EQ(cost("flops", {{"device", std::string("v100")}}, kSplit), 0) << "both parts are contiguous";
  EXPECT_GT(cost("flops", {{"device", std::string("v100")}},
                 "x = input (2, 8)\na, b = split[axis=1, sizes=[4, 4]](x)\noutput a, b\n"),
            0);
}

TEST_F(CostModels, FlopsCountsAFusedKernelAsOneLaunchThatMovesWhatLeavesIt) {
  const std::string text = "gflops = 1e6\ngbytes_per_s = 1\noverhead_us = 5\n";
  const std::string apart = write("apart.toml", text);
  const std::string one = write("one.toml", text + "fused = [\"matmul ewadd relu|tanh\"]\n");
  const auto with = [&](const std::string& device, std::string_view activation) {
    return cost("flops", {{"device", device}},
                fmt::format("x = input (64, 64)\nw = weight (64, 64)\nm = matmul(x, w)\ns = ewadd(m, x)\na = {}(s)\n"
                            "output a\n",
                            activation));
  };
  const double tensor_us = 64 * 64 * 4 / 1e3;
  EXPECT_NEAR(with(apart, "relu"), 3 * 5 + (3 + 3 + 2) * tensor_us, 1e-6);
  EXPECT_NEAR(with(one, "relu"), 5 + 4 * tensor_us, 1e-6);
  EXPECT_NEAR(with(one, "tanh"), 5 + 4 * tensor_us, 1e-6);
  EXPECT_NEAR(with(one, "exp"), 2 * 5 + (4 + 2) * tensor_us, 1e-6);
}

double cost_in_layouts(const std::string& name, const Options& options, std::string_view text) {
  const auto made = model(name, options);
  if (!made) return ADD_FAILURE() << made.error().message, -1;
  EXPECT_TRUE((*made)->knows_layouts());
  return *GraphCost(**made, nullptr, *loaded().get<Operator>("transpose")).cost_us(graph_of(text));
}

std::string two_convolutions(int channels) {
  return fmt::format(
      "x = input (1, {0}, 9, 9)\nw = weight ({0}, {0}, 3, 3)\na = conv2d(x, w)\nb = conv2d(a, w)\noutput b\n",
      channels);
}

TEST_F(CostModels, FlopsHasConvolutionsInBlocksWhereTheDeviceHas) {
  const std::string text = "gflops = 1\ngbytes_per_s = 1e9\noverhead_us = 5\n";
  const std::string plain = write("plain.toml", text + "channels_last = 1\n");
  const std::string blocked = write("blocked.toml", text + "channels_blocked = 0.5\n");
  const std::string eights = write("eights.toml", text + "channels_blocked = 0.5\nblock = 8\n");
  const double full = cost("flops", {{"device", plain}}, two_convolutions(32));
  EXPECT_EQ(cost_in_layouts("flops", {{"device", plain}}, two_convolutions(32)), full);
  EXPECT_NEAR(cost_in_layouts("flops", {{"device", blocked}}, two_convolutions(32)), full / 2 + 2 * 5, 0.01)
      << "in and out";
  // 24 channels fill a block and a half of 16: two blocks, a third more to compute.
  const double partly = cost("flops", {{"device", plain}}, two_convolutions(24));
  EXPECT_NEAR(cost_in_layouts("flops", {{"device", blocked}}, two_convolutions(24)),
              partly * 0.5 * 4 / 3 + 2 * 5 * 4 / 3.0, 0.01);
  EXPECT_NEAR(cost_in_layouts("flops", {{"device", eights}}, two_convolutions(24)), partly / 2 + 2 * 5, 0.01);
  EXPECT_THAT(refusal("flops", {{"device", write("g.toml", "gflops = 1\nblock = 12\n")}}),
              AllOf(HasSubstr("g.toml:2"), HasSubstr("block is 8 or 16")));
}

std::string grouped(int groups) {
  return fmt::format("x = input (1, 64, 8, 8)\nw = weight (64, {}, 3, 3)\na = conv2d[groups={}](x, w)\noutput a\n",
                     64 / groups, groups);
}

TEST_F(CostModels, FlopsStartsEachGroupByItselfWhereTheDeviceDoes) {
  const std::string text = "gflops = 1\ngbytes_per_s = 1e9\noverhead_us = 5\n";
  const std::string together = write("together.toml", text + "groups = \"together\"\n");
  const std::string apart = write("apart.toml", text + "groups = \"apart\"\n");
  // 64 outputs a position, each of 9 * 64 / groups products: flops, at 1000 of them a microsecond.
  const auto computing_us = [](int groups) { return 64.0 * 64 * 9 * 64 / groups * 2 / 1000; };
  for (const int groups : {1, 8}) {
    EXPECT_NEAR(cost("flops", {{"device", together}}, grouped(groups)), 5 + computing_us(groups), 0.01);
    EXPECT_NEAR(cost("flops", {{"device", apart}}, grouped(groups)), 5 * groups + computing_us(groups), 0.01);
  }
  // 4096 outputs fill the device, the 512 of one group an eighth of it.
  const std::string wide = write("wide.toml", text + "groups = \"apart\"\nfilled_by = 4096\n");
  EXPECT_NEAR(cost("flops", {{"device", wide}}, grouped(8)), 5 * 8 + 8 * computing_us(8), 0.01);
  EXPECT_THAT(refusal("flops", {{"device", write("h.toml", "gflops = 1\ngroups = 2\n")}}),
              AllOf(HasSubstr("h.toml:2"), HasSubstr("apart")));
}

TEST_F(CostModels, FlopsSlowsGroupsDownThatDoNotFillVectors) {
  const std::string text = "gflops = 1\ngbytes_per_s = 1e9\noverhead_us = 0\n";
  const std::string even = write("even.toml", text);
  const std::string vectors = write("vectors.toml", text + "group_channels = 16\ngroup_slowdown = 3\n");
  const auto times = [&](int groups) {
    return cost("flops", {{"device", vectors}}, grouped(groups)) / cost("flops", {{"device", even}}, grouped(groups));
  };
  EXPECT_NEAR(times(8), 3, 1e-3) << "8 channels";
  EXPECT_NEAR(times(4), 1, 1e-3) << "16 channels";
  EXPECT_NEAR(times(1), 1, 1e-3) << "no groups";
  EXPECT_NEAR(times(64), 1, 1e-3) << "one channel: depthwise";
  EXPECT_THAT(refusal("flops", {{"device", write("i.toml", "gflops = 1\ngroup_channels = 0\n")}}),
              AllOf(HasSubstr("i.toml:2"), HasSubstr("1 to 4096")));
}

TEST_F(CostModels, EveryDeviceThatComesWithFlopsIsFasterThanTheOneBefore) {
  double before = std::numeric_limits<double>::infinity();
  for (const char* device : {"cpu", "v100", "a100", "h100"}) {
    const double now = cost("flops", {{"device", std::string(device)}},
                            "x = input (2048, 2048)\nw = weight (2048, 2048)\na = matmul(x, w)\noutput a\n");
    EXPECT_LT(now, before) << device;
    before = now;
  }
}

TEST_F(CostModels, FlopsNamesWhatIsWrongWithADevice) {
  EXPECT_THAT(refusal("flops", {{"device", std::string("v1000")}}), AllOf(HasSubstr("'v1000'"), HasSubstr("v100")));
  EXPECT_THAT(refusal("flops", {{"device", write("a.toml", "gflops = 1\ngbytes_per_s = 0\noverhead_us = 1\n")}}),
              AllOf(HasSubstr("a.toml:2"), HasSubstr("gbytes_per_s")));
  EXPECT_THAT(refusal("flops", {{"device", write("b.toml", "gflops = 1\nwatts = 3\n")}}),
              AllOf(HasSubstr("b.toml:2"), HasSubstr("watts")));
  EXPECT_THAT(refusal("flops", {{"device", write("c.toml", "gflops = 1\ngbytes_per_s = 1\n")}}),
              HasSubstr("overhead_us is missing"));
  EXPECT_THAT(refusal("flops", {{"device", write("d.toml", "gflops = = 1\n")}}), HasSubstr("d.toml:1"));
  EXPECT_THAT(refusal("flops", {{"device", write("e.toml", "gflops = 1\nfused = \"conv2d relu\"\n")}}),
              AllOf(HasSubstr("e.toml:2"), HasSubstr("list of texts")));
  EXPECT_THAT(refusal("flops", {{"device", write("f.toml", "gflops = 1\nproducts = \"any\"\n")}}),
              AllOf(HasSubstr("f.toml:2"), HasSubstr("strided")));
  EXPECT_THAT(refusal("flops", {{"speed", 1.0}}), HasSubstr("device, gflops"));
}

TEST_F(CostModels, SayWhatTheyAreAndWhatTheyDoNotTake) {
  for (const auto& [name, kind] : {std::pair("flops", "Modelled"), std::pair("database", "Measured elsewhere"),
                                   std::pair("onednn", "Measured"), std::pair("onnxruntime", "Measured")})
    EXPECT_THAT((*loaded().get<CostModel>(name))->summary(), ::testing::StartsWith(kind)) << name;
  EXPECT_TRUE((*loaded().get<CostModel>("onnxruntime"))->measured());
  EXPECT_EQ(refusal("flops", {{"device", std::int64_t{3}}}), "cost model flops: device is a name or a file");
  EXPECT_EQ(refusal("database", {{"files", std::string("a")}}),
            "cost model database has no option 'files'; there are: file, device");
  EXPECT_EQ(refusal("onnxruntime", {{"repetition", std::int64_t{3}}}),
            "cost model onnxruntime has no option 'repetition'; there are: repetitions, batch_us");
  for (const Options::mapped_type& value :
       {Options::mapped_type(std::int64_t{0}), Options::mapped_type(0.5), Options::mapped_type(std::string("many"))})
    EXPECT_EQ(refusal("onnxruntime", {{"repetitions", value}}),
              "cost model onnxruntime: repetitions is a number of at least 1");
}

TEST_F(CostModels, OnnxRuntimeMeasuresWhatItFusesAsOne) {
  const auto made = model("onnxruntime", {{"repetitions", std::int64_t{2}}, {"batch_us", 20.0}});
  if (!made) GTEST_SKIP() << made.error().message;
  EXPECT_THAT((*made)->fused(), ::testing::Contains(std::vector<std::string>{"matmul", "bias_add"}));
  const double us = *GraphCost(**made, nullptr)
                         .cost_us(graph_of("x = input (4, 8)\nw = weight (8, 2)\nb = weight (2)\nm = matmul(x, w)\n"
                                           "a = bias_add[axis=1](m, b)\noutput a\n"));
  EXPECT_GT(us, 0);
  EXPECT_LT(us, 1e5);
}

TEST_F(CostModels, FlopsReadsProductsByColumnsWhereTheDeviceCan) {
  const std::string text = "gflops = 1\ngbytes_per_s = 1e9\noverhead_us = 0\n";
  const Operator& matmul = **loaded().get<Operator>("matmul");
  const std::vector<Shape> shapes = {{2, 4, 4}, {2, 4, 4}};
  const std::vector<InputKind> kinds(2, InputKind::kData);
  const Params none;
  const auto runs = [&](const std::string& products, const std::vector<AxisOrder>& orders) {
    const auto made = *model(
        "flops", {{"device", write(products.substr(0, 2) + ".toml", text + "products = \"" + products + "\"\n")}});
    return std::isfinite(*made->cost_us({matmul, none, shapes, kinds, orders}));
  };
  const AxisOrder rows = {}, columns = {0, 2, 1}, batch_inside = {1, 0, 2};
  EXPECT_TRUE(runs("transposed", {columns, rows, rows}));
  EXPECT_TRUE(runs("transposed", {columns, columns, rows}));
  EXPECT_FALSE(runs("transposed", {batch_inside, rows, rows})) << "a transposed matrix is all that it takes";
  EXPECT_FALSE(runs("transposed", {rows, rows, columns})) << "and it writes rows";
  EXPECT_TRUE(runs("strided", {batch_inside, rows, columns}));
}

TEST_F(CostModels, DatabaseAnswersWhatAnotherModelMeasured) {
  testing::FixedPrices prices({{"matmul", 42}}, /*measured=*/true);
  {
    const auto cache = *open_cost_cache(file("costs.sqlite"));
    ASSERT_TRUE(GraphCost(prices, cache.get()).cost_us(graph_of(kProduct)));
  }
  const Options options = {{"file", file("costs.sqlite")}};
  EXPECT_EQ(cost("database", options, kProduct), 42);
  EXPECT_EQ(cost("database", options, kSplit), std::numeric_limits<double>::infinity()) << "it is not in the file";
  EXPECT_EQ((*model("database", options))->device(), "fixed|none");
}

TEST_F(CostModels, DatabaseWhoseFileIsWrittenOverSaysWhichOne) {
  testing::FixedPrices prices({{"matmul", 42}}, /*measured=*/true);
  {
    const auto cache = *open_cost_cache(file("costs.sqlite"));
    ASSERT_TRUE(GraphCost(prices, cache.get()).cost_us(graph_of(kProduct)));
  }
  const auto made = *model("database", {{"file", file("costs.sqlite")}});
  std::ofstream(file("costs.sqlite")) << std::string(8192, 'x');
  const auto found = GraphCost(*made, nullptr).cost_us(graph_of(kProduct));
  ASSERT_FALSE(found);
  EXPECT_THAT(found.error().message, HasSubstr("cost model database: '" + file("costs.sqlite") + "' cannot be read ("));
}

TEST_F(CostModels, DatabaseOfADamagedFileIsNotTakenForAnEmptyOne) {
  testing::FixedPrices prices({{"matmul", 42}}, /*measured=*/true);
  {
    const auto cache = *open_cost_cache(file("costs.sqlite"));
    ASSERT_TRUE(GraphCost(prices, cache.get()).cost_us(graph_of(kProduct)));
  }
  constexpr std::size_t kPage = 4096;  // The first holds the schema.
  const auto size = std::filesystem::file_size(file("costs.sqlite"));
  std::fstream(file("costs.sqlite"), std::ios::in | std::ios::out | std::ios::binary).seekp(kPage)
      << std::string(size - kPage, 'x');
  const auto made = model("database", {{"file", file("costs.sqlite")}});
  ASSERT_FALSE(made);
  EXPECT_THAT(made.error().message,
              HasSubstr(fmt::format("'{}' cannot be read (database disk image", file("costs.sqlite"))));
}

TEST_F(CostModels, DatabaseKnowsWhatRanAsOneKernel) {
  const std::string_view text =
      "x = input (4, 4)\nw = weight (4, 4)\na = matmul(x, w)\nb = relu(a)\nc = relu(b)\noutput c\n";
  testing::FixedPrices prices({{"matmul", 42}}, /*measured=*/true);
  prices.sequences = {{"matmul", "relu"}};
  {
    const auto cache = *open_cost_cache(file("costs.sqlite"));
    ASSERT_NEAR(*GraphCost(prices, cache.get()).cost_us(graph_of(text)), 43.1, 1e-6);
  }
  EXPECT_NEAR(cost("database", {{"file", file("costs.sqlite")}}, text), 43.1, 1e-6);
}

TEST_F(CostModels, DatabaseWantsToKnowWhichDevice) {
  {
    const auto cache = *open_cost_cache(file("costs.sqlite"));
    for (const char* device : {"onednn|one", "onednn|two"})
      ASSERT_TRUE(cache->insert(fmt::format("{}|relu|data(2)", device), device[7] == 'o' ? 1.0 : 2.0));
  }
  const std::string_view relu = "x = input (2)\na = relu(x)\noutput a\n";
  EXPECT_THAT(refusal("database", {{"file", file("costs.sqlite")}}),
              AllOf(HasSubstr("onednn|one"), HasSubstr("device=")));
  EXPECT_EQ(cost("database", {{"file", file("costs.sqlite")}, {"device", std::string("two")}}, relu), 2);
  EXPECT_THAT(refusal("database", {}), HasSubstr("file=FILE"));
  EXPECT_THAT(refusal("database", {{"file", file("none.sqlite")}}), HasSubstr("none.sqlite"));
  EXPECT_THAT(refusal("database", {{"file", write("text", std::string(4096, 'x'))}}),
              HasSubstr("holds no measurements"));
}

TEST_F(CostModels, OneDnnMeasuresWhatItHasAPrimitiveForAndWhatNot) {
  const Options quick = {{"repetitions", std::int64_t{3}}, {"batch_us", 50.0}};
  const auto convolution = [&](int channels, std::string_view how) {
    return cost("onednn", quick,
                fmt::format("x = input (1, {0}, 28, 28)\nw = weight ({0}, {0}, 3, 3)\na = conv2d{1}(x, w)\noutput a\n",
                            channels, how));
  };
  EXPECT_GT(convolution(128, ""), 4 * convolution(16, "")) << "64 times the work";
  EXPECT_GT(convolution(16, "[strides=[2, 2], activation=relu]"), 0);
  for (const char* text :
       {"x = input (1, 4, 8, 8)\na = pool2d_max[kernel=[3, 3], strides=[2, 2]](x)\noutput a\n",
        "x = input (1, 4, 8, 8)\na = transpose[perm=[0, 2, 3, 1]](x)\noutput a\n",
        "x = input (4, 8)\na = softmax[axis=1](x)\noutput a\n", "x = input (4, 8)\na = ewadd(x, x)\noutput a\n",
        "x = input (4, 8)\na = erf(x)\noutput a\n",
        "x = input (3, 4, 8)\ny = input (3, 8, 2)\na = matmul(x, y)\noutput a\n",
        "x = input (1, 4, 8)\na, b = split[axis=1, sizes=[1, 3]](x)\nc = concat[axis=1](b, a)\noutput c\n",
        "x = input (1, 8, 9, 9)\nw = weight (8, 1, 3, 3)\na = conv2d[groups=8](x, w)\noutput a\n"}) {
    const double us = cost("onednn", quick, text);
    EXPECT_GT(us, 0) << text;
    EXPECT_LT(us, 1e5) << text;
  }
  EXPECT_THAT(refusal("onednn", {{"threads", std::int64_t{2}}}), HasSubstr("repetitions, batch_us, formats"));
  EXPECT_THAT((*model("onednn"))->device(), HasSubstr("oneDNN 2."));
}

TEST_F(CostModels, OneDnnMeasuresInTheFormatsThatItIsTold) {
  const Options told = {{"repetitions", std::int64_t{2}}, {"batch_us", 20.0}, {"formats", std::string("told")}};
  Options unblocked = told;
  unblocked["formats"] = std::string("unblocked");
  const auto made = *model("onednn", told), without = *model("onednn", unblocked);
  EXPECT_FALSE((*model("onednn"))->knows_layouts());
  EXPECT_TRUE(made->knows_layouts());
  EXPECT_NE(made->device(), (*model("onednn"))->device()) << "what is kept under the one is not for the other";
  EXPECT_NE(made->device(), without->device()) << "where what has blocks is kept as impossible";
  const Operator &conv2d = **loaded().get<Operator>("conv2d"), &transpose = **loaded().get<Operator>("transpose");
  const Graph graph = graph_of(two_convolutions(32));
  const Params conv_params = graph.node(NodeId{2}).application()->params,
               still = Params({std::vector<std::int64_t>{0, 1, 2, 3}});
  const std::vector<Shape> shapes = {Shape{1, 32, 9, 9}, Shape{32, 32, 3, 3}};
  const std::vector<InputKind> kinds = {InputKind::kData, InputKind::kWeight};
  const AxisOrder last = {0, 2, 3, 1}, sixteen = {0, 1, 2, 3, -16}, eight = {0, 1, 2, 3, -8};
  for (const AxisOrder& order : {AxisOrder(), last, sixteen, eight}) {
    const std::vector<AxisOrder> orders = {order, {}, order}, moved = {{}, order};
    const Application convolution{conv2d, conv_params, shapes, kinds, orders};
    const Application reorder{transpose, still, std::span(shapes).first(1), std::span(kinds).first(1), moved};
    EXPECT_GT(*made->cost_us(convolution), 0) << fmt::format("{}", fmt::join(order, ", "));
    EXPECT_GT(*made->cost_us(reorder), 0);
    EXPECT_LT(*made->cost_us(reorder), 1e5);
    EXPECT_EQ(std::isinf(*without->cost_us(convolution)), block_of(order) > 0);
    EXPECT_EQ(std::isinf(*without->cost_us(reorder)), block_of(order) > 0);
  }
  const Operator &bias_add = **loaded().get<Operator>("bias_add"), &matmul = **loaded().get<Operator>("matmul");
  const std::vector<AxisOrder> in_blocks = {eight, {}, eight};
  const std::vector<Shape> biased = {Shape{1, 32, 9, 9}, Shape{32}};
  const Application bias{bias_add, Params({std::int64_t{1}}), biased, kinds, in_blocks};
  EXPECT_GT(*made->cost_us(bias), 0) << "by a loop of ours, over whole blocks";
  const std::vector<Shape> batches = {Shape{3, 4, 8}, Shape{3, 8, 2}};
  const std::vector<AxisOrder> batch_last = {{1, 2, 0}, {1, 2, 0}, {1, 2, 0}};
  const Application product{matmul, Params(), batches, kinds, batch_last};
  EXPECT_TRUE(std::isinf(*made->cost_us(product))) << "oneDNN has but its reference for it";
  EXPECT_GT(cost_in_layouts("onednn", told,
                            "x = input (1, 16, 8, 8)\nw = weight (16, 16, 3, 3)\na = conv2d(x, w)\n"
                            "b = pool2d_max[kernel=[2, 2], strides=[2, 2]](a)\nc = relu(b)\n"
                            "d, e = split[axis=1, sizes=[4, 12]](c)\nf = concat[axis=1](e, d)\n"
                            "g = transpose[perm=[0, 2, 3, 1]](f)\noutput g\n"),
            0);
  EXPECT_THAT(refusal("onednn", {{"formats", std::string("best")}}), HasSubstr("formats is any, told or unblocked"));
}

}  // namespace
}  // namespace rewright
