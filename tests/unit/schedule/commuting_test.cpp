// Transforms of different loops commute: in both orders they give the same program, up to names, if they apply in both.
// Tails that copy a loop (cut, overlap) do not: what is done to a loop in it before is done to the copy too. Two that
// pad nest their conditions in the order in which they came.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>
#include <sstream>

#include "loop/accesses.h"
#include "loop/lower.h"
#include "schedule/apply.h"
#include "support/random_transforms.h"

namespace {

using namespace rewright;
using namespace rewright::schedule;
using loop::Program;

/// Loops called after their place, temporaries after their first use, the declarations in order of names.
class Canonical {
 public:
  explicit Canonical(const Program& program) : program_(program) {
    for (const loop::Access& access : accesses(program)) {
      Buffer& buffer = program_.buffers[access.buffer.value];
      if (buffer.role == BufferRole::kTemporary && used_.insert(access.buffer.value).second)
        buffer.name = "used" + std::to_string(used_.size());
    }
    program_.body = renamed(program.body);
  }
  [[nodiscard]] std::string text() const {
    std::istringstream lines(to_string(program_));
    std::vector<std::string> buffers;
    std::string statements;
    for (std::string line; std::getline(lines, line);) {
      if (line.starts_with("buffer ")) buffers.push_back(line + "\n");
      if (!line.starts_with("buffer ")) statements += line + "\n";
    }
    std::ranges::sort(buffers);
    for (const std::string& buffer : buffers) statements.insert(0, buffer);
    return statements;
  }

 private:
  loop::Body renamed(const loop::Body& body) {
    loop::Body result;
    for (const loop::Statement& statement : body) {
      if (const loop::Loop* each = statement.loop()) {
        const std::uint32_t place = loops_++;
        const Axis axis{place, "l.i" + std::to_string(place)};
        axes_[each->axis.id] = axis;
        loop::Body inside = renamed(each->body);
        result.emplace_back(loop::Loop{axis, substitute(each->extent, parts_), each->kind, std::move(inside)});
      } else if (const loop::Branch* branch = statement.branch()) {
        result.emplace_back(loop::Branch{substitute(branch->condition, parts_), renamed(branch->body)});
      } else {
        loop::Store store = *statement.store();
        for (IndexExpr& index : store.at) index = substitute(index, parts_);
        store.value = substitute(store.value, parts_);
        result.emplace_back(std::move(store));
      }
    }
    return result;
  }

  Program program_;
  std::set<std::uint32_t> used_;
  std::uint32_t loops_ = 0;
  std::map<std::uint32_t, Axis> axes_;
  Substitution parts_{.axis = [this](const Axis& axis) { return std::optional(IndexExpr(axes_.at(axis.id))); }};
};

bool stays_in_place(const Split& split) { return split.tail == Tail::kDivide || split.tail == Tail::kMask; }

/// The loops that a transform names; nothing for those that are not of loops alone, or do not commute.
std::set<std::string> loops_of(const Transform& transform) {
  std::set<std::string> names;
  if (const auto* split = std::get_if<Split>(&transform); split != nullptr && stays_in_place(*split))
    names.insert(to_string(split->loop));
  if (const auto* mark = std::get_if<Mark>(&transform)) names.insert(to_string(mark->loop));
  if (const auto* reorder = std::get_if<Reorder>(&transform))
    for (const LoopName& loop : reorder->loops) names.insert(to_string(loop));
  return names;
}

std::optional<Program> after(const Program& program, const Transform& first, const Transform& second) {
  const auto once = schedule::apply(program, first);
  if (!std::holds_alternative<Program>(once)) return std::nullopt;
  const auto twice = schedule::apply(std::get<Program>(once), second);
  return std::holds_alternative<Program>(twice) ? std::optional(std::get<Program>(twice)) : std::nullopt;
}

TEST(CommutingTransforms, OfDifferentLoopsGiveTheSameInBothOrders) {
  std::size_t compared = 0;
  for (std::uint64_t seed = 0; seed < 1000 && !HasFailure(); ++seed) {
    const auto program = loop::lower(test_support::RandomDefinition(seed).make());
    ASSERT_TRUE(program) << program.error().message;
    if (to_string(*program).find("for ") == std::string::npos) continue;
    test_support::RandomTransforms transforms(seed);
    for (int pair = 0; pair < 100; ++pair) {
      const Transform first = transforms.next(*program), second = transforms.next(*program);
      const std::set<std::string> a = loops_of(first), b = loops_of(second);
      std::vector<std::string> both;
      std::ranges::set_intersection(a, b, std::back_inserter(both));
      if (a.empty() || b.empty() || !both.empty()) continue;
      const auto one = after(*program, first, second), other = after(*program, second, first);
      if (!one || !other) continue;
      ++compared;
      EXPECT_EQ(Canonical(*one).text(), Canonical(*other).text()) << to_string(first) << "; " << to_string(second);
    }
  }
  EXPECT_GT(compared, 300U);
}

}  // namespace
