#include "optimize/size_choice.h"

#include <algorithm>
#include <array>
#include <cctype>

namespace rewright {
namespace {

enum class Role : std::uint8_t { kBatch, kChannels, kSpace, kLength };

bool says(const std::string& name, std::string_view word) {
  std::string lower(name);
  std::ranges::transform(lower, lower.begin(), [](unsigned char c) { return std::tolower(c); });
  return lower.find(word) != std::string::npos;
}

/// By its name, or else by where it stands.
Role role_of(const OpenSize& size) {
  if (says(size.name, "batch")) return Role::kBatch;
  if (says(size.name, "height") || says(size.name, "width")) return Role::kSpace;
  if (says(size.name, "seq") || says(size.name, "len") || says(size.name, "time")) return Role::kLength;
  const OpenSize::Place& place = size.places.front();
  const bool is_image = place.rank == 4 || place.rank == 5;
  if (place.axis == 0 && place.rank > 1) return Role::kBatch;
  if (is_image && place.axis == 1) return Role::kChannels;
  return is_image ? Role::kSpace : Role::kLength;
}

struct Profile {
  std::int64_t batch, channels, space, length;
  std::int64_t step;  ///< Between the sizes of two lengths, and of two sides of an image.
};
constexpr std::array kProfiles = {
    Profile{2, 3, 96, 16, 4},   Profile{1, 3, 96, 16, 4},    Profile{2, 3, 224, 16, 0}, Profile{1, 3, 224, 16, 0},
    Profile{1, 3, 64, 128, 0},  Profile{1, 3, 320, 512, 0},  Profile{1, 3, 640, 8, 0},  Profile{1, 1, 28, 1, 0},
    Profile{1, 1, 32, 1024, 0}, Profile{1, 3, 48, 16000, 0},
};
constexpr std::int64_t kSpaceStep = 8;  ///< Sides of images often are multiples of 32.

Sizes sizes_of(std::span<const OpenSize> open, const Profile& profile) {
  Sizes sizes;
  std::int64_t lengths = 0, sides = 0;
  for (const OpenSize& size : open) {
    switch (role_of(size)) {
      case Role::kBatch: sizes[size.name] = profile.batch; break;
      case Role::kChannels: sizes[size.name] = profile.channels; break;
      case Role::kSpace: sizes[size.name] = profile.space + profile.step * kSpaceStep * sides++; break;
      case Role::kLength: sizes[size.name] = profile.length + profile.step * lengths++; break;
    }
  }
  return sizes;
}

void put_given(std::span<const OpenSize> open, const Sizes& given, Sizes& sizes) {
  for (const OpenSize& size : open) {
    if (const auto found = given.find(size.name); found != given.end()) sizes[size.name] = found->second;
    for (const OpenSize::Place& place : size.places) {
      const auto found = given.find(place.input + "." + std::to_string(place.axis));
      if (found != given.end()) sizes[size.name] = found->second;
    }
  }
}

std::int64_t larger(Role role, std::int64_t size) {
  switch (role) {
    case Role::kBatch: return size + 1;
    case Role::kSpace: return size + 32;
    case Role::kChannels: return size;
    case Role::kLength: break;
  }
  return size + std::max<std::int64_t>(size / 4, 3);
}

std::int64_t smaller(Role role, std::int64_t size) {
  switch (role) {
    case Role::kBatch: return 1;
    case Role::kSpace: return size > 64 ? std::max<std::int64_t>(size / 2 / 32 * 32, 32) : size;
    case Role::kChannels: return size;
    case Role::kLength: break;
  }
  return std::max<std::int64_t>(size / 2, 1);
}

}  // namespace

std::vector<Sizes> plausible_sizes(std::span<const OpenSize> open, const Sizes& given) {
  std::vector<Sizes> all;
  for (const Profile& profile : kProfiles) {
    Sizes sizes = sizes_of(open, profile);
    put_given(open, given, sizes);
    if (std::ranges::find(all, sizes) == all.end()) all.push_back(std::move(sizes));
  }
  return all;
}

std::vector<Sizes> other_sizes(std::span<const OpenSize> open, const Sizes& sizes) {
  if (open.empty()) return {};
  std::vector<Sizes> all = {sizes};
  for (const auto change : {larger, smaller}) {
    Sizes changed;
    for (const OpenSize& size : open) changed[size.name] = change(role_of(size), sizes.at(size.name));
    if (std::ranges::find(all, changed) == all.end()) all.push_back(std::move(changed));
  }
  all.erase(all.begin());
  return all;
}

std::string to_text(const Sizes& sizes) {
  std::string text;
  for (const auto& [name, size] : sizes) text += (text.empty() ? "" : ", ") + name + "=" + std::to_string(size);
  return text;
}

}  // namespace rewright
