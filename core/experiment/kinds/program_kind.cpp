// Kind "program": a program of the benchmarks, for what is no part of the library (TASO's own generator and space,
// restated); its figures are read from the lines that it prints.
//
//   program     its name
//   arguments   a list
//   pattern     a regular expression (ECMAScript) that fits the lines with figures, one group for each of
//   fields      the figures' names
//   label       stands in every row
//
// Rows  row = "line", and the fields of each line that fits, as numbers
#include <algorithm>
#include <array>
#include <cstdio>
#include <filesystem>
#include <regex>

#include "experiment/kind.h"
#include "experiment/kinds/clock.h"

namespace rewright::experiment {
namespace {

struct ProgramAsked {
  std::string program, file;  ///< `file` is empty where the program is not built.
  std::vector<std::string> arguments, fields;
  std::string pattern, label;
};

/// Quoted for a shell.
std::string in_quotes(const std::string& text) {
  std::string result(1, '\'');
  for (const char c : text) {
    if (c == '\'') result += "'\\'";
    result += c;
  }
  result += '\'';
  return result;
}

/// Standard output and standard error, and how it ended.
Result<std::pair<std::string, int>> output_of(const std::string& command) {
  std::FILE* pipe = popen((command + " 2>&1").c_str(), "r");
  if (pipe == nullptr) return make_error(ErrorCode::kIo, "'{}' cannot be started", command);
  std::string text;
  std::array<char, 4096> part{};
  while (const std::size_t count = std::fread(part.data(), 1, part.size(), pipe)) text.append(part.data(), count);
  return std::pair(std::move(text), pclose(pipe));
}

/// Empty where it is not built.
std::string path_of(const std::string& program, const Lab& lab) {
  std::error_code ignored;
  for (const std::string& folder : lab.programs)
    if (std::filesystem::is_regular_file(folder + "/" + program, ignored)) return folder + "/" + program;
  return {};
}

Result<Outcome> work(const ProgramAsked& asked, const Lab& lab) {
  if (asked.file.empty())
    return Outcome{{},
                   {},
                   fmt::format("the benchmark '{}' is not built (cmake -S . -B build/release "
                               "-DREWRIGHT_BUILD_BENCHMARKS=ON, then build the target {})",
                               asked.program, asked.program)};
  std::string command = in_quotes(asked.file);
  for (std::string argument : asked.arguments) {
    const std::size_t at = argument.find("$WORK");
    if (at != std::string::npos) argument.replace(at, 5, lab.work);
    command += fmt::format(" {}", in_quotes(argument));
  }
  lab.show(asked.program, 0);
  const Clock clock;
  REWRIGHT_TRY(const auto output, output_of(command));
  if (lab.stopped()) return stopped_early();
  if (output.second != 0)
    return make_error(ErrorCode::kNotFound, "'{}' failed: {}", command,
                      output.first.substr(0, output.first.find('\n')));
  Outcome outcome;
  const std::regex pattern(asked.pattern);
  for (std::sregex_iterator at(output.first.begin(), output.first.end(), pattern), end; at != end; ++at) {
    Json row = {{"row", "line"}, {"label", asked.label}};
    for (std::size_t i = 0; i < asked.fields.size(); ++i) {
      std::string digits = (*at)[i + 1].str();
      std::erase(digits, ',');
      const double value = std::strtod(digits.c_str(), nullptr);
      if (digits.find('.') == std::string::npos)
        row[asked.fields[i]] = static_cast<std::int64_t>(value);
      else
        row[asked.fields[i]] = value;
    }
    outcome.rows.push_back(std::move(row));
  }
  if (outcome.rows.empty())
    return make_error(ErrorCode::kMismatch, "nothing that '{}' prints fits the pattern {}", command, asked.pattern);
  outcome.rows.push_back(
      {{"row", "sum"}, {"label", asked.label}, {"run_seconds", clock.wall()}, {"run_cpu_seconds", clock.cpu()}});
  return outcome;
}

}  // namespace

Result<Job> program_job(Parameters& parameters, const Lab& lab) {
  ProgramAsked asked;
  REWRIGHT_TRY(asked.program, parameters.text("program"));
  REWRIGHT_TRY(asked.arguments, parameters.texts("arguments"));
  REWRIGHT_TRY(asked.pattern, parameters.text("pattern"));
  REWRIGHT_TRY(asked.fields, parameters.texts("fields"));
  REWRIGHT_TRY(asked.label, parameters.text("label", asked.program));
  try {
    const std::regex pattern(asked.pattern);
    if (pattern.mark_count() != asked.fields.size())
      return parameters.error("pattern", fmt::format("'pattern' has {} groups, and 'fields' {} names",
                                                     pattern.mark_count(), asked.fields.size()));
  } catch (const std::regex_error& wrong) {
    return parameters.error("pattern", fmt::format("'pattern' is no regular expression: {}", wrong.what()));
  }
  asked.file = path_of(asked.program, lab);
  Job job{[asked](const Lab& place) { return work(asked, place); }};
  job.measures = true;
  if (!asked.file.empty()) job.files.push_back(asked.file);
  return job;
}

}  // namespace rewright::experiment
