#include "optimize/body_runner.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <mutex>
#include <utility>

#include "onnx/import.h"
#include "onnx/importer.h"
#include "onnx/scope.h"

namespace rewright {

using namespace model;

namespace {

using Tensors = std::vector<ReferenceTensor>;

constexpr std::int64_t kMostRounds = 1000;
/// Floating-point operations of all rounds of one node.
constexpr double kMostFlops = 1e9;
constexpr std::size_t kMostRead = 256;

ReferenceTensor integer(std::int64_t number, const Shape& shape) {
  return tensor_of({shape, ElementType::kInt64}, {Real{static_cast<double>(number)}});
}

/// Of one element; numbers of rounds without end are cut.
std::int64_t number_in(const ReferenceTensor& tensor) {
  constexpr double kMost = 0x1p62;
  const std::vector<Real> numbers = numbers_of(tensor);
  return numbers.empty() ? 0 : static_cast<std::int64_t>(std::clamp(numbers.front().value, -kMost, kMost));
}

const AttributeProto* attribute_of(const NodeProto& node, const std::string& name) {
  const auto found = std::ranges::find_if(node.attribute(), [&](const auto& given) { return given.name() == name; });
  return found == node.attribute().end() ? nullptr : &*found;
}

std::int64_t integer_of(const NodeProto& node, const std::string& name, std::size_t i) {
  const AttributeProto* attribute = attribute_of(node, name);
  return attribute != nullptr && i < static_cast<std::size_t>(attribute->ints_size())
             ? attribute->ints(static_cast<int>(i))
             : 0;
}

/// Copies `part` elements of `size` values each from one place to another, `outer` times.
template <class Values>
void copy_parts(const Values& from, std::size_t from_at, std::size_t from_step, Values& to, std::size_t to_at,
                std::size_t to_step, std::size_t outer, std::size_t length) {
  for (std::size_t k = 0; k < outer; ++k)
    std::copy_n(from.begin() + static_cast<std::ptrdiff_t>(from_at + k * from_step), length,
                to.begin() + static_cast<std::ptrdiff_t>(to_at + k * to_step));
}

/// Elements before and behind an axis of a tensor of these sizes.
std::pair<std::size_t, std::size_t> around(const Shape& shape, std::size_t axis) {
  std::size_t before = 1, behind = 1;
  std::size_t i = 0;
  for (const std::int64_t size : shape) {
    if (i < axis) before *= static_cast<std::size_t>(size);
    if (i > axis) behind *= static_cast<std::size_t>(size);
    ++i;
  }
  return {before, behind};
}

/// Slice `k` along the axis, which goes.
ReferenceTensor slice(const ReferenceTensor& whole, std::size_t axis, std::int64_t k) {
  std::vector<std::int64_t> dims(whole.type.shape.begin(), whole.type.shape.end());
  const auto length = static_cast<std::size_t>(dims[axis]), at = static_cast<std::size_t>(k);
  const auto [before, behind] = around(whole.type.shape, axis);
  dims.erase(dims.begin() + static_cast<std::ptrdiff_t>(axis));
  ReferenceTensor part{{Shape(std::move(dims)), whole.type.element}, {}, {}};
  const std::size_t width = behind * element_size(whole.type.element);
  part.numbers.resize(whole.numbers.empty() ? 0 : before * behind);
  part.bytes.resize(whole.bytes.empty() ? 0 : before * width);
  if (!whole.numbers.empty())
    copy_parts(whole.numbers, at * behind, length * behind, part.numbers, 0, behind, before, behind);
  if (!whole.bytes.empty()) copy_parts(whole.bytes, at * width, length * width, part.bytes, 0, width, before, width);
  return part;
}

/// The parts, at least one and all of one type, along a new axis. None where they differ.
std::optional<ReferenceTensor> stack(const Tensors& parts, std::size_t axis, bool backwards) {
  const TensorType& type = parts.front().type;
  if (!std::ranges::all_of(parts, [&](const ReferenceTensor& part) { return part.type == type; })) return std::nullopt;
  std::vector<std::int64_t> dims(type.shape.begin(), type.shape.end());
  if (axis > dims.size() || dims.size() >= kMaxRank) return std::nullopt;
  dims.insert(dims.begin() + static_cast<std::ptrdiff_t>(axis), static_cast<std::int64_t>(parts.size()));
  ReferenceTensor whole{{Shape(std::move(dims)), type.element}, {}, {}};
  const auto [before, behind] = around(whole.type.shape, axis);
  const std::size_t width = behind * element_size(type.element);
  whole.numbers.resize(parts.front().numbers.size() * parts.size());
  whole.bytes.resize(parts.front().bytes.size() * parts.size());
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const std::size_t k = backwards ? parts.size() - 1 - i : i;
    if (!whole.numbers.empty())
      copy_parts(parts[i].numbers, 0, behind, whole.numbers, k * behind, parts.size() * behind, before, behind);
    if (!whole.bytes.empty())
      copy_parts(parts[i].bytes, 0, width, whole.bytes, k * width, parts.size() * width, before, width);
  }
  return whole;
}

}  // namespace

