#include "loop/composition.h"

#include <algorithm>
#include <map>
#include <optional>
#include <string>

#include "loop/expression_walk.h"
#include "operator/reindexed.h"

namespace rewright::loop {

// --- one after another -----------------------------------------------------------------------------------------

namespace {

/// An id that no axis of a definition has, nor has any greater.
std::uint32_t first_free_axis(const Definition& definition) {
  std::uint32_t next = 0;
  const auto note = [&](std::span<const AxisRange> axes) {
    for (const AxisRange& range : axes) next = std::max(next, range.axis.id + 1);
  };
  for (const Stage& stage : definition.stages) {
    note(stage.axes);
    ValueWalk([&](const ValueExpr& value) { note(value.axes()); })(stage.value);
  }
  return next;
}

/// A part's expressions in terms of the whole's buffers and axes.
class Transplant {
 public:
  Transplant(const Definition& whole, const Definition& part, std::vector<BufferId> buffers)
      : whole_(whole), part_(part), buffers_(std::move(buffers)), first_axis_(first_free_axis(whole)) {}

  Stage operator()(const Stage& stage, std::string_view prefix) const {
    const Substitution parts = substitution();
    Stage moved{std::string(prefix) + stage.name, buffers_[stage.target.value], stage.axes};
    for (AxisRange& range : moved.axes) {
      range.axis = renamed(range.axis);
      range.extent = substitute(range.extent, parts);
    }
    for (const IndexExpr& index : stage.at) moved.at.push_back(substitute(index, parts));
    moved.at = places(stage.target, std::move(moved.at));
    moved.where = substitute(stage.where, parts);
    moved.value = substitute(stage.value, parts);
    return moved;
  }

 private:
  [[nodiscard]] Axis renamed(const Axis& axis) const { return {axis.id + first_axis_, axis.name}; }
  [[nodiscard]] std::vector<IndexExpr> places(BufferId own, std::vector<IndexExpr> at) const {
    const auto &from = part_[own].sizes, &to = whole_[buffers_[own.value]].sizes;
    return from == to ? at : reindexed(at, from, to);
  }
  [[nodiscard]] Substitution substitution() const {
    Substitution parts;
    parts.axis = [this](const Axis& axis) { return std::optional(IndexExpr(renamed(axis))); };
    parts.bound = [this](const Axis& axis) { return std::optional(renamed(axis)); };
    parts.load = [this](const ValueExpr& load) {
      const std::vector<IndexExpr> at(load.indices().begin(), load.indices().end());
      return std::optional(ValueExpr::load(buffers_[load.buffer().value], places(load.buffer(), at)));
    };
    parts.data = [this](const IndexExpr& data) {
      const auto operands = data.operands();
      const std::vector<IndexExpr> at(operands.begin() + 2, operands.end());
      const BufferId buffer = buffers_[data.buffer().value];
      return std::optional(IndexExpr::data(buffer, places(data.buffer(), at), operands[0], operands[1]));
    };
    return parts;
  }

