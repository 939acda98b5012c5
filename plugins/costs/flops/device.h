// A device as a roofline sees it, read from a TOML file.
#pragma once

#include <rewright/base/result.h>

#include <span>
#include <string>
#include <string_view>
#include <vector>

struct Device {
  std::string name;
  double gflops = 0;            ///< Of the longest convolutions, in float32.
  double gbytes_per_s = 0;      ///< From and to memory.
  double overhead_us = 0;       ///< Of starting one kernel.
  double filled_by = 0;         ///< Outputs that must be in flight to reach `gflops`; fewer reach their share. 0: one.
  bool views_are_free = false;  ///< Contiguous parts of a tensor are not copied.
  std::vector<std::vector<std::string>> fused = {};  ///< As CostModel::fused().
  /// The orders of their tensors that products take: all in order; operands by columns too; any whose fastest axis is
  /// one of the last two, on both sides.
  enum class Products { kInOrder, kTransposed, kStrided } products = Products::kInOrder;
  /// The time of convolutions and pooling of images with their channels last, against that in order; 0: there are none.
  double channels_last = 0;
  double channels_blocked = 0;  ///< The same with their channels in blocks of `block`.
  int block = 16;               ///< 8 or 16.
  bool groups_apart = false;    ///< A convolution starts one kernel for each of its groups.
  /// How many times as long a grouped convolution computes whose groups are of more than one channel and do not have a
  /// multiple of `group_channels` of them, on either side.
  double group_slowdown = 1;
  int group_channels = 1;
};

struct KnownDevice {
  std::string_view name, text;
};
/// Those that come with the plugin, by name.
std::span<const KnownDevice> known_devices();

/// A known device by its name, or else a file. Errors: neither; FILE:LINE with what is wrong there.
rewright::Result<Device> read_device(const std::string& name_or_file);
