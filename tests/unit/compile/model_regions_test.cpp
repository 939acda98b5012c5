// Regions of random models: no path leaves one and comes back, what they read and make is what the model around them
// has, and a model with operators in their place is in order and has the same outputs.
#include "compile/model_regions.h"

#include <gmock/gmock.h>

#include <functional>
#include <random>
#include <set>

#include "compiled_graph.h"
#include "onnx/messages.h"

namespace {

using namespace rewright;
using namespace rewright::compile;
using namespace rewright::compile::testing;
using ::testing::IsEmpty;

model::ModelProto parsed(const std::string& bytes) {
  model::ModelProto proto;
  if (!proto.ParseFromString(bytes)) fail("this is no model");
  return proto;
}

/// Float32, 2 x 3.
void add_tensor(auto& values, const std::string& name) {
  auto& value = *values.Add();
  value.set_name(name);
  auto& type = *value.mutable_type()->mutable_tensor_type();
  type.set_elem_type(1);
  for (const int size : {2, 3}) type.mutable_shape()->add_dim()->set_dim_value(size);
}

/// Additions, some of a stored number, and nodes of an unknown domain.
model::ModelProto random_model(std::uint64_t seed) {
  std::mt19937_64 random(seed);
  const auto below = [&](std::size_t count) { return static_cast<std::size_t>(random() % count); };
  model::ModelProto proto;
  proto.set_ir_version(8);
  proto.add_opset_import()->set_version(17);
  auto& other = *proto.add_opset_import();
  other.set_domain("other");
  other.set_version(1);
  auto& graph = *proto.mutable_graph();
  graph.set_name("g");
  add_tensor(*graph.mutable_input(), "x");
  auto& stored = *graph.add_initializer();
  stored.set_name("w");
  stored.set_data_type(1);
  stored.add_dims(3);
  for (int i = 0; i < 3; ++i) stored.add_float_data(2);
  std::vector<std::string> tensors = {"x"};
  const std::size_t count = 4 + below(20);
  for (std::size_t i = 0; i < count; ++i) {
    auto& node = *graph.add_node();
    const bool is_unknown = below(4) == 0;
    node.set_op_type(is_unknown ? "Unknown" : "Add");
    if (is_unknown) node.set_domain("other");
    node.add_input(tensors[tensors.size() - 1 - below(std::min<std::size_t>(tensors.size(), 5))]);
    node.add_input(below(4) == 0 ? "w" : tensors[below(tensors.size())]);
    node.add_output("t" + std::to_string(i));
    tensors.push_back(node.output(0));
    add_tensor(*graph.mutable_value_info(), node.output(0));
  }
  for (std::size_t i = 0; i < 2; ++i) add_tensor(*graph.mutable_output(), tensors[tensors.size() - 1 - i]);
  return proto;
}

class Regions : public ::testing::TestWithParam<int> {};

TEST_P(Regions, AreConvexAndCanBeReplaced) {
  const model::ModelProto proto = random_model(static_cast<std::uint64_t>(GetParam()));
  const auto& nodes = proto.graph().node();
  const std::string bytes = proto.SerializeAsString();
  const auto regions = regions_of(bytes, {{"x", floats({2, 3})}}, "", loaded());
  ASSERT_TRUE(regions) << regions.error().message;
  std::map<std::string, int> makers;
  for (int i = 0; i < nodes.size(); ++i) makers[nodes[i].output(0)] = i;
  const auto reads = [&](int i, const std::function<void(int)>& visit) {
    for (const std::string& name : nodes[i].input())
      if (const auto made = makers.find(name); made != makers.end()) visit(made->second);
  };
  std::set<int> in_regions;
  for (const ModelRegion& region : *regions) {
    const std::set<int> inside(region.nodes.begin(), region.nodes.end());
    std::set<std::string> wanted;
    for (const int i : inside) {
      EXPECT_EQ(nodes[i].op_type(), "Add");
      EXPECT_TRUE(in_regions.insert(i).second) << "a node is in two regions";
      for (const std::string& name : nodes[i].input())
        if (name != "w" && (!makers.contains(name) || !inside.contains(makers.at(name)))) wanted.insert(name);
    }
    EXPECT_EQ(std::set<std::string>(region.inputs.begin(), region.inputs.end()), wanted);
    EXPECT_EQ(region.inputs.size(), wanted.size());
    std::set<int> after;  // Outside, and behind the region.
    for (int i = 0; i < nodes.size(); ++i) {
      bool is_after = false;
      reads(i, [&](int from) {
        is_after = is_after || after.contains(from) || (inside.contains(from) && !inside.contains(i));
      });
      if (!is_after) continue;
      EXPECT_FALSE(inside.contains(i)) << "a path leaves the region and comes back";
      after.insert(i);
    }
    const model::ModelProto alone = parsed(region.model);
    EXPECT_EQ(alone.graph().node_size(), static_cast<int>(inside.size()));
    EXPECT_EQ(alone.graph().output_size(), static_cast<int>(region.outputs.size()));
  }
  std::vector<RegionOperator> operators;
  for (const ModelRegion& region : *regions) operators.push_back({&region, "op" + std::to_string(operators.size())});
  const auto made = with_operators(bytes, operators);
  ASSERT_TRUE(made);
  const model::ModelProto result = parsed(*made);
  std::set<std::string> known = {"x", ""};
  for (const auto& tensor : result.graph().initializer()) known.insert(tensor.name());
  for (const auto& node : result.graph().node()) {
    for (const std::string& name : node.input()) EXPECT_TRUE(known.contains(name)) << name << " is not made before";
    known.insert(node.output().begin(), node.output().end());
  }
  for (const auto& output : proto.graph().output()) EXPECT_TRUE(known.contains(output.name()));
  EXPECT_EQ(result.graph().node_size(),
            nodes.size() - static_cast<int>(in_regions.size()) + static_cast<int>(regions->size()));
}

INSTANTIATE_TEST_SUITE_P(Random, Regions, ::testing::Range(0, 60));

TEST(Regions, OfAModelThatAllCanBeCompiledIsOne) {
  model::ModelProto proto = random_model(1);
  for (auto& node : *proto.mutable_graph()->mutable_node()) node.set_op_type("Add"), node.clear_domain();
  const auto regions = regions_of(proto.SerializeAsString(), {{"x", floats({2, 3})}}, "", loaded());
  ASSERT_TRUE(regions);
  std::size_t count = 0;
  for (const ModelRegion& region : *regions) count += region.nodes.size();
  EXPECT_EQ(count, static_cast<std::size_t>(proto.graph().node_size()));
}

}  // namespace
