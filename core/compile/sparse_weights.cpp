#include "compile/sparse_weights.h"

#include <rewright/loop/linear_index.h>

#include <algorithm>
#include <functional>
#include <limits>
#include <tuple>

#include "loop/accesses.h"
#include "loop/bounds.h"
#include "schedule/nest.h"
#include "schedule/nest_scheduling.h"
#include "schedule/places.h"
#include "schedule/read_box.h"

namespace rewright::compile {
namespace {

using loop::Body;
using loop::Loop;
using loop::LoopKind;
using loop::Program;
using loop::Statement;
using loop::Store;
using loop::StoreKind;
using schedule::Nest;

/// Vectors that one element of the weight serves, at most: of lines, and of places that are one line.
constexpr std::int64_t kMostVectors = 8, kVectors = 4;
constexpr double kElement = 0.3;  ///< What an element costs beside, in vectors.
/// Of columns that are computed, so many at most are used by none: one for each that is used.
constexpr std::int64_t kMostWaste = 2;
/// Bytes of the other buffer that all rows read before the next block: of a first cache, what sums leave.
constexpr std::int64_t kNearBytes = 28 << 10;
constexpr std::int64_t kMostShort = std::numeric_limits<std::uint16_t>::max();
/// Of a row in a block, at least: sums are read and stored for each.
constexpr std::int64_t kLeastElements = 8;

std::int64_t extent(const Loop& loop) { return *loop.extent.number(); }

/// A nest that multiplies the weight with another buffer, and how that moves.
class SparseNest {
 public:
  /// Nothing where it has another form.
  static std::optional<SparseNest> of(const Program& program, const Loop& root, BufferId weight) {
    const auto nest = schedule::nest_at(root);
    if (!nest || nest->update == nullptr || nest->has_conditions || nest->update->kind != StoreKind::kAdd)
      return std::nullopt;
    SparseNest made(program, *nest, weight);
    if (!made.reads_weight() || !made.reads_other() || !made.finds_places()) return std::nullopt;
    return made;
  }

  Nest nest;
  ValueExpr weight, other;                 ///< Loads.
  std::vector<std::size_t> rows, columns;  ///< Of the weight: see SparsePart.
  std::vector<std::int64_t> steps;
  IndexExpr row = 0;                ///< Of the weight, among all rows.
  std::int64_t row_count = 1;       ///< Of these.
  loop::LinearIndex start;          ///< Of the other buffer as one row of elements, without places and columns.
  std::vector<const Loop*> around;  ///< Outer loops but for places: first those that the weight does not follow,
  std::size_t batch = 0;            ///< of which there are so many.
  const Loop* place = nullptr;      ///< Moves the other buffer, and the result, by 1.
  const Loop* line = nullptr;       ///< Of places; moves it by `apart`; null: there is but one.
  std::int64_t apart = 0;

  /// Of the weight.
  [[nodiscard]] std::int64_t size_of(std::size_t dimension) const {
    return *program_[weight_].sizes[dimension].number();
  }

  /// Of so many indices of the first column.
  [[nodiscard]] std::int64_t step_of(std::int64_t indices) const { return columns.empty() ? 0 : indices * steps[0]; }
  /// By which a place moves at most while columns but the first go on, and the first by `near` indices.
  [[nodiscard]] std::int64_t farthest_of(std::int64_t near) const {
    std::int64_t farthest = step_of(near - 1);
    for (std::size_t c = 1; c < columns.size(); ++c) farthest += steps[c] * (size_of(columns[c]) - 1);
    return farthest;
  }

 private:
  SparseNest(const Program& program, Nest nest, BufferId weight)
      : nest(std::move(nest)), program_(program), weight_(weight) {}

  static bool is_known(const Loop* loop) { return loop->extent.number().value_or(0) > 0; }

