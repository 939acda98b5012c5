// Scans compiled to C compute what ONNX Runtime and the evaluation of their bodies compute; what cannot be compiled is
// named.
#include "compile/scan.h"

#include <gmock/gmock.h>
#include <google/protobuf/text_format.h>
#include <onnx/onnx_pb.h>

#include "compile/compile_model.h"
#include "compiled_graph.h"

namespace {

using namespace rewright;
using namespace rewright::compile;
using namespace rewright::compile::testing;
using ::testing::ElementsAre;

// --- models ----------------------------------------------------------------------------------------------------

std::string list(const std::string& field, std::initializer_list<const char*> names) {
  std::string text;
  for (const char* name : names) text += fmt::format("{}: '{}' ", field, name);
  return text;
}
std::string node(const char* type, std::initializer_list<const char*> inputs,
                 std::initializer_list<const char*> outputs, const std::string& attributes = "") {
  return fmt::format("node {{ op_type: '{}' {}{}{} }} ", type, list("input", inputs), list("output", outputs),
                     attributes);
}
std::string value(const char* kind, const char* name, std::initializer_list<int> sizes, int element = 1) {
  std::string dims;
  for (const int size : sizes) dims += fmt::format("dim {{ dim_value: {} }} ", size);
  return fmt::format("{} {{ name: '{}' type {{ tensor_type {{ elem_type: {} shape {{ {} }} }} }} }} ", kind, name,
                     element, dims);
}
std::string bare(const char* kind, std::initializer_list<const char*> names, int element = 1) {
  std::string text;
  for (const char* name : names)
    text += fmt::format("{} {{ name: '{}' type {{ tensor_type {{ elem_type: {} }} }} }} ", kind, name, element);
  return text;
}
std::string integers(const char* name, std::initializer_list<int> numbers) {
  std::string text = fmt::format("attribute {{ name: '{}' type: INTS ", name);
  for (const int number : numbers) text += fmt::format("ints: {} ", number);
  return text + "} ";
}
std::string scan(std::initializer_list<const char*> inputs, std::initializer_list<const char*> outputs, int scanned,
                 const std::string& body, const std::string& attributes = "") {
  return node("Scan", inputs, outputs,
              fmt::format("attribute {{ name: 'num_scan_inputs' type: INT i: {} }} attribute {{ name: 'body' type: "
                          "GRAPH g {{ name: 'body' {} }} }} {}",
                          scanned, body, attributes));
}
/// A weight of a body.
const std::string kTwoNumbers = "initializer { name: 'two' data_type: 1 dims: 2 float_data: [0.5, -2] } ";

ModelSource source_of(const std::string& graph, int opset = 17) {
  ::onnx::ModelProto model;
  model.set_ir_version(8);
  model.add_opset_import()->set_version(opset);
  EXPECT_TRUE(google::protobuf::TextFormat::ParseFromString("name: 'g' " + graph, model.mutable_graph())) << graph;
  return {model.SerializeAsString(), "the model", "."};
}

// --- what becomes of them --------------------------------------------------------------------------------------

CompileReport compiled(const std::string& graph, int opset = 17) {
  const Runtime& runtime = **loaded().get<Runtime>("onnxruntime");
  const ModelSource source = source_of(graph, opset);
  const auto opened = open_model(source, loaded(), &runtime);
  if (!opened) fail(opened.error().message);
  const TemporaryFolder folder = *TemporaryFolder::make(), built = *TemporaryFolder::make();
  const OpenedVersion version{&*opened};
  auto report = compile_model({&version, 1}, **loaded().get<Target>("c"), runtime,
                              {.name = "model", .folder = folder.path(), .built = built.path()});
  if (!report) fail(report.error().message);
  return *std::move(report);
}
std::vector<std::string> reasons(const CompileReport& report) {
  std::vector<std::string> all;
  for (const auto& [name, reason] : report.not_compiled) all.push_back(reason);
  return all;
}
/// Runs are compared with ONNX Runtime's and with an evaluation of the body, round by round.
void expect_equal(const std::string& graph) {
  const CompileReport report = compiled(graph);
  EXPECT_THAT(reasons(report), ElementsAre());
  ASSERT_FALSE(report.versions.empty());
  EXPECT_TRUE(report.equal()) << report.worst().equivalence.reason;
}

TEST(Scan, PassesItsStateOn) {
  expect_equal(value("input", "s", {3}) + value("input", "x", {4, 3}) + value("output", "last", {3}) +
               value("output", "ys", {4, 3}) +
               scan({"s", "x"}, {"last", "ys"}, 1,
                    bare("input", {"a", "b"}) + node("Add", {"a", "b"}, {"next"}) + node("Tanh", {"next"}, {"y"}) +
                        bare("output", {"next", "y"})));
}

TEST(Scan, ReadsAndWritesAlongAnyAxisFromBothEnds) {
  expect_equal(value("input", "s", {3}) + value("input", "x", {3, 4}) + value("input", "z", {4, 3}) +
               value("output", "last", {3}) + value("output", "ys", {3, 4}) + value("output", "zs", {4, 3}) +
               scan({"s", "x", "z"}, {"last", "ys", "zs"}, 2,
                    bare("input", {"a", "b", "c"}) + node("Mul", {"a", "b"}, {"ab"}) +
                        node("Add", {"ab", "c"}, {"next"}) + node("Sub", {"b", "a"}, {"y"}) +
                        node("Identity", {"next"}, {"z_next"}) + bare("output", {"next", "y", "z_next"}),
                    integers("scan_input_axes", {-1, 0}) + integers("scan_input_directions", {1, 0}) +
                        integers("scan_output_axes", {1, 0}) + integers("scan_output_directions", {0, 1})));
}

TEST(Scan, TakesWeightsFromOutsideAndNumbersInside) {
  expect_equal(value("input", "h", {2, 2}) + value("input", "x", {5, 2, 2}) + value("input", "w", {2, 2}) +
               value("output", "last", {2, 2}) +
               scan({"h", "x"}, {"last"}, 1,
                    bare("input", {"a", "b"}) + kTwoNumbers + node("MatMul", {"a", "w"}, {"product"}) +
                        node("Add", {"product", "b"}, {"sum"}) + node("Mul", {"sum", "two"}, {"scaled"}) +
                        node("Sigmoid", {"scaled"}, {"next"}) + bare("output", {"next"})));
}

TEST(Scan, StatesThatChangePlaces) {
  expect_equal(value("input", "s", {2}) + value("input", "t", {2}) + value("input", "x", {3, 2}) +
               value("output", "last_s", {2}) + value("output", "last_t", {2}) +
               scan({"s", "t", "x"}, {"last_s", "last_t"}, 1,
                    bare("input", {"a", "b", "c"}) + node("Add", {"b", "c"}, {"a_next"}) +
                        node("Identity", {"a"}, {"b_next"}) + bare("output", {"a_next", "b_next"})));
}

TEST(Scan, WithoutAStateIsAMap) {
  expect_equal(value("input", "x", {3, 4}) + value("output", "ys", {3, 4}) +
               scan({"x"}, {"ys"}, 1, bare("input", {"a"}) + node("Softmax", {"a"}, {"y"}) + bare("output", {"y"})));
}

TEST(Scan, BodyThatCannotBeCompiledIsNamed) {
  const auto with_body = [](const std::string& nodes) {
    return reasons(
        compiled(value("input", "s", {3}) + value("input", "x", {4, 3}) + value("output", "last", {3}) +
                 scan({"s", "x"}, {"last"}, 1, bare("input", {"a", "b"}) + nodes + bare("output", {"next"}))));
  };
  EXPECT_THAT(with_body(node("Add", {"a", "b"}, {"sum"}) + node("Acosh", {"sum"}, {"next"})),
              ElementsAre("its body: Acosh: no operator reads it"));
  EXPECT_THAT(with_body("initializer { name: 'zero' data_type: 7 int64_data: 0 } " + node("Add", {"a", "b"}, {"sum"}) +
                        node("CumSum", {"sum", "zero"}, {"next"})),
              ElementsAre("its body has a serial axis of its own"));
}

}  // namespace
