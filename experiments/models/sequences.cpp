// Recurrent networks and transformers.
#include <cmath>
#include <utility>

#include "recipes.h"

namespace models {
namespace {

std::string normalised(ModelBuilder& m, const std::string& x, std::int64_t width) {
  const std::string y = m.node("LayerNormalization", {x, m.vector({width}, 0.5, 1.5), m.vector({width}, -0.1, 0.1)});
  m.set("axis", std::int64_t{-1});
  return y;
}

std::string biased(ModelBuilder& m, const std::string& x, std::int64_t in, std::int64_t out) {
  return m.add(m.linear(x, in, out), m.vector({out}, -0.1, 0.1));
}

/// [tokens, width] as heads x ...: the axes of (token, head, element) in a new order.
std::string heads_of(ModelBuilder& m, const std::string& x, const Sizes& sizes, const Sizes& axes) {
  return m.transpose(m.reshape(x, sizes), axes);
}

/// An encoder layer of BERT base on so many tokens: attention, then two products with GELU between, each with what it
/// was made from added and normalised.
std::string encoder_layer(ModelBuilder& m, const std::string& x, std::int64_t tokens = 128) {
  constexpr std::int64_t kWidth = 768, kHeads = 12, kHead = kWidth / kHeads;
  const auto heads = [&](const Sizes& axes) {
    return heads_of(m, biased(m, x, kWidth, kWidth), {tokens, kHeads, kHead}, axes);
  };
  const std::string q = heads({1, 0, 2}), k = heads({1, 2, 0}), v = heads({1, 0, 2});
  const std::string scores = m.softmax(m.mul(m.matmul(q, k), m.scalar(0.125f)));
  std::string y = m.reshape(m.transpose(m.matmul(scores, v), {1, 0, 2}), {tokens, kWidth});
  y = biased(m, y, kWidth, kWidth);
  const std::string attended = normalised(m, m.add(x, y), kWidth);
  y = biased(m, attended, kWidth, 4 * kWidth);
  // GELU: y * (1 + erf(y / sqrt 2)) / 2.
  const std::string erf = m.node("Erf", {m.mul(y, m.scalar(0.70710678f))});
  y = m.mul(m.mul(y, m.add(erf, m.scalar(1.0f))), m.scalar(0.5f));
  return normalised(m, m.add(attended, biased(m, y, 4 * kWidth, kWidth)), kWidth);
}

/// x / sqrt(mean of x^2) along the last axis, times a scale: Zhang & Sennrich, NeurIPS'19.
std::string rms_normalised(ModelBuilder& m, const std::string& x, std::int64_t width) {
  const std::string mean = m.node("ReduceMean", {m.mul(x, x)});
  m.set("axes", Sizes{-1});
  const std::string root = m.node("Sqrt", {m.add(mean, m.scalar(1e-5f))});
  return m.mul(m.node("Div", {x, root}), m.vector({width}, 0.5, 1.5));
}

/// Rotates pairs of elements by an angle that grows with the position: Su et al., RoFormer, 2021.
std::string rotated(ModelBuilder& m, const std::string& x, std::int64_t head, const std::string& cosines,
                    const std::string& sines) {
  const auto half = [&](std::int64_t from, std::int64_t to) {
    return m.node("Slice", {x, m.integers({from}), m.integers({to}), m.integers({2})});
  };
  const std::string first = half(0, head / 2), second = half(head / 2, head);
  const std::string turned = m.concat({m.node("Neg", {second}), first}, 2);
  return m.add(m.mul(x, cosines), m.mul(turned, sines));
}

/// Cosines and sines of position / 10000^(2 i / head), for both halves of a head.
std::pair<std::string, std::string> rotations(ModelBuilder& m, std::int64_t tokens, std::int64_t head) {
  std::vector<float> cosines, sines;
  for (std::int64_t t = 0; t < tokens; ++t) {
    for (std::int64_t i = 0; i < head; ++i) {
      const auto pair = static_cast<double>(i % (head / 2));
      const double angle = static_cast<double>(t) * std::pow(10000.0, -2 * pair / static_cast<double>(head));
      cosines.push_back(static_cast<float>(std::cos(angle)));
      sines.push_back(static_cast<float>(std::sin(angle)));
    }
  }
  return {m.values({1, tokens, head}, cosines), m.values({1, tokens, head}, sines)};
}

/// x W + 2 (x A) B, with A of rank 8.
std::string adapted(ModelBuilder& m, const std::string& x, std::int64_t width) {
  constexpr std::int64_t kRank = 8;
  const std::string low = m.linear(m.linear(x, width, kRank), kRank, width);
  return m.add(m.linear(x, width, width), m.mul(low, m.scalar(2)));
}

}  // namespace

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

/// Devlin et al., BERT, NAACL'19: one encoder layer of the base model on 128 tokens.
std::string bert_layer(ModelBuilder& m) { return m.finish({encoder_layer(m, m.input("tokens", {128, 768}))}); }

/// The same on 256 tokens.
std::string bert_layer_256(ModelBuilder& m) { return m.finish({encoder_layer(m, m.input("tokens", {256, 768}), 256)}); }

/// Eight layers of it, on 128 tokens.
std::string bert(ModelBuilder& m) {
  std::string x = m.input("tokens", {128, 768});
  for (int layer = 0; layer < 8; ++layer) x = encoder_layer(m, x);
  return m.finish({x});
}

/// Touvron et al., LLaMA, 2023: one block of width 512 on 128 tokens; causal attention, SwiGLU (Shazeer, 2020).
std::string llama(ModelBuilder& m) {
  constexpr std::int64_t kTokens = 128, kWidth = 512, kHeads = 8, kHead = kWidth / kHeads, kInner = 1376;
  const std::string x = m.input("tokens", {kTokens, kWidth});
  const std::string normal = rms_normalised(m, x, kWidth);
  const auto heads = [&] { return heads_of(m, m.linear(normal, kWidth, kWidth), {kTokens, kHeads, kHead}, {1, 0, 2}); };
  const std::string q = heads(), k = heads(), v = heads();
  const auto [cosines, sines] = rotations(m, kTokens, kHead);
  std::vector<float> mask(kTokens * kTokens, 0);
  for (std::size_t i = 0; i < kTokens; ++i)
    for (std::size_t j = i + 1; j < kTokens; ++j) mask[i * kTokens + j] = -1e9f;
  const std::string turned = m.transpose(rotated(m, k, kHead, cosines, sines), {0, 2, 1});
  const std::string scores = m.mul(m.matmul(rotated(m, q, kHead, cosines, sines), turned), m.scalar(0.125f));
  const std::string shares = m.softmax(m.add(scores, m.values({1, kTokens, kTokens}, mask)));
  std::string y = m.reshape(m.transpose(m.matmul(shares, v), {1, 0, 2}), {kTokens, kWidth});
  const std::string attended = m.add(x, m.linear(y, kWidth, kWidth));
  const std::string second = rms_normalised(m, attended, kWidth);
  const std::string gate = m.linear(second, kWidth, kInner);
  y = m.mul(m.mul(gate, m.sigmoid(gate)), m.linear(second, kWidth, kInner));
  return m.finish({m.add(attended, m.linear(y, kInner, kWidth))});
}

/// Hu et al., LoRA, ICLR'22: an encoder layer of width 512 on 128 tokens whose projections of queries and values are
/// adapted, the adapters not merged.
std::string lora(ModelBuilder& m) {
  constexpr std::int64_t kTokens = 128, kWidth = 512, kHeads = 8, kHead = kWidth / kHeads;
  const std::string x = m.input("tokens", {kTokens, kWidth});
  const auto heads = [&](const std::string& y, const Sizes& axes) {
    return heads_of(m, y, {kTokens, kHeads, kHead}, axes);
  };
  const std::string q = heads(adapted(m, x, kWidth), {1, 0, 2});
  const std::string k = heads(m.linear(x, kWidth, kWidth), {1, 2, 0});
  const std::string v = heads(adapted(m, x, kWidth), {1, 0, 2});
  const std::string scores = m.softmax(m.mul(m.matmul(q, k), m.scalar(0.125f)));
  std::string y = m.reshape(m.transpose(m.matmul(scores, v), {1, 0, 2}), {kTokens, kWidth});
  const std::string attended = normalised(m, m.add(x, m.linear(y, kWidth, kWidth)), kWidth);
  y = m.linear(m.relu(m.linear(attended, kWidth, 4 * kWidth)), 4 * kWidth, kWidth);
  return m.finish({normalised(m, m.add(attended, y), kWidth)});
}

/// Katharopoulos et al., ICML'20, without the feature map: (Q K^T) V, two layers of width 256 and 4 heads on 512
/// tokens.
std::string linear_attention(ModelBuilder& m) {
  constexpr std::int64_t kTokens = 512, kWidth = 256, kHeads = 4, kHead = kWidth / kHeads;
  std::string x = m.input("tokens", {kTokens, kWidth});
  for (int layer = 0; layer < 2; ++layer) {
    const auto heads = [&](const Sizes& axes) {
      return heads_of(m, m.linear(x, kWidth, kWidth), {kTokens, kHeads, kHead}, axes);
    };
    const std::string q = heads({1, 0, 2}), k = heads({1, 2, 0}), v = heads({1, 0, 2});
    std::string y = m.mul(m.matmul(m.matmul(q, k), v), m.scalar(1.0f / kTokens));
    y = m.reshape(m.transpose(y, {1, 0, 2}), {kTokens, kWidth});
    const std::string attended = normalised(m, m.add(x, m.linear(y, kWidth, kWidth)), kWidth);
    y = m.linear(m.relu(m.linear(attended, kWidth, 2 * kWidth)), 2 * kWidth, kWidth);
    x = normalised(m, m.add(attended, y), kWidth);
  }
  return m.finish({x});
}

}  // namespace models
