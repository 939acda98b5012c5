// Generator `placed-tiles`: every prime factor of every loop of a sum of products is placed once: in a tile of
// registers, in the block of a cache, or outside of all. A integer programme says where.
//
//   x[f, v] = 1    factor f, of loop l, is at level v
//   capacity       of each array and cache v: the sum of log f over factors of its loops at levels up to v is at most
//   the
//                  logarithm of its share of the cache; of the registers, rows times vectors are at most what fits
//   maximise       over levels v, weighed by the time that a number takes from behind v, and arrays: the sum of log f
//   over
//                  factors at levels up to v of loops that the array does not name. So often is read again what v holds
//
// Rows of the tile are of one loop, each in turn; a vector of the last place of the result is in the tile before.
//
// Source  Huang et al., CoSA: scheduling by constrained optimization for spatial accelerators, ISCA 2021.
#include <fmt/format.h>
#include <glpk.h>

#include <cmath>
#include <map>
#include <memory>

#include "blocks.h"
#include "tiles.h"

namespace {
using namespace rewright;

constexpr int kMostMs = 1000;  ///< For a programme.

/// Primes, and how often each divides.
std::map<std::int64_t, int> prime_factors(std::int64_t number) {
  std::map<std::int64_t, int> factors;
  for (std::int64_t prime = 2; prime * prime <= number; ++prime) {
    for (; number % prime == 0; number /= prime) ++factors[prime];
  }
  if (number > 1) ++factors[number];
  return factors;
}

/// Equal ones of a loop.
struct Factor {
  std::size_t loop = 0;
  std::int64_t prime = 1;
  int count = 1;
};
/// Iterations of each loop in the tile, and in the block of each cache, what is in it included.
struct Placement {
  RegisterTile tile;
  std::vector<Block> blocks;
  bool is_best = true;  ///< False: the solver was not done.
};

class Programme {
 public:
  Programme(const BlockedNest& nest, const tune::Machine& machine, const Registers& registers, std::size_t rows)
      : nest_(nest), machine_(machine), registers_(registers), rows_(rows), lanes_loop_(nest.results - 1) {
    for (std::size_t l = 0; l < nest.loops.size(); ++l) {
      const std::int64_t all = extent(*nest.loops[l]) / (l == lanes_loop_ ? registers.lanes : 1);
      for (const auto& [prime, count] : prime_factors(all)) factors_.push_back({l, prime, count});
    }
  }

  /// `most`: rows times vectors. Errors: kUnsupported, there is no placement; kBudget, none was found in time.
  Result<Placement> solve(std::int64_t most) {
    const std::unique_ptr<glp_prob, void (*)(glp_prob*)> programme(glp_create_prob(), glp_delete_prob);
    lp_ = programme.get();
    glp_term_out(GLP_OFF);
    glp_set_obj_dir(lp_, GLP_MAX);
    glp_add_cols(lp_, static_cast<int>(factors_.size() * levels()));
    for (std::size_t f = 0; f < factors_.size(); ++f) add_factor(f);
    for (std::size_t v = 1; v + 1 < levels(); ++v) {
      for (const auto& array : nest_.arrays) add_capacity(array, v);
    }
    std::vector<int> columns = {0};
    std::vector<double> sizes = {0};
    for (std::size_t f = 0; f < factors_.size(); ++f) add_term(f, 0, columns, sizes);
    add_row(columns, sizes, std::log(static_cast<double>(most)) + 1e-9, GLP_UP);
    glp_iocp limits;
    glp_init_iocp(&limits);
    limits.presolve = GLP_ON;
    limits.tm_lim = kMostMs;
    const int fault = glp_intopt(lp_, &limits);
    const int status = glp_mip_status(lp_);
    if (fault == GLP_ETMLIM && status != GLP_FEAS && status != GLP_OPT)
      return make_error(ErrorCode::kBudget, "its integer programme had no solution after {} ms", kMostMs);
    if (status != GLP_FEAS && status != GLP_OPT)
      return make_error(ErrorCode::kUnsupported, "its integer programme has no solution");
    return placement(status == GLP_OPT);
  }

