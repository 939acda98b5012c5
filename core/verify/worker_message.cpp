#include "verify/worker_message.h"

#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <bit>
#include <cerrno>
#include <chrono>
#include <cstring>

namespace rewright {
namespace {

class Writer {
 public:
  void number(std::uint64_t value) { bytes_.append(reinterpret_cast<const char*>(&value), sizeof value); }
  void number(std::int64_t value) { number(static_cast<std::uint64_t>(value)); }
  void real(double value) { number(std::bit_cast<std::uint64_t>(value)); }
  void text(std::string_view value) {
    number(static_cast<std::uint64_t>(value.size()));
    bytes_ += value;
  }
  template <class Range, class Write>
  void list(const Range& range, Write write) {
    number(static_cast<std::uint64_t>(std::size(range)));
    for (const auto& element : range) write(element);
  }
  void texts(const std::vector<std::string>& values) {
    list(values, [&](const std::string& value) { text(value); });
  }
  [[nodiscard]] std::string take() { return std::move(bytes_); }

 private:
  std::string bytes_;
};

/// Once the bytes end too early or say what cannot be, everything reads as nothing: who reads asks at the end.
class Reader {
 public:
  explicit Reader(std::string_view bytes) : rest_(bytes) {}

  [[nodiscard]] bool failed() const { return failed_; }
  /// Nothing failed, and all bytes were read.
  [[nodiscard]] bool is_complete() const { return !failed_ && rest_.empty(); }
  void fail() { failed_ = true; }

  std::uint64_t number() {
    std::uint64_t value = 0;
    const std::string_view bytes = take(sizeof value);
    if (!bytes.empty()) std::memcpy(&value, bytes.data(), sizeof value);
    return value;
  }
  std::int64_t integer() { return static_cast<std::int64_t>(number()); }
  double real() { return std::bit_cast<double>(number()); }
  std::string text() { return std::string(take(number())); }
  template <class Read>
  void list(Read read) {
    for (std::uint64_t left = number(); left > 0 && !failed_; --left) read();
  }
  std::vector<std::string> texts() {
    std::vector<std::string> values;
    list([&] { values.push_back(text()); });
    return values;
  }
  /// A number below `end`.
  std::uint64_t below(std::uint64_t end) {
    const std::uint64_t value = number();
    if (value < end) return value;
    fail();
    return 0;
  }