/// Bodies that were read.
struct BodyRunner::Bodies {
  struct Read {
    std::shared_ptr<const OpaqueNode> node;  ///< Kept, so that no other takes its address.
    std::shared_ptr<const Graph> graph;
  };
  const Registry* registry;
  std::string directory;
  ModelProto frame = {};
  std::mutex mutex = {};
  std::map<std::string, Read> read = {};  ///< By node, body and types.

  /// The body's graph at these sizes; null where it cannot be read.
  std::shared_ptr<const Graph> find(const std::shared_ptr<const OpaqueNode>& node, const AttributeProto& attribute,
                                    const ReferenceInputs& inputs);
};

namespace {

/// One run of a node.
class BodyRun {
 public:
  using Outputs = BodyRunner::Outputs;

  /// Gives an attribute's graph at these sizes; null where it cannot be read.
  using Find = std::function<std::shared_ptr<const Graph>(const AttributeProto&, const ReferenceInputs&)>;

  BodyRun(Find find, NodeProto proto, std::span<const ReferenceTensor* const> operands,
          const BodyRunner::Evaluate& evaluate)
      : find_(std::move(find)), proto_(std::move(proto)), evaluate_(evaluate) {
    std::size_t next = 0;
    for (const std::string& name : proto_.input()) given_.push_back(name.empty() ? nullptr : operands[next++]);
    for (const std::string& name : captures(proto_)) outer_.emplace(name, operands[next++]);
  }

  Result<Outputs> run() {
    if (proto_.op_type() == "If") return run_if();
    if (proto_.op_type() == "Loop") return run_loop();
    if (proto_.op_type() == "Scan") return run_scan();
    return Outputs();
  }

 private:
  [[nodiscard]] const AttributeProto* body(const std::string& name) const {
    const AttributeProto* attribute = attribute_of(proto_, name);
    return attribute == nullptr || !attribute->has_g() ? nullptr : attribute;
  }

  /// The outputs of one run of a body.
  Result<Outputs> once(const AttributeProto& attribute, Tensors given) {
    const GraphProto& body = attribute.g();
    if (static_cast<std::size_t>(body.input_size()) != given.size()) return Outputs();
    ReferenceInputs inputs;
    for (std::size_t i = 0; i < given.size(); ++i)
      inputs.emplace(body.input(static_cast<int>(i)).name(), std::move(given[i]));
    for (const std::string& name : captures(body))
      if (const auto found = outer_.find(name); found != outer_.end()) inputs.emplace(name, *found->second);
    const std::shared_ptr<const Graph> graph = find_(attribute, inputs);
    if (graph == nullptr) return Outputs();
    flops_ += evaluation_flops(*graph);
    if (flops_ > kMostFlops) return Outputs();
    REWRIGHT_TRY(Outputs outputs, evaluate_(*graph, inputs));
    if (!outputs || outputs->size() != static_cast<std::size_t>(body.output_size())) return Outputs();
    return outputs;
  }

  Result<Outputs> run_if() {
    if (given_.size() != 1 || given_[0] == nullptr) return Outputs();
    const AttributeProto* branch = body(number_in(*given_[0]) != 0 ? "then_branch" : "else_branch");
    if (branch == nullptr) return Outputs();
    return once(*branch, {});
  }

