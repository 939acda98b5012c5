#include "optimize/engine_content.h"

namespace rewright {

void SearchEngineContent::refuse(std::size_t rule, const std::string& reason) {
  const std::scoped_lock lock(refused_mutex);
  RefusedRule& entry = refused[rule];
  if (entry.times++ == 0) entry.name = rules.rules()[rule].name, entry.reason = reason;
}

}  // namespace rewright
