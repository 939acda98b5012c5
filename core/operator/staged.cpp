#include <rewright/operator/staged.h>

#include <algorithm>
#include <ranges>

#include "operator/reindexed.h"

namespace rewright {

namespace {

std::string numbered(std::string_view name, std::size_t count, std::size_t at) {
  return count == 1 ? std::string(name) : fmt::format("{}{}", name, at);
}

std::vector<IndexExpr> expressions(std::span<const SymbolicDim> sizes) { return {sizes.begin(), sizes.end()}; }

/// low <= index < high, without what sizes alone decide; nothing if they decide all.
std::optional<ValueExpr> lies_within(const SymbolicDim& low, const IndexExpr& index, const SymbolicDim& high,
                                     const SymbolicDim& size) {
  std::optional<ValueExpr> inside;
  if (!(low == SymbolicDim(0))) inside = less_equal(ValueExpr::index(low), ValueExpr::index(index));
  if (high == size) return inside;
  const ValueExpr below = less(ValueExpr::index(index), ValueExpr::index(high));
  return inside ? both(*inside, below) : below;
}

/// numbers[at] for a position among `first`, first + 1, ...
ValueExpr listed(std::span<const std::int64_t> numbers, std::int64_t first, const ValueExpr& at) {
  if (numbers.size() == 1) return ValueExpr::from_integer(numbers[0]);
  const std::size_t half = numbers.size() / 2;
  const std::int64_t middle = first + static_cast<std::int64_t>(half);
  return select(less(at, ValueExpr::from_integer(middle)), listed(numbers.first(half), first, at),
                listed(numbers.subspan(half), middle, at));
}

/// The step between numbers that have one.
std::optional<std::int64_t> step_of(std::span<const std::int64_t> numbers) {
  const std::int64_t step = numbers.size() > 1 ? numbers[1] - numbers[0] : 0;
  for (std::size_t i = 1; i < numbers.size(); ++i) {
    if (numbers[i] - numbers[i - 1] != step) return std::nullopt;
  }
  return step;
}

}  // namespace

namespace staged {

const IndexExpr& Index::only() const {
  if (parts.size() != 1) fail("a definition computes with the index of a group of several axes");
  return parts[0];
}

View View::permuted(std::span<const std::int64_t> axes) const {
  std::vector<std::int64_t> from(axes.begin(), axes.end());
  std::vector<SymbolicDim> sizes;
  for (const std::int64_t axis : from) sizes.push_back(size(static_cast<int>(axis)));
  return {std::move(sizes), [read = read_, from](std::span<const IndexExpr> at) {
            std::vector<IndexExpr> inner(at.size());
            for (std::size_t k = 0; k < at.size(); ++k) inner[static_cast<std::size_t>(from[k])] = at[k];
            return read(inner);
          }};
}

View View::sliced(int axis, const SymbolicDim& first, std::int64_t step, const SymbolicDim& size) const {
  const auto moved = static_cast<std::size_t>(axis);
  std::vector<SymbolicDim> sizes = sizes_;
  sizes[moved] = size;
  return {std::move(sizes), [read = read_, moved, first, step](std::span<const IndexExpr> at) {
            std::vector<IndexExpr> inner(at.begin(), at.end());
            inner[moved] = IndexExpr(first) + IndexExpr(step) * at[moved];
            return read(inner);
          }};
}

View View::repeated_to(const std::vector<SymbolicDim>& to, std::span<const std::int64_t> axes) const {
  const std::size_t lacks = to.size() - sizes_.size();
  std::vector<SymbolicDim> sizes = to;
  for (std::size_t axis = lacks; axis < to.size(); ++axis) {
    if (std::ranges::find(axes, static_cast<std::int64_t>(axis)) == axes.end()) sizes[axis] = sizes_[axis - lacks];
  }
  return {std::move(sizes),
          [read = read_, lacks, repeated = std::vector(axes.begin(), axes.end())](std::span<const IndexExpr> at) {
            std::vector<IndexExpr> inner(at.begin(), at.end());
            for (const std::int64_t axis : repeated) inner[static_cast<std::size_t>(axis)] = 0;
            return read(std::span(inner).subspan(lacks));
          }};
}

Rows View::along(std::span<const std::int64_t> axes) const { return {*this, axes}; }

ValueExpr Elements::element(std::span<const IndexExpr> index) const {
  std::vector<IndexExpr> whole = at;
  for (std::size_t k = 0; k < axes.size(); ++k) whole[static_cast<std::size_t>(axes[k])] = index[k];
  return view(whole);
}

Elements Rows::operator()(const Index& index) const {
  const auto rank = static_cast<std::size_t>(view_.rank());
  const bool has_all = index.parts.size() == rank;
  std::vector<IndexExpr> at(rank);
  std::size_t next = 0;
  for (std::size_t axis = 0; axis < rank; ++axis) {
    const bool runs = std::ranges::find(axes_, static_cast<std::int64_t>(axis)) != axes_.end();
    if (!runs) at[axis] = index.parts[has_all ? axis : next++];
  }
  return {view_, axes_, std::move(at)};
}

}  // namespace staged

Staged::Staged(const SymbolicParams& params, std::span<const SymbolicShape> in, std::span<const SymbolicShape> out)
    : params_(params), in_(in.begin(), in.end()), out_(out.begin(), out.end()) {
  const auto add = [&](const std::vector<SymbolicShape>& shapes, const char* name, BufferRole role) {
    for (std::size_t k = 0; k < shapes.size(); ++k) {
      definition_.buffers.push_back({.name = numbered(name, shapes.size(), k), .sizes = expressions(shapes[k].dims())});
      definition_.buffers.back().role = role;
    }
  };
  add(in_, "x", BufferRole::kInput);
  add(out_, "y", BufferRole::kOutput);
}

// --- tensors

ValueExpr Staged::Source::in_order(const Index& index) const {
  return ValueExpr::load(buffer_, reindexed(index.parts, index.sizes, expressions(shape_->dims())));
}

staged::View Staged::view(std::size_t k) const {
  const BufferId buffer{static_cast<std::uint32_t>(k)};
  return {{in_[k].begin(), in_[k].end()}, [buffer](std::span<const IndexExpr> at) {
            return ValueExpr::load(buffer, {at.begin(), at.end()});
          }};
}

Staged::Target Staged::out(std::size_t k) {
  const BufferId buffer{static_cast<std::uint32_t>(in_.size() + k)};
  const SymbolicShape& shape = out_[k];
  return {this, {buffer, std::vector<IndexExpr>(shape.dims().size()), {shape.begin(), shape.end()}}};
}

void Staged::BoxTarget::is(const View& view) const { owner_->write(place_, view); }

Staged::BoxTarget Staged::BoxTarget::part(int axis, const SymbolicDim& first, const SymbolicDim& size) const {
  Place part = place_;
  const auto moved = static_cast<std::size_t>(axis);
  part.first[moved] = part.first[moved] + IndexExpr(first);
  part.extents[moved] = size;
  return {owner_, std::move(part)};
}

void Staged::Target::is(const staged::Padded& padded) const {
  owner_->write(place_, [&](std::span<const IndexExpr> at) {
    std::vector<IndexExpr> inner;
    std::optional<ValueExpr> inside;
    for (std::size_t axis = 0; axis < at.size(); ++axis) {
      const SymbolicDim& low = padded.before[axis];
      inner.push_back(at[axis] - IndexExpr(low));
      const SymbolicDim high = low + padded.inside.size(static_cast<int>(axis));
      const auto along = lies_within(low, at[axis], high, place_.extents[axis]);
      if (along) inside = inside ? both(*inside, *along) : *along;
    }
    const ValueExpr element = padded.inside(inner);
    return inside ? staged::Condition{*inside}.choose(element, padded.value) : element;
  });
}

// --- indices, values, reductions

staged::Index Staged::table(std::span<const std::int64_t> numbers, const Index& at) {
  if (numbers.empty()) return at;  // Never read.
  if (const auto step = step_of(numbers)) return IndexExpr(numbers[0]) + IndexExpr(*step) * at.only();
  const auto count = static_cast<std::int64_t>(numbers.size());
  const BufferId buffer = add_temporary("table", std::vector<Extent>{{IndexExpr(count)}});
  definition_.buffers[buffer.value].element = ElementType::kInt64;
  Stage stage{.name = unique_stage_name(buffer), .target = buffer, .axes = {}, .at = {}, .value = {}};
  const Index position = add_axes(stage.axes, "k", {IndexExpr(count)});
  stage.at = position.parts;
  stage.value = listed(numbers, 0, position.value());
  // Before the statements of a recurrence, which stay together.
  definition_.stages.insert(serial_ ? definition_.stages.begin() : definition_.stages.end(), std::move(stage));
  const auto [least, greatest] = std::ranges::minmax(numbers);
  return IndexExpr::data(buffer, {at.only()}, least, greatest + 1);
}

ValueExpr Staged::count_of(std::span<const Extent> extents) {
  IndexExpr count = 1;
  for (const Extent& extent : extents)
    for (const IndexExpr& size : extent) count = count * size;
  return ValueExpr::index(count);
}

ValueExpr Staged::count(const staged::Elements& x) {
  Extent extent;
  for (const std::int64_t axis : x.axes) extent.emplace_back(x.view.size(static_cast<int>(axis)));
  return count_of({extent});
}

ValueExpr Staged::reduce(ValueExpr::Reduction reduction, const staged::Elements& elements) {
  Extent extent;
  for (const std::int64_t axis : elements.axes) extent.emplace_back(elements.view.size(static_cast<int>(axis)));
  std::vector<AxisRange> axes;
  const Index index = add_axes(axes, "k", extent);
  const ValueExpr body = elements.element(index.parts);
  return axes.empty() ? body : ValueExpr::reduce(reduction, std::move(axes), {}, body);
}

staged::Index Staged::enter(Loops& loops, std::size_t at, const Extent& extent) {
  return add_axes(loops.axes, at < loops.names.size() ? std::string(loops.names[at]) : fmt::format("k{}", at), extent);
}

Staged::Tap Staged::enter(Loops& loops, std::size_t at, const Taps& taps) {
  const BasicWindowAxis<SymbolicDim>& axis = taps.axis;
  const Index number = enter(loops, at, Extent{IndexExpr(axis.kernel)});
  const Index position = taps.output * Index(axis.stride) + number * Index(axis.dilation) - Index(axis.before);
  const SymbolicDim last = (taps.outputs - 1) * axis.stride + (axis.kernel - 1) * axis.dilation - axis.before;
  const auto beyond = known(last - axis.size), before = known(axis.before);
  using Relation = IndexCondition::Relation;
  if (!before || *before > 0) loops.where.push_back({IndexExpr(0), Relation::kLessEqual, position.only()});
  if (!beyond || *beyond >= 0) loops.where.push_back({position.only(), Relation::kLess, IndexExpr(axis.size)});
  return {number, position};
}

std::vector<std::string_view> Staged::names_in(std::string_view names) {
  std::vector<std::string_view> list;
  for (const auto part : std::views::split(names, ' ')) {
    if (!part.empty()) list.emplace_back(&*part.begin(), static_cast<std::size_t>(std::ranges::distance(part)));
  }
  return list;
}

staged::Index Staged::add_axes(std::vector<AxisRange>& axes, std::string_view name, const Extent& extent) {
  Index index({}, extent);
  for (std::size_t k = 0; k < extent.size(); ++k) {
    axes.push_back({{next_axis_++, numbered(name, extent.size(), k)}, extent[k]});
    index.parts.emplace_back(axes.back().axis);
  }
  return index;
}

// --- stages

BufferId Staged::add_temporary(std::string_view name, std::span<const Extent> groups) {
  Buffer buffer{.name = std::string(name)};
  buffer.role = BufferRole::kTemporary;
  for (const Extent& extent : groups) buffer.sizes.insert(buffer.sizes.end(), extent.begin(), extent.end());
  const auto same = [&](const Buffer& other) { return other.name == buffer.name; };
  for (int n = 1; std::ranges::any_of(definition_.buffers, same); ++n) buffer.name = fmt::format("{}_{}", name, n);
  definition_.buffers.push_back(std::move(buffer));
  return {static_cast<std::uint32_t>(definition_.buffers.size() - 1)};
}

std::string Staged::unique_stage_name(BufferId buffer) const {
  const auto before =
      std::ranges::count_if(definition_.stages, [&](const Stage& stage) { return stage.target == buffer; });
  const std::string& name = definition_[buffer].name;
  return before == 0 ? name : fmt::format("{}_part{}", name, before);
}

staged::Index Staged::open_serial(std::string_view name, const Size& size) {
  if (serial_) fail("a definition has a serial axis inside of another");
  serial_ = AxisRange{{next_axis_++, std::string(name)}, IndexExpr(size), true};
  return IndexExpr(serial_->axis);
}

std::vector<staged::Index> Staged::open(BufferId buffer, std::string_view names, std::span<const Extent> groups,
                                        std::span<const IndexExpr> row) {
  if (open_) fail("a definition has a statement inside of another");
  open_.emplace(Stage{.name = unique_stage_name(buffer), .target = buffer, .axes = {}, .at = {}, .value = {}});
  if (serial_) open_->axes.push_back(*serial_);
  open_->at.assign(row.begin(), row.end());
  const std::vector<std::string_view> list = names_in(names);
  std::vector<Index> indices;
  for (std::size_t group = 0; group < groups.size(); ++group) {
    indices.push_back(add_axes(open_->axes, group < list.size() ? list[group] : "i", groups[group]));
    open_->at.insert(open_->at.end(), indices.back().parts.begin(), indices.back().parts.end());
  }
  return indices;
}

void Staged::close(const ValueExpr& value) {
  open_->value = value;
  definition_.stages.push_back(*std::move(open_));
  open_.reset();
}

void Staged::write(const Place& place, const std::function<ValueExpr(std::span<const IndexExpr>)>& value) {
  const Index index = open(place.buffer, "i", std::vector<Extent>{expressions(place.extents)})[0];
  for (std::size_t axis = 0; axis < place.first.size(); ++axis) open_->at[axis] = place.first[axis] + index.parts[axis];
  close(value(index.parts));
}

}  // namespace rewright
