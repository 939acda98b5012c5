// solver-launcher MEMORY_BYTES CPU_SECONDS PROGRAM ARGUMENT...: becomes the program, under these limits; it ends when
// its parent dies.
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>

namespace {

void limit(int resource, const char* text) {
  const rlim_t value = std::strtoull(text, nullptr, 10);
  const rlimit both = {value, value};
  ::setrlimit(static_cast<__rlimit_resource>(resource), &both);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 4) return 2;
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  limit(RLIMIT_AS, argv[1]);
  limit(RLIMIT_CPU, argv[2]);
  limit(RLIMIT_CORE, "0");
  ::execv(argv[3], argv + 3);
  return 127;
}
