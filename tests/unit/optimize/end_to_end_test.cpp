// From a model in bytes to a faster model in bytes, and the program `rewright optimize` on files, good and bad.
#include <rewright/onnx/runtime.h>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <sstream>
#include <thread>

#include "onnx/export.h"
#include "onnx/external.h"
#include "onnx/import.h"
#include "optimize/equivalence.h"
#include "optimize/optimizer.h"
#include "store/store.h"
#include "support/isomorphism.h"
#include "support/true_rules.h"
#include "support/weights.h"

namespace rewright {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;
using testing::loaded;
using ::testing::SizeIs;

/// x V + x W, twice or more often, with a relu between: four products where two do.
std::string parallel_branches(std::int64_t n, int layers = 2) {
  GraphBuilder builder(&loaded());
  Port at = *builder.input("x", {Shape{n, n}, ElementType::kFloat32});
  int weights = 0;
  const auto product = [&](Port x) {
    const TensorType type{Shape{n, n}, ElementType::kFloat32};
    const double value = 0.01 + 0.002 * weights;
    const Port w = *builder.input(fmt::format("w{}", weights++), type, InputKind::kWeight,
                                  std::make_shared<const ConstantData>(ConstantData{type, value}));
    return *builder.apply1("matmul", {}, {x, w});
  };
  for (int layer = 0; layer < layers; ++layer) {
    const Port left = product(at), right = product(at);
    at = *builder.apply1("relu", {}, {*builder.apply1("ewadd", {}, {left, right})});
  }
  builder.output(at, "y");
  return *export_model(builder.finish());
}

TEST(EndToEnd, ParallelLinearBranchesBecomeOne) {
  const std::string model = parallel_branches(32);
  const auto imported = import_model(std::as_bytes(std::span(model)), loaded());
  ASSERT_TRUE(imported) << imported.error().message;
  const auto price = (*loaded().get<CostModel>("flops"))->clone();
  GraphCost cost(*price, nullptr);
  const auto search = (*loaded().get<SearchStrategy>("backtracking"))->clone();
  const auto report = optimize(imported->graph, testing::true_rules(), *search, cost, {.steps = 50});
  ASSERT_TRUE(report) << report.error().message;
  EXPECT_LT(report->search.cost_after_us, 0.7 * report->search.cost_before_us) << "the sums were fused";
  EXPECT_THAT(report->search.path, SizeIs(2));

  EquivalenceOptions options;
  options.runtime = loaded().find<Runtime>("onnxruntime");
  options.original_model = model;
  options.to_model = [&](const Graph& graph) { return export_model(graph, *imported); };
  const auto gate = EquivalenceGate::create(imported->graph, options);
  ASSERT_TRUE(gate) << gate.error().message;
  const auto checked = gate->check(report->best);
  ASSERT_TRUE(checked) << checked.error().message;
  EXPECT_TRUE(checked->equal()) << checked->difference;
  EXPECT_THAT(checked->runs, SizeIs(3));
}

// --- the program -----------------------------------------------------------------------------------------------

struct Ran {
  int status = 0;
  std::string output;  ///< Standard output.
  std::string errors;
};

class OptimizeProgram : public ::testing::Test {
 protected:
  void SetUp() override {
    folder_ = fs::temp_directory_path() / fmt::format("rewright-optimize-{}-{}", ::getpid(),
                                                      ::testing::UnitTest::GetInstance()->current_test_info()->name());
    fs::remove_all(folder_);
    fs::create_directories(folder_);
    write("model.onnx", parallel_branches(16));
    std::string rules = "# what holds\n\n";
    for (std::string_view rule : testing::kTrueRules) rules += std::string(rule) + "\n";
    write("true.rules", rules);
  }
  void TearDown() override { fs::remove_all(folder_); }

