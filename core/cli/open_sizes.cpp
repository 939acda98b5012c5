#include "cli/open_sizes.h"

#include <algorithm>
#include <charconv>
#include <optional>
#include <string_view>

namespace rewright::cli {
namespace {

constexpr std::size_t kMostVersions = 64;

std::optional<std::int64_t> size_in(std::string_view text) {
  std::int64_t size = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), size);
  if (error != std::errc() || end != text.data() + text.size() || size < 1) return std::nullopt;
  return size;
}

/// In ascending order; empty: it is no range and no list, or too long a one.
std::vector<std::int64_t> sizes_in(std::string_view text) {
  std::vector<std::int64_t> sizes;
  if (const std::size_t dots = text.find(".."); dots != std::string_view::npos) {
    const auto first = size_in(text.substr(0, dots)), last = size_in(text.substr(dots + 2));
    if (!first || !last || *last - *first >= static_cast<std::int64_t>(kMostVersions)) return {};
    for (std::int64_t size = *first; size <= *last; ++size) sizes.push_back(size);
    return sizes;
  }
  while (true) {
    const std::size_t comma = text.find(',');
    const auto size = size_in(text.substr(0, comma));
    if (!size) return {};
    sizes.push_back(*size);
    if (comma == std::string_view::npos) break;
    text.remove_prefix(comma + 1);
  }
  std::ranges::sort(sizes);
  const auto repeated = std::ranges::unique(sizes);
  sizes.erase(repeated.begin(), repeated.end());
  return sizes;
}

}  // namespace

Result<std::vector<std::map<std::string, std::int64_t>>> read_open_sizes(
    const std::vector<std::string>& texts, const std::map<std::string, std::int64_t>& dims) {
  std::vector<std::map<std::string, std::int64_t>> versions(1);
  for (const std::string& text : texts) {
    const std::size_t equals = text.find('=');
    const std::string name = text.substr(0, equals);
    const auto sizes = equals == std::string::npos ? std::vector<std::int64_t>() : sizes_in(text.substr(equals + 1));
    if (name.empty() || sizes.empty())
      return make_error(ErrorCode::kUsage,
                        "--open wants NAME=1..16 or NAME=1,2,4, at most {} sizes from 1 on, not '{}'", kMostVersions,
                        text);
    if (dims.contains(name) || versions.front().contains(name))
      return make_error(ErrorCode::kUsage, "--open {}: the size '{}' is given twice", text, name);
    std::vector<std::map<std::string, std::int64_t>> more;
    for (const auto& version : versions) {
      for (const std::int64_t size : sizes) more.emplace_back(version)[name] = size;
    }
    if (more.size() > kMostVersions)
      return make_error(ErrorCode::kUsage, "--open {}: {} versions, of at most {}; give fewer sizes", text, more.size(),
                        kMostVersions);
    versions = std::move(more);
  }
  return versions;
}

}  // namespace rewright::cli
