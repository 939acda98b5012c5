// Plain convolutional networks, on one image of 224 x 224.
#include "recipes.h"

namespace models {
namespace {

std::string fire(ModelBuilder& m, const std::string& x, std::int64_t in, std::int64_t squeeze, std::int64_t expand) {
  const std::string s = m.relu(m.bias(m.conv(x, in, squeeze, 1), squeeze));
  const std::string one = m.relu(m.bias(m.conv(s, squeeze, expand, 1), expand));
  const std::string three = m.relu(m.bias(m.conv(s, squeeze, expand, 3, 1, 1), expand));
  const std::string y = m.node("Concat", {one, three});
  m.set("axis", std::int64_t{1});
  return y;
}

std::string classifier(ModelBuilder& m, const std::string& x, std::int64_t channels) {
  return m.add(m.linear(m.pooled(x), channels, 1000), m.vector({1000}, -0.1, 0.1));
}

std::string basic_block(ModelBuilder& m, const std::string& x, std::int64_t in, std::int64_t width,
                        std::int64_t stride) {
  const std::string y = m.conv_bn(m.relu(m.conv_bn(x, in, width, 3, stride)), width, width, 3);
  return m.relu(m.add(y, in == width ? x : m.conv_bn(x, in, width, 1, stride)));
}

/// The stride is on the 3x3 convolution, as in most implementations of today.
std::string wide_bottleneck(ModelBuilder& m, const std::string& x, std::int64_t in, std::int64_t inner,
                            std::int64_t out, std::int64_t stride, std::int64_t groups) {
  std::string y = m.relu(m.conv_bn(x, in, inner, 1));
  y = m.relu(m.conv_bn(y, inner, inner, 3, stride, groups));
  y = m.conv_bn(y, inner, out, 1);
  return m.relu(m.add(y, in == out ? x : m.conv_bn(x, in, out, 1, stride)));
}

std::string bottleneck(ModelBuilder& m, const std::string& x, std::int64_t in, std::int64_t width,
                       std::int64_t stride) {
  return wide_bottleneck(m, x, in, width, 4 * width, stride, 1);
}

/// 32 groups of 4 channels at the first width, 64.
std::string grouped_bottleneck(ModelBuilder& m, const std::string& x, std::int64_t in, std::int64_t width,
                               std::int64_t stride) {
  return wide_bottleneck(m, x, in, 2 * width, 4 * width, stride, 32);
}

using Block = std::string (*)(ModelBuilder&, const std::string&, std::int64_t, std::int64_t, std::int64_t);

std::string resnet(ModelBuilder& m, Block block, std::int64_t expansion, const Sizes& depths) {
  std::string x = m.input("image", {1, 3, 224, 224});
  x = m.max_pool(m.relu(m.conv_bn(x, 3, 64, 7, 2)), 3, 2, 1);
  std::int64_t in = 64, width = 64;
  for (std::size_t stage = 0; stage < depths.size(); ++stage, width *= 2) {
    for (std::int64_t i = 0; i < depths[stage]; ++i) {
      x = block(m, x, in, width, stage > 0 && i == 0 ? 2 : 1);
      in = expansion * width;
    }
  }
  return m.finish({classifier(m, x, in)});
}

/// Sandler et al., MobileNetV2, CVPR'18, figure 3: widened, filtered channel by channel, narrowed without activation.
std::string inverted_residual(ModelBuilder& m, const std::string& x, std::int64_t in, std::int64_t out,
                              std::int64_t stride, std::int64_t widening) {
  const auto relu6 = [&m](const std::string& y) { return m.node("Clip", {y, m.scalar(0), m.scalar(6)}); };
  const std::int64_t inner = widening * in;
  std::string y = widening == 1 ? x : relu6(m.conv_bn(x, in, inner, 1));
  y = relu6(m.conv_bn(y, inner, inner, 3, stride, inner));
  y = m.conv_bn(y, inner, out, 1);
  return stride == 1 && in == out ? m.add(x, y) : y;
}

}  // namespace

/// Iandola et al., SqueezeNet, 2016, version 1.1.
std::string squeezenet(ModelBuilder& m) {
  std::string x = m.input("image", {1, 3, 224, 224});
  x = m.max_pool(m.relu(m.bias(m.conv(x, 3, 64, 3, 2), 64)), 3, 2);
  x = m.max_pool(fire(m, fire(m, x, 64, 16, 64), 128, 16, 64), 3, 2);
  x = m.max_pool(fire(m, fire(m, x, 128, 32, 128), 256, 32, 128), 3, 2);
  x = fire(m, fire(m, x, 256, 48, 192), 384, 48, 192);
  x = fire(m, fire(m, x, 384, 64, 256), 512, 64, 256);
  return m.finish({m.pooled(m.relu(m.bias(m.conv(x, 512, 1000, 1), 1000)))});
}

/// He et al., Deep residual learning, CVPR'16.
std::string resnet18(ModelBuilder& m) { return resnet(m, basic_block, 1, {2, 2, 2, 2}); }
std::string resnet50(ModelBuilder& m) { return resnet(m, bottleneck, 4, {3, 4, 6, 3}); }
/// Xie et al., Aggregated residual transformations, CVPR'17: 32 x 4d.
std::string resnext50(ModelBuilder& m) { return resnet(m, grouped_bottleneck, 4, {3, 4, 6, 3}); }

/// Sandler et al., MobileNetV2, CVPR'18, table 2, width 1.
std::string mobilenet_v2(ModelBuilder& m) {
  struct Stage {
    std::int64_t widening, out, repeats, stride;
  };
  constexpr Stage kStages[] = {{1, 16, 1, 1}, {6, 24, 2, 2},  {6, 32, 3, 2}, {6, 64, 4, 2},
                               {6, 96, 3, 1}, {6, 160, 3, 2}, {6, 320, 1, 1}};
  std::string x = m.conv_bn(m.input("image", {1, 3, 224, 224}), 3, 32, 3, 2);
  x = m.node("Clip", {x, m.scalar(0), m.scalar(6)});
  std::int64_t in = 32;
  for (const Stage& stage : kStages) {
    for (std::int64_t i = 0; i < stage.repeats; ++i, in = stage.out)
      x = inverted_residual(m, x, in, stage.out, i == 0 ? stage.stride : 1, stage.widening);
  }
  x = m.node("Clip", {m.conv_bn(x, in, 1280, 1), m.scalar(0), m.scalar(6)});
  return m.finish({classifier(m, x, 1280)});
}

}  // namespace models
