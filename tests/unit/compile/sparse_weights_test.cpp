// Sums over what is left of a weight without its zeros: the same to the last digit where numbers have no rounding.
#include "compile/sparse_weights.h"

#include <rewright/base/mixing.h>

#include <gmock/gmock.h>

#include <cstring>

#include "compile/parallel_loops.h"
#include "loop/interpreter.h"
#include "loop/validator.h"
#include "support/random_definitions.h"

namespace {

using namespace rewright;
using namespace rewright::compile;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

loop::Program program_of(std::string_view text) {
  auto program = loop::parse_program(text);
  EXPECT_TRUE(program) << program.error().message;
  return *std::move(program);
}
BufferId named(const loop::Program& program, const std::string& name) {
  const auto at = std::ranges::find(program.buffers, name, &Buffer::name);
  return {static_cast<std::uint32_t>(at - program.buffers.begin())};
}
std::vector<std::int64_t> sizes_of(const Buffer& buffer) {
  std::vector<std::int64_t> sizes;
  for (const IndexExpr& size : buffer.sizes) sizes.push_back(*size.number());
  return sizes;
}
std::int64_t count_of(const Buffer& buffer) { return *loop::element_count(buffer); }

/// A convolution of groups with something made of the sum, over an image with zeros around it.
struct Convolution {
  std::int64_t batch = 1, groups = 1, in = 4, out = 4, kernel = 3, dilation = 1, rows = 5, columns = 6;
  bool is_direct = false;
  [[nodiscard]] std::string text() const {
    const std::int64_t reach = dilation * (kernel - 1), out_group = out / groups, in_group = in / groups;
    const std::string update =
        fmt::format("x[y.n, floor(y.o / {}) * {} + y.c, y.i + y.s * {}, y.j + y.t * {}] * w[y.o, y.c, y.s, y.t]",
                    out_group, in_group, dilation, dilation);
    const std::string sums = is_direct ? "y[y.n, y.o, y.i, y.j]" : "sum[]";
    return fmt::format(
        "buffer x[{0}, {1}, {2}, {3}] float32 in buffer w[{4}, {5}, {6}, {6}] float32 weight\n"
        "buffer z[{0}, {4}, {7}, {8}] float32 in buffer y[{0}, {4}, {7}, {8}] float32 out {9}\n"
        "for y.n {0} serial {{ for y.o {4} serial {{ for y.i {7} serial {{ for y.j {8} serial {{\n"
        "store {10} = 0 for y.c {5} serial {{ for y.s {6} serial {{ for y.t {6} serial {{ store {10} += {11} }} }} }}\n"
        "{12} }} }} }} }}",
        batch, in, rows + reach, columns + reach, out, in_group, kernel, rows, columns,
        is_direct ? "" : "buffer sum[] float32 temporary", sums, update,
        is_direct ? "" : "store y[y.n, y.o, y.i, y.j] = max(sum[], 0) + z[y.n, y.o, y.i, y.j]");
  }
};

std::vector<float> weight_of(Random& random, std::int64_t count, std::int64_t density) {
  std::vector<float> weight(static_cast<std::size_t>(count));
  for (float& number : weight)
    if (random.below(100) < static_cast<std::uint64_t>(density)) number = static_cast<float>(random.between(1, 9));
  weight[static_cast<std::size_t>(random.below(weight.size()))] = -3;
  return weight;
}
template <class From>
std::vector<Field> numbers_in(const std::vector<std::byte>& bytes) {
  std::vector<Field> numbers;
  for (std::size_t at = 0; at < bytes.size(); at += sizeof(From)) {
    From number;
    std::memcpy(&number, &bytes[at], sizeof number);
    numbers.push_back(Field::from_integer(static_cast<std::int64_t>(number)));
  }
  return numbers;
}

/// What y is, by the prime field; `part_of` gives what stands for the weight.
std::vector<Field> computed(const loop::Program& program, const std::vector<float>& weight,
                            std::span<const std::int64_t> sizes, const SparseProgram* sparse) {
  loop::Contents<Field> contents(program.buffers.size());
  for (std::size_t b = 0; b < program.buffers.size(); ++b) {
    const Buffer& buffer = program.buffers[b];
    if (buffer.role == BufferRole::kOutput || buffer.role == BufferRole::kTemporary) continue;
    if (buffer.name == "w") {
      for (const float number : weight) contents[b].push_back(Field::from_integer(static_cast<std::int64_t>(number)));
    } else if (buffer.role == BufferRole::kInput) {
      for (std::int64_t i = 0; i < count_of(buffer); ++i)
        contents[b].push_back(Field::from_integer(i * 7 % 31 - 11 + buffer.name[0]));
    } else {
      const auto part = std::ranges::find(sparse->parts, buffer.name, [](const auto& each) { return each.first; });
      const std::vector<std::byte> bytes = bytes_of(part->second, weight, sizes);
      contents[b] = part->second.kind == SparsePart::Kind::kValues ? numbers_in<float>(bytes)
                    : buffer.element == ElementType::kUint16       ? numbers_in<std::uint16_t>(bytes)
                                                                   : numbers_in<std::int32_t>(bytes);
    }
  }
  const Status status = interpret(program, contents);
  EXPECT_TRUE(status) << status.error().message << "\n" << to_string(program);
  return contents[named(program, "y").value];
}

void expect_the_same(const Convolution& convolution, Random& random, const schedule::VectorUnit& unit) {
  const loop::Program plain = program_of(convolution.text());
  const BufferId w = named(plain, "w");
  const std::vector<std::int64_t> sizes = sizes_of(plain[w]);
  const std::vector<float> weight = weight_of(random, count_of(plain[w]), 20);
  const auto made = with_sparse_weight(plain, w, count_nonzeros(weight), unit);
  ASSERT_TRUE(made) << convolution.text();
  const Status valid = loop::validate(made->program, 100'000);
  EXPECT_TRUE(valid || valid.error().code == ErrorCode::kBudget) << valid.error().message << to_string(made->program);
  EXPECT_EQ(computed(made->program, weight, sizes, &*made), computed(plain, weight, sizes, nullptr))
      << to_string(made->program);
}

TEST(SparseWeights, GiveTheSameSums) {
  Random random(5);
  for (int i = 0; i < 60 && !::testing::Test::HasFailure(); ++i) {
    Convolution convolution;
    convolution.groups = random.pick(std::vector<std::int64_t>{1, 1, 2, 3});
    convolution.in = convolution.groups * random.between(1, 4);
    convolution.out = convolution.groups * random.between(1, 4);
    convolution.batch = random.between(1, 2);
    convolution.kernel = random.between(1, 3);
    convolution.dilation = random.between(1, 2);
    convolution.rows = random.between(1, 9);
    convolution.columns = random.between(2, 40);
    convolution.is_direct = random.one_in(2);
    expect_the_same(convolution, random, {.lanes = random.one_in(2) ? 4 : 16, .registers = random.one_in(2) ? 16 : 32});
  }
}

TEST(SparseWeights, AreOfManyLinesTogetherWhereTheseAreShort) {
  Random random(6);
  for (const std::int64_t rows : {7, 8, 11})
    expect_the_same({.rows = rows, .columns = 7}, random, {.lanes = 16, .registers = 32});
  const auto made = with_sparse_weight(program_of(Convolution{.rows = 7, .columns = 7}.text()), {1}, 9,
                                       {.lanes = 16, .registers = 32});
  ASSERT_TRUE(made);
  EXPECT_THAT(made->nests, ElementsAre("y.n"));
  EXPECT_THAT(to_string(made->program), ::testing::HasSubstr("sum_tile[61]"));  // 6 lines of 9, and one of 7.
}

TEST(SparseWeights, AreByBlocksOfChannelsWhereAllAreMoreThanACacheHolds) {
  Random random(7);
  const schedule::VectorUnit unit{.lanes = 16, .registers = 32};
  for (const bool is_direct : {false, true})
    for (const std::int64_t groups : {1, 2})
      expect_the_same(
          {.groups = groups, .in = 130 * groups, .out = 2 * groups, .rows = 7, .columns = 14, .is_direct = is_direct},
          random, unit);
  const Convolution many{.in = 130, .out = 2, .rows = 7, .columns = 14};
  const auto parts = [&](std::int64_t elements) {
    const auto made = with_sparse_weight(program_of(many.text()), {1}, elements, unit);
    EXPECT_TRUE(made);
    return made ? *made->program[named(made->program, "w_rows")].sizes[0].number() / 2 : 0;
  };
  const auto made = with_sparse_weight(program_of(many.text()), {1}, 4000, unit);
  EXPECT_THAT(to_string(with_parallel_loops(made->program)), ::testing::HasSubstr("for y.o 2 parallel"));
  EXPECT_EQ(parts(200), 3);
  EXPECT_EQ(parts(40), 2);  // Sums are read and stored for too few.
  EXPECT_EQ(parts(20), 1);
}

TEST(SparseWeights, HavePlacesOf16BitsWhereThoseOfABlockFit) {
  const auto type_of_places = [](const Convolution& convolution, std::int64_t elements) {
    const auto made = with_sparse_weight(program_of(convolution.text()), {1}, elements, {.lanes = 16});
    EXPECT_TRUE(made);
    return made->program[named(made->program, "w_places")].element;
  };
  const Convolution large{.in = 66, .out = 1, .kernel = 1, .rows = 31, .columns = 32};
  EXPECT_EQ(type_of_places(large, 60), ElementType::kUint16);  // Three blocks and more; of one the last place is
  EXPECT_EQ(type_of_places(large, 9), ElementType::kUint16);   // 65 x 31 x 32 = 64480,
  Convolution larger = large;
  larger.in = 68;  // and 67 x 31 x 32 = 66464.
  EXPECT_EQ(type_of_places(larger, 60), ElementType::kUint16);
  EXPECT_EQ(type_of_places(larger, 9), ElementType::kInt32);
  for (const std::int64_t in : {66, 68}) {  // The last element of all is not 0.
    Convolution convolution = large;
    convolution.in = in;
    const loop::Program plain = program_of(convolution.text());
    std::vector<float> weight(static_cast<std::size_t>(in), 0.F);
    weight.front() = 2, weight.back() = 3;
    const auto made = with_sparse_weight(plain, {1}, 2, {.lanes = 16});
    ASSERT_TRUE(made);
    const std::vector<std::int64_t> sizes = sizes_of(plain.buffers[1]);
    EXPECT_EQ(computed(made->program, weight, sizes, &*made), computed(plain, weight, sizes, nullptr));
  }
}

TEST(SparseWeights, MayHaveEmptyRowsAndOneElement) {
  const Convolution convolution{.is_direct = true};
  const loop::Program plain = program_of(convolution.text());
  std::vector<float> weight(static_cast<std::size_t>(count_of(plain.buffers[1])), 0.F);
  weight[40] = 2;
  const auto made = with_sparse_weight(plain, {1}, 1, {.lanes = 8});
  ASSERT_TRUE(made);
  const std::vector<std::int64_t> sizes = sizes_of(plain.buffers[1]);
  EXPECT_EQ(computed(made->program, weight, sizes, &*made), computed(plain, weight, sizes, nullptr));
  const SparsePart& rows = made->parts[2].second;
  EXPECT_EQ(numbers_in<std::int32_t>(bytes_of(rows, weight, sizes)), numbers_in<std::int32_t>([] {
              const std::int32_t starts[] = {0, 0, 1, 1, 1};
              const auto bytes = std::as_bytes(std::span(starts));
              return std::vector<std::byte>(bytes.begin(), bytes.end());
            }()));
  EXPECT_FALSE(with_sparse_weight(plain, {1}, 0, {.lanes = 8}));
}

TEST(SparseWeights, AreNotOfOtherNests) {
  const auto replaced = [](std::string text, const std::string& from, const std::string& to) {
    const std::size_t at = text.find(from);
    EXPECT_NE(at, std::string::npos) << from;
    return program_of(text.replace(at, from.size(), to));
  };
  const std::string text = Convolution{.is_direct = true}.text(), apart = Convolution{}.text();
  const schedule::VectorUnit unit;
  EXPECT_TRUE(with_sparse_weight(program_of(text), {1}, 9, unit));
  // Places two apart; what a sum adds under a condition; another factor; other sums; the weight twice.
  for (const auto& [from, to] :
       {std::pair("y.j + y.t", "y.j * 2 + y.t"),
        std::pair("store y[y.n, y.o, y.i, y.j] +=", "if y.t < 2 { store y[y.n, y.o, y.i, y.j] +="),
        std::pair("* w[y.o, y.c, y.s, y.t]", "* w[y.o, y.c, y.s, y.t] * 2"), std::pair("+=", "max="),
        std::pair("x[y.n, floor(y.o / 4) * 4 + y.c, y.i + y.s * 1, y.j + y.t * 1] *", "w[y.o, y.c, y.s, y.t] *")}) {
    std::string changed = text;
    const std::size_t at = changed.find(from);
    ASSERT_NE(at, std::string::npos) << from;
    changed.replace(at, std::string(from).size(), to);
    if (std::string(to).starts_with("if")) changed += " }";
    const loop::Program program = program_of(changed);
    EXPECT_FALSE(with_sparse_weight(program, {1}, 9, unit)) << changed;
  }
  // The sum is read by another nest, too.
  const loop::Program read = replaced(apart + "\nfor q.i 1 serial { store z[0, 0, 0, 0] = sum[] }",
                                      "buffer z[1, 4, 5, 6] float32 in", "buffer z[1, 4, 5, 6] float32 temporary");
  EXPECT_FALSE(with_sparse_weight(read, {1}, 9, unit));
}

}  // namespace