 private:
  /// The tile, caches but for memory, outside.
  [[nodiscard]] std::size_t levels() const { return machine_.caches.size() + 1; }
  [[nodiscard]] int column(std::size_t f, std::size_t v) const { return static_cast<int>(f * levels() + v) + 1; }
  [[nodiscard]] double size(std::size_t f) const { return std::log(static_cast<double>(factors_[f].prime)); }
  [[nodiscard]] bool names(const std::set<std::uint32_t>& array, std::size_t f) const {
    return array.contains(nest_.loops[factors_[f].loop]->axis.id);
  }
  /// From behind a level, beside the first cache.
  [[nodiscard]] double weight(std::size_t v) const {
    return machine_.caches.front().read_gb_s / std::max(1.0, machine_.caches[v].read_gb_s);
  }
  void add_term(std::size_t f, std::size_t up_to, std::vector<int>& columns, std::vector<double>& sizes) const {
    for (std::size_t v = 0; v <= up_to; ++v) {
      columns.push_back(column(f, v));
      sizes.push_back(size(f));
    }
  }
  void add_row(const std::vector<int>& columns, const std::vector<double>& values, double bound, int kind) {
    const int row = glp_add_rows(lp_, 1);
    glp_set_row_bnds(lp_, row, kind, bound, bound);
    glp_set_mat_row(lp_, row, static_cast<int>(columns.size()) - 1, columns.data(), values.data());
  }
  void add_factor(std::size_t f) {
    std::vector<int> columns = {0};
    for (std::size_t v = 0; v < levels(); ++v) {
      const int own = column(f, v);
      glp_set_col_kind(lp_, own, GLP_IV);
      const std::size_t loop = factors_[f].loop;
      const bool is_out = v == 0 && loop != rows_ && loop != lanes_loop_;
      glp_set_col_bnds(lp_, own, is_out ? GLP_FX : GLP_DB, 0, is_out ? 0 : factors_[f].count);
      double again = 0;
      for (std::size_t u = v; u + 1 < levels(); ++u) {
        for (const auto& array : nest_.arrays)
          if (!names(array, f)) again += weight(u) * size(f);
      }
      glp_set_obj_coef(lp_, own, again);
      columns.push_back(own);
    }
    add_row(columns, std::vector<double>(columns.size(), 1), factors_[f].count, GLP_FX);
  }
  void add_capacity(const std::set<std::uint32_t>& array, std::size_t v) {
    const double share =
        static_cast<double>(machine_.caches[v - 1].bytes) / 4 / static_cast<double>(nest_.arrays.size());
    const bool has_lanes = array.contains(nest_.loops[lanes_loop_]->axis.id);
    std::vector<int> columns = {0};
    std::vector<double> sizes = {0};
    for (std::size_t f = 0; f < factors_.size(); ++f) {
      if (names(array, f)) add_term(f, v, columns, sizes);
    }
    const double lanes = has_lanes ? std::log(static_cast<double>(registers_.lanes)) : 0;
    if (columns.size() > 1) add_row(columns, sizes, std::log(share) - lanes, GLP_UP);
  }
  [[nodiscard]] Placement placement(bool is_best) const {
    Placement found{{1, 1}, {}, is_best};
    for (std::size_t v = 0; v + 1 < levels(); ++v) {
      Block block(nest_.loops.size(), 1);
      for (std::size_t f = 0; f < factors_.size(); ++f) {
        for (std::size_t u = 0; u <= v; ++u)
          for (auto left = std::lround(glp_mip_col_val(lp_, column(f, u))); left > 0; --left)
            block[factors_[f].loop] *= factors_[f].prime;
      }
      if (v == 0) found.tile = {block[rows_], block[lanes_loop_]};
      block[lanes_loop_] *= registers_.lanes;
      if (v > 0) found.blocks.push_back(std::move(block));
    }
    return found;
  }

