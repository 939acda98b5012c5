#include "c_source.h"

#include <rewright/loop/buffer_owners.h>
#include <rewright/loop/element_types.h>
#include <rewright/loop/target.h>

#include <fmt/ranges.h>

#include <algorithm>
#include <iterator>
#include <set>

#include "c_expression.h"
#include "c_registers.h"
#include "c_unroll.h"
#include "c_vectors.h"

namespace rewright::c {
namespace {

using namespace loop;

/// Words that C11 and the headers that are included have taken.
const std::set<std::string, std::less<>>& taken_words() {
  static const std::set<std::string, std::less<>> words = {
      "auto",     "bool",   "break",  "case",   "char",     "const",    "continue", "default",  "do",
      "double",   "else",   "enum",   "extern", "false",    "fault",    "float",    "for",      "goto",
      "if",       "inline", "int",    "long",   "register", "restrict", "return",   "short",    "signed",
      "sizeof",   "static", "struct", "switch", "true",     "typedef",  "union",    "unsigned", "void",
      "volatile", "while",  "exp",    "log",    "sqrt",     "tanh",     "erf",      "fmod",     "expf",
      "logf",     "sqrtf",  "tanhf",  "erff",   "fmodf",    "main",     "y0",       "y1",       "yn",
      "j0",       "j1",     "jn",     "gamma",  "signgam",  "NAN",      "INFINITY"};
  return words;
}

class FunctionWriter {
 public:
  /// Plain C11.
  FunctionWriter(const NamedProgram& named, Helpers& helpers)
      : name_(named.name),
        taken_(parameters(named.program)),
        program_(with_c_names(named.program)),
        owners_(owners(program_)),
        expressions_(program_, helpers) {}
  /// With vectors.
  FunctionWriter(const NamedProgram& named, Helpers& helpers, VectorHelpers& vectors, Registers& registers)
      : name_(named.name),
        taken_(parameters(named.program)),
        program_(with_c_names(unrolled(named.program))),
        owners_(owners(program_)),
        expressions_(program_, helpers),
        registers_(&registers) {
    vectors_.emplace(program_, owners_, expressions_, vectors, registers);
    vector_types_ = &vectors;
    expressions_.set_naming([this](BufferId buffer, const IndexExpr& flat) { return vectors_->name(buffer, flat); });
  }
  FunctionWriter(const FunctionWriter&) = delete;
  FunctionWriter& operator=(const FunctionWriter&) = delete;

  std::string write() {
    std::vector<std::string> declared;
    std::set<std::uint32_t> is_parameter;
    for (const BufferId id : taken_) {
      declared.push_back(pointer(program_[id]));
      is_parameter.insert(id.value);
    }
    for (std::uint32_t b = 0; b < program_.buffers.size(); ++b) {
      names_.insert(program_.buffers[b].name);
      if (is_parameter.contains(b)) continue;
      locals_.push_back({b});
      if (program_.buffers[b].sizes.empty()) expressions_.add_variable({b});
      if (registers_ != nullptr) registers_->consider({b});
    }
    depth_ = 1;
    declare_locals(std::nullopt);
    write(program_.body);
    const std::string head = fmt::format("static int {}({}) {{\n", name_, fmt::join(declared, ", "));
    const bool faults = expressions_.reads_data();
    return fmt::format("{}{}{}  return {};\n}}\n", head, faults ? "  int fault = 0;\n" : "", text_,
                       faults ? "fault" : "0");
  }

