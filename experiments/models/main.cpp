// rewright_models FOLDER [--random] [NAME...]: writes the models (all, or those named) as FOLDER/NAME.onnx.
#include <algorithm>
#include <cstdio>
#include <exception>
#include <filesystem>
#include <fstream>

#include "models.h"

namespace {

namespace fs = std::filesystem;

int usage() {
  std::fputs(
      "usage: rewright_models FOLDER [--random] [NAME...]\n"
      "Writes the models (all, or those named) as FOLDER/NAME.onnx. --random: random weights in all of them.\n\n",
      stderr);
  for (const auto& recipe : models::recipes()) {
    std::fprintf(stderr, "  %-12s %s\n", recipe.name.c_str(), recipe.summary.c_str());
  }
  return 2;
}

/// To a temporary name first, so that there is never half a file.
void write(const fs::path& file, const std::string& bytes) {
  const fs::path unfinished = file.string() + ".part";
  std::ofstream stream(unfinished, std::ios::binary);
  stream.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  stream.close();
  if (!stream) throw std::runtime_error(file.string() + " cannot be written");
  fs::rename(unfinished, file);
}

int run(const std::vector<std::string>& arguments) {
  std::vector<std::string> names(arguments.begin() + 1, arguments.end());
  const bool random = std::erase(names, "--random") > 0;
  for (const std::string& name : names) {
    const auto& known = models::recipes();
    if (std::none_of(known.begin(), known.end(), [&](const auto& recipe) { return recipe.name == name; })) {
      std::fprintf(stderr, "rewright_models: there is no model '%s'\n", name.c_str());
      return usage();
    }
  }
  fs::create_directories(arguments.front());
  for (const auto& recipe : models::recipes()) {
    if (!names.empty() && std::find(names.begin(), names.end(), recipe.name) == names.end()) continue;
    const std::string bytes = models::build(recipe, random ? models::Weights::kRandom : recipe.weights);
    write(fs::path(arguments.front()) / (recipe.name + ".onnx"), bytes);
  }
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  const std::vector<std::string> arguments(argv + 1, argv + argc);
  if (arguments.empty() || arguments.front().starts_with("-")) return usage();
  try {
    return run(arguments);
  } catch (const std::exception& problem) {
    std::fprintf(stderr, "rewright_models: %s\n", problem.what());
    return 4;
  }
}
