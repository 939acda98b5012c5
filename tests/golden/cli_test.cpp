// The program as a user at a terminal sees it: every file tests/golden/cli/*.case is one session.
//
//   # what it shows
//   $ rewright operators show nothing          one or more commands, run by a shell in an empty folder; $SOURCE is
//                                              this source tree
//   --- campaign.toml                          files that lie there
//   --- exit 2                                 of the last command
//   --- stdout                                 what they print; a stream that is left out is not looked at
//   --- stderr
#include <gtest/gtest.h>
#include <sys/wait.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>

namespace {

namespace fs = std::filesystem;

std::string read(const fs::path& file) {
  std::ostringstream text;
  text << std::ifstream(file).rdbuf();
  return text.str();
}

struct Case {
  std::string commands;
  int exit = 0;
  std::map<std::string, std::string> sections;  // Files, "stdout", "stderr".
};

Case parse(const fs::path& file) {
  Case parsed;
  std::string line, *section = nullptr;
  for (std::ifstream stream(file); std::getline(stream, line);) {
    if (line.starts_with("--- exit ")) {
      parsed.exit = std::atoi(line.c_str() + 9);
      section = nullptr;
    } else if (line.starts_with("--- ")) {
      section = &parsed.sections[line.substr(4)];
    } else if (section != nullptr) {
      *section += line + "\n";
    } else if (line.starts_with("$ ")) {
      parsed.commands += line.substr(2) + "\n";
    }
  }
  return parsed;
}

// A folder that goes with the object.
class Scratch {
 public:
  Scratch() {
    std::string pattern = (fs::temp_directory_path() / "rewright-golden-XXXXXX").string();
    path_ = mkdtemp(pattern.data());
  }
  ~Scratch() { fs::remove_all(path_); }
  [[nodiscard]] const fs::path& path() const { return path_; }

 private:
  fs::path path_;
};

class Cli : public testing::TestWithParam<fs::path> {};

TEST_P(Cli, PrintsWhatTheCaseSays) {
  const Case expected = parse(GetParam());
  ASSERT_FALSE(expected.commands.empty()) << GetParam() << " has no command";
  const Scratch scratch;
  fs::create_directory(scratch.path() / "work");
  for (const auto& [name, text] : expected.sections) {
    if (name != "stdout" && name != "stderr") std::ofstream(scratch.path() / "work" / name) << text;
  }
  std::ofstream(scratch.path() / "commands") << expected.commands;
  const std::string shell = "cd '" + scratch.path().string() +
                            "/work' && PATH='" REWRIGHT_BUILD_DIR "/bin':$PATH SOURCE='" REWRIGHT_SOURCE_DIR
                            "' REWRIGHT_PLUGIN_PATH= sh ../commands > ../stdout 2> ../stderr < /dev/null";
  const int status = std::system(shell.c_str());
  ASSERT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), expected.exit) << read(scratch.path() / "stderr");
  for (const char* stream : {"stdout", "stderr"}) {
    const auto wanted = expected.sections.find(stream);
    if (wanted == expected.sections.end()) continue;
    EXPECT_EQ(read(scratch.path() / stream), wanted->second) << stream;
  }
}

std::vector<fs::path> cases() {
  std::vector<fs::path> files;
  for (const auto& entry : fs::directory_iterator(REWRIGHT_SOURCE_DIR "/tests/golden/cli")) {
    if (entry.path().extension() == ".case") files.push_back(entry.path());
  }
  std::sort(files.begin(), files.end());
  return files;
}

INSTANTIATE_TEST_SUITE_P(Golden, Cli, testing::ValuesIn(cases()), [](const auto& info) {
  std::string name = info.param.stem().string();
  std::replace_if(
      name.begin(), name.end(), [](char c) { return std::isalnum(static_cast<unsigned char>(c)) == 0; }, '_');
  return name;
});

}  // namespace
