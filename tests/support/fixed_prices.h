// A cost model whose prices a test sets: by operator, 1 us where none is set.
#pragma once

#include <rewright/optimize/cost.h>

#include <map>
#include <string>
#include <utility>

namespace rewright::testing {

class FixedPrices : public CostModel {
 public:
  explicit FixedPrices(std::map<std::string, double> prices = {}, bool measured = false)
      : prices_(std::move(prices)), measured_(measured) {}

  [[nodiscard]] std::string name() const override { return "fixed"; }
  [[nodiscard]] std::string summary() const override { return "prices of a test"; }
  [[nodiscard]] std::string device() const override { return "none"; }
  [[nodiscard]] bool measured() const override { return measured_; }
  Status configure(const Options&, const Registry&) override { return {}; }
  [[nodiscard]] Result<double> cost_us(const Application& application) override {
    ++questions;
    last_operands = application.in.size();
    const auto price = prices_.find(application.op.name());
    return price == prices_.end() ? 1.0 : price->second;
  }
  /// A kernel costs what its first operator does, and a tenth for each other.
  [[nodiscard]] std::vector<std::vector<std::string>> fused() const override { return sequences; }
  [[nodiscard]] Result<double> kernel_us(const Kernel& kernel) override {
    ++questions;
    kernel_sizes.push_back(kernel.applications.size());
    REWRIGHT_TRY(const double us, cost_us(kernel.applications[0]));
    return us + 0.1 * static_cast<double>(kernel.applications.size() - 1);
  }
  [[nodiscard]] Result<double> opaque_us(const OpaqueApplication& node) override {
    const auto price = prices_.find(std::string(node.type));
    if (price == prices_.end()) return CostModel::opaque_us(node);
    ++questions;
    return price->second;
  }
  [[nodiscard]] std::unique_ptr<CostModel> clone() const override {
    auto copy = std::make_unique<FixedPrices>(prices_, measured_);
    copy->sequences = sequences;
    return copy;
  }

  std::vector<std::vector<std::string>> sequences;
  std::vector<std::size_t> kernel_sizes;

  int questions = 0;
  std::size_t last_operands = 0;

 private:
  std::map<std::string, double> prices_;
  bool measured_;
};

}  // namespace rewright::testing
