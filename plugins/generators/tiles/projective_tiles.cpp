// Generator `projective-tiles`: sums of products in blocks that move as few numbers as can be between a cache and what
// lies behind it, with tiles of registers inside of them.
//
// A block has b_l iterations of each loop l. Of an array whose indices name the loops A it holds prod of b_l, l in A:
// at most M numbers, its share of the cache. The blocks with the most iterations are those of the linear programme
//
//   maximise sum of x_l  subject to  sum of x_l, l in A, <= 1 for each array A;  0 <= x_l <= log_M extent_l;  b_l =
//   M^x_l
//
// rounded down to divisors. It is solved for each cache; the schedules come by what they are modelled to take:
//
//   max(operations / peak, numbers moved into the cache / bandwidth behind it)    moved: blocks times what a block
//   holds
//
// Source  Christ et al., Communication lower bounds and optimal algorithms for programs that reference arrays, 2013;
// Dinh &
//         Demmel, Communication-optimal tilings for projective nested loops with arbitrary bounds, SPAA 2020. An index
//         of two loops (i + k) counts as both, which is not projective: there the programme is a heuristic.
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <glpk.h>

#include <cmath>
#include <memory>

#include "blocks.h"
#include "tiles.h"

namespace {
using namespace rewright;

constexpr std::size_t kMostTiles = 2;  ///< Of registers, with each block.

constexpr int kMostMs = 100;  ///< For a programme.

/// The programme's block. `share`: numbers of each array. Errors: kUnsupported, it has no solution; kBudget, the solver
/// was not done in time.
Result<Block> block_of(const BlockedNest& nest, double share) {
  glp_term_out(GLP_OFF);
  const std::unique_ptr<glp_prob, void (*)(glp_prob*)> programme(glp_create_prob(), glp_delete_prob);
  glp_prob* lp = programme.get();
  glp_set_obj_dir(lp, GLP_MAX);
  const std::size_t n = nest.loops.size();
  glp_add_rows(lp, static_cast<int>(nest.arrays.size()));
  glp_add_cols(lp, static_cast<int>(n));
  for (std::size_t a = 0; a < nest.arrays.size(); ++a) glp_set_row_bnds(lp, static_cast<int>(a) + 1, GLP_UP, 0, 1);
  for (std::size_t l = 0; l < n; ++l) {
    const int column = static_cast<int>(l) + 1;
    const double most = std::log(static_cast<double>(extent(*nest.loops[l]))) / std::log(share);
    glp_set_obj_coef(lp, column, 1);
    glp_set_col_bnds(lp, column, most > 0 ? GLP_DB : GLP_FX, 0, most);
    std::vector<int> rows = {0};  // From 1 on.
    for (std::size_t a = 0; a < nest.arrays.size(); ++a)
      if (nest.arrays[a].contains(nest.loops[l]->axis.id)) rows.push_back(static_cast<int>(a) + 1);
    const std::vector<double> ones(rows.size(), 1);
    glp_set_mat_col(lp, column, static_cast<int>(rows.size()) - 1, rows.data(), ones.data());
  }
  glp_smcp limits;
  glp_init_smcp(&limits);
  limits.tm_lim = kMostMs;
  const int fault = glp_simplex(lp, &limits);
  if (fault == GLP_ETMLIM || fault == GLP_EITLIM)
    return make_error(ErrorCode::kBudget, "its linear programme was not solved within {} ms", kMostMs);
  if (fault != 0 || glp_get_status(lp) != GLP_OPT)
    return make_error(ErrorCode::kUnsupported, "its linear programme has no solution");
  Block block;
  for (std::size_t l = 0; l < n; ++l)
    block.push_back(greatest_divisor(
        extent(*nest.loops[l]),
        static_cast<std::int64_t>(std::pow(share, glp_get_col_prim(lp, static_cast<int>(l) + 1)) + 1e-6)));
  return block;
}

class ProjectiveTiles final : public Generator {
 public:
  [[nodiscard]] std::string name() const override { return "projective-tiles"; }
  [[nodiscard]] std::string summary() const override {
    return "Sums of products in blocks that move the fewest numbers, by a linear programme for each cache";
  }
  [[nodiscard]] std::vector<std::string> schedules(const loop::Program& program,
                                                   const tune::Machine& machine) const override {
    std::vector<std::string> unused;
    return of_all_sums(program, [&](const SumNest& sum) { return schedules_of(program, sum, machine, unused); });
  }
  [[nodiscard]] std::vector<std::string> notes(const loop::Program& program,
                                               const tune::Machine& machine) const override {
    std::vector<std::string> notes;
    if (machine.caches.size() < 2)
      notes.emplace_back("of this machine no caches are known: there are no blocks for them");
    const auto all =
        of_all_sums(program, [&](const SumNest& sum) { return schedules_of(program, sum, machine, notes); });
    static_cast<void>(all);
    std::ranges::sort(notes);
    const auto [first, last] = std::ranges::unique(notes);
    notes.erase(first, last);
    return notes;
  }

 private:
  static std::vector<std::string> schedules_of(const loop::Program& program, const SumNest& sum,
                                               const tune::Machine& machine, std::vector<std::string>& notes) {
    const BlockedNest nest = blocked_nest(sum);
    const Registers registers(machine);
    const loop::Loop& last = *sum.results.back();
    const std::int64_t vectors = extent(last) / registers.lanes;
    // A sum that is not y itself lies as its loops do: only there are lanes of the innermost one side by side.
    if (vectors < 1 || sum.lanes + 1 != sum.results.size()) return {};
    std::vector<std::pair<double, std::string>> found;
    for (std::size_t level = 0; level + 1 < machine.caches.size(); ++level) {
      const double share =
          static_cast<double>(machine.caches[level].bytes) / 4 / static_cast<double>(nest.arrays.size());
      const auto note = [&](const std::string& why) {
        notes.push_back(fmt::format("cache {} of {} bytes: {}; there are no blocks for it", level + 1,
                                    machine.caches[level].bytes, why));
      };
      if (share < static_cast<double>(registers.lanes)) {
        note(fmt::format("it holds no vector of each of {} arrays", nest.arrays.size()));
        continue;
      }
      const Result<Block> block = block_of(nest, share);
      if (!block) note(block.error().message);
      for (std::size_t r = 0; block && r + 1 < nest.results; ++r) {
        for (const RegisterTile& tile : register_tiles(registers, (*block)[r], vectors, kMostTiles)) {
          const std::int64_t columns = tile.vectors * registers.lanes;
          if (extent(last) % columns != 0) continue;
          Block rounded = *block;
          std::int64_t& width = rounded[nest.results - 1];  // Of whole tiles.
          width = columns * greatest_divisor(extent(last) / columns, std::max<std::int64_t>(1, width / columns));
          found.emplace_back(modelled_us(nest, rounded, level, tile, machine),
                             text_of(nest, rounded, r, tile, columns, level, program[sum.update->buffer].name,
                                     panels_of(program, sum.update->value, last.axis, columns)));
        }
      }
    }
    return in_order(std::move(found));
  }
};

}  // namespace

std::unique_ptr<rewright::Generator> projective_tiles() { return std::make_unique<ProjectiveTiles>(); }
