/// Measured: each kernel by itself, as a model of one application or of several that the runtime fuses, in the Runtime
/// plugin `onnxruntime`.
///
///   t = least over batches of (wall-clock time of a batch / runs in it) - the same for relu of one number
///
/// so what a session's run costs by itself is not counted once per operator. Operands that are known before the run
/// are weights of the model, which the runtime may prepack; data operands are random numbers in [-1, 1).
///
/// What it does not see: data that is still in a cache, blocked layouts that neighbours keep. So a gain is claimed of
/// whole graphs only, measured as such.
///
/// A node that no operator knows is measured by itself, on operands that it may have.
///
/// Options  repetitions (10), batch_us (300)
/// Errors   kPlugin or kUnsupported where the runtime cannot be used. An application that has no counterpart in ONNX
///          costs infinitely much, so that no search ends there.
#include <rewright/onnx/runtime.h>
#include <rewright/operator/operator.h>
#include <rewright/optimize/cost.h>
#include <rewright/plugin/plugin.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <optional>
#include <random>
#include <set>

namespace {
using namespace rewright;

constexpr const char* kRuntime = "onnxruntime";
constexpr double kLeastUs = 0.05;

class OnnxRuntimeCost final : public CostModel {
 public:
  [[nodiscard]] std::string name() const override { return "onnxruntime"; }
  [[nodiscard]] std::string summary() const override {
    return "Measured: each operator, or what is fused, once per shape, in ONNX Runtime, one thread";
  }
  [[nodiscard]] std::string device() const override { return device_; }
  [[nodiscard]] bool measured() const override { return true; }

  Status configure(const Options& options, const Registry& registry) override {
    for (const auto& [name, value] : options) {
      const auto* integer = std::get_if<std::int64_t>(&value);
      const auto* real = std::get_if<double>(&value);
      const double number = integer != nullptr ? static_cast<double>(*integer) : real != nullptr ? *real : 0;
      if (name != "repetitions" && name != "batch_us")
        return make_error(ErrorCode::kUsage,
                          "cost model onnxruntime has no option '{}'; there are: repetitions, batch_us", name);
      if (!(number >= 1))
        return make_error(ErrorCode::kUsage, "cost model onnxruntime: {} is a number of at least 1", name);
      if (name == "repetitions") repetitions_ = static_cast<int>(std::min(number, 1e6));
      if (name == "batch_us") batch_us_ = number;
    }
    REWRIGHT_TRY(runtime_, registry.get<Runtime>(kRuntime));
    REWRIGHT_TRY(const std::string version, runtime_->version());
    device_ = fmt::format("{}, one thread, wall clock, {}", version, processor_name());
    relu_ = registry.find<Operator>("relu");
    return {};
  }

  [[nodiscard]] Result<double> cost_us(const Application& application) override {
    return kernel_us({{&application, 1}});
  }
  /// What ONNX Runtime 1.30 makes one node of at optimisation level 99, read from the models that it writes then.
  [[nodiscard]] std::vector<std::vector<std::string>> fused() const override {
    std::vector<std::vector<std::string>> all = {{"matmul", "bias_add"}, {"matmul", "ewadd"}, {"matmul", "smul"}};
    for (const char* activation : {"relu", "clip", "sigmoid", "tanh", "leaky_relu", "hard_sigmoid"})
      all.push_back({"conv2d", "batch_norm", "bias_add", "ewadd", "bias_add", activation});
    return all;
  }
  [[nodiscard]] Result<double> kernel_us(const Kernel& kernel) override {
    if (runtime_ == nullptr) return make_error(ErrorCode::kUsage, "cost model onnxruntime was not configured");
    REWRIGHT_CHECK(know_overhead());
    auto model = model_of(kernel);
    if (!model && model.error().code == ErrorCode::kUnsupported) return std::numeric_limits<double>::infinity();
    if (!model) return model.error();
    REWRIGHT_TRY(const double measured, measure(model->bytes, model->inputs));
    return std::max(measured - *overhead_us_, kLeastUs);
  }
  [[nodiscard]] Result<double> opaque_us(const OpaqueApplication& node) override {
    if (runtime_ == nullptr) return make_error(ErrorCode::kUsage, "cost model onnxruntime was not configured");
    REWRIGHT_CHECK(know_overhead());
    const auto measured = measure(node.model, node.inputs);
    if (!measured) return make_error(ErrorCode::kUnsupported, "{}", measured.error().message);
    return std::max(*measured - *overhead_us_, kLeastUs);
  }
  [[nodiscard]] std::unique_ptr<CostModel> clone() const override { return std::make_unique<OnnxRuntimeCost>(); }

