#include "rule/taso.h"

#include "rule/canonical.h"
#include "rule/size_facts.h"

#include <rewright/linear.h>

#include <taso.pb.h>

#include <algorithm>
#include <array>
#include <set>

namespace rewright {

namespace {

enum Type {
  kInput,
  kWeight,
  kAny,
  kConv2d,
  kDropout,
  kLinear,
  kPoolMax,
  kPoolAvg,
  kRelu,
  kSigmoid,
  kTanh,
  kBatchNorm,
  kConcat,
  kSplit,
  kReshape,
  kTranspose,
  kEwAdd,
  kEwMul,
  kMatMul,
  kMul,
  kEnlarge,
  kMergeGconv,
  kConstantImm,
  kConstantIconv,
  kConstantOne,
  kConstantPool,
  kTypes
};
constexpr std::array<const char*, kTypes> kTypeNames = {
    "input",        "weight",       "any",    "conv2d",    "dropout", "linear",      "pool2d_max",   "pool2d_avg",
    "relu",         "sigmoid",      "tanh",   "batchnorm", "concat",  "split",       "reshape",      "transpose",
    "ew_add",       "ew_mul",       "matmul", "mul",       "enlarge", "merge_gconv", "constant_imm", "constant_iconv",
    "constant_one", "constant_pool"};

enum Key {
  kOpType,
  kNumInputs,
  kNumOutputs,
  kGroup,
  kKernelH,
  kKernelW,
  kStrideH,
  kStrideW,
  kPad,
  kActi,
  kNumDim,
  kAxis,
  kPerm,
  kOutShuffle,
  kMergeCount,
  kKeys
};
constexpr std::array<const char*, kKeys> kKeyNames = {
    "op_type", "num_inputs", "num_outputs", "group", "kernel_h", "kernel_w",   "stride_h",         "stride_w",
    "pad",     "acti",       "numdim",      "axis",  "perm",     "outshuffle", "merge_gconv_count"};
constexpr std::array<const char*, 4> kActivations = {"none", "sigmoid", "relu", "tanh"};
constexpr std::array<const char*, 2> kPaddings = {"same", "valid"};
constexpr int kMostOperators = 64;

/// The operator of ours that a type stands for; null where there is none.
const char* counterpart(int type) {
  switch (type) {
    case kConv2d: return "conv2d";
    case kPoolMax: return "pool2d_max";
    case kPoolAvg: return "pool2d_avg";
    case kRelu: return "relu";
    case kSigmoid: return "sigmoid";
    case kTanh: return "tanh";
    case kConcat: return "concat";
    case kSplit: return "split";
    case kTranspose: return "transpose";
    case kEwAdd: return "ewadd";
    case kEwMul: return "ewmul";
    case kMatMul: return "matmul";
    case kMul: return "smul";
    case kEnlarge: return "enlarge";
    case kConstantImm: return "constant_identity";
    case kConstantIconv: return "constant_conv";
    case kConstantOne: return "constant_one";
    case kConstantPool: return "constant_pool";
    default: return nullptr;
  }
}

// --- one operator ------------------------------------------------------------------------------------------------

/// The parameters of an operator, with sentences for what is missing or out of range.
class Parameters {
 public:
  Parameters(const taso::Operator& op, std::string where) : where_(std::move(where)) {
    for (const taso::Parameter& para : op.para()) values_[para.key()] = para.value();
  }
  [[nodiscard]] bool has(Key key) const { return values_.contains(key); }
  [[nodiscard]] Result<std::int64_t> get(Key key, std::int64_t low, std::int64_t high,
                                         std::optional<std::int64_t> otherwise = std::nullopt) const {
    const auto found = values_.find(key);
    if (found == values_.end()) {
      if (otherwise) return *otherwise;
      return make_error(ErrorCode::kParse, "{} has no parameter {}", where_, kKeyNames[key]);
    }
    if (found->second < low || found->second > high)
      return make_error(ErrorCode::kParse, "{}: {} is {}, expected {} to {}", where_, kKeyNames[key], found->second,
                        low, high);
    return std::int64_t{found->second};
  }
  [[nodiscard]] const std::string& where() const { return where_; }

