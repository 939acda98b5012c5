// Zoph et al., Learning transferable architectures, CVPR'18: NASNet-A (4 @ 1056) on one image of 224 x 224, in the form
// that exporters write for inference: batch normalisation is folded into the convolutions' weights and biases.
#include "recipes.h"

namespace models {
namespace {

/// A tensor and its number of channels.
struct Features {
  std::string name;
  std::int64_t channels = 0;
};

class Cells {
 public:
  explicit Cells(ModelBuilder& m) : m_(m) {}

  /// Two cells back, one back; filters of the new cell. Figure 4, left.
  Features normal(const Features& before, const Features& last, std::int64_t filters, bool halved) {
    const std::string p = fitted(before, filters, halved), h = pointwise(last, filters);
    const std::string a = m_.add(separable(h, filters, 5, 1), separable(p, filters, 3, 1));
    const std::string b = m_.add(separable(p, filters, 5, 1), separable(p, filters, 3, 1));
    const std::string c = m_.add(average(h, 1), p);
    const std::string d = m_.add(average(p, 1), average(p, 1));
    const std::string e = m_.add(separable(h, filters, 3, 1), h);
    return {m_.concat({p, a, b, c, d, e}, 1), 6 * filters};
  }

  /// Figure 4, right: half the height and width.
  Features reduction(const Features& before, const Features& last, std::int64_t filters, bool halved) {
    const std::string p = fitted(before, filters, halved), h = pointwise(last, filters);
    const std::string a = m_.add(separable(h, filters, 5, 2), separable(p, filters, 7, 2));
    const std::string b = m_.add(m_.max_pool(h, 3, 2, 1), separable(p, filters, 7, 2));
    const std::string c = m_.add(average(h, 2), separable(p, filters, 5, 2));
    const std::string d = m_.add(average(a, 1), b);
    const std::string e = m_.add(separable(a, filters, 3, 1), m_.max_pool(h, 3, 2, 1));
    return {m_.concat({b, c, d, e}, 1), 4 * filters};
  }

  std::string convolved(const std::string& x, std::int64_t in, std::int64_t out, std::int64_t stride) {
    return m_.conv_with_bias(x, in, out, {{3, 3}, {stride, stride}, {1, 1}});
  }

 private:
  std::string average(const std::string& x, std::int64_t stride) { return m_.average_pool(x, 3, stride, 1, false); }

  std::string pointwise(const Features& x, std::int64_t filters) {
    return m_.conv_with_bias(m_.relu(x.name), x.channels, filters, {});
  }

  /// Twice: relu, each channel by itself, all channels of a position.
  std::string separable(const std::string& x, std::int64_t filters, std::int64_t kernel, std::int64_t stride) {
    std::string y = x;
    for (const std::int64_t step : {stride, std::int64_t{1}}) {
      const std::int64_t pad = kernel / 2;
      y = m_.conv(m_.relu(y), filters, filters, {{kernel, kernel}, {step, step}, {pad, pad}, filters});
      y = m_.conv_with_bias(y, filters, filters, {});
    }
    return y;
  }

  /// What came before, with as many positions and channels as what came last.
  std::string fitted(const Features& x, std::int64_t filters, bool halved) {
    if (!halved) return x.channels == filters ? x.name : pointwise(x, filters);
    const std::string y = m_.relu(x.name);
    const std::string even = m_.conv_with_bias(m_.average_pool(y, 1, 2, 0, true), x.channels, filters / 2, {});
    // The other positions: one row and column of zeros behind, one row and column cut off before.
    const std::string padded = m_.node("Pad", {y, m_.integers({0, 0, 0, 0, 0, 0, 1, 1}), m_.scalar(0)});
    const std::string shifted =
        m_.node("Slice", {padded, m_.integers({1, 1}), m_.integers({1 << 30, 1 << 30}), m_.integers({2, 3})});
    const std::string odd =
        m_.conv_with_bias(m_.average_pool(shifted, 1, 2, 0, true), x.channels, filters - filters / 2, {});
    return m_.concat({even, odd}, 1);
  }

  ModelBuilder& m_;
};

}  // namespace

std::string nasnet_a(ModelBuilder& m) {
  constexpr std::int64_t kFilters = 44, kRepeats = 4;
  Cells cells(m);
  Features before{cells.convolved(m.input("image", {1, 3, 224, 224}), 3, 32, 2), 32};
  Features last = before;
  bool halved = false;  // `before` has twice the height and width of `last`.
  const auto append = [&](Features next, bool halves) {
    before = last;
    last = std::move(next);
    halved = halves;
  };
  append(cells.reduction(before, last, kFilters / 4, halved), true);
  append(cells.reduction(before, last, kFilters / 2, halved), true);
  for (std::int64_t filters = kFilters; filters <= 4 * kFilters; filters *= 2) {
    if (filters > kFilters) append(cells.reduction(before, last, filters, halved), true);
    for (std::int64_t i = 0; i < kRepeats; ++i) append(cells.normal(before, last, filters, halved), false);
  }
  const std::string y = m.pooled(m.relu(last.name));
  return m.finish({m.add(m.linear(y, last.channels, 1000), m.vector({1000}, -0.1, 0.1))});
}

}  // namespace models