 private:
  static Program with_c_names(Program program) {
    std::set<std::string> names;
    for (Buffer& buffer : program.buffers) {
      std::string name = buffer.name;
      while (taken_words().contains(name) || names.contains(name)) name += "_";
      buffer.name = name;
      names.insert(std::move(name));
    }
    return program;
  }
  static bool is_given(const Buffer& buffer) {
    return buffer.role == BufferRole::kInput || buffer.role == BufferRole::kWeight;
  }
  static std::string pointer(const Buffer& buffer) {
    return fmt::format("{}{} *restrict {}", is_given(buffer) ? "const " : "", c_type(buffer.element), buffer.name);
  }
  template <class... Args>
  void line(fmt::format_string<Args...> format, Args&&... args) {
    text_.append(2 * depth_, ' ');
    fmt::format_to(std::back_inserter(text_), format, std::forward<Args>(args)...);
    text_ += '\n';
  }
  void comment(const std::string& note) {
    if (note.empty()) return;
    std::string text;
    for (const char c : note) {
      if (c == '/' && text.ends_with('*')) text.push_back(' ');
      text.push_back(c);
    }
    line("/* {} */", text);
  }
  /// Those that an iteration of this loop owns; nothing: those of the function.
  void declare_locals(std::optional<std::uint32_t> owner) {
    for (const BufferId id : locals_) {
      if (owners_[id.value] != owner) continue;
      const Buffer& buffer = program_[id];
      if (registers_ != nullptr && registers_->holds(id)) {
        for (const auto& [first, piece] : registers_->pieces(id))
          line("{} {}_{};", piece.is_vector ? vector_types_->type(buffer.element) : c_type(buffer.element), buffer.name,
               first);
        continue;
      }
      std::int64_t count = 1;
      for (const IndexExpr& size : buffer.sizes) count *= *size.number();
      const std::string extent = buffer.sizes.empty() ? "" : fmt::format("[{}]", std::max<std::int64_t>(count, 1));
      line("{} {}{};", c_type(buffer.element), buffer.name, extent);
    }
  }
  void write(const Body& body) {
    for (const Statement& statement : body) {
      comment(statement.note());
      if (const Loop* loop = statement.loop()) {
        write(*loop);
      } else if (const Branch* branch = statement.branch()) {
        line("if ({}) {{", expressions_.condition(branch->condition));
        inside(branch->body);
      } else {
        const Store& store = *statement.store();
        const std::string place = expressions_.place(store.buffer, store.at);
        line("{};", expressions_.update(store.kind, place, store.value, program_[store.buffer].element));
      }
    }
  }
  void inside(const Body& body) {
    ++depth_;
    write(body);
    --depth_;
    line("}}");
  }
  void write(const Loop& loop) {
    if (vectors_ && loop.kind == LoopKind::kVector && vectors_->can(loop)) {
      const std::string begin = variable(loop.axis);
      for (const std::string& text : vectors_->write(loop, begin)) line("{}", text);
      names_.erase(begin);
      return;
    }
    const std::string extent = expressions_.index(loop.extent), name = variable(loop.axis);
    const auto last = range_of(loop.extent, [](const Axis&) { return std::nullopt; });
    expressions_.enter(loop.axis, name, {0, last ? std::max<std::int64_t>(last->high - 1, 0) : kMostIterations});
    line("for (int64_t {0} = 0; {0} < {1}; ++{0}) {{{2}", name, extent,
         loop.kind == LoopKind::kSerial ? "" : fmt::format("  /* {} */", name_of(loop.kind)));
    ++depth_;
    declare_locals(loop.axis.id);
    --depth_;
    inside(loop.body);
    expressions_.leave(loop.axis);
    names_.erase(name);
  }
  /// As short as the names around allow: k, y_k, y_k_0.
  std::string variable(const Axis& axis) {
    const auto name = parse_loop_name(axis.name);
    std::string path, longer;
    for (const LoopName::Part& part : name->parts) {
      longer += fmt::format("{}{}_{}", longer.empty() ? "" : "_", part.stage, part.axis);
      path += fmt::format("{}{}", path.empty() ? "" : "_", part.axis);
      for (const int step : part.path) {
        longer += fmt::format("_{}", step);
        path += fmt::format("_{}", step);
      }
    }
    for (std::string candidate : {path, longer}) {
      if (!taken_words().contains(candidate) && names_.insert(candidate).second) return candidate;
    }
    while (!names_.insert(longer).second) longer += "_";
    return longer;
  }

  static constexpr std::int64_t kMostIterations = std::int64_t{1} << 40;

  std::string name_;
  std::vector<BufferId> taken_;
  Program program_;
  std::vector<std::optional<std::uint32_t>> owners_;
  ExpressionWriter expressions_;
  std::optional<VectorWriter> vectors_;
  VectorHelpers* vector_types_ = nullptr;
  Registers* registers_ = nullptr;
  std::vector<BufferId> locals_;
  std::set<std::string> names_;
  std::string text_;
  std::size_t depth_ = 0;
};

bool is_word(std::string_view text) {
  const auto is_letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; };
  return !text.empty() && is_letter(text[0]) &&
         std::ranges::all_of(text, [&](char c) { return is_letter(c) || (c >= '0' && c <= '9'); });
}

}  // namespace

Result<std::string> c_source(std::span<const NamedProgram> programs, const Instructions* instructions) {
  Helpers helpers;
  std::optional<VectorHelpers> vectors;
  if (instructions != nullptr) vectors.emplace(static_cast<int>(instructions->bytes / sizeof(float)));
  std::string functions;
  for (const NamedProgram& named : programs) {
    if (!is_word(named.name) || taken_words().contains(named.name)) {
      return make_error(ErrorCode::kUnsupported, "'{}' is no name for a function in C", named.name);
    }
    if (!functions.empty()) functions += "\n";
    if (!vectors) {
      functions += FunctionWriter(named, helpers).write();
      continue;
    }
    Registers registers;
    Helpers seen;
    VectorHelpers seen_vectors = *vectors;
    (void)FunctionWriter(named, seen, seen_vectors, registers).write();
    registers.settle();
    functions += FunctionWriter(named, helpers, *vectors, registers).write();
  }
  return helpers.text() + (vectors ? vectors->text() : "") + functions;
}

}  // namespace rewright::c
