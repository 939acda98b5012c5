#include "tune/transfer.h"

#include <algorithm>
#include <cmath>
#include <set>
#include <tuple>
#include <variant>

#include "schedule/apply.h"
#include "schedule/one_shot.h"
#include "tune/nearest_record.h"

namespace rewright::tune {
namespace {

using schedule::OneShot;
using schedule::SumNest;
using schedule::Tail;

/// Of kernels of one class whose programs are not the same but for numbers: less alike than any that are.
constexpr double kOtherProgram = 1;

const SumNest* nest_of(std::span<const SumNest> nests, const std::string& kind) {
  const auto found = std::ranges::find(nests, kind, &SumNest::kind);
  return found == nests.end() ? nullptr : &*found;
}

/// Of the extent, the nearest to a factor, no more than kNear times as great or as small; all of a shorter one.
std::optional<std::int64_t> divisor_near(std::int64_t extent, std::int64_t factor) {
  constexpr double kNear = 2;
  if (extent <= factor) return extent;
  const auto apart = [&](std::int64_t other) {
    const double ratio = static_cast<double>(other) / static_cast<double>(factor);
    return std::max(ratio, 1 / ratio);
  };
  std::optional<std::int64_t> best;
  for (std::int64_t divisor = 2; divisor <= extent; ++divisor) {
    if (extent % divisor == 0 && apart(divisor) <= kNear && (!best || apart(divisor) <= apart(*best))) best = divisor;
  }
  return best;
}

/// How far off the sizes are; nothing where the classes differ.
std::optional<double> distance(const DonorKernel& donor, const TuningTask& task, std::span<const SumNest> nests) {
  if (donor.structure == task.structure && donor.sizes.size() == task.sizes.size())
    return distance_of_sizes(donor.sizes, task.sizes);
  if (nests.empty() || donor.nests.empty() || nests.front().kind != donor.nests.front().kind) return std::nullopt;
  return kOtherProgram + distance_of_sizes(donor.nests.front().extents, nests.front().extents);
}

class Adapting {
 public:
  Adapting(const loop::Program& program, Division division) : made_{{}, program}, division_(division) {}

  /// The number of steps that were applied. Errors: strictly, of a step that does not fit.
  Result<std::size_t> apply(const schedule::Schedule& given) {
    std::size_t applied = 0;
    for (std::size_t s = 0; s < given.size(); ++s) {
      if (take(forms_of(given, s))) {
        ++applied;
      } else if (division_ == Division::kStrict) {
        return last_;
      }
    }
    return applied;
  }
  /// By a schedule that needs no search.
  void schedule_others(const std::vector<loop::LoopName>& roots, const schedule::VectorUnit& unit) {
    made_ = schedule::one_shot(std::move(made_), roots, unit);
  }
  [[nodiscard]] OneShot take() && { return std::move(made_); }
  [[nodiscard]] const Error& last() const { return last_; }

 private:
  /// As it is, then as it may be in a loop of another extent: by a factor that divides it, or with a tail.
  [[nodiscard]] schedule::Schedule forms_of(const schedule::Schedule& given, std::size_t s) const {
    schedule::Schedule forms = {given[s]};
    const auto* split = std::get_if<schedule::Split>(&given[s].transform);
    if (division_ == Division::kStrict || split == nullptr || split->tail != Tail::kDivide) return forms;
    const auto add = [&](std::int64_t factor, Tail tail) {
      forms.push_back(given[s]);
      std::get<schedule::Split>(forms.back().transform).factor = factor;
      std::get<schedule::Split>(forms.back().transform).tail = tail;
    };
    const auto path = schedule::path_to(made_.program, split->loop);
    const std::int64_t extent = path ? schedule::loop_at(made_.program, *path).extent.number().value_or(0) : 0;
    const bool are_lanes = std::ranges::any_of(given, [&](const schedule::Step& step) {
      const auto* mark = std::get_if<schedule::Mark>(&step.transform);
      return mark != nullptr && mark->kind == loop::LoopKind::kVector &&
             mark->loop == schedule::extended(split->loop, 1);
    });
    if (are_lanes && extent > split->factor) add(split->factor, Tail::kCut);  // Whole vectors.
    if (const auto near = divisor_near(extent, split->factor); near && extent > 0) add(*near, Tail::kDivide);
    for (const Tail tail : {Tail::kPad, Tail::kCut, Tail::kMask}) add(split->factor, tail);
    return forms;
  }
  bool take(const schedule::Schedule& forms) {
    for (const schedule::Step& form : forms) {
      auto next = schedule::apply(made_.program, schedule::Schedule{form});
      if (next) {
        made_.program = std::move(next->program);
        made_.steps.push_back(form);
        return true;
      }
      last_ = next.error();
    }
    return false;
  }

