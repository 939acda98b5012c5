/// Average pooling: y[n,c,i,j] = (sum of x[n, c, i*stride_h - top + s, j*stride_w - left + t] over the taps (s, t) of
/// the kernel that lie inside x) / d, where d is the number of taps of the kernel (count_include_pad=yes, so padding
/// counts as zeros) or of those taps alone (no).
///
/// Shapes  x [N,C,H,W] -> [N,C,H',W']; H' and W' as in <rewright/kit/window.h>.
/// Errors  kShape unless the rank is 4, the kernel fits the padded input and explicit pads are smaller than the kernel.
/// Source  ONNX operator AveragePool (whose default is `no`).
/// Laws    axioms/convolution.smt2: linear; with `yes` it is the convolution with constant_pool.
#include <rewright/kit/pooling.h>
#include <rewright/kit/pooling_kernels.h>
#include <rewright/plugin/plugin.h>

namespace {
using namespace rewright;

struct AveragePool2d final : PoolOf<AveragePool2d> {
  static constexpr const char* kName = "pool2d_avg";
  static OperatorInfo describe() {
    return {.name = kName,
            .summary = "Average pooling over height and width",
            .params = Pooling::specs({Pooling::counting()}),
            .multilinear = true,
            .onnx = {"AveragePool"}};
  }
  template <class A, class Taps, class Pixel>
  static auto value(A& a, const Pooling& pooling, const Taps& taps, const Pixel& x) {
    const auto sum = a.sum("s t", taps, x);
    return pooling.counts_padding ? a.quotient(sum, pooling.kernel[0] * pooling.kernel[1])
                                  : a.quotient(sum, a.count(taps));
  }
  static void kernel(const Params& params, Inputs<Field> in, Outputs<Field> out) {
    pool_mean(pooling(params), in, out);
  }
  static void kernel(const Params& params, Inputs<Real> in, Outputs<Real> out) { pool_mean(pooling(params), in, out); }
};
}  // namespace

REWRIGHT_PLUGIN("operator.pool2d_avg", "1.0.0", "Average pooling") { registry.add(make_operator<AveragePool2d>()); }
