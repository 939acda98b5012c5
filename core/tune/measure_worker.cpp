#include "tune/measure_worker.h"

#include <rewright/base/mixing.h>
#include <rewright/loop/target.h>
#include <rewright/plugin/registry.h>
#include <rewright/schedule/transform.h>

#include <sched.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <csignal>
#include <exception>
#include <new>
#include <optional>

#include "tune/before_runs.h"
#include "tune/kernel_program.h"
#include "tune/measure_message.h"
#include "tune/measured_buffers.h"
#include "verify/child_setup.h"
#include "verify/worker_message.h"

namespace rewright::tune {
namespace {

using Json = nlohmann::json;

constexpr int kLeastBatches = 3;
constexpr std::size_t kSettledBatches = 5;
constexpr double kSettled = 1.005;
constexpr std::size_t kLineBytes = 64;

double now_us() {
  timespec time{};
  ::clock_gettime(CLOCK_MONOTONIC_RAW, &time);
  return 1e6 * static_cast<double>(time.tv_sec) + 1e-3 * static_cast<double>(time.tv_nsec);
}

/// The processors that this process may use, one of which is for what is timed.
class Processors {
 public:
  /// `timed` -1: the last.
  explicit Processors(int timed) {
    CPU_ZERO(&timed_);
    CPU_ZERO(&allowed_);
    if (::sched_getaffinity(0, sizeof allowed_, &allowed_) != 0) return;
    for (int i = CPU_SETSIZE - 1; i >= 0 && timed < 0; --i) {
      if (CPU_ISSET(i, &allowed_)) timed = i;
    }
    CPU_SET(timed, &timed_);
  }
  void time() const { ::sched_setaffinity(0, sizeof timed_, &timed_); }
  void leave() const { ::sched_setaffinity(0, sizeof allowed_, &allowed_); }

