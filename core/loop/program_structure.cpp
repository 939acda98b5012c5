#include "loop/program_structure.h"

#include <rewright/loop/element_types.h>

#include <algorithm>
#include <set>

#include "loop/expression_walk.h"
#include "loop/interpreter.h"
#include "loop/reserved_words.h"

namespace rewright::loop {
namespace {

class StructureCheck {
 public:
  explicit StructureCheck(const Program& program) : program_(program), types_(program.buffers) {}

  Status run() {
    for (const Buffer& buffer : program_.buffers) REWRIGHT_CHECK(check(buffer));
    return check(program_.body);
  }

 private:
  Status check(const Buffer& buffer) {
    if (as_word(buffer.name) != buffer.name) return shape_error("'{}' is no name for a buffer", buffer.name);
    if (!names_.insert(buffer.name).second) return shape_error("there are two buffers '{}'", buffer.name);
    const bool is_given = buffer.role == BufferRole::kInput || buffer.role == BufferRole::kWeight;
    if (!is_computable(buffer.element) && !(is_of_indices(buffer.element) && is_given)) {
      return shape_error("buffer {}: loop programs do not compute with {}", buffer.name, name_of(buffer.element));
    }
    const auto count = element_count(buffer);
    return count ? Status() : Status(count.error());
  }
  Status check(const Body& body) {
    for (const Statement& statement : body) {
      if (const Loop* loop = statement.loop()) {
        REWRIGHT_CHECK(check(*loop));
      } else if (const Branch* branch = statement.branch()) {
        for (const IndexCondition& condition : branch->condition) {
          REWRIGHT_CHECK(check(condition.left));
          REWRIGHT_CHECK(check(condition.right));
        }
        REWRIGHT_CHECK(check(branch->body));
      } else {
        REWRIGHT_CHECK(check(*statement.store()));
      }
    }
    return {};
  }
  Status check(const Loop& loop) {
    if (!parse_loop_name(loop.axis.name)) return shape_error("'{}' is no name of a loop", loop.axis.name);
    if (!loops_.insert(loop.axis.name).second) return shape_error("there are two loops '{}'", loop.axis.name);
    REWRIGHT_CHECK(check(loop.extent));
    if (!axes_.insert(loop.axis.id).second) return shape_error("loop {} has the axis of one around it", loop.axis.name);
    const bool runs = loop.extent.number().value_or(1) > 0;
    loops_that_never_run_ += runs ? 0 : 1;
    REWRIGHT_CHECK(check(loop.body));
    loops_that_never_run_ -= runs ? 0 : 1;
    axes_.erase(loop.axis.id);
    return {};
  }
  Status check(const Store& store) {
    REWRIGHT_CHECK(check_place(store.buffer, store.at));
    const Buffer& buffer = program_[store.buffer];
    if (buffer.role == BufferRole::kInput || buffer.role == BufferRole::kWeight) {
      return shape_error("{} is written, though it is given", buffer.name);
    }
    Status parts;
    ValueWalk([&](const ValueExpr& part) {
      if (parts) parts = check_part(part);
    })(store.value);
    REWRIGHT_CHECK(std::move(parts));
    const auto type = types_.of(store.value);
    if (!type) return shape_error("a value stored in {}: {}", buffer.name, type.error().message);
    if (!*type || **type == buffer.element) return {};
    return shape_error("{} has element type {}, a value stored in it {}", buffer.name, name_of(buffer.element),
                       name_of(**type));
  }
  Status check_part(const ValueExpr& part) {
    if (part.kind() == ValueExpr::Kind::kReduce) return shape_error("a reduction stands inside a value");
    if (part.kind() == ValueExpr::Kind::kLoad) {
      REWRIGHT_CHECK(check_place(part.buffer(), part.indices()));
      const Buffer& buffer = program_[part.buffer()];
      if (is_computable(buffer.element)) return {};
      return shape_error("{} is loaded as a value; numbers of {} are read as indices, by data(...)", buffer.name,
                         name_of(buffer.element));
    }
    if (part.kind() == ValueExpr::Kind::kCast && !is_computable(part.element())) {
      return shape_error("loop programs do not compute with {}", name_of(part.element()));
    }
    return part.kind() == ValueExpr::Kind::kIndex ? check(part.indices()[0]) : Status();
  }
  Status check_place(BufferId id, std::span<const IndexExpr> at) {
    if (id.value >= program_.buffers.size()) return shape_error("there is no buffer number {}", id.value);
    const Buffer& buffer = program_[id];
    if (at.size() != buffer.sizes.size()) {
      return shape_error("{} has {} sizes; a place in it has {} indices", buffer.name, buffer.sizes.size(), at.size());
    }
    for (const IndexExpr& index : at) REWRIGHT_CHECK(check(index));
    return {};
  }
  Status check(const IndexExpr& index) {
    using Kind = IndexExpr::Kind;
    if (index.kind() == Kind::kSize) return shape_error("size {} has no number", to_string(*index.size()));
    if (index.kind() == Kind::kAxis && !axes_.contains(index.axis().id)) {
      return shape_error("{} is used outside of its loop", index.axis().name);
    }
    if (index.kind() == Kind::kData) REWRIGHT_CHECK(check_place(index.buffer(), index.operands().subspan(2)));
    for (const IndexExpr& part : index.operands()) REWRIGHT_CHECK(check(part));
    const bool divides = index.kind() == Kind::kFloor || index.kind() == Kind::kModulo;
    if (divides && loops_that_never_run_ == 0 && index.operands()[1].number().value_or(1) <= 0) {
      return shape_error("an index is divided by {}", *index.operands()[1].number());
    }
    return {};
  }

  const Program& program_;
  ElementTypes types_;
  std::set<std::string> names_, loops_;
  std::set<std::uint32_t> axes_;
  int loops_that_never_run_ = 0;  ///< Around the place at hand: no index is computed there.
};

}  // namespace

Status check_structure(const Program& program) { return StructureCheck(program).run(); }

}  // namespace rewright::loop
