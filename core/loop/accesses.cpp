#include "loop/accesses.h"

#include <algorithm>

#include "loop/expression_walk.h"

namespace rewright::loop {

std::optional<Guard> guard_of(const ValueExpr& value) {
  using Kind = ValueExpr::Kind;
  const auto parts = value.operands();
  if (value.kind() == Kind::kAnd) {
    auto left = guard_of(parts[0]);
    const auto right = guard_of(parts[1]);
    if (!left || !right) return std::nullopt;
    left->insert(left->end(), right->begin(), right->end());
    return left;
  }
  const bool compares = value.kind() == Kind::kEqual || value.kind() == Kind::kLess || value.kind() == Kind::kLessEqual;
  if (!compares || parts[0].kind() != Kind::kIndex || parts[1].kind() != Kind::kIndex) return std::nullopt;
  const auto relation = value.kind() == Kind::kEqual  ? IndexCondition::Relation::kEqual
                        : value.kind() == Kind::kLess ? IndexCondition::Relation::kLess
                                                      : IndexCondition::Relation::kLessEqual;
  return Guard{{parts[0].indices()[0], relation, parts[1].indices()[0]}};
}

std::optional<IndexCondition> opposite(const IndexCondition& condition) {
  using Relation = IndexCondition::Relation;
  if (condition.relation == Relation::kEqual) return std::nullopt;
  const bool strict = condition.relation == Relation::kLess;
  return IndexCondition{condition.right, strict ? Relation::kLessEqual : Relation::kLess, condition.left};
}

namespace {

class AccessSearch {
 public:
  std::vector<Access> search(const Program& program) {
    search(program.body);
    return std::move(found_);
  }

 private:
  void search(const Body& body) {
    for (const Statement& statement : body) {
      if (const Loop* loop = statement.loop()) {
        read_data(loop->extent);
        loops_.push_back(loop);
        search(loop->body);
        loops_.pop_back();
      } else if (const Branch* branch = statement.branch()) {
        for_each_index(branch->condition, [this](const IndexExpr& part) { note_data(part); });
        const std::size_t before = when_.size();
        when_.insert(when_.end(), branch->condition.begin(), branch->condition.end());
        search(branch->body);
        when_.resize(before);
      } else {
        search(*statement.store());
      }
    }
  }
  void search(const Store& store) {
    search(store.value);
    for (const IndexExpr& index : store.at) read_data(index);
    found_.push_back({store.buffer, store.at, true, store.kind != StoreKind::kSet, loops_, when_});
  }
  void search(const ValueExpr& value) {
    if (value.kind() == ValueExpr::Kind::kSelect) return search_select(value);
    for (const IndexExpr& index : value.indices()) read_data(index);
    if (value.kind() == ValueExpr::Kind::kLoad) {
      found_.push_back({value.buffer(), {value.indices().begin(), value.indices().end()}, false, false, loops_, when_});
    }
    for (const ValueExpr& part : value.operands()) search(part);
  }
  void search_select(const ValueExpr& value) {
    const auto parts = value.operands();
    search(parts[0]);
    const auto guard = guard_of(parts[0]);
    const std::size_t before = when_.size();
    if (guard) when_.insert(when_.end(), guard->begin(), guard->end());
    search(parts[1]);
    when_.resize(before);
    const auto otherwise = guard && guard->size() == 1 ? opposite(guard->front()) : std::nullopt;
    if (otherwise) when_.push_back(*otherwise);
    search(parts[2]);
    when_.resize(before);
  }
  void read_data(const IndexExpr& index) {
    for_each_index(index, [this](const IndexExpr& part) { note_data(part); });
  }
  void note_data(const IndexExpr& part) {
    if (part.kind() != IndexExpr::Kind::kData) return;
    const auto at = part.operands().subspan(2);
    found_.push_back({part.buffer(), {at.begin(), at.end()}, false, false, loops_, when_});
  }

  std::vector<Access> found_;
  std::vector<const Loop*> loops_;
  Guard when_;
};

}  // namespace

std::vector<Access> accesses(const Program& program) { return AccessSearch().search(program); }

}  // namespace rewright::loop
