#include "compile/model_regions.h"

#include <algorithm>
#include <functional>
#include <numeric>
#include <optional>
#include <queue>
#include <set>

#include "compile/kernels.h"
#include "compile/single_node_model.h"
#include "onnx/import.h"
#include "onnx/infer.h"
#include "onnx/proto.h"
#include "onnx/scope.h"

namespace rewright::compile {
namespace {

using model::GraphProto;
using model::ModelProto;
using model::NodeProto;
using model::TensorProto;

constexpr std::int64_t kSmallElements = 4096;  ///< What a node may need to know of a stored tensor.

bool is_constant(const NodeProto& node) {
  return node.op_type() == "Constant" && model::normal_domain(node.domain()).empty();
}

/// What a node reads, in bodies too.
std::vector<std::string> read_by(const NodeProto& node) {
  std::vector<std::string> names(node.input().begin(), node.input().end());
  for (std::string& name : model::captures(node)) names.push_back(std::move(name));
  std::erase(names, "");
  return names;
}

class Regions {
 public:
  Regions(const ModelProto& proto, const std::map<std::string, TensorType>& inputs, const std::string& directory,
          const Registry& registry)
      : proto_(proto), graph_(proto.graph()), directory_(directory), registry_(registry), inference_(proto) {
    for (const auto& [name, type] : inputs) inference_.set_type(name, model::to_proto(type));
    for (const TensorProto& tensor : graph_.initializer()) {
      initializers_[tensor.name()] = &tensor;
      if (!inputs.contains(tensor.name())) inference_.set_initializer(tensor);
    }
    std::map<std::string, const model::TypeProto*> declared;
    for (const auto& info : graph_.value_info()) declared[info.name()] = &info.type();
    for (int i = 0; i < graph_.node_size(); ++i) {
      inference_.infer(graph_.node(i));
      for (const std::string& name : graph_.node(i).output()) {
        makers_[name] = i;
        const auto known = declared.find(name);  // What a node of others makes is as the model says.
        if (known != declared.end() && inference_.type(name) == nullptr) inference_.set_type(name, *known->second);
      }
    }
  }

  Result<std::vector<ModelRegion>> find() {
    set_levels();
    std::vector<ModelRegion> regions;
    for (std::vector<int>& nodes : connected()) {
      ModelRegion region;
      region.nodes = std::move(nodes);
      set_tensors(region);
      region.model = alone(region.nodes, region.inputs, region.outputs, true);
      regions.push_back(std::move(region));
    }
    std::ranges::stable_sort(regions, std::greater(), [](const ModelRegion& region) { return region.nodes.size(); });
    return regions;
  }

 private:
  /// Is it an initializer that no caller gives, or of a Constant node?
  [[nodiscard]] bool is_stored(const std::string& name) const {
    if (const auto made = makers_.find(name); made != makers_.end()) return is_constant(graph_.node(made->second));
    return initializers_.contains(name);
  }

  /// Nodes as a model of their own. `with_weights`: large stored tensors too; without, they are inputs.
  [[nodiscard]] std::string alone(std::span<const int> nodes, const std::vector<std::string>& inputs,
                                  const std::vector<std::string>& outputs, bool with_weights) const {
    ModelProto made;
    made.set_ir_version(std::max<std::int64_t>(proto_.ir_version(), 4));  // Initializers need not be inputs.
    *made.mutable_opset_import() = proto_.opset_import();
    GraphProto& graph = *made.mutable_graph();
    graph.set_name("region");
    std::set<std::string> known(inputs.begin(), inputs.end());
    const auto declare = [&](auto& values, const std::string& name) {
      auto& value = *values.Add();
      value.set_name(name);
      if (const auto type = inference_.static_type(name)) *value.mutable_type() = model::to_proto(*type);
    };
    for (const std::string& name : inputs) declare(*graph.mutable_input(), name);
    for (const int i : nodes) {
      for (const std::string& name : graph_.node(i).input()) {
        if (name.empty() || !is_stored(name) || !known.insert(name).second) continue;
        const auto type = inference_.static_type(name);
        const bool is_small = type && type->shape.elements() <= kSmallElements;
        const auto stored = initializers_.find(name);
        if (!with_weights && !is_small) {
          declare(*graph.mutable_input(), name);
        } else if (stored != initializers_.end()) {
          *graph.add_initializer() = *stored->second;
        } else {
          *graph.add_node() = graph_.node(makers_.at(name));
        }
      }
    }
    for (const int i : nodes) *graph.add_node() = graph_.node(i);
    for (const std::string& name : outputs) declare(*graph.mutable_output(), name);
    return made.SerializeAsString();
  }

