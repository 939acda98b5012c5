// pack b t parts: the layout of a buffer, as a bijection of its indices.
//
//   t[p0(i), p1(i), ...] = b[i]      p: an index of b, or floor(i_d / F) and i_d mod F of one of them
//
// A temporary has the layout from the start; of an input or a weight a copy is made first. Where F does not divide a
// size, `pad` gives elements beyond: they are 0, and loops may compute with them (split, tail=pad).
#include <rewright/loop/buffer_owners.h>

#include <fmt/ranges.h>

#include <algorithm>

#include "schedule/places.h"
#include "schedule/read_box.h"
#include "schedule/transforms.h"

namespace rewright::schedule {
namespace {

using loop::Store;
using loop::StoreKind;
using Kind = LayoutPart::Kind;

std::int64_t blocks(std::int64_t size, std::int64_t factor) { return (size + factor - 1) / factor; }

/// Sizes, places in both directions, and what is beyond the buffer.
class Layout {
 public:
  Layout(const Buffer& buffer, const Pack& pack) : pack_(pack) {
    for (const IndexExpr& size : buffer.sizes) sizes_.push_back(*size.number());
  }

  [[nodiscard]] std::optional<Conflict> check(const std::string& name) const {
    for (const LayoutPart& part : pack_.parts)
      if (part.dimension >= sizes_.size())
        return form(fmt::format("dimensions of {}, of which there are {}", name, sizes_.size()),
                    fmt::format("{}", part.dimension));
    for (std::size_t d = 0; d < sizes_.size(); ++d) {
      std::vector<LayoutPart> own;
      std::ranges::copy_if(pack_.parts, std::back_inserter(own), [&](const LayoutPart& p) { return p.dimension == d; });
      std::ranges::sort(own, {}, &LayoutPart::kind);
      const bool is_whole = own.size() == 1 && own[0].kind == Kind::kWhole;
      const bool is_split = own.size() == 2 && own[0].kind == Kind::kBlock && own[1].kind == Kind::kInBlock &&
                            own[0].factor == own[1].factor;
      if (!is_whole && !is_split)
        return form(fmt::format("dimension {} of {} once, as {} or as {}/F and {}%F", d, name, d, d, d), "other parts");
      if (is_split && sizes_[d] % own[0].factor != 0 && !pack_.pads)
        return form(fmt::format("a factor that divides the size {} of {}, or pad", sizes_[d], name),
                    fmt::format("{}", own[0].factor));
    }
    return std::nullopt;
  }
  [[nodiscard]] bool is_larger() const {
    return std::ranges::any_of(pack_.parts, [&](const LayoutPart& p) {
      return p.kind == Kind::kBlock && sizes_[p.dimension] % p.factor != 0;
    });
  }
  /// From 0 on in each dimension.
  [[nodiscard]] ReadBox box() const {
    ReadBox box;
    for (const LayoutPart& part : pack_.parts) {
      const std::int64_t size = sizes_[part.dimension];
      box.push_back({loop::LinearIndex{0}, part.kind == Kind::kWhole   ? size
                                           : part.kind == Kind::kBlock ? blocks(size, part.factor)
                                                                       : part.factor});
    }
    return box;
  }
  [[nodiscard]] std::vector<IndexExpr> packed(std::span<const IndexExpr> at, const loop::AxisRanges& ranges) const {
    std::vector<IndexExpr> places;
    for (const LayoutPart& part : pack_.parts) {
      const IndexExpr& index = at[part.dimension];
      const IndexExpr place = part.kind == Kind::kWhole   ? index
                              : part.kind == Kind::kBlock ? floor_divide(index, part.factor)
                                                          : modulo(index, part.factor);
      places.push_back(loop::simplified(place, ranges));
    }
    return places;
  }
  /// The index of the buffer at a place of the layout.
  [[nodiscard]] std::vector<IndexExpr> unpacked(const std::vector<IndexExpr>& places) const {
    std::vector<IndexExpr> at(sizes_.size(), IndexExpr(0));
    for (std::size_t p = 0; p < places.size(); ++p) {
      const LayoutPart& part = pack_.parts[p];
      IndexExpr& index = at[part.dimension];
      index = index + (part.kind == Kind::kBlock ? places[p] * IndexExpr(part.factor) : places[p]);
    }
    return at;
  }
  /// The buffer's element, or 0 where there is none.
  [[nodiscard]] ValueExpr element(BufferId buffer, const std::vector<IndexExpr>& at) const {
    ValueExpr value = ValueExpr::load(buffer, at);
    for (std::size_t d = 0; d < at.size(); ++d) {
      const bool is_larger = std::ranges::any_of(pack_.parts, [&](const LayoutPart& p) {
        return p.dimension == d && p.kind == Kind::kBlock && sizes_[d] % p.factor != 0;
      });
      if (is_larger)
        value = select(less(ValueExpr::index(at[d]), ValueExpr::index(sizes_[d])), value, ValueExpr::from_integer(0));
    }
    return value;
  }

