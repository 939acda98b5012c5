#include "cli/arguments.h"

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include <charconv>
#include <optional>

namespace rewright::cli {

Check in_range(int least, int most) {
  return [=](CLI::Option& option) { option.check(CLI::Range(least, most)); };
}
Check positive() {
  return [](CLI::Option& option) { option.check(CLI::PositiveNumber); };
}
Check not_negative() {
  return [](CLI::Option& option) { option.check(CLI::NonNegativeNumber); };
}
Check one_of(std::vector<std::string> words) {
  return [words = std::move(words)](CLI::Option& option) { option.check(CLI::IsMember(words)); };
}
Check whole_number(std::int64_t least) {
  return [least](CLI::Option& option) {
    option.check([least](const std::string& word) {
      std::int64_t number = 0;
      const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), number);
      const bool good = error == std::errc() && end == word.data() + word.size() && number >= least;
      return good ? "" : fmt::format("{} is no whole number from {} to 2^63 - 1", word, least);
    });
  };
}

const Argument& Argument::required() const { return option_->required(), *this; }
const Argument& Argument::check(const Check& check) const { return check(*option_), *this; }
const Argument& Argument::type_name(const std::string& name) const { return option_->type_name(name), *this; }
const Argument& Argument::repeatable() const { return option_->expected(1)->take_all(), *this; }
const Argument& Argument::expected(int least, int most) const { return option_->expected(least, most), *this; }
const Argument& Argument::needs(const Argument& other) const { return option_->needs(other.option_), *this; }
const Argument& Argument::excludes(const Argument& other) const { return option_->excludes(other.option_), *this; }
const Argument& Argument::show_default() const { return option_->capture_default_str(), *this; }
const Argument& Argument::show_default(const std::string& text) const { return option_->default_str(text), *this; }

template <class T>
Argument Command::add_option(const std::string& names, T& variable, const std::string& description) const {
  return Argument(*app_->add_option(names, variable, description));
}
template <class T>
Argument Command::add_option_function(const std::string& names, std::function<void(const T&)> take,
                                      const std::string& description) const {
  return Argument(*app_->add_option_function<T>(names, take, description));
}
Argument Command::add_flag(const std::string& names, bool& variable, const std::string& description) const {
  return Argument(*app_->add_flag(names, variable, description));
}
void Command::start_group(const std::string& title) const { app_->option_defaults()->group(title); }
void Command::hide() const { app_->group(""); }

#define REWRIGHT_OPTION(...) \
  template Argument Command::add_option(const std::string&, __VA_ARGS__&, const std::string&) const;
REWRIGHT_OPTION(std::string)
REWRIGHT_OPTION(std::vector<std::string>)
REWRIGHT_OPTION(std::vector<double>)
REWRIGHT_OPTION(int)
REWRIGHT_OPTION(std::int64_t)
REWRIGHT_OPTION(std::uint64_t)
REWRIGHT_OPTION(double)
REWRIGHT_OPTION(std::optional<std::string>)
REWRIGHT_OPTION(std::optional<int>)
REWRIGHT_OPTION(std::optional<std::uint64_t>)
REWRIGHT_OPTION(std::optional<double>)
#undef REWRIGHT_OPTION
#define REWRIGHT_OPTION_FUNCTION(T)                                                                 \
  template Argument Command::add_option_function(const std::string&, std::function<void(const T&)>, \
                                                 const std::string&) const;
REWRIGHT_OPTION_FUNCTION(double)
REWRIGHT_OPTION_FUNCTION(std::uint64_t)
#undef REWRIGHT_OPTION_FUNCTION

}  // namespace rewright::cli
