#include <rewright/optimize/cost.h>

#include <fstream>

namespace rewright {

std::string processor_name() {
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);) {
    const std::size_t colon = line.find(": ");
    if (line.starts_with("model name") && colon != std::string::npos) return line.substr(colon + 2);
  }
  return "a processor that does not say its name";
}

}  // namespace rewright
