#include "interchange/taso_side.h"

#include <rewright/operator/map_sizes.h>

#include <algorithm>

#include "interchange/taso_table.h"

namespace rewright::taso_format {
namespace {

class SideReader {
 public:
  explicit SideReader(const Scope& scope) : scope_(scope) {}

  Result<Side> read(const taso::Rule& rule, int side) {
    const Operators& operators = side == 1 ? rule.srcop() : rule.dstop();
    Side made;
    for (const PatternInput& input : scope_.inputs) {
      SymbolicShape shape;
      for (int axis = 0; axis < input.rank; ++axis)
        shape.append(SymbolicDim::variable(SizeVar::axis(input.name, axis)));
      made.shapes.push_back({std::move(shape)});
    }
    prefix_ = side == 1 ? 's' : 't';
    for (int i = 0; i < operators.size(); ++i) REWRIGHT_CHECK(read_operator(operators[i], side, i, made));
    for (const taso::MapOutput& output : rule.mappedoutput()) {
      const auto op = static_cast<std::size_t>(side == 1 ? output.srcopid() : output.dstopid());
      const auto tensor = static_cast<std::size_t>(side == 1 ? output.srctsid() : output.dsttsid());
      if (tensor >= made_[op].size())
        return make_error(ErrorCode::kParse, "an output is mapped from output {} of {}, which has {}", tensor,
                          where_of(side, static_cast<int>(op), operators[static_cast<int>(op)].type()),
                          made_[op].size());
      made.pattern.outputs.push_back(made_[op][tensor]);
    }
    made.defined = where_.conditions();
    return made;
  }

 private:
  Status read_operator(const taso::Operator& op, int side, int index, Side& made) {
    const std::string where = where_of(side, index, op.type());
    std::vector<Port> operands;
    for (const taso::Tensor& tensor : op.input()) {
      if (tensor.opid() < 0) {
        const auto input = std::ranges::find(scope_.ids, tensor.opid()) - scope_.ids.begin();
        operands.push_back({NodeId{static_cast<std::uint32_t>(input)}, 0});
        continue;
      }
      const std::vector<Port>& ports = made_[static_cast<std::size_t>(tensor.opid())];
      if (static_cast<std::size_t>(tensor.tsid()) >= ports.size())
        return make_error(ErrorCode::kParse, "{} reads output {} of operator {}, which has {}", where, tensor.tsid(),
                          tensor.opid(), ports.size());
      operands.push_back(ports[static_cast<std::size_t>(tensor.tsid())]);
    }
    REWRIGHT_TRY(std::vector<Port> ports, apply(op, Parameters(op, where), side, index, operands, made));
    made_.push_back(std::move(ports));
    return {};
  }

  /// Those of the side's n-th convolution that does not say: as many as the weight's channels fit into the image's.
  [[nodiscard]] std::int64_t open_groups(std::size_t n, const SymbolicShape& image, const SymbolicShape& weight) const {
    if (n < scope_.groups.size()) return scope_.groups[n];
    if (scope_.sizes == nullptr || image.rank() != 4 || weight.rank() != 4) return 1;
    const DimBinding binding = [&](SizeVar name) -> std::optional<std::int64_t> {
      const auto found = scope_.sizes->find(name);
      return found == scope_.sizes->end() ? std::nullopt : std::optional(found->second);
    };
    const auto channels = image[1].evaluate(binding), of_group = weight[1].evaluate(binding);
    if (!channels || !of_group || *of_group < 1 || *channels < 1 || *channels % *of_group != 0) return 1;
    return *channels / *of_group;
  }

  SymbolicDim fresh_size() { return SymbolicDim::variable(SizeVar::read(fmt::format("{}{}", prefix_, next_size_++))); }

  /// The application, and the activation that matmul and pools carry in TASO.
  Result<std::vector<Port>> apply(const taso::Operator& op, const Parameters& params, int side, int index,
                                  const std::vector<Port>& operands, Side& made) {
    const OperatorRow& row = *row_of(op.type());
    REWRIGHT_TRY(const Operator* ours, scope_.registry.get<Operator>(row.ours));
    REWRIGHT_TRY(const std::int64_t activation, params.get(kActi, 0, 3, 0));
    ParamReader reader{params,
                       {},
                       scope_.ranks.of({side, index}).value_or(scope_.open_rank),
                       static_cast<int>(activation),
                       made,
                       [this] { return fresh_size(); },
                       [&](const SymbolicShape& image, const SymbolicShape& weight) {
                         return open_groups(made.open_groups.size(), image, weight);
                       }};
    for (const Port port : operands) reader.in.push_back(&made.shapes[port.node.value][port.output]);
    for (const ParamCodec* param : row.params) {
      if (param != nullptr) REWRIGHT_CHECK(param->read(reader));
    }
    if (!reader.sizes.empty()) reader.named.push_back({"sizes", std::vector<std::int64_t>(reader.sizes.size(), 1)});
    REWRIGHT_TRY(std::vector<Port> ports, add_node(*ours, reader.named, reader.sizes, operands, made));
    if (reader.has_activation || activation == 0) return ports;
    REWRIGHT_TRY(const Operator* unary,
                 scope_.registry.get<Operator>(kActivations[static_cast<std::size_t>(activation)]));
    return add_node(*unary, {}, {}, ports, made);
  }

  Result<std::vector<Port>> add_node(const Operator& op, const std::vector<NamedParam>& named,
                                     const std::vector<SymbolicDim>& sizes, const std::vector<Port>& operands,
                                     Side& made) {
    REWRIGHT_TRY(const Params numbers, make_params(op.name(), op.info().params, named));
    auto size = sizes.begin();
    SymbolicParams params =
        map_sizes(numbers, [&](std::int64_t number) { return sizes.empty() ? SymbolicDim(number) : *size++; });
    std::vector<SymbolicShape> in;
    for (const Port port : operands) in.push_back(made.shapes[port.node.value][port.output]);
    REWRIGHT_TRY(auto out, op.infer(params, in, where_));
    const NodeId id{static_cast<std::uint32_t>(made.shapes.size())};
    std::vector<Port> ports;
    for (std::uint32_t i = 0; i < out.size(); ++i) ports.push_back({id, i});
    made.shapes.push_back(std::move(out));
    made.pattern.nodes.push_back({&op, std::move(params), operands});
    return ports;
  }

  const Scope& scope_;
  std::vector<std::vector<Port>> made_;  ///< By operator.
  Constraints<SymbolicDim> where_;
  char prefix_ = 's';
  int next_size_ = 0;
};

}  // namespace

Result<Side> read_side(const taso::Rule& rule, int side, const Scope& scope) {
  return SideReader(scope).read(rule, side);
}

}  // namespace rewright::taso_format
