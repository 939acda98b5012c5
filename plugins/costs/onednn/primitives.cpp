#include <rewright/kit/window.h>
#include <rewright/plugin/plugin.h>

#include <oneapi/dnnl/dnnl.hpp>

#include <algorithm>
#include <array>

#include "work.h"

namespace onednn {
namespace {
using namespace rewright;

using dims = dnnl::memory::dims;
using desc = dnnl::memory::desc;
using tag = dnnl::memory::format_tag;

struct Engine {
  dnnl::engine engine{dnnl::engine::kind::cpu, 0};
  dnnl::stream stream{engine};
};

desc plain(const Shape& shape) {
  dims sizes(shape.begin(), shape.end()), strides(sizes.size(), 1);
  for (std::size_t i = sizes.size(); i-- > 1;) strides[i - 1] = strides[i] * sizes[i];
  return {sizes, dnnl::memory::data_type::f32, strides};
}

/// Throws dnnl::error where oneDNN has no such format.
desc lying(const Shape& shape, const AxisOrder& order) {
  if (order.empty()) return plain(shape);
  if (const int block = block_of(order); block > 0)
    return {dims(shape.begin(), shape.end()), dnnl::memory::data_type::f32, block == 16 ? tag::nChw16c : tag::nChw8c};
  dims strides(order.size(), 1);
  std::int64_t step = 1;
  for (std::size_t i = order.size(); i-- > 0;) {
    strides[static_cast<std::size_t>(order[i])] = step;
    step *= shape[order[i]];
  }
  return {dims(shape.begin(), shape.end()), dnnl::memory::data_type::f32, strides};
}
desc operand(const Application& application, std::size_t i) {
  return lying(application.in[i], order_at(application, i));
}
desc output(const Application& application, const Shape& shape) {
  return lying(shape, order_at(application, application.in.size()));
}

desc any(dims sizes) { return {std::move(sizes), dnnl::memory::data_type::f32, tag::any}; }

/// Allocated and filled with small numbers that are no denormals.
dnnl::memory filled(const desc& description, const dnnl::engine& engine) {
  dnnl::memory memory(description, engine);
  auto* data = static_cast<float*>(memory.get_data_handle());
  for (std::size_t i = 0; i < description.get_size() / sizeof(float); ++i)
    data[i] = 0.01f * static_cast<float>(i % 7 + 1);
  return memory;
}

/// Does oneDNN compute it element by element, for want of anything better? No runtime would choose such a layout.
bool is_reference(const dnnl::primitive_desc_base& chosen) {
  return std::string_view(chosen.impl_info_str()).starts_with("ref");
}
bool is_in_order(const Application& application) {
  return std::ranges::all_of(application.orders, [](const AxisOrder& order) { return order.empty(); });
}

Run run_of(std::shared_ptr<Engine> engine, dnnl::primitive primitive, std::unordered_map<int, dnnl::memory> arguments) {
  return [engine = std::move(engine), primitive = std::move(primitive), arguments = std::move(arguments)] {
    primitive.execute(engine->stream, arguments);
    engine->stream.wait();
  };
}

std::optional<dnnl::algorithm> activation_of(std::string_view op) {
  constexpr std::array<std::pair<std::string_view, dnnl::algorithm>, 8> kActivations = {
      {{"relu", dnnl::algorithm::eltwise_relu},
       {"tanh", dnnl::algorithm::eltwise_tanh},
       {"sigmoid", dnnl::algorithm::eltwise_logistic},
       {"clip", dnnl::algorithm::eltwise_clip},
       {"leaky_relu", dnnl::algorithm::eltwise_relu},
       {"exp", dnnl::algorithm::eltwise_exp},
       {"sqrt", dnnl::algorithm::eltwise_sqrt},
       {"abs", dnnl::algorithm::eltwise_abs}}};
  for (const auto& [name, algorithm] : kActivations)
    if (name == op) return algorithm;
  return std::nullopt;
}

std::optional<Run> convolution(const Application& application, Formats formats) {
  const auto window = Window::read("conv2d", application.params, 0);
  const auto out = application.op.infer(application.params, application.in);
  if (!window || !out) return std::nullopt;
  const Shape &x = application.in[0], &w = application.in[1];
  const std::int64_t groups = application.params.integer(4);
  const std::vector<std::int64_t>& dilations = application.params.integers(3);
  const auto pads = [&] {
    Window with = *window;
    with.dilations = {dilations[0], dilations[1]};
    return with.explicit_pads(w[2], w[3]);
  }();
  constexpr std::array kActivations = {dnnl::algorithm::undef, dnnl::algorithm::eltwise_relu,
                                       dnnl::algorithm::eltwise_logistic, dnnl::algorithm::eltwise_tanh};
  dnnl::post_ops after_it;
  if (const auto which = static_cast<std::size_t>(application.params.choice(5)); which != 0)
    after_it.append_eltwise(1.0f, kActivations[which], 0.0f, 0.0f);

  const auto engine = std::make_shared<Engine>();
  dims weights = groups == 1 ? dims{w[0], w[1], w[2], w[3]} : dims{groups, w[0] / groups, w[1], w[2], w[3]};
  const dims before = {pads[0], pads[1]}, after = {pads[2], pads[3]};
  const dims strides = {window->strides[0], window->strides[1]}, gaps = {dilations[0] - 1, dilations[1] - 1};
  const bool told = formats == Formats::kTold;
  const desc source = told ? operand(application, 0) : any(dims(x.begin(), x.end()));
  const desc result = told ? output(application, (*out)[0]) : any(dims((*out)[0].begin(), (*out)[0].end()));
  dnnl::primitive_attr attributes;
  attributes.set_post_ops(after_it);
  using Convolution = dnnl::convolution_forward;
  const Convolution::desc description(dnnl::prop_kind::forward_inference, dnnl::algorithm::convolution_direct, source,
                                      any(weights), result, strides, gaps, before, after);
  const Convolution::primitive_desc chosen(description, attributes, engine->engine);
  if (told && !is_in_order(application) && is_reference(chosen))
    throw dnnl::error(dnnl_unimplemented, "a convolution in these formats");
  std::unordered_map<int, dnnl::memory> arguments = {{DNNL_ARG_SRC, filled(chosen.src_desc(), engine->engine)},
                                                     {DNNL_ARG_WEIGHTS, filled(chosen.weights_desc(), engine->engine)},
                                                     {DNNL_ARG_DST, filled(chosen.dst_desc(), engine->engine)}};
  return run_of(engine, Convolution(chosen), std::move(arguments));
}

std::optional<Run> product(const Application& application) {
  const auto out = application.op.infer(application.params, application.in);
  if (!out) return std::nullopt;
  const auto engine = std::make_shared<Engine>();
  const bool packed = application.kinds[1] == InputKind::kWeight;
  const Shape& right = application.in[1];
  const desc weights = packed ? any(dims(right.begin(), right.end())) : operand(application, 1);
  const dnnl::matmul::primitive_desc chosen({operand(application, 0), weights, output(application, (*out)[0])},
                                            engine->engine);
  if (!is_in_order(application) && is_reference(chosen))
    throw dnnl::error(dnnl_unimplemented, "a product in these formats");
  std::unordered_map<int, dnnl::memory> arguments = {{DNNL_ARG_SRC, filled(chosen.src_desc(), engine->engine)},
                                                     {DNNL_ARG_WEIGHTS, filled(chosen.weights_desc(), engine->engine)},
                                                     {DNNL_ARG_DST, filled(chosen.dst_desc(), engine->engine)}};
  return run_of(engine, dnnl::matmul(chosen), std::move(arguments));
}

std::optional<Run> elementwise(const Application& application, dnnl::algorithm algorithm) {
  const auto engine = std::make_shared<Engine>();
  const desc tensor = operand(application, 0);
  const float beta = algorithm == dnnl::algorithm::eltwise_clip ? 6.0f : 0.0f;
  const dnnl::eltwise_forward::primitive_desc chosen(
      {dnnl::prop_kind::forward_inference, algorithm, tensor, 0.0f, beta}, engine->engine);
  return run_of(engine, dnnl::eltwise_forward(chosen),
                {{DNNL_ARG_SRC, filled(tensor, engine->engine)}, {DNNL_ARG_DST, filled(tensor, engine->engine)}});
}

std::optional<Run> binary(const Application& application, dnnl::algorithm algorithm) {
  const auto engine = std::make_shared<Engine>();
  const desc tensor = operand(application, 0);
  const dnnl::binary::primitive_desc chosen({algorithm, tensor, tensor, tensor}, engine->engine);
  return run_of(engine, dnnl::binary(chosen),
                {{DNNL_ARG_SRC_0, filled(tensor, engine->engine)},
                 {DNNL_ARG_SRC_1, filled(tensor, engine->engine)},
                 {DNNL_ARG_DST, filled(tensor, engine->engine)}});
}

std::optional<Run> pooling(const Application& application, dnnl::algorithm algorithm) {
  const std::vector<std::int64_t>& kernel = application.params.integers(0);
  const auto window = Window::read("pool2d", application.params, 1);
  const auto out = application.op.infer(application.params, application.in);
  if (!window || !out) return std::nullopt;
  const auto pads = window->explicit_pads(kernel[0], kernel[1]);
  const auto engine = std::make_shared<Engine>();
  const desc source = operand(application, 0), result = output(application, (*out)[0]);
  using Pooling = dnnl::pooling_v2_forward;
  const Pooling::primitive_desc chosen(
      {dnnl::prop_kind::forward_inference, algorithm, source, result, dims{window->strides[0], window->strides[1]},
       dims{kernel[0], kernel[1]}, dims{0, 0}, dims{pads[0], pads[1]}, dims{pads[2], pads[3]}},
      engine->engine);
  return run_of(engine, Pooling(chosen),
                {{DNNL_ARG_SRC, filled(source, engine->engine)}, {DNNL_ARG_DST, filled(result, engine->engine)}});
}

std::optional<Run> softmax(const Application& application) {
  const auto engine = std::make_shared<Engine>();
  const desc tensor = operand(application, 0);
  const dnnl::softmax_forward::primitive_desc chosen(
      {dnnl::prop_kind::forward_inference, tensor, static_cast<int>(application.params.integer(0))}, engine->engine);
  return run_of(engine, dnnl::softmax_forward(chosen),
                {{DNNL_ARG_SRC, filled(tensor, engine->engine)}, {DNNL_ARG_DST, filled(tensor, engine->engine)}});
}

/// A transpose moves its operand's axes, or leaves them and brings the operand from one order into another.
std::optional<Run> reorder(const Application& application) {
  const auto engine = std::make_shared<Engine>();
  const Shape& shape = application.in[0];
  const std::vector<std::int64_t>& perm = application.params.integers(0);
  const bool moves = !std::ranges::is_sorted(perm);
  const desc source = operand(application, 0);
  const desc result = moves ? lying(shape, AxisOrder(perm.begin(), perm.end())) : output(application, shape);
  const dnnl::reorder::primitive_desc chosen(engine->engine, source, engine->engine, result);
  return run_of(engine, dnnl::reorder(chosen),
                {{DNNL_ARG_FROM, filled(source, engine->engine)}, {DNNL_ARG_TO, filled(result, engine->engine)}});
}

}  // namespace

std::optional<Run> primitive_of(const Application& application, Formats formats) {
  const std::string& name = application.op.name();
  if (name == "conv2d") return convolution(application, formats);
  if (name == "matmul") return product(application);
  if (application.in.empty() || application.in[0].rank() == 0) return std::nullopt;
  if (name == "ewadd") return binary(application, dnnl::algorithm::binary_add);
  if (name == "ewmul") return binary(application, dnnl::algorithm::binary_mul);
  if (name == "pool2d_max") return pooling(application, dnnl::algorithm::pooling_max);
  if (name == "pool2d_avg") return pooling(application, dnnl::algorithm::pooling_avg_include_padding);
  if (name == "softmax") return softmax(application);
  if (name == "transpose") return reorder(application);
  if (const auto algorithm = activation_of(name)) return elementwise(application, *algorithm);
  return std::nullopt;
}

}  // namespace onednn
