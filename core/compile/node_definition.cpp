#include "compile/node_definition.h"

#include <rewright/onnx/onnx.h>

#include <algorithm>
#include <map>
#include <numeric>

#include "onnx/proto.h"
#include "operator/reindexed.h"

namespace rewright::compile {
namespace {

using Indices = std::vector<IndexExpr>;
using Kind = ValueExpr::Kind;

template <class... Args>
Error unsupported(fmt::format_string<Args...> format, Args&&... args) {
  return make_error(ErrorCode::kUnsupported, format, std::forward<Args>(args)...);
}

Indices sizes_of(const Shape& shape) { return {shape.begin(), shape.end()}; }

class NodeWriter {
 public:
  NodeWriter(const Graph& graph, const Node& node) : graph_(graph), node_(node) {}

  Result<Definition> write() {
    REWRIGHT_CHECK(read());
    for (std::size_t k = 0; k < node_.inputs.size(); ++k) add("x", k, graph_.type(node_.inputs[k]), BufferRole::kInput);
    for (std::size_t k = 0; k < node_.outputs.size(); ++k) add("y", k, node_.outputs[k], BufferRole::kOutput);
    static const std::map<std::string, Status (NodeWriter::*)()> kMakers = {
        {"Abs", &NodeWriter::absolute},
        {"Add", &NodeWriter::binary},
        {"And", &NodeWriter::binary},
        {"ArgMax", &NodeWriter::place_of_extreme},
        {"ArgMin", &NodeWriter::place_of_extreme},
        {"Cast", &NodeWriter::cast_element},
        {"Concat", &NodeWriter::concat},
        {"Div", &NodeWriter::binary},
        {"Equal", &NodeWriter::binary},
        {"Expand", &NodeWriter::expand},
        {"Flatten", &NodeWriter::reshape},
        {"Gather", &NodeWriter::gather},
        {"GatherElements", &NodeWriter::gather_elements},
        {"GatherND", &NodeWriter::gather_nd},
        {"Greater", &NodeWriter::binary},
        {"GreaterOrEqual", &NodeWriter::binary},
        {"Identity", &NodeWriter::reshape},
        {"IsNaN", &NodeWriter::is_nan},
        {"Less", &NodeWriter::binary},
        {"LessOrEqual", &NodeWriter::binary},
        {"Max", &NodeWriter::binary},
        {"Min", &NodeWriter::binary},
        {"Mod", &NodeWriter::binary},
        {"Mul", &NodeWriter::binary},
        {"Neg", &NodeWriter::negative},
        {"Not", &NodeWriter::opposite},
        {"Or", &NodeWriter::binary},
        {"Reshape", &NodeWriter::reshape},
        {"Slice", &NodeWriter::slice},
        {"Split", &NodeWriter::split},
        {"Squeeze", &NodeWriter::reshape},
        {"Sub", &NodeWriter::binary},
        {"Tile", &NodeWriter::tile},
        {"Transpose", &NodeWriter::transpose},
        {"Trilu", &NodeWriter::triangle},
        {"Unsqueeze", &NodeWriter::reshape},
        {"Where", &NodeWriter::where},
        {"Xor", &NodeWriter::binary},
    };
    const auto maker = kMakers.find(onnx_.type);
    if (maker == kMakers.end() || !onnx_.domain.empty()) return unsupported("no operator reads it");
    REWRIGHT_CHECK((this->*maker->second)());
    return std::move(definition_);
  }

 private:
  Status read() {
    model::NodeProto proto;
    if (!proto.ParseFromString(node_.opaque()->serialized))
      return make_error(ErrorCode::kInternal, "a carried node cannot be read again");
    onnx_.name = proto.name();
    onnx_.type = proto.op_type();
    onnx_.domain = model::normal_domain(proto.domain());
    onnx_.output_count = static_cast<std::size_t>(proto.output_size());
    if (node_.opaque()->frame != nullptr) {
      model::ModelProto frame;
      if (frame.ParseFromString(*node_.opaque()->frame)) onnx_.opset = model::opset_of(frame);
    }
    for (const auto& attribute : proto.attribute()) {
      if (auto value = model::read_attribute(attribute)) onnx_.attributes.emplace(attribute.name(), *std::move(value));
    }
    std::size_t next = 0;
    for (const std::string& name : proto.input()) {
      onnx_.inputs.emplace_back();
      onnx_.constants.emplace_back();
      place_.push_back(next);
      if (name.empty()) continue;
      if (next >= node_.inputs.size()) return unsupported("an input that is no tensor");
      onnx_.inputs.back() = node_.inputs[next++];
      onnx_.constants.back() = graph_.node(onnx_.inputs.back()->node).constant();
    }
    if (next != node_.inputs.size()) return unsupported("a graph inside of it");
    if (onnx_.output_count != node_.outputs.size()) return unsupported("an output that is no tensor");
    return {};
  }
  void add(const char* stem, std::size_t number, const TensorType& type, BufferRole role) {
    definition_.buffers.push_back({fmt::format("{}{}", stem, number), sizes_of(type.shape), type.element, role});
  }

