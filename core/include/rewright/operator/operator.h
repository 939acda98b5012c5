// Operators: tensor functions whose meaning is written once. A plugin derives from OperatorOf<Self> and declares
//     static OperatorInfo describe();  // Name, arity, parameters, traits.
//     template <class Dim>  // Output shapes; over numbers and over symbolic sizes alike.
//     static Result<Shapes<Dim>> shape(const BasicParams<Dim>&, ShapeInputs<Dim>, Constraints<Dim>& where);
//     template <class A>  // The meaning at an index, once: definition.h has the vocabulary.
//     static void define(A& a, const Params&);
//     static void kernel(const Params&, Inputs<Field>, Outputs<Field>);  // If the definition is slow over one algebra;
//                                                                        // held against it.
// and overrides from_onnx / to_onnx where ONNX has a counterpart.
#pragma once

#include <rewright/base/abi.h>
#include <rewright/base/result.h>
#include <rewright/base/visibility.h>
#include <rewright/operator/definition.h>
#include <rewright/operator/params.h>
#include <rewright/tensor/dim.h>
#include <rewright/tensor/scalar.h>
#include <rewright/tensor/tensor.h>

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace rewright {

class GraphBuilder;
class OnnxWriter;
struct OnnxNode;
struct Port;

struct OperatorInfo {
  std::string name;     ///< snake_case, unique among the loaded operators.
  std::string summary;  ///< One line, for lists.
  int min_arity = 1;
  int max_arity = 1;  ///< -1: any number.
  std::vector<ParamSpec> params = {};
  bool commutative = false;  ///< The first two operands may be exchanged.
  /// Linear in each operand by itself, the others held fixed. Lets engines fingerprint by dot products.
  bool multilinear = false;
  bool uses_order = false;             ///< max, relu: over Field true to the reals only while values stay small.
  bool uses_functions = false;         ///< exp, tanh, ...: no law beyond congruence is seen over Field.
  std::vector<std::string> onnx = {};  ///< ONNX operator types that from_onnx() may understand.
};

/// What an application costs, for a roofline. Bytes are of float32 tensors moved once.
struct Work {
  double flops = 0;
  double bytes = 0;
};

/// What engines may rely on in one application: as OperatorInfo says, or less where the parameters allow (conv2d
/// without activation is multilinear and uses no order).
struct Traits {
  bool multilinear = false;
  bool uses_order = false;
  bool uses_functions = false;
};

class Operator;
template <>
inline constexpr std::uint32_t kAbiVersion<Operator> = 5;

class REWRIGHT_API Operator {
 public:
  virtual ~Operator();

  [[nodiscard]] virtual const OperatorInfo& info() const = 0;
  [[nodiscard]] const std::string& name() const { return info().name; }

  [[nodiscard]] virtual Traits traits(const Params&) const {
    return {info().multilinear, info().uses_order, info().uses_functions};
  }

  /// Output shapes, one per output. Errors: kShape, with the operator, the sizes and what is required. Checks the
  /// arity, that no size is negative and that no output passes 2^40 elements.
  [[nodiscard]] Result<std::vector<Shape>> infer(const Params& params, std::span<const Shape> in) const;
  [[nodiscard]] Result<std::vector<CutShape>> infer(const Params& params, std::span<const CutShape> in) const;
  /// The same over symbolic sizes; what must hold for the application to be defined is added to `where`.
  [[nodiscard]] Result<std::vector<SymbolicShape>> infer(const SymbolicParams& params,
                                                         std::span<const SymbolicShape> in,
                                                         Constraints<SymbolicDim>& where) const;

  /// Computes every output. Shapes must be those that infer() gives.
  virtual void evaluate(const Params& params, Inputs<Field> in, Outputs<Field> out) const = 0;
  virtual void evaluate(const Params& params, Inputs<Exact> in, Outputs<Exact> out) const = 0;
  virtual void evaluate(const Params& params, Inputs<Real> in, Outputs<Real> out) const = 0;
  virtual void evaluate(const Params& params, Inputs<Term> in, Outputs<Term> out) const = 0;

  /// What evaluate() computes, as data. Errors: kShape, as infer().
  [[nodiscard]] Result<Definition> definition(const Params& params, std::span<const Shape> in) const;
  /// At sizes that may be symbols; where they are no requirement is kept.
  [[nodiscard]] Result<Definition> definition(const SymbolicParams& params, std::span<const SymbolicShape> in) const;

  /// Of the definition. The shapes must fit.
  [[nodiscard]] Work work(const Params& params, std::span<const Shape> in) const;

  /// Builds `node` out of operators, in `graph`; gives one port per ONNX output that is used. kUnsupported, with the
  /// reason, leaves the node as it is in the model.
  [[nodiscard]] virtual Result<std::vector<Port>> from_onnx(const OnnxNode& node, GraphBuilder& graph) const;
  /// Writes one application: `in` are names of tensors, the result one name per output.
  [[nodiscard]] virtual Result<std::vector<std::string>> to_onnx(const Params& params, std::span<const std::string> in,
                                                                 std::span<const Shape> in_shapes,
                                                                 OnnxWriter& writer) const;

  /// Called by OperatorOf; shape rules without the common checks.
  [[nodiscard]] virtual Result<std::vector<BasicShape<std::int64_t>>> shape_of(
      const Params& params, std::span<const BasicShape<std::int64_t>> in, Constraints<std::int64_t>& where) const = 0;
  [[nodiscard]] virtual Result<std::vector<CutShape>> shape_of(const BasicParams<CutDim>& params,
                                                               std::span<const CutShape> in,
                                                               Constraints<CutDim>& where) const = 0;
  [[nodiscard]] virtual Result<std::vector<SymbolicShape>> shape_of(const SymbolicParams& params,
                                                                    std::span<const SymbolicShape> in,
                                                                    Constraints<SymbolicDim>& where) const = 0;
  /// Called by definition(). `numbers`: `params` with a 0 for every size that is a symbol.
  [[nodiscard]] virtual Definition write_down(const Params& numbers, const SymbolicParams& params,
                                              std::span<const SymbolicShape> in,
                                              std::span<const SymbolicShape> out) const = 0;
};

template <class Self>
class OperatorOf : public Operator {
 public:
  [[nodiscard]] const OperatorInfo& info() const final {
    static const OperatorInfo kInfo = Self::describe();
    return kInfo;
  }
  void evaluate(const Params& params, Inputs<Field> in, Outputs<Field> out) const final { run(params, in, out); }
  void evaluate(const Params& params, Inputs<Exact> in, Outputs<Exact> out) const final { run(params, in, out); }
  void evaluate(const Params& params, Inputs<Real> in, Outputs<Real> out) const final { run(params, in, out); }
  void evaluate(const Params& params, Inputs<Term> in, Outputs<Term> out) const final { run(params, in, out); }
  [[nodiscard]] Result<std::vector<BasicShape<std::int64_t>>> shape_of(const Params& params,
                                                                       std::span<const BasicShape<std::int64_t>> in,
                                                                       Constraints<std::int64_t>& where) const final {
    return Self::template shape<std::int64_t>(params, in, where);
  }
  [[nodiscard]] Result<std::vector<CutShape>> shape_of(const BasicParams<CutDim>& params, std::span<const CutShape> in,
                                                       Constraints<CutDim>& where) const final {
    return Self::template shape<CutDim>(params, in, where);
  }
  [[nodiscard]] Result<std::vector<SymbolicShape>> shape_of(const SymbolicParams& params,
                                                            std::span<const SymbolicShape> in,
                                                            Constraints<SymbolicDim>& where) const final {
    return Self::template shape<SymbolicDim>(params, in, where);
  }
  [[nodiscard]] Definition write_down(const Params& numbers, const SymbolicParams& params,
                                      std::span<const SymbolicShape> in,
                                      std::span<const SymbolicShape> out) const final {
    Staged algebra(params, in, out);
    Self::define(algebra, numbers);
    return algebra.take();
  }

 private:
  template <class Scalar>
  static void run(const Params& params, Inputs<Scalar> in, Outputs<Scalar> out) {
    static_assert(
        requires(Eager<Scalar> & a) { Self::define(a, params); },
        "an operator says what it computes in `template <class A> static void define(A& a, const Params& params)`, "
        "in place of apply<Scalar>: y[i] = x[i] * x[i] is a.out(0).is(\"i\", [&](auto i) { return x(i) * x(i); }) with "
        "const auto x = a.in(0); <rewright/operator/definition.h> has all words");
    if constexpr (requires { Self::kernel(params, in, out); }) {
      Self::kernel(params, in, out);
    } else {
      evaluate_definition<Self, Scalar>(params, in, out);
    }
  }
};

/// The names that shape rules use.
template <class Dim>
using Shapes = std::vector<BasicShape<Dim>>;
template <class Dim>
using ShapeInputs = std::span<const BasicShape<Dim>>;

/// For Registry::add().
template <class Op>
[[nodiscard]] std::unique_ptr<Operator> make_operator() {
  return std::make_unique<Op>();
}

}  // namespace rewright
