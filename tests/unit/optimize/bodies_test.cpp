// Bodies of If, Loop and Scan: what is searched in them, what becomes of what they share with the graph around them,
// and that the whole model still computes the same.
#include "optimize/bodies.h"

#include <gmock/gmock.h>
#include <google/protobuf/text_format.h>
#include <gtest/gtest.h>
#include <onnx/onnx_pb.h>

#include <tuple>

#include "onnx/body.h"
#include "optimize/model_run.h"
#include "support/true_rules.h"

namespace rewright {
namespace {

using ::onnx::GraphProto;
using ::onnx::ModelProto;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using testing::loaded;
using ::testing::SizeIs;

constexpr int kWidth = 40;  // Weights have 1,600 elements: copies of them cost something.

// --- models ----------------------------------------------------------------------------------------------------

std::string value(const std::string& kind, const std::string& name, const std::string& sizes, int element = 1) {
  std::string dims;
  for (std::size_t at = 0; at < sizes.size();) {
    const std::size_t end = std::min(sizes.find(' ', at), sizes.size());
    const std::string size = sizes.substr(at, end - at);
    const bool is_number = size.find_first_not_of("0123456789") == std::string::npos;
    dims += is_number ? "dim { dim_value: " + size + " } " : "dim { dim_param: '" + size + "' } ";
    at = end + 1;
  }
  return fmt::format("{} {{ name: '{}' type {{ tensor_type {{ elem_type: {} shape {{ {} }} }} }} }} ", kind, name,
                     element, dims);
}
/// An input or output of a body, which says no sizes.
std::string bare(const std::string& kind, const std::string& name, int element = 1) {
  return fmt::format("{} {{ name: '{}' type {{ tensor_type {{ elem_type: {} }} }} }} ", kind, name, element);
}
std::string node(const std::string& type, const std::string& inputs, const std::string& outputs,
                 const std::string& attributes = "") {
  std::string text = "node { op_type: '" + type + "' ";
  const auto add = [&](const std::string& field, const std::string& names) {
    for (std::size_t at = 0; at <= names.size() && !names.empty();) {
      const std::size_t end = std::min(names.find(' ', at), names.size());
      const std::string name = names.substr(at, end - at);
      text += field + ": '" + (name == "-" ? "" : name) + "' ";
      at = end + 1;
    }
  };
  add("input", inputs);
  add("output", outputs);
  return text + attributes + " } ";
}
std::string body(const std::string& name, const std::string& graph) {
  return fmt::format("attribute {{ name: '{}' type: GRAPH g {{ name: '{}' {} }} }} ", name, name, graph);
}
std::string integer(const std::string& name, int number) {
  return fmt::format("initializer {{ name: '{}' data_type: 7 int64_data: {} }} ", name, number);
}

void add_weight(GraphProto& graph, const std::string& name, int seed) {
  auto& tensor = *graph.add_initializer();
  tensor.set_name(name);
  tensor.set_data_type(1);
  tensor.add_dims(kWidth);
  tensor.add_dims(kWidth);
  for (int i = 0; i < kWidth * kWidth; ++i)
    tensor.add_float_data(static_cast<float>(((i * 7 + seed * 13) % 31) - 15) / 128);
}

/// With weights "v" and "w".
ModelProto model_of(const std::string& graph, std::int64_t ir = 8, std::int64_t opset = 17) {
  ModelProto model;
  model.set_ir_version(ir);
  model.add_opset_import()->set_version(opset);
  EXPECT_TRUE(google::protobuf::TextFormat::ParseFromString("name: 'g' " + graph, model.mutable_graph())) << graph;
  add_weight(*model.mutable_graph(), "v", 1);
  add_weight(*model.mutable_graph(), "w", 2);
  return model;
}

/// `to` = `from` V + `from` W: two products where one does.
std::string sum_of_products(const std::string& from, const std::string& to) {
  return node("MatMul", from + " v", to + "_v") + node("MatMul", from + " w", to + "_w") +
         node("Add", to + "_v " + to + "_w", to);
}

const std::string kX = value("input", "x", "400 40"), kY = value("output", "y", "400 40");
const std::string kCondition = value("input", "c", "", 9);

std::string conditional(const std::string& then_graph, const std::string& name = "y") {
  return node("If", "c", name,
              body("then_branch", then_graph + bare("output", "t")) +
                  body("else_branch", node("Relu", "x", "e") + bare("output", "e")));
}
/// The body of a Loop that carries "s" from step to step.
std::string loop(const std::string& graph, const std::string& made) {
  return integer("m", 3) + node("Loop", "m - x", "y",
                                body("body", value("input", "i", "", 7) + value("input", "go_on", "", 9) +
                                                 bare("input", "s") + graph + node("Identity", "go_on", "goes_on") +
                                                 value("output", "goes_on", "", 9) + bare("output", made)));
}
/// Of 4 slices, each added to what is carried.
std::string scan(const std::string& graph) {
  return node("Scan", "x many", "y ys",
              "attribute { name: 'num_scan_inputs' type: INT i: 1 } " +
                  body("body", bare("input", "s") + bare("input", "part") + graph + node("Add", "s part", "next") +
                                   bare("output", "next") + bare("output", "t")));
}

const std::string kMany = value("input", "many", "4 400 40") + value("output", "ys", "4 400 40");

ImportOptions reading_to(int depth) {
  ImportOptions options;
  options.body_depth = depth;
  return options;
}

// --- what becomes of them --------------------------------------------------------------------------------------

struct Optimised {
  ModelProto model;
  OptimizeReport report;
  JudgedModel judged;
  Reading reading;
};

Optimised optimise(const ModelProto& model, const Sizes& sizes = {}) {
  const Runtime* runtime = loaded().find<Runtime>("onnxruntime");
  if (runtime != nullptr && !runtime->version()) runtime = nullptr;
  Optimised made;
  const ModelSource source{model.SerializeAsString(), "the model", ".", sizes};
  auto opened = open_model(source, loaded(), runtime);
  EXPECT_TRUE(opened) << opened.error().message;
  if (!opened) return made;
  simplify(*opened);
  made.reading = reading_of(opened->imported);
  const auto price = (*loaded().get<CostModel>("flops"))->clone();
  const auto search = (*loaded().get<SearchStrategy>("backtracking"))->clone();
  GraphCost cost(*price, nullptr);
  GraphSearch each;
  each.search = [&](const Graph& graph, double, bool) {
    return optimize(graph, testing::true_rules(), *search, cost, {.steps = 50});
  };
  each.write = [](const Graph& graph, const ImportedModel& origin, bool exact, const std::set<std::string>& taken) {
    return write_graph(graph, origin, {.exact = exact, .taken = &taken});
  };
  auto report = search_with_bodies(opened->start(), each);
  EXPECT_TRUE(report) << report.error().message;
  if (!report) return made;
  made.report = *std::move(report);
  EXPECT_NEAR(made.report.search.cost_before_us, *cost_with_bodies(opened->start(), cost), 1e-9);
  EquivalenceOptions options;
  options.runtime = runtime;
  auto judged = judge_result(*opened, made.report, options);
  EXPECT_TRUE(judged) << judged.error().message;
  if (!judged) return made;
  made.judged = *std::move(judged);
  EXPECT_TRUE(made.model.ParseFromString(made.judged.bytes));
  return made;
}

/// All nodes of the type, in bodies too.
int count(const GraphProto& graph, const std::string& type) {
  int nodes = 0;
  for (const auto& node : graph.node()) {
    nodes += static_cast<int>(node.op_type() == type);
    for (const auto& attribute : node.attribute())
      if (attribute.has_g()) nodes += count(attribute.g(), type);
  }
  return nodes;
}
/// Of all stored tensors, in bodies too.
int stored_elements(const GraphProto& graph) {
  int elements = 0;
  const auto add = [&](const ::onnx::TensorProto& tensor) {
    int size = 1;
    for (const auto dim : tensor.dims()) size *= static_cast<int>(dim);
    elements += size;
  };
  for (const auto& tensor : graph.initializer()) add(tensor);
  for (const auto& node : graph.node())
    for (const auto& attribute : node.attribute()) {
      if (attribute.has_t()) add(attribute.t());
      if (attribute.has_g()) elements += stored_elements(attribute.g());
    }
  return elements;
}
const GraphProto& body_of(const ::onnx::NodeProto& node, const std::string& name) {
  for (const auto& attribute : node.attribute())
    if (attribute.name() == name) return attribute.g();
  ADD_FAILURE() << "no " << name;
  return node.attribute(0).g();
}
const ::onnx::NodeProto& find(const GraphProto& graph, const std::string& type) {
  for (const auto& node : graph.node())
    if (node.op_type() == type) return node;
  ADD_FAILURE() << "no " << type;
  return graph.node(0);
}

struct Case {
  std::string name;
  std::string graph;
  int bodies = 1;
  std::int64_t ir = 8;
};
void PrintTo(const Case& given, std::ostream* out) { *out << given.name; }
class Bodies : public ::testing::TestWithParam<Case> {};

TEST_P(Bodies, BecomeCheaperInPlace) {
  const ModelProto model = model_of(GetParam().graph, GetParam().ir);
  const Optimised made = optimise(model);
  EXPECT_EQ(made.reading.bodies, GetParam().bodies);
  EXPECT_THAT(made.report.search.path, SizeIs(1));
  EXPECT_LT(made.report.search.cost_after_us, 0.7 * made.report.search.cost_before_us);
  EXPECT_TRUE(made.judged.equivalence.equal()) << made.judged.equivalence.difference << made.judged.reason;
  EXPECT_FALSE(made.judged.is_original);
  EXPECT_EQ(count(model.graph(), "MatMul"), 2);
  EXPECT_EQ(count(made.model.graph(), "MatMul"), 1);
  EXPECT_EQ(stored_elements(model.graph()) - stored_elements(made.model.graph()), kWidth * kWidth)
      << "the sum of the weights takes the place of both";
  EXPECT_EQ(made.model.graph().node_size(), model.graph().node_size());
}

INSTANTIATE_TEST_SUITE_P(
    Models, Bodies,
    ::testing::Values(Case{"a branch", kCondition + kX + kY + conditional(sum_of_products("x", "t")), 2},
                      Case{"a branch before IR 4",
                           kCondition + kX + kY + value("input", "v", "40 40") + value("input", "w", "40 40") +
                               conditional(sum_of_products("x", "t")),
                           2, 3},
                      Case{"a loop", kX + kY + loop(sum_of_products("s", "t"), "t")},
                      Case{"a scan", kX + kMany + kY + scan(sum_of_products("part", "t"))},
                      Case{"a branch in a loop",
                           kCondition + kX + kY + loop(conditional(sum_of_products("s", "t"), "made"), "made"), 3},
                      Case{"a loop in a branch",
                           kCondition + kX + kY +
                               conditional(integer("m", 3) +
                                           node("Loop", "m - x", "t",
                                                body("body",
                                                     value("input", "i", "", 7) + value("input", "go_on", "", 9) +
                                                         bare("input", "s") + sum_of_products("s", "u") +
                                                         node("Identity", "go_on", "goes_on") +
                                                         value("output", "goes_on", "", 9) + bare("output", "u")))),
                           3}),
    [](const auto& given) {
      std::string name = given.param.name;
      std::ranges::replace(name, ' ', '_');
      return name;
    });

TEST(Body, KeepsTheNamesOfWhatItIsGivenAndGives) {
  const ModelProto model = model_of(kX + kY + loop(sum_of_products("s", "t"), "t"));
  const Optimised made = optimise(model);
  const GraphProto& before = body_of(find(model.graph(), "Loop"), "body");
  const GraphProto& after = body_of(find(made.model.graph(), "Loop"), "body");
  ASSERT_EQ(after.input_size(), 3);
  for (int i = 0; i < 3; ++i) EXPECT_EQ(after.input(i).SerializeAsString(), before.input(i).SerializeAsString());
  ASSERT_EQ(after.output_size(), 2);
  for (int i = 0; i < 2; ++i) EXPECT_EQ(after.output(i).SerializeAsString(), before.output(i).SerializeAsString());
  EXPECT_THAT(after.initializer(), SizeIs(1));
}

TEST(Body, LeavesOtherNodesAndBodiesByteForByte) {
  const ModelProto model =
      model_of(kCondition + kX + kY + node("Sigmoid", "x", "p", "name: 'first'") +
               conditional(sum_of_products("p", "t"), "q") + node("Softplus", "q", "y", "name: 'last'"));
  const Optimised made = optimise(model);
  ASSERT_EQ(made.model.graph().node_size(), 3);
  EXPECT_FALSE(made.judged.is_original);
  for (const int i : {0, 2})
    EXPECT_EQ(made.model.graph().node(i).SerializeAsString(), model.graph().node(i).SerializeAsString());
  EXPECT_EQ(body_of(made.model.graph().node(1), "else_branch").SerializeAsString(),
            body_of(model.graph().node(1), "else_branch").SerializeAsString());
}

TEST(Body, TakesNoCopyOfAWeightThatTheGraphAroundItUsesToo) {
  const ModelProto model = model_of(kCondition + kX + kY + value("output", "z", "400 40") + node("MatMul", "x v", "z") +
                                    conditional(sum_of_products("x", "t")));
  const Optimised made = optimise(model);
  EXPECT_TRUE(made.judged.equivalence.equal()) << made.judged.equivalence.difference << made.judged.reason;
  EXPECT_EQ(count(made.model.graph(), "MatMul"), 2) << "one in the branch, one around it";
  EXPECT_EQ(stored_elements(made.model.graph()), stored_elements(model.graph()));
  EXPECT_THAT(made.model.graph().initializer(), SizeIs(2));
  EXPECT_THAT(body_of(find(made.model.graph(), "If"), "then_branch").initializer(), IsEmpty());
}

TEST(Body, ComputesTheSameAtEverySizeThatIsOpen) {
  const ModelProto model = model_of(kCondition + value("input", "x", "n 40") + value("output", "y", "n 40") +
                                    conditional(sum_of_products("x", "t")));
  const Optimised made = optimise(model);
  EXPECT_EQ(count(made.model.graph(), "MatMul"), 1);
  EXPECT_TRUE(made.judged.equivalence.equal()) << made.judged.equivalence.difference << made.judged.reason;
  if (loaded().find<Runtime>("onnxruntime")->version()) {
    EXPECT_GT(made.judged.equivalence.cases.size(), 1U);
  }
}

TEST(Body, AddsItsCostOnceHoweverOftenItRuns) {
  const Optimised looped = optimise(model_of(kX + kY + loop(sum_of_products("s", "t"), "t")));
  const Optimised flat = optimise(model_of(kX + kY + sum_of_products("x", "y")));
  EXPECT_DOUBLE_EQ(looped.report.search.cost_before_us, flat.report.search.cost_before_us);
  EXPECT_DOUBLE_EQ(looped.report.search.cost_after_us, flat.report.search.cost_after_us);
}

TEST(Body, OfABranchThatIsNeverTakenCostsNothing) {
  const auto cost_of = [](const std::string& condition) {
    const std::string bytes =
        model_of(kX + kY + condition + conditional(sum_of_products("x", "t"))).SerializeAsString();
    const auto imported = import_model(std::as_bytes(std::span(bytes)), loaded(), reading_to(1));
    const auto price = (*loaded().get<CostModel>("flops"))->clone();
    GraphCost cost(*price, nullptr);
    return *cost_with_bodies(*imported, cost);
  };
  const double yes = cost_of("initializer { name: 'c' data_type: 9 int32_data: 1 } ");
  const double no = cost_of("initializer { name: 'c' data_type: 9 int32_data: 0 } ");
  EXPECT_GT(no, 0);
  EXPECT_GT(yes, 2 * no) << "two products and a sum, or a relu";
  EXPECT_DOUBLE_EQ(cost_of(kCondition), yes + no);
}

TEST(Body, ComesBeforeWhatIsDoneAroundItInThePath) {
  const ModelProto model =
      model_of(kCondition + kX + kY + sum_of_products("x", "p") + conditional(sum_of_products("p", "t")));
  const Optimised made = optimise(model);
  const auto& path = made.report.search.path;
  ASSERT_THAT(path, SizeIs(2));
  EXPECT_DOUBLE_EQ(path[0].cost_before_us, made.report.search.cost_before_us);
  EXPECT_DOUBLE_EQ(path[0].cost_after_us, path[1].cost_before_us);
  EXPECT_DOUBLE_EQ(path[1].cost_after_us, made.report.search.cost_after_us);
  EXPECT_TRUE(made.judged.equivalence.equal()) << made.judged.equivalence.difference << made.judged.reason;
  EXPECT_EQ(made.judged.rewrites, 2U);
}

TEST(Body, StaysAsItIsWhereANameMeansSomethingElseOutside) {
  const ModelProto model = model_of(kCondition + kX + kY + node("Relu", "x", "t_v") + node("Neg", "t_v", "x2") +
                                        conditional(sum_of_products("x2", "t")),
                                    8, 18);  // Of older opsets ONNX's checker refuses it.
  const std::string bytes = model.SerializeAsString();
  const auto imported = import_model(std::as_bytes(std::span(bytes)), loaded(), reading_to(1));
  ASSERT_TRUE(imported) << imported.error().message;
  ASSERT_THAT(imported->bodies, SizeIs(2));
  EXPECT_FALSE(imported->bodies[0].is_read());
  EXPECT_THAT(imported->bodies[0].carried.front().reason, HasSubstr("'t_v'"));
  EXPECT_TRUE(imported->bodies[1].is_read());
}

TEST(Body, OfUnknownTypesIsCarriedNodeByNode) {
  // What the loop carries grows: its sizes are not known.
  const ModelProto model = model_of(
      kX + value("output", "y", "n 40") +
      loop(node("Concat", "s s", "t", "attribute { name: 'axis' type: INT i: 0 }") + node("Relu", "t", "r"), "r"));
  const Optimised made = optimise(model);
  EXPECT_EQ(made.reading.bodies, 1U);
  EXPECT_THAT(made.report.search.path, IsEmpty());
  EXPECT_EQ(made.judged.bytes, model.SerializeAsString());
  const auto is_for_sizes = [](const CarriedNode& node) { return node.reason.find("sizes of") != std::string::npos; };
  EXPECT_EQ(std::ranges::count_if(made.reading.carried, is_for_sizes), 2);
}

TEST(Body, OfALoopWithoutEndIsCarried) {
  const auto endless = [](const std::string& count, const std::string& condition) {
    return kX + kY + integer("m", 3) + "initializer { name: 'yes' data_type: 9 int32_data: 1 } " +
           node("Loop", count + " " + condition + " x", "y",
                body("body", value("input", "i", "", 7) + value("input", "go_on", "", 9) + bare("input", "s") +
                                 sum_of_products("s", "t") + node("Identity", "go_on", "goes_on") +
                                 value("output", "goes_on", "", 9) + bare("output", "t")));
  };
  for (const auto& [count, condition, is_endless] :
       {std::tuple("-", "yes", true), std::tuple("-", "-", true), std::tuple("m", "yes", false)}) {
    const Optimised made = optimise(model_of(endless(count, condition)));
    EXPECT_EQ(made.report.search.path.empty(), is_endless);
    EXPECT_EQ(made.judged.is_original, is_endless);
    EXPECT_EQ(made.reading.bodies, is_endless ? 0U : 1U);
    if (is_endless) {
      EXPECT_EQ(made.reading.carried.back().reason, "its loop has no end");
    }
  }
}

TEST(Body, ThatIsReadOnlySoFarDownIsNotReadFurther) {
  const ModelProto model =
      model_of(kCondition + kX + kY + loop(conditional(sum_of_products("s", "t"), "made"), "made"));
  const std::string bytes = model.SerializeAsString();
  for (const int depth : {0, 1, 2}) {
    const auto imported = import_model(std::as_bytes(std::span(bytes)), loaded(), reading_to(depth));
    ASSERT_TRUE(imported) << imported.error().message;
    EXPECT_EQ(reading_of(*imported).bodies, depth == 0 ? 0U : depth == 1 ? 1U : 3U);
  }
}

}  // namespace
}  // namespace rewright
