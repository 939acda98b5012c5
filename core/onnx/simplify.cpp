#include "onnx/simplify.h"

#include <algorithm>

#include "onnx/annotations.h"
#include "onnx/check.h"
#include "onnx/importer.h"
#include "onnx/open_dimensions.h"
#include "onnx/scope.h"
#include "onnx/simplifier.h"

namespace rewright {

using namespace model;

namespace {

constexpr int kMostRounds = 10;
/// Since then Cast, Concat and Reshape say what they do as they do now.
constexpr std::int64_t kOldest = 6;

/// Those of graphs inside nodes, too. A Constant is a stored tensor.
std::size_t count_nodes(const GraphProto& graph) {
  std::size_t count = 0;
  for (const NodeProto& node : graph.node()) {
    count += static_cast<std::size_t>(!is_own(node, "Constant"));
    for_each_subgraph(node, [&](const GraphProto& inner) { count += count_nodes(inner); });
  }
  return count;
}

class ModelSimplifier {
 public:
  ModelSimplifier(ModelProto proto, const ImportOptions& options, SimplifyLevel level)
      : proto_(std::move(proto)),
        graph_(*proto_.mutable_graph()),
        context_{.options = options,
                 .level = level,
                 .opset = opset_of(proto_),
                 .stores_initializers = proto_.ir_version() >= kIrOfDefaults} {}

  Result<Simplified> run();

 private:
  Status sort_nodes();
  Status freeze_sizes();
  void collect_names();
  bool round();
  void define_inputs();
  void drop_unused_types();
  [[nodiscard]] bool is_given(const std::string& input) const {
    return context_.stores_initializers || !initializers_.contains(input);
  }

  ModelProto proto_;
  GraphProto& graph_;
  SimplifyContext context_;
  std::unordered_set<std::string> initializers_;
};

Status ModelSimplifier::sort_nodes() {
  REWRIGHT_TRY(const std::vector<int> order, check_model(proto_, context_.options.file));
  if (std::ranges::is_sorted(order)) return {};
  const GraphProto before = graph_;
  graph_.clear_node();
  for (const int i : order) *graph_.add_node() = before.node(i);
  return {};
}

Status ModelSimplifier::freeze_sizes() {
  if (!context_.options.freeze) return {};
  OpenDimensions open(context_.options);
  for (auto& input : *graph_.mutable_input())
    if (!initializers_.contains(input.name())) REWRIGHT_CHECK(open.resolve(input));
  REWRIGHT_CHECK(open.finish());
  for (auto* values : {graph_.mutable_output(), graph_.mutable_value_info()})
    for (auto& value : *values)
      if (value.type().tensor_type().has_shape()) open.substitute(value);
  return {};
}

void ModelSimplifier::collect_names() {
  for (const auto& function : proto_.functions()) context_.local.insert(function.domain() + ":" + function.name());
  for (const auto& tensor : graph_.initializer()) initializers_.insert(tensor.name());
  auto& taken = context_.taken;
  taken = {initializers_.begin(), initializers_.end()};
  for (const auto& input : graph_.input()) {
    taken.insert(input.name());
    for (const auto& dim : input.type().tensor_type().shape().dim())
      if (dim.has_dim_param() && !dim.dim_param().empty()) context_.open_sizes.insert(dim.dim_param());
  }
  for (const auto& output : graph_.output()) taken.insert(output.name());
  for (const NodeProto& node : graph_.node()) {
    taken.insert(node.output().begin(), node.output().end());
    for (std::string& name : inner_names(node)) taken.insert(std::move(name));
  }
}

/// Negative sizes are open ones.
void ModelSimplifier::define_inputs() {
  for (const auto& input : graph_.input()) {
    TypeProto type = input.type();
    if (type.has_tensor_type() && type.tensor_type().has_shape()) {
      for (auto& dim : *type.mutable_tensor_type()->mutable_shape()->mutable_dim())
        if (dim.has_dim_value() && dim.dim_value() < 0) dim.clear_dim_value();
    }
    context_.inference->set_type(input.name(), std::move(type));
  }
  std::unordered_set<std::string> given;
  for (const auto& input : graph_.input())
    if (is_given(input.name())) given.insert(input.name());
  for (const TensorProto& tensor : graph_.initializer())
    if (!given.contains(tensor.name())) context_.inference->set_initializer(tensor);
}

/// One walk over all nodes. False: nothing changed.
bool ModelSimplifier::round() {
  const std::size_t before = context_.steps_taken;
  context_.inference.emplace(proto_);
  define_inputs();
  GraphSimplifier(graph_, context_, nullptr).walk();
  return context_.steps_taken != before;
}

/// Types that the model says of tensors that are gone.
void ModelSimplifier::drop_unused_types() {
  std::unordered_set<std::string> there;
  for (const auto& input : graph_.input()) there.insert(input.name());
  for (const auto& tensor : graph_.initializer()) there.insert(tensor.name());
  for (const NodeProto& node : graph_.node()) there.insert(node.output().begin(), node.output().end());
  auto& infos = *graph_.mutable_value_info();
  for (int i = infos.size(); i-- > 0;)
    if (!there.contains(infos.Get(i).name())) infos.DeleteSubrange(i, 1);
}

Result<Simplified> ModelSimplifier::run() {
  REWRIGHT_CHECK(sort_nodes());
  if (context_.opset < kOldest) return Simplified{};
  collect_names();
  REWRIGHT_CHECK(freeze_sizes());
  const std::size_t before = count_nodes(graph_);
  for (int i = 0; i < kMostRounds && round(); ++i) continue;
  if (count_nodes(graph_) >= before) return Simplified{};
  drop_unused_types();
  drop_stale_annotations(graph_);
  return Simplified{proto_.SerializeAsString(), std::move(context_.steps)};
}

}  // namespace

Result<Simplified> simplify_model(std::span<const std::byte> bytes, const ImportOptions& options, SimplifyLevel level) {
  constexpr std::size_t kMostBytes = std::size_t{512} << 20;  // The model is in memory several times meanwhile.
  if (bytes.size() > kMostBytes) return Simplified{};
  REWRIGHT_TRY(ModelProto proto, parse_model(bytes, options.file));
  return ModelSimplifier(std::move(proto), options, level).run();
}

}  // namespace rewright
