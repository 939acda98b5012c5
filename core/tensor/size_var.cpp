#include <rewright/tensor/size_var.h>

#include <fmt/format.h>

#include <charconv>
#include <mutex>
#include <shared_mutex>
#include <unordered_map>

namespace rewright {

SizeVar SizeVar::read(std::string_view text) {
  static std::shared_mutex mutex;
  static std::unordered_map<std::string_view, const Entry*> entries;  // Entries are never gone: variables outlive all.
  {
    const std::shared_lock lock(mutex);
    if (const auto known = entries.find(text); known != entries.end()) return SizeVar(*known->second);
  }
  const std::unique_lock lock(mutex);
  if (const auto known = entries.find(text); known != entries.end()) return SizeVar(*known->second);
  const std::size_t dot = text.find('.');
  auto* entry = new Entry{std::string(text), std::string(text.substr(0, dot))};
  if (dot != std::string_view::npos) {
    std::int64_t axis = -1;
    std::from_chars(text.data() + dot + 1, text.data() + text.size(), axis);
    if (text.substr(dot + 1) == std::to_string(axis) && axis >= 0) entry->axis = axis;
  }
  entries.emplace(entry->text, entry);
  return SizeVar(*entry);
}

SizeVar SizeVar::axis(std::string_view tensor, std::string_view axis) {
  return read(fmt::format("{}.{}", tensor, axis));
}
SizeVar SizeVar::axis(std::string_view tensor, std::int64_t axis) { return read(fmt::format("{}.{}", tensor, axis)); }

}  // namespace rewright
