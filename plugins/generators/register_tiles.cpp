// Generator `register-tiles`: sums of products as tiles of results in registers, by the model of the registers.
//
//   for results i, ..., j { acc = 0; for sums { acc += a * b }; y[..., j] = f(acc) }
//
// j, the last place of y, becomes vectors; one other loop of results, i, becomes rows of a tile, r of which divide it.
// A tile of r rows and c vectors needs r c + c + 1 registers; it hides the latency l of u units if r c >= l u, and
// loads r + c vectors for r c multiply-adds. The tiles with the fewest loads for each multiply-add come first, those
// that hide the latency in front; the other loops stay as they are.
//
// Source  Goto & van de Geijn, Anatomy of high-performance matrix multiplication, 2008; Low et al., Analytical modeling
//         is enough for high-performance BLIS, 2016.
#include <rewright/plugin/plugin.h>
#include <rewright/tune/generator.h>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <optional>

namespace {
using namespace rewright;

constexpr std::size_t kMostTiles = 4;  ///< Of each loop that may be the rows.
constexpr std::int64_t kLatency = 4, kUnits = 2;

/// The only nest of a program that is such a sum.
struct Sum {
  std::vector<const loop::Loop*> results, sums;
  const loop::Store* result = nullptr;
};

const loop::Loop* only_loop(const loop::Body& body) { return body.size() == 1 ? body[0].loop() : nullptr; }

std::optional<Sum> sum_of(const loop::Program& program) {
  Sum sum;
  const loop::Body* body = &program.body;
  for (const loop::Loop* loop = only_loop(*body); loop != nullptr; loop = only_loop(*body)) {
    sum.results.push_back(loop);
    body = &loop->body;
  }
  if (body->size() != 3 || (*body)[0].store() == nullptr || (*body)[1].loop() == nullptr ||
      (*body)[2].store() == nullptr)
    return std::nullopt;
  sum.result = (*body)[2].store();
  const loop::Loop* loop = (*body)[1].loop();
  for (; loop != nullptr; loop = only_loop(*body)) {
    sum.sums.push_back(loop);
    body = &loop->body;
  }
  const bool is_sum = body->size() == 1 && (*body)[0].store() != nullptr &&
                      (*body)[0].store()->kind == loop::StoreKind::kAdd && sum.results.size() >= 2;
  return is_sum ? std::optional(sum) : std::nullopt;
}

std::int64_t extent(const loop::Loop& loop) { return loop.extent.number().value_or(0); }

struct Tile {
  std::int64_t rows = 1, vectors = 1;
  /// For a multiply-add; 1 more where the latency shows.
  [[nodiscard]] double loads() const {
    const double rate = static_cast<double>(rows + vectors) / static_cast<double>(rows * vectors);
    return rows * vectors >= kLatency * kUnits ? rate : 1 + rate;
  }
};

/// Those that fit, the best first.
std::vector<Tile> tiles_of(std::int64_t registers, std::int64_t all_rows, std::int64_t most_vectors) {
  std::vector<Tile> tiles;
  for (std::int64_t vectors = 1; vectors <= std::min<std::int64_t>(4, most_vectors); vectors *= 2) {
    for (std::int64_t rows = 1; rows * vectors + vectors + 1 <= registers; ++rows)
      if (all_rows % rows == 0) tiles.push_back({rows, vectors});
  }
  std::ranges::stable_sort(tiles, {}, &Tile::loads);
  if (tiles.size() > kMostTiles) tiles.resize(kMostTiles);
  return tiles;
}

class RegisterTiles final : public Generator {
 public:
  [[nodiscard]] std::string name() const override { return "register-tiles"; }
  [[nodiscard]] std::string summary() const override { return "Sums of products in tiles of registers"; }
  [[nodiscard]] std::vector<std::string> schedules(const loop::Program& program,
                                                   const tune::Machine& machine) const override {
    const auto sum = sum_of(program);
    if (!sum) return {};
    const bool is_wide = std::ranges::find(machine.instructions, "AVX-512") != machine.instructions.end();
    const std::int64_t lanes = is_wide ? 16 : 8, registers = is_wide ? 32 : 16;
    const loop::Loop& last = *sum->results.back();
    const std::int64_t vectors = extent(last) / lanes;
    if (vectors < 1 || sum->result->at.empty() || !(sum->result->at.back() == IndexExpr(last.axis))) return {};
    std::vector<std::string> texts;
    for (std::size_t r = sum->results.size() - 1; r-- > 0;) {
      for (const Tile& tile : tiles_of(registers, extent(*sum->results[r]), vectors))
        texts.push_back(text_of(*sum, r, tile, tile.vectors * lanes));
    }
    return texts;
  }

 private:
  static std::string text_of(const Sum& sum, std::size_t r, const Tile& tile, std::int64_t columns) {
    const std::string rows = sum.results[r]->axis.name, lanes = sum.results.back()->axis.name;
    std::vector<std::string> outer, sums;
    for (std::size_t i = 0; i + 1 < sum.results.size(); ++i)
      outer.push_back(i == r ? rows + "/0" : sum.results[i]->axis.name);
    for (const loop::Loop* loop : sum.sums) sums.push_back(loop->axis.name);
    std::string text = fmt::format("# {} rows of {}, {} columns of {}\nsplit {} {}; split {} {} tail=pad\n", tile.rows,
                                   rows, columns, lanes, rows, tile.rows, lanes, columns);
    text += fmt::format("reorder {} {}/0 {}/1 {}/1\ndistribute {}/1; distribute {}/1\nreorder {} {}/1 {}/1\n",
                        fmt::join(outer, " "), lanes, rows, lanes, lanes, rows, fmt::join(sums, " "), rows, lanes);
    for (const char* copy : {"", "/3", "/4"})
      text += fmt::format("unroll {}/1{}; vectorise {}/1{}\n", rows, copy, lanes, copy);
    return text;
  }
};

}  // namespace

REWRIGHT_PLUGIN("generator.register_tiles", "1.0.0", "Schedules by a model of the registers") {
  registry.add<Generator>(std::make_unique<RegisterTiles>());
}
