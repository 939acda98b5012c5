#include "schedule/neighbourhood.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <map>
#include <set>

namespace rewright::schedule {
namespace {

constexpr std::int64_t kSmall = 16, kAround = 2;

/// Around a factor, in order.
std::set<std::int64_t> near(std::int64_t factor) {
  std::set<std::int64_t> all = {factor};
  if (factor <= kSmall) {
    for (std::int64_t other = std::max<std::int64_t>(1, factor - kAround); other <= factor + kAround; ++other)
      all.insert(other);
    return all;
  }
  for (const auto& [times, by] : {std::pair(1, 2), std::pair(3, 4), std::pair(3, 2), std::pair(2, 1)}) {
    if (factor * times % by == 0) all.insert(factor * times / by);
  }
  return all;
}

bool is(const StepText& step, std::string_view transform) { return !step.words.empty() && step.words[0] == transform; }

/// Of a word like "32", "1/32" or "1%32" the number behind the mark; 0: it has none.
std::int64_t number_in(const std::string& word) {
  const std::size_t mark = word.find_last_of("/%");
  const char* start = word.data() + (mark == std::string::npos ? 0 : mark + 1);
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(start, word.data() + word.size(), number);
  return error == std::errc() && end == word.data() + word.size() ? number : 0;
}
void replace_number(std::string& word, const std::string& knob) {
  const std::size_t mark = word.find_last_of("/%");
  word = (mark == std::string::npos ? "" : word.substr(0, mark + 1)) + "$" + knob;
}

}  // namespace

Result<Space> neighbourhood(std::string_view schedule) {
  REWRIGHT_TRY(const Space given, parse_space(schedule));
  if (!given.knobs.empty()) return make_error(ErrorCode::kUsage, "it has knobs already: it is a space itself");
  constexpr std::size_t kFactor = 2;  // split LOOP FACTOR
  std::set<std::int64_t> in_layouts;
  for (const StepText& step : given.steps) {
    if (!is(step, "pack")) continue;
    for (const std::string& word : step.words) in_layouts.insert(number_in(word));
  }
  std::map<std::int64_t, std::string> shared;  // Knobs by factor.
  std::string knobs;
  Space space = given;
  int count = 0;
  for (StepText& step : space.steps) {
    if (!is(step, "split") || step.words.size() <= kFactor) continue;
    const std::int64_t factor = number_in(step.words[kFactor]);
    if (factor < 1) continue;
    std::string name = shared.contains(factor) ? shared[factor] : fmt::format("t{}", ++count);
    if (!shared.contains(factor)) knobs += fmt::format("knob {} in {{{}}}\n", name, fmt::join(near(factor), ", "));
    if (in_layouts.contains(factor)) shared.emplace(factor, name);
    replace_number(step.words[kFactor], name);
  }
  if (count == 0) return make_error(ErrorCode::kUsage, "it splits no loop: there is nothing near it");
  for (StepText& step : space.steps) {
    if (!is(step, "pack")) continue;
    for (std::size_t w = 3; w < step.words.size(); ++w) {  // pack BUFFER NAME PLACES
      const auto knob = shared.find(number_in(step.words[w]));
      const bool has_mark = step.words[w].find_first_of("/%") != std::string::npos;
      if (has_mark && knob != shared.end()) replace_number(step.words[w], knob->second);
    }
  }
  return parse_space(knobs + to_string(space));
}

}  // namespace rewright::schedule
