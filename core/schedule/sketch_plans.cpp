#include "schedule/sketch_plans.h"

#include <algorithm>
#include <array>
#include <numeric>

#include "schedule/nest_scheduling.h"

namespace rewright::schedule {
namespace {

constexpr std::int64_t kMostLanes = 64;
constexpr std::int64_t kLeastBlockedSum = 32;
constexpr std::size_t kMostOrdered = 4;
constexpr std::array<std::int64_t, 14> kWishes = {1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 128, 256};

std::vector<std::int64_t> wishes_below(std::int64_t most) {
  std::vector<std::int64_t> numbers;
  for (const std::int64_t wish : kWishes) {
    if (wish <= most) numbers.push_back(wish);
  }
  return numbers;
}

class KnobMaker {
 public:
  KnobMaker(std::string stage, PlanKnobs& made) : stage_(std::move(stage)), made_(made) {}

  std::optional<std::size_t> add(const std::string& what, SketchKnobKind kind, std::vector<std::int64_t> numbers,
                                 std::size_t loops = 0) {
    if (numbers.empty() && loops == 0) return std::nullopt;
    made_.knobs.push_back({fmt::format("{}: {}", stage_, what), stage_, kind, std::move(numbers), loops});
    return made_.knobs.size() - 1;
  }

 private:
  std::string stage_;
  PlanKnobs& made_;
};

void add_tile_knobs(const Program& program, const Nest& nest, StageForm form, const SketchOptions& options,
                    KnobMaker& maker, PlanKnobs& made) {
  const Loop& lanes = *lanes_of(program, nest);
  std::vector<std::int64_t> widths;
  for (std::int64_t width = options.unit.lanes; width <= kMostLanes; width += options.unit.lanes) {
    widths.push_back(std::min(width, extent(lanes)));
    if (width >= extent(lanes)) break;
  }
  made.vectors = maker.add("width", SketchKnobKind::kTile, widths);

  std::vector<std::int64_t> rows = {0}, places;
  std::int64_t most_places = 1;
  for (std::size_t i = 0; i < nest.outer.size(); ++i) {
    const Loop& loop = *nest.outer[i];
    const bool is_free = std::ranges::none_of(
        nest.conditions, [&](const IndexCondition& condition) { return names_axis(condition, loop.axis); });
    if (&loop == &lanes || extent(loop) < 2 || !is_free) continue;
    rows.push_back(static_cast<std::int64_t>(i) + 1);
    most_places = std::max(most_places, std::min(extent(loop), kMostPlaces));
  }
  if (rows.size() > 1) {
    if (rows.size() == 2) rows.erase(rows.begin());  // One place is none.
    made.rows = maker.add("rows", SketchKnobKind::kTile, rows);
    for (std::int64_t place = 1; place <= most_places; ++place) places.push_back(place);
    made.places = maker.add("places", SketchKnobKind::kTile, places);
  }

  const TileLevels levels = levels_of(options.structure, form);
  std::size_t moving = 0;
  for (const Loop* loop : nest.outer) {
    auto& blocks = made.blocks.emplace_back();
    if (extent(*loop) > 1) ++moving;
    for (std::size_t level = 1; level < levels.outer + levels.blocks; ++level) {
      const std::int64_t most = loop == &lanes ? extent(lanes) / options.unit.lanes : extent(*loop);
      const auto numbers = wishes_below(most);
      blocks.push_back(numbers.size() < 2 ? std::nullopt
                                          : maker.add(fmt::format("{} in level {}", loop->axis.name, level),
                                                      SketchKnobKind::kTile, numbers));
    }
  }
  for (const Loop* sum : nest.reduced) {
    auto numbers = wishes_below(extent(*sum) - 1);
    std::erase_if(numbers, [](std::int64_t number) { return number < 8; });
    numbers.push_back(extent(*sum));
    const bool is_blocked = form != StageForm::kTile && extent(*sum) >= kLeastBlockedSum;
    made.sums.push_back(is_blocked
                            ? maker.add(fmt::format("{} at once", sum->axis.name), SketchKnobKind::kTile, numbers)
                            : std::nullopt);
  }
  if (moving > 1 && moving <= kMostOrdered) made.order = maker.add("order", SketchKnobKind::kOrder, {}, moving);
  const Panels panels = panels_of(program, nest, lanes, widths.front(), true);
  if (!panels.packs.empty() && !panels.gathers) made.panels = maker.add("panels", SketchKnobKind::kLocation, {1, 0});
  made.unroll = maker.add("unroll", SketchKnobKind::kUnroll, {1, 4, 16, 64});
  if (options.threads > 1) made.parallel = maker.add("parallel", SketchKnobKind::kParallel, {0, 1});
}

}  // namespace

TileLevels levels_of(const std::string& structure, StageForm form) {
  const std::size_t first = structure.find('R'), last = structure.rfind('R');
  const auto in = [&](std::size_t from, std::size_t to) {
    return static_cast<std::size_t>(std::count(structure.begin() + static_cast<std::ptrdiff_t>(from),
                                               structure.begin() + static_cast<std::ptrdiff_t>(to), 'S'));
  };
  if (form == StageForm::kTile) return {in(0, last), 0};
  return {in(0, first), in(first, last)};
}

PlanKnobs knobs_of(const loop::Program& program, const Nest& nest, const std::string& stage, StageForm form,
                   const SketchOptions& options) {
  PlanKnobs made;
  KnobMaker maker(stage, made);
  if (is_tile(form)) {
    add_tile_knobs(program, nest, form, options, maker, made);
  } else if (form == StageForm::kPartsInLanes) {
    made.vectors = maker.add("vectors of partial sums", SketchKnobKind::kTile, {1, 2, 4, 8});
  } else if (form == StageForm::kPartsOutside) {
    made.vectors = maker.add("parts of the sum", SketchKnobKind::kTile, {2, 4, 8, 16});
  } else if (form == StageForm::kReader) {
    std::vector<std::int64_t> depths;
    for (std::size_t depth = 1; depth < nest.outer.size() && depth <= kMostOrdered; ++depth)
      depths.push_back(static_cast<std::int64_t>(depth));
    made.depth = maker.add("location", SketchKnobKind::kLocation, depths);
    made.at_once = maker.add("at once", SketchKnobKind::kTile, {1, 2, 4, 8, 14, 16, 32, 64});
  }
  return made;
}

Status check_structure(const std::string& structure) {
  const auto outer = std::ranges::count(structure, 'S'), sums = std::ranges::count(structure, 'R');
  const bool is_word = outer + sums == std::ssize(structure) && outer >= 2 && outer <= 5 && sums >= 1 && sums <= 2 &&
                       structure.front() == 'S' && structure.back() == 'S' &&
                       (sums == 1 || structure.find("RR") == std::string::npos);
  if (is_word) return {};
  return make_error(ErrorCode::kUsage,
                    "'{}' is no structure of tiles: it has 2 to 5 S and 1 or 2 R, begins and ends with S, and no R "
                    "follows another; SSRSRS is one",
                    structure);
}

std::int64_t choice_count(const SketchKnob& knob) {
  if (!knob.numbers.empty()) return std::ssize(knob.numbers);
  std::int64_t count = 1;
  for (std::size_t n = 2; n <= knob.loops; ++n) count *= static_cast<std::int64_t>(n);
  return count;
}

std::vector<std::size_t> order_number(std::size_t count, std::int64_t choice) {
  std::vector<std::size_t> order(count);
  std::iota(order.begin(), order.end(), std::size_t{0});
  for (; choice > 0; --choice) std::ranges::next_permutation(order);
  return order;
}

const char* name_of(StageForm form) {
  switch (form) {
    case StageForm::kInline: return "inline";
    case StageForm::kPartsInLanes: return "partial sums in lanes";
    case StageForm::kPartsOutside: return "partial sums outside";
    case StageForm::kTileInPlace: return "tiles, sums in place";
    case StageForm::kTileInBlock: return "tiles, sums in a block";
    case StageForm::kTile: return "tiles, sums in registers";
    case StageForm::kReader: return "around what it reads";
    case StageForm::kAtReader: return "at its reader";
    case StageForm::kPlain: break;
  }
  return "plain";
}

}  // namespace rewright::schedule