 private:
  std::map<int, std::int32_t> values_;
  std::string where_;
};

/// perm = sum of p_i * n^(n-1-i): the digits of the permutation in base n.
Result<std::vector<std::int64_t>> read_permutation(std::int64_t code, std::int64_t rank, const std::string& where) {
  std::vector<std::int64_t> perm(static_cast<std::size_t>(rank));
  std::set<std::int64_t> seen;
  for (auto digit = perm.rbegin(); digit != perm.rend(); ++digit, code /= rank) seen.insert(*digit = code % rank);
  if (code != 0 || std::ssize(seen) != rank)
    return make_error(ErrorCode::kParse, "{}: perm is no permutation of {} axes", where, rank);
  return perm;
}

// --- ranks ---------------------------------------------------------------------------------------------------------

/// Ranks of the tensors of a rule, by operator; equal ones are merged, known ones are kept.
class Ranks {
 public:
  using Id = std::pair<int, int>;  ///< Side (0: the inputs) and operator (or minus opId).

  void equal(Id a, Id b) {
    a = root(a);
    b = root(b);
    if (a == b) return;
    if (known_.contains(a) && known_.contains(b) && known_[a] != known_[b]) contradictory_ = true;
    parent_[a] = b;
    if (known_.contains(a)) known_[b] = known_[a];
  }
  void is(Id id, int rank) {
    id = root(id);
    if (known_.contains(id) && known_[id] != rank) contradictory_ = true;
    known_[id] = rank;
  }
  void prefer(Id id, int rank) { preferred_.emplace_back(id, rank); }
  void apply_preferences() {
    for (const auto& [id, rank] : preferred_) {
      if (!known_.contains(root(id))) known_[root(id)] = rank;
    }
  }
  [[nodiscard]] std::optional<int> of(Id id) {
    const auto found = known_.find(root(id));
    return found == known_.end() ? std::nullopt : std::optional(found->second);
  }
  [[nodiscard]] bool contradictory() const { return contradictory_; }

 private:
  Id root(Id id) {
    while (parent_.contains(id)) id = parent_[id];
    return id;
  }
  std::map<Id, Id> parent_;
  std::map<Id, int> known_;
  std::vector<std::pair<Id, int>> preferred_;
  bool contradictory_ = false;
};

// --- one rule --------------------------------------------------------------------------------------------------------

class RuleReader {
 public:
  RuleReader(const taso::Rule& rule, const Registry& registry, std::int64_t open_groups)
      : rule_(rule), registry_(registry), open_groups_(open_groups) {}

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
  [[nodiscard]] bool has_open_groups() const { return has_open_groups_; }

  Result<Rule> read(int open_rank) {
    inputs_of_pattern_.clear();
    for (const int id : inputs_)
      inputs_of_pattern_.push_back({fmt::format("x{}", -id), ranks_.of({0, -id}).value_or(open_rank)});
    open_rank_ = open_rank;
    kernels_.clear();
    REWRIGHT_TRY(const Side source, read_side(rule_.srcop(), 1));
    const std::vector<Constraint> kernels = kernels_;
    REWRIGHT_TRY(const Side target, read_side(rule_.dstop(), 2));
    return make_rule(source, target, kernels);
  }

 private:
  struct Side {
    Pattern pattern;
    std::vector<std::vector<SymbolicShape>> shapes;  ///< By port, the inputs first.
    std::vector<Constraint> defined;
  };
  using Operators = google::protobuf::RepeatedPtrField<taso::Operator>;

