#include "c_shared_parts.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <map>
#include <optional>
#include <set>
#include <string_view>
#include <vector>

namespace rewright::c {
namespace {

/// Characters that a name must save at least.
constexpr std::ptrdiff_t kLeastSaved = 8;
constexpr std::string_view kLoop = "for (int64_t ", kConstant = "const int64_t ", kPointer = " *restrict ";

using Names = std::set<std::string, std::less<>>;

bool is_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }
bool is_number(std::string_view text) {
  return std::ranges::all_of(text, [](char c) { return c >= '0' && c <= '9'; });
}
std::string_view word_at(std::string_view text, std::size_t begin) {
  std::size_t end = begin;
  while (end < text.size() && is_word(text[end])) ++end;
  return text.substr(begin, end - begin);
}

/// "float", "v8f32", "v16i32": what variables in registers are.
bool is_type(std::string_view word) {
  return word == "float" ||
         (word.size() > 3 && word[0] == 'v' && std::isdigit(static_cast<unsigned char>(word[1])) != 0);
}

/// Calls f(name) for each name in the text, which is no number.
template <class F>
void for_each_name(std::string_view text, const F& f) {
  for (std::size_t begin = 0; begin < text.size();) {
    const std::string_view word = word_at(text, begin);
    if (!word.empty() && std::isdigit(static_cast<unsigned char>(word[0])) == 0) f(word);
    begin += std::max<std::size_t>(word.size(), 1);
  }
}

/// Around a line, outermost first.
struct Block {
  std::size_t line = 0;       ///< Where it begins.
  std::string variable = {};  ///< Of a loop.
};
/// Of a function.
struct Outside {
  Names constants;  ///< Numbers from outside of its loops.
  Names pointers;   ///< No two reach the same memory.
};
/// A part of a line that others may have, too, and the line behind which its name is declared.
struct Part {
  std::size_t line = 0;
  std::size_t at = 0;
  std::string text;
  std::size_t scope = 0;  ///< The block in which it means the same, by its line.
};

class Lines {
 public:
  explicit Lines(const std::string& text) {
    for (std::size_t begin = 0; begin < text.size();) {
      const std::size_t end = std::min(text.find('\n', begin), text.size());
      lines_.emplace_back(text.substr(begin, end - begin));
      begin = end + 1;
    }
    for_each_name(text, [&](std::string_view name) { names_.emplace(name); });
  }

  /// Gives names to parts that occur often enough. `find(line, number, blocks, outside, parts)` adds the parts of a
  /// line. `declare(part)`: "const int64_t", or its like.
  template <class Find, class Declare>
  void share(const std::string& stem, bool at_first_use, const Find& find, const Declare& declare) {
    std::vector<Part> parts = all_parts(find);
    std::map<std::pair<std::size_t, std::string>, std::pair<std::ptrdiff_t, std::size_t>>
        uses;  ///< And the first line.
    for (const Part& part : parts) ++uses.try_emplace({part.scope, part.text}, 0, part.line).first->second.first;
    std::map<std::size_t, std::string> declared;  ///< In front of these lines.
    std::map<std::pair<std::size_t, std::string>, std::string> named;
    int next = 0;
    for (const auto& [use, seen] : uses) {
      while (names_.contains(fmt::format("{}{}", stem, next))) ++next;
      std::string name = fmt::format("{}{}", stem, next);
      const std::size_t line = at_first_use ? seen.second : use.first + 1;
      const std::size_t indent = lines_[use.first].find_first_not_of(' ') + 2;
      std::string text = fmt::format("{:{}}{} {} = {};\n", "", indent, declare(use.second), name, use.second);
      const auto saved = static_cast<std::ptrdiff_t>(use.second.size()) - static_cast<std::ptrdiff_t>(name.size());
      if (saved * seen.first - static_cast<std::ptrdiff_t>(text.size()) < kLeastSaved) continue;
      declared[line] += text;
      named[use] = std::move(name);
      ++next;
    }
    std::ranges::reverse(parts);  // What is replaced moves what is behind it.
    for (const Part& part : parts) {
      const auto found = named.find({part.scope, part.text});
      if (found != named.end()) lines_[part.line].replace(part.at, part.text.size(), found->second);
    }
    *this = Lines(text_with(declared));
  }
  [[nodiscard]] std::string text() const { return text_with({}); }

