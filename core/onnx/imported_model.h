// What reading a model is told, and what it gives.
#pragma once

#include <rewright/graph/graph.h>

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "onnx/origin.h"

namespace rewright {

/// A dimension that a model leaves open: without a size, or with size -1.
struct OpenSize {
  struct Place {
    std::string input;
    int axis = 0;
    int rank = 0;
  };
  std::string name;           ///< The model's own, or "x.0" (input and axis) where it has none.
  std::vector<Place> places;  ///< At least one.
};

struct ImportOptions {
  /// Sizes of dimensions that the model leaves open: by the dimension's name, or by input and axis ("x.0").
  std::map<std::string, std::int64_t> dimensions;
  /// What errors call the model.
  std::string file = "the model";
  /// Where files with external data lie; empty: external data is refused.
  std::string directory;
  /// Large weights in such files stay there: the graph knows their types, ImportedModel::external where they lie.
  bool leave_external = false;
  /// The sizes given to open dimensions become part of the model: what export_model writes takes no others.
  bool freeze = false;
  /// Bodies inside bodies are read so far down; 0: none are.
  int body_depth = 0;
};

/// A weight whose values were not read.
struct ExternalWeight {
  TensorType type;
  std::string location;  ///< As the model names the file, in the folder that it is in.
  std::string file;      ///< The same, as it was found.
  std::uint64_t offset = 0;
  std::uint64_t bytes = 0;
};

/// A node that is carried as it is.
struct CarriedNode {
  std::string name;    ///< The node's name, or that of its first output.
  std::string type;    ///< "Einsum", "com.microsoft:FusedConv".
  std::string reason;  ///< One sentence.
};

struct ImportedBody;

struct ImportedModel {
  Graph graph;
  /// A serialized ModelProto: all that the graph does not say (versions, names, documentation, metadata, functions,
  /// the declared types of tensors, values of weights that a Graph cannot hold).
  std::string skeleton;
  Origin origin;
  std::int64_t opset = 0;  ///< Of ONNX's own operators.
  std::vector<CarriedNode> carried;
  std::size_t untyped = 0;                         ///< Nodes with an output whose type or sizes are not known.
  std::map<std::string, ExternalWeight> external;  ///< By name.
  /// Dimensions that the model leaves open, with the sizes that the graph has them at; "x.0" where one has no name.
  std::map<std::string, std::int64_t> open_sizes;
  std::vector<ImportedBody> bodies;  ///< In the order of their nodes.
  std::set<std::string> names;       ///< All names of tensors and nodes, those in bodies too, where these are read.
};

/// A graph inside a node, as a model. See body.h for the way back.
struct ImportedBody {
  std::string node;              ///< The serialized NodeProto that it is in.
  std::string attribute;         ///< "then_branch"
  std::set<std::string> outer;   ///< What it uses from outside, by name.
  bool stores_in_nodes = false;  ///< What is stored in it are Constant nodes: before IR 4.
  bool is_taken = true;          ///< Not a branch whose condition says the other one, at these sizes.
  ImportedModel model;
  std::vector<CarriedNode> carried;  ///< All its nodes, where it is not read.

  [[nodiscard]] bool is_read() const { return carried.empty(); }
};

}  // namespace rewright
