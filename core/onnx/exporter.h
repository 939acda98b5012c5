// The writer of one model; see export.h.
#pragma once

#include <rewright/onnx/onnx.h>

#include <compare>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "onnx/export_options.h"
#include "onnx/fold.h"
#include "onnx/imported_model.h"
#include "onnx/kept.h"
#include "onnx/opset_convert.h"
#include "onnx/proto.h"

namespace rewright {

/// Refuses what protobuf does not write: more than 2 GiB.
[[nodiscard]] REWRIGHT_API Status check_model_size(std::size_t bytes);

class Exporter final : public OnnxWriter {
 public:
  /// Borrows the graph, the origin and the options.
  Exporter(const Graph& graph, model::ModelProto skeleton, const ImportedModel& origin, const ExportOptions& options)
      : graph_(graph),
        proto_(std::move(skeleton)),
        origin_(origin),
        options_(options),
        opset_(model::opset_of(proto_)),
        folder_(graph, origin, options) {}

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
  /// What is written in one go: a node of the original, or one of the graph.
  struct Unit {
    bool is_original = false;
    std::uint32_t index = 0;
    friend auto operator<=>(const Unit&, const Unit&) = default;
  };
  /// Where a unit goes: behind an original node, and there in the order of the graph.
  using Place = std::pair<std::uint32_t, std::uint32_t>;

  void reserve_names();
  void reserve_wishes();
  void wish_names(NodeId id);
  void grant_wishes();
  void count_uses(const std::vector<Unit>& units);
  std::string fresh(std::string_view hint);

  // What is written, and in which order.
  Result<std::vector<Unit>> plan_kept_units();
  Result<std::vector<Unit>> plan_units();
  Result<std::optional<Unit>> maker(Port port);
  Result<std::vector<Unit>> needed_by(const Unit& unit);
  Result<std::optional<Unit>> maker_of_output(std::size_t i);
  [[nodiscard]] bool is_as_declared(std::size_t i) const;

  Status write_units(const std::vector<Unit>& units);
  Result<std::string> operand(Port port);
  std::string weight(const Node& node);
  std::string given(const std::string& name);
  std::string named_constant(const ConstantData& value, std::string_view hint);
  std::string initializer(const ConstantData& value, std::string_view hint);
  std::string weight_as_written(const Node& node);
  void note_loss(ElementType type, double number, std::string_view what) const;
  void note_attribute_loss(double number, std::string_view attribute) const;
  std::string filled(const ConstantData& value, double number, std::string_view hint);
  Status write_original(std::size_t index);
  Status write_application(NodeId id);
  bool write_as_bias(NodeId id, const std::vector<std::string>& in);
  Status write_opaque(NodeId id);
  Status write_outputs();
  std::string output_name(std::size_t i);
  void rename(const std::unordered_map<std::string, std::string>& renamed);
  Status choose_opset();
  model::ConversionContext conversion_context();
  void drop_unused_initializers();
  void add_initializers();
  void add_inputs();
  void drop_stale_declarations();
  Result<std::string> assemble();

  const Graph& graph_;
  model::ModelProto proto_;
  const ImportedModel& origin_;
  const ExportOptions& options_;
  std::int64_t opset_;
  model::Folder folder_;
  std::optional<model::Kept> kept_;
  std::unordered_set<std::string> taken_;   ///< Names of tensors and nodes.
  std::unordered_set<std::string> inputs_;  ///< Names of the graph's inputs that are given at each run.
  std::unordered_map<std::string, int> counters_;
  std::map<Port, std::string> names_;
  std::map<std::string, std::string> constants_;  ///< Initializers, by content.
  std::vector<Written> nodes_;
  std::unordered_map<std::string, std::size_t> products_;  ///< Conv and MatMul nodes, by what they make.
  std::vector<std::uint32_t> uses_;                        ///< By node, at run time.
  std::vector<model::TensorProto> initializers_;           ///< New ones.
  std::map<std::string, model::TensorProto> originals_;    ///< Initializers of the original that are used, by name.
  std::unordered_set<std::string> original_tensors_;       ///< What the original nodes make that are written.
  std::set<std::string> own_tensors_;                      ///< Made by nodes: may take an output's name.
  std::unordered_map<std::string, model::TensorProto> values_;  ///< Small ones, for conversions between opsets.
  std::unordered_map<std::string, model::KnownTensor> known_;
  ElementType element_ = ElementType::kFloat32;  ///< Of the application at hand.
  std::map<Port, std::string> wishes_;           ///< Names that no other tensor gets, for what applications make.
  std::unordered_map<std::string, std::string> wished_;  ///< By the name that a tensor was given at first.
};

}  // namespace rewright
