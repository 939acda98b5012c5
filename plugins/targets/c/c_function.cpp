#include "c_function.h"

#include <rewright/loop/buffer_owners.h>
#include <rewright/loop/element_types.h>
#include <rewright/loop/linear_index.h>

#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <iterator>
#include <regex>

#include "c_prefetch.h"
#include "c_unroll.h"

namespace rewright::c {
namespace {

using namespace loop;

const std::set<std::string, std::less<>>& taken_words() {
  static const std::set<std::string, std::less<>> words = {
      "auto",         "bool",     "break",        "case",        "char",         "const",
      "continue",     "default",  "do",           "double",      "else",         "enum",
      "extern",       "false",    "fault",        "float",       "for",          "goto",
      "if",           "inline",   "int",          "long",        "register",     "restrict",
      "return",       "short",    "signed",       "sizeof",      "static",       "struct",
      "switch",       "true",     "typedef",      "union",       "unsigned",     "void",
      "volatile",     "while",    "exp",          "log",         "sqrt",         "tanh",
      "erf",          "fmod",     "expf",         "logf",        "sqrtf",        "tanhf",
      "erff",         "fmodf",    "main",         "y0",          "y1",           "yn",
      "loop_begin",   "loop_end", "loop_context", "loop_shared", "run_parallel", "rewright_parallel",
      "body_of_loop", "shuffled", "j0",           "j1",          "jn",           "gamma",
      "signgam",      "NAN",      "INFINITY"};
  return words;
}

constexpr std::int64_t kMostIterations = std::int64_t{1} << 40;

Program with_c_names(Program program) {
  std::set<std::string> names;
  for (Buffer& buffer : program.buffers) {
    std::string name = buffer.name;
    while (is_taken(name) || names.contains(name)) name += "_";
    buffer.name = name;
    names.insert(std::move(name));
  }
  return program;
}

/// No buffer is called as a variable of another's (acc and acc_0).
Program with_register_names(Program program) {
  std::set<std::string> names;
  for (const Buffer& buffer : program.buffers) names.insert(buffer.name);
  for (Buffer& buffer : program.buffers) {
    const std::size_t digits = buffer.name.find_last_not_of("0123456789") + 1;
    const bool is_numbered = digits < buffer.name.size() && digits > 1 && buffer.name[digits - 1] == '_';
    if (!is_numbered || !names.contains(buffer.name.substr(0, digits - 1))) continue;
    while (names.contains(buffer.name)) buffer.name += "_";
    names.insert(buffer.name);
  }
  return program;
}

/// Temporaries in registers are r, r1, ...: their names are most of such code.
Program with_short_names(Program program, const Registers& registers) {
  std::set<std::string> names;
  for (const Buffer& buffer : program.buffers) names.insert(buffer.name);
  int next = 0;
  for (std::uint32_t b = 0; b < program.buffers.size(); ++b) {
    if (!registers.holds({b})) continue;
    std::string name;
    do {
      name = next == 0 ? "r" : fmt::format("r{}", next);
      ++next;
    } while (is_taken(name) || names.contains(name));
    program.buffers[b].name = name;
  }
  return program;
}

std::string pointer(const Buffer& buffer) {
  const bool is_given = buffer.role == BufferRole::kInput || buffer.role == BufferRole::kWeight;
  return fmt::format("{}{} *restrict {}", is_given ? "const " : "", c_type(buffer.element), buffer.name);
}

/// Does the word occur, not as a part of another?
bool has_word(const std::string& text, const std::string& word) {
  const auto is_part = [&](std::size_t at) {
    return at < text.size() && (std::isalnum(static_cast<unsigned char>(text[at])) != 0 || text[at] == '_');
  };
  for (std::size_t at = text.find(word); at != std::string::npos; at = text.find(word, at + 1))
    if ((at == 0 || !is_part(at - 1)) && !is_part(at + word.size())) return true;
  return false;
}

void collect(const Body& body, std::set<std::uint32_t>& axes) {
  for (const Statement& statement : body) {
    if (const Loop* loop = statement.loop()) axes.insert(loop->axis.id);
    collect(body_of(statement), axes);
  }
}

/// Buffers that statements touch.
void collect_buffers(const ValueExpr& value, std::set<std::uint32_t>& buffers) {
  if (value.kind() == ValueExpr::Kind::kLoad) buffers.insert(value.buffer().value);
  for (const ValueExpr& part : value.operands()) collect_buffers(part, buffers);
}
void collect_buffers(const Body& body, std::set<std::uint32_t>& buffers) {
  for (const Statement& statement : body) {
    if (const Store* store = statement.store()) {
      buffers.insert(store->buffer.value);
      collect_buffers(store->value, buffers);
    }
    collect_buffers(body_of(statement), buffers);
  }
}

}  // namespace

bool is_taken(std::string_view word) {
  static const std::regex helper("(\\w+_)?v[0-9]+[fiu][0-9]+u?");
  return taken_words().contains(word) || std::regex_match(word.begin(), word.end(), helper);
}

FunctionWriter::FunctionWriter(const NamedProgram& named, Helpers& helpers)
    : name_(named.name),
      taken_(parameters(named.program)),
      program_(with_c_names(named.program)),
      owners_(owners(program_)),
      expressions_(program_, helpers) {}

FunctionWriter::FunctionWriter(const NamedProgram& named, Helpers& helpers, VectorHelpers& vectors,
                               Registers& registers)
    : name_(named.name),
      taken_(parameters(named.program)),
      program_(with_register_names(with_short_names(with_c_names(unrolled(named.program)), registers))),
      owners_(owners(program_)),
      expressions_(program_, helpers),
      vector_types_(&vectors),
      registers_(&registers) {
  vectors_.emplace(program_, owners_, names_, expressions_, vectors, registers);
  expressions_.set_naming([this](BufferId buffer, const IndexExpr& flat) { return vectors_->name(buffer, flat); });
}

std::string FunctionWriter::write() {
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
    if (registers_ == nullptr) continue;
    registers_->consider({b});
    if (!registers_->holds({b})) continue;
    for (const auto& [first, piece] : registers_->pieces({b}))
      names_.insert(fmt::format("{}_{}", program_.buffers[b].name, first));
  }
  depth_ = 1;
  declare_locals(std::nullopt);
  write(program_.body);
  const std::string head = fmt::format("static int {}({}) {{\n", name_, fmt::join(declared, ", "));
  const bool faults = expressions_.reads_data();
  std::string checks = faults ? "  int fault = 0;\n" : "";
  for (const auto& [buffer, check] : expressions_.checked()) {
    std::int64_t count = 1;
    for (const IndexExpr& size : program_[{buffer}].sizes) count *= *size.number();
    const std::string& name = program_[{buffer}].name;
    std::vector<std::string> outside;  // Without what no number of the type is: compilers warn of it.
    const bool is_short = program_[{buffer}].element == ElementType::kUint16;
    if (!is_short || check.range.low > 0) outside.push_back(fmt::format("{}[at] < {}", name, check.range.low));
    if (!is_short || check.range.high < UINT16_MAX)
      outside.push_back(fmt::format("{}[at] > {}", name, check.range.high));
    if (!outside.empty())
      checks += fmt::format("  for (int64_t at = 0; at < {}; ++at) fault |= {};\n", count, fmt::join(outside, " || "));
    if (check.is_ascending)
      checks += fmt::format("  for (int64_t at = 1; at < {0}; ++at) fault |= {1}[at] < {1}[at - 1];\n", count, name);
  }
  if (!expressions_.checked().empty()) checks += "  if (fault) return 4;\n";
  return fmt::format("{}{}{}{}  return {};\n}}\n", before_, head, checks, text_, faults ? "fault" : "0");
}

