#include "device.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <fstream>
#include <optional>
#include <sstream>
#include <vector>

#define TOML_EXCEPTIONS 0
#include <toml++/toml.h>

namespace {
using namespace rewright;

constexpr const char* kKeys =
    "name, source, gflops, gbytes_per_s, overhead_us, filled_by, folds_biases, views_are_free";

Error wrong(const std::string& file, const toml::node& node, const std::string& sentence) {
  return make_error(ErrorCode::kParse, "{}:{}: {}", file, node.source().begin.line, sentence);
}

Status read_key(const std::string& file, std::string_view key, const toml::node& node, Device& device) {
  double* const number = key == "gflops"         ? &device.gflops
                         : key == "gbytes_per_s" ? &device.gbytes_per_s
                         : key == "overhead_us"  ? &device.overhead_us
                         : key == "filled_by"    ? &device.filled_by
                                                 : nullptr;
  bool* const flag = key == "views_are_free" ? &device.views_are_free
                     : key == "folds_biases" ? &device.folds_biases
                                             : nullptr;
  if (number != nullptr) {
    const std::optional<double> value = node.value<double>();
    const bool may_be_zero = number == &device.overhead_us || number == &device.filled_by;
    if (!value || !(may_be_zero ? *value >= 0 : *value > 0))
      return wrong(file, node, fmt::format("{} is a number {} 0", key, may_be_zero ? "of at least" : "above"));
    *number = *value;
  } else if (flag != nullptr) {
    if (!node.is_boolean()) return wrong(file, node, fmt::format("{} is true or false", key));
    *flag = *node.value<bool>();
  } else if (key == "name" || key == "source") {
    if (!node.is_string()) return wrong(file, node, fmt::format("{} is a text", key));
    if (key == "name") device.name = *node.value<std::string>();
  } else {
    return wrong(file, node, fmt::format("a device has no '{}'; it has: {}", key, kKeys));
  }
  return {};
}

Result<Device> parse(const std::string& file, std::string_view text) {
  const toml::parse_result parsed = toml::parse(text, file);
  if (!parsed)
    return make_error(ErrorCode::kParse, "{}:{}: {}", file, parsed.error().source().begin.line,
                      parsed.error().description());
  Device device;
  device.name = file;
  for (const auto& [key, node] : parsed.table()) REWRIGHT_CHECK(read_key(file, key.str(), node, device));
  for (const char* needed : {"gflops", "gbytes_per_s", "overhead_us"})
    if (!parsed.table().contains(needed)) return make_error(ErrorCode::kParse, "{}: {} is missing", file, needed);
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
