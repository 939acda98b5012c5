#include "optimize/gate_setting.h"

#include <fmt/format.h>

#include <string>
#include <utility>

namespace rewright {
namespace {

constexpr double kLarge = 1024;

GateSetting drawn(std::size_t case_index, const InputDraw& draw, std::string words) {
  GateSetting setting{case_index, draw, std::move(words)};
  setting.draw.leave_out = true;
  return setting;
}

GateSetting scaled(double scale) { return drawn(0, {.scale = scale}, fmt::format("inputs times {:.4g}", scale)); }

}  // namespace

std::vector<GateSetting> gate_settings(std::size_t cases, int trials, bool infinite, double large) {
  std::vector<GateSetting> settings;
  for (std::size_t i = 0; i < cases; ++i) settings.push_back(drawn(i, {}, ""));
  settings.push_back(scaled(kLarge));
  for (int trial = 1; trial < trials; ++trial)
    settings.push_back(drawn(0, {.trial = trial}, fmt::format("trial {}", trial + 1)));
  if (large > 1) settings.push_back(scaled(large));
  settings.push_back(scaled(1 / kLarge));
  settings.push_back(drawn(0, {.scale = 0}, "zeros"));
  if (infinite) settings.push_back(drawn(0, {.infinite = true}, "some infinite"));
  return settings;
}

GateSetting with_smaller_inputs(GateSetting setting) {
  const int trial = setting.draw.trial;
  setting = scaled(setting.draw.scale > 4 ? setting.draw.scale / 4 : 0);
  setting.draw.trial = trial;
  return setting;
}

}  // namespace rewright