  bool reads_weight() {
    const std::vector<const Loop*> loops = nest.loops();
    if (!std::ranges::all_of(loops, is_known)) return false;
    const ValueExpr& product = nest.update->value;
    if (product.kind() != ValueExpr::Kind::kMultiply) return false;
    const auto factors = product.operands();
    const auto is_load = [](const ValueExpr& factor) { return factor.kind() == ValueExpr::Kind::kLoad; };
    if (!std::ranges::all_of(factors, is_load)) return false;
    const std::size_t at = factors[0].buffer() == weight_ ? 0 : 1;
    if (factors[at].buffer() != weight_ || factors[1 - at].buffer() == weight_) return false;
    if (!schedule::is_read_once(program_, weight_)) return false;
    weight = factors[at], other = factors[1 - at];
    std::vector<const Loop*> met;
    for (std::size_t d = 0; d < weight.indices().size(); ++d) {
      const IndexExpr& index = weight.indices()[d];
      const auto sum = std::ranges::find_if(nest.reduced, [&](const Loop* each) { return index == each->axis; });
      const std::int64_t size = size_of(d);
      if (sum != nest.reduced.end()) {
        if (extent(**sum) != size || std::ranges::find(met, *sum) != met.end()) return false;
        met.push_back(*sum);
        columns.push_back(d);
        continue;
      }
      const auto names_index = [&](const Loop* each) { return schedule::names_axis(index, each->axis); };
      if (std::ranges::any_of(nest.reduced, names_index)) return false;
      rows.push_back(d);
      row = row * IndexExpr(size) + index;
      row_count *= size;
    }
    return met.size() == nest.reduced.size();
  }

  bool reads_other() {
    const std::vector<const Loop*> loops = nest.loops();
    IndexExpr flat = 0;
    for (std::size_t d = 0; d < other.indices().size(); ++d)
      flat = flat * program_[other.buffer()].sizes[d] + other.indices()[d];
    const auto form = loop::linear(loop::simplified(flat, loop::ranges_of(loops)));
    if (!form) return false;
    start = *form;
    for (const std::size_t d : columns) {
      const IndexExpr& column = weight.indices()[d];
      const std::int64_t step = form->coefficient(column);
      if (step < 0) return false;
      steps.push_back(step);
      start.add(column, -step);
    }
    if (const auto last = std::ranges::max_element(steps); last != steps.end()) {
      std::iter_swap(columns.begin(), columns.begin() + (last - steps.begin()));
      std::iter_swap(steps.begin(), last);
    }
    return std::ranges::none_of(start.terms, [&](const auto& term) {
      return std::ranges::any_of(nest.reduced,
                                 [&](const Loop* each) { return schedule::names_axis(term.first, each->axis); });
    });
  }

  /// Loops that the weight does not follow, and the other buffer evenly.
  bool finds_places() {
    std::vector<std::pair<std::int64_t, const Loop*>> near;
    for (const Loop* loop : nest.outer) {
      const std::int64_t step = start.coefficient(loop->axis);
      if (step > 0 && !follows(*loop) && !is_in_other_terms(*loop)) near.emplace_back(step, loop);
    }
    std::ranges::stable_sort(near, {}, &std::pair<std::int64_t, const Loop*>::first);
    if (near.empty() || near[0].first != 1) return false;
    place = near[0].second;
    start.add(place->axis, -1);
    if (near.size() > 1 && near[1].first >= extent(*place) && near[1].first <= kMostWaste * extent(*place)) {
      std::tie(apart, line) = near[1];
      start.add(line->axis, -apart);
    }
    for (const bool is_batch : {true, false}) {
      for (const Loop* loop : nest.outer)
        if (loop != place && loop != line && follows(*loop) != is_batch) around.push_back(loop);
      if (is_batch) batch = around.size();
    }
    return true;
  }
  [[nodiscard]] bool follows(const Loop& loop) const { return schedule::names_axis(weight.indices(), loop.axis); }
  [[nodiscard]] bool is_in_other_terms(const Loop& loop) const {
    return std::ranges::any_of(start.terms, [&](const auto& term) {
      return !(term.first == IndexExpr(loop.axis)) && schedule::names_axis(term.first, loop.axis);
    });
  }

