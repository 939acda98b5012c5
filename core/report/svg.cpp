// SVG by the program `dot`, fed and read through unnamed temporary files, so that neither side waits for the other.
#include <spawn.h>
#include <sys/wait.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>

#include "report/dot.h"

extern char** environ;

namespace rewright {

namespace {

struct Close {
  void operator()(std::FILE* file) const { std::fclose(file); }
};
using File = std::unique_ptr<std::FILE, Close>;

Error io_error(std::string_view what) {
  return make_error(ErrorCode::kIo, "drawing with Graphviz: {}: {}", what, std::strerror(errno));
}

std::string read_all(std::FILE* file) {
  std::rewind(file);
  std::string text;
  std::array<char, 1 << 16> buffer;
  for (std::size_t n; (n = std::fread(buffer.data(), 1, buffer.size(), file)) > 0;) text.append(buffer.data(), n);
  return text;
}

// Runs `dot -Tsvg`; gives its exit status.
Result<int> run_dot(std::FILE* in, std::FILE* out, std::FILE* complaints) {
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, fileno(in), 0);
  posix_spawn_file_actions_adddup2(&actions, fileno(out), 1);
  posix_spawn_file_actions_adddup2(&actions, fileno(complaints), 2);
  std::array<char, 4> program = {'d', 'o', 't', 0};
  std::array<char, 6> format = {'-', 'T', 's', 'v', 'g', 0};
  std::array<char*, 3> arguments = {program.data(), format.data(), nullptr};
  pid_t child = 0;
  const int failed = posix_spawnp(&child, program.data(), &actions, nullptr, arguments.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  if (failed == ENOENT)
    return make_error(ErrorCode::kNotFound,
                      "the program 'dot' is not installed; install Graphviz (Debian's package"
                      " graphviz), or take the DOT text");
  if (failed != 0) {
    errno = failed;
    return io_error("cannot start 'dot'");
  }
  int status = 0;
  while (waitpid(child, &status, 0) < 0) {
    if (errno != EINTR) return io_error("waiting for 'dot'");
  }
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

}  // namespace

Result<std::string> render_svg(std::string_view dot) {
  const File in(std::tmpfile()), out(std::tmpfile()), complaints(std::tmpfile());
  if (!in || !out || !complaints) return io_error("cannot make a temporary file");
  if (std::fwrite(dot.data(), 1, dot.size(), in.get()) != dot.size() || std::fflush(in.get()) != 0)
    return io_error("cannot write a temporary file");
  std::rewind(in.get());
  REWRIGHT_TRY(const int status, run_dot(in.get(), out.get(), complaints.get()));
  if (status == 127)  // What posix_spawnp's child gives where exec fails late.
    return make_error(ErrorCode::kNotFound,
                      "the program 'dot' cannot be run; install Graphviz (Debian's package"
                      " graphviz), or take the DOT text");
  if (status != 0) {
    const std::string words = read_all(complaints.get());
    return make_error(ErrorCode::kInternal, "Graphviz's 'dot' failed on a drawing: {}",
                      words.substr(0, words.find('\n')));
  }
  return read_all(out.get());
}

}  // namespace rewright
