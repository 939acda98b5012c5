#include "tune/nearest_record.h"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cmath>
#include <set>
#include <vector>

namespace rewright::tune {
namespace {

bool fits(const std::string& wanted, const std::string& found) { return wanted.empty() || wanted == found; }

/// What does not fit, in a word; empty: all does.
std::string misfit(const ScheduleRecord& record, const RecordFilter& filter) {
  if (!fits(filter.machine, record.machine)) return fmt::format("machine {} ({})", record.machine, record.processor);
  if (!fits(filter.target, record.target)) return fmt::format("target {}", record.target);
  if (!fits(filter.dialect, record.dialect)) return fmt::format("dialect {}", record.dialect);
  if (!fits(filter.policy, record.policy)) return fmt::format("{} caches", record.policy);
  if (record.outcome != "ok") return fmt::format("outcome {}", record.outcome);
  return {};
}

std::multiset<std::string> parts_of(const std::string& structure) {
  std::multiset<std::string> parts;
  for (std::size_t at = 0; at < structure.size();) {
    const std::size_t end = std::min(structure.find('|', at), structure.size());
    parts.insert(structure.substr(at, end - at));
    at = end + 1;
  }
  return parts;
}

/// 0 for equal kernels; sizes by the logarithms of their quotients, structures by the parts that they do not share.
double distance(const ScheduleRecord& record, const KernelKey& key) {
  if (record.structure == key.structure && record.sizes.size() == key.sizes.size())
    return distance_of_sizes(record.sizes, key.sizes);
  constexpr double kOtherStructure = 1e6;
  const auto a = parts_of(record.structure), b = parts_of(key.structure);
  std::vector<std::string> unshared;
  std::ranges::set_symmetric_difference(a, b, std::back_inserter(unshared));
  return kOtherStructure + static_cast<double>(unshared.size());
}

std::string difference_of_keys(const ScheduleRecord& record, const KernelKey& key) {
  if (record.structure != key.structure) return fmt::format("it is another kernel, {}", filled_in(record));
  std::string text;
  for (std::size_t i = 0; i < std::min(key.sizes.size(), record.sizes.size()); ++i) {
    if (key.sizes[i] == record.sizes[i]) continue;
    text += fmt::format("{}s{} is {}, not {}", text.empty() ? "" : ", ", i, record.sizes[i], key.sizes[i]);
  }
  return fmt::format("{} ({})", text, filled_in(record));
}

Error miss(std::span<const ScheduleRecord> records, const KernelKey& key, const RecordFilter& filter) {
  const ScheduleRecord* nearest = nullptr;
  std::set<std::string> others;
  for (const ScheduleRecord& record : records) {
    if (distance(record, key) == 0) {
      others.insert(misfit(record, filter));
    } else if (misfit(record, filter).empty() &&
               (nearest == nullptr || distance(record, key) < distance(*nearest, key))) {
      nearest = &record;
    }
  }
  if (!others.empty()) {
    return make_error(ErrorCode::kNotFound, "no record fits: there are some of this kernel, but of {}; measure it here",
                      fmt::join(others, ", "));
  }
  if (nearest == nullptr) {
    return make_error(ErrorCode::kNotFound,
                      "there is no record of {}, nor of any other kernel; measure one with "
                      "rewright schedule measure",
                      key.structure);
  }
  return make_error(ErrorCode::kNotFound, "there is no record of this kernel; the nearest differs: {}",
                    difference_of_keys(*nearest, key));
}

}  // namespace

double distance_of_sizes(std::span<const std::int64_t> a, std::span<const std::int64_t> b) {
  const auto size = [](std::int64_t number) { return static_cast<double>(std::max<std::int64_t>(number, 1)); };
  double sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i) sum += std::abs(std::log(size(a[i]) / size(b[i])));
  return sum;
}

std::string filled_in(const ScheduleRecord& record) {
  std::string text;
  const std::string& from = record.structure;
  for (std::size_t i = 0; i < from.size();) {
    std::size_t number = 0;
    const bool starts = from[i] == 's' && (i == 0 || std::isalnum(static_cast<unsigned char>(from[i - 1])) == 0);
    const auto [end, fault] = std::from_chars(from.data() + i + 1, from.data() + from.size(), number);
    if (starts && fault == std::errc() && number < record.sizes.size()) {
      text += fmt::format("{}", record.sizes[number]);
      i = static_cast<std::size_t>(end - from.data());
    } else {
      text += from[i++];
    }
  }
  return text;
}

Result<const ScheduleRecord*> best_record(std::span<const ScheduleRecord> records, const KernelKey& key,
                                          const RecordFilter& filter) {
  const ScheduleRecord* best = nullptr;
  for (const ScheduleRecord& record : records) {
    if (distance(record, key) != 0 || !misfit(record, filter).empty()) continue;
    if (best == nullptr || record.least_us() < best->least_us()) best = &record;
  }
  if (best == nullptr) return miss(records, key, filter);
  return best;
}

}  // namespace rewright::tune
