// A search written for an interface of long ago. It aborts where anything but the version of its kind is asked of it.
#include <rewright/plugin/plugin.h>

#include <cstdlib>

namespace rewright {

class SearchStrategy {
 public:
  virtual ~SearchStrategy() { std::abort(); }
};
template <>
inline constexpr std::uint32_t kAbiVersion<SearchStrategy> = 999;

}  // namespace rewright

REWRIGHT_PLUGIN("bad.other_interface", "1.0.0", "A search of another interface") {
  registry.add(std::make_unique<rewright::SearchStrategy>());
}
