#include "operator/reindexed.h"

#include <algorithm>
#include <utility>

namespace rewright {

namespace {

IndexExpr product_of(std::span<const IndexExpr> sizes) {
  IndexExpr product = 1;
  for (const IndexExpr& size : sizes) product = product * size;
  return product;
}

/// The place in a group of axes that together have as many elements as `sizes`.
void spread(const IndexExpr& flat, std::span<const IndexExpr> sizes, std::vector<IndexExpr>& places) {
  for (std::size_t d = 0; d < sizes.size(); ++d) {
    const IndexExpr inner = floor_divide(flat, product_of(sizes.subspan(d + 1)));
    places.push_back(d == 0 ? inner : modulo(inner, sizes[d]));
  }
}

IndexExpr flattened(std::span<const IndexExpr> at, std::span<const IndexExpr> sizes) {
  IndexExpr flat = 0;
  for (std::size_t d = 0; d < at.size(); ++d) flat = flat * sizes[d] + at[d];
  return flat;
}

/// How many of the first sizes of each make equal products; all where no smaller groups do.
std::pair<std::size_t, std::size_t> first_group(std::span<const IndexExpr> from, std::span<const IndexExpr> to) {
  for (std::size_t total = 2; total < from.size() + to.size(); ++total) {
    for (std::size_t a = 1; a <= std::min(total - 1, from.size()); ++a) {
      const std::size_t b = total - a;
      if (b <= to.size() && product_of(from.first(a)) == product_of(to.first(b))) return {a, b};
    }
  }
  return {from.size(), to.size()};
}

}  // namespace

std::vector<IndexExpr> reindexed(std::span<const IndexExpr> at, std::span<const IndexExpr> from,
                                 std::span<const IndexExpr> to) {
  std::vector<IndexExpr> places;
  while (!from.empty() || !to.empty()) {
    const auto [a, b] = first_group(from, to);
    spread(flattened(at.first(a), from.first(a)), to.first(b), places);
    at = at.subspan(a);
    from = from.subspan(a);
    to = to.subspan(b);
  }
  return places;
}

}  // namespace rewright
