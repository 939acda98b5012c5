#include "schedule/nest_class.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <functional>
#include <map>
#include <numeric>
#include <optional>
#include <variant>

#include "schedule/nest_scheduling.h"

namespace rewright::schedule {
namespace {

class ClassText {
 public:
  ClassText(const Program& program, const Nest& nest) : program_(program), nest_(nest) {}
  [[nodiscard]] std::string text() const {
    std::string text = fmt::format("{} r {} s: ", nest_.outer.size(), nest_.reduced.size());
    const loop::Store& update = *nest_.update;
    const bool is_apart = nest_.result != nullptr;
    text += fmt::format("{}[{}] {} {}", is_apart ? "a" : "y", places(update.at), loop::name_of(update.kind),
                        value(update.value));
    return is_apart ? text + fmt::format("; y[{}]", places(nest_.result->at)) : text;
  }

 private:
  [[nodiscard]] std::string places(std::span<const IndexExpr> at) const {
    std::vector<std::string> all;
    for (const IndexExpr& index : at) all.push_back(followed(index));
    return fmt::format("{}", fmt::join(all, ", "));
  }
  [[nodiscard]] std::string followed(const IndexExpr& index) const {
    std::vector<std::string> names;
    const auto add = [&](char kind, const std::vector<const Loop*>& loops) {
      for (std::size_t i = 0; i < loops.size(); ++i)
        if (names_axis(index, loops[i]->axis)) names.push_back(fmt::format("{}{}", kind, i));
    };
    add('r', nest_.outer);
    add('s', nest_.reduced);
    return fmt::format("{}", fmt::join(names, " "));
  }
  [[nodiscard]] std::string value(const ValueExpr& of) const {
    if (of.kind() == ValueExpr::Kind::kLoad) {
      const bool is_weight = program_[of.buffer()].role == BufferRole::kWeight;
      return fmt::format("{}[{}]", is_weight ? "w" : "x", places(of.indices()));
    }
    std::vector<std::string> parts;
    for (const ValueExpr& part : of.operands()) parts.push_back(value(part));
    if (of.kind() == ValueExpr::Kind::kMultiply) return fmt::format("{}", fmt::join(parts, " * "));
    return fmt::format("{}({})", static_cast<int>(of.kind()), fmt::join(parts, ", "));
  }

  const Program& program_;
  const Nest& nest_;
};

SumNest described(const Program& program, const Nest& nest) {
  SumNest sum{name_of_loop(*nest.outer.front()), ClassText(program, nest).text(), {}, {}, {}};
  for (const Loop* loop : nest.loops()) {
    sum.loops.push_back(name_of_loop(*loop));
    sum.extents.push_back(loop->extent.number().value_or(1));
  }
  sum.buffers = {program[nest.update->buffer].name, program[nest.stored().buffer].name};
  for (const ValueExpr& load : loads_in(nest.update->value)) sum.buffers.push_back(program[load.buffer()].name);
  return sum;
}

/// Names of one nest as those of another.
class Renaming {
 public:
  Renaming(const SumNest& from, const SumNest& to, std::set<std::string>& taken) : taken_(taken) {
    for (std::size_t i = 0; i < from.loops.size(); ++i) {
      const LoopName::Part& old = from.loops[i].parts.front();
      loops_[{old.stage, old.axis}] = to.loops[i].parts.front();
    }
    for (std::size_t b = 0; b < from.buffers.size(); ++b) buffers_.try_emplace(from.buffers[b], to.buffers[b]);
  }

  /// Nothing where the step is about something else, too.
  [[nodiscard]] std::optional<Step> of(Step step) {
    const bool is_about_it = std::visit([&](auto& transform) { return renamed(transform); }, step.transform);
    return is_about_it ? std::optional(std::move(step)) : std::nullopt;
  }

 private:
  bool rename(LoopName& name) const {
    for (LoopName::Part& part : name.parts) {
      if (const auto at = loops_.find({part.stage, part.axis}); at != loops_.end()) {
        part.stage = at->second.stage;
        part.axis = at->second.axis;
      } else if (const auto made = made_.find(part.stage); made != made_.end()) {
        part.stage = made->second;
      } else {
        return false;
      }
    }
    return true;
  }
  bool rename(std::string& buffer) const {
    for (const auto* names : {&buffers_, &made_}) {
      if (const auto at = names->find(buffer); at != names->end()) {
        buffer = at->second;
        return true;
      }
    }
    return false;
  }
  /// Of a buffer that a step makes of another, whose names were `old` and are `buffer`.
  void make(const std::string& old, const std::string& buffer, std::string& name) {
    const std::string before = name;
    if (name.starts_with(old)) name = buffer + name.substr(old.size());
    const std::string stem = name;
    for (int count = 2; !taken_.insert(name).second; ++count) name = fmt::format("{}_{}", stem, count);
    made_[before] = name;
  }

  bool renamed(Split& split) const { return rename(split.loop); }
  bool renamed(Fuse& fuse) const { return rename(fuse.outer) && rename(fuse.inner); }
  bool renamed(Reorder& reorder) const {
    return std::ranges::all_of(reorder.loops, [&](LoopName& name) { return rename(name); });
  }
  bool renamed(Distribute& distribute) const { return rename(distribute.loop); }
  bool renamed(Mark& mark) const { return rename(mark.loop); }
  bool renamed(Tensorise& tensorise) const { return rename(tensorise.loop); }
  bool renamed(Inline&) const { return false; }  // Of another nest.
  bool renamed(ComputeAt&) const { return false; }
  bool renamed(ReductionFactor& rfactor) {
    if (!rename(rfactor.loop)) return false;
    make(rfactor.name, rfactor.name, rfactor.name);
    return true;
  }
  bool renamed(Cache& cache) { return renamed_copy(cache); }
  bool renamed(CacheWrite& cache) { return renamed_copy(cache); }
  template <class Copy>
  bool renamed_copy(Copy& copy) {
    const std::string old = copy.buffer;
    if (!rename(copy.loop) || !rename(copy.buffer)) return false;
    make(old, copy.buffer, copy.name);
    return true;
  }
  bool renamed(Pack& pack) {
    const std::string old = pack.buffer;
    if (!rename(pack.buffer)) return false;
    make(old, pack.buffer, pack.name);
    return true;
  }

  std::map<std::pair<std::string, std::string>, LoopName::Part> loops_;
  std::map<std::string, std::string> buffers_, made_;
  std::set<std::string>& taken_;
};

}  // namespace

double SumNest::iterations() const {
  return std::accumulate(extents.begin(), extents.end(), 1.0,
                         [](double all, std::int64_t extent) { return all * static_cast<double>(extent); });
}

std::vector<SumNest> sum_nests(const Program& program) {
  std::vector<SumNest> nests;
  for (const Statement& statement : program.body) {
    const Loop* root = statement.loop();
    const auto nest = root == nullptr ? std::nullopt : nest_at(*root);
    if (nest && nest->update != nullptr) nests.push_back(described(program, *nest));
  }
  std::ranges::stable_sort(nests, std::greater(), &SumNest::iterations);
  return nests;
}

Schedule carried_over(const Schedule& schedule, const SumNest& from, const SumNest& to, std::set<std::string>& taken) {
  Renaming renaming(from, to, taken);
  Schedule steps;
  for (const Step& step : schedule) {
    if (auto own = renaming.of(step)) steps.push_back(*std::move(own));
  }
  return steps;
}

}  // namespace rewright::schedule
