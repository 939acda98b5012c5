// Dependencies point one way. The first test holds the tree to it; the others show that the scan sees each fault.
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "architecture/include_scan.h"

namespace {

namespace fs = std::filesystem;
using architecture::scan_includes;
using testing::ElementsAre;
using testing::IsEmpty;

// A source tree in a folder of its own, gone with the test.
class Tree {
 public:
  Tree() : root_(fs::temp_directory_path() / fmt::format("rewright-include-scan-{}", ::getpid())) {
    fs::remove_all(root_);
  }
  ~Tree() { fs::remove_all(root_); }
  Tree(const Tree&) = delete;
  Tree& operator=(const Tree&) = delete;

  Tree& with(const fs::path& file, const std::string& text) {
    fs::create_directories((root_ / file).parent_path());
    std::ofstream(root_ / file) << text;
    return *this;
  }
  [[nodiscard]] std::vector<std::string> violations() const { return scan_includes(root_).violations; }

 private:
  fs::path root_;
};

TEST(IncludeDirection, HoldsInTheWholeTree) {
  const auto scan = scan_includes(REWRIGHT_SOURCE_DIR);
  EXPECT_GT(scan.files, 0);
  EXPECT_TRUE(scan.violations.empty()) << fmt::format("{}", fmt::join(scan.violations, "\n"));
}

TEST(IncludeDirection, AllowsOwnRoomLowerFloorsAndLibraries) {
  Tree tree;
  tree.with("core/include/rewright/tensor/shape.h", "#include <rewright/base/result.h>\n#include <vector>\n")
      .with("core/include/rewright/base/result.h", "")
      .with("core/graph/canonical.h", "#include <rewright/tensor/shape.h>\n")
      .with("core/graph/canonical.cpp",
            "#include \"graph/canonical.h\"\n#include \"canonical.h\"\n#include <boost/graph/x.hpp>\n")
      .with("operators/relu.cpp", "#include <rewright/tensor/shape.h>\n")
      .with("plugins/verifiers/z3/z3.cpp", "#include <z3++.h>\n#include \"render.h\"\n")
      .with("plugins/verifiers/z3/render.h", "");
  EXPECT_THAT(tree.violations(), IsEmpty());
}

TEST(IncludeDirection, RefusesToLookUp) {
  Tree tree;
  tree.with("core/rule/rule.h", "").with("core/graph/graph.cpp", "#include <vector>\n#include \"rule/rule.h\"\n");
  EXPECT_THAT(
      tree.violations(),
      ElementsAre(
          "core/graph/graph.cpp:2: includes rule/rule.h: room graph (floor 2) looks up at room rule (floor 3)"));
}

TEST(IncludeDirection, RefusesToLookAcrossAFloor) {
  Tree tree;
  tree.with("core/rule/rule.h", "").with("core/onnx/import.cpp", "#  include \"../rule/rule.h\"\n");
  EXPECT_THAT(tree.violations(),
              ElementsAre("core/onnx/import.cpp:1: includes ../rule/rule.h: room onnx (floor 3) looks "
                          "across at room rule (floor 3)"));
}

TEST(IncludeDirection, HoldsForPublicHeadersByTheirRoom) {
  Tree tree;
  tree.with("core/include/rewright/graph/graph.h", "")
      .with("core/include/rewright/tensor/shape.h", "#include <rewright/graph/graph.h>\n");
  EXPECT_THAT(
      tree.violations(),
      ElementsAre("core/include/rewright/tensor/shape.h:1: includes rewright/graph/graph.h: room tensor (floor 0) "
                  "looks up at room graph (floor 2)"));
}

TEST(IncludeDirection, LetsAFloorMeetInPublicHeadersOnly) {
  Tree tree;
  tree.with("core/include/rewright/rule/rule.h", "")
      .with("core/include/rewright/verify/verifier.h", "#include <rewright/rule/rule.h>\n")
      .with("core/include/rewright/plugin/plugin.h", "#include <rewright/verify/verifier.h>\n")
      .with("core/verify/portfolio.cpp", "#include <rewright/rule/rule.h>\n");
  EXPECT_THAT(tree.violations(), IsEmpty());
}

TEST(IncludeDirection, RefusesPublicHeadersThatLeadBackToThemselves) {
  Tree tree;
  tree.with("core/include/rewright/rule/rule.h", "#include <rewright/verify/verifier.h>\n")
      .with("core/include/rewright/verify/verifier.h", "#include <rewright/rule/rule.h>\n");
  EXPECT_THAT(
      tree.violations(),
      ElementsAre(
          "core/include/rewright/rule/rule and core/include/rewright/verify/verifier include each other: what both "
          "need belongs into a third file",
          "core/include/rewright/rule/rule.h: its includes lead back to it",
          "core/include/rewright/verify/verifier.h: its includes lead back to it"));
}

TEST(IncludeDirection, RefusesTwoFilesThatIncludeEachOther) {
  Tree tree;
  tree.with("core/rule/rule_text.h", "")
      .with("core/rule/rule_text.cpp", "#include \"rule/rule_text.h\"\n#include \"rule/reader.h\"\n")
      .with("core/rule/reader.h", "#include \"rule/rule_text.h\"\n")
      .with("core/store/store.h", "#include \"rule/reader.h\"\n");
  EXPECT_THAT(tree.violations(),
              ElementsAre("core/rule/reader and core/rule/rule_text include each other: what both need "
                          "belongs into a third file"));
}

TEST(IncludeDirection, RefusesAPrivateHeaderInAPublicOne) {
  Tree tree;
  tree.with("core/tensor/field.h", "").with("core/include/rewright/graph/graph.h", "#include \"tensor/field.h\"\n");
  EXPECT_THAT(
      tree.violations(),
      ElementsAre(
          "core/include/rewright/graph/graph.h:1: includes tensor/field.h: a public header includes no private one"));
}

TEST(IncludeDirection, RefusesAPublicHeaderOfNoKnownRoom) {
  Tree tree;
  tree.with("core/include/rewright/misc.h", "").with("core/graph/graph.cpp", "#include <rewright/misc.h>\n");
  EXPECT_THAT(
      tree.violations(),
      ElementsAre("core/graph/graph.cpp:1: includes rewright/misc.h: core/include/rewright/misc.h belongs to no known "
                  "room: name it in tests/architecture/include_scan.cpp"));
}

TEST(IncludeDirection, RefusesSolversAndRuntimesInCore) {
  Tree tree;
  tree.with("core/verify/a.cpp",
            "#include <z3++.h>\n#include <cvc5/cvc5.h>\n#include <oneapi/dnnl/dnnl.hpp>\n"
            "#include \"onnxruntime_c_api.h\"\n#include <onnx/onnx_pb.h>\n");
  EXPECT_EQ(tree.violations().size(), 4u);
}

TEST(IncludeDirection, RefusesPrivateHeadersInPlugins) {
  Tree tree;
  tree.with("core/graph/canonical.h", "")
      .with("operators/relu.cpp", "#include \"graph/canonical.h\"\n")
      .with("plugins/costs/flops.cpp", "#include \"../../core/graph/canonical.h\"\n");
  EXPECT_THAT(
      tree.violations(),
      ElementsAre(
          "operators/relu.cpp:1: includes graph/canonical.h: a plugin includes <rewright/...> only, never core's "
          "private headers",
          "plugins/costs/flops.cpp:1: includes ../../core/graph/canonical.h: a plugin includes <rewright/...> "
          "only, never core's private headers"));
}

TEST(IncludeDirection, RefusesOnePluginInAnother) {
  Tree tree;
  tree.with("plugins/verifiers/z3/render.h", "")
      .with("plugins/verifiers/cvc5/solve.cpp", "#include \"../z3/render.h\"\n")
      .with("operators/gemm.h", "")
      .with("operators/matmul.cpp", "#include \"gemm.h\"\n");
  EXPECT_THAT(
      tree.violations(),
      ElementsAre("operators/matmul.cpp:1: includes gemm.h: plugins never include each other",
                  "plugins/verifiers/cvc5/solve.cpp:1: includes ../z3/render.h: plugins never include each other"));
}

}  // namespace
