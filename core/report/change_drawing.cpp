#include "report/change_drawing.h"

#include <rewright/optimize/cost.h>

#include <algorithm>
#include <set>

#include "report/dot.h"
#include "report/svg_parts.h"

namespace rewright {
namespace {

/// Changes of so many nodes are drawn with the weights that they take, and of so many at all.
constexpr std::size_t kMostWithWeights = 16, kMostChanged = 240;

using Marks = std::vector<bool>;

/// Marked nodes and those up to two edges away.
Marks surroundings(const Graph& graph, Marks near) {
  for (int round = 0; round < 2; ++round) {
    Marks wider = near;
    for (std::size_t i = 0; i < near.size(); ++i) {
      for (const Port& operand : graph.nodes()[i].inputs) {
        if (near[i]) wider[operand.node.value] = true;
        if (near[operand.node.value]) wider[i] = true;
      }
    }
    near = std::move(wider);
  }
  return near;
}

Marks both(const Marks& a, const Marks& b) {
  Marks result(a.size());
  for (std::size_t i = 0; i < a.size(); ++i) result[i] = a[i] && b[i];
  return result;
}

Marks inverted(Marks marks) {
  marks.flip();
  return marks;
}

std::size_t count(const Marks& marks) { return static_cast<std::size_t>(std::ranges::count(marks, true)); }

/// What is drawn of a graph with changes. Data inputs that nothing uses are left out.
Marks shown_of(const Graph& graph, const Marks& touched, std::size_t most) {
  const Marks data = inverted(weight_only(graph));
  if (count(data) <= most) return data;
  return both(data, surroundings(graph, both(touched, data)));
}

std::string params_of(const ApplicationNode& made) {
  const std::string text = to_string(made.op->info().params, made.params);
  return text.size() < 2 ? text : text.substr(1, text.size() - 2);  // Without brackets.
}

std::string change_label_of(const Node& node) {
  std::vector<std::string> lines;
  if (node.application() != nullptr) {
    if (std::string params = params_of(*node.application()); !params.empty()) lines.push_back(std::move(params));
  }
  std::string shapes;
  for (const TensorType& type : node.outputs) shapes += fmt::format("{}{}", shapes.empty() ? "" : " ", type.shape);
  lines.push_back(shapes);
  const std::string word = node.application() != nullptr ? node.application()->op->name()
                           : node.opaque() != nullptr    ? node.opaque()->type
                                                         : node.name;
  return dot_label(word.empty() ? "input" : word, lines);
}

std::string_view class_of(const Node& node) {
  if (node.is_input()) return node.is_weight() ? "weight" : "data";
  return node.opaque() != nullptr ? "opaque" : "op";
}

constexpr std::string_view kHead =
    "digraph {\nbgcolor=transparent;\nnodesep=0.24;\nranksep=0.32;\n"
    "node [fontname=\"Helvetica\", fontsize=12, shape=box, style=\"rounded,filled\", fillcolor=\"#ffffff\", "
    "color=\"#8a94a3\", margin=\"0.12,0.06\", height=0.3];\n"
    "edge [color=\"#8a94a3\", arrowsize=0.6];\n";

/// Statements of DOT, each edge once.
class ChangeText {
 public:
  void node(const std::string& id, const std::string& label, std::string_view kind, std::string_view change) {
    nodes_ += fmt::format("{} [label={}, class=\"{}{}{}\"];\n", id, label, kind, change.empty() ? "" : " ", change);
  }
  /// An ellipsis: there is more.
  void rest(const std::string& id, std::string_view change) {
    nodes_ += fmt::format(
        "r{0} [label=\"...\", shape=plaintext, style=\"\", class=\"rest\"];\nr{0} -> {0} [style=dotted, "
        "class=\"{1}\"];\n",
        id, change);
  }
  void output(std::size_t number, std::size_t of) {
    nodes_ += fmt::format("out{0} [label=\"{1}\", shape=plaintext, style=\"\", class=\"rest\"];\n", number,
                          of == 1 ? "output" : fmt::format("output {}", number));
  }
  void edge(std::string from, std::string to, std::string_view change) {
    if (!known_.emplace(from, to, std::string(change)).second) return;
    edges_ += fmt::format("{} -> {} [class=\"{}\"];\n", from, to, change);
  }
  [[nodiscard]] std::string text() const { return fmt::format("{}{}{}}}\n", kHead, nodes_, edges_); }