 private:
  std::string_view take(std::uint64_t size) {
    if (failed_ || size > rest_.size()) {
      fail();
      return {};
    }
    const std::string_view part = rest_.substr(0, size);
    rest_.remove_prefix(size);
    return part;
  }
  std::string_view rest_;
  bool failed_ = false;
};

Error unreadable_goals() {
  return make_error(ErrorCode::kInternal, "a message of goals that a verifier's process cannot read");
}

void write(Writer& writer, const Options& options) {
  writer.list(options, [&](const auto& option) {
    writer.text(option.first);
    writer.number(static_cast<std::uint64_t>(option.second.index()));
    if (const auto* flag = std::get_if<bool>(&option.second)) writer.number(std::uint64_t{*flag});
    if (const auto* number = std::get_if<std::int64_t>(&option.second)) writer.number(*number);
    if (const auto* real = std::get_if<double>(&option.second)) writer.real(*real);
    if (const auto* text = std::get_if<std::string>(&option.second)) writer.text(*text);
  });
}

Options read_options(Reader& reader) {
  Options options;
  reader.list([&] {
    const std::string name = reader.text();
    switch (reader.below(4)) {
      case 0: options[name] = reader.number() != 0; break;
      case 1: options[name] = reader.integer(); break;
      case 2: options[name] = reader.real(); break;
      default: options[name] = reader.text();
    }
  });
  return options;
}

void write(Writer& writer, const Verdict& verdict) {
  writer.number(static_cast<std::uint64_t>(verdict.kind));
  for (const std::string* text : {&verdict.reason, &verdict.counterexample, &verdict.certificate}) writer.text(*text);
  writer.list(verdict.conditions, [&](const Constraint& condition) { writer.text(to_string(condition)); });
  writer.texts(verdict.axioms);
  writer.real(verdict.seconds);
}

Verdict read_verdict(Reader& reader) {
  Verdict verdict;
  verdict.kind = static_cast<VerdictKind>(reader.below(3));
  for (std::string* text : {&verdict.reason, &verdict.counterexample, &verdict.certificate}) *text = reader.text();
  reader.list([&] {
    auto condition = Constraint::parse(reader.text());
    if (!condition) return reader.fail();
    verdict.conditions.push_back(*std::move(condition));
  });
  verdict.axioms = reader.texts();
  verdict.seconds = reader.real();
  return verdict;
}

void write(Writer& writer, const Goal& goal) {
  const Rule& rule = goal.rule;
  for (const std::string& text : {to_text(rule), rule.id, rule.name}) writer.text(text);
  writer.list(rule.example,
              [&](const Shape& shape) { writer.list(shape.dims(), [&](std::int64_t size) { writer.number(size); }); });
  writer.list(rule.example_sizes, [&](const auto& size) {
    writer.text(size.first.text());
    writer.number(size.second);
  });
  writer.number(goal.budget.work);
  writer.number(goal.budget.memory_bytes);
}

Result<WorkerGoal> read_goal(Reader& reader, const Registry& registry) {
  WorkerGoal goal;
  const std::string text = reader.text();
  if (reader.failed()) return unreadable_goals();
  REWRIGHT_TRY(goal.rule, parse_rule(text, registry));
  goal.rule.id = reader.text();
  goal.rule.name = reader.text();
  goal.rule.example.clear();
  goal.rule.example_sizes.clear();
  reader.list([&] {
    Shape shape;
    reader.list([&] { shape.append(reader.integer()); });
    goal.rule.example.push_back(shape);
  });
  reader.list([&] {
    const SizeVar name = SizeVar::read(reader.text());
    goal.rule.example_sizes.emplace_back(name, reader.integer());
  });
  goal.budget.work = reader.number();
  goal.budget.memory_bytes = reader.number();
  return goal;
}

/// What `read` gives, if it uses up all of the message.
template <class Read>
auto whole(std::string_view message, Read read) -> std::optional<decltype(read(std::declval<Reader&>()))> {
  Reader reader(message);
  auto value = read(reader);
  if (!reader.is_complete()) return std::nullopt;
  return value;
}

}  // namespace

std::string to_message(const WorkerTask& task) {
  Writer writer;
  writer.texts(task.plugins);
  writer.text(task.verifier);
  write(writer, task.options);
  writer.texts(task.axiom_files);
  writer.texts(task.axioms);
  writer.text(task.axiom_digest);
  writer.number(task.memory_bytes);
  writer.number(task.answer_seconds);
  writer.number(std::uint64_t{task.strict});
  return writer.take();
}

std::optional<WorkerTask> read_task(std::string_view message) {
  return whole(message, [](Reader& reader) {
    WorkerTask task;
    task.plugins = reader.texts();
    task.verifier = reader.text();
    task.options = read_options(reader);
    task.axiom_files = reader.texts();
    task.axioms = reader.texts();
    task.axiom_digest = reader.text();
    task.memory_bytes = reader.number();
    task.answer_seconds = reader.integer();
    task.strict = reader.number() != 0;
    return task;
  });
}

std::string to_message(std::span<const Goal> goals) {
  Writer writer;
  writer.list(goals, [&](const Goal& goal) { write(writer, goal); });
  return writer.take();
}

Result<std::vector<WorkerGoal>> read_goals(std::string_view message, const Registry& registry) {
  Reader reader(message);
  std::vector<WorkerGoal> goals;
  for (std::uint64_t left = reader.number(); left > 0; --left) {
    REWRIGHT_TRY(WorkerGoal goal, read_goal(reader, registry));
    goals.push_back(std::move(goal));
  }
  if (!reader.is_complete()) return unreadable_goals();
  return goals;
}

std::string to_message(const WorkerAnswer& answer) {
  Writer writer;
  writer.number(static_cast<std::uint64_t>(answer.kind));
  writer.number(static_cast<std::uint64_t>(answer.error.code));
  writer.text(answer.error.message);
  writer.list(answer.verdicts, [&](const Verdict& verdict) { write(writer, verdict); });
  return writer.take();
}

std::optional<WorkerAnswer> read_answer(std::string_view message) {
  return whole(message, [](Reader& reader) {
    WorkerAnswer answer;
    answer.kind = static_cast<WorkerAnswer::Kind>(reader.below(3));
    answer.error.code = static_cast<ErrorCode>(reader.below(static_cast<std::uint64_t>(ErrorCode::kInternal) + 1));
    answer.error.message = reader.text();
    reader.list([&] { answer.verdicts.push_back(read_verdict(reader)); });
    return answer;
  });
}

// --- on the socket -----------------------------------------------------------------------------------------------

bool send_message(int socket, std::string_view message) {
  const std::uint64_t size = message.size();
  std::string bytes(reinterpret_cast<const char*>(&size), sizeof size);
  bytes += message;
  for (std::string_view rest = bytes; !rest.empty();) {
    const ssize_t put = ::send(socket, rest.data(), rest.size(), MSG_NOSIGNAL);
    if (put < 0 && errno == EINTR) continue;
    if (put <= 0) return false;
    rest.remove_prefix(static_cast<std::size_t>(put));
  }
  return true;
}

namespace {

using Clock = std::chrono::steady_clock;

/// A length beyond it is no length: what a process in disorder sends must not fill the other's memory.
constexpr std::uint64_t kLongest = std::uint64_t{1} << 30;
constexpr int kSliceMs = 100;

Received receive(int socket, char* place, std::size_t size, const std::optional<Clock::time_point>& deadline,
                 const std::function<bool()>& stop) {
  while (size > 0) {
    pollfd wait = {socket, POLLIN, 0};
    const int ready = ::poll(&wait, 1, kSliceMs);
    if (ready < 0 && errno != EINTR) return Received::kGone;
    if (ready <= 0) {
      if (stop && stop()) return Received::kStopped;
      if (deadline && Clock::now() > *deadline) return Received::kLate;
      continue;
    }
    const ssize_t got = ::recv(socket, place, size, 0);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return Received::kGone;
    place += got;
    size -= static_cast<std::size_t>(got);
  }
  return Received::kMessage;
}

}  // namespace

Received receive_message(int socket, std::string& message, std::int64_t seconds, const std::function<bool()>& stop) {
  std::optional<Clock::time_point> deadline;
  if (seconds >= 0) deadline = Clock::now() + std::chrono::seconds(seconds);
  std::uint64_t size = 0;
  const Received head = receive(socket, reinterpret_cast<char*>(&size), sizeof size, deadline, stop);
  if (head != Received::kMessage) return head;
  if (size > kLongest) return Received::kGone;
  message.resize(size);
  return receive(socket, message.data(), size, deadline, stop);
}

}  // namespace rewright
