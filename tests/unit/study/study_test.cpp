// Plans of studies, and what is kept of their cells.
#include <rewright/base/command.h>

#include <gmock/gmock.h>

#include <filesystem>
#include <fstream>

#include "study/cells.h"

namespace {

using namespace rewright;
using namespace rewright::study;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Optional;
using ::testing::SizeIs;

constexpr const char* kPlan = R"(title = "two"
networks = ["a", "b"]
algorithms = ["direct", "cost"]
threads = [1, 2]
[[compressions]]
name = "dense"
[[compressions]]
name = "zeros"
zeros = 0.75
algorithms = { direct = "sparse" }
)";

Plan plan_of(const std::string& text) {
  auto plan = parse_plan(text, "p.toml");
  EXPECT_TRUE(plan) << plan.error().message;
  return *std::move(plan);
}
std::string fault_in(const std::string& from, const std::string& to) {
  std::string text = kPlan;
  const std::size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  const auto plan = parse_plan(text.replace(at, from.size(), to), "p.toml");
  return plan ? "" : plan.error().message;
}

TEST(StudyPlan, HasACellForEachCombination) {
  const Plan plan = plan_of(kPlan);
  const std::vector<Cell> cells = cells_of(plan);
  ASSERT_THAT(cells, SizeIs(16));
  EXPECT_EQ(to_string(plan, cells[0]), "a, dense, direct, 1 thread, one-shot");
  EXPECT_EQ(to_string(plan, cells[15]), "b, zeros, cost, 2 threads, one-shot");
  EXPECT_EQ(computed_by(plan, cells[0]), "direct");
  EXPECT_EQ(computed_by(plan, cells[4]), "sparse");
  EXPECT_EQ(computed_by(plan, cells[6]), "cost");
  EXPECT_EQ(plan.seconds, 600);
}

TEST(StudyPlan, OfWrongValuesIsRefusedAtItsPlace) {
  EXPECT_THAT(fault_in("\"cost\"", "\"fourier\""), HasSubstr("p.toml:3:25: algorithms: 'fourier' is none of direct, "));
  EXPECT_THAT(fault_in("\"b\"", "\"a\""), HasSubstr("p.toml:2:18: networks: 'a' is there twice"));
  EXPECT_THAT(fault_in("[\"a\", \"b\"]", "[]"), HasSubstr("networks is empty"));
  EXPECT_THAT(fault_in("0.75", "1.5"), HasSubstr("zeros is the number 1.5, expected a share above 0 and below 1"));
  EXPECT_THAT(fault_in("zeros = 0.75", "zeros = 0.75\nchannels = 0.5"), HasSubstr("zeros or channels, not both"));
  EXPECT_THAT(fault_in("\"zeros\"", "\"dense\""), HasSubstr("compressions: 'dense' is there twice"));
  EXPECT_THAT(fault_in("[1, 2]", "[0]"), HasSubstr("p.toml:4:12: threads has the number 0, expected 1 to 256"));
  EXPECT_THAT(fault_in("[1, 2]", "[1, 1]"), HasSubstr("threads: 1 is there twice"));
  EXPECT_THAT(fault_in("direct = \"sparse\"", "direct = \"none\""), HasSubstr("'none' is none of"));
  EXPECT_THAT(fault_in("title = \"two\"", "titel = \"two\""), HasSubstr("title"));
  EXPECT_THAT(fault_in("threads = [1, 2]", "thread = [1, 2]"), HasSubstr("no key 'thread'"));
}

class StudyCells : public ::testing::Test {
 protected:
  [[nodiscard]] std::string file() const { return folder_.path() + "/cells.jsonl"; }

 private:
  TemporaryFolder folder_ = *TemporaryFolder::make();
};

CellResult ok(const std::string& cell, double us) {
  CellResult result{cell, "hash", "ok"};
  result.us = us;
  return result;
}

TEST_F(StudyCells, AreReadAsTheyWereAdded) {
  EXPECT_THAT(*read_cells(file()), IsEmpty());
  ASSERT_TRUE(add_cell(file(), ok("one", 2.5)));
  ASSERT_TRUE(add_cell(file(), {"two", "", "unsupported", "it has \"groups\""}));
  const auto cells = read_cells(file());
  ASSERT_TRUE(cells);
  ASSERT_THAT(*cells, SizeIs(2));
  EXPECT_THAT((*cells)[0].us, Optional(2.5));
  EXPECT_TRUE((*cells)[0].is_ok());
  EXPECT_EQ((*cells)[1].why, "it has \"groups\"");
}

TEST_F(StudyCells, OfALineThatWasCutOffAreDoneAgain) {
  ASSERT_TRUE(add_cell(file(), ok("one", 1)));
  ASSERT_TRUE(add_cell(file(), ok("two", 2)));
  std::filesystem::resize_file(file(), std::filesystem::file_size(file()) - 5);
  ASSERT_THAT(*read_cells(file()), SizeIs(1));
  ASSERT_TRUE(add_cell(file(), ok("three", 3)));
  const auto cells = read_cells(file());
  ASSERT_TRUE(cells) << cells.error().message;
  ASSERT_THAT(*cells, SizeIs(2));
  EXPECT_EQ((*cells)[1].cell, "three");
}

TEST_F(StudyCells, OfOtherFilesAreRefusedWithTheLine) {
  ASSERT_TRUE(add_cell(file(), ok("one", 1)));
  std::ofstream(file(), std::ios::app) << "[]\n";
  EXPECT_THAT(read_cells(file()).error().message, HasSubstr("cells.jsonl:2: no cell of a study"));
}

TEST(StudyStandings, AreByTheFastestDenseCellOfAsManyThreads) {
  const Plan plan = plan_of(kPlan);
  const std::vector<CellResult> results = {
      ok("a, dense, direct, 1 thread, one-shot", 12), ok("a, dense, cost, 1 thread, one-shot", 8),
      ok("a, dense, cost, 2 threads, one-shot", 5), ok("a, zeros, direct, 1 thread, one-shot", 4)};
  const auto found = standings(plan, results, {{"a, zeros", 0.25}});
  const Standing& sparse = found.at("a, zeros, direct, 1 thread, one-shot");
  EXPECT_THAT(sparse.achieved, Optional(2));
  EXPECT_THAT(sparse.expected, Optional(4));
  EXPECT_THAT(found.at("a, dense, direct, 1 thread, one-shot").achieved, Optional(8.0 / 12));
  EXPECT_EQ(found.at("a, zeros, cost, 1 thread, one-shot").achieved, std::nullopt);
  EXPECT_EQ(found.at("b, zeros, cost, 1 thread, one-shot").expected, std::nullopt);
}

}  // namespace