  const Definition& whole_;
  const Definition& part_;
  std::vector<BufferId> buffers_;
  std::uint32_t first_axis_;
};

bool is_given(BufferRole role) { return role == BufferRole::kInput || role == BufferRole::kWeight; }

}  // namespace

std::vector<BufferId> append(Definition& whole, const Definition& part, std::span<const BufferId> operands,
                             std::string_view prefix) {
  std::vector<BufferId> buffers, outputs;
  for (const Buffer& buffer : part.buffers) {
    if (is_given(buffer.role)) {
      if (operands.empty()) fail("append: fewer operands than the definition has inputs");
      buffers.push_back(operands.front());
      operands = operands.subspan(1);
      continue;
    }
    buffers.push_back({static_cast<std::uint32_t>(whole.buffers.size())});
    whole.buffers.push_back(buffer);
    whole.buffers.back().name = std::string(prefix) + buffer.name;
    whole.buffers.back().role = BufferRole::kTemporary;
    if (buffer.role == BufferRole::kOutput) outputs.push_back(buffers.back());
  }
  const Transplant transplant(whole, part, std::move(buffers));
  std::vector<Stage> stages;
  for (const Stage& stage : part.stages) stages.push_back(transplant(stage, prefix));
  std::ranges::move(stages, std::back_inserter(whole.stages));
  return outputs;
}

// --- inlining --------------------------------------------------------------------------------------------------

namespace {

/// Values that cost up to this are computed again wherever they are read.
constexpr int kCheap = 2;
constexpr int kDear = 10;  ///< A function or a quotient.

int cost_of(const ValueExpr& value) {
  int cost = 0;
  ValueWalk([&](const ValueExpr& part) {
    const auto kind = part.kind();
    if (kind == ValueExpr::Kind::kCall || kind == ValueExpr::Kind::kDivide) cost += kDear;
    if (!part.operands().empty() && kind != ValueExpr::Kind::kCast) ++cost;
  })(value);
  return cost;
}

bool has_reduction(const ValueExpr& value) {
  bool found = false;
  ValueWalk([&](const ValueExpr& part) { found |= part.kind() == ValueExpr::Kind::kReduce; })(value);
  return found;
}

/// The one stage that defines all of a temporary, each element by itself; null if there is none.
const Stage* sole_definer(const Definition& definition, BufferId buffer) {
  const Stage* sole = nullptr;
  for (const Stage& stage : definition.stages) {
    if (stage.target != buffer) continue;
    if (sole != nullptr || !stage.where.empty()) return nullptr;
    sole = &stage;
  }
  if (sole == nullptr || sole->axes.size() != sole->at.size()) return nullptr;
  for (std::size_t d = 0; d < sole->at.size(); ++d) {
    const AxisRange& range = sole->axes[d];
    if (range.is_serial || !(sole->at[d] == IndexExpr(range.axis)) || !(range.extent == definition[buffer].sizes[d])) {
      return nullptr;
    }
  }
  return sole;
}

/// Where a buffer is read.
struct Reads {
  std::vector<const Stage*> stages;        ///< Each once.
  std::vector<std::vector<IndexExpr>> at;  ///< The different places.
  bool as_data = false;                    ///< As an index, or to decide one.
  bool in_reduction = false;
};

class ReadSearch {
 public:
  ReadSearch(BufferId buffer, Reads& reads) : buffer_(buffer), reads_(reads) {}
  void search(const Stage& stage) {
    const std::size_t before = count_;
    for (auto& seen : seen_) seen.clear();
    for (const AxisRange& range : stage.axes) note(range.extent);
    for (const IndexExpr& index : stage.at) note(index);
    for_each_index(stage.where, [this](const IndexExpr& part) { note_data(part); });
    for_each_index(stage.value, [this](const IndexExpr& part) { note_data(part); });
    search(stage.value, false);
    if (count_ > before) reads_.stages.push_back(&stage);
  }

 private:
  void note(const IndexExpr& index) {
    for_each_index(index, [this](const IndexExpr& part) { note_data(part); });
  }
  void note_data(const IndexExpr& part) {
    if (part.kind() != IndexExpr::Kind::kData || part.buffer() != buffer_) return;
    reads_.as_data = true;
    ++count_;
  }
  void search(const ValueExpr& value, bool inside) {
    if (!seen_[inside].insert(value.address()).second) return;
    if (value.kind() == ValueExpr::Kind::kLoad && value.buffer() == buffer_) {
      ++count_;
      reads_.in_reduction |= inside;
      std::vector<IndexExpr> at(value.indices().begin(), value.indices().end());
      if (std::ranges::find(reads_.at, at) == reads_.at.end()) reads_.at.push_back(std::move(at));
    }
    for (const ValueExpr& part : value.operands()) search(part, inside || value.kind() == ValueExpr::Kind::kReduce);
  }

  BufferId buffer_;
  Reads& reads_;
  std::size_t count_ = 0;
  std::unordered_set<const ValueExpr::Node*> seen_[2];
};

Reads reads_of(const Definition& definition, BufferId buffer) {
  Reads reads;
  ReadSearch search(buffer, reads);
  for (const Stage& stage : definition.stages) search.search(stage);
  return reads;
}

/// Does the stage, which reads at this place, read each element once? Then its axes and the place's agree.
bool reads_each_once(const Stage& stage, const std::vector<IndexExpr>& at) {
  std::vector<std::uint32_t> used;
  for (const IndexExpr& index : at) {
    if (index.number() == 0) continue;  // An axis of size 1.
    if (index.kind() != IndexExpr::Kind::kAxis || std::ranges::find(used, index.axis().id) != used.end()) return false;
    used.push_back(index.axis().id);
  }
  return std::ranges::all_of(stage.axes, [&](const AxisRange& range) {
    return range.extent.number() == 1 || std::ranges::find(used, range.axis.id) != used.end();
  });
}

/// Is it computed as often as it would be with a buffer, or is that cheap? A stage has one reduction at most, as
/// schedules want it.
bool pays(const Stage& definer, const Reads& reads) {
  const bool reduces = has_reduction(definer.value);
  const bool once = reads.stages.size() == 1 && reads.at.size() == 1 && !reads.in_reduction &&
                    reads_each_once(*reads.stages[0], reads.at[0]);
  if (reduces) return once && !has_reduction(reads.stages[0]->value);
  return once || cost_of(definer.value) <= kCheap;
}

/// Puts a stage's value in place of the loads of its target, one copy for each place.
class Inliner {
 public:
  Inliner(const Definition& definition, const Stage& definer)
      : definer_(definer), next_axis_(first_free_axis(definition)) {
    parts_.load = [this](const ValueExpr& load) -> std::optional<ValueExpr> {
      if (load.buffer() != definer_.target) return std::nullopt;
      return value_at({load.indices().begin(), load.indices().end()});
    };
  }
  void inline_into(Stage& stage) { stage.value = substitute(stage.value, parts_); }

