// Small networks in the forms that papers on graph substitutions optimise, without normalisation and without softmax:
// Jia et al., TASO, SOSP'19, and Yang et al., TENSAT, MLSys'21. Searches differ most on these.
#include "recipes.h"

namespace models {
namespace {

/// One step of a recurrence of eight products of the input and eight of the state: Zoph & Le, ICLR'17, figure 8.
std::string cell(ModelBuilder& m, const std::string& x, const std::string& h, std::int64_t width) {
  std::vector<std::string> sums;
  for (int i = 0; i < 8; ++i) sums.push_back(m.add(m.linear(x, width, width), m.linear(h, width, width)));
  const std::string a = m.add(m.relu(sums[0]), m.sigmoid(sums[3])), b = m.add(m.sigmoid(sums[1]), m.tanh(sums[2]));
  const std::string c = m.mul(m.sigmoid(sums[4]), m.tanh(sums[5])), d = m.mul(m.sigmoid(sums[6]), m.relu(sums[7]));
  return m.tanh(m.mul(m.tanh(m.mul(a, b)), m.tanh(m.mul(c, d))));
}

}  // namespace

/// Iandola et al., SqueezeNet, 2016: four fire modules on 56 x 56 pixels.
std::string fire_modules(ModelBuilder& m) {
  std::string x = m.relu(m.conv(m.input("image", {1, 3, 112, 112}), 3, 64, 3, 2, 1));
  std::int64_t in = 64;
  for (const std::int64_t squeezed : {16, 16, 32, 32}) {
    x = m.relu(m.conv(x, in, squeezed, 1));
    const std::string one = m.relu(m.conv(x, squeezed, 4 * squeezed, 1));
    const std::string three = m.relu(m.conv(x, squeezed, 4 * squeezed, 3, 1, 1));
    x = m.concat({one, three}, 1);
    in = 8 * squeezed;
  }
  return m.finish({x});
}

/// Four steps that all read the same input.
std::string shared_recurrence(ModelBuilder& m) {
  constexpr std::int64_t kWidth = 512;
  const std::string x = m.input("x", {1, kWidth});
  std::string h = m.input("hidden", {1, kWidth});
  for (int step = 0; step < 4; ++step) h = cell(m, x, h, kWidth);
  return m.finish({h});
}

/// Four encoder layers of width 512 on 64 tokens: products and additions alone.
std::string plain_encoder(ModelBuilder& m) {
  constexpr std::int64_t kTokens = 64, kWidth = 512, kHeads = 8, kHead = kWidth / kHeads;
  std::string x = m.input("tokens", {kTokens, kWidth});
  for (int layer = 0; layer < 4; ++layer) {
    const auto heads = [&](const Sizes& axes) {
      return m.transpose(m.reshape(m.linear(x, kWidth, kWidth), {kTokens, kHeads, kHead}), axes);
    };
    const std::string q = heads({1, 0, 2}), k = heads({1, 2, 0}), v = heads({1, 0, 2});
    std::string y = m.transpose(m.matmul(m.matmul(q, k), v), {1, 0, 2});
    y = m.linear(m.reshape(y, {kTokens, kWidth}), kWidth, kWidth);
    const std::string attended = m.add(x, y);
    x = m.add(attended, m.linear(m.relu(m.linear(attended, kWidth, 4 * kWidth)), 4 * kWidth, kWidth));
  }
  return m.finish({x});
}

/// Szegedy et al., CVPR'16: three blocks of four branches, two of them with pools, on 35 x 35 pixels.
std::string pooled_branches(ModelBuilder& m) {
  std::string x = m.input("image", {1, 192, 35, 35});
  std::int64_t in = 192;
  for (int block = 0; block < 3; ++block) {
    const std::string one = m.relu(m.conv(x, in, 64, 1));
    const std::string three = m.relu(m.conv(m.relu(m.conv(x, in, 64, 1)), 64, 96, 3, 1, 1));
    const std::string mean = m.relu(m.conv(m.average_pool(x, 3, 1, 1, false), in, 64, 1));
    const std::string most = m.relu(m.conv(m.max_pool(x, 3, 1, 1), in, 32, 1));
    x = m.concat({one, three, mean, most}, 1);
    in = 256;
  }
  return m.finish({x});
}

/// Xie et al., ResNeXt, CVPR'17: four residual blocks of 32 groups on 28 x 28 pixels, as they are run: no
/// normalisation.
std::string grouped_blocks(ModelBuilder& m) {
  constexpr std::int64_t kWide = 256, kWidth = 128;
  std::string x = m.input("image", {1, kWide, 28, 28});
  for (int block = 0; block < 4; ++block) {
    std::string y = m.relu(m.conv(x, kWide, kWidth, 1));
    y = m.relu(m.conv(y, kWidth, kWidth, {.kernel = {3, 3}, .strides = {1, 1}, .pads = {1, 1}, .groups = 32}));
    x = m.relu(m.add(x, m.conv(y, kWidth, kWide, 1)));
  }
  return m.finish({x});
}

}  // namespace models
