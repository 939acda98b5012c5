#include "report/gallery/drawings.h"

#include <algorithm>
#include <cstdlib>

#include "report/dot.h"
#include "report/gallery/html.h"

namespace rewright::gallery {
namespace {

constexpr std::size_t kColours = 8;

std::string text_of(const SymbolicShape& shape) {
  std::string text;
  for (const SymbolicDim& dim : shape) text += (text.empty() ? "" : ", ") + to_string(dim);
  return fmt::format("({})", text);
}

// A label of a bold word, and lines in small grey letters below it.
std::string label(const std::string& word, const std::vector<std::string>& lines) {
  std::string text = fmt::format("<<b>{}</b>", escaped(word));
  for (const std::string& line : lines)
    text += fmt::format("<br/><font point-size=\"9\" color=\"#5b6470\">{}</font>", escaped(line));
  return text + ">";
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
    text_ += fmt::format("n{} [label={}, class=\"in in{}\"];\n", i, label(rule_.inputs[i].name, {text_of(shape)}),
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
    text_ += fmt::format("n{} [label={}];\n", number, label(node.op->name(), lines));
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

// Takes `what` out of the line, wherever it stands.
void take_out(std::string& line, std::string_view what) {
  for (std::size_t at = line.find(what); at != std::string::npos; at = line.find(what, at)) line.erase(at, what.size());
}

// A rounded box, which Graphviz writes as a long path, as a rectangle around the path's points.
std::string as_rectangle(const std::string& line) {
  const std::size_t begin = line.find(" d=\"M") + 5;
  double low[2] = {1e9, 1e9}, high[2] = {-1e9, -1e9};
  int axis = 0;
  for (const char* at = line.c_str() + begin; *at != '"' && *at != 0;) {
    char* end = nullptr;
    const double value = std::strtod(at, &end);
    if (end == at) {
      ++at;  // A letter, a comma or a space.
      continue;
    }
    low[axis] = std::min(low[axis], value);
    high[axis] = std::max(high[axis], value);
    axis = 1 - axis;
    at = end;
  }
  return fmt::format("<rect x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{:.1f}\" rx=\"6\"/>", low[0], low[1],
                     high[0] - low[0], high[1] - low[1]);
}

// What says nothing to a reader is left out: comments, titles, ids (they would not be unique in the page), and what the
// style sheet says.
std::string compact(std::string_view svg) {
  std::string result;
  bool node = false;
  while (!svg.empty()) {
    const std::size_t end = std::min(svg.find('\n'), svg.size());
    std::string line(svg.substr(0, end));
    svg.remove_prefix(std::min(end + 1, svg.size()));
    if (line.starts_with("<!--") || line.starts_with("<title>")) continue;
    if (line.starts_with("<g ")) {
      node = line.find("class=\"node") != std::string::npos;
      const std::size_t id = line.find(" id=\"");
      if (id != std::string::npos) line.erase(id, line.find('"', id + 5) + 1 - id);
    }
    if (node && line.starts_with("<path")) line = as_rectangle(line);
    for (const char* what : {" font-family=\"Helvetica,sans-Serif\"", " xmlns=\"http://www.w3.org/2000/svg\"",
                             " xmlns:xlink=\"http://www.w3.org/1999/xlink\"", " fill=\"none\"", " stroke=\"#8a94a3\"",
                             " fill=\"#8a94a3\"", " text-anchor=\"start\"", " font-size=\"12.00\""})
      take_out(line, what);
    result += line + '\n';
  }
  return result;
}

}  // namespace

Result<std::vector<Drawing>> draw(std::span<const Rule* const> rules) {
  std::string dot;
  for (const Rule* rule : rules) dot += SideText(*rule, rule->source).text() + SideText(*rule, rule->target).text();
  REWRIGHT_TRY(const std::string svg, render_svg(dot));
  std::vector<std::string> sides;
  constexpr std::string_view kEnd = "</svg>";
  for (std::size_t at = svg.find("<svg"); at != std::string::npos; at = svg.find("<svg", at)) {
    const std::size_t end = svg.find(kEnd, at);
    if (end == std::string::npos) break;
    sides.push_back(compact(std::string_view(svg).substr(at, end + kEnd.size() - at)));
    at = end;
  }
  if (sides.size() != 2 * rules.size())
    return make_error(ErrorCode::kInternal, "Graphviz's 'dot' made {} drawings of {}", sides.size(), 2 * rules.size());
  std::vector<Drawing> drawings;
  for (std::size_t i = 0; i < rules.size(); ++i)
    drawings.push_back({std::move(sides[2 * i]), std::move(sides[2 * i + 1])});
  return drawings;
}

}  // namespace rewright::gallery
