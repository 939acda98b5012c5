// Work on weights whose values are known, done before the model runs.
#pragma once

#include <rewright/graph/graph.h>

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "onnx/export_options.h"
#include "onnx/imported_model.h"

namespace rewright::model {

/// Computes in double precision and rounds once, to the element type. A result of one repeated number is kept as that.
///
/// Without options.fast_math a value that loses numbers by rounding (lossy.h) is left to the run. Work that the origin
/// has as well is looked at step by step, as the model itself rounds each: constants that overflow there do so still.
/// Of other work, which a rewrite brought, the last step counts, and options.lost is told of it: the run computes it in
/// the element type and loses the same.
class Folder {
 public:
  /// Borrows all three. Weights whose values lie elsewhere are read when they are computed with, and dropped.
  Folder(const Graph& graph, const ImportedModel& origin, const ExportOptions& options);

  /// True for applications on weights with values alone.
  [[nodiscard]] bool is_known(NodeId node) const { return known_[node.value] && !graph_.node(node).is_input(); }
  /// Computes the outputs of an application that is known. False: it would pass the limits of the options, and is left
  /// to the run, which is noted. Errors: kBudget; kUnsupported from weights that cannot be read as numbers.
  Result<bool> fold(NodeId node);
  /// What was computed.
  [[nodiscard]] const std::map<Port, ConstantData>& values() const { return folded_; }

 private:
  void find_known();
  [[nodiscard]] std::vector<std::uint32_t> cone(std::uint32_t node) const;
  [[nodiscard]] std::string refuse(const std::vector<std::uint32_t>& cone) const;
  void plan_batches();
  [[nodiscard]] double flops_of(std::uint32_t node) const;
  Status compute_batch(std::uint32_t node);
  Status compute(std::uint32_t node);
  [[nodiscard]] std::string loss_of(std::uint32_t node, const std::vector<std::uint32_t>& cone) const;
  void forget_lossy(const std::vector<std::uint32_t>& cone);
  [[nodiscard]] Result<Tensor<Real>> value_of(const Node& input) const;
  [[nodiscard]] std::int64_t size_in_file(const Node& input) const;
  void drop(const std::vector<std::uint32_t>& cone);
  bool keep(std::uint32_t node, const std::vector<std::uint32_t>& cone);

  const Graph& graph_;
  const std::map<std::string, ExternalWeight>& external_;
  const ExportOptions& options_;
  std::vector<bool> known_;              ///< By node: a weight with a value, or an application on such alone.
  std::vector<std::uint32_t> users_;     ///< By node: how many use it.
  std::vector<bool> was_there_;          ///< By node: the origin computes the same.
  std::vector<std::uint8_t> overflows_;  ///< By node: double precision did not hold what it computed.
  std::vector<std::vector<Tensor<Real>>> values_;
  std::map<Port, ConstantData> folded_;
  std::set<std::uint32_t> replaced_;  ///< Weights that a folded value stands for.
  std::set<std::uint32_t> left_;      ///< Applications that are left to the run.
  std::int64_t added_bytes_ = 0;
  std::int64_t held_bytes_ = 0;  ///< Of folded values.
  double flops_ = 0;
  /// Cones that share nothing, computed side by side when the first is asked for; by their last nodes.
  std::vector<std::vector<std::uint32_t>> batches_;
  std::map<std::uint32_t, std::size_t> batch_of_;
};

}  // namespace rewright::model
