#include "operator_peers.h"

#include <dlfcn.h>
#include <fmt/format.h>
#include <onnx/onnx_pb.h>

#include <cmath>
#include <memory>
#include <optional>

namespace rewright::bench {
namespace {

constexpr int kNodesOfChain = 5;

std::optional<Convolution> convolution_of(const std::string& program, Sizes s) {
  using List = std::vector<std::int64_t>;
  const std::int64_t k = s["K"], step = s.contains("S") ? s["S"] : 1, gap = s.contains("D") ? s["D"] : 1;
  Convolution made;
  made.in = s["C"];
  made.out = s["O"];
  List out = {s["OH"], s["OW"]};
  if (program == "conv1d") out = {s["OL"]};
  if (program == "conv3d") out = {s["OD"], s["OH"], s["OW"]};
  if (program == "depthwise") {
    made.out = made.groups = s["C"];
  } else if (program == "grouped") {
    made.groups = s["G"];
    made.in *= s["G"];
    made.out *= s["G"];
  } else if (program == "capsule") {  // Rows of the capsules' matrices are images, their columns channels.
    made.batch = 4;
    made.in *= 4;
    made.out *= 4;
  } else if (program == "transposed") {
    return Convolution{.in = s["C"],
                       .out = s["O"],
                       .image = {s["H"] + 1, s["W"] + 1},
                       .kernel = {4, 4},
                       .stride = {2, 2},
                       .dilation = {1, 1},
                       .pads = {2, 2},
                       .transposed = true};
  } else if (!program.starts_with("conv") && program != "dilated") {
    return std::nullopt;
  }
  made.kernel = List(out.size(), k);
  made.stride = List(out.size(), step);
  made.dilation = List(out.size(), gap);
  made.pads = List(out.size(), 0);
  for (const std::int64_t size : out) made.image.push_back((size - 1) * step + (k - 1) * gap + 1);
  return made;
}

// --- OpenBLAS -----------------------------------------------------------------------------------------------------

template <class Function>
Result<Function*> of_library(const std::string& file, const char* name) {
  void* const library = ::dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL);
  void* const found = library == nullptr ? nullptr : ::dlsym(library, name);
  if (found == nullptr)
    return make_error(ErrorCode::kNotFound, "'{}' has no {}; scripts/install-dependencies --tests brings it", file,
                      name);
  return reinterpret_cast<Function*>(found);
}

using Gemm = void(int, int, int, int, int, int, float, const float*, int, const float*, int, float, float*, int);
using Norm = float(int, const float*, int);

Result<Peer> blas_product(const std::string& file, int m, int n, int k) {
  constexpr int kRowMajor = 101, kPlain = 111;
  REWRIGHT_TRY(Gemm* const gemm, of_library<Gemm>(file, "cblas_sgemm"));
  const auto a = std::make_shared<std::vector<float>>(static_cast<std::size_t>(m * k), 0.5F),
             b = std::make_shared<std::vector<float>>(static_cast<std::size_t>(k * n), 0.3F),
             c = std::make_shared<std::vector<float>>(static_cast<std::size_t>(m * n));
  return Peer{"openblas",
              [=] { gemm(kRowMajor, kPlain, kPlain, m, n, k, 1.0F, a->data(), k, b->data(), n, 0.0F, c->data(), n); }};
}

Result<Peer> blas_norm(const std::string& file, int rows, int length) {
  REWRIGHT_TRY(Norm* const norm, of_library<Norm>(file, "cblas_snrm2"));
  const auto x = std::make_shared<std::vector<float>>(static_cast<std::size_t>(rows * length), 0.5F),
             y = std::make_shared<std::vector<float>>(static_cast<std::size_t>(rows));
  return Peer{"openblas", [=] {
                for (int i = 0; i < rows; ++i) (*y)[i] = norm(length, x->data() + i * length, 1);
              }};
}

// --- ONNX Runtime -------------------------------------------------------------------------------------------------

using ::onnx::ModelProto;
using ::onnx::NodeProto;

void declare(::onnx::ValueInfoProto& value, const std::string& name, const std::vector<std::int64_t>& sizes) {
  value.set_name(name);
  auto& tensor = *value.mutable_type()->mutable_tensor_type();
  tensor.set_elem_type(::onnx::TensorProto::FLOAT);
  auto& shape = *tensor.mutable_shape();
  for (const std::int64_t size : sizes) shape.add_dim()->set_dim_value(size);
}

void set(NodeProto& node, const char* name, const std::vector<std::int64_t>& values) {
  auto& attribute = *node.add_attribute();
  attribute.set_name(name);
  attribute.set_type(::onnx::AttributeProto::INTS);
  for (const std::int64_t value : values) attribute.add_ints(value);
}
void set(NodeProto& node, const char* name, std::int64_t value) {
  auto& attribute = *node.add_attribute();
  attribute.set_name(name);
  attribute.set_type(::onnx::AttributeProto::INT);
  attribute.set_i(value);
}

struct Stated {
  ModelProto model;
  std::vector<std::vector<std::int64_t>> inputs;  ///< The first is called x0, the next z1, ...
};

Stated empty_model(const std::vector<std::int64_t>& input, const std::vector<std::int64_t>& output) {
  Stated made{{}, {input}};
  made.model.set_ir_version(8);
  made.model.add_opset_import()->set_version(17);
  made.model.mutable_graph()->set_name("operator");
  declare(*made.model.mutable_graph()->add_input(), "x0", input);
  declare(*made.model.mutable_graph()->add_output(), "y", output);
  return made;
}
NodeProto& add_node(Stated& stated, const std::string& type, const std::vector<std::int64_t>& weight, int place,
                    int count) {
  auto& graph = *stated.model.mutable_graph();
  NodeProto& node = *graph.add_node();
  node.set_op_type(type);
  node.add_input(fmt::format("x{}", place));
  node.add_output(place + 1 == count ? "y" : fmt::format("x{}", place + 1));
  if (weight.empty()) return node;
  auto& tensor = *graph.add_initializer();
  tensor.set_name(fmt::format("w{}", place));
  tensor.set_data_type(::onnx::TensorProto::FLOAT);
  std::int64_t elements = 1;
  for (const std::int64_t size : weight) {
    tensor.add_dims(size);
    elements *= size;
  }
  for (std::int64_t i = 0; i < elements; ++i)
    tensor.add_float_data(static_cast<float>((i * 2654435761 >> 8) & 0xffff) / 65536.0F - 0.5F);
  node.add_input(tensor.name());
  return node;
}

/// softmax(q k^T) of each head: q[S, H, D], k[S, H, D].
Stated stated_scores(std::int64_t heads, std::int64_t length, std::int64_t depth) {
  Stated made = empty_model({length, heads, depth}, {heads, length, length});
  made.inputs.push_back({length, heads, depth});
  auto& graph = *made.model.mutable_graph();
  declare(*graph.add_input(), "z1", made.inputs[1]);
  const auto add = [&](const char* type, const std::vector<std::string>& inputs,
                       const std::string& output) -> NodeProto& {
    NodeProto& node = *graph.add_node();
    node.set_op_type(type);
    for (const std::string& input : inputs) node.add_input(input);
    node.add_output(output);
    return node;
  };
  set(add("Transpose", {"x0"}, "q"), "perm", std::vector<std::int64_t>{1, 0, 2});
  set(add("Transpose", {"z1"}, "k"), "perm", std::vector<std::int64_t>{1, 2, 0});
  add("MatMul", {"q", "k"}, "scores");
  set(add("Softmax", {"scores"}, "y"), "axis", -1);
  return made;
}

/// With `rest`: normalised by numbers known before, and made positive.
Stated stated(const Convolution& given, int count, bool rest = false) {
  std::vector<std::int64_t> in = {given.batch, given.in}, out = {given.batch, given.out},
                            weight = {given.out, given.in / given.groups};
  if (given.transposed) weight = {given.in, given.out / given.groups};
  in.insert(in.end(), given.image.begin(), given.image.end());
  const auto result = given.result();
  out.insert(out.end(), result.begin(), result.end());
  weight.insert(weight.end(), given.kernel.begin(), given.kernel.end());
  Stated made = empty_model(in, out);
  const int nodes = rest ? count + 2 : count;
  for (int i = 0; i < count; ++i) {
    NodeProto& node = add_node(made, given.transposed ? "ConvTranspose" : "Conv", weight, i, nodes);
    std::vector<std::int64_t> pads = given.pads;
    pads.insert(pads.end(), given.pads.begin(), given.pads.end());
    set(node, "strides", given.stride);
    set(node, "dilations", given.dilation);
    set(node, "pads", pads);
    set(node, "group", given.groups);
  }
  if (!rest) return made;
  NodeProto& norm = add_node(made, "BatchNormalization", {given.out}, count, nodes);
  for (int i = 0; i < 3; ++i) norm.add_input(norm.input(1));  // The same numbers serve, but they vary enough.
  for (float& number : *made.model.mutable_graph()->mutable_initializer(count)->mutable_float_data()) number += 1;
  add_node(made, "Relu", {}, count + 1, nodes);
  return made;
}

Result<Peer> runtime_peer(const std::string& name, const Runtime& runtime, const Stated& stated, int nodes) {
  constexpr double kBatchUs = 200;
  const std::string bytes = stated.model.SerializeAsString();
  auto loaded = runtime.load(std::as_bytes(std::span(bytes)), {});
  if (!loaded) return loaded.error();
  const std::shared_ptr<RuntimeSession> session = std::move(*loaded);
  const auto inputs = std::make_shared<std::vector<RuntimeTensor>>();
  for (const auto& sizes : stated.inputs) {
    std::int64_t elements = 1;
    for (const std::int64_t size : sizes) elements *= size;
    std::vector<float> values(static_cast<std::size_t>(elements));
    for (std::size_t i = 0; i < values.size(); ++i)
      values[i] = static_cast<float>((i * 2654435761U >> 8) & 0xffffU) / 65536.0F - 0.5F;
    const auto data = std::as_bytes(std::span(values));
    Shape shape;
    for (const std::int64_t size : sizes) shape.append(size);
    RuntimeTensor& input = inputs->emplace_back();
    input.name = inputs->size() == 1 ? "x0" : "z1";
    input.type.shape = shape;
    input.bytes.assign(data.begin(), data.end());
  }
  REWRIGHT_CHECK(session->measure(*inputs, 1, kBatchUs));
  return Peer{name, {}, [=] {
                const auto times = session->measure(*inputs, 1, kBatchUs);
                return times ? times->least_us * 1e-6 / nodes : INFINITY;
              }};
}

Status add_convolutions(std::vector<Peer>& peers, const Convolution& given, bool rest, const Runtime& runtime) {
  for (Peer& each : dnnl_convolution(given)) peers.push_back(std::move(each));  // Without the rest.
  if (rest) {
    REWRIGHT_TRY(peers.emplace_back(), runtime_peer("onnxruntime", runtime, stated(given, 1, true), 1));
    return {};
  }
  REWRIGHT_TRY(peers.emplace_back(), runtime_peer("onnxruntime", runtime, stated(given, 1), 1));
  Convolution chained = given;
  for (std::size_t d = 0; d < given.image.size(); ++d) {
    chained.pads[d] = (given.kernel[d] - 1) * given.dilation[d] / 2;
    chained.image[d] -= 2 * chained.pads[d];
  }
  const bool is_chain = !given.transposed && given.in == given.out && chained.result() == chained.image;
  if (!is_chain) return {};
  REWRIGHT_TRY(peers.emplace_back(),
               runtime_peer("onnxruntime chain", runtime, stated(chained, kNodesOfChain), kNodesOfChain));
  return {};
}

}  // namespace

