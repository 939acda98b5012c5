/// Energy in place of time: of arithmetic and of moving data, one nanojoule counted as one microsecond.
///
///   e = flops * pj_per_flop + sum over tensors of bytes * (bytes <= on_chip_bytes ? pj_per_byte : pj_per_far_byte)
///
/// What fits on the chip is cheap to move, what does not is dear: a graph that is faster need not be the one that
/// spends less. Additive over applications; the same for the same application.
///
/// Options  pj_per_flop (2.3), pj_per_byte (3.1), pj_per_far_byte (240), on_chip_bytes (1048576)
/// Source   Horowitz, Computing's energy problem, ISSCC 2014, figure 1.1.9, at 45 nm: fp32 add 0.9 pJ and multiply
///          3.7 pJ, of which 2.3 pJ is the mean; 8 bytes from a cache of 32 KiB 20 pJ, of 1 MiB 100 pJ, from DRAM 1.3
///          to 2.6 nJ. pj_per_byte lies between the caches, pj_per_far_byte within DRAM's range.
#include <rewright/optimize/cost.h>
#include <rewright/plugin/plugin.h>

#include <array>

namespace {
using namespace rewright;

class Energy final : public CostModel {
 public:
  [[nodiscard]] std::string name() const override { return "energy"; }
  [[nodiscard]] std::string summary() const override {
    return "Modelled energy: arithmetic, and bytes moved on and off the chip";
  }
  [[nodiscard]] std::string device() const override {
    return fmt::format("modelled, {} pJ a flop, {} pJ a byte, {} pJ beyond {} bytes", pj_per_flop_, pj_per_byte_,
                       pj_per_far_byte_, on_chip_bytes_);
  }
  [[nodiscard]] bool measured() const override { return false; }

  Status configure(const Options& options, const Registry& /*registry*/) override {
    for (const auto& [name, value] : options) REWRIGHT_CHECK(set(name, value));
    return {};
  }
  [[nodiscard]] Result<double> cost_us(const Application& application) override {
    const Work work = application.op.work(application.params, application.in);
    REWRIGHT_TRY(const std::vector<Shape> out, application.op.infer(application.params, application.in));
    double energy_pj = pj_per_flop_ * work.flops;
    for (const Shape& shape : application.in) energy_pj += moving_pj(shape);
    for (const Shape& shape : out) energy_pj += moving_pj(shape);
    return energy_pj / 1000;
  }
  [[nodiscard]] std::unique_ptr<CostModel> clone() const override { return std::make_unique<Energy>(*this); }

 private:
  Status set(const std::string& name, const Options::mapped_type& value) {
    const std::array<std::pair<const char*, double*>, 4> settings = {{{"pj_per_flop", &pj_per_flop_},
                                                                      {"pj_per_byte", &pj_per_byte_},
                                                                      {"pj_per_far_byte", &pj_per_far_byte_},
                                                                      {"on_chip_bytes", &on_chip_bytes_}}};
    const auto* real = std::get_if<double>(&value);
    const auto* integer = std::get_if<std::int64_t>(&value);
    const double number = real != nullptr ? *real : integer != nullptr ? static_cast<double>(*integer) : -1;
    for (const auto& [known, setting] : settings) {
      if (name != known || !(number >= 0)) continue;
      *setting = number;
      return {};
    }
    return make_error(ErrorCode::kUsage,
                      "cost model energy cannot take the option '{}'; it has pj_per_flop, pj_per_byte, pj_per_far_byte "
                      "and on_chip_bytes, numbers of at least 0",
                      name);
  }
  [[nodiscard]] double moving_pj(const Shape& shape) const {
    const double bytes = 4.0 * static_cast<double>(shape.elements());
    return bytes * (bytes <= on_chip_bytes_ ? pj_per_byte_ : pj_per_far_byte_);
  }

  double pj_per_flop_ = 2.3;
  double pj_per_byte_ = 3.1;
  double pj_per_far_byte_ = 240;
  double on_chip_bytes_ = 1 << 20;
};
}  // namespace

REWRIGHT_PLUGIN("cost.energy", "1.0.0", "Modelled energy") { registry.add<CostModel>(std::make_unique<Energy>()); }
