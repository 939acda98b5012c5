#include "interchange/taso.h"

#include "interchange/taso_format.h"
#include "rule/canonical.h"
#include "rule/conditions.h"

#include <algorithm>
#include <array>

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
  static void put(taso::Operator& op, Key key, std::int64_t value) {
    taso::Parameter& para = *op.add_para();
    para.set_key(key);
    para.set_value(static_cast<std::int32_t>(value));
  }

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
      const auto name = condition.left.variable_name();
      const auto size = condition.right.constant();
      const bool kernel = condition.kind == Constraint::Kind::kEqual && name && size &&
                          (name->ends_with(".2") || name->ends_with(".3")) && is_weight(*name);
      if (!kernel) return make_error(ErrorCode::kUnsupported, "a condition on sizes");
      kernels_[*name] = *size;
    }
    for (const auto& [name, size] : kernels_) {
      const std::string other = fmt::format("{}{}", name.substr(0, name.size() - 1), name.back() == '2' ? '3' : '2');
      if (!kernels_.contains(other)) return make_error(ErrorCode::kUnsupported, "a condition on sizes");
    }
    return {};
  }
  [[nodiscard]] bool is_weight(const std::string& size) const {
    return std::ranges::any_of(rule_.source.nodes, [&](const PatternNode& node) {
      return node.op->name() == "conv2d" && is_input(node.inputs[1]) &&
             size.starts_with(fmt::format("{}.", rule_.inputs[node.inputs[1].node.value].name));
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
    const std::string& name = node.op->name();
    int type = 0;
    while (type < kTypes && (counterpart(type) == nullptr || name != counterpart(type))) ++type;
    if (type == kTypes) return make_error(ErrorCode::kUnsupported, "operator {}", name);
    op.set_type(type);
    const auto shape = [&](std::size_t i) -> const SymbolicShape& {
      return shapes.of_node[node.inputs[i].node.value][node.inputs[i].output];
    };
    const auto& specs = node.op->info().params;
    const auto at = [&](std::string_view param) -> const BasicParamValue<SymbolicDim>& {
      std::size_t i = 0;
      while (specs[i].name != param) ++i;
      return node.params[i];
    };
    const auto numbers = [&](std::string_view param) { return std::get<std::vector<std::int64_t>>(at(param)); };
    const auto put_window = [&]() -> Status {
      const std::int64_t padding = std::get<std::int64_t>(at("padding"));
      if (padding > 1) return make_error(ErrorCode::kUnsupported, "explicit padding");
      put(op, kStrideH, numbers("strides")[0]);
      put(op, kStrideW, numbers("strides")[1]);
      put(op, kPad, padding);
      return {};
    };
    const auto put_kernel = [&](std::int64_t height, std::int64_t width) {
      put(op, kKernelH, height);
      put(op, kKernelW, width);
    };
    switch (type) {
      case kConv2d: {
        REWRIGHT_CHECK(put_window());
        if (numbers("dilations") != std::vector<std::int64_t>{1, 1})
          return make_error(ErrorCode::kUnsupported, "dilations");
        put(op, kGroup, std::get<std::int64_t>(at("groups")));
        static constexpr std::array<int, 4> kCodes = {0, 2, 1, 3};  // Ours: none, relu, sigmoid, tanh.
        put(op, kActi, kCodes[static_cast<std::size_t>(std::get<std::int64_t>(at("activation")))]);
        if (is_input(node.inputs[1])) {
          const std::string& weight = rule_.inputs[node.inputs[1].node.value].name;
          const auto height = kernels_.find(fmt::format("{}.2", weight)),
                     width = kernels_.find(fmt::format("{}.3", weight));
          if (height != kernels_.end() && width != kernels_.end()) put_kernel(height->second, width->second);
        }
        return {};
      }
      case kPoolAvg:
        if (std::get<std::int64_t>(at("count_include_pad")) != 0)
          return make_error(ErrorCode::kUnsupported, "averages without the padding");
        [[fallthrough]];
      case kPoolMax:
        REWRIGHT_CHECK(put_window());
        put_kernel(numbers("kernel")[0], numbers("kernel")[1]);
        put(op, kActi, 0);
        return {};
      case kEnlarge: put_kernel(numbers("kernel")[0], numbers("kernel")[1]); return {};
      case kConcat:
        put(op, kAxis, std::get<std::int64_t>(at("axis")));
        put(op, kNumDim, shape(0).rank());
        return {};
      case kSplit: {
        const std::int64_t axis = std::get<std::int64_t>(at("axis"));
        const auto& sizes = std::get<SizeList<SymbolicDim>>(at("sizes")).values;
        const auto* cut = shape(0)[static_cast<int>(axis)].cut();
        if (!cut || sizes.size() != 2 || !(cut->first == sizes[0]) || !(cut->second == sizes[1]))
          return make_error(ErrorCode::kUnsupported, "a split elsewhere than at the last concatenation");
        put(op, kAxis, axis);
        put(op, kNumOutputs, 2);
        return {};
      }
      case kTranspose: {
        const auto perm = numbers("perm");
        std::int64_t code = 0;
        for (const std::int64_t axis : perm) code = code * std::ssize(perm) + axis;
        put(op, kNumDim, std::ssize(perm));
        put(op, kPerm, code);
        return {};
      }
      case kConstantIconv:
      case kConstantPool: {
        const auto& sizes = std::get<SizeList<SymbolicDim>>(at("sizes")).values;
        const auto height = sizes[2].constant(), width = sizes[3].constant();
        if (!height || !width) return make_error(ErrorCode::kUnsupported, "a constant kernel of unknown size");
        put_kernel(*height, *width);
        return {};
      }
      default: return {};
    }
  }

  const Rule& rule_;
  taso::Rule made_;
  std::map<std::string, std::int64_t> kernels_;
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