 private:
  const Pack& pack_;
  std::vector<std::int64_t> sizes_;
};

/// Statements in front of others.
Body in_front(Body front, const Body& body) {
  front.insert(front.end(), body.begin(), body.end());
  return front;
}

/// Puts statements at the start of what owns a buffer: an iteration, or the program.
Body at_start_of_owner(const Program& program, BufferId buffer, Body front) {
  const auto owner = loop::owners(program)[buffer.value];
  if (!owner) return in_front(std::move(front), program.body);
  std::string name;
  for_each_loop(program.body, [&](const Loop& loop) {
    if (loop.axis.id == *owner) name = loop.axis.name;
  });
  const LoopPath path = *path_to(program, *loop::parse_loop_name(name));
  const Loop& loop = loop_at(program, path);
  const Body body = in_front(std::move(front), loop.body);
  return replaced(program.body, path, only(Loop{loop.axis, loop.extent, loop.kind, body}));
}

}  // namespace

Outcome transformed(const Program& program, const Pack& pack) {
  const BufferId buffer = buffer_named(program, pack.buffer);
  if (buffer.value == program.buffers.size()) return gone(program, pack.buffer);
  if (!is_free_name(program, pack.name)) return form("a word that is no buffer's name and no stage's", pack.name);
  const BufferRole role = program[buffer].role;
  if (role == BufferRole::kOutput)
    return form("a temporary, an input or a weight", fmt::format("{}, an output", pack.buffer));
  const Layout layout(program[buffer], pack);
  if (auto conflict = layout.check(pack.buffer)) return *std::move(conflict);
  if (layout.is_larger() && program[buffer].element == ElementType::kBool)
    return form("numbers to pad", fmt::format("{}, of bool", pack.buffer));

  const auto owner = loop::owners(program)[buffer.value];
  bool is_in_vector = false;
  for_each_loop(program.body, [&](const Loop& loop) {
    is_in_vector |= loop.axis.id == owner && loop.kind == loop::LoopKind::kVector;
  });
  if (layout.is_larger() && is_in_vector)
    return form("a buffer that outlives iterations of a vectorised loop", pack.buffer);

  const bool is_copied = role != BufferRole::kTemporary;
  Program result = with_copy(program, buffer, layout.box(), pack.name);
  const BufferId copy = is_copied ? buffer_named(result, pack.name) : buffer;
  if (!is_copied) {
    result.buffers[buffer.value] = result.buffers.back();
    result.buffers.pop_back();
  }
  result.body = with_places(
      program.body, buffer, copy,
      [&](std::span<const IndexExpr> at, const loop::AxisRanges& ranges) { return layout.packed(at, ranges); });
  if (!is_copied && !layout.is_larger()) return result;
  Copies copies(result);
  const std::vector<Loop> over = loops_over(copies, layout.box(), pack.name, 'd');
  const std::vector<IndexExpr> places = places_in_copy(over);
  const ValueExpr value = is_copied ? layout.element(buffer, layout.unpacked(places)) : ValueExpr::from_integer(0);
  Body front = nested(over, Store{copy, places, StoreKind::kSet, value});
  std::string note = fmt::format("{} = {} in blocks", pack.name, pack.buffer);
  if (role == BufferRole::kWeight) note += ": once, as a weight does not change";
  if (!is_copied) note = fmt::format("{} = 0, also beyond {}", pack.name, pack.buffer);
  front = Body(1, front[0].loop() == nullptr ? Statement(*front[0].store(), note) : Statement(*front[0].loop(), note));
  result.body = is_copied ? in_front(std::move(front), result.body) : at_start_of_owner(result, copy, std::move(front));
  return result;
}

}  // namespace rewright::schedule
