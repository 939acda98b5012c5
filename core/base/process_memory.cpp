#include "base/process_memory.h"

#include <malloc.h>

#include <fstream>
#include <string>

namespace rewright {
namespace {

std::uint64_t status_bytes(const std::string& name) {
  std::ifstream status("/proc/self/status");
  std::string word;
  std::uint64_t kibibytes = 0;
  while (status >> word)
    if (word == name && status >> kibibytes) return kibibytes * 1024;
  return 0;
}

}  // namespace

std::uint64_t resident_bytes() { return status_bytes("VmRSS:"); }

std::uint64_t peak_memory_bytes() { return status_bytes("VmHWM:"); }

bool restart_peak_memory() {
  ::malloc_trim(0);
  std::ofstream file("/proc/self/clear_refs");
  file << "5" << std::flush;
  return file.good();
}

}  // namespace rewright
