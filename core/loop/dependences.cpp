#include "loop/dependences.h"

#include <rewright/loop/buffer_owners.h>
#include <rewright/loop/linear_index.h>

#include <algorithm>
#include <cstdlib>
#include <map>
#include <tuple>

#include "loop/bounds.h"

namespace rewright::loop {
namespace {

/// The loops around both.
std::size_t common_loops(const Access& a, const Access& b) {
  std::size_t count = 0;
  while (count < a.loops.size() && count < b.loops.size() && a.loops[count] == b.loops[count]) ++count;
  return count;
}

/// An index in terms of one loop, those around it, and those inside.
struct Place {
  std::int64_t coefficient = 0;
  LinearIndex around;                ///< Without the constant.
  std::optional<IndexRange> inside;  ///< With it.
};

std::optional<LinearIndex> form_of(const IndexExpr& index, const Access& access) {
  return linear(simplified(index, ranges_of(access.loops)));
}

std::optional<Place> place_of(const std::optional<LinearIndex>& form, const Access& access, std::size_t carrier) {
  if (!form) return std::nullopt;
  Place place;
  LinearIndex inside{form->constant};
  for (const auto& [atom, coefficient] : form->terms) {
    if (atom.kind() != IndexExpr::Kind::kAxis) return std::nullopt;
    const auto at = std::ranges::find(access.loops, atom.axis().id, [](const Loop* l) { return l->axis.id; });
    const auto depth = static_cast<std::size_t>(at - access.loops.begin());
    if (depth == carrier) place.coefficient = coefficient;
    if (depth < carrier) place.around.add(atom, coefficient);
    if (depth > carrier) inside.add(atom, coefficient);
  }
  place.inside = range_of(inside, ranges_of(access.loops));
  return place;
}

bool has_axes_alone(const std::optional<LinearIndex>& form) {
  return form &&
         std::ranges::all_of(form->terms, [](const auto& term) { return term.first.kind() == IndexExpr::Kind::kAxis; });
}

/// Accesses with their indices as sums, which are asked for again and again.
class IndexForms {
 public:
  IndexForms(const Program& program, const std::vector<Access>& all) : program_(program), all_(all) {}
  /// Of dimensions together, from `first` on: their row-major place.
  const std::optional<LinearIndex>& of(std::size_t access, std::size_t first, std::size_t end) {
    const auto [at, is_new] = forms_.try_emplace({access, first, end});
    if (is_new) {
      IndexExpr place = 0;
      for (std::size_t d = first; d < end; ++d)
        place = place * program_[all_[access].buffer].sizes[d] + all_[access].at[d];
      at->second = form_of(place, all_[access]);
    }
    return at->second;
  }

 private:
  const Program& program_;
  const std::vector<Access>& all_;
  std::map<std::tuple<std::size_t, std::size_t, std::size_t>, std::optional<LinearIndex>> forms_;
};

/// Do different iterations of the carrier touch different places along one dimension?
bool are_apart(const std::optional<Place>& a, const std::optional<Place>& b) {
  if (!a || !b || !a->inside || !b->inside || a->coefficient != b->coefficient) return false;
  const auto around = combined(a->around, b->around, -1);
  if (!around || !around->terms.empty()) return false;
  const std::int64_t step = std::abs(a->coefficient);
  return a->inside->high - b->inside->low < step && b->inside->high - a->inside->low < step;
}

/// Dimensions that are no sums of loops each may be one together: floor(l / n) and l mod n are l.
bool may_meet(const std::vector<Access>& all, std::size_t i, std::size_t j, std::size_t carrier, IndexForms& forms) {
  if (all[i].loops[carrier]->extent.number().value_or(2) <= 1) return false;
  const auto apart = [&](std::size_t first, std::size_t end) {
    return are_apart(place_of(forms.of(i, first, end), all[i], carrier),
                     place_of(forms.of(j, first, end), all[j], carrier));
  };
  const auto is_sum = [&](std::size_t d) {
    return has_axes_alone(forms.of(i, d, d + 1)) && has_axes_alone(forms.of(j, d, d + 1));
  };
  const std::size_t count = all[i].at.size();
  for (std::size_t d = 0; d < count; ++d) {
    std::size_t end = d + 1;
    if (!is_sum(d))
      while (end < count && !is_sum(end)) ++end;
    if (apart(d, end)) return false;
    d = end - 1;
  }
  return true;
}

/// Is the carrier inside of an iteration of the loop that owns the buffer?
bool is_inside(const Access& access, std::size_t carrier, std::uint32_t owner) {
  return std::ranges::any_of(std::span(access.loops).first(carrier),
                             [owner](const Loop* loop) { return loop->axis.id == owner; });
}

}  // namespace

std::vector<Dependence> dependences(const Program& program, const std::function<bool(const Loop&)>& is_wanted) {
  const std::vector<Access> all = accesses(program);
  IndexForms forms(program, all);
  const auto own = owners(program);
  std::vector<Dependence> found;
  for (std::size_t i = 0; i < all.size(); ++i) {
    for (std::size_t j = i; j < all.size(); ++j) {
      const Access &a = all[i], &b = all[j];
      if (a.buffer != b.buffer || !(a.is_write || b.is_write)) continue;
      const auto owner = own[a.buffer.value];
      for (std::size_t carrier = 0; carrier < common_loops(a, b); ++carrier) {
        if (!is_wanted(*a.loops[carrier]) || (owner && !is_inside(a, carrier, *owner))) continue;
        if (may_meet(all, i, j, carrier, forms)) found.push_back({a, b, a.loops[carrier], a.is_update && i == j});
      }
    }
  }
  return found;
}

std::vector<std::int64_t> footprint(const Program& program, const Access& access, std::size_t from) {
  const AxisRanges axes = ranges_of(access.loops);
  std::vector<std::int64_t> counts;
  for (std::size_t d = 0; d < access.at.size(); ++d) {
    const std::int64_t size = program[access.buffer].sizes[d].number().value_or(0);
    std::optional<IndexRange> range;
    if (from == 0) {
      range = rewright::range_of(simplified(access.at[d], axes), axes);
    } else if (const auto place = place_of(form_of(access.at[d], access), access, from - 1)) {
      range = place->inside;
    }
    counts.push_back(range.has_value() ? std::min(size, range->high - range->low + 1) : size);
  }
  return counts;
}

}  // namespace rewright::loop
