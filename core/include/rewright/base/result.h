// Result<T>: a value, or an error with a code and one sentence. Named like C++23's std::expected, so that it
// can be replaced by it.
#pragma once

#include <fmt/format.h>

#include <cstdlib>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>

namespace rewright {

enum class ErrorCode {
  kUsage,        ///< The caller asked for something that cannot be asked for.
  kParse,        ///< A text or file does not follow its grammar.
  kShape,        ///< Operands do not fit an operator.
  kUnsupported,  ///< Valid input, but nothing here handles it.
  kNotFound,     ///< A name, file or plugin that does not exist.
  kPlugin,       ///< A plugin that cannot be loaded or broke its contract.
  kIo,           ///< The operating system refused to read or write.
  kBudget,       ///< A limit on work or memory was reached.
  kMismatch,     ///< Two things that must be equal are not.
  kInternal,     ///< Our own fault.
};

/// What went wrong, in one sentence for a person: what, where (file, line, value), what was expected, what to do.
struct Error {
  ErrorCode code = ErrorCode::kInternal;
  std::string message;
};

template <class... Args>
[[nodiscard]] Error make_error(ErrorCode code, fmt::format_string<Args...> format, Args&&... args) {
  return Error{code, fmt::format(format, std::forward<Args>(args)...)};
}

template <class... Args>
[[nodiscard]] Error shape_error(fmt::format_string<Args...> format, Args&&... args) {
  return Error{ErrorCode::kShape, fmt::format(format, std::forward<Args>(args)...)};
}

/// An own fault: prints the sentence and aborts. Never reached by user input.
[[noreturn]] inline void fail(std::string_view message) {
  fmt::print(stderr, "rewright: internal error: {}\n", message);
  std::abort();
}

template <class T>
class [[nodiscard]] Result {
 public:
  using value_type = T;

  Result(T value) : state_(std::in_place_index<0>, std::move(value)) {}
  Result(Error error) : state_(std::in_place_index<1>, std::move(error)) {}

  [[nodiscard]] bool has_value() const noexcept { return state_.index() == 0; }
  explicit operator bool() const noexcept { return has_value(); }

  [[nodiscard]] T& value() & { return check(), std::get<0>(state_); }
  [[nodiscard]] const T& value() const& { return check(), std::get<0>(state_); }
  [[nodiscard]] T&& value() && { return check(), std::get<0>(std::move(state_)); }
  T& operator*() & { return value(); }
  const T& operator*() const& { return value(); }
  T&& operator*() && { return std::move(*this).value(); }
  T* operator->() { return &value(); }
  const T* operator->() const { return &value(); }

  [[nodiscard]] const Error& error() const& { return std::get<1>(state_); }
  [[nodiscard]] Error&& error() && { return std::get<1>(std::move(state_)); }

 private:
  void check() const {
    if (!has_value()) fail("the value of a failed Result was read: " + std::get<1>(state_).message);
  }
  std::variant<T, Error> state_;
};

template <>
class [[nodiscard]] Result<void> {
 public:
  Result() = default;
  Result(Error error) : error_(std::move(error)), failed_(true) {}
  [[nodiscard]] bool has_value() const noexcept { return !failed_; }
  explicit operator bool() const noexcept { return has_value(); }
  [[nodiscard]] const Error& error() const& { return error_; }

 private:
  Error error_;
  bool failed_ = false;
};

/// A Result without a value to carry.
using Status = Result<void>;

/// Evaluates `expression`; hands its error to the caller, or binds its value to `declaration`.
#define REWRIGHT_TRY(declaration, expression) REWRIGHT_TRY_(declaration, expression, __LINE__)
#define REWRIGHT_TRY_(declaration, expression, line) REWRIGHT_TRY__(declaration, expression, line)
#define REWRIGHT_TRY__(declaration, expression, line)    \
  auto try_##line = (expression);                        \
  if (!try_##line) return std::move(try_##line).error(); \
  declaration = *std::move(try_##line)

/// Evaluates `expression`, a Status or Result; hands its error to the caller. One statement: it may stand before
/// `else`.
#define REWRIGHT_CHECK(expression)                                  \
  do {                                                              \
    if (auto status = (expression); !status) return status.error(); \
  } while (false)

}  // namespace rewright