 private:
  cpu_set_t timed_, allowed_;
};

/// The least time of a fixed chain of mixing: how fast the processor is now.
double reference_us() {
  double least = 1e300;
  for (int run = 0; run < 5; ++run) {
    const double start = now_us();
    std::uint64_t value = 1;
    for (int i = 0; i < 20'000; ++i) value = avalanche(value + static_cast<std::uint64_t>(i));
    __asm__ volatile("" : : "r"(value));
    least = std::min(least, now_us() - start);
  }
  return least;
}

/// Is the least time met again and again? Then more batches would hardly find a lesser one.
bool is_settled(std::vector<double> batches_us) {
  if (batches_us.size() < kSettledBatches) return false;
  std::ranges::nth_element(batches_us, batches_us.begin() + 2);
  return batches_us[2] <= kSettled * std::ranges::min(batches_us);
}

Measurement with_outcome(std::string outcome, std::string text) { return {std::move(outcome), std::move(text), {}, 0}; }

class MeasureBench {
 public:
  static Result<std::unique_ptr<MeasureBench>> set_up(const Json& message) {
    auto bench = std::make_unique<MeasureBench>();
    message.at("task").get_to(bench->task_);
    REWRIGHT_CHECK(bench->registry_.load(message.at("plugin").get<std::string>()));
    REWRIGHT_TRY(bench->target_, bench->registry_.get<Target>(bench->task_.target));
    REWRIGHT_TRY(bench->plain_, loop::parse_program(message.at("plain").get<std::string>()));
    bench->reduction_ = work_of(bench->plain_).reduction;
    bench->walked_.resize(2 * message.at("cache_bytes").get<std::size_t>() + kLineBytes);
    bench->processors_.emplace(bench->task_.processor);
    REWRIGHT_CHECK(bench->compute_expected());
    return bench;
  }
  [[nodiscard]] const MeasureTask& task() const { return task_; }

  /// The answer to {"programs": ...}.
  Json compile(const Json& texts) {
    const loop::TargetOptions options = start_module();
    std::vector<loop::NamedProgram> functions;
    for (const Json& text : texts) {
      auto program = loop::parse_program(text.get<std::string>());
      if (!program) return refused("refused", program.error().message);
      SplitProgram split = split_before_runs(*program);
      functions.push_back({fmt::format("candidate_{}", programs_.size()), std::move(split.rest)});
      before_.emplace_back();
      if (!split.before.body.empty()) {
        functions.push_back({fmt::format("before_{}", programs_.size()), std::move(split.before)});
        before_.back() = functions.size() - 1;
      }
      programs_.push_back({functions.size() - (before_.back() ? 2 : 1), *std::move(program)});
    }
    const auto source = target_->source(functions, options);
    if (!source) return refused("refused", source.error().message);
    if (const std::size_t most = task_.source_bytes * programs_.size(); source->size() > most) {
      return refused("over-budget", fmt::format("its code is {} bytes long; {} are allowed", source->size(), most));
    }
    auto compiled = target_->compile(functions, options);
    if (!compiled) return refused("refused", compiled.error().message);
    compiled_ = *std::move(compiled);
    return Json::object();
  }

  /// The answer to {"schedules": ...}.
  Json compile_by_target(const Json& texts) {
    const loop::TargetOptions options = start_module();
    for (const Json& text : texts) {
      const auto steps = schedule::parse_schedule(text.get<std::string>());
      if (!steps) return refused("refused", steps.error().message);
      auto compiled = target_->compile_scheduled(plain_, *steps, options);
      if (!compiled) return refused("refused", compiled.error().message);
      programs_.push_back({compiled_.size(), plain_});
      before_.emplace_back();
      compiled_.push_back(*std::move(compiled));
    }
    return Json::object();
  }

  Measurement measure(std::size_t index, std::optional<double> incumbent_us) {
    processors_->time();
    if (index >= programs_.size()) return with_outcome("refused", "there is no such candidate in the module");
    const loop::Program& program = programs_[index].program;
    const loop::CompiledProgram& code = *compiled_[programs_[index].function];
    const auto guarded = MeasuredBuffers::make(program, task_, true);
    if (!guarded) return with_outcome("refused", guarded.error().message);
    if (const Status status = prepare(index, *guarded); !status) return with_outcome("wrong", status.error().message);
    if (const Status status = code.run(guarded->places()); !status) {
      return with_outcome("wrong", status.error().message);
    }
    if (std::string wrong = difference(program, *guarded, plain_, *expected_, reduction_); !wrong.empty()) {
      return with_outcome("wrong", std::move(wrong));
    }
    const auto buffers = MeasuredBuffers::make(program, task_, false);
    if (!buffers) return with_outcome("refused", buffers.error().message);
    if (const Status status = prepare(index, *buffers); !status) return with_outcome("wrong", status.error().message);
    Measurement result = with_outcome("ok", "");
    result.reference_us = reference_us();
    time(code, buffers->places(), incumbent_us, result);
    return result;
  }

 private:
  static Json refused(const char* outcome, const std::string& text) { return {{"outcome", outcome}, {"text", text}}; }

  /// What is done once, before the first run.
  Status prepare(std::size_t index, const MeasuredBuffers& buffers) {
    return before_[index] ? compiled_[*before_[index]]->run(buffers.places()) : Status();
  }
  loop::TargetOptions start_module() {
    processors_->leave();
    compiled_.clear();
    programs_.clear();
    before_.clear();
    return {task_.compile_seconds, task_.dialect};
  }
  Status compute_expected() {
    REWRIGHT_TRY(const auto code, compile_one(*target_, plain_, {task_.compile_seconds, ""}));
    REWRIGHT_CHECK(run_plain(*code));
    // Roots and logarithms of what is below 0 are no numbers, and comparing those says nothing.
    if (task_.low >= 0 || are_finite(plain_, *expected_)) return {};
    task_.low = 0;
    return run_plain(*code);
  }
  Status run_plain(const loop::CompiledProgram& code) {
    REWRIGHT_TRY(MeasuredBuffers buffers, MeasuredBuffers::make(plain_, task_, true));
    expected_.emplace(std::move(buffers));
    return code.run(expected_->places());
  }
  double run_us(const loop::CompiledProgram& code, const std::vector<std::byte*>& places, std::int64_t runs) {
    if (task_.policy == CachePolicy::kCold) walk();
    const double start = now_us();
    for (std::int64_t i = 0; i < runs; ++i) (void)code.run(places);
    return (now_us() - start) / static_cast<double>(runs);
  }
  void time(const loop::CompiledProgram& code, const std::vector<std::byte*>& places,
            std::optional<double> incumbent_us, Measurement& result) {
    const double once = std::max(run_us(code, places, 1), 1e-3);
    const double wanted = task_.policy == CachePolicy::kCold ? 1 : std::ceil(task_.batch_us / once);
    const auto runs = static_cast<std::int64_t>(std::clamp(wanted, 1.0, 1e6));
    const double start = now_us();
    for (int batch = 0; batch < task_.batches; ++batch) {
      result.batches_us.push_back(std::max(run_us(code, places, runs), 1e-4));
      if (batch + 1 < kLeastBatches) continue;
      if (incumbent_us && result.least_us() > task_.race * *incumbent_us) {
        result.text = fmt::format("left early: more than {} times slower than the best", task_.race);
        return;
      }
      if (now_us() - start > 1e6 * task_.seconds || is_settled(result.batches_us)) return;
    }
  }
  /// Each line of a buffer twice as large as the last cache is written.
  void walk() {
    for (std::size_t i = 0; i < walked_.size(); i += kLineBytes) ++walked_[i];
    __asm__ volatile("" : : "r"(walked_.data()) : "memory");
  }

  MeasureTask task_;
  std::optional<Processors> processors_;
  Registry registry_;
  const Target* target_ = nullptr;
  loop::Program plain_;
  std::int64_t reduction_ = 0;
  std::optional<MeasuredBuffers> expected_;
  struct Candidate {
    std::size_t function;  ///< Among those that are compiled.
    loop::Program program;
  };
  std::vector<Candidate> programs_;
  std::vector<std::optional<std::size_t>> before_;  ///< By candidate: the function that runs once.
  std::vector<std::unique_ptr<loop::CompiledProgram>> compiled_;
  std::vector<unsigned char> walked_;
};

Json answer(MeasureBench& bench, const Json& message) {
  try {
    if (message.contains("programs")) return bench.compile(message["programs"]);
    if (message.contains("schedules")) return bench.compile_by_target(message["schedules"]);
    const Json& incumbent = message.at("incumbent_us");
    return bench.measure(message.at("measure").get<std::size_t>(),
                         incumbent.is_null() ? std::nullopt : std::optional(incumbent.get<double>()));
  } catch (const std::bad_alloc&) {
    return with_outcome("over-budget", "no memory is left of what it was given");
  } catch (const std::exception& fault) {
    return with_outcome("crashed", fault.what());
  }
}

Json set_up(const std::string& bytes, std::unique_ptr<MeasureBench>& bench) {
  try {
    auto made = MeasureBench::set_up(Json::parse(bytes));
    if (!made) return {{"error", made.error().message}};
    bench = *std::move(made);
    return Json::object();
  } catch (const std::exception& fault) {
    return {{"error", fault.what()}};
  }
}

std::string text_of(const Json& json) { return json.dump(-1, ' ', false, Json::error_handler_t::replace); }

}  // namespace

int serve_measuring() {
  const int socket = take_socket();
  end_with(socket);
  std::signal(SIGXFSZ, SIG_IGN);  // An ordinary error of write(2) then.
  limit_resource(RLIMIT_CORE, 0, 0);
  std::string bytes;
  if (receive_message(socket, bytes, -1) != Received::kMessage) return 0;
  std::unique_ptr<MeasureBench> bench;
  const Json ready = set_up(bytes, bench);
  if (!send_message(socket, text_of(ready)) || !bench) return 1;
  limit_memory(bench->task().memory_bytes);
  while (receive_message(socket, bytes, -1) == Received::kMessage) {
    const Json message = Json::parse(bytes, nullptr, false);
    if (!message.is_object() || !send_message(socket, text_of(answer(*bench, message)))) break;
  }
  ::_exit(0);  // The watching thread still runs; a candidate's code is not worth a crash.
}

}  // namespace rewright::tune
