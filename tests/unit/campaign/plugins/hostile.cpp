// Verifiers that know nothing, and do harm over one kind of goal: relu(relu(x)) => ...
#include <rewright/plugin/plugin.h>
#include <rewright/verify/verifier.h>

#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <fstream>
#include <functional>
#include <stdexcept>

namespace {
using namespace rewright;

bool is_the_one(const Goal& goal) {
  const auto& nodes = goal.rule.source.nodes;
  return nodes.size() == 2 &&
         std::ranges::all_of(nodes, [](const PatternNode& node) { return node.op->name() == "relu"; });
}

void crash() {
  std::signal(SIGSEGV, SIG_DFL);  // A sanitizer's handler would leave with an exit code.
  raise(SIGSEGV);
}
void give_up() { std::abort(); }
void leave() { _exit(3); }
void throw_something() { throw std::runtime_error("no idea what to do"); }
void throw_a_number() { throw 42; }
void loop() {
  for (volatile int forever = 1; forever == 1;) {
  }
}
void eat() {
  std::vector<std::vector<char>> all;
  while (true) all.emplace_back(std::size_t{1} << 24, 'x');
}

class Hostile final : public Verifier {
 public:
  Hostile(std::string name, std::function<void()> harm) : name_(std::move(name)), harm_(std::move(harm)) {}
  std::string name() const override { return name_; }
  std::string summary() const override { return "Does harm over some goals"; }
  bool proves() const override { return true; }
  bool refutes() const override { return false; }
  Status configure(const Options&) override { return {}; }
  Result<std::vector<Verdict>> verify(std::span<const Goal> goals) override {
    std::vector<Verdict> verdicts(goals.size());
    for (std::size_t i = 0; i < goals.size(); ++i) {
      if (is_the_one(goals[i])) harm_();
      verdicts[i].reason = "it knows nothing";
    }
    return verdicts;
  }
  std::unique_ptr<Verifier> clone() const override { return std::make_unique<Hostile>(name_, harm_); }

 private:
  std::string name_;
  std::function<void()> harm_;
};

/// Says in the file `path` what its process is, and waits there for the end; if the file is there already, it does not.
class Waiting final : public Verifier {
 public:
  std::string name() const override { return "waiting"; }
  std::string summary() const override { return "Waits to be killed"; }
  bool proves() const override { return true; }
  bool refutes() const override { return false; }
  Status configure(const Options& options) override {
    path_ = std::get<std::string>(options.at("path"));
    return {};
  }
  Result<std::vector<Verdict>> verify(std::span<const Goal> goals) override {
    if (!std::ifstream(path_)) {
      std::ofstream(path_ + ".new") << getpid() << std::endl;
      std::rename((path_ + ".new").c_str(), path_.c_str());
      sleep(1000);
    }
    std::vector<Verdict> verdicts(goals.size());
    for (Verdict& verdict : verdicts) verdict.reason = fmt::format("asked about {} goals at once", goals.size());
    return verdicts;
  }
  std::unique_ptr<Verifier> clone() const override { return std::make_unique<Waiting>(); }

 private:
  std::string path_;
};

/// Tries to write a file, and says what came of it.
class Writing final : public Verifier {
 public:
  std::string name() const override { return "writing"; }
  std::string summary() const override { return "Writes a file"; }
  bool proves() const override { return true; }
  bool refutes() const override { return false; }
  Status configure(const Options& options) override {
    path_ = std::get<std::string>(options.at("path"));
    return {};
  }
  Result<std::vector<Verdict>> verify(std::span<const Goal> goals) override {
    std::ofstream file(path_);
    file << "something" << std::endl;
    std::vector<Verdict> verdicts(goals.size());
    for (Verdict& verdict : verdicts) verdict.reason = file ? "the file was written" : "the file was not written";
    return verdicts;
  }
  std::unique_ptr<Verifier> clone() const override { return std::make_unique<Writing>(); }

 private:
  std::string path_;
};

/// Gives its options for a reason.
class Echoing final : public Verifier {
 public:
  std::string name() const override { return "echoing"; }
  std::string summary() const override { return "Says what it was told"; }
  bool proves() const override { return true; }
  bool refutes() const override { return false; }
  Status configure(const Options& options) override {
    for (const auto& [name, value] : options)
      std::visit([&, &key = name](const auto& plain) { options_ += fmt::format(" {}={}", key, plain); }, value);
    return {};
  }
  Result<std::vector<Verdict>> verify(std::span<const Goal> goals) override {
    std::vector<Verdict> verdicts(goals.size());
    for (Verdict& verdict : verdicts) verdict.reason = "told" + options_;
    return verdicts;
  }
  std::unique_ptr<Verifier> clone() const override { return std::make_unique<Echoing>(); }

 private:
  std::string options_;
};

}  // namespace

REWRIGHT_PLUGIN("test.hostile", "1.0.0", "Verifiers that do harm") {
  const auto add = [&](const char* name, void (*harm)()) {
    registry.add<Verifier>(std::make_unique<Hostile>(name, harm));
  };
  add("crashes", crash);
  add("aborts", give_up);
  add("leaves", leave);
  add("throws", throw_something);
  add("throws-a-number", throw_a_number);
  add("loops", loop);
  add("eats", eat);
  registry.add<Verifier>(std::make_unique<Waiting>());
  registry.add<Verifier>(std::make_unique<Writing>());
  registry.add<Verifier>(std::make_unique<Echoing>());
}
