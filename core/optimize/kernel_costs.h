// What kernels cost: the cost model's answers, each asked for once; and which operators make one kernel.
#pragma once

#include <rewright/optimize/cost.h>

#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace rewright {

struct OpaqueQuestion;

class KernelCosts {
 public:
  /// Borrows both; `cache` may be null.
  KernelCosts(CostModel& model, CostCache* cache, const Operator* reorder);

  /// For several threads. Errors: of the cost model.
  [[nodiscard]] Result<double> us(const Kernel& kernel);
  /// What us() was asked about, with its spread.
  [[nodiscard]] Result<Estimate> estimate(const Kernel& kernel);
  /// Asks a model that does not measure about all of them at once.
  [[nodiscard]] bool is_asked_together() const { return !model_.measured(); }
  [[nodiscard]] Status ask(std::span<const Kernel> kernels);
  /// Of a node that no operator knows. One that the model says nothing of costs 0, and so does one that runs graphs: it
  /// costs what they do (optimize/bodies.h).
  [[nodiscard]] Result<double> opaque_us(const Graph& graph, NodeId node);
  /// The types of those that the model said nothing of, and why.
  [[nodiscard]] REWRIGHT_API std::map<std::string, std::string> without_cost();

  /// Called before each question to the model, by one thread at a time. False: no more are put to it, and a kernel that
  /// was not asked about until then costs infinitely much from then on. Empty: nobody watches.
  using Watch = std::function<bool()>;
  void watch(Watch watch);
  /// Did the watch say false?
  [[nodiscard]] bool stopped() const { return stopped_; }

  /// The operator transpose where graphs are to be costed in their best layouts; otherwise null.
  [[nodiscard]] const Operator* reorder() const { return reorder_; }

  /// A beginning of a kernel that may have more operators; kNoPrefix: there is none such.
  using Prefix = std::uint32_t;
  static constexpr Prefix kNoPrefix = 0;
  [[nodiscard]] bool fuses() const { return after_.size() > 1; }
  [[nodiscard]] std::size_t prefix_count() const { return after_.size(); }
  /// The prefix with one more operator; from kNoPrefix: the operator alone.
  [[nodiscard]] Prefix extended(Prefix prefix, std::string_view op) const;

 private:
  [[nodiscard]] Result<Estimate> ask_about(const Kernel& kernel);
  /// Asks `ask` unless the answer is in the cache under `key` or questions are stopped.
  template <class Ask>
  [[nodiscard]] Result<Estimate> answer(const std::string& key, const Ask& ask);
  [[nodiscard]] Result<Estimate> ask_about(const OpaqueQuestion& question, const std::string& type);
  /// Makes every prefix that goes on with some of `rest`, in order.
  void add(Prefix prefix, const std::vector<std::string>& sequence, std::size_t rest);

  CostModel& model_;
  CostCache* cache_;
  const Operator* reorder_;
  Watch watch_;
  std::atomic<bool> stopped_ = false;
  std::vector<std::map<std::string, Prefix, std::less<>>> after_ = {{}};  ///< By prefix.
  std::mutex mutex_;
  struct LowBits {
    std::size_t operator()(Hash128 hash) const { return hash.low; }
  };
  /// 128 bits stand for the question itself: among 2^32 questions two meet with probability below 2^-64.
  std::unordered_map<Hash128, Estimate, LowBits> known_;
  std::map<std::shared_ptr<const OpaqueNode>, double> known_opaque_;
  std::map<std::string, std::string> without_cost_;
};

}  // namespace rewright
