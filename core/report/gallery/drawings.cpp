#include "report/gallery/drawings.h"

#include <algorithm>

#include "report/svg_parts.h"

namespace rewright::gallery {
namespace {

constexpr std::size_t kColours = 8;

std::string text_of(const SymbolicShape& shape) {
  std::string text;
  for (const SymbolicDim& dim : shape) text += (text.empty() ? "" : ", ") + to_string(dim);
  return fmt::format("({})", text);
}

std::string params_of(const PatternNode& node) {
  const std::string text = to_string(node.op->info().params, node.params);
  return text.size() < 2 ? text : text.substr(1, text.size() - 2);  // Without brackets.
}

// One side as a graph of its own; data flows downwards.
class SideText {
 public:
  SideText(const Rule& rule, const Pattern& side) : rule_(rule), side_(side) {
    if (auto shapes = infer_shapes(rule.inputs, side)) shapes_ = std::move(shapes->of_node);
  }

  std::string text() {
    text_ =
        "digraph {\nbgcolor=transparent;\nordering=in;\nnodesep=0.22;\nranksep=0.3;\n"
        "node [fontname=\"Helvetica\", fontsize=12, shape=box, style=\"rounded,filled\", fillcolor=\"#ffffff\", "
        "color=\"#8a94a3\", margin=\"0.12,0.06\", height=0.3, class=\"op\"];\n"
        "edge [fontname=\"Helvetica\", fontsize=9, fontcolor=\"#5b6470\", color=\"#8a94a3\", arrowsize=0.6, "
        "labeldistance=1.6];\n";
    const std::vector<bool> used = used_inputs();
    for (std::size_t i = 0; i < rule_.inputs.size(); ++i) {
      if (used[i]) input(i);
    }
    for (std::size_t i = 0; i < side_.nodes.size(); ++i) application(i);
    for (std::size_t i = 0; i < side_.outputs.size(); ++i) output(i);
    return text_ + "}\n";
  }

 private:
  // Inputs that the side does not look at are left out.
  [[nodiscard]] std::vector<bool> used_inputs() const {
    std::vector<bool> used(rule_.inputs.size());
    const auto mark = [&](Port port) {
      if (port.node.value < used.size()) used[port.node.value] = true;
    };
    for (const PatternNode& node : side_.nodes) std::ranges::for_each(node.inputs, mark);
    std::ranges::for_each(side_.outputs, mark);
    return used;
  }
  void input(std::size_t i) {
    SymbolicShape shape;
    for (int axis = 0; axis < rule_.inputs[i].rank; ++axis)
      shape.append(SymbolicDim::variable(SizeVar::axis(rule_.inputs[i].name, axis)));
    text_ += fmt::format("n{} [label={}, class=\"in in{}\"];\n", i, dot_label(rule_.inputs[i].name, {text_of(shape)}),
                         i % kColours);
  }
  void application(std::size_t i) {
    const PatternNode& node = side_.nodes[i];
    const std::size_t number = rule_.inputs.size() + i;
    std::vector<std::string> lines;
    if (const std::string params = params_of(node); !params.empty()) lines.push_back(params);
    if (number < shapes_.size()) {
      for (const SymbolicShape& shape : shapes_[number]) lines.push_back(text_of(shape));
    }
    text_ += fmt::format("n{} [label={}];\n", number, dot_label(node.op->name(), lines));
    const bool commutes = node.op->info().commutative && node.inputs.size() == 2;
    for (std::size_t o = 0; o < node.inputs.size(); ++o)
      edge(node.inputs[o], fmt::format("n{}", number), node.inputs.size() > 1 && !commutes ? fmt::format("{}", o) : "");
  }
  void output(std::size_t i) {
    const std::string name = side_.outputs.size() > 1 ? fmt::format("output {}", i) : "output";
    text_ += fmt::format("out{} [label=\"{}\", shape=plaintext, style=\"\", class=\"out\", fontsize=10];\n", i, name);
    edge(side_.outputs[i], fmt::format("out{}", i), "");
  }
  void edge(Port from, const std::string& to, const std::string& operand) {
    const std::size_t node = from.node.value;
    std::string labels;
    if (node < shapes_.size() && shapes_[node].size() > 1) labels = fmt::format("taillabel=\"{}\"", from.output);
    if (!operand.empty()) labels += fmt::format("{}headlabel=\"{}\"", labels.empty() ? "" : ", ", operand);
    text_ += fmt::format("n{} -> {} [{}];\n", node, to, labels);
  }

  const Rule& rule_;
  const Pattern& side_;
  std::vector<std::vector<SymbolicShape>> shapes_;
  std::string text_;
};

}  // namespace

Result<std::vector<Drawing>> draw(std::span<const Rule* const> rules) {
  std::string dot;
  for (const Rule* rule : rules) dot += SideText(*rule, rule->source).text() + SideText(*rule, rule->target).text();
  REWRIGHT_TRY(std::vector<std::string> sides, render_parts(dot, 2 * rules.size()));
  std::vector<Drawing> drawings;
  for (std::size_t i = 0; i < rules.size(); ++i)
    drawings.push_back({std::move(sides[2 * i]), std::move(sides[2 * i + 1])});
  return drawings;
}

}  // namespace rewright::gallery