  OneShot made_;
  Division division_;
  Error last_;
};

std::set<std::string> names_of(const loop::Program& program) {
  std::set<std::string> names;
  for (const Buffer& buffer : program.buffers) names.insert(buffer.name);
  return names;
}

}  // namespace

double donor_score(const ClassShares& shares, const ClassKernels& kernels) {
  double score = 0;
  for (const auto& [kind, share] : shares) {
    const auto found = kernels.find(kind);
    if (found != kernels.end()) score += share * share * std::sqrt(static_cast<double>(found->second));
  }
  return score;
}

std::vector<std::size_t> donors_in_order(const ClassShares& shares, std::span<const ClassKernels> models) {
  std::vector<std::size_t> order;
  std::vector<double> scores;
  for (std::size_t m = 0; m < models.size(); ++m) {
    scores.push_back(donor_score(shares, models[m]));
    if (scores.back() > 0) order.push_back(m);
  }
  std::ranges::stable_sort(order, std::greater(), [&](std::size_t m) { return scores[m]; });
  return order;
}

ClassKernels kernels_by_class(std::span<const DonorKernel> kernels) {
  ClassKernels all;
  for (const DonorKernel& kernel : kernels) ++all[class_of(kernel.structure, kernel.nests)];
  return all;
}

std::string class_of(const std::string& structure, std::span<const SumNest> nests) {
  return nests.empty() ? structure : nests.front().kind;
}

std::vector<DonorKernel> donor_kernels(std::span<const ScheduleRecord> records, const KernelPrograms& programs,
                                       const std::string& target, const std::string& dialect) {
  // Times compare on one machine alone.
  std::map<std::pair<std::string, std::vector<std::int64_t>>, std::map<std::string, const ScheduleRecord*>> fastest;
  for (const ScheduleRecord& record : records) {
    if (record.outcome != "ok" || record.schedule.empty() || record.target != target || record.dialect != dialect)
      continue;
    const ScheduleRecord*& best = fastest[{record.structure, record.sizes}][record.machine];
    if (best == nullptr || record.least_us() < best->least_us()) best = &record;
  }
  std::vector<DonorKernel> kernels;
  for (const auto& [key, by_machine] : fastest) {
    DonorKernel kernel{key.first, key.second};
    if (const auto text = programs.find(key); text != programs.end()) {
      if (const auto program = loop::parse_program(text->second)) kernel.nests = schedule::sum_nests(*program);
    }
    for (const auto& [machine, record] : by_machine) {
      const auto steps = schedule::parse_schedule(record->schedule);
      if (steps) kernel.schedules.push_back(to_string(*steps));
    }
    if (!kernel.schedules.empty()) kernels.push_back(std::move(kernel));
  }
  return kernels;
}

std::vector<DonorSchedule> donor_schedules(std::span<const DonorKernel> kernels, const TuningTask& task) {
  const std::vector<SumNest> nests = schedule::sum_nests(task.program);
  std::vector<std::tuple<double, std::string, const DonorKernel*>> donors;
  for (const DonorKernel& donor : kernels) {
    if (donor.structure == task.structure && donor.sizes == task.sizes) continue;
    const auto far = distance(donor, task, nests);
    for (const std::string& text : donor.schedules) {
      if (far) donors.emplace_back(*far, text, &donor);
    }
  }
  std::ranges::stable_sort(donors, {},
                           [](const auto& each) { return std::pair(std::get<0>(each), std::get<1>(each)); });
  std::vector<DonorSchedule> schedules;
  for (const auto& [far, text, donor] : donors) {
    if (std::ranges::find(schedules, text, &DonorSchedule::schedule) != schedules.end()) continue;
    const bool is_same = donor->structure == task.structure;
    schedules.push_back({text, is_same ? std::vector<SumNest>() : donor->nests});
  }
  return schedules;
}

Result<OneShot> adapted(const loop::Program& program, const DonorSchedule& donor, Division division,
                        const schedule::VectorUnit& unit) {
  REWRIGHT_TRY(const schedule::Schedule given, schedule::parse_schedule(donor.schedule));
  Adapting adapting(program, division);
  std::size_t applied = 0;
  if (donor.nests.empty()) {
    REWRIGHT_TRY(applied, adapting.apply(given));
  } else {
    std::set<std::string> names = names_of(program);
    std::vector<loop::LoopName> done;
    for (const SumNest& nest : schedule::sum_nests(program)) {
      const SumNest* from = nest_of(donor.nests, nest.kind);
      if (from == nullptr) continue;
      REWRIGHT_TRY(const std::size_t more, adapting.apply(schedule::carried_over(given, *from, nest, names)));
      applied += more;
      if (more > 0) done.push_back(nest.root);
    }
    std::vector<loop::LoopName> others = schedule::roots_of(program);
    std::erase_if(others, [&](const loop::LoopName& root) { return std::ranges::find(done, root) != done.end(); });
    if (applied > 0) adapting.schedule_others(others, unit);
  }
  if (applied == 0 && !given.empty()) {
    return adapting.last().message.empty()
               ? make_error(ErrorCode::kUsage, "none of its steps is about a loop of this kernel alone")
               : adapting.last();
  }
  return std::move(adapting).take();
}

}  // namespace rewright::tune