  static std::string where_of(int side, int index, int type) {
    return fmt::format("{} operator {} ({})", side == 1 ? "source" : "target", index,
                       type >= 0 && type < kTypes ? kTypeNames[static_cast<std::size_t>(type)] : "unknown");
  }

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
    if (op.type() < 0 || op.type() >= kTypes)
      return make_error(ErrorCode::kParse, "{}: its type is {}, expected 0 to {}", where, op.type(), kTypes - 1);
    if (counterpart(op.type()) == nullptr)
      return make_error(ErrorCode::kUnsupported, "{} has no counterpart among our operators", where);
    for (const taso::Tensor& tensor : op.input()) {
      if (tensor.opid() >= index || tensor.tsid() < 0)
        return make_error(ErrorCode::kParse, "{} reads output {} of operator {}, which is not made before it", where,
                          tensor.tsid(), tensor.opid());
      if (tensor.opid() < 0 && std::ranges::find(inputs_, tensor.opid()) == inputs_.end()) {
        if (tensor.tsid() != 0)
          return make_error(ErrorCode::kParse, "{} reads output {} of an input", where, tensor.tsid());
        inputs_.push_back(tensor.opid());
      }
    }
    return check_arity(op, where);
  }
  static Status check_arity(const taso::Operator& op, const std::string& where) {
    int low = 1, high = 1;
    switch (op.type()) {
      case kConv2d:
      case kEwAdd:
      case kEwMul:
      case kMatMul:
      case kMul: low = high = 2; break;
      case kConcat: low = 2, high = kMostOperators; break;
      case kConstantImm:
      case kConstantIconv:
      case kConstantOne:
      case kConstantPool: low = high = 0; break;
      default: break;
    }
    if (op.input_size() >= low && op.input_size() <= high) return {};
    return make_error(ErrorCode::kParse, "{} has {} inputs, expected {}", where, op.input_size(), low);
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

  // --- a side ---

  Result<Side> read_side(const Operators& operators, int side) {
    Side made;
    made_.clear();
    for (const PatternInput& input : inputs_of_pattern_) {
      SymbolicShape shape;
      for (int axis = 0; axis < input.rank; ++axis)
        shape.append(SymbolicDim::variable(fmt::format("{}.{}", input.name, axis)));
      made.shapes.push_back({std::move(shape)});
    }
    where_ = {};
    next_size_ = 0;
    prefix_ = side == 1 ? 's' : 't';
    for (int i = 0; i < operators.size(); ++i) REWRIGHT_CHECK(read_operator(operators[i], side, i, made));
    for (const taso::MapOutput& output : rule_.mappedoutput()) {
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

  Status read_operator(const taso::Operator& op, int side, int index, Side& made) {
    const std::string where = where_of(side, index, op.type());
    std::vector<Port> operands;
    for (const taso::Tensor& tensor : op.input()) {
      if (tensor.opid() < 0) {
        const auto input = std::ranges::find(inputs_, tensor.opid()) - inputs_.begin();
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

  SymbolicDim fresh_size() { return SymbolicDim::variable(fmt::format("{}{}", prefix_, next_size_++)); }

  /// The application, and the activation that matmul and pools carry in TASO.
  Result<std::vector<Port>> apply(const taso::Operator& op, const Parameters& params, int side, int index,
                                  const std::vector<Port>& operands, Side& made) {
    REWRIGHT_TRY(const Operator* ours, registry_.get<Operator>(counterpart(op.type())));
    std::vector<NamedParam> named;
    std::vector<SymbolicDim> sizes;
    const auto shape = [&](std::size_t i) -> const SymbolicShape& {
      return made.shapes[operands[i].node.value][operands[i].output];
    };
    REWRIGHT_TRY(const std::int64_t activation, params.get(kActi, 0, 3, 0));
    const auto add_window = [&]() -> Status {
      REWRIGHT_TRY(const std::int64_t height, params.get(kStrideH, 1, 1000, 1));
      REWRIGHT_TRY(const std::int64_t width, params.get(kStrideW, 1, 1000, 1));
      REWRIGHT_TRY(const std::int64_t padding, params.get(kPad, 0, 1, 0));
      named.push_back({"strides", std::vector<std::int64_t>{height, width}});
      named.push_back({"padding", std::string(kPaddings[static_cast<std::size_t>(padding)])});
      return {};
    };
    const auto kernel = [&]() -> Result<std::vector<std::int64_t>> {
      REWRIGHT_TRY(const std::int64_t height, params.get(kKernelH, 1, 1000));
      REWRIGHT_TRY(const std::int64_t width, params.get(kKernelW, 1, 1000));
      return std::vector<std::int64_t>{height, width};
    };
    switch (op.type()) {
      case kConv2d: {
        REWRIGHT_CHECK(add_window());
        has_open_groups_ |= !params.has(kGroup);
        REWRIGHT_TRY(const std::int64_t groups, params.get(kGroup, 1, 1000, open_groups_));
        named.push_back({"groups", groups});
        named.push_back({"activation", std::string(kActivations[static_cast<std::size_t>(activation)])});
        if (params.has(kKernelH) && params.has(kKernelW)) {
          REWRIGHT_TRY(const auto size, kernel());
          for (int axis = 0; axis < 2; ++axis)
            kernels_.push_back({Constraint::Kind::kEqual, shape(1)[2 + axis], size[static_cast<std::size_t>(axis)]});
        }
        break;
      }
      case kPoolMax:
      case kPoolAvg: {
        REWRIGHT_CHECK(add_window());
        REWRIGHT_TRY(auto size, kernel());
        named.push_back({"kernel", std::move(size)});
        break;
      }
      case kEnlarge: {
        REWRIGHT_TRY(auto size, kernel());
        named.push_back({"kernel", std::move(size)});
        break;
      }
      case kConcat:
      case kSplit: {
        REWRIGHT_TRY(const std::int64_t axis, params.get(kAxis, 0, shape(0).rank() - 1));
        named.push_back({"axis", axis});
        if (op.type() == kConcat) break;
        REWRIGHT_TRY(const std::int64_t parts, params.get(kNumOutputs, 2, 2, 2));
        const auto* cut = shape(0)[static_cast<int>(axis)].cut();
        for (std::int64_t i = 0; i < parts; ++i)
          sizes.push_back(!cut ? fresh_size() : i == 0 ? cut->first : cut->second);
        break;
      }
      case kTranspose: {
        REWRIGHT_TRY(const std::int64_t code, params.get(kPerm, 0, 1 << 30));
        REWRIGHT_TRY(auto perm, read_permutation(code, shape(0).rank(), params.where()));
        named.push_back({"perm", std::move(perm)});
        break;
      }
      case kConstantImm: {
        const SymbolicDim size = fresh_size();
        sizes = {size, size};
        break;
      }
      case kConstantIconv:
      case kConstantPool: {
        REWRIGHT_TRY(const auto size, kernel());
        sizes = {fresh_size(), fresh_size(), size[0], size[1]};
        break;
      }
      case kConstantOne:
        for (int axis = 0; axis < ranks_.of({side, index}).value_or(open_rank_); ++axis) sizes.push_back(fresh_size());
        break;
      default: break;
    }
    if (!sizes.empty()) named.push_back({"sizes", std::vector<std::int64_t>(sizes.size(), 1)});
    REWRIGHT_TRY(std::vector<Port> ports, add_node(*ours, named, sizes, operands, made));
    if (op.type() == kConv2d || activation == 0) return ports;
    REWRIGHT_TRY(const Operator* unary, registry_.get<Operator>(kActivations[static_cast<std::size_t>(activation)]));
    return add_node(*unary, {}, {}, ports, made);
  }

  Result<std::vector<Port>> add_node(const Operator& op, const std::vector<NamedParam>& named,
                                     const std::vector<SymbolicDim>& sizes, const std::vector<Port>& operands,
                                     Side& made) {
    REWRIGHT_TRY(const Params numbers, make_params(op.name(), op.info().params, named));
    const SymbolicParams symbols = to_symbolic(numbers);
    std::vector<BasicParamValue<SymbolicDim>> values(symbols.values().begin(), symbols.values().end());
    for (auto& value : values) {
      if (auto* list = std::get_if<SizeList<SymbolicDim>>(&value); list && !sizes.empty()) list->values = sizes;
    }
    SymbolicParams params(std::move(values));
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

  // --- both sides ---

  Result<Rule> make_rule(const Side& source, const Side& target, const std::vector<Constraint>& kernels) {
    std::vector<Constraint> all = source.defined;
    all.insert(all.end(), target.defined.begin(), target.defined.end());
    all.insert(all.end(), kernels.begin(), kernels.end());
    for (std::size_t k = 0; k < source.pattern.outputs.size(); ++k) {
      const Port s = source.pattern.outputs[k], t = target.pattern.outputs[k];
      const SymbolicShape &left = source.shapes[s.node.value][s.output], &right = target.shapes[t.node.value][t.output];
      if (left.rank() != right.rank())
        return make_error(ErrorCode::kShape, "output {} has rank {} in the source and {} in the target", k, left.rank(),
                          right.rank());
      for (int axis = 0; axis < left.rank(); ++axis) all.push_back({Constraint::Kind::kEqual, left[axis], right[axis]});
    }
    const auto sizes = find_sizes(source, target, all);
    if (!sizes) return make_error(ErrorCode::kShape, "no small sizes were found at which both sides are defined");
    std::vector<Shape> shapes;
    for (const PatternInput& input : inputs_of_pattern_) {
      Shape shape;
      for (int axis = 0; axis < input.rank; ++axis) shape.append(sizes->at(fmt::format("{}.{}", input.name, axis)));
      shapes.push_back(std::move(shape));
    }
    const DimBinding binding = [&](std::string_view name) -> std::optional<std::int64_t> {
      const auto found = sizes->find(name);
      if (found == sizes->end()) return std::nullopt;
      return found->second;
    };
    REWRIGHT_TRY(const Graph left, instantiate(inputs_of_pattern_, source.pattern, shapes, binding));
    REWRIGHT_TRY(const Graph right, instantiate(inputs_of_pattern_, target.pattern, shapes, binding));
    Result<Rule> rule = generalise(left, right, FreeSizes::kVariable);
    if (!rule) rule = generalise(left, right, FreeSizes::kNumber);
    if (!rule) return rule;
    return with_kernels(*std::move(rule), kernels);
  }

  /// Kernel sizes that the file asks for, as conditions, where the weight is an input.
  static Result<Rule> with_kernels(Rule rule, const std::vector<Constraint>& kernels) {
    std::vector<Constraint> wanted;
    for (const Constraint& kernel : kernels) {
      const auto decided = kernel.decided();
      if (decided == std::optional(false))
        return make_error(ErrorCode::kShape, "a kernel's size can never be {}", to_string(kernel.right));
      if (decided) continue;
      const auto names = kernel.left.variables();
      const bool of_inputs = std::ranges::all_of(names, [&](const std::string& name) {
        return std::ranges::any_of(
            rule.inputs, [&](const PatternInput& input) { return name.starts_with(fmt::format("{}.", input.name)); });
      });
      if (of_inputs) wanted.push_back(kernel);
    }
    if (wanted.empty()) return rule;
    wanted.insert(wanted.end(), rule.precondition.begin(), rule.precondition.end());
    REWRIGHT_TRY(const PatternShapes source, infer_shapes(rule.inputs, rule.source));
    REWRIGHT_TRY(rule.precondition, missing_conditions(source.defined, wanted, size_order(rule)));
    rule.id = rule_id(rule);
    return rule;
  }

  std::optional<SizeAssignment> find_sizes(const Side& source, const Side& target,
                                           const std::vector<Constraint>& constraints) const {
    std::set<std::string> names;
    for (const PatternInput& input : inputs_of_pattern_) {
      for (int axis = 0; axis < input.rank; ++axis) names.insert(fmt::format("{}.{}", input.name, axis));
    }
    for (const Side* side : {&source, &target}) {
      for (const PatternNode& node : side->pattern.nodes) {
        for (const auto& value : node.params.values()) {
          const auto* list = std::get_if<SizeList<SymbolicDim>>(&value);
          if (!list) continue;
          for (const SymbolicDim& size : list->values) {
            for (std::string& name : size.variables()) names.insert(std::move(name));
          }
        }
      }
    }
    const std::vector<std::string> variables(names.begin(), names.end());
    if (auto drawn = draw_sizes(variables, constraints)) return drawn;
    std::optional<SizeAssignment> found;
    for_each_solution(
        variables, constraints, 1, 6,
        [&](const SizeAssignment& sizes) {
          found = sizes;
          return false;
        },
        100'000);
    return found;
  }
  /// Sizes of 2 to 4, of which those that equations decide may be others.
  static std::optional<SizeAssignment> draw_sizes(const std::vector<std::string>& variables,
                                                  const std::vector<Constraint>& constraints) {
    const SizeSystem system(constraints);
    std::uint64_t state = 1;
    for (int attempt = 0; attempt < 300; ++attempt) {
      SizeAssignment sizes;
      const DimBinding binding = [&](std::string_view name) -> std::optional<std::int64_t> {
        const auto found = sizes.find(name);
        if (found == sizes.end()) return std::nullopt;
        return found->second;
      };
      for (const std::string& name : variables) {
        state = state * 6364136223846793005ULL + 1442695040888963407ULL;
        if (!system.solved().contains(name)) sizes[name] = 2 + static_cast<std::int64_t>((state >> 33) % 3);
      }
      bool fits = true;
      for (const auto& [name, form] : system.solved()) {
        const auto value = form.evaluate(binding);
        fits = fits && value && *value >= 1 && *value <= 64;
        sizes[name] = value.value_or(0);
      }
      if (fits &&
          std::ranges::all_of(constraints, [&](const Constraint& c) { return c.holds(binding).value_or(false); }))
        return sizes;
    }
    return std::nullopt;
  }

  const taso::Rule& rule_;
  const Registry& registry_;
  const std::int64_t open_groups_;
  bool has_open_groups_ = false;
  std::vector<int> inputs_;  ///< opIds, in order of first use.
  Ranks ranks_;
  std::vector<PatternInput> inputs_of_pattern_;
  int open_rank_ = 2;
  std::vector<std::vector<Port>> made_;  ///< By operator of the side that is read.
  Constraints<SymbolicDim> where_;
  std::vector<Constraint> kernels_;
  char prefix_ = 's';
  int next_size_ = 0;
};

TasoRule read_at(const taso::Rule& rule, std::size_t index, int open_rank, RuleReader& reader,
                 const Registry& registry) {
  TasoRule read{index, std::nullopt, {}, std::nullopt};
  Result<Rule> made = reader.read(open_rank);
  if (!made) {
    read.reason = made.error().message;
    return read;
  }
  read.rule = *std::move(made);
  if (reader.has_open_groups()) {
    RuleReader grouped(rule, registry, 2);
    if (grouped.prepare()) {
      if (Result<Rule> other = grouped.read(open_rank)) read.grouped = *std::move(other);
    }
  }
  return read;
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
    RuleReader reader(collection.rule(i), registry, 1);
    if (const Status fits = reader.prepare(); !fits) {
      rules.push_back({index, std::nullopt, fits.error().message, std::nullopt});
      continue;
    }
    rules.push_back(read_at(collection.rule(i), index, 2, reader, registry));
    if (reader.has_open_rank() && rules.back().rule)
      rules.push_back(read_at(collection.rule(i), index, 4, reader, registry));
  }
  return rules;
}

// --- writing ---------------------------------------------------------------------------------------------------------

namespace {

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
  using Operators = google::protobuf::RepeatedPtrField<taso::Operator>;

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
