// Rules that hold in every algebra, for tests of what uses rules. Most are directions of one law each way.
#pragma once

#include <rewright/rule/rule.h>

#include <string_view>
#include <vector>

#include "support/operators.h"

namespace rewright::testing {

inline constexpr std::string_view kTrueRules[] = {
    "(x:2, y:2, z:2) matmul(matmul(x, y), z) => matmul(x, matmul(y, z))",
    "(x:2, y:2, z:2) matmul(x, matmul(y, z)) => matmul(matmul(x, y), z)",
    "(x:2, y:2, z:2) ewadd(matmul(x, y), matmul(x, z)) => matmul(x, ewadd(y, z))",
    "(x:2, y:2, z:2) matmul(x, ewadd(y, z)) => ewadd(matmul(x, y), matmul(x, z))",
    "(x:2, y:2, z:2) ewadd(matmul(x, z), matmul(y, z)) => matmul(ewadd(x, y), z)",
    "(x:2, y:2, z:2) matmul(ewadd(x, y), z) => ewadd(matmul(x, z), matmul(y, z))",
    "(x:2, y:2, z:2) ewadd(ewadd(x, y), z) => ewadd(x, ewadd(y, z))",
    "(x:2, y:2, z:2) ewmul(ewmul(x, y), z) => ewmul(x, ewmul(y, z))",
    "(x:2, y:2, z:2) ewadd(ewmul(x, z), ewmul(y, z)) => ewmul(ewadd(x, y), z)",
    "(x:2, y:2, z:2) ewmul(ewadd(x, y), z) => ewadd(ewmul(x, z), ewmul(y, z))",
    "(x:2, y:2) let p = matmul(x, y) in ewadd(p, p) => matmul(x, ewadd(y, y))",
    "(x:2) transpose(transpose(x)) => x",
    "(x:2) relu(relu(x)) => relu(x)",
    "(x:2) relu(transpose(x)) => transpose(relu(x))",
    "(x:2) transpose(relu(x)) => relu(transpose(x))",
    "(x:2, y:2) transpose(matmul(x, y)) => matmul(transpose(y), transpose(x))",
    "(x:2, y:2) matmul(transpose(y), transpose(x)) => transpose(matmul(x, y))",
    "(x:2, y:2) ewadd(transpose(x), transpose(y)) => transpose(ewadd(x, y))",
    "(x:2, y:2) transpose(ewadd(x, y)) => ewadd(transpose(x), transpose(y))",
    "(x:2, y:2) split[axis=0, sizes=[x.0, y.0]](concat[axis=0](x, y)) => x, y",
    "(x:2, y:2) split[axis=1, sizes=[x.1, y.1]](concat[axis=1](x, y)) => x, y",
    "(x:2) let p, q = split[axis=0, sizes=[s0, s1]](x) in concat[axis=0](p, q) => x",
    "(x:2, y:2) concat[axis=0](relu(x), relu(y)) => relu(concat[axis=0](x, y))",
    "(x:2, y:2) relu(concat[axis=1](x, y)) => concat[axis=1](relu(x), relu(y))",
    "(x:2, y:2) relu(x), relu(y) => split[axis=0, sizes=[x.0, y.0]](relu(concat[axis=0](x, y)))",
    "(x:2, v:2, w:2) matmul(x, v), matmul(x, w) => split[axis=1, sizes=[v.1, w.1]](matmul(x, concat[axis=1](v, w)))",
    "(x:2, y:2, w:2) matmul(x, w), matmul(y, w) => split[axis=0, sizes=[x.0, y.0]](matmul(concat[axis=0](x, y), w))",
    "(x:2, y:2, w:2) concat[axis=0](matmul(x, w), matmul(y, w)) => matmul(concat[axis=0](x, y), w)",
    "(x:2, y:2, w:2) matmul(concat[axis=0](x, y), w) => concat[axis=0](matmul(x, w), matmul(y, w))",
    "(x:2, v:2, w:2) concat[axis=1](matmul(x, v), matmul(x, w)) => matmul(x, concat[axis=1](v, w))",
    "(x:2, y:2, v:2, w:2) ewadd(matmul(x, v), matmul(y, w)) => matmul(concat[axis=1](x, y), concat[axis=0](v, w))",
    "(x:2, y:2, v:2, w:2) matmul(concat[axis=1](x, y), concat[axis=0](v, w)) => ewadd(matmul(x, v), matmul(y, w)) "
    "where x.1 = v.0",
    "(x:4, v:4, w:4) ewadd(conv2d(x, v), conv2d(x, w)) => conv2d(x, ewadd(v, w))",
    "(x:4, v:4, w:4) conv2d(x, ewadd(v, w)) => ewadd(conv2d(x, v), conv2d(x, w))",
    "(x:4, y:4, w:4) ewadd(conv2d(x, w), conv2d(y, w)) => conv2d(ewadd(x, y), w)",
    "(x:4, w:4) conv2d(x, w) => conv2d(x, enlarge[kernel=[3, 3]](w)) where w.2 <= 3, w.3 <= 3, w.2 + w.3 <= 5",
    "(x:4, v:4, w:4) conv2d(x, v), conv2d(x, w) => split[axis=1, sizes=[v.0, w.0]](conv2d(x, concat[axis=0](v, w)))",
    "(x:4, v:4, w:4) concat[axis=1](conv2d(x, v), conv2d(x, w)) => conv2d(x, concat[axis=0](v, w))",
    "(x:4, w:4) relu(conv2d(x, w)) => conv2d[activation=relu](x, w)",
    "(x:4) relu(relu(x)) => relu(x)",
    "(x:4, y:4) split[axis=1, sizes=[x.1, y.1]](concat[axis=1](x, y)) => x, y",
    "(x:4, y:4) concat[axis=1](relu(x), relu(y)) => relu(concat[axis=1](x, y))",
};

inline Rule read_rule(std::string_view text) {
  auto rule = parse_rule(text, loaded());
  if (!rule) fail(fmt::format("{}: {}", text, rule.error().message));
  return *std::move(rule);
}

inline std::vector<Rule> true_rules() {
  std::vector<Rule> rules;
  for (std::string_view text : kTrueRules) rules.push_back(read_rule(text));
  return rules;
}

inline Graph read_graph(std::string_view text) {
  auto graph = parse_graph(text, loaded());
  if (!graph) fail(graph.error().message);
  return *std::move(graph);
}

/// The text of the same graph without the names that its applications had: equal graphs, equal text.
inline std::string plain_text(const Graph& graph) {
  GraphBuilder builder;
  std::vector<std::vector<Port>> made;
  for (const Node& node : graph.nodes()) {
    std::vector<Port> operands;
    for (Port operand : node.inputs) operands.push_back(made[operand.node.value][operand.output]);
    if (node.is_input()) {
      made.push_back({*builder.input(node.name, node.outputs[0], node.input()->kind)});
    } else {
      made.push_back(*builder.apply(*node.application(), operands));
    }
  }
  for (Port port : graph.outputs()) builder.output(made[port.node.value][port.output]);
  return to_text(builder.finish());
}

}  // namespace rewright::testing
