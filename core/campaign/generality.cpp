#include "campaign/generality.h"

#include <algorithm>
#include <map>
#include <set>

#include "rule/canonical.h"
#include "rule/usable.h"

namespace rewright {
namespace {

constexpr std::size_t kMostNodes = 40;     // Of both sides as trees; larger rules stay as they are.
constexpr std::size_t kMostPlaces = 5;     // Of one input on one side.
constexpr std::size_t kMostAttempts = 64;  // To give one input's places to several.

/// An input, or one output of an application to other terms.
struct Tree {
  const Operator* op = nullptr;  ///< Null: an input.
  std::size_t input = 0;
  SymbolicParams params;
  std::uint32_t output = 0;
  std::vector<Tree> operands;
  SymbolicShape shape;
};

/// A rule's sides as trees, an output each.
struct Trees {
  std::vector<PatternInput> inputs;
  std::vector<Shape> example;
  std::vector<Tree> source, target;
};

std::size_t size_of(const Tree& tree) {
  std::size_t size = 1;
  for (const Tree& operand : tree.operands) size += size_of(operand);
  return size;
}

bool same(const Tree& a, const Tree& b) {
  if (a.op != b.op) return false;
  if (!a.op) return a.input == b.input;
  return a.output == b.output && a.params == b.params &&
         std::ranges::equal(a.operands, b.operands, [](const Tree& x, const Tree& y) { return same(x, y); });
}

template <class Visit>
void visit_all(const Tree& tree, const Visit& visit) {
  visit(tree);
  for (const Tree& operand : tree.operands) visit_all(operand, visit);
}
template <class Visit>
void change_all(Tree& tree, const Visit& change) {
  if (change(tree)) return;
  for (Tree& operand : tree.operands) change_all(operand, change);
}

Result<std::vector<Tree>> trees_of(const Rule& rule, const Pattern& side) {
  REWRIGHT_TRY(const PatternShapes shapes, infer_shapes(rule.inputs, side));
  const auto tree_of = [&](const auto& self, Port port) -> Tree {
    Tree tree;
    tree.shape = shapes.of_node[port.node.value][port.output];
    if (port.node.value < rule.inputs.size()) {
      tree.input = port.node.value;
      return tree;
    }
    const PatternNode& node = side.nodes[port.node.value - rule.inputs.size()];
    tree.op = node.op;
    tree.params = node.params;
    tree.output = port.output;
    for (const Port operand : node.inputs) tree.operands.push_back(self(self, operand));
    return tree;
  };
  std::vector<Tree> trees;
  for (const Port output : side.outputs) trees.push_back(tree_of(tree_of, output));
  return trees;
}

/// Sharing can make a tree far larger than its rule, so it is counted before it is built.
bool is_small(const Rule& rule) {
  std::size_t all = 0;
  for (const Pattern* side : {&rule.source, &rule.target}) {
    std::vector<std::size_t> sizes;
    const auto of = [&](Port port) {
      return port.node.value < rule.inputs.size() ? 1 : sizes[port.node.value - rule.inputs.size()];
    };
    for (const PatternNode& node : side->nodes) {
      std::size_t size = 1;
      for (const Port operand : node.inputs) size = std::min(kMostNodes + 1, size + of(operand));
      sizes.push_back(size);
    }
    for (const Port output : side->outputs) all += of(output);
  }
  return all <= kMostNodes;
}

Pattern pattern_of(const std::vector<Tree>& trees, std::size_t input_count) {
  Pattern pattern;
  const auto port_of = [&](const auto& self, const Tree& tree) -> Port {
    if (!tree.op) return {NodeId{static_cast<std::uint32_t>(tree.input)}, 0};
    PatternNode node{tree.op, tree.params, {}};
    for (const Tree& operand : tree.operands) node.inputs.push_back(self(self, operand));
    pattern.nodes.push_back(std::move(node));
    return {NodeId{static_cast<std::uint32_t>(input_count + pattern.nodes.size() - 1)}, tree.output};
  };
  for (const Tree& tree : trees) pattern.outputs.push_back(port_of(port_of, tree));
  return pattern;
}

/// Inputs whose sizes a size list names: they must stay what they are.
std::set<std::string> named_by_sizes(const Trees& trees) {
  std::set<std::string> names;
  const auto collect = [&](const Tree& tree) {
    for (const auto& value : tree.params.values()) {
      const auto* sizes = std::get_if<SizeList<SymbolicDim>>(&value);
      if (!sizes) continue;
      for (const SymbolicDim& size : sizes->values) {
        for (const SizeVar variable : size.variables()) names.insert(variable.tensor());
      }
    }
  };
  for (const auto* side : {&trees.source, &trees.target}) {
    for (const Tree& tree : *side) visit_all(tree, collect);
  }
  return names;
}

class Generaliser {
 public:
  Generaliser(const Rule& rule, const HoldsRule& holds) : holds_(holds), best_(rule) {}

