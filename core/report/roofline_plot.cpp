#include "report/roofline_plot.h"

#include <algorithm>
#include <cmath>

#include "report/plot.h"

namespace rewright {
namespace {

bool is_shown(const RooflineKernel& kernel) {
  return kernel.operations > 0 && kernel.bytes > 0 && kernel.us > 0 && std::isfinite(kernel.us);
}

std::string cache_name(const tune::CacheLevel& level) {
  const std::string name = level.level == 0 ? "memory" : fmt::format("L{}", level.level);
  return fmt::format("{}, {:.0f} GB/s", name, level.read_gb_s);
}

}  // namespace

std::string roofline_html(std::span<const RooflineKernel> kernels, const tune::Machine& machine, int threads,
                          std::size_t numbered) {
  plot::Series points{"kernels", {}, false};
  double least = INFINITY, most = 0;
  for (std::size_t k = 0; k < kernels.size(); ++k) {
    const RooflineKernel& kernel = kernels[k];
    if (!is_shown(kernel)) continue;
    const double intensity = kernel.operations / kernel.bytes;
    points.points.emplace_back(intensity, kernel.operations / kernel.us / 1e3);
    points.labels.push_back(k < numbered ? fmt::format("{}", k + 1) : "");
    least = std::min(least, intensity);
    most = std::max(most, intensity);
  }
  if (points.points.empty() || machine.peak_gflops <= 0) return "";
  least /= 2, most *= 2;
  const double peak = machine.peak_gflops * threads;
  plot::Lines lines{
      "Kernels under the machine's roofs", "operations a byte", "10^9 operations a second", true, true, false, {}};
  lines.headroom = 1.3;
  lines.series.push_back(std::move(points));
  lines.series.push_back(
      {fmt::format("arithmetic, {:.0f} x 10^9", peak), {{least, peak}, {most, peak}}, true, {}, false});
  for (const tune::CacheLevel& level : machine.caches) {
    const double bandwidth = level.read_gb_s * threads;
    if (bandwidth <= 0 || peak / bandwidth <= least) continue;  // Arithmetic is the lower roof everywhere.
    const double end = std::min(most, peak / bandwidth);
    lines.series.push_back({cache_name(level), {{least, least * bandwidth}, {end, end * bandwidth}}, true, {}, false});
  }
  return plot::lines_html(lines);
}

}  // namespace rewright
