// Scan of ONNX: a body over the slices of tensors along an axis, with states that it passes on.
//
//   (s[t + 1], y[t]) = body(s[t], x[t])        t in order; outputs: the last states, and all y along an axis
//
// A scanned input may be read, and a scanned output written, from the end.
//
// Source  ONNX operator Scan, opset 9.
#pragma once

#include <rewright/base/result.h>
#include <rewright/graph/graph.h>
#include <rewright/operator/expression.h>
#include <rewright/plugin/registry.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace rewright::compile {

struct Scan {
  /// An axis of the node's tensor, from the front, that the body's tensor lacks.
  struct Way {
    int axis = 0;
    bool is_backwards = false;
  };
  Graph body;
  std::vector<std::size_t> operands;  ///< By data input of the body's graph: the operand that it is, or is a slice of.
  std::size_t states = 0;             ///< The first operands and the first outputs.
  std::vector<Way> inputs, outputs;   ///< Those that are scanned.
  std::int64_t length = 0;

  /// How an operand is scanned; nothing for a state and for what is the same in all rounds.
  [[nodiscard]] std::optional<Way> way_of(std::size_t operand) const;
};

/// Errors: kUnsupported: Scan of opset 8, sizes that change from round to round, a body that cannot be read.
[[nodiscard]] Result<Scan> read_scan(const Graph& graph, const Node& node, const Registry& registry);

/// `body`: of the scan's, its inputs in their order. Errors: kUnsupported: a body with a serial axis of its own.
[[nodiscard]] Result<Definition> scan_definition(const Graph& graph, const Node& node, const Scan& scan,
                                                 const Definition& body);

}  // namespace rewright::compile