  // --- operands: by their number among the node's inputs ---

  [[nodiscard]] const TensorType& type(std::size_t input) const { return graph_.type(*onnx_.inputs[input]); }
  [[nodiscard]] const Shape& shape(std::size_t input) const { return type(input).shape; }
  [[nodiscard]] BufferId buffer(std::size_t input) const { return {static_cast<std::uint32_t>(place_[input])}; }
  [[nodiscard]] ValueExpr load(std::size_t input, Indices at) const {
    return ValueExpr::load(buffer(input), std::move(at));
  }
  /// Aligned at the last axes; an axis of size 1 is repeated.
  [[nodiscard]] ValueExpr broadcast(std::size_t input, const Indices& at) const {
    const Shape& own = shape(input);
    const std::size_t lacks = at.size() - static_cast<std::size_t>(own.rank());
    Indices place;
    for (int axis = 0; axis < own.rank(); ++axis)
      place.push_back(own[axis] == 1 ? IndexExpr(0) : at[lacks + static_cast<std::size_t>(axis)]);
    return load(input, std::move(place));
  }
  /// The integer at a place of operand `input` as a place among `size`, counted from the end if it is negative.
  [[nodiscard]] IndexExpr data(std::size_t input, Indices at, std::int64_t size) const {
    return modulo(IndexExpr::data(buffer(input), std::move(at), -size, size), size);
  }
  Status need(std::size_t count) const {
    for (std::size_t k = 0; k < count; ++k)
      if (!onnx_.has_input(k)) return unsupported("{} without input {}", onnx_.type, k);
    return {};
  }
  static Result<int> from_front(std::int64_t axis, int rank) {
    if (axis < -rank || axis >= rank) return shape_error("axis {} of a tensor of rank {}", axis, rank);
    return static_cast<int>(axis < 0 ? axis + rank : axis);
  }
  [[nodiscard]] Result<int> axis(int rank, std::int64_t otherwise) const {
    return from_front(onnx_.integer("axis", otherwise), rank);
  }
  /// A list that older opsets give as an attribute and newer ones as an input.
  [[nodiscard]] Result<std::vector<std::int64_t>> listed(const std::string& attribute, std::size_t input,
                                                         std::vector<std::int64_t> otherwise) const {
    if (onnx_.attributes.contains(attribute) || !onnx_.has_input(input))
      return onnx_.integers(attribute, std::move(otherwise));
    return onnx_.constant_integers(input);
  }

  // --- results ---

  /// y[first + i] = value(i), i over `extents`.
  template <class Value>
  void write(std::size_t output, const Shape& extents, const Indices& first, const Value& value) {
    const BufferId target{static_cast<std::uint32_t>(node_.inputs.size() + output)};
    Stage stage{fmt::format("{}_{}", definition_[target].name, definition_.stages.size()), target};
    Indices axes;
    for (int k = 0; k < extents.rank(); ++k) {
      stage.axes.push_back({{next_axis_++, fmt::format("i{}", k)}, IndexExpr(extents[k])});
      axes.emplace_back(stage.axes.back().axis);
      stage.at.push_back(first.empty() ? axes.back() : first[static_cast<std::size_t>(k)] + axes.back());
    }
    stage.value = value(axes);
    definition_.stages.push_back(std::move(stage));
  }
  template <class Value>
  Status whole(const Value& value) {
    write(0, node_.outputs[0].shape, {}, value);
    return {};
  }

  // --- elements ---

