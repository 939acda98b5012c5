#include "compile/child_processes.h"

#include <signal.h>
#include <sys/types.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>
#include <string>

namespace rewright::compile {
namespace {

/// By proc(5): PID (NAME) STATE PARENT GROUP ...
bool is_child_that_leads(pid_t process, const std::filesystem::path& folder) {
  std::ifstream stream(folder / "stat");
  const std::string text((std::istreambuf_iterator<char>(stream)), {});
  const std::size_t end = text.rfind(')');  // A name may have parentheses and spaces.
  if (end == std::string::npos) return false;
  std::istringstream rest(text.substr(end + 1));
  std::string state;
  pid_t parent = 0, group = 0;
  return rest >> state >> parent >> group && parent == ::getpid() && group == process;
}

}  // namespace

void end_child_processes() {
  std::error_code failed;
  for (std::filesystem::directory_iterator at("/proc", failed), end; at != end; at.increment(failed)) {
    const pid_t process = std::atoi(at->path().filename().c_str());
    if (process > 0 && is_child_that_leads(process, at->path())) ::kill(-process, SIGKILL);
  }
}

}  // namespace rewright::compile
