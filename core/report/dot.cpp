#include "report/dot.h"

#include <algorithm>
#include <array>
#include <vector>

#include "report/utf8.h"

namespace rewright {

namespace {

std::string text_of(const SymbolicShape& shape) {
  std::string text;
  for (const SymbolicDim& dim : shape) text += (text.empty() ? "" : ", ") + to_string(dim);
  return fmt::format("({})", text);
}

// Collects statements; edges say which output they leave and which operand they are where that is not plain.
class Drawing {
 public:
  void line(std::string_view text) { body_ += fmt::format("{}{}\n", indent_, text); }
  void open(std::string_view text) {
    line(fmt::format("{} {{", text));
    indent_ += "  ";
  }
  void close() {
    indent_.resize(indent_.size() - 2);
    line("}");
  }

  void node(std::string_view id, std::string_view label, std::string_view style) {
    line(fmt::format("{} [label={}, {}];", id, dot_string(label), style));
  }

  struct End {
    std::string id;
    std::size_t output = 0;
    bool several_outputs = false;
  };
  void edge(const End& from, std::string_view to, std::size_t operand, bool numbered) {
    std::string labels;
    if (from.several_outputs) labels += fmt::format("taillabel=\"{}\"", from.output);
    if (numbered) labels += fmt::format("{}headlabel=\"{}\"", labels.empty() ? "" : ", ", operand);
    line(fmt::format("{} -> {}{};", from.id, to, labels.empty() ? "" : fmt::format(" [{}]", labels)));
  }

  std::string finish() && { return std::move(body_); }

 private:
  std::string body_;
  std::string indent_;
};

void start(Drawing& drawing) {
  drawing.open("digraph");
  drawing.line("node [fontname=\"Helvetica\", fontsize=11, shape=box];");
  drawing.line(
      "edge [fontname=\"Helvetica\", fontsize=9, fontcolor=\"#606060\", arrowsize=0.7, "
      "labeldistance=1.8];");
  drawing.line("ordering=in;");  // Operands from left to right.
}

// Does the order of operands show in the drawing? It need not where the first two may be exchanged and are all there
// is.
bool is_numbered(const Operator* op, std::size_t operands) {
  return operands > 1 && !(op && op->info().commutative && operands == 2);
}

constexpr std::string_view kData = "style=\"rounded,filled\", fillcolor=\"#dbe9f6\"";
constexpr std::string_view kWeight = "style=\"rounded,filled\", fillcolor=\"#e4e4e4\"";
constexpr std::string_view kOpaque = "style=dashed";
constexpr std::string_view kPlain = "style=solid";
constexpr std::string_view kOutput = "shape=ellipse, style=filled, fillcolor=\"#fbe5c8\"";

// --- graphs ----------------------------------------------------------------------------------------------------

std::string types_of(const Node& node) {
  std::string text;
  for (const TensorType& type : node.outputs)
    text += fmt::format("{}{}", text.empty() ? "" : " ", to_string(type.shape));
  return text;
}

std::string label_of(const Node& node) {
  if (node.is_input()) return fmt::format("{}\n{}", node.name, types_of(node));
  if (node.opaque()) return fmt::format("{}\n{}", node.opaque()->type, types_of(node));
  const auto& [op, values] = *node.application();
  const std::string params = to_string(op->info().params, values);
  return fmt::format("{}{}{}\n{}", op->name(), params.empty() ? "" : "\n", params, types_of(node));
}

std::string_view style_of(const Node& node) {
  if (node.is_input()) return node.is_weight() ? kWeight : kData;
  return node.opaque() ? kOpaque : kPlain;
}

// --- rules -----------------------------------------------------------------------------------------------------

// Colours that stay apart for most readers (Okabe & Ito), lightened.
constexpr std::array<std::string_view, 8> kInputColours = {"#aed6f1", "#f9d29b", "#a8e0c8", "#f5b7a0",
                                                           "#e3c1dd", "#f7f0a0", "#9fc5e0", "#d0d0d0"};

class SideDrawing {
 public:
  SideDrawing(Drawing& drawing, const Rule& rule, const Pattern& side, char prefix)
      : drawing_(drawing), rule_(rule), side_(side), prefix_(prefix) {
    if (auto shapes = infer_shapes(rule.inputs, side)) shapes_ = std::move(shapes->of_node);
  }

