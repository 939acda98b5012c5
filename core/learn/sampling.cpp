#include "learn/sampling.h"

#include <rewright/base/mixing.h>
#include <rewright/optimize/cost_key.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <filesystem>
#include <map>
#include <set>

#include "base/files.h"
#include "optimize/model_run.h"

namespace rewright::learn {
namespace {

constexpr std::size_t kBlock = 50;
constexpr double kDrift = 0.1, kApart = 0.05;
constexpr double kMostOperations = 2e9, kMostBytes = 256e6;
constexpr const char* kReference = "|matmul|data(256, 512)weight(512, 256)";

/// Asked in place of a cost model: writes down what it is asked.
class Listener final : public CostModel {
 public:
  explicit Listener(const CostModel& model) : fused_(model.fused()) {}
  [[nodiscard]] std::string name() const override { return "listener"; }
  [[nodiscard]] std::string summary() const override { return "Writes down what it is asked"; }
  [[nodiscard]] std::string device() const override { return "none"; }
  [[nodiscard]] bool measured() const override { return false; }
  Status configure(const Options&, const Registry&) override { return {}; }
  [[nodiscard]] Result<double> cost_us(const Application& application) override {
    return kernel_us({{&application, 1}});
  }
  [[nodiscard]] std::vector<std::vector<std::string>> fused() const override { return fused_; }
  [[nodiscard]] Result<double> kernel_us(const Kernel& kernel) override {
    keys.insert(to_key(kernel));
    return 1.0;
  }
  [[nodiscard]] Result<double> opaque_us(const OpaqueApplication&) override { return 1.0; }
  [[nodiscard]] std::unique_ptr<CostModel> clone() const override { return nullptr; }
  std::set<std::string> keys;

 private:
  std::vector<std::vector<std::string>> fused_;
};

bool is_too_much(const Kernel& kernel) {
  double operations = 0, bytes = 0;
  for (const Application& application : kernel.applications) {
    const Work work = application.op.work(application.params, application.in);
    operations += work.flops;
    bytes += work.bytes;
  }
  return operations > kMostOperations || bytes > kMostBytes;
}

class Sampler {
 public:
  Sampler(CostModel& model, const SamplingOptions& options, const Registry& registry)
      : model_(model), options_(options), registry_(registry), random_(mix(options.seed)) {}

  Result<SamplingReport> run() {
    device_ = model_.name() + "|" + model_.device();
    REWRIGHT_CHECK(read_known());
    REWRIGHT_CHECK(read_models());
    start_ = std::chrono::steady_clock::now();
    while (share() < 0.5 && !report_.stopped) REWRIGHT_CHECK(measure(next_new()));
    std::vector<std::string> again = measured_;
    random_.shuffle(std::span(again));
    for (std::size_t first = 0; first < again.size() && share() < 1 && !report_.stopped; first += kBlock)
      REWRIGHT_CHECK(measure({again.begin() + static_cast<std::ptrdiff_t>(first),
                              again.begin() + static_cast<std::ptrdiff_t>(std::min(first + kBlock, again.size()))}));
    return report_;
  }

 private:
  struct Known {
    std::set<std::string> programs;
    std::vector<double> us;
    std::set<std::string> days = {};
  };