Result<std::vector<Peer>> operator_peers(const std::string& program, const Sizes& sizes, const std::string& blas,
                                         const Runtime& onnxruntime) {
  std::vector<Peer> peers;
  const auto size = [&](const char* name) { return static_cast<int>(sizes.at(name)); };
  if (const auto convolution = convolution_of(program, sizes)) {
    REWRIGHT_CHECK(add_convolutions(peers, *convolution, program == "conv_bn_relu", onnxruntime));
    if (program == "conv1d" && sizes.at("K") == 1) {
      REWRIGHT_TRY(peers.emplace_back(), blas_product(blas, size("OL"), size("O"), size("C")));
    }
  } else if (program == "product") {
    peers = dnnl_peers(program, sizes);
    REWRIGHT_TRY(peers.emplace_back(), blas_product(blas, size("M"), size("N"), size("K")));
    Stated product = empty_model({sizes.at("M"), sizes.at("K")}, {sizes.at("M"), sizes.at("N")});
    add_node(product, "MatMul", {sizes.at("K"), sizes.at("N")}, 0, 1);
    REWRIGHT_TRY(peers.emplace_back(), runtime_peer("onnxruntime", onnxruntime, product, 1));
  } else if (program == "scores") {
    const Stated scores = stated_scores(sizes.at("H"), sizes.at("S"), sizes.at("D"));
    REWRIGHT_TRY(peers.emplace_back(), runtime_peer("onnxruntime", onnxruntime, scores, 1));
  } else if (program == "norm") {
    peers.push_back(dnnl_norm(sizes.at("B"), sizes.at("N")));
    REWRIGHT_TRY(peers.emplace_back(), blas_norm(blas, size("B"), size("N")));
    Stated norm = empty_model({sizes.at("B"), sizes.at("N")}, {sizes.at("B")});
    NodeProto& node = add_node(norm, "ReduceL2", {}, 0, 1);
    set(node, "axes", std::vector<std::int64_t>{1});
    set(node, "keepdims", 0);
    REWRIGHT_TRY(peers.emplace_back(), runtime_peer("onnxruntime", onnxruntime, norm, 1));
  }
  return peers;
}

}  // namespace rewright::bench