  void draw(std::string_view title) {
    drawing_.open(fmt::format("subgraph cluster_{}", title));
    drawing_.line(fmt::format("label={};", dot_string(title)));
    drawing_.line("color=\"#a0a0a0\"; fontname=\"Helvetica\";");
    for (std::size_t i = 0; i < rule_.inputs.size(); ++i) input(i);
    for (std::size_t i = 0; i < side_.nodes.size(); ++i) application(i);
    for (std::size_t i = 0; i < side_.outputs.size(); ++i) {
      const std::string id = fmt::format("{}_out{}", prefix_, i);
      drawing_.node(id, fmt::format("output {}", i), kOutput);
      drawing_.edge(end_of(side_.outputs[i]), id, 0, false);
    }
    drawing_.close();
  }

 private:
  void input(std::size_t i) {
    SymbolicShape shape;
    for (int axis = 0; axis < rule_.inputs[i].rank; ++axis)
      shape.append(SymbolicDim::variable(SizeVar::axis(rule_.inputs[i].name, axis)));
    drawing_.node(id_of(i), fmt::format("{}\n{}", rule_.inputs[i].name, text_of(shape)),
                  fmt::format("style=\"rounded,filled\", fillcolor=\"{}\"", kInputColours[i % kInputColours.size()]));
  }

  void application(std::size_t i) {
    const PatternNode& node = side_.nodes[i];
    const std::size_t number = rule_.inputs.size() + i;
    std::string label = node.op->name();
    if (const std::string params = to_string(node.op->info().params, node.params); !params.empty())
      label += fmt::format("\n{}", params);
    if (number < shapes_.size()) {
      for (std::size_t o = 0; o < shapes_[number].size(); ++o)
        label += fmt::format("{}{}", o == 0 ? "\n" : " ", text_of(shapes_[number][o]));
    }
    drawing_.node(id_of(number), label, kPlain);
    for (std::size_t o = 0; o < node.inputs.size(); ++o)
      drawing_.edge(end_of(node.inputs[o]), id_of(number), o, is_numbered(node.op, node.inputs.size()));
  }

  [[nodiscard]] std::string id_of(std::size_t node) const { return fmt::format("{}{}", prefix_, node); }
  [[nodiscard]] Drawing::End end_of(Port port) const {
    const std::size_t node = port.node.value;
    return {id_of(node), port.output, node < shapes_.size() && shapes_[node].size() > 1};
  }

  Drawing& drawing_;
  const Rule& rule_;
  const Pattern& side_;
  char prefix_;
  std::vector<std::vector<SymbolicShape>> shapes_;
};

}  // namespace

std::string dot_string(std::string_view text) {
  std::string result(1, '"');
  each_character(text, "?", [&](std::string_view c) {
    switch (c.front()) {
      case '"': result += "\\\""; break;
      case '\\': result += "\\\\"; break;
      case '\n': result += "\\n"; break;
      case '\t': result += '?'; break;
      default: result += c;
    }
  });
  return result + '"';
}

std::string to_dot(const Graph& graph) {
  Drawing drawing;
  start(drawing);
  const auto end_of = [&](Port port) {
    return Drawing::End{fmt::format("n{}", port.node.value), port.output, graph.node(port.node).outputs.size() > 1};
  };
  for (std::size_t i = 0; i < graph.nodes().size(); ++i) {
    const Node& node = graph.nodes()[i];
    const std::string id = fmt::format("n{}", i);
    drawing.node(id, label_of(node), style_of(node));
    const Operator* op = node.application() ? node.application()->op : nullptr;
    for (std::size_t o = 0; o < node.inputs.size(); ++o)
      drawing.edge(end_of(node.inputs[o]), id, o, is_numbered(op, node.inputs.size()));
  }
  for (std::size_t i = 0; i < graph.outputs().size(); ++i) {
    const std::string name = i < graph.output_names().size() ? graph.output_names()[i] : std::string();
    const std::string id = fmt::format("out{}", i);
    drawing.node(id, name.empty() ? fmt::format("output {}", i) : name, kOutput);
    drawing.edge(end_of(graph.outputs()[i]), id, 0, false);
  }
  drawing.close();
  return std::move(drawing).finish();
}

std::string to_dot(const Rule& rule) {
  Drawing drawing;
  start(drawing);
  std::string title = rule.name;
  for (std::size_t i = 0; i < rule.precondition.size(); ++i)
    title += (i == 0 ? "\nwhere " : ", ") + to_string(rule.precondition[i]);
  title += fmt::format("\ntrust: {}", name_of(rule.trust));
  drawing.line(fmt::format("label={}; labelloc=t; fontname=\"Helvetica\";", dot_string(title)));
  SideDrawing(drawing, rule, rule.source, 's').draw("source");
  SideDrawing(drawing, rule, rule.target, 't').draw("target");
  drawing.close();
  return std::move(drawing).finish();
}

}  // namespace rewright