  Status read_known() {
    if (!std::filesystem::exists(options_.file)) return {};
    REWRIGHT_TRY(const DataSet data, read_data({options_.file}, "", registry_));
    if (data.device != device_)
      return make_error(ErrorCode::kMismatch, "'{}' has kernels of {}; this is {}: choose another file", options_.file,
                        data.device, device_);
    for (const Sample& sample : data.samples) known_[sample.kernel] = {sample.programs, sample.us, sample.days};
    return {};
  }
  Status read_models() {
    for (const std::string& file : options_.models) {
      REWRIGHT_TRY(const std::vector<std::string> keys, kernels_of_model(file, model_, registry_));
      const std::string program = std::filesystem::path(file).stem().string();
      for (const std::string& key : keys) {
        programs_[key].insert(program);
        if (known_.contains(key)) known_[key].programs.insert(program);
      }
    }
    for (const auto& [key, programs] : programs_) {
      bases_.push_back(key);
      if (!known_.contains(key)) waiting_.push_back(key);
    }
    if (bases_.empty())
      return make_error(ErrorCode::kUnsupported, "no model has a kernel that {} measures", model_.name());
    return {};
  }
  [[nodiscard]] double share() const {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count() / options_.seconds;
  }
  /// Kernels of the models first, then others of their kinds.
  std::vector<std::string> next_new() {
    std::vector<std::string> block;
    while (block.size() < kBlock && !waiting_.empty()) {
      block.push_back(waiting_.back());
      waiting_.pop_back();
    }
    constexpr int kDraws = 2000;
    for (int draw = 0; block.size() < kBlock && draw < kDraws; ++draw) {
      const std::string& base = random_.pick(bases_);
      auto other = resized(base, random_.bits(), registry_);
      if (!other || known_.contains(*other) || std::ranges::find(block, *other) != block.end()) continue;
      programs_[*other] = programs_[base];  // A relative of theirs: never in the training where they are the test.
      block.push_back(*std::move(other));
    }
    if (block.empty()) report_.stopped = true;
    return block;
  }
  [[nodiscard]] Result<double> time_of(const std::string& key) {
    REWRIGHT_TRY(const OwnedKernel owned, from_key(key, registry_));
    const Kernel kernel = owned.kernel();
    return kernel.applications.size() == 1 ? model_.cost_us(kernel.applications[0]) : model_.kernel_us(kernel);
  }
  Status measure(const std::vector<std::string>& block) {
    constexpr int kTries = 3;
    for (int attempt = 0; attempt < kTries; ++attempt) {
      REWRIGHT_TRY(const double before, time_of(kReference));
      std::vector<std::pair<std::string, double>> times;
      for (const std::string& key : block) {
        if (options_.goes_on && !options_.goes_on(measured_.size(), share())) report_.stopped = true;
        if (report_.stopped || share() > 1) break;
        const auto us = time_of(key);
        if (!us && us.error().code != ErrorCode::kUnsupported && us.error().code != ErrorCode::kShape)
          return us.error();
        if (!us || !std::isfinite(*us)) {
          ++report_.failed;
          known_[key];  // Not again.
          continue;
        }
        times.emplace_back(key, *us);
        if (const auto found = known_.find(key); found != known_.end() && found->second.us.size() == 1 &&
                                                 std::abs(*us / found->second.us.front() - 1) > kApart) {
          REWRIGHT_TRY(const double third, time_of(key));
          times.emplace_back(key, third);
        }
      }
      REWRIGHT_TRY(const double after, time_of(kReference));
      if (std::abs(after / before - 1) > kDrift && attempt + 1 < kTries && !report_.stopped) {
        ++report_.discarded;
        continue;
      }
      return keep(times);
    }
    return {};
  }
  Status keep(const std::vector<std::pair<std::string, double>>& times) {
    for (const auto& [key, us] : times) {
      Known& known = known_[key];
      if (known.us.empty()) {
        measured_.push_back(key);
        ++report_.new_kernels;
      } else {
        ++report_.repeated;
      }
      known.programs.insert(programs_[key].begin(), programs_[key].end());
      known.us.push_back(us);
      known.days.insert(today());
    }
    DataSet data{device_, {}, {}};
    for (const auto& [key, known] : known_) {
      if (known.us.empty()) continue;
      data.samples.push_back({key, known.programs, known.us});
      data.samples.back().days = known.days;
    }
    return write_data(options_.file, data);
  }

  CostModel& model_;
  const SamplingOptions& options_;
  const Registry& registry_;
  Random random_;
  std::string device_;
  std::map<std::string, Known> known_;
  std::map<std::string, std::set<std::string>> programs_;
  std::vector<std::string> bases_, waiting_, measured_;
  std::chrono::steady_clock::time_point start_;
  SamplingReport report_;
};

}  // namespace

Result<std::vector<std::string>> kernels_of_model(const std::string& file, const CostModel& model,
                                                  const Registry& registry) {
  ModelSource source;
  source.file = "'" + file + "'";
  const std::string parent = std::filesystem::path(file).parent_path().string();
  source.directory = parent.empty() ? "." : parent;
  REWRIGHT_TRY(source.bytes, read_file(file));
  REWRIGHT_TRY(const OpenedModel opened, open_model(source, registry, nullptr));
  Listener listener(model);
  REWRIGHT_TRY([[maybe_unused]] const double us, GraphCost(listener, nullptr).cost_us(opened.start().graph));
  return std::vector<std::string>(listener.keys.begin(), listener.keys.end());
}

Result<SamplingReport> sample(CostModel& model, const SamplingOptions& options, const Registry& registry) {
  if (!model.measured())
    return make_error(ErrorCode::kUsage, "cost model {} does not measure; onnxruntime does", model.name());
  return Sampler(model, options, registry).run();
}

std::optional<std::string> resized(const std::string& kernel, std::uint64_t seed, const Registry& registry) {
  const auto owned = from_key(kernel, registry);
  if (!owned) return std::nullopt;
  const KernelKey key = key_of(owned->kernel());
  Random random(mix(seed));
  constexpr std::int64_t kFactors[][2] = {{1, 4}, {1, 2}, {3, 4}, {1, 1}, {1, 1},
                                          {1, 1}, {5, 4}, {3, 2}, {2, 1}, {4, 1}};
  std::map<std::int64_t, std::int64_t> others;
  std::vector<std::int64_t> sizes;
  for (const std::int64_t size : key.sizes) {
    const auto [at, is_new] = others.try_emplace(size, size);
    constexpr std::int64_t kSmall = 8;  // Windows, groups, heads: seldom another.
    if (is_new && (size >= kSmall || random.one_in(8))) {
      const auto& factor = random.pick(kFactors);
      at->second = std::max<std::int64_t>(1, size * factor[0] / factor[1]);
    }
    sizes.push_back(at->second);
  }
  if (sizes == key.sizes) return std::nullopt;
  const auto other = from_key(key.structure, registry, sizes);
  if (!other || is_too_much(other->kernel())) return std::nullopt;
  return to_key(other->kernel());
}

}  // namespace rewright::learn
