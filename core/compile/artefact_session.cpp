#include "compile/artefact_session.h"

#include <rewright/base/command.h>

#include <algorithm>
#include <cstdlib>
#include <sstream>

#include "base/files.h"

namespace rewright::compile {

Result<std::unique_ptr<ArtefactSession>> ArtefactSession::build(const Artefact& artefact, const std::string& folder,
                                                                const std::string& built, int seconds) {
  std::unique_ptr<ArtefactSession> session(new ArtefactSession(built, artefact, folder, seconds));
  REWRIGHT_CHECK(session->compile("run", {}));
  return session;
}

Status ArtefactSession::compile(const std::string& program, const std::vector<std::string>& flags) const {
  std::vector<std::string> words = flags_;
  words.insert(words.end(), flags.begin(), flags.end());
  words.insert(words.end(), {"-o", path(program)});
  words.insert(words.end(), sources_.begin(), sources_.end());
  words.emplace_back("-lm");
  REWRIGHT_CHECK(run_c_compiler(words, seconds_));
  return {};
}

ArtefactSession::ArtefactSession(std::string built, const Artefact& artefact, const std::string& folder, int seconds)
    : built_(std::move(built)),
      flags_(artefact.flags),
      sources_{folder + "/main.c"},
      versions_(artefact.versions),
      weights_(artefact.weights.empty() ? "-" : folder + "/" + artefact.name + ".weights"),
      seconds_(seconds) {
  for (const std::string& source : artefact.sources) sources_.push_back(folder + "/" + source);
}

Status ArtefactSession::write_inputs(std::span<const RuntimeTensor> inputs) const {
  for (std::size_t i = 0; i < version().inputs.size(); ++i) {
    const std::string& name = version().inputs[i].name;
    const auto given = std::ranges::find(inputs, name, &RuntimeTensor::name);
    if (given == inputs.end()) return make_error(ErrorCode::kUsage, "input '{}' is not given", name);
    const auto* bytes = reinterpret_cast<const char*>(given->bytes.data());
    REWRIGHT_CHECK(write_file(path(fmt::format("in{}", i)), {bytes, given->bytes.size()}));
  }
  return {};
}

Result<std::string> ArtefactSession::execute(int repeats, const std::string& program) const {
  std::vector<std::string> words = {path(program)};
  if (repeats > 0) words.insert(words.end(), {"-n", std::to_string(repeats)});
  for (const auto& [name, size] : version().sizes) words.push_back(std::to_string(size));
  words.push_back(weights_);
  for (std::size_t i = 0; i < version().inputs.size(); ++i) words.push_back(path(fmt::format("in{}", i)));
  for (std::size_t i = 0; i < version().outputs.size(); ++i) words.push_back(path(fmt::format("out{}", i)));
  REWRIGHT_TRY(const CommandOutcome outcome, run_command(words, seconds_));
  if (outcome.timed_out) {
    return make_error(ErrorCode::kUnsupported, "the compiled model took more than {} s", seconds_);
  }
  if (outcome.exit_code == 0) return outcome.text;
  const std::string line = outcome.first_error_line();
  return make_error(ErrorCode::kInternal, "the compiled model failed{}{}",
                    outcome.exit_code < 0 ? " by a signal" : fmt::format(" (exit code {})", outcome.exit_code),
                    line.empty() ? "" : ": " + line);
}

Result<std::vector<RuntimeTensor>> ArtefactSession::run(std::span<const RuntimeTensor> inputs) {
  REWRIGHT_CHECK(write_inputs(inputs));
  REWRIGHT_CHECK(execute(0));
  std::vector<RuntimeTensor> outputs;
  for (std::size_t i = 0; i < version().outputs.size(); ++i) {
    REWRIGHT_TRY(const std::string text, read_file(path(fmt::format("out{}", i))));
    const auto bytes = std::as_bytes(std::span(text));
    outputs.push_back({version().outputs[i].name, version().outputs[i].type, {bytes.begin(), bytes.end()}});
  }
  return outputs;
}

Result<RunTimes> ArtefactSession::measure(std::span<const RuntimeTensor> inputs, int repetitions, double batch_us) {
  REWRIGHT_CHECK(write_inputs(inputs));
  REWRIGHT_TRY(const std::string first, execute(1));
  const double once_us = std::max(std::atof(first.c_str()), 1.0);
  const int repeats = static_cast<int>(std::clamp(batch_us / once_us, 1.0, 1e6));
  std::vector<double> samples;
  while (samples.size() < static_cast<std::size_t>(std::max(repetitions, 1))) {
    REWRIGHT_TRY(const std::string text, execute(repeats));
    samples.push_back(std::atof(text.c_str()));
  }
  std::ranges::sort(samples);
  const auto at = [&](std::size_t quarter) { return samples[quarter * (samples.size() - 1) / 4]; };
  return RunTimes{samples.front(), at(1), at(2), at(3)};
}

Result<ArtefactSession::Profile> ArtefactSession::profile(std::span<const RuntimeTensor> inputs, int repeats) {
  REWRIGHT_CHECK(compile("profile", {"-DREWRIGHT_PROFILE"}));
  REWRIGHT_CHECK(write_inputs(inputs));
  REWRIGHT_TRY(const std::string text, execute(std::max(repeats, 1), "profile"));
  std::istringstream lines(text);
  Profile profile;
  double whole_run = 0;
  lines >> whole_run >> profile.peak_bytes;
  for (double us = 0; lines >> us;) profile.us.push_back(us);
  return profile;
}

}  // namespace rewright::compile
