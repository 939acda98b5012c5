// The writer of one model; see export.h.
#pragma once

#include <rewright/onnx.h>

#include <map>
#include <set>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "onnx/export.h"
#include "onnx/fold.h"
#include "onnx/proto.h"

namespace rewright {

/// Refuses what protobuf does not write: more than 2 GiB.
[[nodiscard]] REWRIGHT_API Status check_model_size(std::size_t bytes);

class Exporter final : public OnnxWriter {
 public:
  /// Borrows the graph, `external` (weights whose values lie elsewhere, by name) and the options.
  Exporter(const Graph& graph, model::ModelProto skeleton, const std::map<std::string, ExternalWeight>& external,
           const ExportOptions& options)
      : graph_(graph),
        proto_(std::move(skeleton)),
        external_(external),
        options_(options),
        opset_(model::opset_of(proto_)) {}

  Result<std::string> run();

  std::vector<std::string> emit(std::string_view type, std::vector<std::string> inputs,
                                std::map<std::string, OnnxAttribute> attributes, std::size_t outputs) override;
  std::string integers(std::span<const std::int64_t> values) override;
  std::string constant(const ConstantData& value) override;

 private:
  /// A node of the new model and the opset whose forms it was written in.
  struct Written {
    model::NodeProto node;
    bool by_operator = false;
  };

  void reserve_names();
  void count_uses();
  std::string fresh(std::string_view hint);
  Status write_nodes();
  Result<std::string> operand(Port port);
  std::string weight(const Node& node);
  std::string named_constant(const ConstantData& value, std::string_view hint);
  std::string filled(const ConstantData& value, double number, std::string_view hint);
  Status write_application(NodeId id);
  bool write_as_bias(NodeId id, const std::vector<std::string>& in);
  Status write_opaque(NodeId id);
  Status write_outputs();
  std::string output_name(std::size_t i);
  void rename(const std::unordered_map<std::string, std::string>& renamed);
  Status choose_opset();
  [[nodiscard]] const model::NodeProto* misfit(std::int64_t opset) const;
  Result<std::string> assemble();

  const Graph& graph_;
  model::ModelProto proto_;
  const std::map<std::string, ExternalWeight>& external_;
  const ExportOptions& options_;
  std::int64_t opset_;
  model::Folding folding_;
  std::unordered_set<std::string> taken_;   ///< Names of tensors and nodes.
  std::unordered_set<std::string> given_;   ///< Inputs and initializers of the skeleton.
  std::unordered_set<std::string> inputs_;  ///< Names of the graph's inputs that are given at each run.
  std::unordered_map<std::string, int> counters_;
  std::map<Port, std::string> names_;
  std::map<std::string, std::string> constants_;  ///< Initializers, by content.
  std::vector<Written> nodes_;
  std::unordered_map<std::string, std::size_t> products_;  ///< Conv and MatMul nodes, by what they make.
  std::vector<std::uint32_t> uses_;                        ///< By node, at run time.
  std::vector<model::TensorProto> initializers_;
  std::set<std::string> own_tensors_;            ///< Made by nodes: may take an output's name.
  ElementType element_ = ElementType::kFloat32;  ///< Of the application at hand.
};

}  // namespace rewright
