#include "compile/weights_file.h"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <functional>

#include "base/written_file.h"
#include "onnx/element.h"

namespace rewright::compile {
namespace {

using Block = std::span<const std::byte>;
using TakeBlock = std::function<bool(std::int64_t offset, Block)>;  ///< False: no more are wanted.

constexpr std::int64_t kBlockBytes = std::int64_t{1} << 20;  ///< A multiple of every element's size.

Status read_blocks(std::int64_t size, const std::function<Result<Block>(std::int64_t at, std::int64_t count)>& read,
                   std::int64_t offset, const TakeBlock& take) {
  for (std::int64_t at = 0; at < size; at += kBlockBytes) {
    REWRIGHT_TRY(const Block block, read(at, std::min(kBlockBytes, size - at)));
    if (!take(offset + at, block)) break;
  }
  return {};
}

Status read_blocks(const ConstantData& constant, std::int64_t offset, const TakeBlock& take) {
  const auto* bytes = std::get_if<std::vector<std::byte>>(&constant.value);
  const std::int64_t element = static_cast<std::int64_t>(element_size(constant.type.element));
  const std::int64_t size = constant.type.shape.elements() * element;
  std::vector<std::byte> repeated;
  if (bytes == nullptr) {
    const std::int64_t count = std::min(kBlockBytes, size) / std::max<std::int64_t>(element, 1);
    repeated = model::bytes_of({{{count}, constant.type.element}, constant.value});
  }
  const auto read = [&](std::int64_t at, std::int64_t count) -> Result<Block> {
    if (bytes == nullptr) return Block(repeated).first(static_cast<std::size_t>(count));
    return Block(*bytes).subspan(static_cast<std::size_t>(at), static_cast<std::size_t>(count));
  };
  return read_blocks(size, read, offset, take);
}

Status read_blocks(const ExternalWeight& weight, std::int64_t offset, const TakeBlock& take) {
  const std::int64_t size = static_cast<std::int64_t>(weight.bytes);
  std::vector<std::byte> block(static_cast<std::size_t>(std::min(kBlockBytes, size)));
  std::ifstream stream(weight.file, std::ios::binary);
  stream.seekg(static_cast<std::streamoff>(weight.offset));
  const auto read = [&](std::int64_t, std::int64_t count) -> Result<Block> {
    stream.read(reinterpret_cast<char*>(block.data()), static_cast<std::streamsize>(count));
    if (!stream) return make_error(ErrorCode::kIo, "external data '{}' cannot be read", weight.file);
    return Block(block).first(static_cast<std::size_t>(count));
  };
  return read_blocks(size, read, offset, take);
}

/// As the model has it.
Status read_plain(const PlacedWeight& weight, std::int64_t offset, const TakeBlock& take) {
  if (const auto* constant = std::get_if<std::shared_ptr<const ConstantData>>(&weight.value))
    return read_blocks(**constant, offset, take);
  return read_blocks(std::get<ExternalWeight>(weight.value), offset, take);
}

/// Sizes of the layout's dimensions.
std::vector<std::int64_t> packed_sizes(const Packing& packing) {
  std::vector<std::int64_t> sizes;
  for (const schedule::LayoutPart& part : packing.form.parts) {
    const std::int64_t size = packing.sizes[part.dimension];
    using Kind = schedule::LayoutPart::Kind;
    sizes.push_back(part.kind == Kind::kWhole   ? size
                    : part.kind == Kind::kBlock ? (size + part.factor - 1) / part.factor
                                                : part.factor);
  }
  return sizes;
}

std::vector<std::byte> packed(const std::vector<std::byte>& plain, const Packing& packing) {
  if (packing.form.sparse) {
    std::vector<float> numbers(plain.size() / sizeof(float));
    std::memcpy(numbers.data(), plain.data(), plain.size());
    return bytes_of(*packing.form.sparse, numbers, packing.sizes);
  }
  const std::vector<std::int64_t> sizes = packed_sizes(packing);
  const auto element = static_cast<std::size_t>(packing.element_bytes);
  std::vector<std::byte> result(static_cast<std::size_t>(packing.bytes()));
  std::vector<std::int64_t> place(sizes.size()), at(packing.sizes.size());
  for (std::size_t to = 0; to < result.size(); to += element) {
    std::ranges::fill(at, 0);
    for (std::size_t p = 0; p < sizes.size(); ++p) {
      const schedule::LayoutPart& part = packing.form.parts[p];
      at[part.dimension] += place[p] * (part.kind == schedule::LayoutPart::Kind::kBlock ? part.factor : 1);
    }
    std::size_t from = 0;
    bool is_inside = true;
    for (std::size_t d = 0; d < at.size(); ++d) {
      from = from * static_cast<std::size_t>(packing.sizes[d]) + static_cast<std::size_t>(at[d]);
      is_inside = is_inside && at[d] < packing.sizes[d];
    }
    if (is_inside) std::memcpy(&result[to], &plain[from * element], element);
    for (std::size_t p = sizes.size(); p-- > 0;) {
      if (++place[p] < sizes[p]) break;
      place[p] = 0;
    }
  }
  return result;
}

Status read_packed(const PlacedWeight& weight, const TakeBlock& take) {
  std::vector<std::byte> plain;
  REWRIGHT_CHECK(read_plain(weight, 0, [&](std::int64_t, Block block) {
    plain.insert(plain.end(), block.begin(), block.end());
    return true;
  }));
  (void)take(weight.offset, packed(plain, *weight.packing));
  return {};
}

Status read_blocks(std::span<const PlacedWeight> weights, const TakeBlock& take) {
  for (const PlacedWeight& weight : weights) {
    REWRIGHT_CHECK(weight.packing ? read_packed(weight, take) : read_plain(weight, weight.offset, take));
  }
  return {};
}

bool is_zero(Block block) {
  return block.empty() ||
         (block[0] == std::byte{} && std::memcmp(block.data(), block.data() + 1, block.size() - 1) == 0);
}

bool write_at(int descriptor, std::int64_t offset, Block block) {
  while (!block.empty()) {
    const ssize_t written = ::pwrite(descriptor, block.data(), block.size(), static_cast<off_t>(offset));
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return false;
    offset += written;
    block = block.subspan(static_cast<std::size_t>(written));
  }
  return true;
}

}  // namespace

std::int64_t Packing::bytes() const {
  std::int64_t count = element_bytes;
  if (form.sparse) return count * elements;
  for (const std::int64_t size : packed_sizes(*this)) count *= size;
  return count;
}

Result<std::vector<std::byte>> bytes_of(std::span<const PlacedWeight> weights, std::int64_t size) {
  std::vector<std::byte> all(static_cast<std::size_t>(size));
  REWRIGHT_CHECK(read_blocks(weights, [&](std::int64_t offset, Block block) {
    std::ranges::copy(block, all.begin() + offset);
    return true;
  }));
  return all;
}

Status write_weights(std::span<const PlacedWeight> weights, std::int64_t size, const std::string& file) {
  Status unread;
  const Status written = write_file(file, [&](int descriptor) {
    bool is_written = true;
    unread = read_blocks(weights, [&](std::int64_t offset, Block block) {
      return is_written = is_written && (is_zero(block) || write_at(descriptor, offset, block));
    });
    return unread && is_written && ::ftruncate(descriptor, static_cast<off_t>(size)) == 0;
  });
  return unread ? written : unread;
}

}  // namespace rewright::compile
