// write_block FILE.onnx: a feed-forward block with two gated values, as an ONNX model. It shows the library without the
// program: a graph is read from its text form and written as a model.
#include <rewright/graph/graph.h>
#include <rewright/onnx/runtime.h>
#include <rewright/plugin/registry.h>

#include <cstdio>
#include <fstream>

namespace {
using namespace rewright;

// silu(h) * (x u) + silu(h) * (x w), where h = x g and silu(h) = h * sigmoid(h).
constexpr const char* kBlock = R"(x = input (32, 64)
g = weight (64, 128)
u = weight (64, 128)
w = weight (64, 128)
h = matmul(x, g)
s = sigmoid(h)
silu = ewmul(h, s)
a = matmul(x, u)
b = matmul(x, w)
left = ewmul(silu, a)
right = ewmul(silu, b)
sum = ewadd(left, right)
output sum
)";

Status write_block(const char* file) {
  Registry registry;
  REWRIGHT_CHECK(registry.load_default());
  REWRIGHT_TRY(const Graph graph, parse_graph(kBlock, registry));
  REWRIGHT_TRY(const auto bytes, to_model(graph));
  std::ofstream out(file, std::ios::binary);
  out.write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
  if (out.flush()) return {};
  return make_error(ErrorCode::kIo, "{}: the file could not be written", file);
}
}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) return std::fputs("usage: write_block FILE.onnx\n", stderr), 2;
  const Status status = write_block(argv[1]);
  if (!status) std::fprintf(stderr, "write_block: %s\n", status.error().message.c_str());
  return status ? 0 : 2;
}
