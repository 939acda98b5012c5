// Loop programs as text.
#include <rewright/loop/loop_program.h>

#include <fmt/ranges.h>

#include <iterator>

namespace rewright::loop {
namespace {

class Writer {
 public:
  explicit Writer(const Program& program) : program_(program) {}

  [[nodiscard]] std::string write() {
    for (const Buffer& buffer : program_.buffers) {
      line("buffer {}[{}] {} {}", buffer.name, list(buffer.sizes), name_of(buffer.element), name_of(buffer.role));
    }
    for (const Statement& statement : program_.body) write(statement);
    return std::move(text_);
  }

 private:
  template <class... Args>
  void line(fmt::format_string<Args...> format, Args&&... args) {
    text_.append(2 * depth_, ' ');
    fmt::format_to(std::back_inserter(text_), format, std::forward<Args>(args)...);
    text_ += '\n';
  }
  [[nodiscard]] std::string list(std::span<const IndexExpr> indices) const {
    std::vector<std::string> parts;
    for (const IndexExpr& index : indices) parts.push_back(to_string(index, names_));
    return fmt::format("{}", fmt::join(parts, ", "));
  }
  void write_note(std::string_view note) {
    while (!note.empty()) {
      const std::size_t end = std::min(note.find('\n'), note.size());
      line("# {}", note.substr(0, end));
      note.remove_prefix(std::min(end + 1, note.size()));
    }
  }
  void write_block(const Body& body) {
    ++depth_;
    for (const Statement& statement : body) write(statement);
    --depth_;
    line("}}");
  }
  void write(const Statement& statement) {
    write_note(statement.note());
    if (const Loop* loop = statement.loop()) {
      line("for {} {} {} {{", loop->axis.name, to_string(loop->extent, names_), name_of(loop->kind));
      write_block(loop->body);
    } else if (const Branch* branch = statement.branch()) {
      line("if {} {{", to_string(branch->condition, names_));
      write_block(branch->body);
    } else {
      const Store& store = *statement.store();
      line("store {}[{}] {} {}", program_[store.buffer].name, list(store.at), name_of(store.kind),
           to_string(store.value, names_));
    }
  }

  const Program& program_;
  BufferNames names_ = [this](BufferId id) { return program_[id].name; };
  std::string text_;
  std::size_t depth_ = 0;
};

}  // namespace

std::string to_string(const Program& program) { return Writer(program).write(); }

}  // namespace rewright::loop
