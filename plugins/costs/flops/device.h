// A device as a roofline sees it, read from a TOML file.
#pragma once

#include <rewright/result.h>

#include <span>
#include <string>
#include <string_view>

struct Device {
  std::string name = "one core with AVX-512";
  double gflops = 250;          ///< Of the longest convolutions, in float32.
  double gbytes_per_s = 12;     ///< From and to memory.
  double overhead_us = 2;       ///< Of starting one operator.
  double filled_by = 0;         ///< Outputs that must be in flight to reach `gflops`; fewer reach their share. 0: one.
  bool folds_biases = true;     ///< Biases and normalisations by weights are part of the operator before them.
  bool views_are_free = false;  ///< Contiguous parts of a tensor are not copied.
};

struct KnownDevice {
  std::string_view name, text;
};
/// Those that come with the plugin, by name.
std::span<const KnownDevice> known_devices();

/// A known device by its name, or else a file. Errors: neither; FILE:LINE with what is wrong there.
rewright::Result<Device> read_device(const std::string& name_or_file);
