// Loop programs, read from their text.
#include <rewright/loop/loop_program.h>

#include <set>

#include "base/scanner.h"
#include "loop/expression_reader.h"
#include "loop/reserved_words.h"

namespace rewright::loop {
namespace {

constexpr int kMaxNesting = 100;

class Reader {
 public:
  explicit Reader(std::string_view text) : in_(text), expressions_(in_, program_.buffers) {}

  Result<Program> read() {
    while (in_.take("buffer")) REWRIGHT_CHECK(read_buffer());
    while (!in_.at_end()) REWRIGHT_CHECK(read_statement(program_.body));
    return std::move(program_);
  }

 private:
  Error wrong(std::size_t at, std::string_view message) const { return in_.error_at(at, ErrorCode::kParse, message); }

  Status read_buffer() {
    in_.skip_space();
    const std::size_t start = in_.position();
    const auto name = in_.identifier();
    if (!name) return in_.expected("a buffer's name");
    if (is_reserved(*name)) return wrong(start, fmt::format("'{}' is a word of the grammar", *name));
    for (const Buffer& other : program_.buffers) {
      if (other.name == *name) return wrong(start, fmt::format("there are two buffers '{}'", *name));
    }
    Buffer buffer{.name = std::string(*name)};
    REWRIGHT_TRY(buffer.sizes, expressions_.indices());
    in_.skip_space();
    const std::size_t type = in_.position();
    const auto element = element_type_named(in_.identifier().value_or(""));
    if (!element) {
      in_.set_position(type);
      return in_.expected("an element type");
    }
    buffer.element = *element;
    REWRIGHT_TRY(buffer.role, role());
    program_.buffers.push_back(std::move(buffer));
    return {};
  }
  Result<BufferRole> role() {
    for (const auto role : {BufferRole::kInput, BufferRole::kOutput, BufferRole::kWeight, BufferRole::kTemporary}) {
      if (in_.take(name_of(role))) return role;
    }
    return in_.expected("'in', 'out', 'weight' or 'temporary'");
  }

  std::string read_note() {
    std::string note;
    while (in_.take("#")) {
      const std::string_view rest = in_.text().substr(in_.position());
      const std::string_view line = rest.substr(0, rest.find('\n'));
      if (!note.empty()) note += '\n';
      note += line.substr(line.starts_with(' ') ? 1 : 0);
      in_.set_position(in_.position() + line.size());
    }
    return note;
  }
  Status read_statement(Body& into) {
    std::string note = read_note();
    if (in_.take("for")) return read_loop(into, std::move(note));
    if (in_.take("if")) return read_branch(into, std::move(note));
    if (in_.take("store")) return read_store(into, std::move(note));
    return in_.expected("'for', 'if' or 'store'");
  }
  Result<Body> read_block() {
    REWRIGHT_CHECK(in_.expect("{", "before the statements"));
    if (++nesting_ > kMaxNesting) return wrong(in_.position(), "statements are nested more than 100 deep");
    Body body;
    while (!in_.take("}")) {
      if (in_.at_end()) return in_.expected("'}'");
      REWRIGHT_CHECK(read_statement(body));
    }
    --nesting_;
    return body;
  }
  Status read_loop(Body& into, std::string note) {
    in_.skip_space();
    const std::size_t start = in_.position();
    REWRIGHT_TRY(std::string name, expressions_.loop_name());
    if (!parse_loop_name(name)) return wrong(start, fmt::format("'{}' is no name of a loop, such as c.i/0", name));
    if (!names_.insert(name).second) return wrong(start, fmt::format("there are two loops '{}'", name));
    Loop loop{Axis{static_cast<std::uint32_t>(names_.size() - 1), std::move(name)}, {}};
    REWRIGHT_TRY(loop.extent, expressions_.index());
    REWRIGHT_TRY(loop.kind, loop_kind());
    expressions_.enter(loop.axis);
    REWRIGHT_TRY(loop.body, read_block());
    expressions_.leave();
    into.emplace_back(std::move(loop), std::move(note));
    return {};
  }
  Result<LoopKind> loop_kind() {
    for (const auto kind : {LoopKind::kSerial, LoopKind::kParallel, LoopKind::kVector, LoopKind::kUnroll}) {
      if (in_.take(name_of(kind))) return kind;
    }
    return in_.expected("'serial', 'parallel', 'vector' or 'unroll'");
  }
  Status read_branch(Body& into, std::string note) {
    Branch branch;
    REWRIGHT_TRY(branch.condition, expressions_.guard());
    REWRIGHT_TRY(branch.body, read_block());
    into.emplace_back(std::move(branch), std::move(note));
    return {};
  }
  Status read_store(Body& into, std::string note) {
    Store store;
    REWRIGHT_TRY(store.buffer, expressions_.buffer());
    REWRIGHT_TRY(store.at, expressions_.indices());
    REWRIGHT_TRY(store.kind, store_kind());
    REWRIGHT_TRY(store.value, expressions_.value());
    into.emplace_back(std::move(store), std::move(note));
    return {};
  }
  Result<StoreKind> store_kind() {
    for (const auto kind :
         {StoreKind::kSet, StoreKind::kAdd, StoreKind::kMultiply, StoreKind::kMaximum, StoreKind::kMinimum}) {
      if (in_.take(name_of(kind))) return kind;
    }
    return in_.expected("'=', '+=', '*=', 'max=' or 'min='");
  }

  Scanner in_;
  Program program_;
  ExpressionReader expressions_;
  std::set<std::string> names_;
  int nesting_ = 0;
};

}  // namespace

Result<Program> parse_program(std::string_view text) { return Reader(text).read(); }

}  // namespace rewright::loop