 private:
  ValueExpr value_at(const std::vector<IndexExpr>& at) {
    for (const auto& [place, value] : copies_) {
      if (place == at) return value;
    }
    return copies_.emplace_back(at, copy_at(at)).second;
  }
  ValueExpr copy_at(const std::vector<IndexExpr>& at) {
    std::map<std::uint32_t, IndexExpr> places;
    std::map<std::uint32_t, Axis> renamed;
    for (std::size_t d = 0; d < at.size(); ++d) places.emplace(definer_.axes[d].axis.id, at[d]);
    ValueWalk([&](const ValueExpr& part) {
      for (const AxisRange& range : part.axes()) {
        if (renamed.contains(range.axis.id)) continue;
        const Axis axis{next_axis_++, range.axis.name};
        renamed.emplace(range.axis.id, axis);
        places.emplace(range.axis.id, axis);
      }
    })(definer_.value);
    return substitute(definer_.value, {.axis = [&](const Axis& axis) { return found(places, axis); },
                                       .bound = [&](const Axis& axis) { return found(renamed, axis); }});
  }
  template <class Value>
  static std::optional<Value> found(const std::map<std::uint32_t, Value>& values, const Axis& axis) {
    const auto at = values.find(axis.id);
    return at == values.end() ? std::nullopt : std::optional(at->second);
  }

  const Stage definer_;  // A copy: stages move.
  std::uint32_t next_axis_;
  Substitution parts_;
  std::vector<std::pair<std::vector<IndexExpr>, ValueExpr>> copies_;
};

/// Inlines one temporary, or removes one that nothing reads.
bool inline_one(Definition& definition) {
  for (std::uint32_t b = 0; b < definition.buffers.size(); ++b) {
    if (definition.buffers[b].role != BufferRole::kTemporary) continue;
    const Reads reads = reads_of(definition, {b});
    const auto writes = [b](const Stage& stage) { return stage.target == BufferId{b}; };
    if (reads.stages.empty()) {
      if (std::erase_if(definition.stages, writes) > 0) return true;
      continue;
    }
    const Stage* definer = sole_definer(definition, {b});
    if (definer == nullptr || reads.as_data || !pays(*definer, reads)) continue;
    Inliner inliner(definition, *definer);
    std::erase_if(definition.stages, writes);
    for (Stage& stage : definition.stages) inliner.inline_into(stage);
    return true;
  }
  return false;
}

/// Without temporaries that no stage writes.
Definition compacted(const Definition& definition) {
  Definition result;
  std::vector<BufferId> moved(definition.buffers.size());
  for (std::uint32_t b = 0; b < definition.buffers.size(); ++b) {
    const bool written = std::ranges::any_of(definition.stages, [b](const Stage& s) { return s.target.value == b; });
    if (definition.buffers[b].role == BufferRole::kTemporary && !written) continue;
    moved[b] = {static_cast<std::uint32_t>(result.buffers.size())};
    result.buffers.push_back(definition.buffers[b]);
  }
  const Substitution parts{.buffer = [&](BufferId id) { return std::optional(moved[id.value]); }};
  for (Stage stage : definition.stages) {
    stage.target = moved[stage.target.value];
    for (AxisRange& range : stage.axes) range.extent = substitute(range.extent, parts);
    for (IndexExpr& index : stage.at) index = substitute(index, parts);
    stage.where = substitute(stage.where, parts);
    stage.value = substitute(stage.value, parts);
    result.stages.push_back(std::move(stage));
  }
  return result;
}

}  // namespace

Definition inlined(Definition definition) {
  while (inline_one(definition)) {
  }
  return compacted(definition);
}

}  // namespace rewright::loop
