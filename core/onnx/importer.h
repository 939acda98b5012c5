// A model on its way into a graph: what is known of it so far. import.cpp walks over the nodes, import_values.cpp takes
// inputs, weights and constants, import_bodies.cpp graphs inside nodes.
#pragma once

#include <rewright/onnx/onnx.h>
#include <rewright/plugin/registry.h>

#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "onnx/imported_model.h"
#include "onnx/infer.h"
#include "onnx/open_dimensions.h"
#include "onnx/opset.h"
#include "onnx/proto.h"

namespace rewright {

/// Lists before IR 4 name every initializer among the inputs; since then that makes it a default.
inline constexpr std::int64_t kIrOfDefaults = 4;
inline constexpr TensorType kNoType{{}, ElementType::kUnknown};

/// A model of the same versions and functions, without a graph.
[[nodiscard]] model::ModelProto model_around(const model::ModelProto& outer);

class Importer {
 public:
  Importer(model::ModelProto proto, const Registry& registry, const ImportOptions& options)
      : proto_(std::move(proto)),
        graph_(*proto_.mutable_graph()),
        options_(options),
        opset_(model::opset_of(proto_)),
        builder_(&registry) {
    for (const Operator* op : registry.all<Operator>()) {
      for (const std::string& type : op->info().onnx) readers_[type].push_back(op);
    }
    for (const auto& function : proto_.functions()) local_.insert(function.domain() + ":" + function.name());
  }

  Result<ImportedModel> run();

 private:
  void keep_declarations();
  Status fix_dimensions(OpenDimensions& open);
  Status add_inputs();
  Status add_initializers();
  Status add_initializer(model::TensorProto& tensor);
  Result<bool> leave_external(const model::TensorProto& tensor);
  Status add_node(const model::NodeProto& node);
  Status read_node(const model::NodeProto& node);
  [[nodiscard]] OriginNode describe_origin(const model::NodeProto& node) const;
  [[nodiscard]] bool is_typed(const std::string& name) const;
  [[nodiscard]] bool is_light(const model::NodeProto& node) const;
  [[nodiscard]] std::vector<std::uint32_t> surviving_nodes() const;
  Status settle_origin(const std::vector<std::uint32_t>& survivors, std::size_t nodes);
  Result<bool> add_constant(const model::NodeProto& node);
  Result<bool> add_filled(const model::NodeProto& node);
  Result<bool> add_applications(const model::NodeProto& node);
  [[nodiscard]] std::string why_unknown(const std::string& name) const;
  Result<OnnxNode> describe_to_operators(const model::NodeProto& node) const;
  [[nodiscard]] std::string mismatch(const model::NodeProto& node, const OnnxNode& seen, const Operator& op,
                                     const std::vector<Port>& ports) const;
  void add_opaque(const model::NodeProto& node);
  [[nodiscard]] const std::shared_ptr<const std::string>& frame();
  Status add_outputs();
  std::string skeleton();

  void count_users();
  void read_bodies(const model::NodeProto& node);
  ImportedBody read_body(const model::NodeProto& node, const model::AttributeProto& attribute,
                         const model::TypeInference::Types& here, const model::TypeInference::Types& everywhere);
  [[nodiscard]] bool never_ends(const model::NodeProto& loop, const model::GraphProto& body,
                                const Graph& imported) const;
  [[nodiscard]] std::shared_ptr<const ConstantData> value_for_body(const std::string& name) const;
  void add_captured(const std::string& name, model::GraphProto& body, ImportOptions& options) const;
  model::ValueInfoProto input_of_body(const std::string& name, const model::TypeProto* here,
                                      const model::TypeProto* everywhere, ImportOptions& options) const;

  void define(const std::string& name, Port port);
  void know(const std::string& name, const std::shared_ptr<const ConstantData>& value);
  void infer(const model::NodeProto& node);
  [[nodiscard]] model::TypeProto type_at_all_sizes(const std::string& input) const;
  /// What is known at every size that the model takes.
  [[nodiscard]] const model::TypeInference& at_all_sizes() const { return general_ ? *general_ : *inference_; }
  void add_weight(const std::string& name, ConstantData value);
  [[nodiscard]] Error named(const model::NodeProto& node, const Error& error) const {
    return make_error(error.code, "{}: {}: {}", options_.file, model::describe(node), error.message);
  }

  model::ModelProto proto_;
  model::GraphProto& graph_;
  const ImportOptions& options_;
  std::int64_t opset_;
  GraphBuilder builder_;
  std::optional<model::TypeInference> inference_;
  std::optional<model::TypeInference> general_;  ///< With open sizes left open; none where no size is open.
  std::unordered_map<std::string, std::vector<const Operator*>> readers_;  ///< By qualified ONNX type.
  std::set<std::string> local_;                                            ///< Functions of the model: "domain:name".
  std::unordered_map<std::string, Port> ports_;
  std::unordered_map<std::string, std::shared_ptr<const ConstantData>> constants_;
  std::unordered_set<std::string> kept_;  ///< Initializers that stay in the skeleton.
  std::unordered_map<std::string, const model::ValueInfoProto*> declared_;
  std::string refusal_;  ///< Why no operator took the node at hand.
  std::vector<CarriedNode> carried_;
  std::shared_ptr<const std::string> frame_;
  std::size_t untyped_ = 0;
  model::GraphProto declarations_;  ///< Inputs, outputs and types of tensors as the model declares them.
  Origin origin_;
  std::map<std::string, ExternalWeight> external_;
  std::map<std::string, std::int64_t> open_sizes_;
  std::vector<ImportedBody> bodies_;
  std::unordered_map<std::string, std::size_t>
      users_;  ///< Nodes, bodies and outputs, by tensor; where bodies are read.
};

}  // namespace rewright