  const BlockedNest& nest_;
  const tune::Machine& machine_;
  const Registers& registers_;
  std::size_t rows_, lanes_loop_;
  std::vector<Factor> factors_;
  glp_prob* lp_ = nullptr;
};

class PlacedTiles final : public Generator {
 public:
  [[nodiscard]] std::string name() const override { return "placed-tiles"; }
  [[nodiscard]] std::string summary() const override {
    return "Sums of products, each factor of a loop placed at a level by a integer programme";
  }
  [[nodiscard]] std::vector<std::string> schedules(const loop::Program& program,
                                                   const tune::Machine& machine) const override {
    std::vector<std::string> unused;
    return all_of(program, machine, unused);
  }
  [[nodiscard]] std::vector<std::string> notes(const loop::Program& program,
                                               const tune::Machine& machine) const override {
    std::vector<std::string> notes;
    const auto unused = all_of(program, machine, notes);
    return notes;
  }

 private:
  static std::vector<std::string> all_of(const loop::Program& program, const tune::Machine& machine,
                                         std::vector<std::string>& notes) {
    if (machine.caches.size() < 2) {
      notes.emplace_back("of this machine no caches are known: nothing is placed");
      return {};
    }
    return of_all_sums(program, [&](const SumNest& sum) { return schedules_of(program, sum, machine, notes); });
  }
  static std::vector<std::string> schedules_of(const loop::Program& program, const SumNest& sum,
                                               const tune::Machine& machine, std::vector<std::string>& notes) {
    const BlockedNest nest = blocked_nest(sum);
    const Registers registers(machine);
    const loop::Loop& last = *sum.results.back();
    // A sum that is not y itself lies as its loops do: only there are lanes of the innermost one side by side.
    if (extent(last) % registers.lanes != 0 || sum.lanes + 1 != sum.results.size()) return {};
    std::vector<std::pair<double, std::string>> found;
    for (std::size_t r = 0; r + 1 < nest.results; ++r) {
      const auto placed = placement_of(nest, machine, registers, r);
      if (!placed || !placed->is_best) {
        notes.push_back(placed ? fmt::format("rows of {}: its integer programme was not solved in {} ms; the "
                                             "best placement until then is taken",
                                             nest.loops[r]->axis.name, kMostMs)
                               : fmt::format("rows of {}: {}; there is no schedule with these",
                                             nest.loops[r]->axis.name, placed.error().message));
      }
      if (!placed) continue;
      const std::int64_t columns = placed->tile.vectors * registers.lanes;
      for (std::size_t level = 0; level < placed->blocks.size() && level + 1 < machine.caches.size(); ++level) {
        found.emplace_back(
            modelled_us(nest, placed->blocks[level], level, placed->tile, machine),
            text_of(nest, placed->blocks[level], r, placed->tile, columns, level, program[sum.update->buffer].name,
                    panels_of(program, sum.update->value, last.axis, columns)));
      }
    }
    return in_order(std::move(found));
  }
  /// With as large a tile as there are registers for.
  static Result<Placement> placement_of(const BlockedNest& nest, const tune::Machine& machine,
                                        const Registers& registers, std::size_t rows) {
    Programme programme(nest, machine, registers, rows);
    for (std::int64_t most = registers.count - 2;; --most) {
      REWRIGHT_TRY(Placement placed, programme.solve(std::max<std::int64_t>(most, 1)));
      const RegisterTile& tile = placed.tile;
      if (tile.rows * tile.vectors + tile.vectors + 1 <= registers.count || most <= 1) return placed;
      most = std::min(most, tile.rows * tile.vectors);
    }
  }
};

}  // namespace

std::unique_ptr<rewright::Generator> placed_tiles() { return std::make_unique<PlacedTiles>(); }
