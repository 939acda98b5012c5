#include "tune/measured_buffers.h"

#include <rewright/base/mixing.h>

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <new>
#include <utility>

#include "loop/interpreter.h"

namespace rewright::tune {
namespace {

template <class Element, class Next>
void fill_with(std::byte* place, std::int64_t count, Next next) {
  for (std::int64_t i = 0; i < count; ++i) {
    const auto value = static_cast<Element>(next());
    std::memcpy(place + static_cast<std::size_t>(i) * sizeof value, &value, sizeof value);
  }
}

void fill_input(const Buffer& buffer, std::byte* place, std::int64_t count, const MeasureTask& task, Random random) {
  const auto real = [&] { return task.low + (task.high - task.low) * random.fraction(); };
  const auto whole = [&] { return random.between(-8, 8); };
  switch (buffer.element) {
    case ElementType::kFloat32: return fill_with<float>(place, count, real);
    case ElementType::kFloat64: return fill_with<double>(place, count, real);
    case ElementType::kInt32: return fill_with<std::int32_t>(place, count, whole);
    case ElementType::kInt64: return fill_with<std::int64_t>(place, count, whole);
    case ElementType::kUint16: return fill_with<std::uint16_t>(place, count, [&] { return random.between(0, 8); });
    default: return fill_with<std::uint8_t>(place, count, [&] { return random.below(2); });
  }
}

/// By its name: a schedule may take buffers away that stand before it.
std::uint64_t seed_of(const Buffer& buffer, const MeasureTask& task) {
  std::uint64_t seed = mix(task.seed);
  for (const char c : buffer.name) seed = mix(seed, static_cast<unsigned char>(c));
  return seed;
}

template <class Element>
Element element_at(const std::byte* place, std::int64_t i) {
  Element value;
  std::memcpy(&value, place + static_cast<std::size_t>(i) * sizeof value, sizeof value);
  return value;
}

template <class Element>
bool is_right(Element found, Element expected, double tolerance) {
  if constexpr (!std::is_floating_point_v<Element>) {
    return found == expected;
  } else {
    if (std::isnan(expected) || std::isnan(found)) return std::isnan(expected) && std::isnan(found);
    if (found == expected) return true;
    const auto a = static_cast<double>(found), b = static_cast<double>(expected);
    return std::abs(a - b) <= tolerance * std::max(1.0, std::abs(b));
  }
}

template <class Element>
std::string first_wrong(const Buffer& buffer, const std::byte* found, const std::byte* expected, std::int64_t count,
                        double tolerance) {
  for (std::int64_t i = 0; i < count; ++i) {
    const auto a = element_at<Element>(found, i), b = element_at<Element>(expected, i);
    if (!is_right(a, b, tolerance)) return fmt::format("element {} of {} is {}, not {}", i, buffer.name, a, b);
  }
  return {};
}

std::string first_wrong(const Buffer& buffer, const std::byte* found, const std::byte* expected, std::int64_t count,
                        std::int64_t reduction) {
  const double steps = 16 + static_cast<double>(reduction);
  switch (buffer.element) {
    case ElementType::kFloat32: return first_wrong<float>(buffer, found, expected, count, steps * 0x1p-23);
    case ElementType::kFloat64: return first_wrong<double>(buffer, found, expected, count, steps * 0x1p-52);
    case ElementType::kInt32: return first_wrong<std::int32_t>(buffer, found, expected, count, 0.0);
    case ElementType::kInt64: return first_wrong<std::int64_t>(buffer, found, expected, count, 0.0);
    default: return first_wrong<std::uint8_t>(buffer, found, expected, count, 0.0);
  }
}

}  // namespace

PagedMemory::PagedMemory(std::size_t bytes, bool guarded) : size_(bytes) {
  const auto page = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
  const std::size_t usable = (std::max<std::size_t>(bytes, 1) + page - 1) / page * page;
  mapped_ = usable + page;
  void* const pages = ::mmap(nullptr, mapped_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (pages == MAP_FAILED) throw std::bad_alloc();
  pages_ = static_cast<std::byte*>(pages);
  ::mprotect(pages_ + usable, page, PROT_NONE);
  data_ = guarded ? pages_ + usable - bytes : pages_;
}

PagedMemory::PagedMemory(PagedMemory&& other) noexcept
    : pages_(std::exchange(other.pages_, nullptr)), data_(other.data_), mapped_(other.mapped_), size_(other.size_) {}

PagedMemory::~PagedMemory() {
  if (pages_ != nullptr) ::munmap(pages_, mapped_);
}

Result<MeasuredBuffers> MeasuredBuffers::make(const loop::Program& program, const MeasureTask& task, bool guarded) {
  MeasuredBuffers buffers;
  for (std::size_t b = 0; b < program.buffers.size(); ++b) {
    const Buffer& buffer = program.buffers[b];
    REWRIGHT_TRY(const std::int64_t count, loop::element_count(buffer));
    PagedMemory& memory =
        buffers.memory_.emplace_back(static_cast<std::size_t>(count) * element_size(buffer.element), guarded);
    buffers.places_.push_back(memory.data());
    if (buffer.role == BufferRole::kInput || buffer.role == BufferRole::kWeight) {
      fill_input(buffer, memory.data(), count, task, Random(seed_of(buffer, task)));
    } else {
      std::memset(memory.data(), 0xff, memory.size());
    }
  }
  return buffers;
}

bool are_finite(const loop::Program& program, const MeasuredBuffers& buffers) {
  for (std::size_t b = 0; b < program.buffers.size(); ++b) {
    const Buffer& buffer = program.buffers[b];
    if (buffer.role != BufferRole::kOutput || buffer.element != ElementType::kFloat32) continue;
    for (std::size_t i = 0; i < buffers.bytes(b) / sizeof(float); ++i) {
      if (!std::isfinite(element_at<float>(buffers.places()[b], static_cast<std::int64_t>(i)))) return false;
    }
  }
  return true;
}

std::string difference(const loop::Program& program, const MeasuredBuffers& found, const loop::Program& plain,
                       const MeasuredBuffers& expected, std::int64_t reduction) {
  for (std::size_t p = 0; p < plain.buffers.size(); ++p) {
    const Buffer& buffer = plain.buffers[p];
    if (buffer.role != BufferRole::kOutput) continue;
    const auto same = std::ranges::find(program.buffers, buffer.name, &Buffer::name);
    if (same == program.buffers.end()) return fmt::format("it has no output {}", buffer.name);
    const auto f = static_cast<std::size_t>(same - program.buffers.begin());
    if (found.bytes(f) != expected.bytes(p)) return fmt::format("its output {} has another size", buffer.name);
    const auto count = static_cast<std::int64_t>(found.bytes(f) / element_size(buffer.element));
    std::string wrong = first_wrong(buffer, found.places()[f], expected.places()[p], count, reduction);
    if (!wrong.empty()) return wrong;
  }
  return {};
}

}  // namespace rewright::tune
