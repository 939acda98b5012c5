#include "compress/resized.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <set>
#include <utility>

namespace rewright::compress {
namespace {

/// So many parameters may be sizes that change.
constexpr std::size_t kMostChanges = 6;

std::vector<Shape> shapes_of(const Graph& graph, std::span<const Port> ports) {
  std::vector<Shape> shapes;
  for (const Port& port : ports) shapes.push_back(graph.shape(port));
  return shapes;
}

/// Do two definitions say the same, but for extents?
class Comparison {
 public:
  Comparison(const DefinedApplication& before, const Definition& after, std::span<const Shape> inputs,
             std::span<const Shape> outputs)
      : before_(before),
        after_(after),
        was_(extents_of(before.definition)),
        is_(extents_of(after)),
        inputs_(inputs),
        outputs_(outputs) {}

  bool run() {
    const Definition& before = before_.definition;
    if (before.buffers.size() != after_.buffers.size() || before.stages.size() != after_.stages.size()) return false;
    note_changes();
    for (std::size_t b = 0; b < before.buffers.size(); ++b)
      if (!same_buffer(b)) return false;
    if (was_.size() != is_.size()) return false;
    for (const auto& [axis, extent] : was_) {
      const auto found = is_.find(axis);
      if (found == is_.end() || scaled(before_.ties.of_axis.at(axis), extent) != found->second) return false;
    }
    for (std::size_t s = 0; s < before.stages.size(); ++s)
      if (!same_stage(before.stages[s], after_.stages[s])) return false;
    return true;
  }

 private:
  using Change = std::pair<std::int64_t, std::int64_t>;

  void note_changes() {
    const auto note = [&](std::size_t buffer, const Shape& was, const Shape& is) {
      for (int d = 0; d < was.rank(); ++d)
        if (was[d] != is[d])
          changes_[before_.ties.of_buffer[buffer][static_cast<std::size_t>(d)]] = Change(was[d], is[d]);
    };
    for (std::size_t k = 0; k < inputs_.size(); ++k) note(k, before_.inputs[k], inputs_[k]);
    for (std::size_t k = 0; k < outputs_.size(); ++k) note(inputs_.size() + k, before_.outputs[k], outputs_[k]);
  }
  [[nodiscard]] std::int64_t scaled(std::size_t tie, std::int64_t size) const {
    const auto found = changes_.find(tie);
    return found == changes_.end() ? size : size * found->second.second / found->second.first;
  }
  [[nodiscard]] bool same_buffer(std::size_t b) const {
    const Buffer &was = before_.definition.buffers[b], &is = after_.buffers[b];
    if (was.role != is.role || was.element != is.element || was.sizes.size() != is.sizes.size()) return false;
    for (std::size_t d = 0; d < was.sizes.size(); ++d)
      if (scaled(before_.ties.of_buffer[b][d], was.sizes[d].number().value_or(-1)) != is.sizes[d].number())
        return false;
    return true;
  }
  bool same_stage(const Stage& was, const Stage& is) {
    return was.target == is.target && same_axes(was.axes, is.axes) && same(was.at, is.at) &&
           same(was.where, is.where) && same(was.value, is.value);
  }
  static bool same_axes(std::span<const AxisRange> was, std::span<const AxisRange> is) {
    return std::ranges::equal(
        was, is, [](const AxisRange& a, const AxisRange& b) { return a.axis == b.axis && a.is_serial == b.is_serial; });
  }
  /// Where both are defined, at the first positions of each axis.
  [[nodiscard]] bool same(const IndexExpr& was, const IndexExpr& is) const {
    return simplified(was, is_) == simplified(is, is_);
  }
  [[nodiscard]] bool same(std::span<const IndexExpr> was, std::span<const IndexExpr> is) const {
    return std::ranges::equal(was, is, [this](const auto& a, const auto& b) { return same(a, b); });
  }
  [[nodiscard]] bool same(const Guard& was, const Guard& is) const {
    return std::ranges::equal(was, is, [this](const IndexCondition& a, const IndexCondition& b) {
      return a.relation == b.relation && same(a.left, b.left) && same(a.right, b.right);
    });
  }
  bool same(const ValueExpr& was, const ValueExpr& is) {
    if (was.kind() != is.kind()) return false;
    if (!seen_.emplace(was.address(), is.address()).second) return true;
    switch (was.kind()) {
      case ValueExpr::Kind::kLoad: return was.buffer() == is.buffer() && same(was.indices(), is.indices());
      case ValueExpr::Kind::kIndex: return same(was.indices(), is.indices());
      case ValueExpr::Kind::kNumber: return was == is;
      case ValueExpr::Kind::kCast:
        if (was.element() != is.element()) return false;
        break;
      case ValueExpr::Kind::kCall:
        if (was.function() != is.function()) return false;
        break;
      case ValueExpr::Kind::kReduce:
        if (was.reduction() != is.reduction() || !same_axes(was.axes(), is.axes()) || !same(was.guard(), is.guard()))
          return false;
        break;
      default: break;
    }
    return std::ranges::equal(was.operands(), is.operands(),
                              [this](const auto& a, const auto& b) { return same(a, b); });
  }

