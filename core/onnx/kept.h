// Which nodes of the original model are written back as they were, and where from they take their inputs.
//
// An original node is kept where the rewritten graph still has all the applications that it was read as, wired among
// each other as they were: then the node, with its inputs rewired to what these applications take, computes them.
// Inputs that no application takes (the shape of a Reshape, the bounds of a Clip) are taken by their names in the
// original. What makes those is written too: it is kept, or it computes no numbers with a fraction (a Shape, a Gather
// of sizes, a Constant) and is written again. A tensor that the rewritten graph has in another form is taken from
// there.
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "onnx/alignment.h"
#include "onnx/imported_model.h"

namespace rewright::model {

/// Where an original node takes an input from.
struct InputSource {
  enum class Kind {
    kMissing,   ///< The tensor cannot be had.
    kGiven,     ///< By its name: an input of the model, an initializer, or left out.
    kMade,      ///< By its name: original node `maker` makes it, and is written.
    kTensor,    ///< Tensor `port` of the rewritten graph.
    kIntegers,  ///< Its value, which does not depend on what the model is given.
  };
  Kind kind = Kind::kMissing;
  std::size_t maker = 0;
  Port port = {};
};

class Kept {
 public:
  /// Borrows both.
  Kept(const Graph& now, const ImportedModel& origin, Guesses guesses = Guesses::kAll);

  /// The original node, and which output of it, that makes this tensor of the rewritten graph.
  [[nodiscard]] std::optional<std::pair<std::size_t, std::size_t>> maker_of(Port now) const;
  /// By input of an original node that is written.
  [[nodiscard]] const std::vector<InputSource>& sources(std::size_t node) const { return sources_[node]; }
  /// Where a tensor of the original comes from.
  [[nodiscard]] InputSource source_of(const std::string& name) const;
  /// What stands now where a tensor of the original stood.
  [[nodiscard]] std::optional<Port> now_of(Port then) const { return alignment_.now_of(then); }
  /// True for applications that an original node makes, from operands that are as they were.
  [[nodiscard]] bool is_as_it_was(NodeId now) const { return alignment_.is_same(now) && covered_[now.value]; }

 private:
  using Taken = std::map<Port, Port>;  ///< By tensor of the original: the tensor of the rewritten graph in its place.

  [[nodiscard]] std::optional<Taken> taken_by(const OriginNode& node) const;
  [[nodiscard]] bool used_alone(NodeId then) const;
  void plan(std::size_t node, const std::optional<Taken>& taken);

  const Graph& now_;
  const ImportedModel& origin_;
  Alignment alignment_;
  std::vector<std::vector<NodeId>> users_now_;
  std::vector<std::vector<NodeId>> users_then_;
  std::unordered_map<std::string, std::size_t> makers_;  ///< Original nodes, by the names of what they make.
  std::map<Port, Port> stands_for_;
  std::vector<bool> is_written_;
  std::vector<bool> covered_;  ///< By node of the rewritten graph.
  std::vector<std::vector<InputSource>> sources_;
  std::map<Port, std::pair<std::size_t, std::size_t>> made_;
};

}  // namespace rewright::model