  [[nodiscard]] bool can_be_compiled(int i) const {
    const NodeProto& node = graph_.node(i);
    bool has_graph = false;
    model::for_each_subgraph(node, [&](const GraphProto&) { has_graph = true; });
    if (has_graph) return false;
    std::vector<std::string> inputs, outputs;
    for (const std::string& name : node.input()) {
      if (name.empty()) continue;
      if (!inference_.static_type(name)) return false;
      if (!is_stored(name) && std::ranges::find(inputs, name) == inputs.end()) inputs.push_back(name);
    }
    for (const std::string& name : node.output()) {
      if (name.empty()) continue;
      if (!inference_.static_type(name)) return false;
      outputs.push_back(name);
    }
    const std::string bytes = alone(std::span(&i, 1), inputs, outputs, false);
    ImportOptions options;
    options.directory = directory_;
    const auto imported = import_model(std::as_bytes(std::span(bytes)), registry_, options);
    if (!imported) return false;
    const auto kernels = kernels_of(imported->graph, imported->carried, imported->external, &registry_);
    return kernels && kernels->not_compiled.empty();
  }

  void set_levels() {
    levels_.assign(static_cast<std::size_t>(graph_.node_size()), 0);
    compiled_.assign(levels_.size(), false);
    for (std::size_t i = 0; i < levels_.size(); ++i) {
      const NodeProto& node = graph_.node(static_cast<int>(i));
      if (is_constant(node)) continue;
      compiled_[i] = can_be_compiled(static_cast<int>(i));
      for (const std::string& name : read_by(node)) {
        const auto made = makers_.find(name);
        if (made == makers_.end() || is_stored(name)) continue;
        const auto from = static_cast<std::size_t>(made->second);
        levels_[i] = std::max(levels_[i], levels_[from] + (compiled_[from] == compiled_[i] ? 0 : 1));
      }
    }
  }

  /// Compiled nodes of equal levels, by the region that they are in.
  [[nodiscard]] std::vector<std::vector<int>> connected() const {
    std::vector<std::size_t> parent(levels_.size());
    std::iota(parent.begin(), parent.end(), std::size_t{0});
    const auto root = [&](std::size_t i) {
      while (parent[i] != i) i = parent[i] = parent[parent[i]];
      return i;
    };
    std::map<std::string, std::vector<std::size_t>> readers;
    for (std::size_t i = 0; i < levels_.size(); ++i) {
      if (!compiled_[i]) continue;
      for (const std::string& name : graph_.node(static_cast<int>(i)).input()) {
        if (name.empty() || is_stored(name)) continue;
        if (const auto made = makers_.find(name); made != makers_.end()) {
          const auto from = static_cast<std::size_t>(made->second);
          if (compiled_[from] && levels_[from] == levels_[i]) parent[root(i)] = root(from);
        }
      }
    }
    std::map<std::size_t, std::vector<int>> by_root;
    for (std::size_t i = 0; i < levels_.size(); ++i)
      if (compiled_[i]) by_root[root(i)].push_back(static_cast<int>(i));
    std::vector<std::vector<int>> regions;
    for (auto& [at, nodes] : by_root) regions.push_back(std::move(nodes));
    return regions;
  }

  void set_tensors(ModelRegion& region) const {
    std::set<std::string> made, read_elsewhere, seen;
    for (const int i : region.nodes) made.insert(graph_.node(i).output().begin(), graph_.node(i).output().end());
    const std::set<int> inside(region.nodes.begin(), region.nodes.end());
    for (int i = 0; i < graph_.node_size(); ++i) {
      if (inside.contains(i)) continue;
      for (std::string& name : read_by(graph_.node(i))) read_elsewhere.insert(std::move(name));
    }
    for (const auto& output : graph_.output()) read_elsewhere.insert(output.name());
    for (const int i : region.nodes) {
      for (const std::string& name : graph_.node(i).input())
        if (!name.empty() && !made.contains(name) && !is_stored(name) && seen.insert(name).second)
          region.inputs.push_back(name);
      for (const std::string& name : graph_.node(i).output())
        if (read_elsewhere.contains(name)) region.outputs.push_back(name);
    }
  }

