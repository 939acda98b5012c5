// Kernels of oneDNN, in the layouts that it likes best, with weights packed ahead.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

namespace rewright::bench {

using Sizes = std::map<std::string, std::int64_t>;

struct Peer {
  std::string name;
  std::function<void()> run;
  /// Least seconds of a few runs, where the library times itself; then `run` is empty.
  std::function<double()> seconds = {};
};

/// A convolution as libraries state it, channels first, of any rank.
struct Convolution {
  std::int64_t batch = 1, in = 1, out = 1, groups = 1;
  std::vector<std::int64_t> image, kernel, stride, dilation;
  std::vector<std::int64_t> pads;  ///< At both ends of each axis.
  bool transposed = false;

  [[nodiscard]] std::vector<std::int64_t> result() const;  ///< The output's image.
};
/// Its direct kernel. None where oneDNN has no such.
[[nodiscard]] std::vector<Peer> dnnl_convolution(const Convolution& given);
/// Euclidean norms of `rows` rows.
[[nodiscard]] Peer dnnl_norm(std::int64_t rows, std::int64_t length);

/// product (M, N, K); conv, depthwise, grouped (C, K, H, R, S, KH, KW, OH, OW, G); softmax, layernorm, gelu (M, N);
/// maxpool (C, H). Others: none.
[[nodiscard]] std::vector<Peer> dnnl_peers(const std::string& kind, Sizes sizes);

}  // namespace rewright::bench
