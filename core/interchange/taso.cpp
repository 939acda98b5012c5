#include "interchange/taso.h"

#include <algorithm>
#include <limits>

#include "interchange/taso_format.h"
#include "interchange/taso_groups.h"
#include "interchange/taso_ranks.h"
#include "interchange/taso_side.h"
#include "interchange/taso_table.h"

namespace rewright {
namespace {

using namespace taso_format;

class RuleReader {
 public:
  RuleReader(const taso::Rule& rule, const Registry& registry) : rule_(rule), registry_(registry) {}

  /// What is wrong with it whatever the ranks; else the ranks that can be decided.
  Status prepare() {
    REWRIGHT_CHECK(check_structure());
    REWRIGHT_CHECK(find_ranks(rule_.srcop(), 1));
    REWRIGHT_CHECK(find_ranks(rule_.dstop(), 2));
    for (const taso::MapOutput& output : rule_.mappedoutput())
      ranks_.equal({1, output.srcopid()}, {2, output.dstopid()});
    ranks_.apply_preferences();
    if (ranks_.contradictory()) return make_error(ErrorCode::kShape, "no ranks fit all operators");
    return {};
  }
  [[nodiscard]] bool has_open_rank() {
    return std::ranges::any_of(inputs_, [&](int id) { return !ranks_.of({0, -id}); });
  }
  /// At each choice of groups at which both sides are defined somewhere. Errors: why there is none.
  Result<std::vector<TasoInstance>> read(int open_rank) {
    Scope scope{registry_, inputs_, {}, ranks_, open_rank, {}, nullptr};
    for (const int id : inputs_)
      scope.inputs.push_back({fmt::format("x{}", -id), ranks_.of({0, -id}).value_or(open_rank)});
    return read_with_groups(rule_, scope);
  }

 private:
  Status check_structure() {
    if (rule_.srcop_size() == 0 || rule_.mappedoutput_size() == 0)
      return make_error(ErrorCode::kParse, "a rule needs operators in its source and an output");
    for (const int side : {1, 2}) {
      const Operators& operators = side == 1 ? rule_.srcop() : rule_.dstop();
      if (operators.size() > kMostOperators)
        return make_error(ErrorCode::kParse, "a side has {} operators; at most {} are read", operators.size(),
                          kMostOperators);
      for (int i = 0; i < operators.size(); ++i) REWRIGHT_CHECK(check_operator(operators[i], side, i));
    }
    for (const taso::MapOutput& output : rule_.mappedoutput()) {
      if (output.srcopid() < 0 || output.srcopid() >= rule_.srcop_size() || output.dstopid() < 0 ||
          output.dstopid() >= rule_.dstop_size() || output.srctsid() < 0 || output.dsttsid() < 0)
        return make_error(ErrorCode::kParse, "an output is mapped from operator {} to operator {}, of {} and {}",
                          output.srcopid(), output.dstopid(), rule_.srcop_size(), rule_.dstop_size());
    }
    return {};
  }
  Status check_operator(const taso::Operator& op, int side, int index) {
    const std::string where = where_of(side, index, op.type());
    const OperatorRow* row = row_of(op.type());
    if (row == nullptr)
      return make_error(ErrorCode::kParse, "{}: its type is {}, expected 0 to {}", where, op.type(), kTypes - 1);
    if (row->ours == nullptr)
      return make_error(ErrorCode::kUnsupported, "{} has no counterpart among our operators", where);
    for (const taso::Tensor& tensor : op.input()) {
      if (tensor.opid() >= index || tensor.opid() == std::numeric_limits<int>::min() || tensor.tsid() < 0)
        return make_error(ErrorCode::kParse, "{} reads output {} of operator {}, which is not made before it", where,
                          tensor.tsid(), tensor.opid());
      if (tensor.opid() < 0 && std::ranges::find(inputs_, tensor.opid()) == inputs_.end()) {
        if (tensor.tsid() != 0)
          return make_error(ErrorCode::kParse, "{} reads output {} of an input", where, tensor.tsid());
        inputs_.push_back(tensor.opid());
      }
    }
    if (op.input_size() >= row->least_operands && op.input_size() <= row->most_operands) return {};
    return make_error(ErrorCode::kParse, "{} has {} inputs, expected {}", where, op.input_size(), row->least_operands);
  }

  static Ranks::Id id_of(const taso::Tensor& tensor, int side) {
    return tensor.opid() < 0 ? Ranks::Id{0, -tensor.opid()} : Ranks::Id{side, tensor.opid()};
  }
  Status find_ranks(const Operators& operators, int side) {
    for (int i = 0; i < operators.size(); ++i) {
      const taso::Operator& op = operators[i];
      const Parameters params(op, where_of(side, i, op.type()));
      const Ranks::Id out{side, i};
      const auto all_equal = [&] {
        for (const taso::Tensor& tensor : op.input()) ranks_.equal(id_of(tensor, side), out);
      };
      switch (op.type()) {
        case kConv2d:
        case kPoolMax:
        case kPoolAvg:
        case kEnlarge:
        case kConstantIconv:
        case kConstantPool:
          ranks_.is(out, 4);
          all_equal();
          break;
        case kConstantImm: ranks_.is(out, 2); break;
        case kMul:
          ranks_.equal(id_of(op.input(0), side), out);
          ranks_.is(id_of(op.input(1), side), 0);
          break;
        case kConcat:
        case kTranspose: {
          REWRIGHT_TRY(const std::int64_t rank, params.get(kNumDim, 1, kMaxRank));
          ranks_.is(out, static_cast<int>(rank));
          all_equal();
          break;
        }
        case kMatMul: ranks_.prefer(out, 2); [[fallthrough]];
        default: all_equal();
      }
    }
    return {};
  }

  const taso::Rule& rule_;
  const Registry& registry_;
  std::vector<int> inputs_;  ///< opIds, in order of first use.
  Ranks ranks_;
};

TasoRule read_at(std::size_t index, int open_rank, RuleReader& reader) {
  auto instances = reader.read(open_rank);
  if (!instances) return {index, {}, instances.error().message};
  return {index, *std::move(instances), {}};
}

}  // namespace

Result<std::vector<TasoRule>> read_taso(const std::string& bytes, const std::string& file, const Registry& registry) {
  taso::RuleCollection collection;
  // Parsed without the check for required fields, since that one writes to standard error.
  if (!collection.ParsePartialFromString(bytes) || !collection.IsInitialized())
    return make_error(
        ErrorCode::kParse,
        "{}: this is no rule file of TASO: its {} bytes are no protobuf message RuleCollection (cut off, or "
        "of another format)",
        file, bytes.size());
  std::vector<TasoRule> rules;
  for (int i = 0; i < collection.rule_size(); ++i) {
    const auto index = static_cast<std::size_t>(i);
    RuleReader reader(collection.rule(i), registry);
    if (const Status fits = reader.prepare(); !fits) {
      rules.push_back({index, {}, fits.error().message});
      continue;
    }
    rules.push_back(read_at(index, 2, reader));
    if (reader.has_open_rank() && !rules.back().instances.empty()) rules.push_back(read_at(index, 4, reader));
  }
  return rules;
}

}  // namespace rewright
