#include "axiom/conventions.h"

#include <rewright/operator/operator.h>
#include <rewright/operator/params.h>

#include <vector>

namespace rewright {
namespace {

/// An application by which conventions differ, and the value that tells this one.
struct Probe {
  std::string_view key;
  std::string_view value;
  std::string_view op;
  std::vector<NamedParam> params;
  std::vector<Tensor<Exact>> inputs;
  std::vector<std::int64_t> expected;
};

Tensor<Exact> row(std::vector<std::int64_t> values) {
  Tensor<Exact> tensor(Shape{1, 1, 1, static_cast<std::int64_t>(values.size())});
  for (std::size_t i = 0; i < values.size(); ++i) tensor.values()[i] = Exact::from_integer(values[i]);
  return tensor;
}

const std::vector<Probe>& probes() {
  using Ints = std::vector<std::int64_t>;
  static const std::vector<Probe> kProbes = {
      // An even kernel: the zero goes after (before, it would give 0, 1).
      {"padding-same",
       "floor((k-1)/2) before, ceil((k-1)/2) after, at every stride",
       "conv2d",
       {},
       {row({1, 2}), row({1, 0})},
       {1, 2}},
      // Stride 2 on an even size: one zero before still (ONNX's SAME_UPPER would give 1, 3).
      {"padding-same",
       "floor((k-1)/2) before, ceil((k-1)/2) after, at every stride",
       "conv2d",
       {{"strides", Ints{1, 2}}},
       {row({1, 2, 3, 4}), row({1, 0, 0})},
       {0, 2}},
      {"pool-max-padding", "never the greatest", "pool2d_max", {{"kernel", Ints{1, 3}}}, {row({-1, -2})}, {-1, -1}},
      {"pool-average-default",
       "divides by the size of the kernel",
       "pool2d_avg",
       {{"kernel", Ints{1, 3}}},
       {row({3, 6})},
       {3, 3}},
  };
  return kProbes;
}

Status run(const Probe& probe, const Registry& registry) {
  REWRIGHT_TRY(const Operator* op, registry.get<Operator>(probe.op));
  REWRIGHT_TRY(const Params params, make_params(probe.op, op->info().params, probe.params));
  std::vector<Shape> shapes;
  std::vector<TensorView<const Exact>> in;
  for (const auto& input : probe.inputs) {
    shapes.push_back(input.shape());
    in.push_back(input.view());
  }
  REWRIGHT_TRY(const auto out_shapes, op->infer(params, shapes));
  Tensor<Exact> out(out_shapes.at(0));
  const std::vector<TensorView<Exact>> views = {out.view()};
  op->evaluate(params, in, views);
  for (std::size_t i = 0; i < probe.expected.size(); ++i) {
    if (i >= out.values().size() || !(out.values()[i] == Exact::from_integer(probe.expected[i])))
      return make_error(ErrorCode::kMismatch, "the file says {} \"{}\", but the loaded operator {} does otherwise",
                        probe.key, probe.value, probe.op);
  }
  return {};
}

}  // namespace

bool is_convention(std::string_view key) {
  for (const Probe& probe : probes()) {
    if (probe.key == key) return true;
  }
  return false;
}

Status check_convention(std::string_view key, std::string_view value, const Registry& registry) {
  bool known = false;
  std::string_view ours;
  for (const Probe& probe : probes()) {
    if (probe.key != key) continue;
    ours = probe.value;
    if (probe.value != value) continue;
    known = true;
    REWRIGHT_CHECK(run(probe, registry));
  }
  if (known) return {};
  return make_error(ErrorCode::kMismatch, "the file says {} \"{}\", but the operators keep \"{}\"", key, value, ours);
}

}  // namespace rewright