  std::optional<Rule> run() {
    bool changed = false;
    for (std::size_t round = 0; round < kMostNodes && is_small(best_); ++round) {
      if (!abstract() && !split_inputs()) break;
      changed = true;
    }
    if (!changed) return std::nullopt;
    return best_;
  }

 private:
  [[nodiscard]] std::optional<Trees> trees() const {
    auto source = trees_of(best_, best_.source), target = trees_of(best_, best_.target);
    if (!source || !target || best_.example.size() != best_.inputs.size()) return std::nullopt;
    return Trees{best_.inputs, best_.example, *std::move(source), *std::move(target)};
  }

  /// Keeps what the trees say if it is a rule and holds.
  bool accept(const Trees& trees) {
    Rule rule = best_;
    rule.inputs = trees.inputs;
    rule.example = trees.example;
    rule.source = pattern_of(trees.source, trees.inputs.size());
    rule.target = pattern_of(trees.target, trees.inputs.size());
    std::set<std::string> names;
    for (const PatternInput& input : rule.inputs) names.insert(input.name);
    std::erase_if(rule.precondition, [&](const Constraint& constraint) {
      for (const SymbolicDim* side : {&constraint.left, &constraint.right}) {
        for (const SizeVar variable : side->variables())
          if (variable.is_axis() && !names.contains(variable.tensor())) return true;
      }
      return false;
    });
    rule.trust = Trust::kNone;
    rule.certificate.clear();
    const auto used = input_order(rule.source, rule.inputs.size());
    for (const std::size_t input : input_order(rule.target, rule.inputs.size())) {
      if (std::ranges::find(used, input) == used.end()) return false;
    }
    rule = canonical(rule);
    // Outputs that shared work must go on sharing it: that is what such a rule is for.
    const auto grows = [](const Pattern& side, const Pattern& before) {
      return side.nodes.size() > before.nodes.size();
    };
    if (rule.source.outputs.size() > 1 && (grows(rule.source, best_.source) || grows(rule.target, best_.target)))
      return false;
    const auto open = open_conditions(rule);
    if (!open) return false;
    rule.precondition.insert(rule.precondition.end(), open->begin(), open->end());
    if (!check_usable(rule)) return false;
    const DimBinding sizes = bind_sizes(rule.inputs, rule.example, bind_sizes(rule.example_sizes));
    for (const Constraint& constraint : rule.precondition) {
      if (constraint.holds(sizes) != std::optional(true)) return false;
    }
    rule.id = rule_id(rule);
    rule.name = readable_name(rule);
    if (!holds_(rule)) return false;
    best_ = std::move(rule);
    return true;
  }

  /// Puts an input in for the largest subterm of both sides for which that does.
  bool abstract() {
    const auto now = trees();
    if (!now) return false;
    std::vector<Tree> common;
    for (const Tree& tree : now->source) {
      visit_all(tree, [&](const Tree& subterm) {
        const auto is_it = [&](const Tree& other) { return same(subterm, other); };
        if (!subterm.op || std::ranges::any_of(common, is_it)) return;
        bool on_both = false;
        for (const Tree& other : now->target)
          visit_all(other, [&](const Tree& term) { on_both = on_both || is_it(term); });
        if (on_both) common.push_back(subterm);
      });
    }
    std::ranges::stable_sort(common, std::ranges::greater(), size_of);
    return std::ranges::any_of(common, [&](const Tree& subterm) { return put_input_for(subterm, *now); });
  }
  bool put_input_for(const Tree& subterm, Trees changed) {
    const DimBinding sizes = bind_sizes(best_.inputs, best_.example, bind_sizes(best_.example_sizes));
    Shape shape;
    for (const SymbolicDim& dim : subterm.shape) {
      const auto size = dim.evaluate(sizes);
      if (!size) return false;
      shape.append(*size);
    }
    const std::size_t input = changed.inputs.size();
    changed.inputs.push_back({fresh_name(changed), subterm.shape.rank()});
    changed.example.push_back(shape);
    const auto replace = [&](Tree& tree) {
      if (!same(tree, subterm)) return false;
      tree = Tree{};
      tree.input = input;
      return true;
    };
    for (auto* side : {&changed.source, &changed.target}) {
      for (Tree& tree : *side) change_all(tree, replace);
    }
    std::set<std::size_t> used;
    for (const auto* side : {&changed.source, &changed.target}) {
      for (const Tree& tree : *side) {
        visit_all(tree, [&](const Tree& term) {
          if (!term.op) used.insert(term.input);
        });
      }
    }
    const auto named = named_by_sizes(changed);
    for (std::size_t i = 0; i < input; ++i) {
      if (!used.contains(i) && named.contains(changed.inputs[i].name)) return false;
    }
    return accept(changed);
  }
  static std::string fresh_name(const Trees& trees) {
    for (std::size_t n = trees.inputs.size();; ++n) {
      const std::string name = fmt::format("x{}", n);
      if (std::ranges::find(trees.inputs, name, &PatternInput::name) == trees.inputs.end()) return name;
    }
  }

