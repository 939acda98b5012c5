// Every reader on inputs that were real once: bytes changed, cut out, doubled, joined from two files, with a seed that
// does not change. REWRIGHT_FUZZ_RUNS says how many inputs a reader gets (4,000). An input that ends the program is
// left in the working folder.
#include <fcntl.h>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <random>

#include "fuzz/targets.h"

namespace rewright::fuzz {
namespace {

constexpr unsigned kSecondsForOne = 30;

// What is read at the moment, for the signal handler.
const char* current_file = nullptr;
const char* current_data = nullptr;
std::size_t current_size = 0;

void keep_input(int signal) {
  const int file = open(current_file, O_CREAT | O_WRONLY | O_TRUNC, 0644);
  if (file >= 0) {
    for (std::size_t done = 0; done < current_size;) {
      const ssize_t written = write(file, current_data + done, current_size - done);
      if (written <= 0) break;
      done += static_cast<std::size_t>(written);
    }
    close(file);
  }
  std::signal(signal, SIG_DFL);
  std::raise(signal);
}

class Mutator {
 public:
  Mutator(std::vector<std::string> corpus, std::vector<std::string> words)
      : corpus_(std::move(corpus)), words_(std::move(words)) {}

  std::string next() {
    std::string bytes = corpus_[below(corpus_.size())];
    if (below(4) == 0) {
      // The beginning of one, the end of another.
      const std::string& other = corpus_[below(corpus_.size())];
      bytes = bytes.substr(0, below(bytes.size() + 1)) + other.substr(below(other.size() + 1));
    }
    for (std::size_t changes = 1 + below(4); changes > 0; --changes) change(bytes);
    return bytes;
  }

 private:
  std::size_t below(std::size_t bound) { return bound == 0 ? 0 : random_() % bound; }

  void change(std::string& bytes) {
    const std::size_t at = below(bytes.size() + 1), length = 1 + below(std::min<std::size_t>(bytes.size(), 40));
    switch (below(8)) {
      case 0:
        if (at < bytes.size()) bytes[at] = static_cast<char>(bytes[at] ^ (1U << below(8)));
        break;
      case 1:
        if (at < bytes.size()) bytes[at] = static_cast<char>(random_());
        break;
      case 2: bytes.insert(at, 1, static_cast<char>(random_())); break;
      case 3: bytes.erase(at, length); break;
      case 4: bytes.insert(at, bytes.substr(below(bytes.size() + 1), length)); break;
      case 5: bytes.insert(at, words_[below(words_.size())]); break;
      case 6: bytes.resize(at); break;
      default: change_number(bytes, at); break;
    }
  }

  /// The next number of the text becomes one at a limit.
  void change_number(std::string& bytes, std::size_t at) {
    static const char* const kNumbers[] = {
        "0", "-1", "1", "2147483648", "9223372036854775807", "-9223372036854775808", "18446744073709551616", "3"};
    const std::size_t begin = bytes.find_first_of("0123456789", at);
    if (begin == std::string::npos) return;
    const std::size_t end = std::min(bytes.find_first_not_of("0123456789", begin), bytes.size());
    bytes.replace(begin, end - begin, kNumbers[below(std::size(kNumbers))]);
  }

  std::vector<std::string> corpus_, words_;
  std::mt19937_64 random_{1};
};

class Fuzz : public testing::TestWithParam<const char*> {};

TEST_P(Fuzz, ReadsOrRefuses) {
  const Target& target = *find(GetParam());
  const std::vector<std::string> corpus = inputs(target);
  ASSERT_FALSE(corpus.empty());
#ifndef REWRIGHT_SANITIZED
  constexpr rlim_t kMost = rlim_t{6} << 30;
  const rlimit memory{kMost, kMost};
  setrlimit(RLIMIT_AS, &memory);
#endif
  const std::string file = fmt::format("fuzz-{}.input", target.name);
  current_file = file.c_str();
  for (const int signal : {SIGSEGV, SIGABRT, SIGBUS, SIGFPE, SIGALRM}) std::signal(signal, keep_input);
  const auto read = [&](const std::string& bytes) {
    current_data = bytes.data();
    current_size = bytes.size();
    alarm(kSecondsForOne);
    EXPECT_NO_THROW(target.run(bytes)) << fmt::format("{} bytes", bytes.size());
    alarm(0);
  };
  for (const std::string& bytes : corpus) read(bytes);
  Mutator mutator(corpus, target.words);
  const char* wanted = std::getenv("REWRIGHT_FUZZ_RUNS");
  const long runs = wanted == nullptr ? 4000 : std::atol(wanted);
  for (long run = 0; run < runs && !HasFailure(); ++run) read(mutator.next());
  for (const int signal : {SIGSEGV, SIGABRT, SIGBUS, SIGFPE, SIGALRM}) std::signal(signal, SIG_DFL);
}

std::vector<const char*> names() {
  std::vector<const char*> names;
  for (const Target& target : targets()) names.push_back(target.name);
  return names;
}

INSTANTIATE_TEST_SUITE_P(Readers, Fuzz, testing::ValuesIn(names()), [](const auto& info) { return info.param; });

}  // namespace
}  // namespace rewright::fuzz
