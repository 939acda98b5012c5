// Rules as text, and the id that is its hash: core/rule/README.md has the grammar.
//
// Terms are written with an explicit stack: depth costs memory, not the program's stack.
#include <rewright/rule/rule.h>

#include "rule/canonical.h"
#include "rule/identifier.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <algorithm>
#include <map>
#include <set>

namespace rewright {

namespace {

class SideWriter {
 public:
  SideWriter(const Rule& rule, const Pattern& side, bool one_output_each)
      : rule_(rule), side_(side), count_(rule.inputs.size()) {
    for (const PatternInput& input : rule.inputs) taken_.insert(input.name);
    outputs_.assign(side_.nodes.size(), 1);
    if (!one_output_each) count_outputs();
    find_inline();
  }

  std::string text() {
    for (const std::size_t node : reading_order(side_, count_)) {
      if (inline_[node]) continue;
      std::string names;
      for (std::size_t output = 0; output < outputs_[node]; ++output) {
        name_of_[{node, output}] = fresh_name();
        names += (output == 0 ? "" : ", ") + name_of_[{node, output}];
      }
      text_ += "let " + names + " = ";
      write_node(node);
      text_ += " in ";
    }
    write_list(side_.outputs);
    return std::move(text_);
  }

 private:
  using NodeOutput = std::pair<std::size_t, std::size_t>;

  [[nodiscard]] bool is_node(Port port) const { return port.node.value >= count_; }
  [[nodiscard]] std::size_t node_of(Port port) const { return port.node.value - count_; }

  void count_outputs() {
    if (const auto shapes = infer_shapes(rule_.inputs, side_)) {
      for (std::size_t i = 0; i < outputs_.size(); ++i) outputs_[i] = shapes->of_node[count_ + i].size();
      return;
    }
    // A pattern that is nowhere defined still has a text: as many outputs as are read.
    const auto see = [&](std::span<const Port> ports) {
      for (const Port port : ports) {
        if (is_node(port)) outputs_[node_of(port)] = std::max<std::size_t>(outputs_[node_of(port)], port.output + 1);
      }
    };
    for (const PatternNode& node : side_.nodes) see(node.inputs);
    see(side_.outputs);
  }

  // An application is written in place where each output is used once, all of them side by side and in order.
  void find_inline() {
    std::vector<std::size_t> uses(side_.nodes.size(), 0);
    std::vector<std::size_t> runs(side_.nodes.size(), 0);
    const auto see = [&](std::span<const Port> ports) {
      for (std::size_t i = 0; i < ports.size(); ++i) {
        if (!is_node(ports[i])) continue;
        ++uses[node_of(ports[i])];
        if (is_run(ports, i)) ++runs[node_of(ports[i])];
      }
    };
    for (const std::size_t node : reading_order(side_, count_)) see(side_.nodes[node].inputs);
    see(side_.outputs);
    inline_.resize(side_.nodes.size());
    for (std::size_t i = 0; i < inline_.size(); ++i) inline_[i] = runs[i] == 1 && uses[i] == outputs_[i];
  }

  [[nodiscard]] bool is_run(std::span<const Port> ports, std::size_t start) const {
    const std::size_t length = outputs_[node_of(ports[start])];
    if (start + length > ports.size()) return false;
    for (std::size_t i = 0; i < length; ++i) {
      if (ports[start + i] != Port{ports[start].node, static_cast<std::uint32_t>(i)}) return false;
    }
    return true;
  }

  std::string fresh_name() {
    while (true) {
      std::string name = fmt::format("v{}", next_name_++);
      if (!taken_.contains(name)) return name;
    }
  }

  // Writes everything up to the next application that is written in place; gives that one, or nothing at the end.
  std::optional<std::size_t> write_until_nested(std::span<const Port> ports, std::size_t& next) {
    while (next < ports.size()) {
      const Port port = ports[next];
      if (next > 0) text_ += ", ";
      if (!is_node(port)) {
        text_ += rule_.inputs[port.node.value].name;
        ++next;
      } else if (inline_[node_of(port)]) {
        next += outputs_[node_of(port)];
        return node_of(port);
      } else {
        text_ += name_of_[{node_of(port), port.output}];
        ++next;
      }
    }
    return std::nullopt;
  }

  void open(std::size_t node, std::vector<NodeOutput>& stack) {
    const PatternNode& made = side_.nodes[node];
    const std::string params = to_string(made.op->info().params, made.params);
    text_ += made.op->name() + params;
    if (made.inputs.empty() && !params.empty()) return;
    text_ += "(";
    stack.emplace_back(node, 0);
  }

  void write_node(std::size_t root) {
    std::vector<NodeOutput> stack;
    open(root, stack);
    while (!stack.empty()) {
      auto& [node, next] = stack.back();
      if (const auto nested = write_until_nested(side_.nodes[node].inputs, next)) {
        open(*nested, stack);
      } else {
        text_ += ")";
        stack.pop_back();
      }
    }
  }

  void write_list(std::span<const Port> ports) {
    std::size_t next = 0;
    while (const auto nested = write_until_nested(ports, next)) write_node(*nested);
  }

  const Rule& rule_;
  const Pattern& side_;
  std::size_t count_;
  std::vector<std::size_t> outputs_;
  std::vector<bool> inline_;
  std::map<NodeOutput, std::string> name_of_;
  std::set<std::string> taken_;
  std::size_t next_name_ = 0;
  std::string text_;
};

std::string text_of(const Rule& rule, bool one_output_each) {
  std::string text = "(";
  for (const PatternInput& input : rule.inputs)
    text += fmt::format("{}{}:{}", text.size() == 1 ? "" : ", ", input.name, input.rank);
  text += ") " + SideWriter(rule, rule.source, one_output_each).text() + " => " +
          SideWriter(rule, rule.target, one_output_each).text();
  for (std::size_t i = 0; i < rule.precondition.size(); ++i)
    text += (i == 0 ? " where " : ", ") + to_string(rule.precondition[i]);
  return text;
}

}  // namespace

std::string to_text(const Rule& rule) { return text_of(rule, false); }

std::string rule_id(const Rule& rule) { return id_of_canonical(canonical(rule)); }

std::string id_of_canonical(const Rule& rule, bool one_output_each) {
  const std::string text = text_of(rule, one_output_each);
  const XXH128_hash_t hash = XXH3_128bits(text.data(), text.size());
  return fmt::format("{:016x}{:016x}", hash.high64, hash.low64);
}

}  // namespace rewright