  const ModelProto& proto_;
  const GraphProto& graph_;
  const std::string& directory_;
  const Registry& registry_;
  model::TypeInference inference_;
  std::map<std::string, const TensorProto*> initializers_;
  std::map<std::string, int> makers_;  ///< Of tensors.
  std::vector<int> levels_;            ///< By node.
  std::vector<bool> compiled_;
};

/// In an order in which what is read was made, else as they are.
std::vector<NodeProto> sorted(std::vector<NodeProto> nodes) {
  std::map<std::string, std::size_t> makers;
  for (std::size_t i = 0; i < nodes.size(); ++i)
    for (const std::string& name : nodes[i].output()) makers[name] = i;
  std::vector<std::vector<std::size_t>> readers(nodes.size());
  std::vector<std::size_t> waits(nodes.size(), 0);
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    for (const std::string& name : read_by(nodes[i])) {
      if (const auto made = makers.find(name); made != makers.end()) readers[made->second].push_back(i), ++waits[i];
    }
  }
  std::priority_queue<std::size_t, std::vector<std::size_t>, std::greater<>> ready;
  for (std::size_t i = 0; i < nodes.size(); ++i)
    if (waits[i] == 0) ready.push(i);
  std::vector<NodeProto> ordered;
  while (!ready.empty()) {
    const std::size_t next = ready.top();
    ready.pop();
    for (const std::size_t reader : readers[next])
      if (--waits[reader] == 0) ready.push(reader);
    ordered.push_back(std::move(nodes[next]));
  }
  return ordered;
}

}  // namespace

Result<std::vector<ModelRegion>> regions_of(const std::string& model, const std::map<std::string, TensorType>& inputs,
                                            const std::string& directory, const Registry& registry) {
  REWRIGHT_TRY(const ModelProto proto, model::parse_model(std::as_bytes(std::span(model)), "the model"));
  return Regions(proto, inputs, directory, registry).find();
}

Result<std::string> with_operators(const std::string& model, std::span<const RegionOperator> regions) {
  REWRIGHT_TRY(ModelProto proto, model::parse_model(std::as_bytes(std::span(model)), "the model"));
  GraphProto& graph = *proto.mutable_graph();
  std::map<int, const RegionOperator*> first;
  std::set<int> inside;
  for (const RegionOperator& part : regions) {
    first[part.region->nodes.front()] = &part;
    inside.insert(part.region->nodes.begin(), part.region->nodes.end());
  }
  std::vector<NodeProto> nodes;
  for (int i = 0; i < graph.node_size(); ++i) {
    if (const auto part = first.find(i); part != first.end()) {
      NodeProto& node = nodes.emplace_back();
      node.set_op_type(part->second->name);
      node.set_domain(kOperatorDomain);
      node.set_name(part->second->name);
      for (const std::string& name : part->second->region->inputs) node.add_input(name);
      for (const std::string& name : part->second->region->outputs) node.add_output(name);
    }
    if (!inside.contains(i)) nodes.push_back(std::move(*graph.mutable_node(i)));
  }
  std::set<std::string> read;
  for (const NodeProto& node : nodes)
    for (std::string& name : read_by(node)) read.insert(std::move(name));
  for (const auto& output : graph.output()) read.insert(output.name());
  std::erase_if(nodes, [&](const NodeProto& node) { return is_constant(node) && !read.contains(node.output(0)); });
  std::set<std::string> made;
  for (const NodeProto& node : nodes) made.insert(node.output().begin(), node.output().end());
  graph.clear_node();
  for (NodeProto& node : sorted(std::move(nodes))) *graph.add_node() = std::move(node);
  std::set<std::string> given;
  for (const auto& input : graph.input()) given.insert(input.name());
  auto& stored = *graph.mutable_initializer();
  for (int i = stored.size(); i-- > 0;)
    if (!read.contains(stored.Get(i).name()) && !given.contains(stored.Get(i).name())) stored.DeleteSubrange(i, 1);
  auto& infos = *graph.mutable_value_info();
  for (int i = infos.size(); i-- > 0;)
    if (!made.contains(infos.Get(i).name())) infos.DeleteSubrange(i, 1);
  auto& domain = *proto.add_opset_import();
  domain.set_domain(kOperatorDomain);
  domain.set_version(1);
  return proto.SerializeAsString();
}

}  // namespace rewright::compile
