// A cost model that runs out of memory over the first application.
#include <rewright/optimize/cost.h>
#include <rewright/plugin/plugin.h>

#include <memory>
#include <new>
#include <string>

namespace {

using namespace rewright;

class NoMemory final : public CostModel {
 public:
  [[nodiscard]] std::string name() const override { return "no-memory"; }
  [[nodiscard]] std::string summary() const override { return "Runs out of memory"; }
  [[nodiscard]] std::string device() const override { return "none"; }
  [[nodiscard]] bool measured() const override { return false; }
  Status configure(const Options&, const Registry&) override { return {}; }
  [[nodiscard]] Result<double> cost_us(const Application&) override { throw std::bad_alloc(); }
  [[nodiscard]] std::unique_ptr<CostModel> clone() const override { return std::make_unique<NoMemory>(); }
};

}  // namespace

REWRIGHT_PLUGIN("test.no_memory", "1.0.0", "A cost model that runs out of memory") {
  registry.add<CostModel>(std::make_unique<NoMemory>());
}
