// Cost models: plugins that say what a graph costs to run, in microseconds (measured or modelled).
#pragma once

#include <rewright/export.h>
#include <rewright/graph.h>
#include <rewright/verifier.h>

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace rewright {

class CostCache;
class Registry;

/// One application of an operator, as a cost model sees it. It borrows what it names.
struct Application {
  const Operator& op;
  const Params& params;
  std::span<const Shape> in;
  std::span<const InputKind> kinds;  ///< By operand; kWeight: known before the first run, so a backend may prepack it.
};

class REWRIGHT_API CostModel {
 public:
  virtual ~CostModel();
  [[nodiscard]] virtual std::string name() const = 0;
  [[nodiscard]] virtual std::string summary() const = 0;
  /// What the figures depend on besides the application: device, library and its version. Part of the cache's key.
  [[nodiscard]] virtual std::string device() const = 0;
  /// Measured costs are cached in the store; modelled ones need not be.
  [[nodiscard]] virtual bool measured() const = 0;
  /// Called once, before the first question. `registry` outlives the object; a model that measures finds its Runtime
  /// there. Errors: an unknown option, a value out of range, a runtime that cannot be used here.
  virtual Status configure(const Options& options, const Registry& registry) = 0;
  /// Microseconds of one application. The caller asks once per (operator, parameters, shapes, kinds) and remembers.
  [[nodiscard]] virtual Result<double> cost_us(const Application& application) = 0;
  [[nodiscard]] virtual std::unique_ptr<CostModel> clone() const = 0;
};

/// Microseconds of a graph: the sum over its applications, without those that depend on weights alone (done once,
/// before the first run) and without opaque nodes, which no rewrite changes. A concat whose only use is another concat
/// on the same axis counts as part of it: together they are one concat of more operands.
class REWRIGHT_API GraphCost {
 public:
  /// `cache` may be null; both must outlive the object.
  GraphCost(CostModel& model, CostCache* cache);
  ~GraphCost();
  [[nodiscard]] Result<double> cost_us(const Graph& graph);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// Measurements that outlive a run, keyed by model, device, operator, parameters, shapes and kinds of operands.
class REWRIGHT_API CostCache {
 public:
  virtual ~CostCache();
  [[nodiscard]] virtual std::optional<double> find(const std::string& key) = 0;
  virtual Status insert(const std::string& key, double cost_us) = 0;
};

/// By node: true where it depends on weights alone. Inputs of kind kWeight do; an application does if it has
/// operands and all of them do, or if it is a constant operator. Opaque nodes never do: they may be random.
[[nodiscard]] REWRIGHT_API std::vector<bool> weight_only(const Graph& graph);

}  // namespace rewright
