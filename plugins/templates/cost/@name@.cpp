/// Energy in place of time: of arithmetic and of moving bytes, one nanojoule counted as one microsecond.
///
///   e = (pj_per_flop * flops + pj_per_byte * bytes) / 1000
///
/// Options  pj_per_flop (1), pj_per_byte (20)
/// Source   Horowitz, Computing's energy problem, ISSCC 2014, figure 1.1.9: the orders of magnitude.
#include <rewright/optimize/cost.h>
#include <rewright/plugin/plugin.h>

namespace {
using namespace rewright;

class @Name@ final : public CostModel {
 public:
  [[nodiscard]] std::string name() const override { return "@name@"; }
  [[nodiscard]] std::string summary() const override { return "Modelled energy: arithmetic and moved bytes"; }
  [[nodiscard]] std::string device() const override {
    return fmt::format("modelled, {} pJ a flop, {} pJ a byte", pj_per_flop_, pj_per_byte_);
  }
  [[nodiscard]] bool measured() const override { return false; }

  Status configure(const Options& options, const Registry& /*registry*/) override {
    for (const auto& [name, value] : options) {
      double* const setting = name == "pj_per_flop" ? &pj_per_flop_ : name == "pj_per_byte" ? &pj_per_byte_ : nullptr;
      const auto* number = std::get_if<double>(&value);
      if (setting == nullptr || number == nullptr || !(*number >= 0)) {
        return make_error(ErrorCode::kUsage,
                          "cost model @name@ cannot take the option '{}'; it has pj_per_flop and pj_per_byte, real numbers "
                          "of at least 0",
                          name);
      }
      *setting = *number;
    }
    return {};
  }
  [[nodiscard]] Result<double> cost_us(const Application& application) override {
    const Work work = application.op.work(application.params, application.in);
    return (pj_per_flop_ * work.flops + pj_per_byte_ * work.bytes) / 1000;
  }
  [[nodiscard]] std::unique_ptr<CostModel> clone() const override { return std::make_unique<@Name@>(*this); }

 private:
  double pj_per_flop_ = 1;
  double pj_per_byte_ = 20;
};
}  // namespace

REWRIGHT_PLUGIN("cost.@name@", "0.1.0", "Modelled energy") { registry.add<CostModel>(std::make_unique<@Name@>()); }
