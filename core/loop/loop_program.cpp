// Statements and the names of loops.
#include <rewright/loop/loop_program.h>

#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>

#include "loop/reserved_words.h"

namespace rewright::loop {

// --- names -----------------------------------------------------------------------------------------------------

namespace {

bool is_word(std::string_view text) {
  return !text.empty() && is_letter(text[0]) &&
         std::ranges::all_of(text, [](char c) { return is_letter(c) || is_digit(c); });
}

std::vector<std::string_view> split(std::string_view text, char at) {
  std::vector<std::string_view> parts;
  for (std::size_t end = text.find(at); end != std::string_view::npos; end = text.find(at)) {
    parts.push_back(text.substr(0, end));
    text.remove_prefix(end + 1);
  }
  parts.push_back(text);
  return parts;
}

std::optional<LoopName::Part> parse_part(std::string_view text) {
  const auto steps = split(text, '/');
  const auto words = split(steps[0], '.');
  if (words.size() != 2 || !is_word(words[0]) || !is_word(words[1])) return std::nullopt;
  LoopName::Part part{std::string(words[0]), std::string(words[1])};
  for (std::size_t i = 1; i < steps.size(); ++i) {
    const char* const end = steps[i].data() + steps[i].size();
    const auto [stop, code] = std::from_chars(steps[i].data(), end, part.path.emplace_back());
    if (code != std::errc() || stop != end || part.path.back() < 0) return std::nullopt;
  }
  return part;
}

}  // namespace

std::string to_string(const LoopName& name) {
  std::vector<std::string> parts;
  for (const LoopName::Part& part : name.parts) {
    parts.push_back(part.stage + "." + part.axis);
    for (const int step : part.path) parts.back() += fmt::format("/{}", step);
  }
  return fmt::format("{}", fmt::join(parts, "&"));
}

std::optional<LoopName> parse_loop_name(std::string_view text) {
  LoopName name;
  for (const std::string_view part : split(text, '&')) {
    auto read = parse_part(part);
    if (!read) return std::nullopt;
    name.parts.push_back(*std::move(read));
  }
  return name;
}

const char* name_of(LoopKind kind) {
  constexpr const char* kNames[] = {"serial", "parallel", "vector", "unroll"};
  return kNames[static_cast<int>(kind)];
}

const char* name_of(StoreKind kind) {
  constexpr const char* kNames[] = {"=", "+=", "*=", "max=", "min="};
  return kNames[static_cast<int>(kind)];
}

// --- statements ------------------------------------------------------------------------------------------------

Statement::Statement(Content content, std::string note)
    : content_(std::make_shared<const Content>(std::move(content))), note_(std::move(note)) {}

bool operator==(const Statement& a, const Statement& b) {
  return a.note_ == b.note_ && (a.content_ == b.content_ || *a.content_ == *b.content_);
}

const Body& body_of(const Statement& statement) {
  static const Body kNone;
  if (const Loop* loop = statement.loop()) return loop->body;
  return statement.branch() != nullptr ? statement.branch()->body : kNone;
}

}  // namespace rewright::loop
