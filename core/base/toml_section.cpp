#include "base/toml_section.h"

#include <algorithm>

#include "base/files.h"
#include "base/spelling.h"

namespace rewright {

Error toml_error(const std::string& file, const toml::node& node, const std::string& sentence) {
  const toml::source_position at = node.source().begin;
  return make_error(ErrorCode::kParse, "{}:{}:{}: {}", file, at.line, at.column, sentence);
}

std::string describe(const toml::node& node) {
  if (const auto* text = node.as_string()) return fmt::format("the text \"{}\"", text->get());
  if (const auto* number = node.as_integer()) return fmt::format("the number {}", number->get());
  if (const auto* number = node.as_floating_point()) return fmt::format("the number {}", number->get());
  if (const auto* truth = node.as_boolean()) return truth->get() ? "true" : "false";
  if (node.is_array()) return "a list";
  if (node.is_table()) return "a table";
  return "a date or time";
}

std::vector<std::pair<std::string, const toml::node*>> in_file_order(const toml::table& table) {
  std::vector<std::pair<std::string, const toml::node*>> entries;
  for (const auto& [key, node] : table) entries.emplace_back(std::string(key.str()), &node);
  std::stable_sort(entries.begin(), entries.end(), [](const auto& a, const auto& b) {
    const auto left = a.second->source().begin, right = b.second->source().begin;
    return std::pair(left.line, left.column) < std::pair(right.line, right.column);
  });
  return entries;
}

const toml::node* Section::find(const std::string& key) {
  asked_.insert(key);
  return table_->get(key);
}

Error Section::missing(const std::string& key) const {
  std::vector<std::string> others;
  for (const auto& [other, node] : *table_) {
    if (!asked_.contains(std::string(other.str()))) others.emplace_back(other.str());
  }
  if (const std::optional<std::string> near = nearest(key, others)) {
    return error(*table_->get(*near), fmt::format("{} has no key '{}'; did you mean '{}'?", title_, *near, key));
  }
  return error(*table_, fmt::format("{} needs the key '{}'", title_, key));
}

Error Section::wrong(const std::string& key, const toml::node& node, const std::string& expected) const {
  return error(node, fmt::format("'{}' must be {}, not {}", key, expected, describe(node)));
}

Result<std::int64_t> Section::integer(const std::string& key, Range range, std::optional<std::int64_t> otherwise) {
  const toml::node* node = find(key);
  if (node == nullptr) return otherwise ? Result<std::int64_t>(*otherwise) : missing(key);
  const auto* value = node->as_integer();
  if (value == nullptr || value->get() < range.least || value->get() > range.most) {
    return wrong(key, *node,
                 range.most == std::numeric_limits<std::int64_t>::max()
                     ? fmt::format("an integer of at least {}", range.least)
                     : fmt::format("an integer from {} to {}", range.least, range.most));
  }
  return value->get();
}

Result<std::string> Section::text(const std::string& key, std::optional<std::string> otherwise) {
  const toml::node* node = find(key);
  if (node == nullptr) return otherwise ? Result<std::string>(*otherwise) : missing(key);
  const auto* value = node->as_string();
  if (value == nullptr) return wrong(key, *node, "a text");
  if (value->get().empty()) return error(*node, fmt::format("'{}' must not be empty", key));
  return value->get();
}

Result<bool> Section::boolean(const std::string& key, bool otherwise) {
  const toml::node* node = find(key);
  if (node == nullptr) return otherwise;
  const auto* value = node->as_boolean();
  if (value == nullptr) return wrong(key, *node, "true or false");
  return value->get();
}

Result<std::uint64_t> Section::size_bytes(const std::string& key, std::uint64_t otherwise) {
  const toml::node* node = find(key);
  if (node == nullptr) return otherwise;
  std::optional<std::uint64_t> size;
  if (const auto* number = node->as_integer(); number != nullptr && number->get() > 0) {
    size = static_cast<std::uint64_t>(number->get());
  }
  if (const auto* value = node->as_string()) size = read_bytes(value->get());
  if (!size) return wrong(key, *node, "a number of bytes, or a text like \"4G\"");
  return *size;
}

Result<const toml::array*> Section::list(const std::string& key, bool required) {
  static const toml::array kEmpty;
  const toml::node* node = find(key);
  if (node == nullptr) return required ? Result<const toml::array*>(missing(key)) : &kEmpty;
  const toml::array* value = node->as_array();
  if (value == nullptr) return wrong(key, *node, "a list");
  return value;
}

Result<const toml::table*> Section::section(const std::string& key, bool required) {
  static const toml::table kEmpty;
  const toml::node* node = find(key);
  if (node == nullptr) return required ? Result<const toml::table*>(missing(key)) : &kEmpty;
  const toml::table* value = node->as_table();
  if (value == nullptr) return wrong(key, *node, "a table");
  return value;
}

Status Section::finish() const {
  for (const auto& [key, node] : in_file_order(*table_)) {
    if (asked_.contains(key)) continue;
    const std::vector<std::string> known(asked_.begin(), asked_.end());
    const std::optional<std::string> near = nearest(key, known);
    return error(*node, fmt::format("{} has no key '{}'; {}there are: {}", title_, key,
                                    near ? fmt::format("did you mean '{}'? ", *near) : "", fmt::join(known, ", ")));
  }
  return {};
}

}  // namespace rewright
