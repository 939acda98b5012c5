// Sums of products, as lowering writes them:
//
//   for results i, ..., j { s = 0; for sums { s += a * b }; y[..., j] = f(s) }
//
// The last store may be missing: s is y. The loop of the last place, here j, need not be the innermost.
#pragma once

#include <rewright/loop/loop_program.h>
#include <rewright/tune/machine.h>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace rewright {

/// A nest of a program that is such a sum.
struct SumNest {
  std::vector<const loop::Loop*> results, sums;
  const loop::Store* update = nullptr;  ///< Inside of the sums.
  const loop::Store* result = nullptr;  ///< The last store to y.
  std::size_t lanes = 0;                ///< The loop of results that y's last place is of.
};

[[nodiscard]] inline const loop::Loop* only_loop(const loop::Body& body) {
  return body.size() == 1 ? body[0].loop() : nullptr;
}
[[nodiscard]] inline std::int64_t extent(const loop::Loop& loop) { return loop.extent.number().value_or(0); }

/// The loop that an index moves with, one place for each iteration.
[[nodiscard]] inline bool moves_with(const IndexExpr& index, const loop::Loop& loop) {
  const auto form = affine(index);
  return form && form->terms.size() == 1 && form->terms[0].first == loop.axis && form->terms[0].second == 1;
}

[[nodiscard]] inline std::optional<SumNest> sum_nest(const loop::Statement& statement) {
  SumNest sum;
  const loop::Body* body = nullptr;
  for (const loop::Loop* loop = statement.loop(); loop != nullptr; loop = only_loop(*body)) {
    sum.results.push_back(loop);
    body = &loop->body;
  }
  if (body == nullptr || body->size() < 2 || body->size() > 3 || (*body)[0].store() == nullptr ||
      (*body)[1].loop() == nullptr)
    return std::nullopt;
  if (body->size() == 3 && (*body)[2].store() == nullptr) return std::nullopt;
  sum.result = body->size() == 3 ? (*body)[2].store() : (*body)[0].store();
  const loop::Loop* loop = (*body)[1].loop();
  for (; loop != nullptr; loop = only_loop(*body)) {
    sum.sums.push_back(loop);
    body = &loop->body;
  }
  sum.update = body->size() == 1 ? (*body)[0].store() : nullptr;
  if (sum.update == nullptr || sum.update->kind != loop::StoreKind::kAdd || sum.results.size() < 2 ||
      sum.result->at.empty())
    return std::nullopt;
  const auto lanes = std::ranges::find_if(
      sum.results, [&](const loop::Loop* each) { return moves_with(sum.result->at.back(), *each); });
  sum.lanes = static_cast<std::size_t>(lanes - sum.results.begin());
  return lanes != sum.results.end() ? std::optional(sum) : std::nullopt;
}

/// Schedules of all of a program's sums, side by side: the first of each, the second of each, ... None where a sum has
/// none. Other nests, of zeros around a tensor for instance, stay as they are.
template <class SchedulesOf>
[[nodiscard]] std::vector<std::string> of_all_sums(const loop::Program& program, const SchedulesOf& schedules_of) {
  std::vector<std::string> all;
  for (const loop::Statement& statement : program.body) {
    const auto sum = sum_nest(statement);
    if (!sum) continue;
    const std::vector<std::string> own = schedules_of(*sum);
    if (own.empty()) return {};
    const std::string last = all.empty() ? "" : all.back();
    all.resize(std::max(all.size(), own.size()), last);
    for (std::size_t i = 0; i < all.size(); ++i) all[i] += own[std::min(i, own.size() - 1)];
  }
  return all;
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

/// Of a weight that the lanes go along: panels as wide as a tile, one after the other, so that a block reads it in
/// order.
[[nodiscard]] inline std::string panels_of(const loop::Program& program, const ValueExpr& value, const Axis& lanes,
                                           std::int64_t columns) {
  if (value.kind() == ValueExpr::Kind::kLoad && program[value.buffer()].role == BufferRole::kWeight) {
    std::optional<std::size_t> along;
    std::vector<std::size_t> others;
    for (std::size_t d = 0; d < value.indices().size(); ++d) {
      if (value.indices()[d] == IndexExpr(lanes)) {
        along = d;
      } else {
        others.push_back(d);
      }
    }
    const std::string& name = program[value.buffer()].name;
    if (along)
      return fmt::format("{} {}_panels {}/{} {} {}%{} pad", name, name, *along, columns, fmt::join(others, " "), *along,
                         columns);
  }
  for (const ValueExpr& operand : value.operands()) {
    if (std::string found = panels_of(program, operand, lanes, columns); !found.empty()) return found;
  }
  return "";
}

}  // namespace rewright