  Status binary() {
    REWRIGHT_CHECK(need(1));
    const std::string& name = onnx_.type;
    if (name == "Mod" && onnx_.integer("fmod", 0) != 0) return unsupported("Mod with the sign of the dividend");
    const std::size_t count = onnx_.inputs.size();
    REWRIGHT_CHECK(need(count));
    return whole([&](const Indices& at) {
      ValueExpr result = broadcast(0, at);
      for (std::size_t k = 1; k < count; ++k) result = combined(name, result, broadcast(k, at));
      return result;
    });
  }
  [[nodiscard]] static ValueExpr combined(const std::string& name, const ValueExpr& a, const ValueExpr& b) {
    if (name == "Greater") return less(b, a);
    if (name == "GreaterOrEqual") return less_equal(b, a);
    if (name == "Xor") return negation(equal(a, b));
    static const std::map<std::string, Kind> kKinds = {
        {"Add", Kind::kAdd},    {"Sub", Kind::kSubtract},          {"Mul", Kind::kMultiply}, {"Div", Kind::kDivide},
        {"Mod", Kind::kModulo}, {"Max", Kind::kMaximum},           {"Min", Kind::kMinimum},  {"Equal", Kind::kEqual},
        {"Less", Kind::kLess},  {"LessOrEqual", Kind::kLessEqual}, {"And", Kind::kAnd},      {"Or", Kind::kOr}};
    return ValueExpr::binary(kKinds.at(name), a, b);
  }
  template <class Value>
  Status unary(const Value& value) {
    REWRIGHT_CHECK(need(1));
    return whole([&](const Indices& at) { return value(load(0, at)); });
  }
  Status absolute() {
    const ValueExpr zero;
    return unary([&](const ValueExpr& x) { return select(less(x, zero), zero - x, x); });
  }
  Status negative() {
    return unary([](const ValueExpr& x) { return ValueExpr() - x; });
  }
  Status opposite() {
    return unary([](const ValueExpr& x) { return negation(x); });
  }
  Status is_nan() {
    return unary([](const ValueExpr& x) { return negation(equal(x, x)); });
  }
  Status cast_element() {
    const ElementType to = node_.outputs[0].element;
    return unary(
        [&](const ValueExpr& x) { return to == ElementType::kBool ? negation(equal(x, ValueExpr())) : cast(to, x); });
  }
  Status where() {
    REWRIGHT_CHECK(need(3));
    return whole([&](const Indices& at) { return select(broadcast(0, at), broadcast(1, at), broadcast(2, at)); });
  }
  Status triangle() {
    REWRIGHT_CHECK(need(1));
    std::int64_t diagonal = 0;
    if (onnx_.has_input(1)) {
      REWRIGHT_TRY(const auto given, onnx_.constant_integers(1));
      if (given.size() != 1) return unsupported("Trilu of {} diagonals", given.size());
      diagonal = given[0];
    }
    const bool is_upper = onnx_.integer("upper", 1) != 0;
    return whole([&](const Indices& at) {
      const ValueExpr row = ValueExpr::index(at[at.size() - 2] + diagonal), column = ValueExpr::index(at.back());
      const ValueExpr zero = definition_[buffer(0)].element == ElementType::kBool ? less(row, row) : ValueExpr();
      return select(is_upper ? less_equal(row, column) : less_equal(column, row), load(0, at), zero);
    });
  }

  // --- moves ---

  Status reshape() {
    REWRIGHT_CHECK(need(1));
    const Indices from = sizes_of(node_.outputs[0].shape), to = sizes_of(shape(0));
    return whole([&](const Indices& at) { return load(0, from == to ? at : reindexed(at, from, to)); });
  }
  Status transpose() {
    REWRIGHT_CHECK(need(1));
    std::vector<std::int64_t> perm(static_cast<std::size_t>(shape(0).rank()));
    std::iota(perm.rbegin(), perm.rend(), 0);
    perm = onnx_.integers("perm", std::move(perm));
    return whole([&](const Indices& at) {
      Indices place(at.size());
      for (std::size_t k = 0; k < at.size(); ++k) place[static_cast<std::size_t>(perm[k])] = at[k];
      return load(0, std::move(place));
    });
  }
  Status concat() {
    REWRIGHT_CHECK(need(onnx_.inputs.size()));
    REWRIGHT_TRY(const int along, axis(node_.outputs[0].shape.rank(), 0));
    std::int64_t first = 0;
    for (std::size_t k = 0; k < onnx_.inputs.size(); ++k) {
      Indices from(static_cast<std::size_t>(shape(k).rank()));
      from[static_cast<std::size_t>(along)] = first;
      write(0, shape(k), from, [&](const Indices& at) { return load(k, at); });
      first += shape(k)[along];
    }
    return {};
  }
  Status split() {
    REWRIGHT_CHECK(need(1));
    REWRIGHT_TRY(const int along, axis(shape(0).rank(), 0));
    std::int64_t first = 0;
    for (std::size_t k = 0; k < node_.outputs.size(); ++k) {
      write(k, node_.outputs[k].shape, {}, [&](Indices at) {
        at[static_cast<std::size_t>(along)] = at[static_cast<std::size_t>(along)] + first;
        return load(0, std::move(at));
      });
      first += node_.outputs[k].shape[along];
    }
    return {};
  }
  Status expand() {
    REWRIGHT_CHECK(need(1));
    return whole([&](const Indices& at) { return broadcast(0, at); });
  }
  Status tile() {
    REWRIGHT_CHECK(need(1));
    return whole([&](Indices at) {
      for (std::size_t k = 0; k < at.size(); ++k) at[k] = modulo(at[k], shape(0)[static_cast<int>(k)]);
      return load(0, std::move(at));
    });
  }
  Status slice() {
    REWRIGHT_CHECK(need(1));
    const Shape& x = shape(0);
    REWRIGHT_TRY(const auto starts, listed("starts", 1, {}));
    std::vector<std::int64_t> all(starts.size());
    std::iota(all.begin(), all.end(), 0);
    REWRIGHT_TRY(auto axes, listed("axes", 3, std::move(all)));
    for (std::int64_t& axis : axes) {
      REWRIGHT_TRY(axis, from_front(axis, x.rank()));
    }
    REWRIGHT_TRY(const auto steps, listed("steps", 4, std::vector<std::int64_t>(starts.size(), 1)));
    if (axes.size() != starts.size() || steps.size() != starts.size()) return unsupported("Slice of unequal lists");
    return whole([&](Indices at) {
      for (std::size_t k = 0; k < axes.size(); ++k) {
        const std::int64_t size = x[static_cast<int>(axes[k])], step = steps[k];
        const std::int64_t counted = starts[k] < 0 ? starts[k] + size : starts[k];
        const std::int64_t first = std::clamp<std::int64_t>(counted, 0, step < 0 ? size - 1 : size);
        auto& place = at[static_cast<std::size_t>(axes[k])];
        place = IndexExpr(first) + IndexExpr(step) * place;
      }
      return load(0, std::move(at));
    });
  }