  Result<Outputs> run_loop() {
    const AttributeProto* attribute = body("body");
    if (attribute == nullptr || given_.size() < 2 || attribute->g().input_size() < 2) return Outputs();
    const GraphProto* loop = &attribute->g();
    const auto carried = given_.size() - 2;
    if (static_cast<std::size_t>(loop->output_size()) < 1 + carried) return Outputs();
    const std::int64_t most = given_[0] == nullptr ? kMostRounds + 1 : number_in(*given_[0]);
    bool goes_on = given_[1] == nullptr || number_in(*given_[1]) != 0;
    Tensors state;
    for (std::size_t i = 2; i < given_.size(); ++i) {
      if (given_[i] == nullptr) return Outputs();
      state.push_back(*given_[i]);
    }
    std::vector<Tensors> parts(static_cast<std::size_t>(loop->output_size()) - 1 - carried);
    for (std::int64_t round = 0; goes_on && round < most; ++round) {
      if (round == kMostRounds) return Outputs();
      Tensors inputs = {integer(round, shape_of(loop->input(0))),
                        tensor_of({shape_of(loop->input(1)), ElementType::kBool}, {Real{1}})};
      inputs.insert(inputs.end(), state.begin(), state.end());
      REWRIGHT_TRY(Outputs outputs, once(*attribute, std::move(inputs)));
      if (!outputs) return outputs;
      goes_on = number_in(outputs->front()) != 0;
      std::move(outputs->begin() + 1, outputs->begin() + 1 + static_cast<std::ptrdiff_t>(carried), state.begin());
      for (std::size_t i = 0; i < parts.size(); ++i) parts[i].push_back(std::move((*outputs)[1 + carried + i]));
    }
    return with_stacked(std::move(state), parts, {});
  }

  /// Of the counter and the condition: scalars, unless the body wants them in one element.
  static Shape shape_of(const ValueInfoProto& input) {
    return input.type().tensor_type().shape().dim_size() == 1 ? Shape{1} : Shape{};
  }

  Result<Outputs> run_scan() {
    const AttributeProto* attribute = body("body");
    const AttributeProto* count = attribute_of(proto_, "num_scan_inputs");
    if (attribute == nullptr || count == nullptr || count->i() < 1 ||
        count->i() > static_cast<std::int64_t>(given_.size()))
      return Outputs();
    const GraphProto* scan = &attribute->g();
    const auto scanned = static_cast<std::size_t>(count->i());
    const auto carried = given_.size() - scanned;
    if (static_cast<std::size_t>(scan->output_size()) < carried) return Outputs();
    Tensors state;
    for (std::size_t i = 0; i < carried; ++i) state.push_back(*given_[i]);
    std::vector<std::size_t> axes;
    std::int64_t length = -1;
    for (std::size_t i = 0; i < scanned; ++i) {
      const Shape& shape = given_[carried + i]->type.shape;
      std::int64_t axis = integer_of(proto_, "scan_input_axes", i);
      if (axis < 0) axis += static_cast<std::int64_t>(shape.rank());
      if (axis < 0 || axis >= static_cast<std::int64_t>(shape.rank())) return Outputs();
      axes.push_back(static_cast<std::size_t>(axis));
      if (length >= 0 && length != shape[axes.back()]) return Outputs();
      length = shape[axes.back()];
    }
    if (length < 0 || length > kMostRounds) return Outputs();
    std::vector<Tensors> parts(static_cast<std::size_t>(scan->output_size()) - carried);
    for (std::int64_t round = 0; round < length; ++round) {
      Tensors inputs = state;
      for (std::size_t i = 0; i < scanned; ++i) {
        const bool is_backwards = integer_of(proto_, "scan_input_directions", i) != 0;
        inputs.push_back(slice(*given_[carried + i], axes[i], is_backwards ? length - 1 - round : round));
      }
      REWRIGHT_TRY(Outputs outputs, once(*attribute, std::move(inputs)));
      if (!outputs) return outputs;
      std::move(outputs->begin(), outputs->begin() + static_cast<std::ptrdiff_t>(carried), state.begin());
      for (std::size_t i = 0; i < parts.size(); ++i) parts[i].push_back(std::move((*outputs)[carried + i]));
    }
    return with_stacked(std::move(state), parts, [&](std::size_t i) {
      return std::pair(integer_of(proto_, "scan_output_axes", i), integer_of(proto_, "scan_output_directions", i) != 0);
    });
  }

