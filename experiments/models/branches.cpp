// Networks with parallel linear branches, as they are trained: one operator each can do the work of a block.
#include "recipes.h"

namespace models {
namespace {

/// Training form: each branch with its normalisation, the identity too where sizes allow.
std::string repvgg_block(ModelBuilder& m, const std::string& x, std::int64_t in, std::int64_t out,
                         std::int64_t stride) {
  std::string y = m.add(m.conv_bn(x, in, out, 3, stride), m.conv_bn(x, in, out, 1, stride));
  if (in == out && stride == 1) y = m.add(y, m.batch_norm(x, in));
  return m.relu(y);
}

/// A 3x3, a 1x3 and a 3x1 convolution, each with its normalisation, summed.
std::string asymmetric_block(ModelBuilder& m, const std::string& x, std::int64_t in, std::int64_t out,
                             std::int64_t stride) {
  const Sizes strides = {stride, stride};
  const std::string square = m.batch_norm(m.conv(x, in, out, {{3, 3}, strides, {1, 1}}), out);
  const std::string row = m.batch_norm(m.conv(x, in, out, {{1, 3}, strides, {0, 1}}), out);
  const std::string column = m.batch_norm(m.conv(x, in, out, {{3, 1}, strides, {1, 0}}), out);
  return m.relu(m.add(m.add(square, row), column));
}

}  // namespace

/// Branches and products that a framework leaves as the researcher wrote them: work for rules of two and three
/// operators that pays on a CPU, in a model of which each part is in use somewhere.
///
///   stem        3x3 convolution, stride 2
///   block 1     two parallel 3x3 convolutions, summed: over-parameterised training (Ding et al., ICCV'19)
///   block 2     3x3 and 1x1 convolutions, summed: RepVGG (Ding et al., CVPR'21), without normalisation
///   attention   (Q K^T) V without softmax, 576 positions: linear attention (Katharopoulos et al., ICML'20)
///   adapter     x W + (x A) B: LoRA (Hu et al., ICLR'22)
///   projection  (x A) B with A wide: a linear bottleneck
///   heads       x W1 + x W2: two heads whose scores are added
std::string quickstart(ModelBuilder& m) {
  constexpr std::int64_t kChannels = 32, kSide = 24, kPositions = kSide * kSide;
  std::string x = m.input("image", {1, 3, 2 * kSide, 2 * kSide});
  x = m.relu(m.conv(x, 3, kChannels, 3, 2, 1));
  x = m.relu(m.add(m.conv(x, kChannels, kChannels, 3, 1, 1), m.conv(x, kChannels, kChannels, 3, 1, 1)));
  x = m.relu(m.add(m.conv(x, kChannels, kChannels, 3, 1, 1), m.conv(x, kChannels, kChannels, 1)));
  x = m.transpose(m.reshape(x, {kChannels, kPositions}), {1, 0});
  const std::string q = m.linear(x, kChannels, kChannels), k = m.linear(x, kChannels, kChannels);
  const std::string v = m.linear(x, kChannels, kChannels);
  const std::string scores = m.matmul(q, m.transpose(k, {1, 0}));
  x = m.add(x, m.mul(m.matmul(scores, v), m.scalar(1.0f / kPositions)));
  x = m.relu(m.add(m.linear(x, kChannels, 128), m.linear(m.linear(x, kChannels, 8), 8, 128)));
  x = m.relu(m.linear(m.linear(x, 128, 256), 256, 64));
  x = m.add(m.linear(x, 64, 64), m.linear(x, 64, 64));
  return m.finish({x});
}

/// Ding et al., RepVGG, CVPR'21; stages 2, 2 and 2 of widths 48, 96 and 192 on 64 x 64 pixels.
std::string repvgg(ModelBuilder& m) {
  std::string x = repvgg_block(m, m.input("image", {1, 3, 64, 64}), 3, 48, 2);
  std::int64_t in = 48;
  for (const std::int64_t width : {48, 96, 192}) {
    for (const std::int64_t stride : {2, 1}) {
      x = repvgg_block(m, x, in, width, stride);
      in = width;
    }
  }
  return m.finish({m.linear(m.pooled(x), in, 100)});
}

/// Ding et al., ACNet, ICCV'19, in its training form; stages as in repvgg().
std::string acnet(ModelBuilder& m) {
  std::string x = asymmetric_block(m, m.input("image", {1, 3, 64, 64}), 3, 48, 2);
  std::int64_t in = 48;
  for (const std::int64_t width : {48, 96, 192}) {
    for (const std::int64_t stride : {2, 1}) {
      x = asymmetric_block(m, x, in, width, stride);
      in = width;
    }
  }
  return m.finish({m.linear(m.pooled(x), in, 100)});
}

}  // namespace models