 private:
  [[nodiscard]] std::string text_with(const std::map<std::size_t, std::string>& before) const {
    std::string text;
    for (std::size_t i = 0; i < lines_.size(); ++i) {
      if (const auto found = before.find(i); found != before.end()) text += found->second;
      text += lines_[i] + '\n';
    }
    return text;
  }
  template <class Find>
  [[nodiscard]] std::vector<Part> all_parts(const Find& find) const {
    std::vector<Part> parts;
    std::vector<Block> blocks;
    Outside outside;
    for (std::size_t i = 0; i < lines_.size(); ++i) {
      const std::string& line = lines_[i];
      const std::string_view text = std::string_view(line).substr(std::min(line.find_first_not_of(' '), line.size()));
      if (text.starts_with("/*")) continue;
      if (text.starts_with('}') && !blocks.empty()) blocks.pop_back();
      if (blocks.empty()) outside = {};
      if (blocks.size() <= 1) collect_outside(text, outside);
      find(line, i, blocks, outside, parts);
      if (!text.ends_with('{')) continue;
      blocks.push_back({i, text.starts_with(kLoop) ? std::string(word_at(text, kLoop.size())) : ""});
    }
    return parts;
  }
  /// Of the head of a function, or of a statement outside of its loops.
  static void collect_outside(std::string_view text, Outside& outside) {
    if (text.starts_with(kConstant)) outside.constants.emplace(word_at(text, kConstant.size()));
    for (std::size_t at = text.find(kPointer); at != std::string_view::npos; at = text.find(kPointer, at + 1))
      outside.pointers.emplace(word_at(text, at + kPointer.size()));
  }

  std::vector<std::string> lines_;
  Names names_;
};

/// Where a sum of products of names and numbers has the number at its end; its size where there is none. Nothing for
/// other indices.
std::optional<std::size_t> base_size(std::string_view index) {
  const bool is_sum = std::ranges::all_of(index, [](char c) { return is_word(c) || c == ' ' || c == '+' || c == '*'; });
  if (!is_sum) return std::nullopt;
  const std::size_t last = index.rfind(" + ");
  return last != std::string_view::npos && is_number(index.substr(last + 3)) ? last : index.size();
}

/// The innermost loop whose variable the index names; nothing where it names what is neither such nor a constant.
std::optional<std::size_t> followed_loop(std::string_view base, const std::vector<Block>& blocks,
                                         const Names& outside) {
  std::optional<std::size_t> innermost;
  bool is_known = true;
  for_each_name(base, [&](std::string_view name) {
    if (outside.contains(name)) return;
    const auto found = std::find_if(blocks.rbegin(), blocks.rend(), [&](const Block& b) { return b.variable == name; });
    is_known &= found != blocks.rend();
    if (is_known) innermost = std::max(innermost.value_or(0), found->line);
  });
  return is_known ? innermost : std::nullopt;
}

void find_indices(const std::string& line, std::size_t number, const std::vector<Block>& blocks, const Outside& outside,
                  std::vector<Part>& parts) {
  for (std::size_t open = line.find('['); open != std::string::npos; open = line.find('[', open + 1)) {
    const std::size_t close = line.find_first_of("[]", open + 1);
    if (close == std::string::npos || line[close] == '[') continue;
    const std::string_view index = std::string_view(line).substr(open + 1, close - open - 1);
    const auto size = base_size(index);
    const auto loop = size ? followed_loop(index.substr(0, *size), blocks, outside.constants) : std::nullopt;
    if (loop) parts.push_back({number, open + 1, std::string(index.substr(0, *size)), *loop});
  }
}

/// The buffer that a statement writes: "store_v8f32(&x[...", "x[...] = "; empty for what writes none.
std::string_view written_buffer(std::string_view statement) {
  if (statement.starts_with("if (")) statement.remove_prefix(std::min(statement.find(") ") + 2, statement.size()));
  const std::string_view word = word_at(statement, 0);
  if (word.starts_with("store_")) return word_at(statement, std::min(word.size() + 2, statement.size()));
  return statement.substr(word.size()).starts_with('[') ? word : std::string_view();
}

/// Loads and splats of what nothing in the block around them writes.
class Loads {
 public:
  explicit Loads(const std::string& text) {
    std::vector<std::size_t> open;
    std::size_t number = 0;
    for (std::size_t begin = 0; begin < text.size(); ++number) {
      const std::size_t end = std::min(text.find('\n', begin), text.size());
      std::string_view line = std::string_view(text).substr(begin, end - begin);
      line.remove_prefix(std::min(line.find_first_not_of(' '), line.size()));
      if (line.starts_with('}') && !open.empty()) open.pop_back();
      if (const auto buffer = written_buffer(line); !buffer.empty()) {
        for (const std::size_t block : open) written_[block].emplace(buffer);
      } else if (line.starts_with("run_parallel(")) {  // Other functions may write anything.
        unknown_.insert(open.begin(), open.end());
      }
      if (line.ends_with('{')) open.push_back(number);
      begin = end + 1;
    }
  }

  /// "load_v8f32(&x[...])", "load_part_v8f32(&x[...], 3)", "splat_v8f32(x[...])" and "splat_v8f32(1.0f)".
  void operator()(const std::string& line, std::size_t number, const std::vector<Block>& blocks, const Outside& outside,
                  std::vector<Part>& parts) const {
    if (blocks.empty()) return;
    const std::size_t first = parts.size();
    for (const std::string_view stem : {"load_", "splat_"}) {
      for (std::size_t at = line.find(stem); at != std::string::npos; at = line.find(stem, at + 1)) {
        const std::size_t open = line.find('(', at), close = line.find_first_of("()", open + 1);
        if ((at > 0 && is_word(line[at - 1])) || close == std::string::npos || line[close] == '(') continue;
        const std::string_view inside = std::string_view(line).substr(open + 1, close - open - 1);
        if (is_same(inside, blocks.back().line, outside))
          parts.push_back({number, at, line.substr(at, close - at + 1), blocks.back().line});
      }
    }
    std::ranges::sort(parts.begin() + static_cast<std::ptrdiff_t>(first), parts.end(), {}, &Part::at);
  }

