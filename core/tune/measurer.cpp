#include "tune/measurer.h"

#include <rewright/loop/target.h>

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <thread>

#include "plugin/own_folder.h"
#include "tune/kernel_program.h"
#include "tune/measure_message.h"
#include "tune/this_machine.h"
#include "tune/user_cache.h"

namespace rewright::tune {
namespace {

using Json = nlohmann::json;

constexpr std::size_t kMostOfModule = 4;
constexpr unsigned kMostWorkers = 4;
constexpr int kSetUpSeconds = 180;
constexpr int kMostAbovePeak = 3;
constexpr useconds_t kLockPollUs = 50'000;
constexpr std::chrono::milliseconds kStopPoll(50);

Error stopped_measuring() { return make_error(ErrorCode::kBudget, "measuring was stopped"); }

}  // namespace

Result<std::string> Measurer::plugin_of(const Registry& registry, const std::string& target) {
  REWRIGHT_TRY(const Target* found, registry.get<Target>(target));
  REWRIGHT_CHECK(found->version());
  for (const LoadedPlugin& plugin : registry.plugins()) {
    if (std::ranges::find(plugin.provides, "target " + target) != plugin.provides.end()) return plugin.file;
  }
  return make_error(ErrorCode::kNotFound, "no plugin file provides the target {}", target);
}

Measurer::Measurer(Setting setting) : setting_(std::move(setting)) {
  workers_.resize(std::clamp(std::thread::hardware_concurrency(), 1U, kMostWorkers));
}

Result<std::unique_ptr<Measurer>> Measurer::start(Setting setting) {
  std::unique_ptr<Measurer> measurer(new Measurer(std::move(setting)));
  REWRIGHT_CHECK(measurer->lock());
  REWRIGHT_CHECK(measurer->start(measurer->workers_[0], measurer->setting_.stop));
  return measurer;
}

Measurer::~Measurer() {
  for (Worker& worker : workers_) worker.reset();
  if (lock_ >= 0) ::close(lock_);
}

Status Measurer::lock() {
  REWRIGHT_TRY(const std::string folder, user_cache());
  const std::string file = folder + "/measuring.lock";
  lock_ = ::open(file.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  if (lock_ < 0) {
    return make_error(ErrorCode::kIo, "'{}' cannot be opened: {}; set XDG_CACHE_HOME to another folder", file,
                      std::strerror(errno));
  }
  while (::flock(lock_, LOCK_EX | LOCK_NB) != 0) {
    if (errno != EWOULDBLOCK && errno != EINTR) {
      return make_error(ErrorCode::kIo, "'{}' cannot be locked: {}", file, std::strerror(errno));
    }
    if (setting_.stop && setting_.stop()) return stopped_measuring();
    ::usleep(kLockPollUs);
  }
  return {};
}

Status Measurer::start(Worker& worker, const std::function<bool()>& stop) {
  worker = std::make_unique<ChildProgram>();
  REWRIGHT_CHECK(worker->start(own_plugin_folder() + "/targets/measure-worker", "schedules are measured"));
  const Json message = {{"plugin", setting_.plugin},
                        {"task", setting_.task},
                        {"plain", to_string(setting_.plain)},
                        {"cache_bytes", described_machine().last_cache_bytes()}};
  const ChildProgram::Reply reply = worker->ask(message.dump(), kSetUpSeconds, stop);
  if (reply.is_stopped) return stopped_measuring();
  const Json ready = Json::parse(reply.bytes, nullptr, false);
  if (reply.crash.empty() && ready.is_object() && !ready.contains("error")) return {};
  worker.reset();
  return make_error(ErrorCode::kPlugin, "the unscheduled program cannot be run: {}",
                    reply.crash.empty() ? ready.value("error", "what its process sent cannot be read") : reply.crash);
}

Result<Measurement> Measurer::ask(Worker& worker, const std::string& message, int seconds,
                                  const std::function<bool()>& stop) {
  const ChildProgram::Reply reply = worker->ask(message, seconds, stop);
  if (reply.is_stopped) return stopped_measuring();
  Measurement measurement;
  if (!reply.crash.empty()) {
    worker.reset();
    if (stop && stop()) return stopped_measuring();  // An interrupt may have reached it, too.
    measurement.outcome = reply.late ? "timeout" : "crashed";
    measurement.text = reply.crash;
    return measurement;
  }
  const Json json = Json::parse(reply.bytes, nullptr, false);
  if (json.is_object() && json.empty()) return measurement;  // Compiled.
  measurement.outcome = json.value("outcome", "crashed");
  measurement.text = json.value("text", "what its process sent cannot be read");
  measurement.reference_us = json.value("reference_us", 0.0);
  if (json.contains("batches_us")) json["batches_us"].get_to(measurement.batches_us);
  return measurement;
}

Measurer::Compiled Measurer::compile(Worker& worker, const Module& module) {
  return std::async(std::launch::async, [this, &worker, module]() -> Result<Measurement> {
    const auto stop = [this] { return is_ending_.load(); };
    if (!worker) REWRIGHT_CHECK(start(worker, stop));
    // The compiler has its own limit, of which the worker tells.
    return ask(worker, Json{{module.kind, module.candidates}}.dump(), 2 * setting_.task.compile_seconds + 5, stop);
  });
}

Result<Measurement> Measurer::wait_for(Compiled& compiled) {
  while (compiled.wait_for(kStopPoll) != std::future_status::ready) {
    if (setting_.stop && setting_.stop()) is_ending_ = true;
  }
  return compiled.get();
}

Result<std::vector<Measurement>> Measurer::compile_all(std::span<const Module> modules) {
  const auto begin = std::chrono::steady_clock::now();
  std::vector<Compiled> waiting;
  for (std::size_t w = 0; w < modules.size(); ++w) waiting.push_back(compile(workers_[w], modules[w]));
  std::vector<Measurement> compiled;
  Status status;
  for (Compiled& each : waiting) {
    auto outcome = wait_for(each);
    if (outcome) {
      compiled.push_back(*std::move(outcome));
    } else {
      is_ending_ = true;
      if (status) status = outcome.error();
    }
  }
  compiling_ += std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  if (!status) return status.error();
  return compiled;
}

Status Measurer::measure_alone(Worker& worker, const Module& module, const Heard& heard) {
  for (std::size_t i = 0; i < module.candidates.size(); ++i) {
    const Module one = module.part(i, 1);
    Compiled compiled = compile(worker, one);
    REWRIGHT_TRY(const Measurement outcome, wait_for(compiled));
    REWRIGHT_CHECK(measure_module(worker, one, outcome, heard));
  }
  return {};
}

Status Measurer::measure_module(Worker& worker, const Module& module, const Measurement& compiled, const Heard& heard) {
  const std::size_t size = module.candidates.size();
  if (!compiled.outcome.empty()) return size == 1 ? heard(compiled) : measure_alone(worker, module, heard);
  for (std::size_t i = 0; i < size; ++i) {
    REWRIGHT_TRY(const Measurement measured, time(worker, i));
    REWRIGHT_CHECK(heard(measured));
    if (!worker) return measure_alone(worker, module.part(i + 1, size), heard);
  }
  return {};
}

bool Measurer::is_above_peak(const Measurement& measurement) const {
  if (!measurement.is_ok() || setting_.peak_gflops <= 0) return false;
  const ProgramWork work = work_of(setting_.plain);
  return work.is_exact && work.operations / measurement.least_us() * 1e-3 > kMostOfPeak * setting_.peak_gflops;
}

Result<Measurement> Measurer::time(Worker& worker, std::size_t index) {
  const bool has_incumbent = incumbent_us_ < std::numeric_limits<double>::infinity();
  const std::string question =
      Json{{"measure", index}, {"incumbent_us", has_incumbent ? Json(incumbent_us_) : Json()}}.dump();
  const auto ask_again = [&] { return ask(worker, question, setting_.task.run_seconds, setting_.stop); };
  REWRIGHT_TRY(Measurement measured, ask_again());
  if (is_above_peak(measured)) {  // The processor may run faster than when the peak was measured.
    REWRIGHT_TRY(const Machine machine, measured_machine(true));
    setting_.peak_gflops = machine.peak_gflops;
  }
  if (is_above_peak(measured)) {
    REWRIGHT_TRY(measured, ask_again());
  }
  if (is_above_peak(measured)) {
    measured.text = fmt::format(
        "a fault of measuring: {:.1f} GFLOP/s in {:.3f} us, and the peak of a core is {:.1f}; measure the peak again "
        "(rewright machine --again) while nothing else runs",
        work_of(setting_.plain).operations / measured.least_us() * 1e-3, measured.least_us(), setting_.peak_gflops);
    if (++above_peak_ == kMostAbovePeak) return make_error(ErrorCode::kMismatch, "{}", measured.text);
    measured.outcome = "refused";
    measured.batches_us.clear();
  } else if (measured.is_ok()) {
    above_peak_ = 0;
  }
  if (measured.is_ok()) {
    fastest_reference_us_ = std::min(fastest_reference_us_, measured.reference_us);
    slowest_reference_us_ = std::max(slowest_reference_us_, measured.reference_us);
    incumbent_us_ = std::min(incumbent_us_, measured.least_us());
  }
  return measured;
}

Status Measurer::measure(std::span<const loop::Program> programs,
                         const std::function<Status(std::size_t, const Measurement&)>& heard) {
  std::vector<std::string> texts;
  for (const loop::Program& program : programs) texts.push_back(to_string(program));
  return measure_all({"programs", texts}, heard);
}

Status Measurer::measure_by_target(std::span<const schedule::Schedule> schedules,
                                   const std::function<Status(std::size_t, const Measurement&)>& heard) {
  std::vector<std::string> texts;
  for (const schedule::Schedule& schedule : schedules) texts.push_back(to_string(schedule));
  return measure_all({"schedules", texts}, heard);
}

Measurer::Module Measurer::Module::part(std::size_t first, std::size_t most) const {
  return {kind, candidates.subspan(first, std::min(most, candidates.size() - first))};
}

Status Measurer::measure_all(const Module& all, const std::function<Status(std::size_t, const Measurement&)>& heard) {
  is_ending_ = false;
  std::size_t known = 0;
  const Heard count = [&](const Measurement& measurement) { return heard(known++, measurement); };
  const std::size_t size = all.candidates.size();
  for (std::size_t first = 0; first < size;) {
    const std::size_t share = (size - first + workers_.size() - 1) / workers_.size();
    const std::size_t most = std::min(share, kMostOfModule);
    std::vector<Module> modules;
    for (; first < size && modules.size() < workers_.size(); first += most) modules.push_back(all.part(first, most));
    REWRIGHT_TRY(const std::vector<Measurement> compiled, compile_all(modules));
    for (std::size_t w = 0; w < modules.size(); ++w)
      REWRIGHT_CHECK(measure_module(workers_[w], modules[w], compiled[w], count));
  }
  return {};
}

double Measurer::drift() const { return slowest_reference_us_ > 0 ? slowest_reference_us_ / fastest_reference_us_ : 1; }

}  // namespace rewright::tune
