// What is written compiles without a warning, computes what the graph does, keeps to the memory that it asks for, and
// has no state.
#include "compile/artefact.h"

#include <rewright/onnx/runtime.h>

#include <gmock/gmock.h>

#include <cmath>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <numeric>
#include <thread>

#include "compiled_graph.h"

namespace {

using namespace rewright;
using namespace rewright::compile;
using namespace rewright::compile::testing;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

using Numbers = std::vector<float>;

/// relu(x w) w2 + b and, beside it, tanh of that: kernels with memory between them.
ImportedModel layers(std::int64_t rows = 7) {
  GraphBuilder builder(&loaded());
  const auto weight = [&](const char* name, Shape shape) {
    Numbers numbers(static_cast<std::size_t>(shape.elements()));
    for (std::size_t i = 0; i < numbers.size(); ++i) numbers[i] = static_cast<float>(i % 7) * 0.25f - 0.75f;
    return *builder.input(name, floats(shape), InputKind::kWeight, constant(floats(shape), numbers));
  };
  const Port x = *builder.input("x", floats({rows, 13}));
  const Port hidden = *builder.apply1("relu", {}, {*builder.apply1("matmul", {}, {x, weight("w", {13, 11})})});
  const Port y = *builder.apply1("matmul", {}, {hidden, weight("v", {11, 5})});
  const Port z = *builder.apply1("matmul", {}, {*builder.apply1("tanh", {}, {y}), weight("u", {5, 3})});
  builder.output(z, "z");
  builder.output(y, "y");
  return model_of(builder.finish());
}

Numbers drawn(std::size_t count, unsigned seed) {
  Numbers numbers(count);
  for (std::size_t i = 0; i < count; ++i) numbers[i] = std::sin(static_cast<float>(i * 7 + seed * 131));
  return numbers;
}

TEST(Artefact, NamesThatAreNoWordsOfC) {
  const std::string names[] = {"in \"1\"", "*/ ?\?/", "@name@ \\ %d\n\t", "\xc3\xa9", "int", "x"};
  GraphBuilder builder(&loaded());
  for (const std::string& name : names) {
    builder.output(*builder.apply1("relu", {}, {*builder.input(name, floats({3}))}), "of " + name);
  }
  const Library library(model_of(builder.finish()));
  for (int i = 0; i < 6; ++i) {
    EXPECT_EQ(library.input(i)->name, names[i]);
    EXPECT_EQ(library.output(i)->name, "of " + names[i]);
  }
  EXPECT_EQ(library.input(6), nullptr);
  EXPECT_THAT(library.run(std::vector<Numbers>(6, {-1, 2, 3}))[5], ElementsAre(0, 2, 3));
}

TEST(Artefact, OutputsThatAreInputsWeightsAndOneTensorTwice) {
  GraphBuilder builder(&loaded());
  const Port x = *builder.input("x", floats({2}));
  const Port w = *builder.input("w", floats({3}), InputKind::kWeight, constant(floats({3}), {4, 5, 6}));
  const Port y = *builder.apply1("neg", {}, {x});
  for (const Port port : {x, w, y, y}) builder.output(port);
  EXPECT_THAT(Library(model_of(builder.finish())).run({{1, 2}}),
              ElementsAre(ElementsAre(1, 2), ElementsAre(4, 5, 6), ElementsAre(-1, -2), ElementsAre(-1, -2)));
}

TEST(Artefact, AModelWithoutInputs) {
  GraphBuilder builder(&loaded());
  const Port w = *builder.input("w", floats({3}), InputKind::kWeight, constant(floats({3}), {-1, 0, 6}));
  builder.output(*builder.apply1("relu", {}, {w}), "y");
  EXPECT_THAT(Library(model_of(builder.finish())).run({}), ElementsAre(ElementsAre(0, 0, 6)));
}

TEST(Artefact, AModelWithoutNodes) {
  GraphBuilder builder(&loaded());
  builder.output(*builder.input("x", floats({2})), "y");
  EXPECT_THAT(Library(model_of(builder.finish())).run({{1, 2}}), ElementsAre(ElementsAre(1, 2)));
}

TEST(Artefact, TensorsWithoutElements) {
  GraphBuilder builder(&loaded());
  builder.output(*builder.apply1("relu", {}, {*builder.input("x", floats({0, 4}))}), "y");
  EXPECT_THAT(Library(model_of(builder.finish())).run({{}}), ElementsAre(ElementsAre()));
}

TEST(Artefact, NamesOfFilesThatOtherFilesHave) {
  EXPECT_EQ(artefact_name("resnet-50.v2"), "resnet_50_v2");
  EXPECT_EQ(artefact_name("2 layers"), "t2_layers");
  for (const char* name : {"main", "math", "string", "ctypes", "all", "clean", "shm"}) {
    EXPECT_EQ(artefact_name(name), std::string(name) + "_model");
  }
}

/// Library::run has a guard behind the memory and every output.
TEST(Artefact, MemoryIsEnough) {
  for (const std::int64_t rows : {1, 7, 64}) {
    const Library library(layers(rows));
    EXPECT_GT(library.memory_bytes(), 0U);
    const auto outputs = library.run({drawn(static_cast<std::size_t>(rows * 13), 1)});
    EXPECT_EQ(outputs[0].size(), static_cast<std::size_t>(rows * 3));
  }
}

TEST(Artefact, NothingIsReadOrWrittenOutsideOfItsPlace) {
  const TemporaryFolder folder = *TemporaryFolder::make();
  const std::string base = folder.path() + "/";
  const std::vector<std::string> sanitized = {"-fsanitize=address,undefined", "-fno-sanitize-recover=all"};
  std::vector<std::string> words = {"-std=c11", "-O1"};
  words.insert(words.end(), sanitized.begin(), sanitized.end());
  ASSERT_TRUE(write_file(base + "none.c", "int main(void) { return 0; }\n"));
  auto trial = words;
  trial.insert(trial.end(), {"-o", base + "none", base + "none.c"});
  if (!run_c_compiler(trial, 60)) GTEST_SKIP() << "the compiler has no sanitizers";
  ASSERT_TRUE(write_artefact(artefact_of(layers()), folder.path()));
  words.insert(words.end(), {"-o", base + "run", base + "main.c", base + "model.c", "-lm"});
  const auto built = run_c_compiler(words, 120);
  ASSERT_TRUE(built) << built.error().message;
  ASSERT_TRUE(write_file(base + "x", std::string(7 * 13 * 4, '\x3e')));
  const std::vector<std::string> command = {base + "run", "-n", "2", "-", base + "x", base + "z", base + "y"};
  const auto outcome = run_command(command, 60);
  ASSERT_TRUE(outcome);
  EXPECT_EQ(outcome->exit_code, 0) << outcome->text;
  EXPECT_EQ(std::filesystem::file_size(base + "z"), 7U * 3 * 4);
}

TEST(Artefact, RunsAtOnceGiveWhatRunsInTurnGive) {
  const Library library(layers(64));
  const std::vector<Numbers> inputs = {drawn(64 * 13, 1), drawn(64 * 13, 2)};
  const std::vector<std::vector<Numbers>> in_turn = {library.run({inputs[0]}), library.run({inputs[1]})};
  ASSERT_NE(in_turn[0], in_turn[1]);
  std::array<int, 2> differing = {0, 0};
  const auto run_often = [&](std::size_t which) {
    for (int i = 0; i < 200; ++i) differing[which] += library.run({inputs[which]}) == in_turn[which] ? 0 : 1;
  };
  std::thread other(run_often, std::size_t{0});
  run_often(1);
  other.join();
  EXPECT_THAT(differing, ElementsAre(0, 0));
}

TEST(Artefact, WeightsBesideTheCodeAreThoseInside) {
  GraphBuilder builder(&loaded());
  const Numbers numbers = drawn(20'000, 3);  // 80 KB: too many for the code.
  const Port w = *builder.input("w", floats({20'000}), InputKind::kWeight, constant(floats({20'000}), numbers));
  builder.output(*builder.apply1("ewadd", {}, {*builder.input("x", floats({20'000})), w}), "y");
  const Library library(model_of(builder.finish()));
  EXPECT_EQ(std::filesystem::file_size(library.path("model.weights")), 80'000U);
  EXPECT_EQ(library.run({Numbers(20'000, 0.0f)})[0], numbers);
}

TEST(Artefact, PythonRunsIt) {
  const TemporaryFolder folder = *TemporaryFolder::make();
  const std::vector<std::string> python = {"python3", "-c", "import ctypes"},
                                 make = {"make", "-C", folder.path(), "-s"};
  const auto there = run_command(python, 20);
  if (!there || there->exit_code != 0) GTEST_SKIP() << "there is no python3";
  ASSERT_TRUE(write_artefact(artefact_of(layers()), folder.path()));
  const std::string script = folder.path() + "/run.py";
  ASSERT_TRUE(write_file(script,
                         "import array, model\n"
                         "m = model.Model()\n"
                         "print([t.name.decode() for t in m.inputs + m.outputs], m.inputs[0].shape())\n"
                         "x = array.array('f', [0.5] * 91)\n"
                         "z, y = m.run(x)\n"
                         "print(len(bytes(z)), len(bytes(y)), bytes(m.run(bytes(x))[0]) == bytes(z))\n"
                         "for wrong in ([], [x, x], [b'12']):\n"
                         "  try: m.run(*wrong)\n"
                         "  except (TypeError, ValueError) as error: print(error)\n"));
  const auto built = run_command(make, 60);
  ASSERT_TRUE(built);
  ASSERT_EQ(built->exit_code, 0) << built->text;
  const std::vector<std::string> words = {"python3", "-B", script};
  const auto outcome = run_command(words, 60);
  ASSERT_TRUE(outcome);
  EXPECT_EQ(outcome->text,
            "['x', 'z', 'y'] (7, 13)\n84 140 True\nexpected 1 inputs, got 0\nexpected 1 inputs, got 2\n"
            "x: expected 364 bytes, got 2\n");
}

/// Runs a shell's words in a folder.
std::string shell(const std::string& folder, const std::string& words) {
  const std::vector<std::string> command = {"sh", "-c", "cd '" + folder + "' && " + words + " 2>&1"};
  const auto outcome = run_command(command, 120);
  return outcome ? fmt::format("{}exit {}", outcome->text, outcome->exit_code) : outcome.error().message;
}

TEST(Artefact, IsInstalledAndFoundByCMakeAndUsedFromCpp) {
  const TemporaryFolder folder = *TemporaryFolder::make();
  const std::string base = folder.path();
  for (const char* part : {"model", "user"}) std::filesystem::create_directory(base + "/" + part);
  ASSERT_TRUE(write_artefact(artefact_of(layers()), base + "/model"));
  EXPECT_THAT(shell(base,
                    "cmake -S model -B built -DCMAKE_INSTALL_PREFIX=$PWD/there && cmake --build built && "
                    "cmake --install built"),
              HasSubstr("exit 0"));
  ASSERT_TRUE(write_file(base + "/user/CMakeLists.txt",
                         "cmake_minimum_required(VERSION 3.16)\nproject(user CXX)\nfind_package(model REQUIRED)\n"
                         "set(CMAKE_CXX_STANDARD 17)\nadd_executable(user user.cpp)\n"
                         "target_compile_options(user PRIVATE -Wall -Wextra -Wpedantic -Werror)\n"
                         "target_link_libraries(user model::model_model)\n"));
  ASSERT_TRUE(write_file(base + "/user/user.cpp", R"(#include <cstdio>
#include <cstring>
#include <model.hpp>
int main() {
  const rewright_models::model model;
  const std::vector<float> x(91, 0.5f);
  const auto outputs = model.run({{x.data(), x.size() * sizeof(float)}});
  float first;
  std::memcpy(&first, outputs[0].data(), sizeof first);
  std::printf("%zu %zu %.6f\n", outputs[0].size(), outputs[1].size(), first);
  try {
    model.run({{x.data(), 12}});
  } catch (const std::invalid_argument &error) {
    std::printf("%s\n", error.what());
  }
  try {
    model.run({});
  } catch (const std::invalid_argument &error) {
    std::printf("%s\n", error.what());
  }
}
)"));
  EXPECT_THAT(shell(base, "cmake -S user -B user/built -DCMAKE_PREFIX_PATH=$PWD/there && cmake --build user/built"),
              HasSubstr("exit 0"));
  const Library library(layers());
  const float first = library.run({Numbers(91, 0.5f)})[0][0];
  EXPECT_EQ(
      shell(base, "user/built/user"),
      fmt::format("84 140 {:.6f}\nx: expected 364 bytes, got 12\nmodel: expected 1 inputs, got 0\nexit 0", first));
}

TEST(Artefact, AWheelHoldsAllThatPythonNeeds) {
  const TemporaryFolder folder = *TemporaryFolder::make();
  ASSERT_TRUE(write_artefact(artefact_of(layers()), folder.path()));
  if (shell(folder.path(), "python3 -c 'import ctypes'") != "exit 0") GTEST_SKIP() << "there is no python3";
  EXPECT_THAT(shell(folder.path(), "make -s wheel"), HasSubstr("exit 0"));
  EXPECT_THAT(
      shell(folder.path(),
            "mkdir away && python3 -m zipfile -e model-1.0-*.whl away && cd away && python3 -B -c "
            "'import model; print(len(bytes(model.Model().run(bytes(364))[0])))' && "
            "cut -d, -f1 model-1.0.dist-info/RECORD"),
      ::testing::AllOf(::testing::StartsWith("84\nmodel/__init__.py\nmodel/libmodel.so\n"), HasSubstr("exit 0")));
}

TEST(Artefact, IsANodeOfOnnxRuntime) {
  const Runtime* runtime = loaded().find<Runtime>("onnxruntime");
  if (runtime == nullptr || !runtime->version()) GTEST_SKIP() << "there is no ONNX Runtime";
  const TemporaryFolder folder = *TemporaryFolder::make();
  const Library library(layers());
  ASSERT_TRUE(write_artefact(artefact_of(layers()), folder.path()));
  ASSERT_THAT(shell(folder.path(), "make -s libmodel_ort.so CFLAGS='-std=gnu11 -O1 -Wall -Wextra -Werror'"),
              HasSubstr("exit 0"));
  const auto model = read_file(folder.path() + "/model.onnx");
  ASSERT_TRUE(model);
  const auto bytes = std::as_bytes(std::span(*model));
  EXPECT_FALSE(runtime->load(bytes, {})) << "without the library it has no such operator";
  ::setenv("REWRIGHT_ONNXRUNTIME_OPERATORS", (folder.path() + "/libmodel_ort.so").c_str(), 1);
  auto session = runtime->load(bytes, {});
  ::unsetenv("REWRIGHT_ONNXRUNTIME_OPERATORS");
  ASSERT_TRUE(session) << session.error().message;
  const Numbers x = drawn(91, 3);
  const auto data = std::as_bytes(std::span(x));
  const RuntimeTensor input{"x", floats({7, 13}), {data.begin(), data.end()}};
  const auto outputs = (*session)->run({&input, 1});
  ASSERT_TRUE(outputs) << outputs.error().message;
  const auto expected = library.run({x});
  ASSERT_EQ(outputs->size(), 2);
  for (std::size_t i = 0; i < 2; ++i) {
    const auto& got = (*outputs)[i].bytes;
    ASSERT_EQ(got.size(), expected[i].size() * sizeof(float));
    EXPECT_EQ(std::memcmp(got.data(), expected[i].data(), got.size()), 0) << (*outputs)[i].name;
  }
  const RuntimeTensor wrong{"x", floats({7, 13}), std::vector<std::byte>(8)};
  EXPECT_FALSE((*session)->run({&wrong, 1}));
}

}  // namespace
