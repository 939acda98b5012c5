// Variables of sizes: read, told apart, in order.
#include <rewright/tensor/size_var.h>

#include <gtest/gtest.h>

#include <set>
#include <string>
#include <thread>
#include <type_traits>
#include <vector>

namespace rewright {
namespace {

static_assert(std::is_trivially_copyable_v<SizeVar>);

struct Case {
  std::string text;
  std::string tensor;
  std::int64_t axis;
  std::string axis_text;
  bool is_axis;
};

TEST(SizeVar, ReadsTheParts) {
  for (const Case& c : std::vector<Case>{{"x.0", "x", 0, "0", true},
                                         {"x.12", "x", 12, "12", true},
                                         {"n", "n", -1, "", false},
                                         {"", "", -1, "", false},
                                         {"x.k", "x", -1, "k", true},
                                         {"x.", "x", -1, "", true},
                                         {"x.03", "x", -1, "03", true},
                                         {"x.-1", "x", -1, "-1", true},
                                         {"x.1.2", "x", -1, "1.2", true},
                                         {"x.99999999999999999999", "x", -1, "99999999999999999999", true}}) {
    const SizeVar variable = SizeVar::read(c.text);
    EXPECT_EQ(variable.text(), c.text);
    EXPECT_EQ(variable.tensor(), c.tensor) << c.text;
    EXPECT_EQ(variable.axis(), c.axis) << c.text;
    EXPECT_EQ(variable.axis_text(), c.axis_text) << c.text;
    EXPECT_EQ(variable.is_axis(), c.is_axis) << c.text;
  }
}

TEST(SizeVar, IsTheSameWhereTheTextIs) {
  EXPECT_EQ(SizeVar::axis("x", 3), SizeVar::read("x.3"));
  EXPECT_NE(SizeVar::axis("x", 3), SizeVar::axis("x", 4));
  EXPECT_EQ(std::hash<SizeVar>()(SizeVar::axis("x", 3)), std::hash<SizeVar>()(SizeVar::read("x.3")));
}

TEST(SizeVar, IsOrderedByTextWhateverCameFirst) {
  std::set<SizeVar> variables;
  for (const char* text : {"z", "x.2", "x.10", "x", "a.0"}) variables.insert(SizeVar::read(text));
  std::vector<std::string> texts;
  for (const SizeVar variable : variables) texts.push_back(variable.text());
  EXPECT_EQ(texts, (std::vector<std::string>{"a.0", "x", "x.10", "x.2", "z"}));
}

TEST(SizeVar, IsTheSameInAllThreads) {
  std::vector<std::vector<SizeVar>> read(4);
  std::vector<std::thread> threads;
  for (auto& variables : read)
    threads.emplace_back([&variables] {
      for (int axis = 0; axis < 500; ++axis) variables.push_back(SizeVar::axis("threads", axis));
    });
  for (std::thread& thread : threads) thread.join();
  for (const auto& variables : read) EXPECT_EQ(variables, read.front());
}

}  // namespace
}  // namespace rewright
