#include "dnnl_peers.h"

#include <oneapi/dnnl/dnnl.hpp>

#include <memory>
#include <unordered_map>

namespace rewright::bench {
namespace {

using Tag = dnnl::memory::format_tag;
using Desc = dnnl::memory::desc;

dnnl::engine& engine() {
  static dnnl::engine made(dnnl::engine::kind::cpu, 0);
  return made;
}
dnnl::stream& stream() {
  static dnnl::stream made(engine());
  return made;
}

Desc floats(const dnnl::memory::dims& sizes, Tag tag) { return {sizes, dnnl::memory::data_type::f32, tag}; }

dnnl::memory filled(const Desc& desc) {
  dnnl::memory memory(desc, engine());
  auto* data = static_cast<float*>(memory.get_data_handle());
  for (std::size_t i = 0; i < desc.get_size() / sizeof(float); ++i)
    data[i] = static_cast<float>((i * 2654435761U >> 8) & 0xffffU) / 65536.0F - 0.5F;
  return memory;
}

/// Runs a primitive over memory of these descriptions.
template <class Primitive>
Peer peer(std::string name, const Primitive& primitive, const std::vector<std::pair<int, Desc>>& arguments) {
  std::unordered_map<int, dnnl::memory> memory;
  for (const auto& [place, desc] : arguments) memory.emplace(place, filled(desc));
  return {std::move(name), [primitive, memory] {
            primitive.execute(stream(), memory);
            stream().wait();
          }};
}

std::vector<Peer> products(Sizes& s) {
  const auto m = s["M"], n = s["N"], k = s["K"];
  std::vector<Peer> peers;
  const auto a = std::make_shared<std::vector<float>>(m * k, 0.5F),
             b = std::make_shared<std::vector<float>>(k * n, 0.3F), c = std::make_shared<std::vector<float>>(m * n);
  peers.push_back(
      {"dnnl_sgemm", [=] { dnnl_sgemm('N', 'N', m, n, k, 1.0F, a->data(), k, b->data(), n, 0.0F, c->data(), n); }});
  const dnnl::matmul::primitive_desc product(
      {floats({m, k}, Tag::ab), floats({k, n}, Tag::any), floats({m, n}, Tag::ab)}, engine());
  peers.push_back(peer("matmul", dnnl::matmul(product),
                       {{DNNL_ARG_SRC, product.src_desc()},
                        {DNNL_ARG_WEIGHTS, product.weights_desc()},
                        {DNNL_ARG_DST, product.dst_desc()}}));
  const dnnl::inner_product_forward::primitive_desc inner(
      {dnnl::prop_kind::forward_inference, floats({m, k}, Tag::ab), floats({n, k}, Tag::any), floats({m, n}, Tag::ab)},
      engine());
  peers.push_back(peer(
      "inner_product", dnnl::inner_product_forward(inner),
      {{DNNL_ARG_SRC, inner.src_desc()}, {DNNL_ARG_WEIGHTS, inner.weights_desc()}, {DNNL_ARG_DST, inner.dst_desc()}}));
  return peers;
}

std::vector<Peer> convolutions(Sizes& s) {
  const auto c = s["C"], k = s["K"], groups = s.contains("G") ? s["G"] : 1, stride = s["S"], kh = s["KH"], kw = s["KW"];
  const auto oh = s["OH"], ow = s["OW"], ph = kh / 2, pw = kw / 2;
  const auto h = oh == 1 && kh == 1 ? 1 : s["H"], w = kh == 1 && kw > 1 ? ow : s["H"];
  const Desc weights =
      groups > 1 ? floats({groups, k / groups, c / groups, kh, kw}, Tag::any) : floats({k, c, kh, kw}, Tag::any);
  std::vector<Peer> peers;
  for (const auto& [name, algorithm] : {std::pair("direct", dnnl::algorithm::convolution_direct),
                                        std::pair("winograd", dnnl::algorithm::convolution_winograd)}) {
    try {
      const dnnl::convolution_forward::primitive_desc made({dnnl::prop_kind::forward_inference,
                                                            algorithm,
                                                            floats({1, c, h, w}, Tag::any),
                                                            weights,
                                                            floats({1, k, oh, ow}, Tag::any),
                                                            {stride, stride},
                                                            {ph, pw},
                                                            {ph, pw}},
                                                           engine());
      peers.push_back(peer(
          name, dnnl::convolution_forward(made),
          {{DNNL_ARG_SRC, made.src_desc()}, {DNNL_ARG_WEIGHTS, made.weights_desc()}, {DNNL_ARG_DST, made.dst_desc()}}));
    } catch (const dnnl::error&) {  // It has no such kernel: Winograd's wants 3 x 3 and AVX-512.
    }
  }
  return peers;
}

std::vector<Peer> rows(const std::string& kind, Sizes& s) {
  const Desc both = floats({s["M"], s["N"]}, Tag::ab);
  const auto inference = dnnl::prop_kind::forward_inference;
  if (kind == "softmax") {
    const dnnl::softmax_forward::primitive_desc made({inference, both, 1}, engine());
    return {peer("softmax", dnnl::softmax_forward(made), {{DNNL_ARG_SRC, both}, {DNNL_ARG_DST, both}})};
  }
  if (kind == "gelu") {
    const dnnl::eltwise_forward::primitive_desc made({inference, dnnl::algorithm::eltwise_gelu_erf, both, 0.0F, 0.0F},
                                                     engine());
    return {peer("eltwise", dnnl::eltwise_forward(made), {{DNNL_ARG_SRC, both}, {DNNL_ARG_DST, both}})};
  }
  const dnnl::layer_normalization_forward::primitive_desc made(
      {inference, both, 1e-5F, dnnl::normalization_flags::use_scale_shift}, engine());
  return {peer("layer_normalization", dnnl::layer_normalization_forward(made),
               {{DNNL_ARG_SRC, both}, {DNNL_ARG_DST, both}, {DNNL_ARG_SCALE_SHIFT, made.weights_desc()}})};
}

std::vector<Peer> pooling(Sizes& s) {
  const auto c = s["C"], h = s["H"], out = (h - 1) / 2 + 1;
  const dnnl::pooling_forward::primitive_desc made({dnnl::prop_kind::forward_inference,
                                                    dnnl::algorithm::pooling_max,
                                                    floats({1, c, h, h}, Tag::nChw8c),
                                                    floats({1, c, out, out}, Tag::any),
                                                    {2, 2},
                                                    {3, 3},
                                                    {1, 1},
                                                    {1, 1}},
                                                   engine());
  return {
      peer("pooling", dnnl::pooling_forward(made), {{DNNL_ARG_SRC, made.src_desc()}, {DNNL_ARG_DST, made.dst_desc()}})};
}

}  // namespace

std::vector<std::int64_t> Convolution::result() const {
  std::vector<std::int64_t> sizes;
  for (std::size_t d = 0; d < image.size(); ++d) {
    const std::int64_t window = (kernel[d] - 1) * dilation[d] + 1;
    sizes.push_back(transposed ? (image[d] - 1) * stride[d] + window - 2 * pads[d]
                               : (image[d] + 2 * pads[d] - window) / stride[d] + 1);
  }
  return sizes;
}

std::vector<Peer> dnnl_convolution(const Convolution& given) {
  const auto any = [](std::vector<std::int64_t> front, const std::vector<std::int64_t>& back) {
    front.insert(front.end(), back.begin(), back.end());
    return Desc(front, dnnl::memory::data_type::f32, Tag::any);
  };
  const Desc in = any({given.batch, given.in}, given.image), out = any({given.batch, given.out}, given.result());
  const Desc weights = given.groups > 1
                           ? any({given.groups, given.out / given.groups, given.in / given.groups}, given.kernel)
                           : any({given.out, given.in}, given.kernel);
  std::vector<std::int64_t> gaps = given.dilation;
  for (std::int64_t& gap : gaps) --gap;
  const auto inference = dnnl::prop_kind::forward_inference;
  const auto made = [](const auto& desc, const auto& primitive) {
    return std::vector<Peer>{peer(
        "dnnl", primitive,
        {{DNNL_ARG_SRC, desc.src_desc()}, {DNNL_ARG_WEIGHTS, desc.weights_desc()}, {DNNL_ARG_DST, desc.dst_desc()}})};
  };
  try {
    if (given.transposed) {
      const dnnl::deconvolution_forward::primitive_desc desc({inference, dnnl::algorithm::deconvolution_direct, in,
                                                              weights, out, given.stride, gaps, given.pads, given.pads},
                                                             engine());
      return made(desc, dnnl::deconvolution_forward(desc));
    }
    const dnnl::convolution_forward::primitive_desc desc(
        {inference, dnnl::algorithm::convolution_direct, in, weights, out, given.stride, gaps, given.pads, given.pads},
        engine());
    return made(desc, dnnl::convolution_forward(desc));
  } catch (const dnnl::error&) {
    return {};
  }
}

Peer dnnl_norm(std::int64_t rows, std::int64_t length) {
  const Desc in = floats({rows, length}, Tag::ab), out = floats({rows, 1}, Tag::ab);
  const dnnl::reduction::primitive_desc made({dnnl::algorithm::reduction_norm_lp_sum, in, out, 2.0F, 0.0F}, engine());
  return peer("dnnl", dnnl::reduction(made), {{DNNL_ARG_SRC, in}, {DNNL_ARG_DST, out}});
}

std::vector<Peer> dnnl_peers(const std::string& kind, Sizes sizes) {
  if (kind == "product") return products(sizes);
  if (kind == "conv" || kind == "depthwise" || kind == "grouped") return convolutions(sizes);
  if (kind == "softmax" || kind == "gelu" || kind == "layernorm") return rows(kind, sizes);
  if (kind == "maxpool") return pooling(sizes);
  return {};
}

}  // namespace rewright::bench
