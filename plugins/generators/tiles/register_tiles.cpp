// Generator `register-tiles`: sums of products as tiles of results in registers, by the model of the registers.
//
// The loop of y's last place, j, becomes vectors; one other loop of results, i, becomes rows of a tile (sum_nest.h).
// The tiles with the fewest loads for each multiply-add come first, those that hide the latency in front; the other
// loops stay as they are.
//
// Source  Goto & van de Geijn, Anatomy of high-performance matrix multiplication, 2008; Low et al., Analytical modeling
//         is enough for high-performance BLIS, 2016.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "sum_nest.h"
#include "tiles.h"

namespace {
using namespace rewright;

constexpr std::size_t kMostTiles = 4;  ///< Of each loop that may be the rows.

class RegisterTiles final : public Generator {
 public:
  [[nodiscard]] std::string name() const override { return "register-tiles"; }
  [[nodiscard]] std::string summary() const override { return "Sums of products in tiles of registers"; }
  [[nodiscard]] std::vector<std::string> schedules(const loop::Program& program,
                                                   const tune::Machine& machine) const override {
    const Registers registers(machine);
    return of_all_sums(program, [&](const SumNest& sum) {
      const std::int64_t vectors = extent(*sum.results[sum.lanes]) / registers.lanes;
      std::vector<std::string> texts;
      for (std::size_t r = sum.results.size(); vectors > 0 && r-- > 0;) {
        const bool is_last_chance = r == (sum.lanes == 0 ? 1 : 0) && texts.empty();
        if (r == sum.lanes || (extent(*sum.results[r]) == 1 && !is_last_chance)) continue;
        for (const RegisterTile& tile : register_tiles(registers, extent(*sum.results[r]), vectors, kMostTiles))
          texts.push_back(text_of(program, sum, r, tile, tile.vectors * registers.lanes));
      }
      return texts;
    });
  }

 private:
  static std::string text_of(const loop::Program& program, const SumNest& sum, std::size_t r, const RegisterTile& tile,
                             std::int64_t columns) {
    const std::string rows = sum.results[r]->axis.name, lanes = sum.results[sum.lanes]->axis.name;
    std::vector<std::string> outer, sums;
    for (std::size_t i = 0; i < sum.results.size(); ++i) {
      if (i != sum.lanes) outer.push_back(i == r ? rows + "/0" : sum.results[i]->axis.name);
    }
    for (const loop::Loop* loop : sum.sums) sums.push_back(loop->axis.name);
    std::string text = fmt::format("# {} rows of {}, {} columns of {}\nsplit {} {}; split {} {} tail=pad\n", tile.rows,
                                   rows, columns, lanes, rows, tile.rows, lanes, columns);
    text += fmt::format("reorder {} {}/0 {}/1 {}/1\ndistribute {}/1; distribute {}/1\nreorder {} {}/1 {}/1\n",
                        fmt::join(outer, " "), lanes, rows, lanes, lanes, rows, fmt::join(sums, " "), rows, lanes);
    text += fmt::format("unroll {}/1; vectorise {}/1\n", rows, lanes);
    for (const char* copy : {"/3", "/4"})  // Before and after the sum; some sums have nothing after.
      text += fmt::format("unroll {}/1{} or skip; vectorise {}/1{} or skip\n", rows, copy, lanes, copy);
    const std::string panels = panels_of(program, sum.update->value, sum.results[sum.lanes]->axis, columns);
    return panels.empty() ? text : text + fmt::format("pack {} or skip\n", panels);
  }
};

}  // namespace

std::unique_ptr<rewright::Generator> register_tiles() { return std::make_unique<RegisterTiles>(); }