 private:
  std::string nodes_, edges_;
  std::set<std::tuple<std::string, std::string, std::string>> known_;
};

std::string_view plain_style(const Node& node, bool is_marked) {
  return is_marked         ? "style=filled, fillcolor=\"#f9d29b\""
         : node.is_input() ? "style=\"rounded,filled\", fillcolor=\"#f0f3f7\""
                           : "style=solid";
}

/// On one line.
std::string plain_label(const Node& node) {
  std::string label = node.opaque() ? node.opaque()->type : node.name;
  if (const ApplicationNode* made = node.application()) {
    const std::string params = to_string(made->op->info().params, made->params);
    label = made->op->name() + (params.empty() ? "" : " " + params);
  }
  for (const TensorType& type : node.outputs) label += fmt::format(" {}", type.shape);
  return label;
}

/// One of the two graphs of a step, and what of it is drawn.
struct Side {
  const Graph& graph;
  Marks touched, shown;
  std::vector<std::string> ids;
};

/// What changes take of weights, where there are few changes.
void show_weights(Side& side) {
  const Marks weight = weight_only(side.graph);
  for (std::size_t i = 0; i < side.shown.size(); ++i) {
    if (!side.touched[i] || weight[i]) continue;
    for (const Port& operand : side.graph.nodes()[i].inputs) side.shown[operand.node.value] = true;
  }
  for (std::size_t i = side.shown.size(); i-- > 0;) {  // And what these are made of.
    if (!side.shown[i] || !weight[i]) continue;
    for (const Port& operand : side.graph.nodes()[i].inputs) side.shown[operand.node.value] = true;
  }
}

void draw_side(const Side& side, const Side& other, std::string_view change, ChangeText& text) {
  const auto nodes = side.graph.nodes();
  const Marks weight = weight_only(side.graph);
  const auto is_shared = [&](const std::string& id) { return id.front() == 's'; };
  std::set<std::pair<std::string, std::string>> others;
  for (std::size_t i = 0; i < other.ids.size(); ++i) {
    if (!other.shown[i]) continue;
    for (const Port& operand : other.graph.nodes()[i].inputs)
      others.emplace(other.ids[operand.node.value], other.ids[i]);
  }
  for (std::size_t k = 0; k < other.graph.outputs().size(); ++k)
    others.emplace(other.ids[other.graph.outputs()[k].node.value], fmt::format("out{}", k));
  const auto edge = [&](const std::string& from, const std::string& to) {
    text.edge(from, to, others.contains({from, to}) ? "" : change);
  };
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    if (!side.shown[i]) continue;
    const std::string& id = side.ids[i];
    if (!is_shared(id)) text.node(id, change_label_of(nodes[i]), class_of(nodes[i]), change);
    bool is_cut = false;
    for (const Port& operand : nodes[i].inputs) {
      const std::size_t from = operand.node.value;
      if (side.shown[from]) edge(side.ids[from], id);
      is_cut = is_cut || (!side.shown[from] && !weight[from]);
    }
    if (is_cut && (change == "gone" || !is_shared(id))) text.rest(id, is_shared(id) ? "" : change);
  }
  for (std::size_t k = 0; k < side.graph.outputs().size(); ++k) {
    const std::size_t from = side.graph.outputs()[k].node.value;
    if (side.shown[from]) edge(side.ids[from], fmt::format("out{}", k));
  }
}

}  // namespace

