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
};

/// product (M, N, K); conv, depthwise, grouped (C, K, H, R, S, KH, KW, OH, OW, G); softmax, layernorm, gelu (M, N);
/// maxpool (C, H). Others: none.
[[nodiscard]] std::vector<Peer> dnnl_peers(const std::string& kind, Sizes sizes);

}  // namespace rewright::bench
