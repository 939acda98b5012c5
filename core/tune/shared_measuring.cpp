#include "tune/shared_measuring.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <thread>

#include "base/files.h"
#include "tune/measure_message.h"
#include "tune/this_machine.h"

namespace rewright::tune {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;
using Clock = std::chrono::steady_clock;

constexpr std::chrono::milliseconds kPoll(50);
constexpr std::chrono::seconds kBeat(1);
constexpr const char* kTuner = "/tuner";

Json json_in(const std::string& file) {
  const auto text = read_file(file);
  return text ? Json::parse(*text, nullptr, false) : Json();
}

Status make_folder(const std::string& folder) {
  std::error_code fault;
  fs::create_directories(folder, fault);
  if (!fault) return {};
  return make_error(ErrorCode::kIo, "the folder '{}', through which measuring is shared, cannot be made: {}", folder,
                    fault.message());
}

void remove(const std::string& file) {
  std::error_code ignored;
  fs::remove(file, ignored);
}
bool rename(const std::string& from, const std::string& to) {
  std::error_code fault;
  fs::rename(from, to, fault);
  return !fault;
}

/// Its file says once a second that a process lives.
class Beat {
 public:
  Beat(std::string file, Json says) : file_(std::move(file)), says_(std::move(says)) { now(); }
  ~Beat() { remove(file_); }
  Beat(const Beat&) = delete;
  Beat& operator=(const Beat&) = delete;
  void now() {
    if (count_ > 0 && Clock::now() - last_ < kBeat) return;
    last_ = Clock::now();
    says_["beat"] = ++count_;
    static_cast<void>(write_file(file_, says_.dump()));
  }

 private:
  std::string file_;
  Json says_;
  std::size_t count_ = 0;
  Clock::time_point last_ = {};
};

/// Of a folder, with an ending.
std::vector<std::string> files_in(const std::string& folder, std::string_view ending) {
  std::vector<std::string> files;
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator(folder, ignored)) {
    if (entry.path().native().ends_with(ending)) files.push_back(entry.path().string());
  }
  std::ranges::sort(files);
  return files;
}

/// What one process asks another to measure.
struct Order {
  MeasureTask task;
  std::string plain;
  std::vector<std::string> programs;
  double peak_gflops = 0;
};
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Order, task, plain, programs, peak_gflops)

Result<Order> order_in(const std::string& file) {
  try {
    return json_in(file).get<Order>();
  } catch (const Json::exception& fault) {
    return make_error(ErrorCode::kIo, "'{}' is no order of a tuner: {}", file, fault.what());
  }
}

/// Keeps a measurer for orders of the same program.
class Workbench {
 public:
  Workbench(const Registry& registry, std::function<bool()> stop) : registry_(registry), stop_(std::move(stop)) {}

  Result<std::vector<Measurement>> measured(const Order& order) {
    std::vector<loop::Program> programs;
    for (const std::string& text : order.programs) {
      REWRIGHT_TRY(programs.emplace_back(), loop::parse_program(text));
    }
    if (!measurer_ || plain_ != order.plain) {
      measurer_.reset();
      REWRIGHT_TRY(loop::Program plain, loop::parse_program(order.plain));
      REWRIGHT_TRY(std::string plugin, Measurer::plugin_of(registry_, order.task.target));
      REWRIGHT_TRY(measurer_,
                   Measurer::start({order.task, std::move(plugin), std::move(plain), order.peak_gflops, stop_}));
      plain_ = order.plain;
    }
    std::vector<Measurement> all(programs.size());
    REWRIGHT_CHECK(measurer_->measure(programs, [&](std::size_t i, const Measurement& one) -> Status {
      all[i] = one;
      return {};
    }));
    return all;
  }

 private:
  const Registry& registry_;
  std::function<bool()> stop_;
  std::unique_ptr<Measurer> measurer_;
  std::string plain_;
};

}  // namespace

std::string SharedMeasuring::this_host() {
  std::array<char, 256> name{};
  ::gethostname(name.data(), name.size() - 1);
  std::string host = name.data();
  std::ranges::replace(host, '/', '-');
  return host.empty() ? "localhost" : host;
}

Result<std::unique_ptr<SharedMeasuring>> SharedMeasuring::lead(const std::string& folder, const Who& who,
                                                               std::chrono::milliseconds silent) {
  REWRIGHT_CHECK(make_folder(folder));
  const std::string run = fmt::format("{}-{}", who.host, ::getpid());
  const Json says = {{"run", run}, {"host", who.host}, {"machine", who.machine}};
  REWRIGHT_CHECK(write_file(folder + kTuner, says.dump()));
  return std::unique_ptr<SharedMeasuring>(new SharedMeasuring(folder, run, silent));
}

SharedMeasuring::~SharedMeasuring() {
  if (json_in(folder_ + kTuner).value("run", "") == run_) remove(folder_ + kTuner);
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator(folder_, ignored)) {
    if (entry.path().filename().native().starts_with(run_ + "-")) remove(entry.path().string());
  }
}

bool SharedMeasuring::is_alive(const std::string& file) {
  const auto text = read_file(file);
  if (!text) return false;
  Sign& sign = signs_[file];
  if (sign.seen != *text) sign = {*text, Clock::now()};
  return Clock::now() - sign.since < silent_;
}

std::vector<std::string> SharedMeasuring::workers() {
  std::vector<std::string> alive;
  for (const std::string& file : files_in(folder_, ".worker")) {
    if (is_alive(file)) alive.push_back(file);
  }
  return alive;
}