  // --- by places that data says ---

  Status gather() {
    REWRIGHT_CHECK(need(2));
    REWRIGHT_TRY(const int along, axis(shape(0).rank(), 0));
    const auto count = static_cast<std::size_t>(shape(1).rank());
    return whole([&](const Indices& at) {
      const auto from = at.begin() + along, to = from + static_cast<std::ptrdiff_t>(count);
      Indices place(at.begin(), from);
      place.push_back(data(1, Indices(from, to), shape(0)[along]));
      place.insert(place.end(), to, at.end());
      return load(0, std::move(place));
    });
  }
  Status gather_elements() {
    REWRIGHT_CHECK(need(2));
    REWRIGHT_TRY(const int along, axis(shape(0).rank(), 0));
    return whole([&](const Indices& at) {
      Indices place = at;
      place[static_cast<std::size_t>(along)] = data(1, at, shape(0)[along]);
      return load(0, std::move(place));
    });
  }
  Status gather_nd() {
    REWRIGHT_CHECK(need(2));
    const std::int64_t batch = onnx_.integer("batch_dims", 0);
    const Shape &x = shape(0), &list = shape(1);
    if (list.rank() < 1) return unsupported("GatherND of a scalar");
    const int depth = static_cast<int>(list[list.rank() - 1]);
    return whole([&](const Indices& at) {
      const auto end = at.begin() + list.rank() - 1;
      Indices place(at.begin(), at.begin() + batch);
      for (int k = 0; k < depth; ++k) {
        Indices which(at.begin(), end);
        which.emplace_back(k);
        place.push_back(data(1, std::move(which), x[static_cast<int>(batch) + k]));
      }
      place.insert(place.end(), end, at.end());
      return load(0, std::move(place));
    });
  }
  /// The first place along the axis of the greatest or least element.
  Status place_of_extreme() {
    REWRIGHT_CHECK(need(1));
    if (onnx_.integer("select_last_index", 0) != 0) return unsupported("{} of the last of equals", onnx_.type);
    const Shape& x = shape(0);
    REWRIGHT_TRY(const int along, axis(x.rank(), 0));
    const bool keeps = onnx_.integer("keepdims", 1) != 0;
    const auto kind = onnx_.type == "ArgMax" ? ValueExpr::Reduction::kMaximum : ValueExpr::Reduction::kMinimum;
    return whole([&](Indices at) {
      const auto where = at.begin() + along;
      if (!keeps) at.insert(where, IndexExpr(0));
      const auto element = [&](const AxisRange& range) {
        Indices place = at;
        place[static_cast<std::size_t>(along)] = IndexExpr(range.axis);
        return load(0, std::move(place));
      };
      const AxisRange k{{next_axis_++, "k"}, IndexExpr(x[along])}, j{{next_axis_++, "j"}, IndexExpr(x[along])};
      const ValueExpr extreme = ValueExpr::reduce(kind, {k}, {}, element(k));
      const ValueExpr place = cast(node_.outputs[0].element, ValueExpr::index(IndexExpr(j.axis)));
      const ValueExpr end = cast(node_.outputs[0].element, ValueExpr::index(IndexExpr(x[along])));
      return ValueExpr::reduce(ValueExpr::Reduction::kMinimum, {j}, {}, select(equal(element(j), extreme), place, end));
    });
  }

  const Graph& graph_;
  const Node& node_;
  OnnxNode onnx_;
  std::vector<std::size_t> place_;  ///< By the node's inputs: which operand.
  Definition definition_;
  std::uint32_t next_axis_ = 0;
};

}  // namespace

Result<Definition> node_definition(const Graph& graph, const Node& node) { return NodeWriter(graph, node).write(); }

}  // namespace rewright::compile
