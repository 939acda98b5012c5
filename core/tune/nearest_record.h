// The best record of a kernel, and what was nearest where there is none.
#pragma once

#include <rewright/optimize/cost_key.h>

#include <cstdint>
#include <span>
#include <string>

#include "store/schedule_records.h"

namespace rewright::tune {

/// What a record must be of, beside the kernel. Empty: any.
struct RecordFilter {
  std::string machine;
  std::string target;
  std::string dialect;
  std::string policy;
};

/// The fastest that is ok. Errors: kNotFound, with the key that is nearest and in what it differs, or how many are of
/// other machines, targets or policies.
[[nodiscard]] REWRIGHT_API Result<const ScheduleRecord*> best_record(std::span<const ScheduleRecord> records,
                                                                     const KernelKey& key, const RecordFilter& filter);

/// Of kernels of one structure: the logarithms of the quotients of their sizes, added up; 0 for equal ones.
[[nodiscard]] double distance_of_sizes(std::span<const std::int64_t> a, std::span<const std::int64_t> b);

/// A structure with its sizes in place.
[[nodiscard]] REWRIGHT_API std::string filled_in(const ScheduleRecord& record);

}  // namespace rewright::tune
