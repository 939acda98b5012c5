// A file of weights without zeros whose indices were changed: a sentence, never a crash, and no silent nonsense where
// an index cannot be.
#include <rewright/base/mixing.h>

#include <gmock/gmock.h>

#include <cstring>
#include <limits>

#include "compile/sparse_weights.h"
#include "compile/weights_file.h"
#include "compiled_graph.h"

namespace {

using namespace rewright;
using namespace rewright::compile;
using namespace rewright::compile::testing;

using Kind = SparsePart::Kind;

constexpr std::int64_t kChannels = 64, kFilters = 128, kImage = 10;
constexpr int kEvery = 5;  ///< Of the weight's elements one is not 0.

/// Too many weights for the code: they lie in a file.
ImportedModel pruned_convolution() {
  const TensorType type = floats({kFilters, kChannels, 3, 3});
  std::vector<float> numbers(static_cast<std::size_t>(type.shape.elements()));
  Random random(3);
  for (float& number : numbers)
    if (random.one_in(kEvery)) number = static_cast<float>(random.between(1, 9)) / 8;
  GraphBuilder builder(&loaded());
  const Port x = *builder.input("x", floats({1, kChannels, kImage, kImage}));
  const Port w = *builder.input("w", type, InputKind::kWeight, constant(type, numbers));
  builder.output((*builder.apply("conv2d", std::vector<NamedParam>(), {x, w}, "c"))[0], "y");
  return model_of(builder.finish());
}

/// The program of an artefact over a file that tests change, with the compiler's sanitizers where there are some.
class DamagedWeights : public ::testing::Test {
 protected:
  void SetUp() override {
    const ImportedModel model = pruned_convolution();
    const auto& value = model.graph.node(NodeId{1}).constant();
    const auto& bytes = std::get<std::vector<std::byte>>(value->value);
    std::vector<float> numbers(bytes.size() / sizeof(float));
    std::memcpy(numbers.data(), bytes.data(), bytes.size());
    const WeightWishes wishes = {{Port{NodeId{1}, 0}, {WeightWish::Layout::kChannelsFirst, count_nonzeros(numbers)}}};
    artefact_ = artefact_of(model, "model", "vectors-portable", 1, {}, wishes);
    ASSERT_TRUE(write_artefact(artefact_, folder_.path()));
    std::vector<std::string> words = artefact_.flags;
    words.insert(words.end(), {"-O1", "-g", "-o", path("run"), path("main.c"), path("model.c"), "-lm"});
    std::vector<std::string> sanitized = words;
    sanitized.insert(sanitized.end(), {"-fsanitize=address,undefined", "-fno-sanitize-recover=all"});
    ASSERT_TRUE(write_file(path("x"), std::string(kChannels * kImage * kImage * sizeof(float), '\x3e')));
    if (!run_c_compiler(sanitized, 120) || run().exit_code != 0) {
      ASSERT_TRUE(run_c_compiler(words, 120));
    }
    whole_ = *read_file(path("model.weights"));
    ASSERT_EQ(run().exit_code, 0) << run().text;
  }

  [[nodiscard]] std::string path(const std::string& file) const { return folder_.path() + "/" + file; }
  [[nodiscard]] CommandOutcome run() const {
    const std::vector<std::string> words = {
        "env", "ASAN_OPTIONS=detect_leaks=0", path("run"), path("model.weights"), path("x"), path("y")};
    return *run_command(words, 60);
  }
  [[nodiscard]] std::string sentence() const {
    return path("model.weights") + ": an index in it is out of its range: the file is damaged\n";
  }

