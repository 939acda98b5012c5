#include "c_prefetch.h"

#include <rewright/loop/linear_index.h>

#include <algorithm>
#include <map>
#include <optional>

namespace rewright::c {
namespace {

using namespace loop;

/// Buffers of fewer bytes stay in a cache by themselves.
constexpr std::int64_t kLeastBytes = 512 << 10;
constexpr std::int64_t kMostParts = 16;
/// Of a row: two are to stay in the first cache.
constexpr std::int64_t kMostRowBytes = 16 << 10;
constexpr std::int64_t kLineBytes = 64;
constexpr std::int64_t kMostLines = 8;

/// The flat indices of what is read of large buffers of a role, by buffer: the first of each.
class Loads {
 public:
  Loads(const Program& program, BufferRole role) : program_(program), role_(role) {}
  void visit(const Body& body) {
    for (const Statement& statement : body) {
      if (statement.store() != nullptr) visit(statement.store()->value);
      visit(body_of(statement));
    }
  }
  [[nodiscard]] const std::map<std::uint32_t, LinearIndex>& found() const { return found_; }

 private:
  void visit(const ValueExpr& value) {
    for (const ValueExpr& part : value.operands()) visit(part);
    if (value.kind() != ValueExpr::Kind::kLoad) return;
    const Buffer& buffer = program_[value.buffer()];
    if (buffer.role != role_ || found_.contains(value.buffer().value)) return;
    IndexExpr flat = 0;
    std::int64_t elements = 1;
    for (std::size_t d = 0; d < buffer.sizes.size(); ++d) {
      flat = flat * buffer.sizes[d] + value.indices()[d];
      elements *= *buffer.sizes[d].number();
    }
    const auto form = linear(flat);
    const auto bytes = elements * static_cast<std::int64_t>(element_size(buffer.element));
    if (form && bytes >= kLeastBytes) found_.emplace(value.buffer().value, *form);
  }

  const Program& program_;
  BufferRole role_;
  std::map<std::uint32_t, LinearIndex> found_;
};

bool is_innermost(const Loop& loop) {
  bool has_vectors = false;
  for (const Statement& statement : loop.body) {
    if (statement.branch() != nullptr) return false;
    if (statement.loop() != nullptr && statement.loop()->kind != LoopKind::kVector) return false;
    has_vectors |= statement.loop() != nullptr;
  }
  return has_vectors;
}

/// By how many elements an iteration of the loop moves the index.
std::int64_t step_of(const LinearIndex& form, const Loop& loop) {
  const auto term = std::ranges::find(form.terms, IndexExpr(loop.axis), [](const auto& each) { return each.first; });
  return term == form.terms.end() ? 0 : term->second;
}

std::optional<IndexExpr> next_panel(const LinearIndex& form, const std::vector<const Loop*>& loops) {
  const auto moved = [&](const Loop* loop) { return step_of(form, *loop); };
  std::size_t sums = loops.size();
  while (sums > 0 && moved(loops[sums - 1]) > 0) --sums;
  std::size_t passes = sums;
  while (passes > 0 && moved(loops[passes - 1]) == 0) --passes;
  if (passes == 0 || passes == sums || sums == loops.size()) return std::nullopt;

  std::int64_t count = 1, parts = 1;
  IndexExpr pass = 0;
  for (std::size_t k = passes; k < sums; ++k) {
    const auto extent = loops[k]->extent.number();
    if (!extent) return std::nullopt;
    count *= *extent;
    pass = pass * IndexExpr(*extent) + IndexExpr(loops[k]->axis);
  }
  const auto divides = [&](std::int64_t by) {
    return std::all_of(loops.begin() + static_cast<std::ptrdiff_t>(sums), loops.end(),
                       [&](const Loop* loop) { return moved(loop) % by == 0; });
  };
  while (2 * parts <= std::min(count, kMostParts) && divides(2 * parts)) parts *= 2;
  if (parts < 2) return std::nullopt;

  const std::int64_t panel = moved(loops[passes - 1]);
  IndexExpr at = IndexExpr(form.constant + panel) + modulo(pass, IndexExpr(parts)) * IndexExpr(panel / parts);
  for (std::size_t k = 0; k < loops.size(); ++k) {
    const std::int64_t by = moved(loops[k]) / (k < sums ? 1 : parts);
    if (by != 0) at = at + IndexExpr(loops[k]->axis) * IndexExpr(by);
  }
  return at;
}

/// Of a row that this is the second loop to read: the lines of the next one that an iteration fetches.
std::vector<IndexExpr> next_row(const Program& program, BufferId buffer, const LinearIndex& form,
                                const std::vector<const Loop*>& loops) {
  if (loops.size() < 2) return {};
  const Loop& rows = *loops[loops.size() - 2];
  const Loop& reader = *loops.back();
  std::size_t earlier = 0;
  for (const Statement& statement : rows.body) {
    if (statement.loop() == &reader) break;
    Loads before(program, program[buffer].role);
    before.visit(body_of(statement));
    const auto same = before.found().find(buffer.value);
    earlier += same != before.found().end() && step_of(same->second, rows) == step_of(form, rows);
  }
  const auto extent = reader.extent.number();
  const auto bytes = static_cast<std::int64_t>(element_size(program[buffer].element));
  const std::int64_t row = step_of(form, rows), step = step_of(form, reader);
  if (earlier != 1 || !extent || step <= 0 || *extent * step > row || row * bytes > kMostRowBytes) return {};
  const std::int64_t line = kLineBytes / bytes, lines = std::max<std::int64_t>(step / line, 1);
  if (lines > kMostLines) return {};
  std::vector<IndexExpr> all;
  for (std::int64_t k = 0; k < lines; ++k) {
    IndexExpr at = IndexExpr(form.constant + row + k * line);
    for (const Loop* loop : loops) {
      const std::int64_t by = step_of(form, *loop);
      if (by != 0) at = at + IndexExpr(loop->axis) * IndexExpr(by);
    }
    all.push_back(std::move(at));
  }
  return all;
}

}  // namespace

std::vector<Prefetch> prefetches(const Program& program, const std::vector<const Loop*>& loops) {
  if (loops.empty() || !is_innermost(*loops.back())) return {};
  Loads weights(program, BufferRole::kWeight), inputs(program, BufferRole::kInput);
  weights.visit(loops.back()->body);
  inputs.visit(loops.back()->body);
  std::vector<Prefetch> all;
  for (const auto& [buffer, form] : weights.found()) {
    if (auto at = next_panel(form, loops)) all.push_back({{buffer}, *std::move(at)});
  }
  for (const auto& [buffer, form] : inputs.found()) {
    for (IndexExpr& at : next_row(program, {buffer}, form, loops)) all.push_back({{buffer}, std::move(at)});
  }
  return all;
}

}  // namespace rewright::c
