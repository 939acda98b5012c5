#include "compile/copies.h"

#include <fmt/format.h>

#include "schedule/places.h"

namespace rewright::compile {

loop::Program copying(const Buffer& of) {
  loop::Program program{
      {{"x", of.sizes, of.element, BufferRole::kInput}, {"y", of.sizes, of.element, BufferRole::kOutput}}, {}};
  std::vector<IndexExpr> at;
  std::vector<loop::Loop> loops;
  for (std::uint32_t d = 0; d < of.sizes.size(); ++d) {
    loops.push_back({{d, fmt::format("y.i{}", d)}, of.sizes[d]});
    at.emplace_back(loops.back().axis);
  }
  loop::Body body(1, loop::Statement(loop::Store{{1}, at, loop::StoreKind::kSet, ValueExpr::load({0}, at)}));
  for (std::size_t d = loops.size(); d-- > 0;) {
    loops[d].body = std::move(body);
    body = loop::Body(1, loop::Statement(loops[d]));
  }
  program.body = std::move(body);
  return program;
}

loop::Program transposing(const std::vector<IndexExpr>& sizes, bool from_last) {
  const std::vector<IndexExpr> first = {sizes[0], sizes[1], sizes[2] * sizes[3]}, last = {first[0], first[2], first[1]};
  loop::Program program = copying({"y", from_last ? first : last, ElementType::kFloat32, BufferRole::kOutput});
  program.buffers[0].sizes = from_last ? last : first;
  program.body = schedule::with_places(program.body, {0}, {0}, [](std::span<const IndexExpr> at, const auto&) {
    return std::vector<IndexExpr>{at[0], at[2], at[1]};
  });
  return program;
}

}  // namespace rewright::compile
