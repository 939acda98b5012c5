// The parameters of one unit of work of an experiment, asked for by name and type; what nobody asked for is an error.
#pragma once

#include <rewright/base/result.h>
#include <rewright/verify/verifier.h>

#include <nlohmann/json.hpp>

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace rewright::experiment {

/// Keys keep the order in which they are added.
using Json = nlohmann::ordered_json;

/// Where a manifest says something, for errors: "FILE:LINE".
struct Place {
  std::string file;
  std::size_t line = 0;
};

class Parameters {
 public:
  /// `folder`: what the names of files are relative to. `lines`: where each key stands.
  Parameters(Json values, std::string folder, Place place, std::map<std::string, std::size_t> lines = {})
      : values_(std::move(values)), folder_(std::move(folder)), place_(std::move(place)), lines_(std::move(lines)) {}

  // A key without `otherwise` is required.
  [[nodiscard]] Result<std::string> text(const std::string& key, std::optional<std::string> otherwise = {});
  [[nodiscard]] Result<std::int64_t> integer(const std::string& key, std::int64_t least, std::int64_t most,
                                             std::optional<std::int64_t> otherwise = {});
  [[nodiscard]] Result<double> number(const std::string& key, double least, double most,
                                      std::optional<double> otherwise = {});
  [[nodiscard]] Result<bool> boolean(const std::string& key, bool otherwise);
  /// Empty where the key is missing; one text counts as a list of one.
  [[nodiscard]] Result<std::vector<std::string>> texts(const std::string& key);
  /// The path of a file that is there.
  [[nodiscard]] Result<std::string> file(const std::string& key);
  [[nodiscard]] Result<std::vector<std::string>> files(const std::string& key);
  /// A table of a plugin's options; one that is called `file` is the path of a file that is there. Empty where the key
  /// is missing.
  [[nodiscard]] Result<Options> options(const std::string& key);

  /// The files asked for so far, and not the folders.
  [[nodiscard]] const std::vector<std::string>& named_files() const { return named_files_; }
  /// Errors: a key that nobody asked for.
  [[nodiscard]] Status finish() const;
  [[nodiscard]] Error error(const std::string& key, const std::string& sentence) const;

 private:
  [[nodiscard]] Result<const Json*> find(const std::string& key, bool required);
  [[nodiscard]] Error wrong(const std::string& key, const Json& value, const std::string& expected) const;
  [[nodiscard]] Result<std::string> existing(const std::string& key, const std::string& name);

  Json values_;
  std::string folder_;
  Place place_;
  std::map<std::string, std::size_t> lines_;
  std::set<std::string> asked_;
  std::vector<std::string> named_files_;
};

}  // namespace rewright::experiment
