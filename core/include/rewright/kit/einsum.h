// ONNX's Einsum as transposes, sums and products of matrices.
//
// Of two operands a label is of the batch (both have it, and more is to come of it), contracted (both have it and
// nothing else does), or free (one has it). With each kind made one axis the product is a batched product of matrices;
// three operands and more are multiplied from left to right.
//
// Source  ONNX operator Einsum, opset 12; numpy.einsum.
#pragma once

#include <rewright/kit/onnx_mapping.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace rewright {

class Einsum {
 public:
  /// The node in `graph`. Errors: kUnsupported: a label twice in one operand, an ellipsis of sizes that broadcast.
  [[nodiscard]] static Result<Port> read(const OnnxNode& node, GraphBuilder& graph) {
    Einsum einsum(graph);
    REWRIGHT_CHECK(einsum.label(node));
    Operand left = einsum.operands_.front();
    REWRIGHT_TRY(left, einsum.summed(left, einsum.needed_behind(0)));
    for (std::size_t k = 1; k < einsum.operands_.size(); ++k) {
      REWRIGHT_TRY(left, einsum.product(left, einsum.operands_[k], einsum.needed_behind(k)));
    }
    for (const char label : einsum.output_)
      if (!has(left.labels, label)) return unsupported("Einsum whose output has an axis of no operand");
    REWRIGHT_TRY(left, einsum.ordered(left, einsum.output_));
    return left.port;
  }

 private:
  using Labels = std::string;  ///< One for each axis.
  struct Operand {
    Port port;
    Labels labels;
  };

  explicit Einsum(GraphBuilder& graph) : graph_(graph) {}

  /// Reads the equation; each axis gets a label, those of an ellipsis digits from behind.
  Status label(const OnnxNode& node) {
    std::string equation = node.text("equation", "");
    std::erase(equation, ' ');
    const auto arrow = equation.find("->");
    std::vector<std::string> terms = {""};
    for (const char c : equation.substr(0, arrow)) {
      if (c == ',') {
        terms.emplace_back();
      } else {
        terms.back() += c;
      }
    }
    REWRIGHT_TRY(const auto ports, node.operands(terms.size()));
    std::map<char, int> count;
    Labels dots;
    for (std::size_t k = 0; k < terms.size(); ++k) {
      const Shape shape = graph_.shape(ports[k]);
      REWRIGHT_TRY(Labels labels, expanded(terms[k], static_cast<std::size_t>(shape.rank())));
      for (std::size_t axis = 0; axis < labels.size(); ++axis) {
        const auto [at, is_new] = sizes_.emplace(labels[axis], shape[static_cast<int>(axis)]);
        if (!is_new && at->second != shape[static_cast<int>(axis)])
          return unsupported("Einsum '{}': label {} has sizes {} and {}", equation, labels[axis], at->second,
                             shape[static_cast<int>(axis)]);
        if (std::ranges::count(labels, labels[axis]) > 1)
          return unsupported("Einsum '{}': label {} twice in one operand", equation, labels[axis]);
        ++count[labels[axis]];
        if (is_dot(labels[axis]) && !has(dots, labels[axis])) dots += labels[axis];
      }
      operands_.push_back({ports[k], std::move(labels)});
    }
    std::ranges::sort(dots, std::greater{});
    if (arrow == std::string::npos) {
      output_ = dots;
      for (const auto& [label, times] : count)
        if (times == 1 && !is_dot(label)) output_ += label;
      return {};
    }
    const std::string wanted = equation.substr(arrow + 2);
    const auto at = wanted.find("...");
    output_ = at == std::string::npos ? wanted : wanted.substr(0, at) + dots + wanted.substr(at + 3);
    return {};
  }
  static bool has(const Labels& labels, char label) { return labels.find(label) != Labels::npos; }
  static bool is_dot(char label) { return label >= '0' && label <= '9'; }
  /// The term with as many digits for "..." as the rank leaves, the last axis "0".
  static Result<Labels> expanded(const std::string& term, std::size_t rank) {
    const auto at = term.find("...");
    Labels labels = at == std::string::npos ? term : term.substr(0, at) + term.substr(at + 3);
    if (at != std::string::npos && rank >= labels.size()) {
      Labels dots;
      for (std::size_t k = rank - labels.size(); k-- > 0;) dots += static_cast<char>('0' + k);
      labels.insert(at, dots);
    }
    if (labels.size() != rank) return unsupported("Einsum: term '{}' of a tensor of rank {}", term, rank);
    return labels;
  }

