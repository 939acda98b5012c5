// Small functions that the code needs, in C: written out only where they are used.
#pragma once

#include <set>
#include <string>
#include <string_view>

namespace rewright::c {

class Helpers {
 public:
  /// The name, now among those used: "max_f32".
  std::string_view use(std::string_view name);
  /// What the code needs before its first function: includes, and the helpers used.
  [[nodiscard]] std::string text() const;

 private:
  std::set<std::string, std::less<>> used_;
};

}  // namespace rewright::c
