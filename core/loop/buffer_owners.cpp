// Who owns a temporary, and which buffers a program's code takes.
#include <rewright/loop/buffer_owners.h>
#include <rewright/loop/target.h>

#include <algorithm>

#include "loop/accesses.h"
#include "loop/interpreter.h"

namespace rewright::loop {

std::vector<std::optional<std::uint32_t>> owners(const Program& program) {
  std::vector<std::optional<std::vector<const Loop*>>> common(program.buffers.size());
  for (const Access& access : accesses(program)) {
    auto& loops = common[access.buffer.value];
    if (!loops) loops = access.loops;
    const auto [end, other] = std::ranges::mismatch(*loops, access.loops);
    loops->erase(end, loops->end());
  }
  std::vector<std::optional<std::uint32_t>> owners(program.buffers.size());
  for (std::size_t b = 0; b < owners.size(); ++b) {
    const bool owned = program.buffers[b].role == BufferRole::kTemporary && common[b] && !common[b]->empty();
    if (owned) owners[b] = common[b]->back()->axis.id;
  }
  return owners;
}

namespace {

/// What one iteration may keep on its stack.
constexpr std::int64_t kMostLocalBytes = 16 << 10;

bool is_small(const Buffer& buffer) {
  const auto count = element_count(buffer);
  return count && *count * static_cast<std::int64_t>(element_size(buffer.element)) <= kMostLocalBytes;
}

}  // namespace

std::vector<BufferId> parameters(const Program& program) {
  const auto own = owners(program);
  std::vector<BufferId> taken;
  for (std::uint32_t b = 0; b < program.buffers.size(); ++b) {
    const Buffer& buffer = program.buffers[b];
    const bool is_local = buffer.role == BufferRole::kTemporary && (own[b] || buffer.sizes.empty()) && is_small(buffer);
    if (!is_local) taken.push_back({b});
  }
  return taken;
}

}  // namespace rewright::loop