  bool split_inputs() {
    const auto now = trees();
    if (!now) return false;
    const auto named = named_by_sizes(*now);
    for (std::size_t input = 0; input < now->inputs.size(); ++input) {
      if (!named.contains(now->inputs[input].name) && split(input, *now)) return true;
    }
    return false;
  }

  /// Places of the source get labels 0 .. n-1, each used; places of the target one of these, each used. Most labels
  /// first.
  bool split(std::size_t input, const Trees& now) {
    const std::size_t in_source = places(now.source, input), in_target = places(now.target, input);
    if (in_source < 2 || in_target < 2 || in_source > kMostPlaces || in_target > kMostPlaces) return false;
    std::size_t attempts = 0;
    for (std::size_t labels = std::min(in_source, in_target); labels >= 2; --labels) {
      std::vector<std::size_t> source(in_source, 0), target(in_target, 0);
      do {
        if (!is_ordered(source, labels)) continue;
        std::ranges::fill(target, 0);
        do {
          if (!uses_all(target, labels)) continue;
          if (++attempts > kMostAttempts) return false;
          if (accept(labelled(now, input, source, target))) return true;
        } while (advance(target, labels));
      } while (advance(source, labels));
    }
    return false;
  }
  static std::size_t places(const std::vector<Tree>& side, std::size_t input) {
    std::size_t count = 0;
    for (const Tree& tree : side) visit_all(tree, [&](const Tree& term) { count += !term.op && term.input == input; });
    return count;
  }
  /// The next word over 0 .. labels-1; false after the last.
  static bool advance(std::vector<std::size_t>& word, std::size_t labels) {
    for (std::size_t i = word.size(); i-- > 0;) {
      if (++word[i] < labels) return true;
      word[i] = 0;
    }
    return false;
  }
  static bool uses_all(const std::vector<std::size_t>& word, std::size_t labels) {
    return std::set<std::size_t>(word.begin(), word.end()).size() == labels;
  }
  /// Labels appear in order, so that no two words differ by their names alone.
  static bool is_ordered(const std::vector<std::size_t>& word, std::size_t labels) {
    std::size_t next = 0;
    for (const std::size_t label : word) {
      if (label > next) return false;
      next = std::max(next, label + 1);
    }
    return next == labels;
  }
  static Trees labelled(Trees trees, std::size_t input, const std::vector<std::size_t>& source,
                        const std::vector<std::size_t>& target) {
    std::vector<std::size_t> inputs = {input};
    const auto relabel = [&](std::vector<Tree>& side, const std::vector<std::size_t>& labels) {
      std::size_t place = 0;
      for (Tree& tree : side) {
        change_all(tree, [&](Tree& term) {
          if (term.op || term.input != input) return false;
          const std::size_t label = labels[place++];
          while (inputs.size() <= label) {
            inputs.push_back(trees.inputs.size());
            const PatternInput copy{fresh_name(trees), trees.inputs[input].rank};
            trees.inputs.push_back(copy);
            trees.example.push_back(Shape(trees.example[input]));
          }
          term.input = inputs[label];
          return true;
        });
      }
    };
    relabel(trees.source, source);
    relabel(trees.target, target);
    return trees;
  }

  const HoldsRule& holds_;
  Rule best_;
};

}  // namespace

std::optional<Rule> more_general(const Rule& rule, const HoldsRule& holds) { return Generaliser(rule, holds).run(); }

}  // namespace rewright