 private:
  /// Is an argument the same wherever it stands in the block?
  [[nodiscard]] bool is_same(std::string_view argument, std::size_t block, const Outside& outside) const {
    if (argument.find('[') == std::string_view::npos)
      return std::ranges::none_of(argument, [](char c) { return c == '_' || c == ','; }) &&
             (argument.ends_with("f") && std::isdigit(static_cast<unsigned char>(argument.front())) != 0);
    const std::string_view buffer = word_at(argument, argument.starts_with('&') ? 1 : 0);
    const std::size_t end = argument.find(']');
    if (!outside.pointers.contains(buffer) || end == std::string_view::npos ||
        argument.find('[', end) != std::string_view::npos)
      return false;
    const std::string_view rest = argument.substr(end + 1);
    const auto written = written_.find(block);
    return !unknown_.contains(block) && (rest.empty() || (rest.starts_with(", ") && is_number(rest.substr(2)))) &&
           (written == written_.end() || !written->second.contains(buffer));
  }

  std::map<std::size_t, Names> written_;  ///< Buffers, by the line where a block begins.
  std::set<std::size_t> unknown_;         ///< Blocks in which others write.
};

/// Variables that get a value where they were declared: "v8f32 t;", "t = x;" become "v8f32 t = x;".
std::string with_values(const std::string& text) {
  std::vector<std::string> lines;
  std::map<std::string, std::size_t, std::less<>> waiting;  ///< Declarations in the block, by the variable.
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    std::string line = text.substr(begin, end - begin);
    begin = end + 1;
    const std::size_t indent = std::min(line.find_first_not_of(' '), line.size());
    const std::string_view statement = std::string_view(line).substr(indent);
    const std::string_view word = word_at(statement, 0),
                           next = word_at(statement, std::min(word.size() + 1, statement.size()));
    if (statement.starts_with('}') || statement.ends_with('{')) {
      waiting.clear();
    } else if (!next.empty() && is_type(word) && statement.size() == word.size() + next.size() + 2) {
      waiting.emplace(next, lines.size());
    } else if (const auto found = waiting.find(word); found != waiting.end()) {
      const bool is_value = statement.substr(word.size()).starts_with(" = ");
      if (is_value) {
        std::string& declared = lines[found->second];
        line.insert(indent, declared.substr(indent, declared.find(' ', indent) + 1 - indent));
        declared.clear();
      }
      waiting.erase(found);
    }
    for_each_name(statement.substr(std::min(word.size(), statement.size())), [&](std::string_view name) {
      if (const auto used = waiting.find(name); used != waiting.end() && used->second != lines.size())
        waiting.erase(used);
    });
    lines.push_back(std::move(line));
  }
  std::string result;
  for (const std::string& line : lines)
    if (!line.empty()) result += line + '\n';
  return result;
}

/// What a declaration begins with, indented: "  const v8f32 "; empty for other lines.
std::string_view head_of_declaration(std::string_view line) {
  const std::size_t indent = std::min(line.find_first_not_of(' '), line.size());
  const std::size_t type = indent + (line.substr(indent).starts_with("const ") ? 6 : 0);
  const std::string_view word = word_at(line, type);
  const bool is_one = is_type(word) && line.substr(type + word.size()).starts_with(' ') && line.ends_with(';');
  return is_one ? line.substr(0, type + word.size() + 1) : std::string_view();
}

/// Declarations of one type that follow each other, as one.
std::string with_joined_declarations(const std::string& text) {
  constexpr std::size_t kMostColumns = 120;
  std::string result, last;
  const auto end_last = [&] {
    if (!last.empty()) result += last + '\n';
    last.clear();
  };
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    std::string line = text.substr(begin, end - begin);
    begin = end + 1;
    const std::string_view head = head_of_declaration(line);
    if (!head.empty() && head_of_declaration(last) == head && last.size() + line.size() < kMostColumns + head.size()) {
      last.back() = ',';
      last += ' ' + line.substr(head.size());
      continue;
    }
    end_last();
    if (line.empty()) result += '\n';
    last = std::move(line);
  }
  end_last();
  return result;
}

/// Of a load: "const v8f32".
std::string type_of_load(const std::string& load) {
  const std::size_t open = load.find('(');
  return "const " + load.substr(load.rfind('_', open) + 1, open - load.rfind('_', open) - 1);
}

}  // namespace

std::string with_shared_parts(const std::string& text) {
  Lines lines(with_values(text));
  lines.share("at", false, find_indices, [](const std::string&) { return std::string("const int64_t"); });
  lines.share("v", true, Loads(lines.text()), type_of_load);
  return with_joined_declarations(lines.text());
}

}  // namespace rewright::c
