/// Max pooling: y[n,c,i,j] = the greatest of x[n, c, i*stride_h - top + s, j*stride_w - left + t] over the taps (s, t)
/// of the kernel that lie inside x. Padding is never the greatest, as if it were minus infinity.
///
/// Shapes  x [N,C,H,W] -> [N,C,H',W']; H' and W' as in <rewright/kit/window.h>.
/// Errors  kShape unless the rank is 4, the kernel fits the padded input and explicit pads are smaller than the kernel.
/// Source  ONNX operator MaxPool.
/// Laws    axioms/convolution.smt2: goes through concat on channels and through relu.
#include <rewright/kit/pooling.h>
#include <rewright/kit/pooling_kernels.h>
#include <rewright/plugin/plugin.h>

namespace {
using namespace rewright;

struct MaxPool2d final : PoolOf<MaxPool2d> {
  static constexpr const char* kName = "pool2d_max";
  static OperatorInfo describe() {
    return {.name = kName,
            .summary = "Max pooling over height and width",
            .params = Pooling::specs(),
            .uses_order = true,
            .onnx = {"MaxPool"}};
  }
  template <class A, class Taps, class Pixel>
  static auto value(A& a, const Pooling&, const Taps& taps, const Pixel& x) {
    return a.greatest("s t", taps, x);
  }
  static void kernel(const Params& params, Inputs<Field> in, Outputs<Field> out) {
    const std::int64_t rows = in[0].size(2), columns = std::max(in[0].size(3), out[0].size(3));
    if (rows * columns > kMostPooled) return evaluate_definition<MaxPool2d>(params, in, out);
    pool_max(pooling(params), in, out);
  }
};
}  // namespace

REWRIGHT_PLUGIN("operator.pool2d_max", "1.0.0", "Max pooling") { registry.add(make_operator<MaxPool2d>()); }
