// z3-worker MEMORY_BYTES CPU_SECONDS: answers SMT-LIB commands on its standard input, which is a socket.
//
// A message, both ways, is its length (8 bytes, this machine's order) and that many bytes. A question is three texts
// with a 0 between them: commands without a limit, a number of resource units, commands that may use so many and no
// more. The answer is what the last ones print. Ends when the socket closes, when its parent dies, or when the system
// ends it for passing a limit.
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>
#include <z3.h>

#include <csignal>
#include <cstdint>
#include <cstdlib>
#include <string>

namespace {

bool read_all(char* data, std::size_t size) {
  while (size > 0) {
    const ssize_t got = ::read(STDIN_FILENO, data, size);
    if (got <= 0) return false;
    data += got;
    size -= static_cast<std::size_t>(got);
  }
  return true;
}
bool write_all(const char* data, std::size_t size) {
  while (size > 0) {
    const ssize_t put = ::send(STDIN_FILENO, data, size, MSG_NOSIGNAL);
    if (put <= 0) return false;
    data += put;
    size -= static_cast<std::size_t>(put);
  }
  return true;
}

void limit(int resource, const char* text) {
  const rlim_t value = std::strtoull(text, nullptr, 10);
  const rlimit both = {value, value};
  ::setrlimit(static_cast<__rlimit_resource>(resource), &both);
}

/// Z3 counts resource units from the start of its process, so a limit is what it has used and the number given.
class Worker {
 public:
  explicit Worker(Z3_context context) : context_(context) {}
  std::string answer_to(const std::string& text);

 private:
  /// What Z3 prints, without the count of units that it is asked for at the end.
  std::string evaluate(const std::string& limit, const std::string& commands);

  Z3_context context_;
  std::uint64_t used_ = 0;
};

std::string Worker::evaluate(const std::string& limit, const std::string& commands) {
  std::string said = Z3_eval_smtlib2_string(
      context_, ("(set-option :rlimit " + limit + ")" + commands + "(set-option :rlimit 0)(get-info :rlimit)").c_str());
  const std::size_t place = said.rfind(":rlimit ");
  if (place == std::string::npos) return said;
  used_ = std::strtoull(said.c_str() + place + 8, nullptr, 10);
  said.resize(said.rfind('(', place));
  return said;
}

std::string Worker::answer_to(const std::string& text) {
  const std::size_t first = text.find('\0'), second = text.find('\0', first + 1);
  if (first == std::string::npos || second == std::string::npos) return "(error \"the question has no limit\")";
  const std::string before = text.substr(0, first);
  const std::string said = before.empty() ? "" : evaluate("0", before);
  const std::uint64_t limit = used_ + std::strtoull(text.c_str() + first + 1, nullptr, 10);
  return said + evaluate(std::to_string(limit), text.substr(second + 1));
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) return 2;
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  limit(RLIMIT_AS, argv[1]);
  limit(RLIMIT_CPU, argv[2]);
  limit(RLIMIT_CORE, "0");
  const Z3_config config = Z3_mk_config();
  const Z3_context context = Z3_mk_context(config);
  Z3_set_error_handler(context, nullptr);
  Worker worker(context);
  std::string text;
  while (true) {
    std::uint64_t size = 0;
    if (!read_all(reinterpret_cast<char*>(&size), sizeof size)) return 0;
    text.resize(size);
    if (!read_all(text.data(), size)) return 0;
    const std::string answer = worker.answer_to(text);
    const std::uint64_t length = answer.size();
    if (!write_all(reinterpret_cast<const char*>(&length), sizeof length) || !write_all(answer.data(), length))
      return 0;
  }
}