  /// What the output or an operand behind `k` has.
  [[nodiscard]] std::set<char> needed_behind(std::size_t k) const {
    std::set<char> needed(output_.begin(), output_.end());
    for (std::size_t i = k + 1; i < operands_.size(); ++i)
      needed.insert(operands_[i].labels.begin(), operands_[i].labels.end());
    return needed;
  }
  /// Without the labels that are not needed: sums along them.
  Result<Operand> summed(const Operand& x, const std::set<char>& needed) {
    std::vector<std::int64_t> axes;
    Labels left;
    for (std::size_t axis = 0; axis < x.labels.size(); ++axis) {
      if (needed.contains(x.labels[axis])) {
        left += x.labels[axis];
      } else {
        axes.push_back(static_cast<std::int64_t>(axis));
      }
    }
    if (axes.empty()) return x;
    REWRIGHT_TRY(const Port port,
                 graph_.apply1("reduce_sum", {{"axes", axes}, {"keepdims", std::int64_t{0}}}, {x.port}));
    return Operand{port, left};
  }
  Result<Operand> ordered(const Operand& x, const Labels& order) {
    if (x.labels == order) return x;
    std::vector<std::int64_t> perm;
    for (const char label : order) perm.push_back(static_cast<std::int64_t>(x.labels.find(label)));
    REWRIGHT_TRY(const Port port, graph_.apply1("transpose", {{"perm", perm}}, {x.port}));
    return Operand{port, order};
  }
  [[nodiscard]] std::int64_t elements(const Labels& labels) const {
    std::int64_t product = 1;
    for (const char label : labels) product *= sizes_.at(label);
    return product;
  }

  Result<Operand> product(Operand a, Operand b, std::set<char> needed) {
    std::set<char> of_a = needed, of_b = needed;
    of_a.insert(b.labels.begin(), b.labels.end());
    of_b.insert(a.labels.begin(), a.labels.end());
    REWRIGHT_TRY(a, summed(a, of_a));
    REWRIGHT_TRY(b, summed(b, of_b));
    Labels batch, contracted, rows, columns;
    for (const char label : a.labels)
      (!has(b.labels, label) ? rows : needed.contains(label) ? batch : contracted) += label;
    for (const char label : b.labels)
      if (!has(a.labels, label)) columns += label;
    REWRIGHT_TRY(a, ordered(a, batch + rows + contracted));
    REWRIGHT_TRY(b, ordered(b, batch + contracted + columns));
    const std::int64_t m = elements(rows), k = elements(contracted), n = elements(columns);
    const auto matrix = [&](std::int64_t r, std::int64_t c) {
      return batch.empty() ? Shape{r, c} : Shape{elements(batch), r, c};
    };
    REWRIGHT_TRY(const Port left, reshaped(graph_, a.port, matrix(m, k)));
    REWRIGHT_TRY(const Port right, reshaped(graph_, b.port, matrix(k, n)));
    REWRIGHT_TRY(const Port made, graph_.apply1("matmul", {}, {left, right}));
    Operand result{made, batch + rows + columns};
    Shape shape;
    for (const char label : result.labels) shape.append(sizes_.at(label));
    REWRIGHT_TRY(result.port, reshaped(graph_, made, shape));
    return result;
  }

  GraphBuilder& graph_;
  std::vector<Operand> operands_;
  Labels output_;
  std::map<char, std::int64_t> sizes_;
};

}  // namespace rewright
