/// Reshape: y holds the elements of x, in row-major order, in a tensor of shape `sizes`.
///
/// Shapes  x (any) -> y `sizes`; a size is a number or, in a pattern, an expression, never "what is left".
/// Errors  kShape unless both shapes have the same number of elements.
/// Source  ONNX operator Reshape. Flatten, Squeeze and Unsqueeze are reshapes too; Identity, Dropout at inference and
///         Cast to the type that x has are dissolved.
/// Laws    axioms/reshape.smt2.
#include <rewright/kit/families.h>
#include <rewright/plugin/plugin.h>

namespace {
using namespace rewright;

class Reshape final : public OperatorOf<Reshape> {
 public:
  static OperatorInfo describe() {
    return {.name = "reshape",
            .summary = "The same elements in another shape",
            .params = {required_param("sizes", ParamKind::kSizes)},
            .multilinear = true,
            .onnx = {"Reshape", "Flatten", "Squeeze", "Unsqueeze", "Identity", "Dropout", "Cast"}};
  }

  template <class Dim>
  static Result<Shapes<Dim>> shape(const BasicParams<Dim>& params, ShapeInputs<Dim> in, Constraints<Dim>& where) {
    BasicShape<Dim> out(params.sizes(0));
    if (!countable(out.dims())) return shape_error("reshape: the sizes multiply to more than 2^62 or one is negative");
    where.equal(product(in[0].dims()), product(out.dims()), "numbers of elements before and after");
    return Shapes<Dim>{std::move(out)};
  }
  template <class A>
  static void define(A& a, const Params&) {
    const auto x = a.in(0);
    a.out(0).is("i", [&](auto i) { return x.in_order(i); });
  }
  template <class Scalar>
  static void kernel(const Params&, Inputs<Scalar> in, Outputs<Scalar> out) {
    std::copy_n(in[0].data(), out[0].elements(), out[0].data());
  }

  Result<std::vector<Port>> from_onnx(const OnnxNode& node, GraphBuilder& graph) const override {
    REWRIGHT_TRY(const auto in, node.operands(1));
    REWRIGHT_TRY(const Shape shape, target(node, graph.type(in[0])));
    return single(reshaped(graph, in[0], shape));
  }
  Result<std::vector<std::string>> to_onnx(const Params& params, std::span<const std::string> in,
                                           std::span<const Shape>, OnnxWriter& writer) const override {
    std::map<std::string, OnnxAttribute> attributes;
    if (contains(params.sizes(0), 0)) attributes["allowzero"] = std::int64_t{1};
    return writer.emit("Reshape", {in[0], writer.integers(params.sizes(0))}, std::move(attributes));
  }

 private:
  /// Whether the known sizes can be multiplied.
  template <class Dim>
  static bool countable(std::span<const Dim> dims) {
    std::int64_t elements = 1;
    return std::ranges::all_of(dims, [&](const Dim& dim) {
      const std::int64_t size = known(dim).value_or(1);
      return size >= 0 && !__builtin_mul_overflow(elements, std::max<std::int64_t>(size, 1), &elements) &&
             elements <= std::int64_t{1} << 62;
    });
  }
  template <class Dim>
  static Dim product(std::span<const Dim> dims) {
    Dim product(1);
    for (const Dim& dim : dims) product = product * dim;
    return product;
  }

  /// The shape that the node gives to a tensor of type `x`.
  static Result<Shape> target(const OnnxNode& node, const TensorType& x) {
    if (node.type == "Flatten") return flattened(x.shape, node.integer("axis", 1));
    if (node.type == "Squeeze") return squeezed(node, x.shape);
    if (node.type == "Unsqueeze") return unsqueezed(node, x.shape);
    if (node.type == "Reshape") return given(node, x.shape);
    if (node.type == "Cast" && node.integer("to", 0) != static_cast<std::int64_t>(x.element))
      return unsupported("Cast from one type to another");
    if (node.type == "Dropout" && node.output_count > 1) return unsupported("Dropout whose mask is used");
    const bool trains = node.opset < 7 ? node.integer("is_test", 0) == 0 : known_number(node, 2).value_or(1) != 0;
    if (node.type == "Dropout" && trains && (node.opset < 7 || node.has_input(2)))
      return unsupported("Dropout in training mode");
    return x.shape;
  }
  static Result<Shape> flattened(const Shape& x, std::int64_t axis) {
    if (axis < -x.rank() || axis > x.rank()) return shape_error("Flatten at axis {} of {}", axis, x);
    Shape parts{1, 1};
    for (int i = 0; i < x.rank(); ++i) parts[i < (axis < 0 ? axis + x.rank() : axis) ? 0 : 1] *= x[i];
    return parts;
  }
  static Result<Shape> squeezed(const OnnxNode& node, const Shape& x) {
    std::vector<std::int64_t> ones;
    for (int i = 0; i < x.rank(); ++i) {
      if (x[i] == 1) ones.push_back(i);
    }
    REWRIGHT_TRY(auto axes, listed(node, "axes", 1, std::move(ones)));
    REWRIGHT_TRY(axes, axes_from_front(std::move(axes), x.rank()));
    Shape shape;
    for (int i = 0; i < x.rank(); ++i) {
      const bool dropped = contains(axes, i);
      if (dropped && x[i] != 1) return shape_error("Squeeze of axis {} of {}", i, x);
      if (!dropped) shape.append(x[i]);
    }
    return shape;
  }
  static Result<Shape> unsqueezed(const OnnxNode& node, const Shape& x) {
    REWRIGHT_TRY(auto axes, listed(node, "axes", 1, {}));
    const int rank = x.rank() + static_cast<int>(axes.size());
    REWRIGHT_TRY(axes, axes_from_front(std::move(axes), rank));
    Shape shape;
    for (int i = 0, next = 0; i < rank; ++i) shape.append(contains(axes, i) || next == x.rank() ? 1 : x[next++]);
    return shape;
  }
  /// 0 copies a size, -1 takes what is left.
  static Result<Shape> given(const OnnxNode& node, const Shape& x) {
    REWRIGHT_TRY(auto sizes, listed(node, "shape", 1, {}));
    const bool keeps_zeros = node.integer("allowzero", 0) != 0;
    std::int64_t taken = 1;
    for (std::size_t i = 0; i < sizes.size(); ++i) {
      std::int64_t& size = sizes[i];
      if (size == 0 && !keeps_zeros && static_cast<int>(i) >= x.rank())
        return shape_error("Reshape of {} copies axis {}", x, i);
      if (size == 0 && !keeps_zeros) size = x[static_cast<int>(i)];
      if (size < -1) return shape_error("Reshape of {} to a size of {}", x, size);
      if (size != -1 && __builtin_mul_overflow(taken, size, &taken))
        return shape_error("Reshape of {} to more elements than can be counted", x);
    }
    for (std::int64_t& size : sizes) {
      if (size == -1 && taken == 0) return shape_error("Reshape of {} leaves a size open beside a 0", x);
      if (size == -1) size = x.elements() / taken;
    }
    return Shape(std::move(sizes));
  }
};
}  // namespace

REWRIGHT_PLUGIN("operator.reshape", "1.0.0", "The same elements in another shape") {
  registry.add(make_operator<Reshape>());
}
