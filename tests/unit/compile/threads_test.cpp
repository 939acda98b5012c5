// Code with parallel loops gives what one thread gives, to the bit, however its threads sleep, start, end and are
// shared.
#include <gmock/gmock.h>

#include <chrono>
#include <cmath>
#include <filesystem>
#include <thread>

#include "compiled_graph.h"

namespace {

using namespace rewright;
using namespace rewright::compile;
using namespace rewright::compile::testing;
using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::Not;

using Numbers = std::vector<float>;
using List = std::vector<std::int64_t>;
constexpr const char* kDialect = "vectors-portable";

Numbers drawn(std::int64_t count, std::uint64_t seed) {
  Numbers numbers(static_cast<std::size_t>(count));
  for (std::size_t i = 0; i < numbers.size(); ++i) numbers[i] = std::sin(static_cast<float>(i * 7 + seed * 131));
  return numbers;
}

/// Convolutions, a pooling, a product and a softmax, each with enough to do for more than one thread; `blocks` of them
/// one after the other.
ImportedModel network(int blocks = 1) {
  GraphBuilder builder(&loaded());
  const auto weight = [&](const std::string& name, const Shape& shape) {
    Numbers numbers = drawn(shape.elements(), name.size() + 3);
    for (float& number : numbers) number /= 8;
    return *builder.input(name, floats(shape), InputKind::kWeight, constant(floats(shape), numbers));
  };
  Port x = *builder.input("x", floats({1, 8, 19, 23}));
  for (int b = 0; b < blocks; ++b) {
    const std::string name = fmt::format("w{}", b);
    x = *builder.apply1(
        "relu", {}, {*builder.apply1("conv2d", {{"padding", std::string("same")}}, {x, weight(name, {8, 8, 3, 3})})});
    x = *builder.apply1("pool2d_max", {{"kernel", List{3, 3}}, {"padding", std::string("same")}}, {x});
    builder.output(x, fmt::format("y{}", b));
  }
  const Port rows = *builder.apply1("reshape", {{"sizes", List{8 * 19, 23}}}, {x});
  const Port product = *builder.apply1("matmul", {}, {rows, weight("v", {23, 64})});
  builder.output(*builder.apply1("softmax", {{"axis", std::int64_t{1}}}, {product}), "z");
  return model_of(builder.finish());
}

const Numbers& input() {
  static const Numbers numbers = drawn(8 * 19 * 23, 1);
  return numbers;
}

std::ptrdiff_t threads_here() {
  return std::distance(std::filesystem::directory_iterator("/proc/self/task"), std::filesystem::directory_iterator());
}
/// In the end: who was joined may be listed for a moment more.
std::ptrdiff_t threads_left(std::ptrdiff_t expected) {
  for (int i = 0; i < 1000 && threads_here() != expected; ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  return threads_here();
}

TEST(Threads, GiveWhatOneGives) {
  const ImportedModel model = network();
  const auto expected = Library(model, kDialect).run({input()});
  ASSERT_EQ(expected, Library(model, kDialect, 1).run({input()}));
  const auto plain = Library(model).run({input()});
  for (std::size_t i = 0; i < plain.back().size(); ++i) ASSERT_NEAR(expected.back()[i], plain.back()[i], 1e-4F);
  for (const int threads : {2, 3, 7}) {
    const Library library(model, kDialect, threads);
    for (int i = 0; i < 20; ++i) ASSERT_EQ(library.run({input()}), expected) << threads << " threads, run " << i;
  }
}

TEST(Threads, SleepBetweenRunsAndAreWoken) {
  const ImportedModel model = network();
  const auto expected = Library(model, kDialect).run({input()});
  const Library library(model, kDialect, 3);
  for (const int pause_us : {20, 60, 500, 5000, 40, 80}) {
    std::this_thread::sleep_for(std::chrono::microseconds(pause_us));
    ASSERT_EQ(library.run({input()}), expected) << "after " << pause_us << " us";
  }
}

TEST(Threads, AreSaidInTheHeaderAndTheFlags) {
  const Artefact one = artefact_of(network(), "model", kDialect, 1),
                 four = artefact_of(network(), "model", kDialect, 4);
  EXPECT_THAT(one.flags, Not(Contains("-pthread")));
  EXPECT_THAT(one.files.at("model.c"), Not(HasSubstr("pthread")));
  EXPECT_THAT(one.files.at("model.h"), HasSubstr("There is no global state."));
  EXPECT_THAT(four.flags, Contains("-pthread"));
  EXPECT_THAT(four.files.at("model.c"), HasSubstr("run_parallel("));
  EXPECT_THAT(four.files.at("model.h"), HasSubstr("a pool of 3 threads beside the caller"));
}

TEST(Threads, AreThereFromTheFirstOpenToTheLastClose) {
  const auto before = threads_here();
  {
    Library library(network(), kDialect, 4);
    const auto expected = library.run({input()});
    EXPECT_EQ(threads_left(before + 3), before + 3);
    Library::Weights second{};
    ASSERT_EQ(library.open(second), 0);
    EXPECT_EQ(threads_left(before + 3), before + 3);
    library.close(library.weights());
    EXPECT_EQ(threads_left(before + 3), before + 3) << "others have it open";
    std::swap(library.weights(), second);
    EXPECT_EQ(library.run({input()}), expected);
    for (int i = 0; i < 20; ++i) {
      library.close(library.weights());
      EXPECT_EQ(threads_left(before), before);
      ASSERT_EQ(library.open(library.weights()), 0);
      ASSERT_EQ(library.run({input()}), expected) << "opened " << i + 2 << " times";
    }
  }
  EXPECT_EQ(threads_left(before), before);
}

TEST(Threads, AreNotStartedForWeightsThatCannotBeOpened) {
  GraphBuilder builder(&loaded());
  const Port w =
      *builder.input("w", floats({256, 256}), InputKind::kWeight, constant(floats({256, 256}), drawn(65536, 2)));
  builder.output(*builder.apply1("matmul", {}, {*builder.input("x", floats({64, 256})), w}), "y");
  const auto before = threads_here();
  Library library(model_of(builder.finish()), kDialect, 2);
  ASSERT_TRUE(std::filesystem::exists(library.path("model.weights")));
  ASSERT_EQ(threads_here(), before + 1);
  library.close(library.weights());
  EXPECT_EQ(threads_left(before), before);
  std::filesystem::resize_file(library.path("model.weights"), 5);
  EXPECT_EQ(library.open(library.weights()), 1);
  EXPECT_EQ(threads_left(before), before);
  library.close(library.weights());
}

TEST(Threads, OfTwoCallersAtOnce) {
  const ImportedModel model = network();
  const Library library(model, kDialect, 2), other(model, kDialect, 3);
  const std::vector<Numbers> inputs = {input(), drawn(8 * 19 * 23, 5)};
  const std::vector<std::vector<Numbers>> expected = {library.run({inputs[0]}), library.run({inputs[1]})};
  ASSERT_NE(expected[0], expected[1]);
  std::array<int, 3> differing = {};
  const auto run_often = [&](const Library& which, std::size_t thread, std::size_t given) {
    for (int i = 0; i < 60; ++i) differing[thread] += which.run({inputs[given]}) == expected[given] ? 0 : 1;
  };
  std::thread second([&] { run_often(library, 1, 1); }), third([&] { run_often(other, 2, 1); });
  run_often(library, 0, 0);
  second.join();
  third.join();
  EXPECT_THAT(differing, ::testing::ElementsAre(0, 0, 0));
}

/// The program of the artefact, under a sanitizer, over a chain of many short loops.
TEST(Threads, HaveNoRaces) {
  const TemporaryFolder folder = *TemporaryFolder::make();
  const std::string base = folder.path() + "/";
  const std::vector<std::string> sanitized = {"-fsanitize=thread", "-O1", "-g"};
  ASSERT_TRUE(write_file(base + "none.c", "int main(void) { return 0; }\n"));
  auto trial = sanitized;
  trial.insert(trial.end(), {"-o", base + "none", base + "none.c"});
  const std::vector<std::string> none = {base + "none"};
  const bool can = run_c_compiler(trial, 60) && run_command(none, 20) && run_command(none, 20)->exit_code == 0;
  if (!can) GTEST_SKIP() << "there is no sanitizer of threads here";
  const Artefact artefact = artefact_of(network(3), "model", kDialect, 3);
  ASSERT_TRUE(write_artefact(artefact, folder.path()));
  auto words = artefact.flags;
  words.insert(words.end(), sanitized.begin(), sanitized.end());
  words.insert(words.end(), {"-o", base + "run", base + "main.c", base + "model.c", "-lm"});
  const auto built = run_c_compiler(words, 120);
  ASSERT_TRUE(built) << built.error().message;
  ASSERT_TRUE(write_file(base + "x", {reinterpret_cast<const char*>(input().data()), input().size() * sizeof(float)}));
  std::vector<std::string> command = {base + "run", "-n", "30", "-", base + "x"};
  for (std::size_t i = 0; i < artefact.versions.front().outputs.size(); ++i)
    command.push_back(base + fmt::format("out{}", i));
  const auto outcome = run_command(command, 120);
  ASSERT_TRUE(outcome);
  EXPECT_EQ(outcome->exit_code, 0) << outcome->text << outcome->first_error_line();
}

}  // namespace
