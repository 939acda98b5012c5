// How the element of an output reads the operands along their axes.
//
// A load of a temporary is replaced by what its stage loads, at the temporary's index: what is left are indices of
// operands in the output's axes and those of reductions.
#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "operator/properties.h"

namespace rewright {
namespace {

using Kind = ValueExpr::Kind;
using Indices = std::vector<IndexExpr>;

/// Temporaries may be read at several places: what is read is looked at once by place.
constexpr std::size_t kMostReads = 4096;

struct Read {
  BufferId operand;
  Indices at;
  friend bool operator==(const Read&, const Read&) = default;
};

void collect_loads(const ValueExpr& value, std::set<const ValueExpr::Node*>& seen, std::vector<Read>& loads) {
  if (!seen.insert(value.address()).second) return;
  if (value.kind() == Kind::kLoad) loads.push_back({value.buffer(), {value.indices().begin(), value.indices().end()}});
  for (const ValueExpr& part : value.operands()) collect_loads(part, seen, loads);
}

/// The axis of which `index` is the position plus a number.
std::optional<Axis> shifted_axis(const IndexExpr& index) {
  const auto form = affine(index);
  if (!form || form->terms.size() != 1 || form->terms[0].second != SymbolicDim(1)) return std::nullopt;
  return form->terms[0].first;
}

/// For a read of what `maker` writes: its axes in terms of the read's. A serial axis stands for all positions that the
/// recurrence has come through. Nothing where it is not written by its axes, each plus a number.
std::optional<std::map<std::uint32_t, IndexExpr>> axes_at(const Stage& maker, const Indices& at) {
  std::map<std::uint32_t, IndexExpr> axes;
  if (const AxisRange* serial = serial_axis(maker)) axes.emplace(serial->axis.id, IndexExpr(serial->axis));
  for (std::size_t k = 0; k < maker.at.size(); ++k) {
    if (maker.at[k].number()) continue;
    const auto axis = shifted_axis(maker.at[k]);
    if (!axis) return std::nullopt;
    axes.emplace(axis->id, at[k] - IndexExpr(affine(maker.at[k])->constant));
  }
  return axes.size() == maker.axes.size() ? std::optional(std::move(axes)) : std::nullopt;
}

/// What a stage reads of operands. Nothing where that is too much to look at.
std::optional<std::vector<Read>> reads_of(const Definition& definition, const Stage& stage) {
  std::vector<Read> waiting, reads, in_recurrences;
  std::set<const ValueExpr::Node*> seen;
  collect_loads(stage.value, seen, waiting);
  while (!waiting.empty()) {
    if (waiting.size() + reads.size() > kMostReads) return std::nullopt;
    const Read read = std::move(waiting.back());
    waiting.pop_back();
    if (definition[read.operand].role == BufferRole::kInput) {
      reads.push_back(read);
      continue;
    }
    for (const Stage& maker : definition.stages) {
      if (maker.target != read.operand) continue;
      const auto index = axes_at(maker, read.at);
      if (!index) return std::nullopt;
      const Substitution put{.axis = [&](const Axis& axis) -> std::optional<IndexExpr> {
        const auto found = index->find(axis.id);
        return found == index->end() ? std::nullopt : std::optional(found->second);
      }};
      std::set<const ValueExpr::Node*> within;
      std::vector<Read> further;
      collect_loads(maker.value, within, further);
      for (Read& load : further) {
        for (IndexExpr& at : load.at) at = substitute(at, put);
        const bool is_known =
            serial_axis(maker) != nullptr && std::ranges::find(in_recurrences, load) != in_recurrences.end();
        if (is_known) continue;
        if (serial_axis(maker) != nullptr) in_recurrences.push_back(load);
        waiting.push_back(std::move(load));
      }
    }
  }
  return reads;
}

void collect_axes(const IndexExpr& index, std::set<std::uint32_t>& axes) {
  if (index.kind() == IndexExpr::Kind::kAxis) axes.insert(index.axis().id);
  for (const IndexExpr& part : index.operands()) collect_axes(part, axes);
}

/// Of an index along axis `k`, in a stage that writes an output.
AxisUse use_of(const Definition& definition, const Stage& stage, const Read& read, std::size_t k) {
  if (definition[read.operand].sizes[k].number() == 1) return AxisUse::kSame;
  const std::optional<Axis> written = shifted_axis(stage.at[k]);
  std::set<std::uint32_t> axes;
  collect_axes(read.at[k], axes);
  bool is_reduced = false, is_by_output = false;
  for (const std::uint32_t axis : axes) {
    const bool is_of_stage =
        std::ranges::any_of(stage.axes, [&](const AxisRange& range) { return range.axis.id == axis; });
    if (is_of_stage && !(written && written->id == axis)) return AxisUse::kOther;
    is_by_output = is_by_output || is_of_stage;
    is_reduced = is_reduced || !is_of_stage;
  }
  if (!is_reduced) return is_by_output ? AxisUse::kSame : AxisUse::kOther;
  return is_by_output || !shifted_axis(read.at[k]) ? AxisUse::kWindow : AxisUse::kAll;
}

/// The rank that all outputs have.
std::optional<std::size_t> rank_of(const Definition& definition) {
  std::optional<std::size_t> rank;
  for (const Buffer& buffer : definition.buffers) {
    if (buffer.role != BufferRole::kOutput) continue;
    if (rank && *rank != buffer.sizes.size()) return std::nullopt;
    rank = buffer.sizes.size();
  }
  return rank;
}

/// Two ways to read one axis, as one.
AxisUse merged(AxisUse a, AxisUse b) {
  if (a == b) return a;
  if (a == AxisUse::kOther || b == AxisUse::kOther) return AxisUse::kOther;
  return a == AxisUse::kWindow || b == AxisUse::kWindow ? AxisUse::kWindow : AxisUse::kAll;
}

template <class Visit>
bool for_each_read(const Definition& definition, std::size_t rank, const Visit& visit) {
  for (const Stage& stage : definition.stages) {
    if (definition[stage.target].role != BufferRole::kOutput) continue;
    const auto reads = reads_of(definition, stage);
    if (!reads) return false;
    for (const Read& read : *reads)
      if (read.at.size() == rank) visit(stage, read);
  }
  return true;
}

/// The number that is added to an axis.
std::int64_t shift_of(const IndexExpr& index) {
  const auto form = affine(index);
  return form ? form->constant.constant().value_or(0) : 0;
}

template <class T>
void exchange_last(std::vector<T>& list, std::size_t rank) {
  if (list.size() == rank && rank >= 2) std::swap(list[rank - 2], list[rank - 1]);
}

}  // namespace

std::optional<std::vector<OperandUse>> operand_uses(const Definition& definition) {
  const auto rank = rank_of(definition);
  if (!rank) return std::nullopt;
  std::map<std::uint32_t, std::vector<AxisUse>> uses;
  const bool all = for_each_read(definition, *rank, [&](const Stage& stage, const Read& read) {
    const auto [known, is_new] = uses.try_emplace(read.operand.value);
    for (std::size_t k = 0; k < *rank; ++k) {
      const AxisUse use = use_of(definition, stage, read, k);
      if (is_new) known->second.push_back(use);
      known->second[k] = merged(known->second[k], use);
    }
  });
  if (!all) return std::nullopt;
  std::vector<OperandUse> result;
  for (auto& [operand, axes] : uses) result.push_back({operand, std::move(axes)});
  return result;
}

std::optional<std::vector<std::int64_t>> permutation_of(const Definition& definition) {
  if (definition.stages.size() != 1 || definition.buffers.size() != 2) return std::nullopt;
  const Stage& stage = definition.stages[0];
  const std::size_t rank = stage.axes.size();
  if (stage.value.kind() != Kind::kLoad || stage.value.indices().size() != rank || stage.at.size() != rank)
    return std::nullopt;
  std::vector<std::int64_t> permutation(rank, -1);
  for (std::size_t from = 0; from < rank; ++from) {
    const auto to = std::ranges::find(stage.at, stage.value.indices()[from]);
    if (to == stage.at.end() || to->kind() != IndexExpr::Kind::kAxis) return std::nullopt;
    permutation[static_cast<std::size_t>(to - stage.at.begin())] = static_cast<std::int64_t>(from);
  }
  if (std::ranges::count(permutation, -1) > 0) return std::nullopt;
  for (std::size_t to = 0; to < rank; ++to)  // The whole of the operand.
    if (definition.buffers[0].sizes[static_cast<std::size_t>(permutation[to])] != stage.axes[to].extent)
      return std::nullopt;
  return permutation;
}

std::vector<std::int64_t> cuts_along(const Definition& definition, std::size_t axis) {
  const auto rank = rank_of(definition);
  if (!rank || axis >= *rank) return {};
  std::set<std::int64_t> cuts;
  for_each_read(definition, *rank, [&](const Stage& stage, const Read& read) {
    if (use_of(definition, stage, read, axis) != AxisUse::kSame) return;
    const auto written = shifted_axis(stage.at[axis]), single = shifted_axis(read.at[axis]);
    if (!written || !single || *written != *single) {  // In other steps.
      if (definition[read.operand].sizes[axis].number() != 1) cuts.insert(1);
      return;
    }
    const auto range = std::ranges::find(stage.axes, *written, &AxisRange::axis);
    const auto &from = definition[read.operand].sizes[axis], &to = definition[stage.target].sizes[axis];
    if (range == stage.axes.end() || (range->extent == from && range->extent == to)) return;
    cuts.insert({shift_of(stage.at[axis]), shift_of(read.at[axis]), range->extent.number().value_or(1)});
  });
  cuts.erase(0);
  return {cuts.begin(), cuts.end()};
}

bool says_same_by_columns(const Definition& definition, const Definition& exchanged) {
  const auto rank = rank_of(definition);
  if (!rank || *rank < 2 || definition.buffers.size() != exchanged.buffers.size() ||
      definition.stages.size() != exchanged.stages.size())
    return false;
  for (std::size_t b = 0; b < definition.buffers.size(); ++b) {
    Buffer other = exchanged.buffers[b];
    exchange_last(other.sizes, *rank);
    if (other.role != definition.buffers[b].role || other.sizes != definition.buffers[b].sizes) return false;
  }
  for (std::size_t s = 0; s < definition.stages.size(); ++s) {
    const Stage& stage = definition.stages[s];
    Stage other = exchanged.stages[s];
    if (stage.target != other.target || stage.axes.size() != other.axes.size()) return false;
    exchange_last(other.axes, *rank);
    exchange_last(other.at, *rank);
    std::map<std::uint32_t, Axis> axes;
    for (std::size_t k = 0; k < stage.axes.size(); ++k) axes.emplace(other.axes[k].axis.id, stage.axes[k].axis);
    const Substitution put{.axis = [&](const Axis& axis) -> std::optional<IndexExpr> {
                             const auto found = axes.find(axis.id);
                             return found == axes.end() ? std::nullopt : std::optional(IndexExpr(found->second));
                           },
                           .load = [&](const ValueExpr& load) -> std::optional<ValueExpr> {
                             Indices at(load.indices().begin(), load.indices().end());
                             exchange_last(at, *rank);
                             return ValueExpr::load(load.buffer(), std::move(at));
                           }};
    for (std::size_t k = 0; k < stage.axes.size(); ++k)
      if (stage.axes[k].extent != other.axes[k].extent) return false;
    for (std::size_t k = 0; k < stage.at.size(); ++k)
      if (stage.at[k] != substitute(other.at[k], put)) return false;
    if (stage.where != substitute(other.where, put) || stage.value != substitute(other.value, put)) return false;
  }
  return true;
}

}  // namespace rewright
