#include "schedule/forbidding.h"

#include <fmt/ranges.h>

#include <map>

namespace rewright::schedule {
namespace {

using loop::Access;
using loop::Dependence;

/// Iterations that are looked at for an example, of each access.
constexpr std::size_t kMostIterations = 20'000;

struct Iteration {
  std::vector<std::int64_t> at;  ///< By loop, outermost first.
  std::vector<std::int64_t> element;
};

/// Those of an access whose indices are known without running, in order.
class Iterations {
 public:
  explicit Iterations(const Access& access) : access_(access), at_(access.loops.size(), 0) {}

  std::vector<Iteration> list() {
    for (const loop::Loop* loop : access_.loops) {
      const auto extent = loop->extent.number();
      if (!extent || *extent < 1) return {};
      extents_.push_back(*extent);
    }
    do {
      auto element = place();
      if (element) found_.push_back({at_, *std::move(element)});
    } while (advance() && ++seen_ < kMostIterations);
    return std::move(found_);
  }

 private:
  bool advance() {
    for (std::size_t k = at_.size(); k-- > 0;) {
      if (++at_[k] < extents_[k]) return true;
      at_[k] = 0;
    }
    return false;
  }
  [[nodiscard]] std::optional<IndexRange> value_of(const Axis& axis) const {
    for (std::size_t k = 0; k < at_.size(); ++k)
      if (access_.loops[k]->axis == axis) return IndexRange{at_[k], at_[k]};
    return std::nullopt;
  }
  [[nodiscard]] std::optional<std::vector<std::int64_t>> place() const {
    std::vector<std::int64_t> element;
    for (const IndexExpr& index : access_.at) {
      const auto range = range_of(index, [this](const Axis& axis) { return value_of(axis); });
      if (!range || range->low != range->high) return std::nullopt;
      element.push_back(range->low);
    }
    return element;
  }

  const Access& access_;
  std::vector<std::int64_t> at_, extents_;
  std::vector<Iteration> found_;
  std::size_t seen_ = 0;
};

std::string described(const loop::Program& program, const Access& access, const Iteration& iteration) {
  std::vector<std::string> loops;
  for (std::size_t k = 0; k < access.loops.size(); ++k)
    loops.push_back(fmt::format("{} = {}", access.loops[k]->axis.name, iteration.at[k]));
  return fmt::format("{} {} {}[{}]", fmt::join(loops, ", "), access.is_write ? "writes" : "reads",
                     program[access.buffer].name, fmt::join(iteration.element, ", "));
}

/// Two iterations, equal outside of the carrier, that meet.
std::string example_of(const loop::Program& program, const Dependence& dependence) {
  std::size_t depth = 0;
  while (dependence.first.loops[depth] != dependence.carrier) ++depth;
  std::map<std::vector<std::int64_t>, std::vector<Iteration>> by_element;
  for (Iteration& each : Iterations(dependence.second).list()) by_element[each.element].push_back(std::move(each));
  for (const Iteration& first : Iterations(dependence.first).list()) {
    for (const Iteration& second : by_element[first.element]) {
      const bool together =
          std::equal(first.at.begin(), first.at.begin() + static_cast<std::ptrdiff_t>(depth), second.at.begin());
      if (!together || first.at[depth] == second.at[depth]) continue;
      const std::string one = described(program, dependence.first, first);
      const std::string other = described(program, dependence.second, second);
      const bool is_earlier = first.at[depth] < second.at[depth];
      return fmt::format("{}; {}", is_earlier ? one : other, is_earlier ? other : one);
    }
  }
  return "";
}

}  // namespace

std::optional<Conflict> forbidding(const loop::Program& program, const std::string& needed,
                                   const std::function<bool(const loop::Loop&)>& is_wanted,
                                   const std::function<bool(const Dependence&)>& forbids) {
  for (const Dependence& dependence : dependences(program, is_wanted)) {
    if (!forbids(dependence)) continue;
    const std::string found = fmt::format("iterations of {} that touch the same elements of {}",
                                          dependence.carrier->axis.name, program[dependence.first.buffer].name);
    return Conflict{Conflict::Kind::kIllegal, needed, found, example_of(program, dependence)};
  }
  return std::nullopt;
}

}  // namespace rewright::schedule
