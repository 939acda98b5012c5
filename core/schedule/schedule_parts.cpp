#include "schedule/schedule_parts.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "loop/expression_walk.h"

namespace rewright::schedule {
namespace {

Part part_of(const StepText& step) {
  static const std::map<std::string, Part> kPartOf = {
      {"inline", Part::kStages},  {"compute-at", Part::kStages},  {"cache", Part::kStages},
      {"rfactor", Part::kStages}, {"cache-write", Part::kStages}, {"vectorise", Part::kLanes},
      {"unroll", Part::kLanes},   {"tensorise", Part::kLanes},    {"pack", Part::kLayout},
      {"serial", Part::kThreads}, {"parallelise", Part::kThreads}};
  const auto found = kPartOf.find(step.words[0]);
  return found == kPartOf.end() ? Part::kTiles : found->second;
}

/// Where it stands beside those of other origins.
int place_of(const StepText& step, bool keeps_stages) {
  switch (part_of(step)) {
    case Part::kStages:
      if (keeps_stages) return 1;
      return step.words[0] == "inline" ? 0 : 2;
    case Part::kTiles: return 1;
    case Part::kLanes: return 3;
    case Part::kLayout: return 4;
    case Part::kThreads: return 5;
  }
  return 0;
}

/// Of the steps that are taken.
std::set<std::string> knobs_in(const std::vector<StepText>& steps) {
  std::set<std::string> names;
  for (const StepText& step : steps) {
    for (const std::string& word : step.words) {
      for (std::size_t at = word.find('$'); at != std::string::npos; at = word.find('$', at + 1)) {
        const auto end = std::find_if(word.begin() + static_cast<std::ptrdiff_t>(at) + 1, word.end(),
                                      [](unsigned char c) { return std::isalnum(c) == 0 && c != '_'; });
        names.emplace(word.begin() + static_cast<std::ptrdiff_t>(at) + 1, end);
      }
    }
  }
  return names;
}

/// Adds the knobs of a source that are taken, their choices, and the constraints among them.
Status add_knobs(Space& all, const Source& source, const std::set<std::string>& taken) {
  Space left = source.space;
  for (std::size_t k = 0; k < source.space.knobs.size(); ++k) {
    const Knob& knob = source.space.knobs[k];
    if (!taken.contains(knob.name)) continue;
    if (std::ranges::find(all.knobs, knob.name, &Knob::name) != all.knobs.end()) {
      return make_error(ErrorCode::kUsage, "{} has a knob {}, and so has a part before it: call one of them otherwise",
                        source.name, knob.name);
    }
    all.knobs.push_back(knob);
    all.given.push_back(source.space.given[k]);
  }
  for (const IndexCondition& condition : source.space.constraints) {
    std::size_t here = 0, elsewhere = 0;
    loop::for_each_index(Guard{condition}, [&](const IndexExpr& part) {
      if (part.kind() == IndexExpr::Kind::kAxis)
        ++(taken.contains(source.space.knobs[part.axis().id].name) ? here : elsewhere);
    });
    if (here == 0) continue;
    left.constraints = {condition};
    const std::string text = constraints_text(left);
    if (elsewhere > 0) {
      return make_error(ErrorCode::kUsage, "{} says 'where {}', of which a part alone cannot be taken", source.name,
                        text);
    }
    REWRIGHT_CHECK(add_constraint(all, text, 1));
  }
  return {};
}

}  // namespace

const char* name_of(Part part) {
  switch (part) {
    case Part::kStages: return "stages";
    case Part::kTiles: return "tiles";
    case Part::kLanes: return "lanes";
    case Part::kLayout: return "layout";
    case Part::kThreads: return "threads";
  }
  return "";
}

Result<Space> composed(std::span<const Source> sources) {
  Space all;
  std::vector<std::pair<int, StepText>> steps;
  for (const Source& source : sources) {
    const auto takes = [&](Part part) { return std::ranges::find(source.parts, part) != source.parts.end(); };
    std::vector<StepText> taken;
    std::set<Part> found;
    for (StepText step : source.space.steps) {
      if (!takes(part_of(step))) continue;
      found.insert(part_of(step));
      if (step.origin.empty()) step.origin = source.name;
      taken.push_back(std::move(step));
    }
    for (const Part part : source.parts) {
      if (!found.contains(part)) {
        return make_error(ErrorCode::kUsage, "{} says nothing about {}: take that from elsewhere, or leave it out",
                          source.name, name_of(part));
      }
    }
    REWRIGHT_CHECK(add_knobs(all, source, knobs_in(taken)));
    const bool keeps_stages = takes(Part::kStages) && takes(Part::kTiles);
    for (StepText& step : taken) steps.emplace_back(place_of(step, keeps_stages), std::move(step));
  }
  std::ranges::stable_sort(steps, {}, &std::pair<int, StepText>::first);
  for (auto& [place, step] : steps) all.steps.push_back(std::move(step));
  REWRIGHT_CHECK(check_steps(all));
  return all;
}

}  // namespace rewright::schedule
