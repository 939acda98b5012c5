// An artefact for several sizes: each version computes what code for its sizes alone computes, in every language, over
// the same weights; sizes that it was not compiled for are refused.
#include <rewright/onnx/runtime.h>

#include <gmock/gmock.h>

#include <cmath>
#include <cstdlib>
#include <cstring>
#include <deque>

#include "compiled_graph.h"

namespace {

using namespace rewright;
using namespace rewright::compile;
using namespace rewright::compile::testing;
using ::testing::HasSubstr;

using Numbers = std::vector<float>;
constexpr std::int64_t kRows[] = {1, 7, 260};

/// tanh(relu(x w) v + b) of some rows; the weight is large enough to lie beside the code if `large`.
ImportedModel layers(std::int64_t rows, bool large) {
  GraphBuilder builder(&loaded());
  const std::int64_t inner = large ? 2048 : 24;
  const auto weight = [&](const char* name, Shape shape) {
    Numbers numbers(static_cast<std::size_t>(shape.elements()));
    for (std::size_t i = 0; i < numbers.size(); ++i) numbers[i] = static_cast<float>(i % 7) * 0.25f - 0.75f;
    return *builder.input(name, floats(shape), InputKind::kWeight, constant(floats(shape), numbers));
  };
  const Port x = *builder.input("x", floats({rows, 13}));
  const Port hidden = *builder.apply1("relu", {}, {*builder.apply1("matmul", {}, {x, weight("w", {13, inner})})});
  const Port y = *builder.apply1("matmul", {}, {hidden, weight("v", {inner, 5})});
  builder.output(*builder.apply1("tanh", {}, {y}), "y");
  return model_of(builder.finish());
}

Numbers drawn(std::int64_t rows) {
  Numbers numbers(static_cast<std::size_t>(rows * 13));
  for (std::size_t i = 0; i < numbers.size(); ++i) numbers[i] = std::sin(static_cast<float>(i * 7 + 1));
  return numbers;
}

Artefact family(const std::string& dialect, int threads = 1, bool large = false) {
  const auto target = loaded().get<Target>("c");
  const auto instructions = tune::instruction_set(dialect);
  if (!target || !instructions) fail("no target");
  std::deque<ImportedModel> models;
  std::deque<Kernels> kernels;
  std::vector<ModelVersion> versions;
  for (const std::int64_t rows : kRows) {
    const ImportedModel& model = models.emplace_back(layers(rows, large));
    kernels.push_back(kernels_of_model(model));
    if (*instructions != nullptr) {
      auto made = scheduled(model.graph, kernels.back(), (*instructions)->unit, threads);
      if (!made) fail(made.error().message);
      kernels.back() = *std::move(made);
    }
    versions.push_back({&model.graph, &model.external, &kernels.back(), {{"rows", rows}}});
  }
  auto artefact = make_artefact("model", versions, **target, *instructions);
  if (!artefact) fail(artefact.error().message);
  return *std::move(artefact);
}

std::string shell(const std::string& folder, const std::string& words) {
  const std::vector<std::string> command = {"sh", "-c", "cd '" + folder + "' && " + words + " 2>&1"};
  const auto outcome = run_command(command, 120);
  return outcome ? fmt::format("{}exit {}", outcome->text, outcome->exit_code) : outcome.error().message;
}

std::string raw(const Numbers& numbers) {
  return {reinterpret_cast<const char*>(numbers.data()), numbers.size() * sizeof(float)};
}

struct Form {
  const char* dialect;
  int threads;
  bool large;
};
class OpenSizes : public ::testing::TestWithParam<Form> {};

TEST_P(OpenSizes, ComputeWhatCodeForEachAloneDoes) {
  const auto [dialect, threads, large] = GetParam();
  const TemporaryFolder folder = *TemporaryFolder::make();
  const Artefact artefact = family(dialect, threads, large);
  ASSERT_EQ(artefact.versions.size(), std::size(kRows));
  ASSERT_TRUE(write_artefact(artefact, folder.path()));
  const std::string flags =
      fmt::format("{} -Wall -Wextra -Werror -Wno-unused-parameter", fmt::join(artefact.flags, " "));
  ASSERT_EQ(shell(folder.path(), "make -s CFLAGS='" + flags + "'"), "exit 0");
  for (const std::int64_t rows : kRows) {
    const Library alone(layers(rows, large), dialect, threads);
    ASSERT_TRUE(write_file(folder.path() + "/x", raw(drawn(rows))));
    const std::string weights = large ? "model.weights" : "-";
    ASSERT_EQ(shell(folder.path(), fmt::format("./model {} {} x y", rows, weights)), "exit 0");
    EXPECT_EQ(*read_file(folder.path() + "/y"), raw(alone.run({drawn(rows)})[0])) << rows;
  }
  EXPECT_THAT(shell(folder.path(), "./model 8 - x y"), HasSubstr("not compiled for such sizes; see model.h\nexit 2"));
}

INSTANTIATE_TEST_SUITE_P(Dialects, OpenSizes,
                         ::testing::Values(Form{"c11", 1, false}, Form{"c11", 1, true},
                                           Form{"vectors-portable", 1, false}, Form{"vectors-portable", 3, true}));

TEST(OpenSizes, HaveEachWeightOnce) {
  const Artefact all = family("c11");
  const Artefact one = artefact_of(layers(7, false));
  EXPECT_EQ(all.weight_bytes, one.weight_bytes);
  EXPECT_EQ(all.memory_bytes(), artefact_of(layers(260, false)).memory_bytes());
}

TEST(OpenSizes, ThatAreNotThereAreACodeAndNoCrash) {
  const TemporaryFolder folder = *TemporaryFolder::make();
  ASSERT_TRUE(write_artefact(family("c11"), folder.path()));
  ASSERT_TRUE(write_file(folder.path() + "/user.c", R"(#include "model.h"
#include <stdio.h>
int main(void) {
  for (int version = -1; version <= 3; version += 4)
    printf("%d %d %zu %d\n", model_run(version, NULL, NULL, NULL, NULL), model_check(version, NULL),
           model_memory_bytes(version), model_input(version, 0) == NULL);
}
)"));
  EXPECT_EQ(shell(folder.path(), "make -s libmodel.so && cc -o user user.c libmodel.so -Wl,-rpath,. && ./user"),
            "2 -1 0 1\n2 -1 0 1\nexit 0");
}

TEST(OpenSizes, AreChosenInPython) {
  const TemporaryFolder folder = *TemporaryFolder::make();
  if (shell(folder.path(), "python3 -c 'import ctypes'") != "exit 0") GTEST_SKIP() << "there is no python3";
  ASSERT_TRUE(write_artefact(family("c11"), folder.path()));
  ASSERT_EQ(shell(folder.path(), "make -s libmodel.so"), "exit 0");
  ASSERT_TRUE(write_file(folder.path() + "/run.py",
                         "import model\n"
                         "for rows in (1, 7, 260):\n"
                         "  m = model.Model(rows=rows)\n"
                         "  print(m.inputs[0].shape(), len(bytes(m.run(bytes(rows * 13 * 4))[0])))\n"
                         "for wrong in ({}, {'rows': 8}, {'columns': 1}):\n"
                         "  try: model.Model(**wrong)\n"
                         "  except (TypeError, ValueError) as error: print(error)\n"
                         "try: m.run(bytes(52))\n"
                         "except ValueError as error: print(error)\n"));
  EXPECT_EQ(
      shell(folder.path(), "python3 -B run.py"),
      "(1, 13) 20\n(7, 13) 140\n(260, 13) 5200\nexpected the sizes rows, got none\nthe model was not compiled for "
      "these sizes\nexpected the sizes rows, got columns\nx: expected 13520 bytes, got 52\nexit 0");
}

TEST(OpenSizes, AreChosenInCpp) {
  const TemporaryFolder folder = *TemporaryFolder::make();
  ASSERT_TRUE(write_artefact(family("c11"), folder.path()));
  ASSERT_TRUE(write_file(folder.path() + "/user.cpp", R"(#include "model.hpp"
#include <cstdio>
int main() {
  for (const int rows : {1, 260}) {
    const rewright_models::model model("", rows);
    const std::vector<float> x(static_cast<std::size_t>(rows * 13));
    std::printf("%zu\n", model.run({{x.data(), x.size() * sizeof(float)}})[0].size());
  }
  try {
    const rewright_models::model model("", 2);
  } catch (const std::invalid_argument &error) {
    std::printf("%s\n", error.what());
  }
}
)"));
  EXPECT_EQ(shell(folder.path(),
                  "make -s libmodel.so && c++ -std=c++17 -Wall -Wextra -Werror -o user user.cpp libmodel.so "
                  "-Wl,-rpath,. && ./user"),
            "20\n5200\nmodel: it was not compiled for these sizes\nexit 0");
}

TEST(OpenSizes, AreThoseOfInputsInOnnxRuntime) {
  const Runtime* runtime = loaded().find<Runtime>("onnxruntime");
  if (runtime == nullptr || !runtime->version()) GTEST_SKIP() << "there is no ONNX Runtime";
  const TemporaryFolder folder = *TemporaryFolder::make();
  ASSERT_TRUE(write_artefact(family("c11"), folder.path()));
  ASSERT_EQ(shell(folder.path(), "make -s libmodel_ort.so CFLAGS='-std=gnu11 -O1 -Wall -Wextra -Werror'"), "exit 0");
  const auto model = read_file(folder.path() + "/model.onnx");
  ASSERT_TRUE(model);
  ::setenv("REWRIGHT_ONNXRUNTIME_OPERATORS", (folder.path() + "/libmodel_ort.so").c_str(), 1);
  auto session = runtime->load(std::as_bytes(std::span(*model)), {});
  ::unsetenv("REWRIGHT_ONNXRUNTIME_OPERATORS");
  ASSERT_TRUE(session) << session.error().message;
  const auto run = [&](std::int64_t rows) {
    const Numbers x = drawn(rows);
    const auto data = std::as_bytes(std::span(x));
    const RuntimeTensor input{"x", floats({rows, 13}), {data.begin(), data.end()}};
    return (*session)->run({&input, 1});
  };
  for (const std::int64_t rows : kRows) {
    const auto outputs = run(rows);
    ASSERT_TRUE(outputs) << outputs.error().message;
    const std::string expected = raw(Library(layers(rows, false)).run({drawn(rows)})[0]);
    const auto& got = outputs->front().bytes;
    ASSERT_EQ(got.size(), expected.size());
    EXPECT_EQ(std::memcmp(got.data(), expected.data(), got.size()), 0) << rows;
    EXPECT_EQ(outputs->front().type.shape, Shape({rows, 5}));
  }
  const auto wrong = run(8);
  ASSERT_FALSE(wrong);
  EXPECT_THAT(wrong.error().message, HasSubstr("input x has sizes that it was not compiled for"));
}

}  // namespace
