// A cost model whose prices a test sets: by operator, 1 us where none is set.
#pragma once

#include <rewright/cost.h>

#include <map>
#include <string>
#include <utility>

namespace rewright::testing {

class FixedPrices final : public CostModel {
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
  [[nodiscard]] std::unique_ptr<CostModel> clone() const override {
    return std::make_unique<FixedPrices>(prices_, measured_);
  }

  int questions = 0;
  std::size_t last_operands = 0;

 private:
  std::map<std::string, double> prices_;
  bool measured_;
};

}  // namespace rewright::testing
