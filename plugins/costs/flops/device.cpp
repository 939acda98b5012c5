#include "device.h"

#include <rewright/base/toml.h>

#include <fmt/ranges.h>

#include <algorithm>
#include <fstream>
#include <optional>
#include <sstream>
#include <vector>

namespace {
using namespace rewright;

constexpr const char* kKeys =
    "name, source, gflops, gbytes_per_s, overhead_us, filled_by, views_are_free, fused, products, channels_last, "
    "channels_blocked, block, groups, group_channels, group_slowdown";

Error wrong(const std::string& file, const toml::node& node, const std::string& sentence) {
  return make_error(ErrorCode::kParse, "{}:{}: {}", file, node.source().begin.line, sentence);
}

/// "conv2d bias_add relu|clip": operators in the order of the data, those with bars between in each other's place.
void append_sequences(const std::string& text, std::vector<std::vector<std::string>>& fused) {
  std::vector<std::vector<std::string>> sequences = {{}};
  std::istringstream words(text);
  for (std::string word; words >> word;) {
    std::vector<std::vector<std::string>> longer;
    std::istringstream choices(word);
    for (std::string choice; std::getline(choices, choice, '|');) {
      for (std::vector<std::string> sequence : sequences) {
        sequence.push_back(choice);
        longer.push_back(std::move(sequence));
      }
    }
    sequences = std::move(longer);
  }
  fused.insert(fused.end(), sequences.begin(), sequences.end());
}

Status read_fused(const std::string& file, const toml::node& node, std::vector<std::vector<std::string>>& fused) {
  const auto refuse = [&] {
    return wrong(file, node, "fused is a list of texts such as \"conv2d bias_add relu|clip\"");
  };
  if (!node.is_array()) return refuse();
  for (const toml::node& text : *node.as_array()) {
    if (!text.is_string()) return refuse();
    append_sequences(*text.value<std::string>(), fused);
  }
  return {};
}

Status read_key(const std::string& file, std::string_view key, const toml::node& node, Device& device) {
  double* const number = key == "gflops"             ? &device.gflops
                         : key == "gbytes_per_s"     ? &device.gbytes_per_s
                         : key == "overhead_us"      ? &device.overhead_us
                         : key == "filled_by"        ? &device.filled_by
                         : key == "channels_last"    ? &device.channels_last
                         : key == "channels_blocked" ? &device.channels_blocked
                         : key == "group_slowdown"   ? &device.group_slowdown
                                                     : nullptr;
  if (number != nullptr) {
    const std::optional<double> value = node.value<double>();
    const bool may_be_zero = number == &device.overhead_us || number == &device.filled_by;
    if (!value || !(may_be_zero ? *value >= 0 : *value > 0))
      return wrong(file, node, fmt::format("{} is a number {} 0", key, may_be_zero ? "of at least" : "above"));
    *number = *value;
  } else if (key == "views_are_free") {
    if (!node.is_boolean()) return wrong(file, node, fmt::format("{} is true or false", key));
    device.views_are_free = *node.value<bool>();
  } else if (key == "products") {
    const std::string how = node.value_or(std::string());
    if (how != "in order" && how != "transposed" && how != "strided")
      return wrong(file, node, "products is \"in order\", \"transposed\" or \"strided\"");
    device.products = how == "strided"      ? Device::Products::kStrided
                      : how == "transposed" ? Device::Products::kTransposed
                                            : Device::Products::kInOrder;
  } else if (key == "groups") {
    const std::string how = node.value_or(std::string());
    if (how != "together" && how != "apart") return wrong(file, node, "groups is \"together\" or \"apart\"");
    device.groups_apart = how == "apart";
  } else if (key == "group_channels") {
    const std::int64_t channels = node.value_or(std::int64_t{0});
    if (channels < 1 || channels > 4096) return wrong(file, node, "group_channels is a number from 1 to 4096");
    device.group_channels = static_cast<int>(channels);
  } else if (key == "block") {
    const std::int64_t size = node.value_or(std::int64_t{0});
    if (size != 8 && size != 16) return wrong(file, node, "block is 8 or 16");
    device.block = static_cast<int>(size);
  } else if (key == "fused") {
    REWRIGHT_CHECK(read_fused(file, node, device.fused));
  } else if (key == "name" || key == "source") {
    if (!node.is_string()) return wrong(file, node, fmt::format("{} is a text", key));
    if (key == "name") device.name = *node.value<std::string>();
  } else {
    return wrong(file, node, fmt::format("a device has no '{}'; it has: {}", key, kKeys));
  }
  return {};
}

Result<Device> parse(const std::string& file, std::string_view text) {
  REWRIGHT_TRY(const toml::table table, parse_toml(text, file));
  Device device;
  device.name = file;
  for (const auto& [key, node] : table) REWRIGHT_CHECK(read_key(file, key.str(), node, device));
  for (const char* needed : {"gflops", "gbytes_per_s", "overhead_us"})
    if (!table.contains(needed)) return make_error(ErrorCode::kParse, "{}: {} is missing", file, needed);
  return device;
}

}  // namespace

Result<Device> read_device(const std::string& name_or_file) {
  std::vector<std::string_view> names;
  for (const KnownDevice& known : known_devices()) {
    if (known.name == name_or_file) return parse(name_or_file + ".toml", known.text);
    names.push_back(known.name);
  }
  std::ifstream stream(name_or_file, std::ios::binary);
  if (!stream)
    return make_error(ErrorCode::kNotFound,
                      "cost model flops: device '{}' is none of those that are known ({}), and no file", name_or_file,
                      fmt::join(names, ", "));
  std::ostringstream text;
  text << stream.rdbuf();
  return parse(name_or_file, text.str());
}