  void write(const std::string& name, const std::string& content) const {
    std::ofstream(folder_ / name, std::ios::binary) << content;
  }
  [[nodiscard]] std::string read(const std::string& name) const {
    std::ifstream file(folder_ / name, std::ios::binary);
    std::ostringstream content;
    content << file.rdbuf();
    return content.str();
  }
  [[nodiscard]] bool exists(const std::string& name) const { return fs::exists(folder_ / name); }
  /// Runs `rewright optimize ARGUMENTS` in the folder.
  /// Without measuring, unless the arguments say so: what is written does not depend on the machine.
  [[nodiscard]] Ran run(const std::string& arguments) const {
    const bool measures = arguments.find("measure") != std::string::npos;
    const std::string command =
        fmt::format("cd '{}' && '{}/bin/rewright' optimize {}{} >out.txt 2>err.txt", folder_.string(),
                    REWRIGHT_BUILD_DIR, arguments, measures ? "" : " --no-measure");
    const int status = std::system(command.c_str());
    return {WIFEXITED(status) ? WEXITSTATUS(status) : -1, read("out.txt"), read("err.txt")};
  }
  /// Runs it and kills it (SIGKILL) as soon as `now` says so. True: it was running until then.
  [[nodiscard]] bool kill_when(const std::string& arguments, const std::function<bool()>& now) const {
    const std::string command = fmt::format("cd '{}' && exec '{}/bin/rewright' optimize {} >out.txt 2>err.txt",
                                            folder_.string(), REWRIGHT_BUILD_DIR, arguments);
    const pid_t child = ::fork();
    if (child == 0) {
      ::execl("/bin/sh", "sh", "-c", command.c_str(), nullptr);
      ::_exit(127);
    }
    int status = 0;
    while (::waitpid(child, &status, WNOHANG) == 0) {
      if (now()) ::kill(child, SIGKILL);
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    return WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL;
  }
  static nlohmann::json last_line(const std::string& output) {
    const std::size_t end = output.find_last_not_of('\n');
    const std::size_t start = output.rfind('\n', end);
    return nlohmann::json::parse(output.substr(start == std::string::npos ? 0 : start + 1));
  }
  fs::path folder_;
};

TEST_F(OptimizeProgram, WritesAFasterModelAndSaysWhatItDid) {
  const Ran ran = run("model.onnx -o out.onnx --rules true.rules --trust none --json");
  ASSERT_EQ(ran.status, 0) << ran.errors;
  const auto json = last_line(ran.output);
  EXPECT_LT(json.at("cost_after"), json.at("cost_before"));
  EXPECT_EQ(json.at("equal"), true);
  EXPECT_THAT(json.at("rewrites"), SizeIs(2));
  EXPECT_GT(json.at("steps"), 0);
  EXPECT_GT(json.at("candidates"), 0);
  EXPECT_GE(json.at("seconds"), 0);
  EXPECT_GT(json.at("cpu_seconds"), 0);
  EXPECT_GE(json.at("max_abs_error"), 0);
  const std::string model = read("out.onnx");
  const auto imported = import_model(std::as_bytes(std::span(model)), loaded());
  ASSERT_TRUE(imported) << imported.error().message;
  EXPECT_LT(model.size(), read("model.onnx").size() + 16 * 16 * 4 * 2 + 1000) << "two sums of weights, folded";
}

TEST_F(OptimizeProgram, TakesAxiomsForRulesAndRefusesThoseThatAreFalse) {
  const std::string axioms = std::string(REWRIGHT_SOURCE_DIR) + "/axioms/";
  const Ran ran = run("model.onnx -o out.onnx --json --rules " + axioms + "linear_algebra.smt2 --rules true.rules");
  ASSERT_EQ(ran.status, 0) << ran.errors;
  EXPECT_THAT(ran.errors, HasSubstr("for this model from "));
  EXPECT_THAT(ran.errors, HasSubstr("left out, because not proved: ")) << "those of the text file";
  const auto json = last_line(ran.output);
  ASSERT_THAT(json.at("rewrites"), SizeIs(2)) << "each of both sums";
  EXPECT_THAT(json.at("rewrites")[0].at("rule"), HasSubstr("matmul-"));
  EXPECT_LT(json.at("cost_after"), json.at("cost_before"));
  EXPECT_EQ(json.at("equal"), true);

  const Ran refused = run("model.onnx -o refused.onnx --rules " + axioms + "rejected.smt2");
  EXPECT_EQ(refused.status, 2) << "where axioms that are true fit nothing in the model, that is no error";
  EXPECT_THAT(refused.errors, HasSubstr("is false, so that nothing is proved by it"));
  EXPECT_THAT(refused.errors, HasSubstr("of its axioms are refused: "));
}

TEST_F(OptimizeProgram, NotesInTheStoreWhichRulesGainedWhat) {
  const auto program = [&](const std::string& arguments) {
    return std::system(fmt::format("cd '{}' && '{}/bin/rewright' {} >out.txt 2>err.txt", folder_.string(),
                                   REWRIGHT_BUILD_DIR, arguments)
                           .c_str());
  };
  ASSERT_EQ(program("rules import true.rules --format text --store proved --verifiers egraph"), 0) << read("err.txt");
  const auto uses = [&] {
    const auto store = Store::open((folder_ / "proved").string(), Store::Mode::kRead);
    return store ? *(*store)->uses() : std::vector<UseRecord>();
  };
  ASSERT_EQ(run("model.onnx -o out.onnx --rules proved --no-record").status, 0) << read("err.txt");
  EXPECT_THAT(uses(), SizeIs(0));
  const Ran ran = run("model.onnx -o out.onnx --rules proved --json");
  ASSERT_EQ(ran.status, 0) << ran.errors;
  ASSERT_EQ(run("model.onnx -o out.onnx --rules proved").status, 0) << "the same again";
  const auto json = last_line(ran.output);
  const std::vector<UseRecord> found = uses();
  std::int64_t times = 0;
  double gain = 0;
  for (const UseRecord& use : found) {
    EXPECT_EQ(use.model, "model.onnx");
    EXPECT_EQ(use.search, "auto");
    times += use.times;
    gain += use.gain_us;
  }
  EXPECT_EQ(times, static_cast<std::int64_t>(json.at("rewrites").size()));
  EXPECT_NEAR(gain, json.at("cost_before").get<double>() - json.at("cost_after").get<double>(), 1e-6);
}

TEST_F(OptimizeProgram, TakesNoRuleForProvedWhoseOperatorIsOfAnotherVersion) {
  ASSERT_EQ(std::system(fmt::format("cd '{}' && '{}/bin/rewright' rules import true.rules --format text --store proved "
                                    "--verifiers egraph >out.txt 2>err.txt",
                                    folder_.string(), REWRIGHT_BUILD_DIR)
                            .c_str()),
            0);
  const auto set_version = [&](const char* op) {
    const auto store = *Store::open((folder_ / "proved").string(), Store::Mode::kRun);
    return store->database().run(fmt::format("UPDATE ingredients SET version = '0.9.0' WHERE name = '{}'", op));
  };
  ASSERT_TRUE(set_version("operator.ewadd"));
  const Ran ran = run("model.onnx -o out.onnx --rules proved --json");
  EXPECT_EQ(ran.status, 0);
  EXPECT_THAT(ran.errors, HasSubstr("'proved' was made with version 0.9.0 of operator ewadd, and 1.0.0 is loaded"));
  EXPECT_THAT(ran.errors, HasSubstr("left out, because not proved: "));
  const auto said = last_line(ran.output);
  for (const auto& step : said.at("rewrites"))
    EXPECT_EQ(step.at("rule").get<std::string>().find("ewadd"), std::string::npos);
  EXPECT_THAT(last_line(run("model.onnx -o out.onnx --rules proved --trust none --json").output).at("rewrites"),
              ::testing::Not(SizeIs(0)));
}

TEST_F(OptimizeProgram, DrawsWhatItDidAndListsEachRewrite) {
  const Ran ran = run("model.onnx -o out.onnx --rules true.rules --trust none --explain --report pages/of/it");
  ASSERT_EQ(ran.status, 0) << ran.errors;
  const std::string page = read("pages/of/it/index.html");
  EXPECT_EQ(page, read("out.onnx.html"));
  for (const char* part : {"model.onnx", "Best cost over time", "ewadd-matmul-matmul-to-matmul-ewadd", "ewadd(matmul("})
    EXPECT_THAT(page, HasSubstr(part));
  write("file", "");
  EXPECT_THAT(run("model.onnx -o out.onnx --rules true.rules --trust none --report file").errors,
              HasSubstr("--report"));
}

TEST_F(OptimizeProgram, TakesMeasurementsOfAnotherRunAndSaysWhereTheyEnd) {
  const std::string rules = " -o out.onnx --rules true.rules --trust none --search greedy ";
  const std::string from_file = "--cost database --cost-option file=costs.sqlite --json";
  const Ran measured = run("model.onnx" + rules + "--cost onednn --cost-cache costs.sqlite --json");
  ASSERT_EQ(measured.status, 0) << measured.errors;
  const Ran looked_up = run("model.onnx" + rules + from_file);
  ASSERT_EQ(looked_up.status, 0) << looked_up.errors;
  for (const char* key : {"cost_before", "cost_after"})
    EXPECT_EQ(last_line(looked_up.output).at(key), last_line(measured.output).at(key));
  write("other.onnx", parallel_branches(17));
  const Ran other = run("other.onnx" + rules + from_file);
  EXPECT_EQ(other.status, 0);
  EXPECT_THAT(other.errors, HasSubstr("--cost-cache FILE"));
}

TEST_F(OptimizeProgram, RunsOnInputsThatItIsGiven) {
  const std::string with = "--rules true.rules --trust none --steps 0 --input ";
  const std::string model = "/usr/share/libonnx-testdata/data/node/test_reshape_negative_dim/";
  const std::string shape = "shape=" + model + "test_data_set_0/input_1.pb";
  EXPECT_EQ(run(model + "model.onnx -o out.onnx " + with + shape).status, 0) << read("err.txt");
  EXPECT_EQ(run(model + "model.onnx -o out.onnx " + with + "shape=2,-1,2").status, 0) << read("err.txt");
  EXPECT_THAT(run(model + "model.onnx -o no.onnx " + with + "shape=2,-1").errors, HasSubstr("2 numbers were given"));
  EXPECT_THAT(run(model + "model.onnx -o no.onnx " + with + "form=2").errors, HasSubstr("it has: data, shape"));
  EXPECT_THAT(run(model + "model.onnx -o no.onnx " + with + "shape=two").errors, HasSubstr("neither numbers"));
  EXPECT_THAT(run(model + "model.onnx -o no.onnx " + with + "shape=" + model + "model.onnx").errors,
              HasSubstr("holds no tensor"));
  EXPECT_FALSE(exists("no.onnx"));
}

/// A network of experiments/models and how many operators of a kind are left of it.
struct Network {
  const char* name;
  const char* op;
  int before;
  int after;
};

class NetworkProgram : public OptimizeProgram, public ::testing::WithParamInterface<Network> {};

int count_of(const std::string& model, std::string_view op) {
  const auto imported = import_model(std::as_bytes(std::span(model)), loaded());
  if (!imported) return -1;
  return static_cast<int>(
      std::ranges::count_if(imported->graph.nodes(), [&](const Node& node) { return node.applies(op); }));
}

TEST_P(NetworkProgram, BecomesWhatItsPaperSaysItCanBecome) {
  const auto [name, op, before, after] = GetParam();
  const std::string file = fmt::format("{}/models/{}.onnx", REWRIGHT_BUILD_DIR, name);
  std::ifstream stream(file, std::ios::binary);
  const std::string original{std::istreambuf_iterator<char>(stream), {}};
  EXPECT_EQ(count_of(original, op), before);
  const Ran ran = run(file + " -o out.onnx --search greedy --trust certificate --json --quiet");
  ASSERT_EQ(ran.status, 0) << ran.errors;
  EXPECT_EQ(last_line(ran.output).at("equal"), true);
  EXPECT_EQ(count_of(read("out.onnx"), op), after) << ran.output;
}

INSTANTIATE_TEST_SUITE_P(Networks, NetworkProgram,
                         ::testing::Values(Network{"repvgg", "conv2d", 14, 7}, Network{"acnet", "conv2d", 21, 7},
                                           Network{"lora", "matmul", 12, 8}),
                         [](const auto& info) { return std::string(info.param.name); });

TEST_F(OptimizeProgram, KeepsWeightsInAFileOfTheirOwn) {
  std::ifstream stream(fmt::format("{}/models/repvgg.onnx", REWRIGHT_BUILD_DIR), std::ios::binary);
  const std::string whole{std::istreambuf_iterator<char>(stream), {}};
  const auto split = split_off_weights(whole, "weights.bin");
  ASSERT_TRUE(split) << split.error().message;
  write("outside.onnx", split->model);
  write("weights.bin", content_of(*split));
  const std::string options = " --search greedy --json";
  const Ran ran = run("outside.onnx -o out.onnx" + options);
  ASSERT_EQ(ran.status, 0) << ran.errors;
  EXPECT_FALSE(last_line(ran.output).at("rewrites").empty());
  EXPECT_EQ(external_files(read("out.onnx")), std::set<std::string>{"out.onnx.data"});
  EXPECT_LT(read("out.onnx").size(), 100'000u);
  EXPECT_EQ(read("weights.bin"), content_of(*split)) << "the original's stay as they were";
  EXPECT_EQ(last_line(run("out.onnx -o again.onnx" + options).output).at("equal"), true) << "what was written runs";
  // Weights that were copied from file to file, and those that were worked out from them, are as without a file.
  write("inside.onnx", whole);
  ASSERT_EQ(run("inside.onnx -o one.onnx" + options).status, 0);
  const auto one = import_model_file((folder_ / "one.onnx").string(), loaded());
  for (const char* name : {"out.onnx", "again.onnx"}) {
    const auto two = import_model_file((folder_ / name).string(), loaded());
    ASSERT_TRUE(one && two);
    EXPECT_TRUE(isomorphic(one->graph, two->graph)) << name;
  }

  const auto clash = split_off_weights(whole, "no.onnx.data");
  write("clash.onnx", clash->model);
  write("no.onnx.data", content_of(*clash));
  ASSERT_EQ(run("clash.onnx -o no.onnx" + options).status, 0);
  EXPECT_EQ(read("no.onnx.data"), content_of(*clash)) << "the input's weights stay where they are";
  EXPECT_EQ(external_files(read("no.onnx")), std::set<std::string>{"no.onnx.1.data"});
  const Ran refused = run("clash.onnx -o ./no.onnx.data" + options);
  EXPECT_EQ(refused.status, 2);
  EXPECT_THAT(refused.errors, HasSubstr("'./no.onnx.data' holds weights of 'clash.onnx'"));
  EXPECT_EQ(read("no.onnx.data"), content_of(*clash));
}

TEST_F(OptimizeProgram, IsTheSameEachTime) {
  for (const char* name : {"a.onnx", "b.onnx"})
    ASSERT_EQ(run(fmt::format("model.onnx -o {} --rules true.rules --trust none", name)).status, 0);
  EXPECT_EQ(read("a.onnx"), read("b.onnx"));
}

TEST_F(OptimizeProgram, GoesOnWithACheckpoint) {
  const std::string command = "model.onnx --rules true.rules --trust none --checkpoint it.looks --steps ";
  ASSERT_EQ(run(command + "4 -o some.onnx").status, 0);
  const Ran twice = run(command + "50 -o twice.onnx");
  EXPECT_EQ(twice.status, 2);
  EXPECT_THAT(twice.errors, HasSubstr("add --resume"));
  const Ran resumed = run(command + "50 -o resumed.onnx --resume");
  ASSERT_EQ(resumed.status, 0) << resumed.errors;
  EXPECT_THAT(resumed.errors, HasSubstr("goes on with 'it.looks'"));
  ASSERT_EQ(run("model.onnx -o whole.onnx --rules true.rules --trust none --steps 50").status, 0);
  EXPECT_EQ(read("resumed.onnx"), read("whole.onnx"));
  EXPECT_THAT(run(command + "50 -o no.onnx --resume --seed 2").errors, HasSubstr("'seed=1' there, 'seed=2' here"));
  EXPECT_EQ(run("model.onnx -o no.onnx --rules true.rules --trust none --resume").status, 2) << "of what?";
}

/// An e-graph asks nothing that could be kept: it starts again, and ends alike.
TEST_F(OptimizeProgram, KilledInMidSearchItGoesOnToTheSameBytes) {
  write("deep.onnx", parallel_branches(16, 5));
  for (const std::string search : {"backtracking --alpha 3", "egraph"}) {
    SCOPED_TRACE(search);
    const bool keeps_answers = search != "egraph";
    const std::string command = fmt::format(
        "deep.onnx --rules true.rules --trust none --steps 100000 --candidates 60000 --search {} -o ", search);
    ASSERT_EQ(run(command + "whole.onnx").status, 0);
    fs::remove(folder_ / "it.looks");
    ASSERT_TRUE(kill_when(command + "killed.onnx --checkpoint it.looks", [&] {
      std::error_code none_yet;
      const auto size = fs::file_size(folder_ / "it.looks", none_yet);
      // More than a block of 2^14 answers, so that one is whole.
      return !none_yet && size > (keeps_answers ? 450'000U : 0U);
    })) << "the search was over before it could be killed";
    EXPECT_FALSE(exists("killed.onnx"));
    const Ran resumed = run(command + "resumed.onnx --checkpoint it.looks --resume");
    ASSERT_EQ(resumed.status, 0) << resumed.errors;
    EXPECT_THAT(resumed.errors, HasSubstr(keeps_answers ? "goes on with 'it.looks'" : "it starts again"));
    EXPECT_EQ(read("resumed.onnx"), read("whole.onnx"));
    EXPECT_NE(read("resumed.onnx"), read("deep.onnx"));
  }
}

TEST_F(OptimizeProgram, UsesNoRuleThatIsNotProvedUnlessAsked) {
  const Ran ran = run("model.onnx -o out.onnx --rules true.rules");
  EXPECT_EQ(ran.status, 2);
  EXPECT_THAT(ran.errors, HasSubstr("--trust none"));
  EXPECT_FALSE(exists("out.onnx"));
}

TEST_F(OptimizeProgram, NamesAWrongRuleAndStopsBeforeIt) {
  write("wrong.rules",
        "(x:2, y:2, z:2) ewadd(matmul(x, y), matmul(x, z)) => matmul(x, ewadd(y, z))\n"
        "(x:2, y:2) relu(matmul(x, y)) => matmul(x, y)\n");
  const Ran ran = run("model.onnx -o out.onnx --rules wrong.rules --trust none --json");
  EXPECT_EQ(ran.status, 1) << ran.errors;
  const auto json = last_line(ran.output);
  EXPECT_EQ(json.at("equal"), false);
  EXPECT_EQ(json.at("wrong_rule"), "relu-matmul-to-matmul-88d2457f");
  ASSERT_TRUE(exists("out.onnx")) << "the last good graph";
  const Ran again = run("out.onnx -o again.onnx --rules true.rules --trust none --steps 0 --json");
  EXPECT_EQ(again.status, 0) << again.errors;
}

TEST_F(OptimizeProgram, HandsBackAModelThatNoRewriteTouchesByteForByte) {
  const std::string model = "/usr/share/libonnx-testdata/data/node/test_reshape_negative_dim/model.onnx";
  const Ran ran = run(model + " -o out.onnx --rules true.rules --trust none");
  EXPECT_EQ(ran.status, 0) << ran.errors << "it does not run on random sizes, and nothing has to be compared";
  EXPECT_THAT(ran.output, HasSubstr("The model is written as it was, byte for byte."));
  std::ifstream stream(model, std::ios::binary);
  EXPECT_EQ(read("out.onnx"), std::string(std::istreambuf_iterator<char>(stream), {}));
}

struct BadCase {
  const char* name;
  const char* arguments;
  const char* sentence;
};

class OptimizeProgramRefuses : public OptimizeProgram, public ::testing::WithParamInterface<BadCase> {};

TEST_P(OptimizeProgramRefuses, WithASentenceAndNoOutput) {
  write("bad.rules", "(x:2) relu(relu(x)) => relu(x)\n(x:2) rlu(x) => x\n");
  write("empty.rules", "# nothing\n");
  write("cut.onnx", parallel_branches(16).substr(0, 100));
  const Ran ran = run(GetParam().arguments);
  EXPECT_EQ(ran.status, 2) << ran.errors;
  EXPECT_THAT(ran.errors, HasSubstr(GetParam().sentence));
  EXPECT_EQ(std::count(ran.errors.begin(), ran.errors.end(), '\n'), 1) << ran.errors;
  EXPECT_FALSE(exists("out.onnx"));
}

INSTANTIATE_TEST_SUITE_P(
    Bad, OptimizeProgramRefuses,
    ::testing::Values(
        BadCase{"NoModel", "none.onnx -o out.onnx --rules true.rules --trust none", "none.onnx"},
        BadCase{"CutModel", "cut.onnx -o out.onnx --rules true.rules --trust none", "cut.onnx"},
        BadCase{"NoRules", "model.onnx -o out.onnx --rules none.rules --trust none", "none.rules"},
        BadCase{"WrongRuleText", "model.onnx -o out.onnx --rules bad.rules --trust none", "line 2"},
        BadCase{"EmptyRules", "model.onnx -o out.onnx --rules empty.rules --trust none", "no rule"},
        BadCase{"NoFolder", "model.onnx -o none/out.onnx --rules true.rules --trust none", "no folder"},
        BadCase{"NoSearch", "model.onnx -o out.onnx --rules true.rules --trust none --search deep", "backtracking"},
        BadCase{"NoCost", "model.onnx -o out.onnx --rules true.rules --trust none --cost watts", "flops"},
        BadCase{"WrongAlpha", "model.onnx -o out.onnx --rules true.rules --trust none --alpha 0.5", "at least 1"},
        BadCase{"WrongOption", "model.onnx -o out.onnx --rules true.rules --trust none --cost-option gflops",
                "NAME=VALUE"},
        BadCase{"WrongTrust", "model.onnx -o out.onnx --rules true.rules --trust blind", "certificate"},
        BadCase{"WrongDim", "model.onnx -o out.onnx --rules true.rules --trust none --dim batch=two", "no size"}),
    [](const auto& info) { return std::string(info.param.name); });

}  // namespace
}  // namespace rewright
