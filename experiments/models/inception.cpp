// Szegedy et al., Rethinking the inception architecture, CVPR'16: Inception-v3 on one image of 299 x 299, without the
// auxiliary classifier. Widths as in the implementations of today.
#include "recipes.h"

namespace models {
namespace {

/// Convolution, batch normalisation, relu; a kernel of rows x columns, its size kept at stride 1.
std::string unit(ModelBuilder& m, const std::string& x, std::int64_t in, std::int64_t out, const Sizes& kernel) {
  return m.relu(m.batch_norm(m.conv(x, in, out, {kernel, {1, 1}, {kernel[0] / 2, kernel[1] / 2}}), out, 1e-3f));
}

/// The same without padding.
std::string narrowing(ModelBuilder& m, const std::string& x, std::int64_t in, std::int64_t out, std::int64_t kernel,
                      std::int64_t stride) {
  return m.relu(m.batch_norm(m.conv(x, in, out, {{kernel, kernel}, {stride, stride}}), out, 1e-3f));
}

std::string pooled_unit(ModelBuilder& m, const std::string& x, std::int64_t in, std::int64_t out) {
  return unit(m, m.average_pool(x, 3, 1, 1, true), in, out, {1, 1});
}

/// Figure 5: 35 x 35 positions.
std::string block_a(ModelBuilder& m, const std::string& x, std::int64_t in, std::int64_t pool_out) {
  const std::string one = unit(m, x, in, 64, {1, 1});
  const std::string five = unit(m, unit(m, x, in, 48, {1, 1}), 48, 64, {5, 5});
  std::string three = unit(m, unit(m, x, in, 64, {1, 1}), 64, 96, {3, 3});
  three = unit(m, three, 96, 96, {3, 3});
  return m.concat({one, five, three, pooled_unit(m, x, in, pool_out)}, 1);
}

std::string reduction_a(ModelBuilder& m, const std::string& x, std::int64_t in) {
  const std::string three = narrowing(m, x, in, 384, 3, 2);
  std::string twice = unit(m, unit(m, x, in, 64, {1, 1}), 64, 96, {3, 3});
  twice = narrowing(m, twice, 96, 96, 3, 2);
  return m.concat({three, twice, m.max_pool(x, 3, 2)}, 1);
}

/// Figure 6: 17 x 17 positions, kernels of 7 taken apart into 1 x 7 and 7 x 1.
std::string block_b(ModelBuilder& m, const std::string& x, std::int64_t in, std::int64_t width) {
  const std::string one = unit(m, x, in, 192, {1, 1});
  std::string seven = unit(m, unit(m, x, in, width, {1, 1}), width, width, {1, 7});
  seven = unit(m, seven, width, 192, {7, 1});
  std::string twice = unit(m, unit(m, x, in, width, {1, 1}), width, width, {7, 1});
  twice = unit(m, unit(m, twice, width, width, {1, 7}), width, width, {7, 1});
  twice = unit(m, twice, width, 192, {1, 7});
  return m.concat({one, seven, twice, pooled_unit(m, x, in, 192)}, 1);
}

std::string reduction_b(ModelBuilder& m, const std::string& x, std::int64_t in) {
  const std::string three = narrowing(m, unit(m, x, in, 192, {1, 1}), 192, 320, 3, 2);
  std::string seven = unit(m, unit(m, x, in, 192, {1, 1}), 192, 192, {1, 7});
  seven = narrowing(m, unit(m, seven, 192, 192, {7, 1}), 192, 192, 3, 2);
  return m.concat({three, seven, m.max_pool(x, 3, 2)}, 1);
}

/// Figure 7: 8 x 8 positions, two kernels side by side on one tensor.
std::string block_c(ModelBuilder& m, const std::string& x, std::int64_t in) {
  const std::string one = unit(m, x, in, 320, {1, 1});
  std::string wide = unit(m, x, in, 384, {1, 1});
  wide = m.concat({unit(m, wide, 384, 384, {1, 3}), unit(m, wide, 384, 384, {3, 1})}, 1);
  std::string twice = unit(m, unit(m, x, in, 448, {1, 1}), 448, 384, {3, 3});
  twice = m.concat({unit(m, twice, 384, 384, {1, 3}), unit(m, twice, 384, 384, {3, 1})}, 1);
  return m.concat({one, wide, twice, pooled_unit(m, x, in, 192)}, 1);
}

}  // namespace

std::string inception_v3(ModelBuilder& m) {
  std::string x = narrowing(m, m.input("image", {1, 3, 299, 299}), 3, 32, 3, 2);
  x = unit(m, narrowing(m, x, 32, 32, 3, 1), 32, 64, {3, 3});
  x = narrowing(m, unit(m, m.max_pool(x, 3, 2), 64, 80, {1, 1}), 80, 192, 3, 1);
  x = block_a(m, m.max_pool(x, 3, 2), 192, 32);
  x = reduction_a(m, block_a(m, block_a(m, x, 256, 64), 288, 64), 288);
  for (const std::int64_t width : {128, 160, 160, 192}) x = block_b(m, x, 768, width);
  x = block_c(m, block_c(m, reduction_b(m, x, 768), 1280), 2048);
  return m.finish({m.add(m.linear(m.pooled(x), 2048, 1000), m.vector({1000}, -0.1, 0.1))});
}

}  // namespace models
