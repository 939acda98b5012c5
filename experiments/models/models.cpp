#include "models.h"

namespace models {
namespace {

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

std::string fire(ModelBuilder& m, const std::string& x, std::int64_t in, std::int64_t squeeze, std::int64_t expand) {
  const std::string s = m.relu(m.bias(m.conv(x, in, squeeze, 1), squeeze));
  const std::string one = m.relu(m.bias(m.conv(s, squeeze, expand, 1), expand));
  const std::string three = m.relu(m.bias(m.conv(s, squeeze, expand, 3, 1, 1), expand));
  const std::string y = m.node("Concat", {one, three});
  m.set("axis", std::int64_t{1});
  return y;
}

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

std::string conv_bn(ModelBuilder& m, const std::string& x, std::int64_t in, std::int64_t out, std::int64_t kernel,
                    std::int64_t stride = 1) {
  return m.batch_norm(m.conv(x, in, out, kernel, stride, kernel / 2), out);
}

std::string basic_block(ModelBuilder& m, const std::string& x, std::int64_t in, std::int64_t width,
                        std::int64_t stride) {
  const std::string y = conv_bn(m, m.relu(conv_bn(m, x, in, width, 3, stride)), width, width, 3);
  return m.relu(m.add(y, in == width ? x : conv_bn(m, x, in, width, 1, stride)));
}

/// The stride is on the 3x3 convolution, as in most implementations of today.
std::string bottleneck(ModelBuilder& m, const std::string& x, std::int64_t in, std::int64_t width,
                       std::int64_t stride) {
  std::string y = m.relu(conv_bn(m, x, in, width, 1));
  y = m.relu(conv_bn(m, y, width, width, 3, stride));
  y = conv_bn(m, y, width, 4 * width, 1);
  return m.relu(m.add(y, in == 4 * width ? x : conv_bn(m, x, in, 4 * width, 1, stride)));
}

using Block = std::string (*)(ModelBuilder&, const std::string&, std::int64_t, std::int64_t, std::int64_t);

/// He et al., Deep residual learning, CVPR'16.
std::string resnet(ModelBuilder& m, Block block, std::int64_t expansion, const Sizes& depths) {
  std::string x = m.input("image", {1, 3, 224, 224});
  x = m.max_pool(m.relu(conv_bn(m, x, 3, 64, 7, 2)), 3, 2, 1);
  std::int64_t in = 64, width = 64;
  for (std::size_t stage = 0; stage < depths.size(); ++stage, width *= 2) {
    for (std::int64_t i = 0; i < depths[stage]; ++i) {
      x = block(m, x, in, width, stage > 0 && i == 0 ? 2 : 1);
      in = expansion * width;
    }
  }
  return m.finish({m.add(m.linear(m.pooled(x), in, 1000), m.vector({1000}, -0.1, 0.1))});
}

std::string resnet18(ModelBuilder& m) { return resnet(m, basic_block, 1, {2, 2, 2, 2}); }
std::string resnet50(ModelBuilder& m) { return resnet(m, bottleneck, 4, {3, 4, 6, 3}); }

/// Training form: each branch with its normalisation, the identity too where sizes allow.
std::string repvgg_block(ModelBuilder& m, const std::string& x, std::int64_t in, std::int64_t out,
                         std::int64_t stride) {
  std::string y = m.add(conv_bn(m, x, in, out, 3, stride), conv_bn(m, x, in, out, 1, stride));
  if (in == out && stride == 1) y = m.add(y, m.batch_norm(x, in));
  return m.relu(y);
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

/// Zoph & Le, Neural architecture search, ICLR'17, figure 8; five steps of a hidden state of 256.
std::string nas_rnn(ModelBuilder& m) {
  constexpr std::int64_t kHidden = 256;
  std::string h = m.input("hidden", {1, kHidden});
  for (int step = 0; step < 5; ++step) {
    const std::string x = m.input(std::string("x").append(std::to_string(step)), {1, kHidden});
    std::vector<std::string> t;
    for (int i = 0; i < 8; ++i) t.push_back(m.add(m.linear(x, kHidden, kHidden), m.linear(h, kHidden, kHidden)));
    const std::string a = m.add(m.relu(t[0]), m.sigmoid(t[3]));
    const std::string b = m.add(m.sigmoid(t[1]), m.tanh(t[2]));
    const std::string c = m.mul(m.sigmoid(t[4]), m.tanh(t[5]));
    const std::string d = m.mul(m.sigmoid(t[6]), m.relu(t[7]));
    const std::string e = m.add(m.sigmoid(b), m.tanh(c));
    h = m.tanh(m.mul(m.tanh(e), m.tanh(m.mul(m.tanh(a), m.tanh(d)))));
  }
  return m.finish({h});
}

std::string normalised(ModelBuilder& m, const std::string& x, std::int64_t width) {
  const std::string y = m.node("LayerNormalization", {x, m.vector({width}, 0.5, 1.5), m.vector({width}, -0.1, 0.1)});
  m.set("axis", std::int64_t{-1});
  return y;
}

/// Devlin et al., BERT, NAACL'19: one encoder layer of the base model on 128 tokens.
std::string bert_layer(ModelBuilder& m) {
  constexpr std::int64_t kTokens = 128, kWidth = 768, kHeads = 12, kHead = kWidth / kHeads;
  const std::string x = m.input("tokens", {kTokens, kWidth});
  const auto heads = [&](const Sizes& axes) {
    const std::string y = m.add(m.linear(x, kWidth, kWidth), m.vector({kWidth}, -0.1, 0.1));
    return m.transpose(m.reshape(y, {kTokens, kHeads, kHead}), axes);
  };
  const std::string q = heads({1, 0, 2}), k = heads({1, 2, 0}), v = heads({1, 0, 2});
  const std::string scores = m.node("Softmax", {m.mul(m.matmul(q, k), m.scalar(0.125f))});
  m.set("axis", std::int64_t{-1});
  std::string y = m.reshape(m.transpose(m.matmul(scores, v), {1, 0, 2}), {kTokens, kWidth});
  y = m.add(m.linear(y, kWidth, kWidth), m.vector({kWidth}, -0.1, 0.1));
  const std::string attended = normalised(m, m.add(x, y), kWidth);
  y = m.add(m.linear(attended, kWidth, 4 * kWidth), m.vector({4 * kWidth}, -0.1, 0.1));
  // GELU: y * (1 + erf(y / sqrt 2)) / 2.
  const std::string erf = m.node("Erf", {m.mul(y, m.scalar(0.70710678f))});
  y = m.mul(m.mul(y, m.add(erf, m.scalar(1.0f))), m.scalar(0.5f));
  y = m.add(m.linear(y, 4 * kWidth, kWidth), m.vector({kWidth}, -0.1, 0.1));
  return m.finish({normalised(m, m.add(attended, y), kWidth)});
}

}  // namespace

const std::vector<Recipe>& recipes() {
  static const std::vector<Recipe> kRecipes = {
      {"quickstart", "parallel convolutions, linear attention, LoRA: small, and rules pay", Weights::kRandom,
       quickstart},
      {"squeezenet", "SqueezeNet 1.1, 224 x 224", Weights::kFilled, squeezenet},
      {"resnet18", "ResNet-18 with batch normalisation, 224 x 224", Weights::kFilled, resnet18},
      {"resnet50", "ResNet-50 with batch normalisation, 224 x 224", Weights::kFilled, resnet50},
      {"repvgg", "RepVGG in its training form, 64 x 64", Weights::kRandom, repvgg},
      {"nasrnn", "NasRNN cell, 5 steps of hidden size 256", Weights::kFilled, nas_rnn},
      {"bert_layer", "one encoder layer of BERT base, 128 tokens", Weights::kFilled, bert_layer},
  };
  return kRecipes;
}

std::string build(const Recipe& recipe, Weights weights) {
  ModelBuilder builder(recipe.name, weights, recipe.summary);
  return recipe.build(builder);
}

}  // namespace models
