#include <algorithm>
#include <array>

#include "interchange/taso.h"
#include "interchange/taso_table.h"
#include "rule/canonical.h"
#include "rule/conditions.h"

namespace rewright {
namespace {

using namespace taso_format;

class RuleWriter {
 public:
  explicit RuleWriter(const Rule& rule) : rule_(rule) {}

  /// Errors: what the format cannot say.
  Result<taso::Rule> write() {
    if (!rule_.precondition.empty()) REWRIGHT_CHECK(take_kernels());
    REWRIGHT_CHECK(write_side(rule_.source, *made_.mutable_srcop()));
    REWRIGHT_CHECK(write_side(rule_.target, *made_.mutable_dstop()));
    for (std::size_t k = 0; k < rule_.source.outputs.size(); ++k) {
      const Port s = rule_.source.outputs[k], t = rule_.target.outputs[k];
      if (is_input(s) || is_input(t)) return make_error(ErrorCode::kUnsupported, "an output that is an input");
      taso::MapOutput& output = *made_.add_mappedoutput();
      output.set_srcopid(op_of(s));
      output.set_srctsid(static_cast<int>(s.output));
      output.set_dstopid(op_of(t));
      output.set_dsttsid(static_cast<int>(t.output));
    }
    return std::move(made_);
  }

 private:
  [[nodiscard]] bool is_input(Port port) const { return port.node.value < rule_.inputs.size(); }
  [[nodiscard]] int op_of(Port port) const { return static_cast<int>(port.node.value - rule_.inputs.size()); }

  /// What the target needs to be defined, TASO finds out by building it. Beyond that, conditions "w.2 = 3" become
  /// kernel sizes of the convolutions by w; no others can be said.
  Status take_kernels() {
    Rule bare = rule_;
    bare.precondition.clear();
    REWRIGHT_TRY(std::vector<Constraint> known, open_conditions(bare));
    REWRIGHT_TRY(const PatternShapes source, infer_shapes(rule_.inputs, rule_.source));
    known.insert(known.end(), source.defined.begin(), source.defined.end());
    REWRIGHT_TRY(const auto conditions, missing_conditions(known, rule_.precondition, size_order(rule_)));
    for (const Constraint& condition : conditions) {
      const auto kernel_size = condition.left.variable();
      const auto size = condition.right.constant();
      const bool kernel = condition.kind == Constraint::Kind::kEqual && kernel_size && size &&
                          (kernel_size->axis() == 2 || kernel_size->axis() == 3) && is_weight(*kernel_size);
      if (!kernel) return make_error(ErrorCode::kUnsupported, "a condition on sizes");
      kernels_[*kernel_size] = *size;
    }
    for (const auto& [kernel_size, size] : kernels_) {
      if (!kernels_.contains(SizeVar::axis(kernel_size.tensor(), 5 - kernel_size.axis())))
        return make_error(ErrorCode::kUnsupported, "a condition on sizes");
    }
    return {};
  }
  [[nodiscard]] bool is_weight(SizeVar size) const {
    return std::ranges::any_of(rule_.source.nodes, [&](const PatternNode& node) {
      return node.op->name() == "conv2d" && is_input(node.inputs[1]) && size.is_axis() &&
             size.tensor() == rule_.inputs[node.inputs[1].node.value].name;
    });
  }

  Status write_side(const Pattern& side, Operators& operators) {
    REWRIGHT_TRY(const PatternShapes shapes, infer_shapes(rule_.inputs, side));
    for (const PatternNode& node : side.nodes) {
      taso::Operator& op = *operators.Add();
      for (const Port port : node.inputs) {
        taso::Tensor& tensor = *op.add_input();
        tensor.set_opid(is_input(port) ? -1 - static_cast<int>(port.node.value) : op_of(port));
        tensor.set_tsid(is_input(port) ? 0 : static_cast<int>(port.output));
      }
      REWRIGHT_CHECK(write_operator(node, shapes, op));
    }
    return {};
  }

  Status write_operator(const PatternNode& node, const PatternShapes& shapes, taso::Operator& op) {
    const auto type = type_of(node.op->name());
    if (!type) return make_error(ErrorCode::kUnsupported, "operator {}", node.op->name());
    op.set_type(*type);
    ParamWriter writer{node, {}, *type == kConv2d ? kernel_of(node.inputs[1]) : std::nullopt, op};
    for (const Port port : node.inputs) writer.in.push_back(&shapes.of_node[port.node.value][port.output]);
    for (const ParamCodec* param : row_of(*type)->params) {
      if (param != nullptr) REWRIGHT_CHECK(param->write(writer));
    }
    return {};
  }
  /// What the precondition asks of an input as a weight.
  [[nodiscard]] std::optional<std::array<std::int64_t, 2>> kernel_of(Port weight) const {
    if (!is_input(weight)) return std::nullopt;
    const std::string& name = rule_.inputs[weight.node.value].name;
    const auto height = kernels_.find(SizeVar::axis(name, 2)), width = kernels_.find(SizeVar::axis(name, 3));
    if (height == kernels_.end() || width == kernels_.end()) return std::nullopt;
    return std::array{height->second, width->second};
  }

  const Rule& rule_;
  taso::Rule made_;
  std::map<SizeVar, std::int64_t> kernels_;
};

}  // namespace

TasoFile write_taso(std::span<const Rule> rules) {
  TasoFile file;
  taso::RuleCollection collection;
  for (const Rule& rule : rules) {
    auto made = RuleWriter(rule).write();
    if (!made) {
      ++file.left_out[made.error().message];
      continue;
    }
    *collection.add_rule() = *std::move(made);
    ++file.written;
  }
  file.bytes = collection.SerializeAsString();
  return file;
}

}  // namespace rewright
