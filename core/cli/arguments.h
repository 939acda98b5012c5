// What a subcommand's arguments are. CLI11 reads them; it takes seconds to compile, so that few sources include it.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace CLI {
class App;
class Option;
class Validator;
}  // namespace CLI

namespace rewright::cli {

/// What a value must be; a value that is not is refused with a sentence.
using Check = std::function<void(CLI::Option&)>;
[[nodiscard]] Check in_range(int least, int most);
[[nodiscard]] Check positive();
[[nodiscard]] Check not_negative();
[[nodiscard]] Check one_of(std::vector<std::string> words);
/// From `least` to 2^63 - 1. (CLI11 takes -1 for the greatest of an unsigned type.)
[[nodiscard]] Check whole_number(std::int64_t least);

/// One option, flag or positional argument of a command, which owns it.
class Argument {
 public:
  explicit Argument(CLI::Option& option) : option_(&option) {}

  const Argument& required() const;
  const Argument& check(const Check& check) const;
  /// What kind of value, in --help: "DIR".
  const Argument& type_name(const std::string& name) const;
  /// Each time it is named it takes one value.
  const Argument& repeatable() const;
  /// So many values; -1 for any number.
  const Argument& expected(int least, int most) const;
  const Argument& needs(const Argument& other) const;
  const Argument& excludes(const Argument& other) const;
  /// --help names the value that the variable has now, or this text.
  const Argument& show_default() const;
  const Argument& show_default(const std::string& text) const;

 private:
  CLI::Option* option_;
};

/// A subcommand, or a word that groups some. The program owns it.
class Command {
 public:
  explicit Command(CLI::App& app) : app_(&app) {}

  /// `names` is "-o,--output", or "FILE" for a positional argument. The variable must outlive the parsing. T: a string,
  /// a number, an optional one, or a vector of strings or doubles.
  template <class T>
  Argument add_option(const std::string& names, T& variable, const std::string& description) const;
  /// `take` is called with the value: T is double or std::uint64_t.
  template <class T>
  Argument add_option_function(const std::string& names, std::function<void(const T&)> take,
                               const std::string& description) const;
  Argument add_flag(const std::string& names, bool& variable, const std::string& description) const;
  /// What is added from here on stands in --help below this title.
  void start_group(const std::string& title) const;
  /// It does not stand in --help.
  void hide() const;

  [[nodiscard]] CLI::App& app() const { return *app_; }

 private:
  CLI::App* app_;
};

}  // namespace rewright::cli