Result<std::vector<Measurement>> SharedMeasuring::collected(const Piece& piece) const {
  const std::string file = folder_ + "/" + piece.name + ".done";
  const Json json = json_in(file);
  std::vector<Measurement> all;
  if (json.is_null()) return all;
  try {
    json.at("measured").get_to(all);
  } catch (const Json::exception& fault) {
    return make_error(ErrorCode::kIo, "'{}' is no answer of a worker: {}", file, fault.what());
  }
  remove(file);
  if (all.size() != piece.count)
    return make_error(ErrorCode::kIo, "'{}' has {} measurements, not {}", file, all.size(), piece.count);
  return all;
}

bool SharedMeasuring::take_back(const Piece& piece) {
  const std::string mine = folder_ + "/" + piece.name + ".back";
  if (rename(folder_ + "/" + piece.name + ".task", mine)) {
    remove(mine);
    return true;
  }
  for (const std::string& taken : files_in(folder_, ".worker")) {
    const std::string host = fs::path(taken).stem().string();
    if (fs::exists(folder_ + "/" + piece.name + "." + host)) return !is_alive(taken);
  }
  return !fs::exists(folder_ + "/" + piece.name + ".done");  // Whoever took it is gone.
}

Status SharedMeasuring::measure(const Measurer::Setting& setting, std::span<const loop::Program> programs,
                                const Own& own, const std::function<Status(std::size_t, const Measurement&)>& heard) {
  const std::size_t shares = 1 + workers().size();
  const std::size_t share = (programs.size() + shares - 1) / shares;
  std::vector<Piece> pieces;
  for (std::size_t first = share; first < programs.size(); first += share) {
    Piece piece{fmt::format("{}-{}", run_, next_++), first, std::min(share, programs.size() - first)};
    Order order{setting.task, to_string(setting.plain), {}, setting.peak_gflops};
    for (const loop::Program& program : programs.subspan(first, piece.count))
      order.programs.push_back(to_string(program));
    REWRIGHT_CHECK(write_file(folder_ + "/" + piece.name + ".task", Json(order).dump()));
    pieces.push_back(std::move(piece));
  }
  REWRIGHT_CHECK(own(programs.first(std::min(share, programs.size())), heard));
  for (const Piece& piece : pieces) {
    const auto hear = [&](std::size_t i, const Measurement& one) { return heard(piece.first + i, one); };
    while (true) {
      if (setting.stop && setting.stop()) return make_error(ErrorCode::kBudget, "measuring was stopped");
      REWRIGHT_TRY(const std::vector<Measurement> all, collected(piece));
      if (!all.empty()) {
        for (std::size_t i = 0; i < all.size(); ++i) REWRIGHT_CHECK(hear(i, all[i]));
        by_workers_ += all.size();
        break;
      }
      if (take_back(piece)) {
        REWRIGHT_CHECK(own(programs.subspan(piece.first, piece.count), hear));
        break;
      }
      std::this_thread::sleep_for(kPoll);
    }
  }
  return {};
}

Result<SharedMeasuring::Service> SharedMeasuring::serve(const std::string& folder, const Who& who,
                                                        const Registry& registry, std::chrono::seconds patience,
                                                        const std::function<bool()>& stop,
                                                        const std::function<void(std::size_t)>& progress) {
  REWRIGHT_CHECK(make_folder(folder));
  Service service;
  std::unique_ptr<Beat> beat;
  Workbench workbench(registry, [&] {
    if (beat) beat->now();
    return stop && stop();
  });
  bool has_tuned = false;
  for (auto quiet_since = Clock::now();; std::this_thread::sleep_for(kPoll)) {
    if (stop && stop()) return make_error(ErrorCode::kBudget, "measuring was stopped");
    const Json tuner = json_in(folder + kTuner);
    if (!tuner.is_object()) {
      service.end = has_tuned ? "the tuner ended" : "nobody tunes here";
      if (has_tuned || Clock::now() - quiet_since > patience) return service;
      continue;
    }
    if (tuner.value("host", "") == who.host) {
      service.end =
          fmt::format("{} tunes, and measures itself: start workers on other machines, one on each", who.host);
      return service;
    }
    if (tuner.value("machine", "") != who.machine) {
      service.end = fmt::format(
          "this machine ({}) is of another kind than that of the tuner ({}), so that their times do "
          "not compare: take machines with the same processor",
          who.machine, tuner.value("machine", ""));
      return service;
    }
    has_tuned = true;
    if (!beat) beat = std::make_unique<Beat>(folder + "/" + who.host + ".worker", Json{{"machine", who.machine}});
    beat->now();
    const std::string run = tuner.value("run", "");
    for (const std::string& task : files_in(folder, ".task")) {
      const std::string name = fs::path(task).stem().string();
      const std::string mine = folder + "/" + name + "." + who.host;
      if (!name.starts_with(run + "-") || !rename(task, mine)) continue;
      const auto order = order_in(mine);
      auto all = order ? workbench.measured(*order) : order.error();
      if (!all) {
        remove(mine);  // The tuner measures it.
        return all.error();
      }
      REWRIGHT_CHECK(write_file(folder + "/" + name + ".done", Json{{"measured", *all}}.dump()));
      remove(mine);
      service.measured += all->size();
      if (progress) progress(service.measured);
    }
  }
}

}  // namespace rewright::tune
