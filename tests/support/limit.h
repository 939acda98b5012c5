// A limit that the kernel keeps, lowered for a while.
#pragma once

#include <sys/resource.h>

#include <algorithm>

namespace rewright::testing {

/// Lowers a limit of this process while it lives.
class Limit {
 public:
  Limit(__rlimit_resource resource, rlim_t value) : resource_(resource) {
    getrlimit(resource, &before_);
    const rlimit now = {std::min(value, before_.rlim_max), before_.rlim_max};
    setrlimit(resource, &now);
  }
  ~Limit() { setrlimit(resource_, &before_); }
  Limit(const Limit&) = delete;
  Limit& operator=(const Limit&) = delete;

 private:
  __rlimit_resource resource_;
  rlimit before_{};
};

}  // namespace rewright::testing
