/// A tensor of ones.
///
/// Shapes  -> sizes, of any rank up to 8.
/// Errors  kShape for more sizes.
/// Source  Jia et al., TASO (SOSP'19), table 2 (C_ewmul).
/// Laws    axioms/elementwise.smt2: neutral for ewmul.
#include <rewright/kit/families.h>
#include <rewright/plugin/plugin.h>

namespace {
using namespace rewright;

struct ConstantOne final : ConstantOf<ConstantOne> {
  static OperatorInfo describe() { return constant_info("constant_one", "Ones"); }
  template <class Dim>
  static Status check(const std::vector<Dim>& sizes, Constraints<Dim>& where) {
    if (sizes.size() > kMaxRank)
      return shape_error("constant_one: {} sizes, expected {} at most", sizes.size(), kMaxRank);
    for (const Dim& size : sizes) where.at_least(size, Dim(0), "size");
    return {};
  }
  template <class A>
  static void define(A& a, const Params&) {
    a.out(0).is("i", [&](auto) { return a.number(1); });
  }

  /// One number in place of all elements.
  Result<std::vector<std::string>> to_onnx(const Params& params, std::span<const std::string>, std::span<const Shape>,
                                           OnnxWriter& writer) const override {
    return std::vector{writer.constant({{Shape(params.sizes(0))}, 1.0})};
  }
};
}  // namespace

REWRIGHT_PLUGIN("operator.constant_one", "1.0.0", "Ones") { registry.add(make_operator<ConstantOne>()); }