  /// Where an array of the weight begins in the file.
  [[nodiscard]] std::size_t begin_of(Kind kind) const {
    for (const PlacedWeight& weight : artefact_.weights)
      if (weight.packing && weight.packing->form.sparse && weight.packing->form.sparse->kind == kind)
        return static_cast<std::size_t>(weight.offset);
    ADD_FAILURE() << "there is no such array";
    return 0;
  }
  [[nodiscard]] std::int32_t number(Kind kind, std::size_t i) const {
    std::int32_t found;
    std::memcpy(&found, &whole_[begin_of(kind) + i * sizeof found], sizeof found);
    return found;
  }
  [[nodiscard]] std::size_t elements() const { return static_cast<std::size_t>(number(Kind::kRows, kFilters)); }
  [[nodiscard]] std::int64_t bytes_of_a_place() const {
    for (const PlacedWeight& weight : artefact_.weights)
      if (weight.packing && weight.packing->form.sparse && weight.packing->form.sparse->kind == Kind::kPlaces)
        return weight.packing->element_bytes;
    return 0;
  }
  /// What the program says of a file with these bytes.
  [[nodiscard]] CommandOutcome run_with(const std::string& bytes) const {
    EXPECT_TRUE(write_file(path("model.weights"), bytes));
    return run();
  }
  template <class Index>
  [[nodiscard]] CommandOutcome run_with(Kind kind, std::size_t i, Index other) const {
    std::string bytes = whole_;
    std::memcpy(&bytes[begin_of(kind) + i * sizeof other], &other, sizeof other);
    return run_with(bytes);
  }
  void expect_refused(const CommandOutcome& outcome, const std::string& what) const {
    EXPECT_EQ(outcome.exit_code, 1) << what;
    EXPECT_EQ(outcome.text, sentence()) << what;
  }

  Artefact artefact_;
  TemporaryFolder folder_ = *TemporaryFolder::make();
  std::string whole_;
};

TEST_F(DamagedWeights, WithPlacesOrRowsOutOfRangeAreRefused) {
  Random random(7);
  constexpr std::int32_t kLeast = std::numeric_limits<std::int32_t>::min(),
                         kMost = std::numeric_limits<std::int32_t>::max();
  EXPECT_EQ(bytes_of_a_place(), 2);
  constexpr std::uint16_t kMostShort = std::numeric_limits<std::uint16_t>::max();
  for (int i = 0; i < 8; ++i) {
    const std::int32_t wrong = random.pick(std::vector<std::int32_t>{kLeast, -1, 1 << 24, kMost});
    const std::uint16_t far = random.pick(std::vector<std::uint16_t>{10'000, 1 << 15, kMostShort});
    const std::size_t place = random.below(elements()), row = random.below(kFilters + 1);
    expect_refused(run_with(Kind::kPlaces, place, far), fmt::format("place {}: {}", place, far));
    expect_refused(run_with(Kind::kRows, row, wrong), fmt::format("row {}: {}", row, wrong));
  }
  for (const std::size_t last : {elements() - 1, std::size_t{0}})
    expect_refused(run_with(Kind::kPlaces, last, kMostShort), "the ends of the places");
  expect_refused(run_with(Kind::kRows, kFilters, number(Kind::kRows, kFilters) + 1), "one element too many");
}

TEST_F(DamagedWeights, WithRowsThatDecreaseAreRefused) {
  Random random(8);
  for (int i = 0; i < 8; ++i) {
    const std::size_t row = 1 + random.below(kFilters - 1);
    const std::int32_t before = number(Kind::kRows, row - 1), after = number(Kind::kRows, row + 1);
    if (before > 0) expect_refused(run_with(Kind::kRows, row, before - 1), fmt::format("row {} before the last", row));
    expect_refused(run_with(Kind::kRows, row, after + 1), fmt::format("row {} behind the next", row));
  }
}

TEST_F(DamagedWeights, NeverCrash) {
  Random random(9);
  int refused = 0;
  for (int i = 0; i < 60; ++i) {
    std::string bytes = whole_;
    for (std::size_t changes = 1 + random.below(3); changes > 0; --changes)
      bytes[random.below(bytes.size())] = static_cast<char>(random.bits());
    const CommandOutcome outcome = run_with(bytes);
    EXPECT_TRUE(outcome.exit_code == 0 || (outcome.exit_code == 1 && outcome.text == sentence()))
        << i << ": " << outcome.exit_code << ": " << outcome.text;
    refused += outcome.exit_code;
  }
  EXPECT_GT(refused, 5);
}

TEST_F(DamagedWeights, OfAnotherSizeAreNotOpened) {
  for (const std::string& bytes : {whole_.substr(4), whole_ + "more", std::string()}) {
    const CommandOutcome outcome = run_with(bytes);
    EXPECT_EQ(outcome.exit_code, 1);
    EXPECT_EQ(outcome.text, path("model.weights") + ": these are not the weights\n");
  }
}

}  // namespace
