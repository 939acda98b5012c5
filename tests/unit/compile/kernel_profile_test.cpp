// What a kernel does at least, and how long a machine takes for it.
#include "compile/kernel_profile.h"

#include <gmock/gmock.h>

#include "compiled_graph.h"

namespace {

using namespace rewright;
using namespace rewright::compile;
using namespace rewright::compile::testing;

loop::Program program_of(std::string_view text) {
  auto program = loop::parse_program(text);
  EXPECT_TRUE(program) << program.error().message;
  return *std::move(program);
}

tune::Machine machine() {
  tune::Machine made;
  made.caches = {{1, 32 << 10, 200}, {2, 1 << 20, 100}, {0, 0, 20}};
  made.peak_gflops = 50;
  return made;
}

TEST(KernelProfile, CountsOperationsAndBytes) {
  const KernelWork product =
      work_of(program_of("buffer a[4, 8] float32 in buffer w[8, 6] float32 weight buffer c[4, 6] float32 out buffer "
                         "s[] float32 temporary\n"
                         "for c.i 4 serial { for c.j 6 serial { store s[] = 0 for c.k 8 serial { store s[] += a[c.i, "
                         "c.k] * w[c.k, c.j] }\n"
                         "store c[c.i, c.j] = max(s[], 0) } }"));
  EXPECT_EQ(product.operations, 4 * 6 * 8 * 2 + 4 * 6);
  EXPECT_EQ(product.bytes, 4 * (4 * 8 + 8 * 6 + 4 * 6));
  const KernelWork row =
      work_of(program_of("buffer x[1000, 8] float32 in buffer i[] int64 in buffer y[8] float64 out\n"
                         "for y.j 8 serial { store y[y.j] = x[data(i[], 0, 1000), y.j] }"));
  EXPECT_EQ(row.operations, 0);
  EXPECT_EQ(row.bytes, 8 * 4 + 8 * 8) << "of a table what is read";
}

TEST(KernelProfile, LimitsAreOfThePeakOrOfTheCachesThatHoldTheBytes) {
  EXPECT_DOUBLE_EQ(limit_us({5e6, 1000}, machine(), 1), 100);  // 5e6 / 50e9 s
  EXPECT_DOUBLE_EQ(limit_us({5e6, 1000}, machine(), 2), 50);
  EXPECT_DOUBLE_EQ(limit_us({10, 20'000}, machine(), 1), 0.1);  // 20 KB at 200 GB/s
  EXPECT_DOUBLE_EQ(limit_us({10, 32768 + 200'000}, machine(), 1), 0.16384 + 2);
  EXPECT_DOUBLE_EQ(limit_us({10, 32768 + 1048576 + 20'000'000}, machine(), 1), 0.16384 + 10.48576 + 1000);
  EXPECT_EQ(limit_us({10, 10}, tune::Machine{}, 1), 0);
}

TEST(KernelProfile, NamesKernelsAndResults) {
  GraphBuilder builder(&loaded());
  const Port x = *builder.input("x", floats({64}));
  builder.output(*builder.apply1("relu", {}, {x}), "y");
  const ImportedModel model = model_of(builder.finish());
  const Kernels kernels = kernels_of_model(model);
  const auto profile = kernel_profile(model.graph, kernels, {3.5}, machine());
  ASSERT_EQ(profile.size(), 1U);
  EXPECT_EQ(profile[0].kernel, kernels.functions[0].name);
  EXPECT_EQ(profile[0].us, 3.5);
  EXPECT_GT(profile[0].limit_us, 0);
  EXPECT_TRUE(kernel_profile(model.graph, kernels, {}, machine()).empty());
}

TEST(KernelProfile, NamesTheNodesThatAreComputedInAKernel) {
  GraphBuilder builder(&loaded());
  const auto apply = [&](const char* op, const std::vector<Port>& operands, const char* name) {
    return (*builder.apply(op, std::vector<NamedParam>(), operands, name))[0];
  };
  const Port x = *builder.input("x", floats({4, 4})), w = *builder.input("w", floats({4, 4}));
  const Port p = apply("relu", {apply("matmul", {x, w}, "product")}, "positive");
  builder.output(apply("matmul", {p, w}, "first"), "y");
  builder.output(apply("matmul", {w, p}, "second"), "z");
  const ImportedModel model = model_of(builder.finish());
  const Kernels kernels = kernels_of_model(model);
  const auto profile = kernel_profile(model.graph, kernels, std::vector<double>(kernels.calls.size(), 1), machine());
  ASSERT_EQ(profile.size(), 3U);
  const auto found = std::ranges::find(profile, "positive", &KernelTime::result);
  ASSERT_NE(found, profile.end());
  EXPECT_THAT(found->nodes, ::testing::ElementsAre("product", "positive"));
  EXPECT_THAT(std::ranges::find(profile, "second", &KernelTime::result)->nodes, ::testing::ElementsAre("second"));
}

}  // namespace
