#include "c_unroll.h"

#include <algorithm>
#include <map>

namespace rewright::c {
namespace {

using namespace loop;

class Unrolling {
 public:
  explicit Unrolling(const Program& program) { find_last(program.body); }

  Body run(const Body& body) {
    Body result;
    for (const Statement& statement : body) {
      if (const Loop* loop = statement.loop()) {
        run(*loop, statement.note(), result);
      } else if (const Branch* branch = statement.branch()) {
        result.emplace_back(Branch{substitute(branch->condition, parts_), run(branch->body)}, statement.note());
      } else {
        Store store = *statement.store();
        for (IndexExpr& index : store.at) index = substitute(index, parts_);
        store.value = substitute(store.value, parts_);
        result.emplace_back(std::move(store), statement.note());
      }
    }
    return result;
  }

 private:
  void run(const Loop& loop, const std::string& note, Body& result) {
    const IndexExpr extent = substitute(loop.extent, parts_);
    const auto count = extent.number();
    const bool is_written_out = loop.kind == LoopKind::kUnroll || (loop.kind == LoopKind::kSerial && count == 1);
    if (!count || !is_written_out) {
      const Axis axis{++last_, loop.axis.name};
      places_.insert_or_assign(loop.axis.id, axis);
      result.emplace_back(Loop{axis, extent, loop.kind, run(loop.body)}, note);
      return;
    }
    for (std::int64_t i = 0; i < *count; ++i) {
      places_.insert_or_assign(loop.axis.id, IndexExpr(i));
      Body copy = run(loop.body);
      if (i == 0 && !copy.empty() && !note.empty() && copy[0].note().empty()) copy[0] = with_note(copy[0], note);
      result.insert(result.end(), copy.begin(), copy.end());
    }
  }
  static Statement with_note(const Statement& statement, const std::string& note) {
    if (const Loop* loop = statement.loop()) return {*loop, note};
    if (const Branch* branch = statement.branch()) return {*branch, note};
    return {*statement.store(), note};
  }
  void find_last(const Body& body) {
    for (const Statement& statement : body) {
      if (const Loop* loop = statement.loop()) last_ = std::max(last_, loop->axis.id);
      find_last(body_of(statement));
    }
  }

  std::uint32_t last_ = 0;
  std::map<std::uint32_t, IndexExpr> places_;
  Substitution parts_{.axis = [this](const Axis& axis) -> std::optional<IndexExpr> {
    const auto place = places_.find(axis.id);
    return place == places_.end() ? std::nullopt : std::optional(place->second);
  }};
};

}  // namespace

Program unrolled(const Program& program) { return {program.buffers, Unrolling(program).run(program.body)}; }

}  // namespace rewright::c