std::optional<std::string> step_as_dot(const Graph& before, const Graph& after, const Counterparts& counterparts,
                                       std::size_t most) {
  const Counterparts back = reversed(counterparts, after.nodes().size());
  Side old{before, touched_nodes(before, counterparts, after), {}, {}},
      made{after, touched_nodes(after, back, before), {}, {}};
  const std::size_t changed =
      count(both(old.touched, inverted(weight_only(before)))) + count(both(made.touched, inverted(weight_only(after))));
  if (changed == 0 || changed > kMostChanged) return {};
  old.shown = shown_of(before, old.touched, most);
  made.shown = shown_of(after, made.touched, most);
  if (changed <= kMostWithWeights) show_weights(old), show_weights(made);
  for (std::size_t i = 0; i < counterparts.size(); ++i) {  // Drawn of one, drawn of both.
    if (!counterparts[i]) continue;
    const bool is_shown = old.shown[i] || made.shown[*counterparts[i]];
    old.shown[i] = made.shown[*counterparts[i]] = is_shown;
  }
  for (std::size_t i = 0; i < counterparts.size(); ++i)
    old.ids.push_back(fmt::format("{}{}", counterparts[i] ? 's' : 'b', i));
  for (std::size_t j = 0; j < back.size(); ++j)
    made.ids.push_back(back[j] ? fmt::format("s{}", *back[j]) : fmt::format("a{}", j));
  ChangeText text;
  for (std::size_t i = 0; i < counterparts.size(); ++i)
    if (counterparts[i] && old.shown[i])
      text.node(old.ids[i], change_label_of(before.nodes()[i]), class_of(before.nodes()[i]),
                old.touched[i] ? "touched" : "");
  for (std::size_t k = 0; k < before.outputs().size(); ++k)
    if (old.shown[before.outputs()[k].node.value] || made.shown[after.outputs()[k].node.value])
      text.output(k, before.outputs().size());
  draw_side(old, made, "gone", text);
  draw_side(made, old, "new", text);
  return text.text();
}

std::string graph_as_dot(const Graph& graph, const std::vector<bool>& marked, std::size_t most) {
  const Marks weight = weight_only(graph), shown = shown_of(graph, marked, most);
  ChangeText text;
  const auto id = [](std::size_t node) { return fmt::format("n{}", node); };
  for (std::size_t i = 0; i < shown.size(); ++i) {
    if (!shown[i]) continue;
    const Node& node = graph.nodes()[i];
    text.node(id(i), change_label_of(node), class_of(node), marked[i] ? "touched" : "");
    bool is_cut = false;
    for (const Port& operand : node.inputs) {
      const std::size_t from = operand.node.value;
      if (shown[from]) text.edge(id(from), id(i), "");
      is_cut = is_cut || (!shown[from] && !weight[from]);
    }
    if (is_cut) text.rest(id(i), "");
  }
  for (std::size_t k = 0; k < graph.outputs().size(); ++k) {
    const std::size_t from = graph.outputs()[k].node.value;
    if (!shown[from]) continue;
    text.output(k, graph.outputs().size());
    text.edge(id(from), fmt::format("out{}", k), "");
  }
  return text.text();
}

std::string changes_as_dot(const Graph& graph, const std::vector<bool>& marked, std::size_t most) {
  const Marks weight = weight_only(graph), shown = shown_of(graph, marked, most);
  std::string dot = "digraph {\nnode [fontname=\"Helvetica\", fontsize=11, shape=box];\nordering=in;\n";
  for (std::size_t i = 0; i < shown.size(); ++i) {
    if (!shown[i]) continue;
    const Node& node = graph.nodes()[i];
    dot += fmt::format("n{} [label={}, {}];\n", i, dot_string(plain_label(node)), plain_style(node, marked[i]));
    bool cut = false;
    for (const Port& operand : node.inputs) {
      const std::size_t from = operand.node.value;
      if (shown[from]) dot += fmt::format("n{} -> n{};\n", from, i);
      cut = cut || (!shown[from] && !weight[from]);
    }
    if (cut) dot += fmt::format("c{0} [label=\"...\", shape=plaintext];\nc{0} -> n{0} [style=dotted];\n", i);
  }
  for (std::size_t k = 0; k < graph.outputs().size(); ++k) {
    const std::size_t from = graph.outputs()[k].node.value;
    if (!shown[from]) continue;
    dot += fmt::format("o{} [label=\"output {}\", shape=ellipse];\nn{} -> o{};\n", k, k, from, k);
  }
  return dot + "}\n";
}

}  // namespace rewright
