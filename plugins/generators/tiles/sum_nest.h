// Sums of products, as lowering writes them:
//
//   for results i, ..., j { s = 0; for sums { s += a * b }; y[..., j] = f(s) }      the last store may be missing: s is
//   y
#pragma once

#include <rewright/loop/loop_program.h>
#include <rewright/tune/machine.h>

#include <algorithm>
#include <cstdint>
#include <optional>
#include <vector>

namespace rewright {

/// The only nest of a program that is such a sum.
struct SumNest {
  std::vector<const loop::Loop*> results, sums;
  const loop::Store* update = nullptr;  ///< Inside of the sums.
  const loop::Store* result = nullptr;  ///< The last store to y.
};

[[nodiscard]] inline const loop::Loop* only_loop(const loop::Body& body) {
  return body.size() == 1 ? body[0].loop() : nullptr;
}
[[nodiscard]] inline std::int64_t extent(const loop::Loop& loop) { return loop.extent.number().value_or(0); }

[[nodiscard]] inline std::optional<SumNest> sum_nest(const loop::Program& program) {
  SumNest sum;
  const loop::Body* body = &program.body;
  for (const loop::Loop* loop = only_loop(*body); loop != nullptr; loop = only_loop(*body)) {
    sum.results.push_back(loop);
    body = &loop->body;
  }
  if (body->size() < 2 || body->size() > 3 || (*body)[0].store() == nullptr || (*body)[1].loop() == nullptr)
    return std::nullopt;
  if (body->size() == 3 && (*body)[2].store() == nullptr) return std::nullopt;
  sum.result = body->size() == 3 ? (*body)[2].store() : (*body)[0].store();
  const loop::Loop* loop = (*body)[1].loop();
  for (; loop != nullptr; loop = only_loop(*body)) {
    sum.sums.push_back(loop);
    body = &loop->body;
  }
  sum.update = body->size() == 1 ? (*body)[0].store() : nullptr;
  const bool is_sum = sum.update != nullptr && sum.update->kind == loop::StoreKind::kAdd && sum.results.size() >= 2 &&
                      !sum.result->at.empty();
  return is_sum ? std::optional(sum) : std::nullopt;
}

/// Vector registers of a core, and numbers of four bytes in each.
struct Registers {
  std::int64_t count = 16, lanes = 8;
  explicit Registers(const tune::Machine& machine) {
    if (std::ranges::find(machine.instructions, "AVX-512") != machine.instructions.end()) count = 32, lanes = 16;
  }
};

/// Rows and vectors of results that lie in registers: r c + c + 1 of them. It hides the latency l of u units if
/// r c >= l u, and loads r + c vectors for r c multiply-adds.
struct RegisterTile {
  std::int64_t rows = 1, vectors = 1;
  /// Steps that a multiply-add takes, of which 1 where the latency is hidden.
  [[nodiscard]] double stalls() const {
    constexpr double kLatency = 4, kUnits = 2;
    return std::max(1.0, kLatency * kUnits / static_cast<double>(rows * vectors));
  }
  /// For a multiply-add; 1 more where the latency shows.
  [[nodiscard]] double loads() const {
    return (stalls() > 1 ? 1 : 0) + static_cast<double>(rows + vectors) / static_cast<double>(rows * vectors);
  }
};

/// Those that fit and whose rows divide `all_rows`, the fewest loads first, `most` of them.
[[nodiscard]] inline std::vector<RegisterTile> register_tiles(const Registers& registers, std::int64_t all_rows,
                                                              std::int64_t most_vectors, std::size_t most) {
  std::vector<RegisterTile> tiles;
  for (std::int64_t vectors = 1; vectors <= std::min<std::int64_t>(4, most_vectors); vectors *= 2) {
    for (std::int64_t rows = 1; rows * vectors + vectors + 1 <= registers.count; ++rows)
      if (all_rows % rows == 0) tiles.push_back({rows, vectors});
  }
  std::ranges::stable_sort(tiles, {}, &RegisterTile::loads);
  if (tiles.size() > most) tiles.resize(most);
  return tiles;
}

}  // namespace rewright
