// The text form: what is wrong with a text is named with its line and column; no text crashes the reader.
#include <rewright/base/mixing.h>
#include <rewright/loop/loop_program.h>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "loop/lower.h"
#include "support/random_definitions.h"

namespace {

using namespace rewright;
using namespace rewright::loop;
using testing::HasSubstr;

constexpr const char* kText =
    "buffer x[n, 8] float32 in\n"
    "buffer i[2] int64 in\n"
    "buffer y[n] float32 out\n"
    "# y[i] = sum(k < 8, x[i, k])\n"
    "# and more\n"
    "for y.i/0&y.j n parallel {\n"
    "  store y[y.i/0&y.j] = -inf\n"
    "  if 0 <= y.i/0&y.j - 1 and y.i/0&y.j < n {\n"
    "    store y[floor((y.i/0&y.j + 1) / 2)] max= select(not x[y.i/0&y.j mod 3, data(i[0], -8, 8) mod 8] < 0.5 or "
    "index(y.i/0&y.j*2 - 1) = 3, exp(cast(float32, 9007199254740992.0)) - (-3), (1/3) * (1e-05 + 2)) mod 7\n"
    "  }\n"
    "}\n";

TEST(LoopText, IsReadBackAsItself) {
  const auto program = parse_program(kText);
  ASSERT_TRUE(program) << program.error().message;
  EXPECT_EQ(to_string(*program), kText);
  EXPECT_EQ(program->body.size(), 1u);
  EXPECT_EQ(program->body[0].note(), "y[i] = sum(k < 8, x[i, k])\nand more");
  const auto name = parse_loop_name(program->body[0].loop()->axis.name);
  ASSERT_TRUE(name);
  EXPECT_EQ(name->parts, (std::vector<LoopName::Part>{{"y", "i", {0}}, {"y", "j", {}}}));
}

TEST(LoopText, NamesWhatIsWrongAndWhere) {
  const std::pair<const char*, const char*> cases[] = {
      {"buffer x[] float33 in", "line 1, column 12: expected an element type"},
      {"buffer x[] float32", "'in', 'out', 'weight' or 'temporary'"},
      {"buffer max[] float32 in", "line 1, column 8: 'max' is a word of the grammar"},
      {"buffer x[] float32 in\nbuffer x[] float32 in", "line 2, column 8: there are two buffers 'x'"},
      {"buffer x[] float32 out\nstore y[] = 0", "line 2, column 7: there is no buffer 'y'"},
      {"buffer x[] float32 out\nstore x[] = 1 +", "line 2, column 16: expected"},
      {"for i 4 serial { }", "line 1, column 5: 'i' is no name of a loop, such as c.i/0"},
      {"for y.i 4 serial { for y.i 4 serial { } }", "line 1, column 24: there are two loops 'y.i'"},
      {"for y.i 4 serial {", "expected '}'"},
      {"for y.i 4 sideways { }", "expected 'serial', 'parallel', 'vector' or 'unroll'"},
      {"buffer x[9] float32 out store x[y.i/0] = 0", "there is no loop 'y.i/0' around this place"},
      {"buffer x[99999999999999999999] float32 out", "this is no integer of 64 bits"},
      {"buffer x[9] float32 out store x[4611686018427387904 * 4] = 0", "this is too large for an index"},
      {"if 1 { }", "'<', '<=' or '=' between two indices"},
      {"jump", "expected 'for', 'if' or 'store'"},
  };
  for (const auto& [text, fault] : cases) {
    const auto program = parse_program(text);
    ASSERT_FALSE(program) << text;
    EXPECT_THAT(program.error().message, HasSubstr(fault)) << text;
  }
  const auto deep = parse_program("buffer x[] float32 out store x[] = " + std::string(100000, '('));
  ASSERT_FALSE(deep);
  EXPECT_THAT(deep.error().message, HasSubstr("nested more than 200 deep"));
}

/// Texts that are almost right: pieces left out, doubled, exchanged, single characters changed.
std::string damaged(std::string text, Random& random) {
  constexpr std::string_view kCharacters = "()[]{}<>=+-*/.,#& \n0123456789abxyz_";
  for (std::size_t i = 1 + random.below(4); i > 0 && text.size() > 2; --i) {
    const std::size_t at = random.below(text.size()),
                      length = 1 + random.below(std::min<std::size_t>(12, text.size() - at));
    switch (random.below(4)) {
      case 0: text.erase(at, length); break;
      case 1: text.insert(random.below(text.size()), text.substr(at, length)); break;
      case 2: text[at] = kCharacters[random.below(kCharacters.size())]; break;
      default: text.insert(at, 1, kCharacters[random.below(kCharacters.size())]);
    }
  }
  return text;
}

TEST(LoopText, DamagedTextsAreRefusedOrReadBack) {
  Random random(5);
  std::size_t refused = 0, read = 0;
  for (std::uint64_t seed = 0; seed < 3000 && !HasFailure(); ++seed) {
    const auto program = lower(test_support::RandomDefinition(seed % 40).make());
    const std::string text = damaged(seed % 4 == 0 ? std::string(kText) : to_string(*program), random);
    const auto other = parse_program(text);
    if (!other) {
      ++refused;
      EXPECT_THAT(other.error().message, testing::StartsWith("line ")) << text;
      continue;
    }
    ++read;
    const auto again = parse_program(to_string(*other));
    ASSERT_TRUE(again) << again.error().message << "\n" << text << "\n" << to_string(*other);
    EXPECT_TRUE(*again == *other) << text << "\n" << to_string(*other) << "\n" << to_string(*again);
  }
  EXPECT_GT(refused, 500u);
  EXPECT_GT(read, 100u);
}

}  // namespace