  const Program& program_;
  BufferId weight_;
};

/// Lines, or places where there is but one line, that are computed together.
std::int64_t best_block(const SparseNest& nest, std::int64_t lanes, std::int64_t registers) {
  const std::int64_t most = std::min(kMostVectors, registers / 2);
  const auto vectors = [&](std::int64_t places) { return (places + lanes - 1) / lanes; };
  const std::int64_t places = extent(*nest.place);
  if (nest.line == nullptr) {
    const std::int64_t blocks = (vectors(places) + std::min(kVectors, most) - 1) / std::min(kVectors, most);
    return std::min(places, (vectors(places) + blocks - 1) / blocks * lanes);
  }
  const auto cost_of = [&](std::int64_t lines) {
    const std::int64_t count = vectors((lines - 1) * nest.apart + places);
    return lines == 0 ? 0.0 : static_cast<double>(count) + kElement;
  };
  std::int64_t best = 1;
  double least = std::numeric_limits<double>::infinity();
  for (std::int64_t lines = 1; lines <= extent(*nest.line); ++lines) {
    if (lines > 1 && vectors((lines - 1) * nest.apart + places) > most) break;
    const double cost =
        static_cast<double>(extent(*nest.line) / lines) * cost_of(lines) + cost_of(extent(*nest.line) % lines);
    if (cost < least) best = lines, least = cost;
  }
  return best;
}

/// Indices of the first column of which `width` places, of all others, stay near.
std::int64_t block_of_columns(const SparseNest& nest, std::int64_t width, std::int64_t elements) {
  if (nest.columns.empty()) return 1;
  const std::int64_t reach = nest.farthest_of(1);
  std::int64_t beside = 1;
  for (std::size_t c = 1; c < nest.columns.size(); ++c) {
    beside *= nest.size_of(nest.columns[c]);
  }
  const std::int64_t count = nest.size_of(nest.columns[0]);
  const auto bytes = static_cast<std::int64_t>(sizeof(float)) * count * std::min(reach + width, beside * width);
  const std::int64_t most = elements / (nest.row_count * kLeastElements);
  const std::int64_t blocks =
      std::clamp<std::int64_t>((bytes + kNearBytes - 1) / kNearBytes, 1, std::max<std::int64_t>(most, 1));
  return (count + blocks - 1) / blocks;
}

/// Puts the arrays in place of the weight.
class SparseProgramMaker {
 public:
  SparseProgramMaker(const Program& program, const SparseNest& nest, std::int64_t elements,
                     const schedule::VectorUnit& unit)
      : program_(program), nest_(nest), copies_(program_), elements_(elements), unit_(unit) {}

  std::optional<SparseProgram> run(std::size_t root) && {
    const Nest& nest = nest_.nest;
    const bool is_apart = nest.result != nullptr;
    if (is_apart && !is_used_here_alone(nest.update->buffer, root)) return std::nullopt;
    flatten(nest_.other.buffer());
    const std::string weight = program_[nest_.weight.buffer()].name;
    values_ = add(weight + "_values", {elements_}, ElementType::kFloat32, BufferRole::kWeight);
    const std::int64_t count = extent(block_axis());
    const std::int64_t block = best_block(nest_, unit_.lanes, unit_.registers);
    const std::int64_t columns = nest_.columns.empty() ? 1 : nest_.size_of(nest_.columns[0]);
    const std::int64_t near = block_of_columns(nest_, width_of(block), elements_);
    parts_ = (columns + near - 1) / near;
    block_ = near;
    farthest_ = nest_.farthest_of(near);
    const ElementType place = farthest_ <= kMostShort ? ElementType::kUint16 : ElementType::kInt32;
    places_ = add(weight + "_places", {elements_}, place, BufferRole::kWeight);
    rows_ = add(weight + "_rows", {parts_ * nest_.row_count + 1}, ElementType::kInt32, BufferRole::kWeight);
    Body body = blocks(0, count / block, block, is_apart ? *nest.result : *nest.update);
    if (count % block != 0) {
      const Body rest = blocks(count / block * block, 1, count % block, is_apart ? *nest.result : *nest.update);
      const Body copy = copies_.copy(rest, copies_.free_step(rest, 2));
      body.insert(body.end(), copy.begin(), copy.end());
    }
    body = around(std::span(nest_.around).first(nest_.batch), std::move(body));
    const std::string note = program_.body[root].note();
    body[0] = body[0].loop() == nullptr ? body[0] : Statement(*body[0].loop(), note);
    program_.body.erase(program_.body.begin() + static_cast<std::ptrdiff_t>(root));
    program_.body.insert(program_.body.begin() + static_cast<std::ptrdiff_t>(root), body.begin(), body.end());
    SparseProgram made;
    for (const auto& [buffer, kind] :
         {std::pair(values_, SparsePart::Kind::kValues), std::pair(places_, SparsePart::Kind::kPlaces),
          std::pair(rows_, SparsePart::Kind::kRows)})
      made.parts.emplace_back(program_[buffer].name,
                              SparsePart{kind, nest_.rows, nest_.columns, nest_.steps, near, place});
    for (const Statement& statement : body)
      if (statement.loop() != nullptr) made.nests.push_back(statement.loop()->axis.name);
    const auto [first, last] =
        std::minmax(nest_.weight.buffer(), is_apart ? nest.update->buffer : nest_.weight.buffer());
    made.program = schedule::without_buffer(std::move(program_), last);
    if (first != last) made.program = schedule::without_buffer(std::move(made.program), first);
    return made;
  }

