#include "optimize/kernel_costs.h"

#include <rewright/optimize/cost_key.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <bit>
#include <limits>
#include <optional>
#include <utility>

#include "optimize/opaque_question.h"

namespace rewright {
namespace {

/// What distinguishes one question to the model from another, as words.
class Question {
 public:
  explicit Question(const Kernel& kernel) {
    for (const Application& application : kernel.applications) add(application);
    for (const Kernel::Source& source : kernel.sources)
      words_.push_back(std::uint64_t{source.application} << 32 | source.output);
  }
  [[nodiscard]] Hash128 hash() const {
    const XXH128_hash_t hash = XXH3_128bits(words_.data(), words_.size() * sizeof(std::uint64_t));
    return {hash.low64, hash.high64};
  }

 private:
  void add(const Application& application) {
    words_.push_back(reinterpret_cast<std::uintptr_t>(&application.op));
    for (const ParamValue& value : application.params.values()) add(value);
    for (std::size_t i = 0; i < application.in.size(); ++i) {
      const Shape& shape = application.in[i];
      words_.push_back(static_cast<std::uint64_t>(shape.rank()) << 1 |
                       static_cast<std::uint64_t>(application.kinds[i]));
      for (const std::int64_t size : shape) words_.push_back(static_cast<std::uint64_t>(size));
    }
    for (const AxisOrder& order : application.orders) {
      words_.push_back(order.size());
      words_.insert(words_.end(), order.begin(), order.end());
    }
  }
  void add(const ParamValue& value) {
    if (const auto* number = std::get_if<0>(&value)) words_.push_back(static_cast<std::uint64_t>(*number));
    if (const auto* real = std::get_if<1>(&value)) words_.push_back(std::bit_cast<std::uint64_t>(*real));
    if (const auto* list = std::get_if<2>(&value)) add(*list);
    if (const auto* sizes = std::get_if<3>(&value)) add(sizes->values);
  }
  void add(const std::vector<std::int64_t>& list) {
    words_.push_back(list.size());
    for (const std::int64_t element : list) words_.push_back(static_cast<std::uint64_t>(element));
  }
  std::vector<std::uint64_t> words_;
};

}  // namespace

KernelCosts::KernelCosts(CostModel& model, CostCache* cache, const Operator* reorder)
    : model_(model), cache_(model.measured() ? cache : nullptr), reorder_(model.knows_layouts() ? reorder : nullptr) {
  for (const std::vector<std::string>& sequence : model.fused()) add(kNoPrefix, sequence, 0);
}

void KernelCosts::add(Prefix prefix, const std::vector<std::string>& sequence, std::size_t rest) {
  const std::size_t last = prefix == kNoPrefix ? std::min<std::size_t>(1, sequence.size()) : sequence.size();
  for (std::size_t i = rest; i < last; ++i) {
    const auto [entry, is_new] = after_[prefix].try_emplace(sequence[i], static_cast<Prefix>(after_.size()));
    const Prefix longer = entry->second;
    if (is_new) after_.emplace_back();
    add(longer, sequence, i + 1);
  }
}

KernelCosts::Prefix KernelCosts::extended(Prefix prefix, std::string_view op) const {
  const auto found = after_[prefix].find(op);
  return found == after_[prefix].end() ? kNoPrefix : found->second;
}

void KernelCosts::watch(Watch watch) {
  const std::scoped_lock lock(mutex_);
  watch_ = std::move(watch);
  stopped_ = false;
}

template <class Ask>
Result<Estimate> KernelCosts::answer(const std::string& key, const Ask& ask) {
  const std::string row = cache_ == nullptr ? "" : fmt::format("{}|{}{}", model_.name(), model_.device(), key);
  if (const auto us = cache_ == nullptr ? std::nullopt : cache_->find(row)) return Estimate{*us};
  if (watch_ && !stopped_ && !watch_()) stopped_ = true;
  if (stopped_) return Estimate{std::numeric_limits<double>::infinity()};
  REWRIGHT_TRY(const Estimate estimate, ask());
  if (cache_ != nullptr) REWRIGHT_CHECK(cache_->insert(row, estimate.us));
  return estimate;
}

Result<Estimate> KernelCosts::ask_about(const Kernel& kernel) {
  REWRIGHT_TRY(const std::vector<Estimate> all, model_.estimates({&kernel, 1}));
  if (all.size() == 1) return all[0];
  return make_error(ErrorCode::kPlugin, "cost model {} gave {} estimates of one kernel", model_.name(), all.size());
}

Result<Estimate> KernelCosts::estimate(const Kernel& kernel) {
  const std::scoped_lock lock(mutex_);
  const Hash128 question = Question(kernel).hash();
  if (const auto known = known_.find(question); known != known_.end()) return known->second;
  REWRIGHT_TRY(const Estimate estimate,
               answer(cache_ == nullptr ? "" : to_key(kernel), [&] { return ask_about(kernel); }));
  if (!stopped_) known_.emplace(question, estimate);
  return estimate;
}

Result<double> KernelCosts::us(const Kernel& kernel) {
  REWRIGHT_TRY(const Estimate known, estimate(kernel));
  return known.us;
}

Status KernelCosts::ask(std::span<const Kernel> kernels) {
  const std::scoped_lock lock(mutex_);
  if (!is_asked_together() || stopped_) return {};
  std::vector<Kernel> unknown;
  std::vector<Hash128> questions;
  for (const Kernel& kernel : kernels) {
    const Hash128 question = Question(kernel).hash();
    if (known_.contains(question)) continue;
    unknown.push_back(kernel);
    questions.push_back(question);
  }
  if (unknown.empty()) return {};
  if (watch_ && !watch_()) {
    stopped_ = true;
    return {};
  }
  REWRIGHT_TRY(const std::vector<Estimate> all, model_.estimates(unknown));
  if (all.size() != unknown.size()) {
    return make_error(ErrorCode::kPlugin, "cost model {} gave {} estimates of {} kernels", model_.name(), all.size(),
                      unknown.size());
  }
  for (std::size_t i = 0; i < all.size(); ++i) known_.emplace(questions[i], all[i]);
  return {};
}

Result<double> KernelCosts::opaque_us(const Graph& graph, NodeId id) {
  const std::scoped_lock lock(mutex_);
  const std::shared_ptr<const OpaqueNode> opaque = std::get<std::shared_ptr<const OpaqueNode>>(graph.node(id).content);
  if (const auto known = known_opaque_.find(opaque); known != known_opaque_.end()) return known->second;
  double us = 0;
  if (!has_graphs(*opaque)) {
    auto question = opaque_question(graph, id, model_.measured());
    auto answered = question ? ask_about(*question, opaque->type) : Result<Estimate>(question.error());
    if (!answered && answered.error().code != ErrorCode::kUnsupported) return answered.error();
    if (!answered) without_cost_.emplace(opaque->type, answered.error().message);
    us = answered ? answered->us : 0;
  }
  if (!stopped_) known_opaque_.emplace(opaque, us);
  return us;
}

Result<Estimate> KernelCosts::ask_about(const OpaqueQuestion& question, const std::string& type) {
  return answer(question.key, [&]() -> Result<Estimate> {
    REWRIGHT_TRY(const double us, model_.opaque_us({type, question.in, question.out,
                                                    std::as_bytes(std::span(question.model)), question.inputs}));
    return Estimate{us};
  });
}

std::map<std::string, std::string> KernelCosts::without_cost() {
  const std::scoped_lock lock(mutex_);
  return without_cost_;
}

}  // namespace rewright
