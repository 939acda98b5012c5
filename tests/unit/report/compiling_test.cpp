// The page of a compiled model: shares add up, the machine's roofs are where it was measured, names are text.
#include "report/compiling.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace {

using namespace rewright;
using testing::HasSubstr;
using testing::Not;

CompilingReport report() {
  CompilingReport report{.model = "<net>.onnx", .lede = "90 us a run.", .facts = {{"threads", "1"}}};
  report.kernels = {{{"relu_0", 10, 1024, 8192}, "y&", 2},
                    {{"matmul_1", 60, 1e6, 4096}, "z", 50},
                    {{"matmul_1", 20, 1e5, 4096}, "", 10},
                    {{"copy_2", 0, 0, 4096}, "", 0}};
  report.machine.peak_gflops = 50;
  report.machine.caches = {{1, 32768, 100}, {0, 0, 10}};
  return report;
}

TEST(CompilingPage, SaysWhereTimeGoes) {
  const std::string page = compiling_html(report());
  EXPECT_THAT(page, HasSubstr("<title>&lt;net&gt;.onnx</title>"));
  EXPECT_THAT(page, HasSubstr("matmul_1 (2 calls)"));
  EXPECT_THAT(page, HasSubstr("80.00 us, 89 %"));
  EXPECT_THAT(page, HasSubstr("66.7 %")) << "the call that takes most";
  EXPECT_THAT(page, HasSubstr("83 %")) << "50 of 60 us are the machine's";
  EXPECT_THAT(page, HasSubstr("y&amp;"));
  EXPECT_LT(page.find("<code>matmul_1"), page.find("<code>relu_0")) << "those that take most in front";
  for (const char* part : {">inf", ">nan", "nan ", "inf ", "<net>"}) EXPECT_THAT(page, Not(HasSubstr(part)));
}

TEST(CompilingPage, ShowsRoofsOfAMachineThatWasMeasured) {
  CompilingReport measured = report();
  EXPECT_THAT(compiling_html(measured), HasSubstr("L1, 100 GB/s"));
  EXPECT_THAT(compiling_html(measured), HasSubstr("memory, 10 GB/s"));
  measured.machine.peak_gflops = 0;
  EXPECT_THAT(compiling_html(measured), Not(HasSubstr("id=\"roofline\"")));
}

TEST(CompilingPage, OfKernelsThatWereNotTimedSaysSo) {
  CompilingReport untimed = report();
  untimed.kernels.clear();
  EXPECT_THAT(compiling_html(untimed), HasSubstr("Kernels were not timed one by one"));
}

TEST(RooflinePlot, HasTheRoofsThatAreTheLowestSomewhere) {
  tune::Machine machine;
  machine.peak_gflops = 50;
  machine.caches = {{1, 0, 1000}, {0, 0, 10}};
  const RooflineKernel product{"product", 1, 1e4, 1e4};
  const std::string plot = roofline_html({&product, 1}, machine, 1);
  EXPECT_THAT(plot, HasSubstr("arithmetic, 50 x 10^9"));
  EXPECT_THAT(plot, HasSubstr("memory, 10 GB/s"));
  EXPECT_THAT(plot, Not(HasSubstr("L1"))) << "beyond half an operation a byte arithmetic is lower";
}

TEST(RooflinePlot, LeavesOutWhatComputesNothing) {
  tune::Machine machine;
  machine.peak_gflops = 50;
  const RooflineKernel copy{"copy", 1, 0, 64};
  EXPECT_EQ(roofline_html({&copy, 1}, machine, 1), "");
}

}  // namespace