 private:
  BufferId add(const std::string& stem, std::vector<std::int64_t> sizes, ElementType element, BufferRole role) {
    Buffer buffer{stem, {}, element, role};
    for (int i = 1; !schedule::is_free_name(program_, buffer.name); ++i) buffer.name = stem + std::to_string(i);
    for (const std::int64_t size : sizes) buffer.sizes.emplace_back(size);
    program_.buffers.push_back(std::move(buffer));
    return {static_cast<std::uint32_t>(program_.buffers.size() - 1)};
  }
  /// A loop called after the nest's stage.
  Loop loop_of(const std::string& what, std::vector<int> path, IndexExpr extent, LoopKind kind = LoopKind::kSerial) {
    const auto name = *loop::parse_loop_name(nest_.nest.outer.front()->axis.name);
    const loop::LoopName own{{{name.parts[0].stage, what, std::move(path)}}};
    return {copies_.new_axis(own), std::move(extent), kind, {}};
  }
  static Body in(Loop loop, Statement::Content statement) {
    loop.body = Body(1, Statement(std::move(statement)));
    return Body(1, Statement(std::move(loop)));
  }
  /// A buffer that another nest reads, or sets, keeps what it has.
  [[nodiscard]] bool is_used_here_alone(BufferId buffer, std::size_t root) const {
    if (program_[buffer].role != BufferRole::kTemporary) return false;
    Program others = program_;
    others.body.erase(others.body.begin() + static_cast<std::ptrdiff_t>(root));
    return std::ranges::none_of(loop::accesses(others), [&](const loop::Access& a) { return a.buffer == buffer; });
  }
  void flatten(BufferId buffer) {
    const std::vector<IndexExpr> sizes = program_[buffer].sizes;
    program_.body = schedule::with_places(program_.body, buffer, buffer,
                                          [&](std::span<const IndexExpr> at, const loop::AxisRanges& ranges) {
                                            IndexExpr flat = 0;
                                            for (std::size_t d = 0; d < at.size(); ++d) flat = flat * sizes[d] + at[d];
                                            return std::vector{loop::simplified(flat, ranges)};
                                          });
    IndexExpr count = 1;
    for (const IndexExpr& size : sizes) count = count * size;
    program_.buffers[buffer.value].sizes = {count};
  }

  [[nodiscard]] const Loop& block_axis() const { return nest_.line != nullptr ? *nest_.line : *nest_.place; }
  static Body around(std::span<const Loop* const> loops, Body body) {
    for (std::size_t i = loops.size(); i-- > 0;)
      body = Body(1, Statement(Loop{loops[i]->axis, loops[i]->extent, LoopKind::kSerial, std::move(body)}));
    return body;
  }

