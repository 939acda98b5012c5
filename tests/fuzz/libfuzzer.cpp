// The readers as a program of libFuzzer's (LLVM's documentation, "libFuzzer"); scripts/fuzz runs it. The variable
// REWRIGHT_FUZZ_READER says which reader. With REWRIGHT_FUZZ_SEEDS=FOLDER it writes the real inputs there, and the
// words of the format as a dictionary FOLDER.dict, and ends; with REWRIGHT_FUZZ_READER=list it prints the readers'
// names.
#include <fmt/format.h>

#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "fuzz/targets.h"

namespace {

using rewright::fuzz::Target;

const char* variable(const char* name) {
  const char* const value = std::getenv(name);
  return value == nullptr ? "" : value;
}

const Target& chosen() {
  static const Target* const target = rewright::fuzz::find(variable("REWRIGHT_FUZZ_READER"));
  if (target != nullptr) return *target;
  fmt::print(stderr, "REWRIGHT_FUZZ_READER is '{}'; expected the name of a reader:", variable("REWRIGHT_FUZZ_READER"));
  for (const Target& known : rewright::fuzz::targets()) fmt::print(stderr, " {}", known.name);
  fmt::print(stderr, "\n");
  std::exit(2);
}

void write_seeds(const std::filesystem::path& folder) {
  std::filesystem::create_directories(folder);
  const std::vector<std::string> seeds = inputs(chosen());
  for (std::size_t i = 0; i < seeds.size(); ++i)
    std::ofstream(folder / fmt::format("seed-{:03}", i), std::ios::binary) << seeds[i];
  std::ofstream dictionary(folder.string() + ".dict");
  for (const std::string& word : chosen().words) {
    dictionary << '"';
    for (const unsigned char byte : word) dictionary << fmt::format("\\x{:02x}", byte);
    dictionary << "\"\n";
  }
}

}  // namespace

extern "C" int LLVMFuzzerInitialize(int*, char***) {
  if (variable("REWRIGHT_FUZZ_READER") == std::string_view("list")) {
    for (const Target& target : rewright::fuzz::targets()) fmt::print("{}\n", target.name);
    std::exit(0);
  }
  const std::string_view seeds = variable("REWRIGHT_FUZZ_SEEDS");
  if (!seeds.empty()) {
    write_seeds(seeds);
    std::exit(0);
  }
  (void)chosen();
  return 0;
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  chosen().run({reinterpret_cast<const char*>(data), size});
  return 0;
}
