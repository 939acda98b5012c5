// Blocks of sums of products, one inside a cache, with tiles of registers in them: what they move, and their schedules.
#pragma once

#include <cmath>
#include <cstdint>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "sum_nest.h"

namespace rewright {

using Arrays = std::vector<std::set<std::uint32_t>>;  ///< Axes that the indices of each name.

[[nodiscard]] inline std::set<std::uint32_t> axes_of(std::span<const IndexExpr> at) {
  std::set<std::uint32_t> axes;
  for (const IndexExpr& index : at) {
    if (const auto form = affine(index)) {
      for (const auto& [axis, coefficient] : form->terms) axes.insert(axis.id);
    }
  }
  return axes;
}

inline void add_loads(const ValueExpr& value, Arrays& arrays) {
  if (value.kind() == ValueExpr::Kind::kLoad) arrays.push_back(axes_of(value.indices()));
  for (const ValueExpr& operand : value.operands()) add_loads(operand, arrays);
}

[[nodiscard]] inline std::int64_t greatest_divisor(std::int64_t number, std::int64_t most) {
  for (std::int64_t divisor = std::clamp<std::int64_t>(most, 1, number); divisor > 1; --divisor)
    if (number % divisor == 0) return divisor;
  return 1;
}

struct BlockedNest {
  std::vector<const loop::Loop*> loops;  ///< Of results, then of sums.
  std::size_t results = 0;
  Arrays arrays;  ///< That of results first.
};
using Block = std::vector<std::int64_t>;  ///< Iterations of each loop.

[[nodiscard]] inline BlockedNest blocked_nest(const SumNest& sum) {
  BlockedNest nest{sum.results, sum.results.size(), {axes_of(sum.result->at)}};
  nest.loops.insert(nest.loops.end(), sum.sums.begin(), sum.sums.end());
  add_loads(sum.update->value, nest.arrays);
  return nest;
}

/// Numbers that blocks of these many iterations bring in.
[[nodiscard]] inline double moved(const BlockedNest& nest, const Block& block) {
  double blocks = 1, held = 0;
  for (std::size_t l = 0; l < block.size(); ++l)
    blocks *= static_cast<double>(extent(*nest.loops[l])) / static_cast<double>(block[l]);
  for (const auto& array : nest.arrays) {
    double size = 1;
    for (std::size_t l = 0; l < block.size(); ++l)
      if (array.contains(nest.loops[l]->axis.id)) size *= static_cast<double>(block[l]);
    held += size;
  }
  return blocks * held;
}

/// Microseconds, with blocks for a cache.
[[nodiscard]] inline double modelled_us(const BlockedNest& nest, const Block& block, std::size_t level,
                                        const RegisterTile& tile, const tune::Machine& machine) {
  double iterations = 1, sums = 1;  // Sums: of a block.
  for (std::size_t l = 0; l < nest.loops.size(); ++l) {
    iterations *= static_cast<double>(extent(*nest.loops[l]));
    if (l >= nest.results) sums *= static_cast<double>(block[l]);
  }
  // A tile is set, read and written once for each block: as much as six of its multiply-adds. Of two tiles of one
  // size, that with fewer vectors reads longer pieces of a row.
  const double tiles = 1 + 6 / sums + 0.01 * static_cast<double>(tile.vectors);
  const auto& behind = machine.caches[level + 1];
  const double computing = 2e-3 * iterations / std::max(machine.peak_gflops, 1.0) * tile.stalls() * tiles;
  return std::max(computing, 4e-3 * moved(nest, block) / std::max(behind.read_gb_s, 1.0));
}

[[nodiscard]] inline std::string text_of(const BlockedNest& nest, const Block& block, std::size_t r,
                                         const RegisterTile& tile, std::int64_t columns, std::size_t level,
                                         const std::string& sum, const std::string& panels) {
  const std::size_t c = nest.results - 1;
  std::string text = fmt::format("# blocks for cache {}, {} rows of {}, {} columns\n", level + 1, tile.rows,
                                 nest.loops[r]->axis.name, columns);
  for (std::size_t l = nest.results; l-- > 0;) text += fmt::format("distribute {}\n", nest.loops[l]->axis.name);
  std::vector<std::string> blocks, middle, inside;  // Loops over blocks; in one, of results; of sums.
  std::string rows, lanes, tiles_of_rows, tiles_of_lanes;
  for (std::size_t l = 0; l < nest.loops.size(); ++l) {
    std::string name = nest.loops[l]->axis.name;
    if (block[l] < extent(*nest.loops[l])) {
      text += fmt::format("split {} {}\n", name, block[l]);
      blocks.push_back(name + "/0");
      name += "/1";
    }
    if (l == r || l == c) {
      text += fmt::format("split {} {}\n", name, l == r ? tile.rows : columns);
      (l == r ? rows : lanes) = name + "/1";
      (l == r ? tiles_of_rows : tiles_of_lanes) = name + "/0";
    } else if (l < nest.results) {
      middle.push_back(name);
    } else {
      inside.push_back(name);
    }
  }
  for (auto* part : {&middle, &inside}) {
    if (part == &inside) blocks.insert(blocks.end(), {tiles_of_lanes, tiles_of_rows});
    blocks.insert(blocks.end(), part->begin(), part->end());
  }
  text += fmt::format("reorder {} {} {}\ncache-write {} {} {}_tile\n", fmt::join(blocks, " "), rows, lanes, sum,
                      tiles_of_rows, sum);
  text += fmt::format("unroll {}; vectorise {}\n", rows, lanes);
  if (!panels.empty()) text += fmt::format("pack {} or skip\n", panels);
  for (const char* loop : {".i0", ".d0"}) text += fmt::format("unroll {}_tile{} or skip\n", sum, loop);
  for (const char* loop : {".i1", ".d1"}) text += fmt::format("vectorise {}_tile{} or skip\n", sum, loop);
  return text;
}

/// By what they are modelled to take, each once.
[[nodiscard]] inline std::vector<std::string> in_order(std::vector<std::pair<double, std::string>> found) {
  std::ranges::stable_sort(found, {}, &std::pair<double, std::string>::first);
  std::vector<std::string> texts;
  for (auto& [us, text] : found) {
    if (std::ranges::find(texts, text) == texts.end()) texts.push_back(std::move(text));
  }
  return texts;
}

}  // namespace rewright