  [[nodiscard]] std::span<const Loop* const> rows() const { return std::span(nest_.around).subspan(nest_.batch); }
  /// Of places that `size` lines, or places, take.
  [[nodiscard]] std::int64_t width_of(std::int64_t size) const {
    return nest_.line != nullptr ? (size - 1) * nest_.apart + extent(*nest_.place) : size;
  }
  BufferId add_sums(const std::string& what, std::vector<std::int64_t> sizes) {
    return add(program_[nest_.nest.update->buffer].name + what, std::move(sizes), ElementType::kFloat32,
               BufferRole::kTemporary);
  }
  /// to[l] = value(l), over `width` lanes.
  Statement set_lanes(int part, std::int64_t width, const std::function<Store(const IndexExpr&)>& store) {
    const Loop lanes = loop_of("lanes", {part}, width, LoopKind::kVector);
    return in(lanes, store(lanes.axis))[0];
  }

  /// Blocks of `size` lines, or places, from `first` on: of each all rows of the weight.
  Body blocks(std::int64_t first, std::int64_t count, std::int64_t size, const Store& result) {
    if (count == 1) return rows_of(first, size, result);
    Loop loop = loop_of("blocks", {}, count);
    loop.body = rows_of(first + IndexExpr(loop.axis) * IndexExpr(size), size, result);
    return Body(1, Statement(std::move(loop)));
  }
  Body rows_of(const IndexExpr& from, std::int64_t size, const Store& result) {
    return parts_ == 1 ? around(rows(), row_of(from, size, result)) : rows_by_parts(from, size, result);
  }
  /// Of one row of the weight: a register tile, and what is made of it.
  Body row_of(const IndexExpr& from, std::int64_t size, const Store& result) {
    const std::int64_t width = width_of(size);
    const BufferId tile = add_sums("_tile", {width});
    const auto set_zeros = [&](const IndexExpr& lane) {
      return Store{tile, {lane}, StoreKind::kSet, ValueExpr::from_integer(0)};
    };
    Body body = {set_lanes(0, width, set_zeros), sums_in(tile, width, from, nest_.row)};
    BufferId sums = tile;
    if (nest_.line != nullptr && size > 1) {  // Lines begin anywhere in the tile, whose vectors are in registers.
      sums = add_sums("_lines", {width});
      body.push_back(set_lanes(2, width, [&](const IndexExpr& lane) {
        return Store{sums, {lane}, StoreKind::kSet, ValueExpr::load(tile, {lane})};
      }));
    }
    body.push_back(results(from, size, result, [&](const IndexExpr& at) { return ValueExpr::load(sums, {at}); }));
    return body;
  }
  /// By blocks of the first column, the sums of all rows are in a buffer meanwhile.
  Body rows_by_parts(const IndexExpr& from, std::int64_t size, const Store& result) {
    const std::int64_t width = width_of(size);
    const BufferId sums = add_sums("_rows", {nest_.row_count, width}), tile = add_sums("_tile", {width});
    const Body zeros = around(rows(), {set_lanes(0, width, [&](const IndexExpr& lane) {
                                return Store{sums, {nest_.row, lane}, StoreKind::kSet, ValueExpr::from_integer(0)};
                              })});
    Loop part = loop_of("parts", {}, parts_);
    part.body = around(
        rows(), {set_lanes(1, width,
                           [&](const IndexExpr& lane) {
                             return Store{tile, {lane}, StoreKind::kSet, ValueExpr::load(sums, {nest_.row, lane})};
                           }),
                 sums_in(tile, width, from, IndexExpr(part.axis) * IndexExpr(nest_.row_count) + nest_.row,
                         IndexExpr(part.axis) * IndexExpr(nest_.step_of(block_))),
                 set_lanes(2, width, [&](const IndexExpr& lane) {
                   return Store{sums, {nest_.row, lane}, StoreKind::kSet, ValueExpr::load(tile, {lane})};
                 })});
    const Body stores = around(rows(), {results(from, size, result, [&](const IndexExpr& at) {
                                 return ValueExpr::load(sums, {nest_.row, at});
                               })});
    return {copies_.copy(zeros, 3)[0], Statement(std::move(part)), copies_.copy(stores, 4)[0]};
  }
  /// What the nest stores of each sum of a row.
  Statement results(const IndexExpr& from, std::int64_t size, const Store& result,
                    const std::function<ValueExpr(const IndexExpr&)>& sum) {
    const bool has_lines = nest_.line != nullptr;
    Loop line = loop_of("line", {}, size), lane = loop_of("place", {}, has_lines ? extent(*nest_.place) : size);
    const bool has_more = has_lines && size > 1;
    const IndexExpr place = has_lines ? IndexExpr(lane.axis) : from + IndexExpr(lane.axis);
    const IndexExpr at =
        has_more ? IndexExpr(line.axis) * IndexExpr(nest_.apart) + IndexExpr(lane.axis) : IndexExpr(lane.axis);
    const IndexExpr lines = has_more ? from + IndexExpr(line.axis) : from;
    Store store = result_of(result, sum(at));
    const Substitution places_in_block{.axis = [&](const Axis& axis) -> std::optional<IndexExpr> {
      if (axis == nest_.place->axis) return place;
      return has_lines && axis == nest_.line->axis ? std::optional(lines) : std::nullopt;
    }};
    for (IndexExpr& index : store.at) index = substitute(index, places_in_block);
    store.value = substitute(store.value, places_in_block);
    if (schedule::stride_of(program_, store.buffer, store.at, lane.axis, {}) == 1) lane.kind = LoopKind::kVector;
    Body results = in(lane, std::move(store));
    if (has_more) line.body = std::move(results), results = Body(1, Statement(std::move(line)));
    return results[0];
  }
  /// tile[p] += the sum over the elements of row `row`, for `width` places. `moved`: what all are read from beside.
  Statement sums_in(BufferId tile, std::int64_t width, const IndexExpr& from, const IndexExpr& row,
                    const IndexExpr& moved = 0) {
    const IndexExpr first = moved + (nest_.line != nullptr ? from * IndexExpr(nest_.apart) : from);
    const auto start_of = [&](const IndexExpr& of) { return IndexExpr::data(rows_, {of}, 0, elements_ + 1); };
    const IndexExpr begin = start_of(row);
    Loop elements = loop_of("elements", {}, start_of(row + IndexExpr(1)) - begin);
    const IndexExpr element = begin + IndexExpr(elements.axis);
    const IndexExpr place = IndexExpr::data(places_, {element}, 0, farthest_ + 1);
    elements.body = {set_lanes(3, width, [&](const IndexExpr& lane) {
      const IndexExpr at = nest_.start.index() + place + first + lane;
      return Store{tile,
                   {lane},
                   StoreKind::kAdd,
                   ValueExpr::load(nest_.other.buffer(), {at}) * ValueExpr::load(values_, {element})};
    })};
    return Statement(std::move(elements));
  }
  /// What the nest stores, of a sum.
  [[nodiscard]] Store result_of(const Store& store, const ValueExpr& sum) const {
    Store result{store.buffer, store.at, StoreKind::kSet, sum};
    const BufferId sums = nest_.nest.update->buffer;
    if (nest_.nest.result == nullptr) return result;
    result.value = substitute(store.value, {.load = [&](const ValueExpr& load) {
                                return load.buffer() == sums ? std::optional(sum) : std::nullopt;
                              }});
    return result;
  }

  Program program_;
  const SparseNest& nest_;
  schedule::Copies copies_;
  std::int64_t elements_;
  const schedule::VectorUnit& unit_;
  BufferId values_, places_, rows_;
  std::int64_t parts_ = 1;     ///< Blocks of the weight's first column,
  std::int64_t block_ = 1;     ///< of so many indices,
  std::int64_t farthest_ = 0;  ///< in which a place moves by so much at most.
};

}  // namespace

std::optional<SparseProgram> with_sparse_weight(const loop::Program& program, BufferId weight, std::int64_t elements,
                                                const schedule::VectorUnit& unit) {
  if (elements < 1 || program[weight].element != ElementType::kFloat32) return std::nullopt;
  for (std::size_t root = 0; root < program.body.size(); ++root) {
    const Loop* loop = program.body[root].loop();
    if (loop == nullptr) continue;
    if (const auto nest = SparseNest::of(program, *loop, weight))
      return SparseProgramMaker(program, *nest, elements, unit).run(root);
  }
  return std::nullopt;
}

}  // namespace rewright::compile