void FunctionWriter::comment(const std::string& note) {
  if (note.empty()) return;
  std::string text;
  for (const char c : note) {
    if (c == '/' && text.ends_with('*')) text.push_back(' ');
    text.push_back(c);
  }
  line("/* {} */", text);
}

void FunctionWriter::declare_locals(std::optional<std::uint32_t> owner) {
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

void FunctionWriter::write(const Body& body) {
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

void FunctionWriter::inside(const Body& body) {
  ++depth_;
  write(body);
  --depth_;
  line("}}");
}

void FunctionWriter::write(const Loop& loop) {
  if (vectors_ && loop.kind == LoopKind::kVector && vectors_->can(loop)) {
    const std::string begin = variable(loop.axis);
    for (const std::string& text : vectors_->write(loop, begin)) line("{}", text);
    names_.erase(begin);
  } else if (vectors_ && loop.kind == LoopKind::kParallel && !is_parallel_ && !uses_locals_around(loop) &&
             !has_shared_places(loop)) {
    write_parallel(loop);
  } else {
    write_iterations(loop, "0", expressions_.index(loop.extent));
  }
}

void FunctionWriter::write_iterations(const Loop& loop, const std::string& from, const std::string& to) {
  const std::string name = variable(loop.axis);
  const auto last = range_of(loop.extent, [](const Axis&) { return std::nullopt; });
  expressions_.enter(loop.axis, name, {0, last ? std::max<std::int64_t>(last->high - 1, 0) : kMostIterations});
  variables_.push_back(name);
  line("for (int64_t {0} = {1}; {0} < {2}; ++{0}) {{{3}", name, from, to,
       loop.kind == LoopKind::kSerial ? "" : fmt::format("  /* {} */", name_of(loop.kind)));
  loops_.push_back(&loop);
  ++depth_;
  declare_locals(loop.axis.id);
  if (vectors_) {
    for (const Prefetch& next : prefetches(program_, loops_)) {
      line("__builtin_prefetch(&{}[{}]);", program_[next.buffer].name,
           expressions_.index(simplified(next.at, expressions_.ranges())));
    }
  }
  --depth_;
  inside(loop.body);
  loops_.pop_back();
  variables_.pop_back();
  expressions_.leave(loop.axis);
  names_.erase(name);
}

bool FunctionWriter::uses_locals_around(const Loop& loop) const {
  std::set<std::uint32_t> axes = {loop.axis.id}, buffers;
  collect(loop.body, axes);
  collect_buffers(loop.body, buffers);
  return std::ranges::any_of(locals_, [&](BufferId id) {
    const auto& owner = owners_[id.value];
    return buffers.contains(id.value) && !(owner && axes.contains(*owner));
  });
}

/// Has an iteration temporaries of its own that are too large to be local? There is one place for all iterations.
bool FunctionWriter::has_shared_places(const Loop& loop) const {
  std::set<std::uint32_t> axes = {loop.axis.id};
  collect(loop.body, axes);
  return std::ranges::any_of(taken_, [&](BufferId id) {
    const auto& owner = owners_[id.value];
    return owner && axes.contains(*owner);
  });
}

void FunctionWriter::write_parallel(const Loop& loop) {
  const std::string extent = expressions_.index(loop.extent), function = fmt::format("{}_{}", name_, ++parallel_);
  const std::string around = std::exchange(text_, {});
  const std::size_t depth = std::exchange(depth_, 1);
  is_parallel_ = true;
  write_iterations(loop, "loop_begin", "loop_end");
  is_parallel_ = false;
  const std::string body = std::exchange(text_, around);
  depth_ = depth;

  std::string fields, unpacked;
  std::vector<std::string> given;
  const auto capture = [&](const std::string& declaration, const std::string& name, const std::string& type) {
    fields += fmt::format("  {}{};\n", type, name);
    unpacked += fmt::format("  {} = loop_shared->{};\n", declaration, name);
    given.push_back(name);
  };
  for (const BufferId id : taken_) {
    const Buffer& buffer = program_[id];
    if (!has_word(body, buffer.name)) continue;
    const bool is_given = buffer.role == BufferRole::kInput || buffer.role == BufferRole::kWeight;
    capture(pointer(buffer), buffer.name, fmt::format("{}{} *", is_given ? "const " : "", c_type(buffer.element)));
  }
  for (const std::string& name : variables_)
    if (has_word(body, name)) capture("const int64_t " + name, name, "int64_t ");
  const bool faults = has_word(body, "fault");
  if (faults) {
    fields += "  int *fault;\n";
    given.emplace_back("&fault");
  }
  before_ += fmt::format(
      "struct {} {{\n{}}};\nstatic void {}_run(void *loop_context, int64_t loop_begin, int64_t loop_end) {{\n",
      function, fields, function);
  before_ += fmt::format("  const struct {} *loop_shared = loop_context;\n{}{}{}{}}}\n\n", function, unpacked,
                         faults ? "  int fault = 0;\n" : "", body,
                         faults ? "  if (fault) __atomic_store_n(loop_shared->fault, 1, __ATOMIC_RELAXED);\n" : "");
  line("{{");
  line("  struct {} loop_shared = {{{}}};", function, fmt::join(given, ", "));
  line("  run_parallel({}, {}_run, &loop_shared);", extent, function);
  line("}}");
}

std::string FunctionWriter::variable(const Axis& axis) {
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
    if (!is_taken(candidate) && names_.insert(candidate).second) return candidate;
  }
  while (!names_.insert(longer).second) longer += "_";
  return longer;
}

}  // namespace rewright::c
