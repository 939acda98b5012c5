#include "experiment/parameters.h"

#include <fmt/ranges.h>

#include <filesystem>

#include "base/spelling.h"

namespace rewright::experiment {

Error Parameters::error(const std::string& key, const std::string& sentence) const {
  const auto line = lines_.find(key);
  return make_error(ErrorCode::kParse, "{}:{}: {}", place_.file, line == lines_.end() ? place_.line : line->second,
                    sentence);
}

Error Parameters::wrong(const std::string& key, const Json& value, const std::string& expected) const {
  return error(key, fmt::format("'{}' must be {}, not {}", key, expected, value.dump()));
}

Result<const Json*> Parameters::find(const std::string& key, bool required) {
  asked_.insert(key);
  const auto found = values_.find(key);
  if (found != values_.end()) return &*found;
  if (required) return error(key, fmt::format("the run needs the key '{}'", key));
  return static_cast<const Json*>(nullptr);
}

Result<std::string> Parameters::text(const std::string& key, std::optional<std::string> otherwise) {
  REWRIGHT_TRY(const Json* value, find(key, !otherwise));
  if (value == nullptr) return *otherwise;
  if (!value->is_string()) return wrong(key, *value, "a text");
  return value->get<std::string>();
}

Result<std::int64_t> Parameters::integer(const std::string& key, std::int64_t least, std::int64_t most,
                                         std::optional<std::int64_t> otherwise) {
  REWRIGHT_TRY(const Json* value, find(key, !otherwise));
  if (value == nullptr) return *otherwise;
  if (!value->is_number_integer() || value->get<std::int64_t>() < least || value->get<std::int64_t>() > most)
    return wrong(key, *value, fmt::format("a whole number from {} to {}", least, most));
  return value->get<std::int64_t>();
}

Result<double> Parameters::number(const std::string& key, double least, double most, std::optional<double> otherwise) {
  REWRIGHT_TRY(const Json* value, find(key, !otherwise));
  if (value == nullptr) return *otherwise;
  if (!value->is_number() || value->get<double>() < least || value->get<double>() > most)
    return wrong(key, *value, fmt::format("a number from {} to {}", least, most));
  return value->get<double>();
}

Result<bool> Parameters::boolean(const std::string& key, bool otherwise) {
  REWRIGHT_TRY(const Json* value, find(key, false));
  if (value == nullptr) return otherwise;
  if (!value->is_boolean()) return wrong(key, *value, "true or false");
  return value->get<bool>();
}

Result<std::vector<std::string>> Parameters::texts(const std::string& key) {
  REWRIGHT_TRY(const Json* value, find(key, false));
  std::vector<std::string> texts;
  if (value == nullptr) return texts;
  if (value->is_string()) return std::vector{value->get<std::string>()};
  if (!value->is_array()) return wrong(key, *value, "a list of texts");
  for (const Json& element : *value) {
    if (!element.is_string()) return wrong(key, element, "a list of texts");
    texts.push_back(element.get<std::string>());
  }
  return texts;
}

Result<std::string> Parameters::existing(const std::string& key, const std::string& name) {
  const std::filesystem::path path = (std::filesystem::path(folder_) / name).lexically_normal();
  std::error_code ignored;
  if (!std::filesystem::exists(path, ignored))
    return error(key, fmt::format("'{}' names '{}', and there is no file '{}'", key, name, path.string()));
  if (!std::filesystem::is_directory(path, ignored)) named_files_.push_back(path.string());
  return path.string();
}

Result<std::string> Parameters::file(const std::string& key) {
  REWRIGHT_TRY(const std::string name, text(key));
  return existing(key, name);
}

Result<std::vector<std::string>> Parameters::files(const std::string& key) {
  REWRIGHT_TRY(std::vector<std::string> names, texts(key));
  for (std::string& name : names) {
    REWRIGHT_TRY(name, existing(key, name));
  }
  return names;
}

Result<Options> Parameters::options(const std::string& key) {
  REWRIGHT_TRY(const Json* value, find(key, false));
  Options options;
  if (value == nullptr) return options;
  if (!value->is_object()) return wrong(key, *value, "a table");
  for (const auto& [name, option] : value->items()) {
    if (name == "file" && option.is_string()) {
      REWRIGHT_TRY(options[name], existing(key, option.get<std::string>()));
    } else if (option.is_boolean()) {
      options[name] = option.get<bool>();
    } else if (option.is_number_integer()) {
      options[name] = option.get<std::int64_t>();
    } else if (option.is_number()) {
      options[name] = option.get<double>();
    } else if (option.is_string()) {
      options[name] = option.get<std::string>();
    } else {
      return wrong(key, option, "a table of numbers, texts, true and false");
    }
  }
  return options;
}

Status Parameters::finish() const {
  const std::vector<std::string> known(asked_.begin(), asked_.end());
  for (const auto& [key, value] : values_.items()) {
    if (asked_.contains(key)) continue;
    const std::optional<std::string> near = nearest(key, known);
    return error(key, fmt::format("a run of this kind has no key '{}'; {}", key,
                                  near ? fmt::format("did you mean '{}'?", *near)
                                       : fmt::format("there are: {}", fmt::join(known, ", "))));
  }
  return {};
}

}  // namespace rewright::experiment