  const DefinedApplication& before_;
  const Definition& after_;
  std::map<std::uint32_t, std::int64_t> was_, is_;
  std::span<const Shape> inputs_, outputs_;
  std::map<std::size_t, Change> changes_;  ///< By class.
  std::set<std::pair<const ValueExpr::Node*, const ValueExpr::Node*>> seen_;
};

/// A parameter that may be a size, and the size that it would be.
struct Alternative {
  std::size_t param = 0;
  ParamValue value;
};

std::vector<Alternative> alternatives(const DefinedApplication& before, std::span<const Shape> inputs,
                                      std::span<const Shape> outputs) {
  std::set<std::pair<std::int64_t, std::int64_t>> changes;
  const auto note = [&](std::span<const Shape> was, std::span<const Shape> is) {
    for (std::size_t k = 0; k < was.size(); ++k)
      for (int d = 0; d < was[k].rank(); ++d)
        if (was[k][d] != is[k][d]) changes.emplace(was[k][d], is[k][d]);
  };
  note(before.inputs, inputs);
  note(before.outputs, outputs);
  std::vector<Alternative> found;
  const Params& params = before.application.params;
  for (std::size_t p = 0; p < params.size(); ++p) {
    if (const auto* number = std::get_if<std::int64_t>(&params[p])) {
      for (const auto& [was, is] : changes)
        if (*number == was) found.push_back({p, is});
    } else if (const auto* sizes = std::get_if<SizeList<std::int64_t>>(&params[p])) {
      for (std::size_t k = 0; k < outputs.size(); ++k)
        if (std::ranges::equal(sizes->values, before.outputs[k].dims()))
          found.push_back({p, SizeList<std::int64_t>{{outputs[k].begin(), outputs[k].end()}}});
    }
  }
  if (found.size() > kMostChanges) found.resize(kMostChanges);
  return found;
}

}  // namespace

std::optional<DefinedApplication> defined_application(const Graph& graph, const Node& node) {
  if (node.application() == nullptr) return std::nullopt;
  DefinedApplication result{*node.application(), shapes_of(graph, node.inputs), {}, {}, {}};
  for (const TensorType& type : node.outputs) result.outputs.push_back(type.shape);
  auto definition = node.application()->op->definition(result.application.params, result.inputs);
  if (!definition) return std::nullopt;
  result.definition = *std::move(definition);
  result.ties = axis_ties(result.definition);
  return result;
}

std::optional<Params> resized(const DefinedApplication& before, std::span<const Shape> inputs,
                              std::span<const Shape> outputs) {
  const Operator& op = *before.application.op;
  const std::vector<Alternative> all = alternatives(before, inputs, outputs);
  for (std::size_t chosen = 0; chosen < std::size_t{1} << all.size(); ++chosen) {
    const auto old = before.application.params.values();
    std::vector<ParamValue> values(old.begin(), old.end());
    for (std::size_t a = 0; a < all.size(); ++a)
      if ((chosen >> a & 1) != 0) values[all[a].param] = all[a].value;
    const Params params(std::move(values));
    const auto shapes = op.infer(params, inputs);
    if (!shapes || !std::ranges::equal(*shapes, outputs)) continue;
    const auto after = op.definition(params, inputs);
    if (after && Comparison(before, *after, inputs, outputs).run()) return params;
  }
  return std::nullopt;
}

}  // namespace rewright::compress
