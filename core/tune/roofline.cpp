#include <rewright/tune/roofline.h>

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace rewright::tune {
namespace {

constexpr double kWidestLanes = 16, kTiles = 8;  ///< Lanes of the widest vectors; multiply-adds under way.
constexpr double kOneStep = 1.5, kOneCall = 20, kOneGather = 16;  ///< In vectors' time.
constexpr std::size_t kLevels = 4;

}  // namespace

Roofline::Roofline(std::vector<std::string> columns, Machine machine)
    : columns_(std::move(columns)), machine_(std::move(machine)) {}

double Roofline::value(const std::vector<double>& row, std::string_view column) const {
  const auto at = static_cast<std::size_t>(std::ranges::find(columns_, column) - columns_.begin());
  return at < row.size() ? row[at] : 0;
}

double Roofline::us_of(const Features& program) const {
  double us = 0;
  for (const auto& row : program.stages) us += us_of(row);
  return std::max(us, 1e-3);
}

double Roofline::us_of(const std::vector<double>& row) const {
  // A vector of multiply-adds, at the peak: 2 operations a lane.
  const double vector_us = machine_.peak_gflops > 0 ? 2 * kWidestLanes / machine_.peak_gflops * 1e-3 : 1e-3;
  const double vectors = value(row, "vectors"), tile = value(row, "sums_in_tile");
  const double share = value(row, "multiply_adds") > 0 ? 0.5 : 1;
  const double operations = value(row, "runs") > 0 ? value(row, "operations") / value(row, "runs") : 0;
  const double waits = tile > 0 && tile < kTiles ? kTiles / tile : 1;
  // A shuffle takes the place of a multiply-add.
  const double compute = vectors * std::max(1.0, operations * share) * waits + value(row, "shuffles");
  // Two loads a cycle; what is in all lanes comes with the multiply-add.
  const double loads = value(row, "loads") - 0.5 * value(row, "broadcasts") +
                       kOneGather * value(row, "lanes_used") * value(row, "gathers");
  double us = std::max(compute, loads * std::min(1.0, 2 / std::max(1.0, tile))) * vector_us;
  us += (kOneCall * value(row, "calls") / kWidestLanes + kOneStep * value(row, "steps") / std::max(1.0, tile)) *
        vector_us;
  for (std::size_t level = 0; level < kLevels && level + 1 < machine_.caches.size(); ++level) {
    const double gb_s = machine_.caches[level + 1].read_gb_s;
    if (gb_s > 0) us = std::max(us, value(row, fmt::format("traffic_{}", level + 1)) / gb_s * 1e-3);
  }
  return us;
}

}  // namespace rewright::tune
