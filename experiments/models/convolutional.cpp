// Plain convolutional networks, on one image of 224 x 224; those for CIFAR-10 on one of 32 x 32.
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

std::string classifier(ModelBuilder& m, const std::string& x, std::int64_t channels, std::int64_t classes = 1000) {
  return m.add(m.linear(m.pooled(x), channels, classes), m.vector({classes}, -0.1, 0.1));
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

/// All behind the stem, which gives 64 channels.
std::string resnet_stages(ModelBuilder& m, std::string x, Block block, std::int64_t expansion, const Sizes& depths,
                          std::int64_t classes) {
  std::int64_t in = 64, width = 64;
  for (std::size_t stage = 0; stage < depths.size(); ++stage, width *= 2) {
    for (std::int64_t i = 0; i < depths[stage]; ++i) {
      x = block(m, x, in, width, stage > 0 && i == 0 ? 2 : 1);
      in = expansion * width;
    }
  }
  return m.finish({classifier(m, x, in, classes)});
}

std::string resnet(ModelBuilder& m, Block block, std::int64_t expansion, const Sizes& depths) {
  const std::string x = m.conv_bn(m.input("image", {1, 3, 224, 224}), 3, 64, 7, 2);
  return resnet_stages(m, m.max_pool(m.relu(x), 3, 2, 1), block, expansion, depths, 1000);
}

constexpr std::int64_t kCifarClasses = 10;

std::string cifar_image(ModelBuilder& m) { return m.input("image", {1, 3, 32, 32}); }

/// Howard et al., MobileNets, 2017, figure 3: filtered channel by channel, then mixed.
std::string separable(ModelBuilder& m, const std::string& x, std::int64_t in, std::int64_t out, std::int64_t stride) {
  return m.relu(m.conv_bn(m.relu(m.conv_bn(x, in, in, 3, stride, in)), in, out, 1));
}

/// As pytorch-cifar writes it: always widened, by relu, and with a convolution beside where the width changes.
std::string cifar_inverted_residual(ModelBuilder& m, const std::string& x, std::int64_t in, std::int64_t out,
                                    std::int64_t stride, std::int64_t widening) {
  const std::int64_t inner = widening * in;
  std::string y = m.relu(m.conv_bn(x, in, inner, 1));
  y = m.conv_bn(m.relu(m.conv_bn(y, inner, inner, 3, stride, inner)), inner, out, 1);
  if (stride != 1) return y;
  return m.add(y, in == out ? x : m.conv_bn(x, in, out, 1));
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

// The variants for CIFAR-10 of github.com/kuangliu/pytorch-cifar, which keep the size of the small image for longer.

/// He et al., Deep residual learning, CVPR'16, behind a 3x3 convolution.
std::string cifar_resnet18(ModelBuilder& m) {
  const std::string x = m.relu(m.conv_bn(cifar_image(m), 3, 64, 3));
  return resnet_stages(m, x, basic_block, 1, {2, 2, 2, 2}, kCifarClasses);
}

/// Simonyan & Zisserman, Very deep convolutional networks, ICLR'15, configuration D with one product at the end.
std::string cifar_vgg16(ModelBuilder& m) {
  const std::vector<Sizes> stages = {{64, 64}, {128, 128}, {256, 256, 256}, {512, 512, 512}, {512, 512, 512}};
  std::string x = cifar_image(m);
  std::int64_t in = 3;
  for (const Sizes& stage : stages) {
    for (const std::int64_t out : stage) {
      x = m.relu(m.batch_norm(m.conv_with_bias(x, in, out, {{3, 3}, {1, 1}, {1, 1}, 1}), out));
      in = out;
    }
    x = m.max_pool(x, 2, 2);
  }
  return m.finish({classifier(m, x, in, kCifarClasses)});
}

/// Howard et al., MobileNets, 2017, table 1.
std::string cifar_mobilenet_v1(ModelBuilder& m) {
  struct Stage {
    std::int64_t out, stride;
  };
  constexpr Stage kStages[] = {{64, 1},  {128, 2}, {128, 1}, {256, 2}, {256, 1},  {512, 2}, {512, 1},
                               {512, 1}, {512, 1}, {512, 1}, {512, 1}, {1024, 2}, {1024, 1}};
  std::string x = m.relu(m.conv_bn(cifar_image(m), 3, 32, 3));
  std::int64_t in = 32;
  for (const Stage& stage : kStages) {
    x = separable(m, x, in, stage.out, stage.stride);
    in = stage.out;
  }
  return m.finish({classifier(m, x, in, kCifarClasses)});
}

/// Sandler et al., MobileNetV2, CVPR'18, table 2, with strides of 1 in the first two places.
std::string cifar_mobilenet_v2(ModelBuilder& m) {
  struct Stage {
    std::int64_t widening, out, repeats, stride;
  };
  constexpr Stage kStages[] = {{1, 16, 1, 1}, {6, 24, 2, 1},  {6, 32, 3, 2}, {6, 64, 4, 2},
                               {6, 96, 3, 1}, {6, 160, 3, 2}, {6, 320, 1, 1}};
  std::string x = m.relu(m.conv_bn(cifar_image(m), 3, 32, 3));
  std::int64_t in = 32;
  for (const Stage& stage : kStages) {
    for (std::int64_t i = 0; i < stage.repeats; ++i, in = stage.out)
      x = cifar_inverted_residual(m, x, in, stage.out, i == 0 ? stage.stride : 1, stage.widening);
  }
  return m.finish({classifier(m, m.relu(m.conv_bn(x, in, 1280, 1)), 1280, kCifarClasses)});
}

}  // namespace models
