// What measures the machine computes what it says, or says that the processor cannot.
#include "tune/machine_probe.h"

#include <rewright/base/command.h>

#include <gmock/gmock.h>

#include <array>
#include <fstream>
#include <sstream>

#include "base/files.h"
#include "tune/this_machine.h"

namespace {

using namespace rewright;
using namespace rewright::tune;
using testing::ElementsAre;

/// Lines of what the probe shows of its dot products.
std::vector<std::string> shown(const std::vector<std::string>& options = {}) {
  const auto folder = TemporaryFolder::make();
  const std::string source = folder->path() + "/probe.c", program = folder->path() + "/probe";
  EXPECT_TRUE(write_file(source, probe_source(std::array<std::int64_t, 1>{4096})));
  std::vector<std::string> words = {"-std=gnu11", "-O2", "-march=native", "-ffp-contract=fast"};
  words.insert(words.end(), options.begin(), options.end());
  words.insert(words.end(), {"-o", program, source});
  const auto built = run_c_compiler(words, 60);
  if (!built) return {built.error().message};
  const std::vector<std::string> command = {program, "show"};
  const auto outcome = run_command(command, 20);
  if (!outcome || outcome->exit_code != 0) return {"it did not run"};
  std::vector<std::string> lines;
  std::istringstream text(outcome->text);
  for (std::string line; std::getline(text, line);) lines.push_back(line);
  return lines;
}

/// Chain i begins with i, and takes the sum of a lane's products three times.
std::string expected(bool is_int8) {
  const int per_lane = is_int8 ? 4 : 2;
  std::string text;
  for (int chain = 0; chain < 12; ++chain) {
    for (int lane = 0; lane < 16; ++lane) {
      int sum = 0;
      for (int k = lane * per_lane; k < (lane + 1) * per_lane; ++k)
        sum += (is_int8 ? 3 * k + 64 : k % 7 - 3) * (k % 5 - 2);
      text += fmt::format("{} ", chain + 3 * sum);
    }
  }
  return text;
}

bool has_flag(const std::string& flag) {
  std::ifstream file("/proc/cpuinfo");
  for (std::string word; file >> word;)
    if (word == flag) return true;
  return false;
}

TEST(MachineProbe, ComputesDotProductsOrSaysThatTheProcessorCannot) {
  EXPECT_THAT(shown(), ElementsAre(has_flag("avx512_bf16") ? expected(false) : "none",
                                   has_flag("avx512_vnni") ? expected(true) : "none"));
}

TEST(MachineProbe, OfAnotherKindOfProcessorHasNoDotProducts) {
  EXPECT_THAT(shown({"-DPORTABLE"}), ElementsAre("none", "none"));
}

TEST(MachineProbe, SaysWhatIsMissing) {
  EXPECT_EQ(to_string(DotPeak{"int8", "AVX512_VNNI", 945.06}), "int8: 945.1 GOP/s by AVX512_VNNI");
  EXPECT_EQ(to_string(DotPeak{"bfloat16", "AVX512_BF16", 0}), "bfloat16: none, as this processor has no AVX512_BF16");
}

}  // namespace
