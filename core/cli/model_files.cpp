#include "cli/model_files.h"

#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <set>

#include "base/files.h"
#include "base/written_file.h"
#include "onnx/external.h"

namespace rewright::cli {
namespace {

namespace fs = std::filesystem;

fs::path folder_of(const std::string& file) { return fs::absolute(file).parent_path(); }

bool is_same_file(const fs::path& a, const fs::path& b) {
  std::error_code none;
  return fs::equivalent(a, b, none) && !none;
}

/// The first of OUT.data, OUT.1.data, ... that does not exist.
std::string unused_data_file(const std::string& output) {
  std::error_code none;
  std::string name = output + ".data";
  for (int i = 1; fs::exists(fs::symlink_status(name, none)); ++i) name = fmt::format("{}.{}.data", output, i);
  return name;
}

/// True for OUT.data and OUT.N.data.
bool is_data_file_of(const std::string& output, const std::string& name) {
  const std::string stem = fs::path(output).filename().string() + ".", end = "data";
  if (!name.starts_with(stem) || !name.ends_with(end) || name.size() < stem.size() + end.size()) return false;
  const std::string_view number = std::string_view(name).substr(stem.size(), name.size() - stem.size() - end.size());
  if (number.empty()) return true;
  return number.size() > 1 && number.back() == '.' &&
         std::ranges::all_of(number.substr(0, number.size() - 1), [](char c) { return c >= '0' && c <= '9'; });
}

/// The files that a model names, each spelt in one way.
std::set<std::string> named_in(const std::string& model) {
  std::set<std::string> names;
  for (const std::string& name : external_files(model)) names.insert(fs::path(name).lexically_normal().string());
  return names;
}

/// What the model at `path` names; nothing where there is no model.
std::set<std::string> named_by(const std::string& path) {
  std::error_code none;
  if (!fs::is_regular_file(path, none)) return {};
  const auto model = read_file(path);
  return model ? named_in(*model) : std::set<std::string>();
}

/// Files that the input, where it stays, and other models of the folder name.
std::set<std::string> named_by_others(const ModelFiles& files) {
  std::set<std::string> names;
  if (!is_same_file(files.input, files.output)) names = named_in(files.original);
  std::error_code none;
  for (const auto& entry : fs::directory_iterator(folder_of(files.output), none)) {
    if (entry.path().extension() != ".onnx" || is_same_file(entry.path(), files.output)) continue;
    names.merge(named_by(entry.path().string()));
  }
  return names;
}

/// Removes what the model that was there named and nothing names any more.
void remove_unused(const ModelFiles& files, std::set<std::string> before, const std::string& model) {
  std::erase_if(before, [&](const std::string& name) { return !is_data_file_of(files.output, name); });
  if (before.empty()) return;
  for (const std::string& name : named_in(model)) before.erase(name);
  if (before.empty()) return;
  for (const std::string& name : named_by_others(files)) before.erase(name);
  for (const std::string& name : before) (void)unlink((folder_of(files.output) / name).c_str());
}

}  // namespace

Status check_output_path(const std::string& path) {
  const fs::path folder = fs::path(path).has_parent_path() ? fs::path(path).parent_path() : fs::path(".");
  if (fs::is_directory(path)) return make_error(ErrorCode::kUsage, "-o: '{}' is a folder", path);
  if (!fs::is_directory(folder))
    return make_error(ErrorCode::kNotFound, "-o: there is no folder '{}' to write '{}' into", folder.string(), path);
  return {};
}

Status check_output(const ModelFiles& files) {
  for (const std::string& name : external_files(files.original)) {
    if (is_same_file(files.output, fs::path(files.directory) / name))
      return make_error(ErrorCode::kUsage, "-o: '{}' holds weights of '{}', which would be lost; give another name",
                        files.output, files.input);
  }
  return {};
}

Status write_model(const ModelFiles& files, const std::string& model) {
  REWRIGHT_CHECK(check_output(files));
  const bool unchanged = model == files.original;
  if (unchanged && is_same_file(files.input, files.output)) return {};
  const std::set<std::string> before = named_by(files.output);
  SplitModel split{model, {}};
  if (!external_files(files.original).empty() &&
      !(unchanged && is_same_file(folder_of(files.input), folder_of(files.output)))) {
    const std::string data_file = unused_data_file(files.output);
    REWRIGHT_TRY(split, split_off_weights(model, fs::path(data_file).filename().string(), files.directory));
    if (!split.data.empty())
      REWRIGHT_CHECK(write_file(data_file, [&](int descriptor) { return write_weights(descriptor, split.data); }));
  }
  REWRIGHT_CHECK(write_file(files.output, split.model));
  remove_unused(files, before, split.model);
  return {};
}

}  // namespace rewright::cli