  /// What is carried, then the parts of all rounds; the sizes of no parts are not known.
  static Result<Outputs> with_stacked(Tensors made, const std::vector<Tensors>& parts,
                                      const std::function<std::pair<std::int64_t, bool>(std::size_t)>& how) {
    for (std::size_t i = 0; i < parts.size(); ++i) {
      if (parts[i].empty()) return Outputs();
      auto [axis, backwards] = how ? how(i) : std::pair(std::int64_t{0}, false);
      if (axis < 0) axis += static_cast<std::int64_t>(parts[i].front().type.shape.rank()) + 1;
      auto whole = axis < 0 ? std::nullopt : stack(parts[i], static_cast<std::size_t>(axis), backwards);
      if (!whole) return Outputs();
      made.push_back(*std::move(whole));
    }
    return Outputs(std::move(made));
  }

  Find find_;
  NodeProto proto_;
  const BodyRunner::Evaluate& evaluate_;
  std::vector<const ReferenceTensor*> given_;  ///< By input; null where it is left out.
  std::map<std::string, const ReferenceTensor*> outer_;
  double flops_ = 0;
};

}  // namespace

BodyRunner::BodyRunner(const Registry& registry, std::string directory)
    : bodies_(new Bodies{&registry, std::move(directory)}) {}

BodyRunner::~BodyRunner() = default;

Status BodyRunner::set_frame(const std::string& frame) {
  const std::scoped_lock lock(bodies_->mutex);
  if (!bodies_->frame.ParseFromString(frame)) return make_error(ErrorCode::kParse, "not a serialized ONNX model");
  bodies_->frame.set_ir_version(std::max<std::int64_t>(bodies_->frame.ir_version(), kIrOfDefaults));
  bodies_->read.clear();
  return {};
}

Result<BodyRunner::Outputs> BodyRunner::run(const Node& node, std::span<const ReferenceTensor* const> operands,
                                            const Evaluate& evaluate) {
  NodeProto proto;
  const auto& opaque = std::get<std::shared_ptr<const OpaqueNode>>(node.content);
  if (!proto.ParseFromString(opaque->serialized) || !normal_domain(proto.domain()).empty()) return Outputs();
  if (std::ranges::none_of(proto.attribute(), [](const auto& attribute) { return attribute.has_g(); }))
    return Outputs();
  const auto find = [&](const AttributeProto& attribute, const ReferenceInputs& inputs) {
    return bodies_->find(opaque, attribute, inputs);
  };
  REWRIGHT_TRY(Outputs outputs, BodyRun(find, std::move(proto), operands, evaluate).run());
  if (!outputs || outputs->size() < node.outputs.size()) return Outputs();
  outputs->resize(node.outputs.size());
  return outputs;
}

std::shared_ptr<const Graph> BodyRunner::Bodies::find(const std::shared_ptr<const OpaqueNode>& node,
                                                      const AttributeProto& attribute, const ReferenceInputs& inputs) {
  std::string key = fmt::format("{} {}", static_cast<const void*>(node.get()), attribute.name());
  for (const auto& [name, tensor] : inputs)
    key += fmt::format(" {}:{}:{}", name, static_cast<int>(tensor.type.element), tensor.type.shape);
  const std::scoped_lock lock(mutex);
  if (const auto found = read.find(key); found != read.end()) return found->second.graph;
  if (read.size() >= kMostRead) read.clear();
  ModelProto model = frame;
  GraphProto& graph = *model.mutable_graph();
  graph = attribute.g();
  graph.clear_input();
  for (auto& output : *graph.mutable_output()) output.clear_type();
  for (const auto& [name, tensor] : inputs) {
    auto& input = *graph.add_input();
    input.set_name(name);
    *input.mutable_type() = to_proto(tensor.type);
  }
  ImportOptions options;
  options.directory = directory;
  const std::string bytes = model.SerializeAsString();
  auto imported = import_model(std::as_bytes(std::span(bytes)), *registry, options);
  auto made = imported ? std::make_shared<const Graph>(std::move(imported->graph)) : nullptr;
  read[key] = {node, made};
  return made;
}

}  // namespace rewright