 private:
  struct Model {
    std::vector<std::byte> bytes;
    std::vector<RuntimeTensor> inputs;
  };

  static Result<Model> model_of(const Kernel& kernel) {
    GraphBuilder builder;
    Model model;
    std::vector<std::vector<Port>> made;
    std::set<Port> leaves;
    std::mt19937_64 random(1);
    for (std::size_t i = 0; i < kernel.applications.size(); ++i) {
      const Application& application = kernel.applications[i];
      std::vector<Port> operands;
      for (std::size_t k = 0; k < application.in.size(); ++k) {
        if (const Kernel::Source source = kernel.source(i, k); !source.is_outside()) {
          operands.push_back(made[source.application][source.output]);
          leaves.erase(operands.back());
          continue;
        }
        REWRIGHT_TRY(const Port port, input_of(application, k, fmt::format("x{}_{}", i, k), random, builder, model));
        operands.push_back(port);
      }
      REWRIGHT_TRY(made.emplace_back(), builder.apply(application.op, application.params, std::move(operands)));
      leaves.insert(made.back().begin(), made.back().end());
    }
    for (std::size_t y = 0; const Port& port : leaves) builder.output(port, fmt::format("y{}", y++));
    REWRIGHT_TRY(model.bytes, to_model(builder.finish()));
    return model;
  }

  /// For an operand from outside.
  static Result<Port> input_of(const Application& application, std::size_t operand, const std::string& name,
                               std::mt19937_64& random, GraphBuilder& builder, Model& model) {
    const TensorType type{application.in[operand], ElementType::kFloat32};
    if (application.kinds[operand] == InputKind::kWeight) {
      auto value = std::make_shared<const ConstantData>(ConstantData{type, 0.01});
      return builder.input(name, type, InputKind::kWeight, std::move(value));
    }
    REWRIGHT_TRY(const Port port, builder.input(name, type));
    std::vector<std::byte> bytes(static_cast<std::size_t>(type.shape.elements()) * sizeof(float));
    for (std::size_t at = 0; at < bytes.size(); at += sizeof(float)) {
      const auto value = static_cast<float>(static_cast<double>(random() >> 40) * 0x1p-23 - 1.0);
      std::memcpy(bytes.data() + at, &value, sizeof value);
    }
    model.inputs.push_back({name, type, std::move(bytes)});
    return port;
  }

  [[nodiscard]] Result<double> measure(std::span<const std::byte> model, std::span<const RuntimeTensor> inputs) const {
    REWRIGHT_TRY(const auto session, runtime_->load(model, {}));
    REWRIGHT_TRY(const RunTimes times, session->measure(inputs, repetitions_, batch_us_));
    return times.least_us;
  }
  Status know_overhead() {
    if (overhead_us_) return {};
    REWRIGHT_TRY(overhead_us_, measure_overhead());
    return {};
  }
  [[nodiscard]] Result<double> measure_overhead() const {
    if (relu_ == nullptr) return 0.0;
    const Shape one{1};
    const InputKind data = InputKind::kData;
    const Params none;
    const Application application{*relu_, none, {&one, 1}, {&data, 1}};
    REWRIGHT_TRY(const Model model, model_of({{&application, 1}}));
    return measure(model.bytes, model.inputs);
  }

  const Runtime* runtime_ = nullptr;
  const Operator* relu_ = nullptr;
  std::string device_ = "not configured";
  std::optional<double> overhead_us_;
  int repetitions_ = 10;
  double batch_us_ = 300;
};

}  // namespace

REWRIGHT_PLUGIN("cost.onnxruntime", "1.2.0", "Operators measured in ONNX Runtime") {
  registry.add<CostModel>(std::make_unique<OnnxRuntimeCost>());
}
