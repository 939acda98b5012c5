// A public header that changes raises the version of the kinds of plugins that see it: plugins built before are
// refused, and do not misread objects; plugins of other kinds go on. What the headers were when a version was raised is
// a checksum in public_headers.txt, a line a kind.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <regex>
#include <set>
#include <string>
#include <vector>

namespace {

namespace fs = std::filesystem;
using testing::Contains;
using testing::IsSupersetOf;
using testing::Not;

const fs::path kHeaders = fs::path(REWRIGHT_SOURCE_DIR) / "core/include/rewright";

/// The headers that a plugin of a kind may include, and whatever they lead to, is what it is built from.
struct Kind {
  std::string type;
  std::string folder;  ///< Of the plugins: operators, or below plugins/.
  std::string header;  ///< The interface: it gives the version.
  std::vector<std::string> more;
};
const std::vector<Kind> kKinds = {
    {"Operator",
     "operators",
     "operator/operator.h",
     {"base/mixing.h",
      "kit/convolution.h",
      "kit/einsum.h",
      "kit/families.h",
      "kit/field_convolution.h",
      "kit/matrix_products.h",
      "kit/onnx_activations.h",
      "kit/onnx_formula.h",
      "kit/onnx_mapping.h",
      "kit/onnx_window.h",
      "kit/param_specs.h",
      "kit/pooling.h",
      "kit/pooling_kernels.h",
      "kit/real_convolution.h",
      "kit/recurrent.h",
      "kit/resampling.h",
      "kit/window.h",
      "kit/winograd.h",
      "operator/expression.h",
      "operator/hash_reduction.h",
      "tensor/correlation.h",
      "tensor/real_product.h",
      "tensor/strides.h",
      "tensor/sum_of_products.h"}},
    {"Verifier",
     "verifiers",
     "verify/verifier.h",
     {"axiom/axiom.h", "base/mixing.h", "egraph/prover.h", "kit/rule_terms.h", "operator/map_sizes.h",
      "tensor/linear.h", "tensor/size_code.h", "tensor/term_program.h", "theorem/rule_theorem.h",
      "verify/certificate.h", "verify/theorem_certificate.h", "plugin/registry.h"}},
    {"Pruner",
     "pruners",
     "rule/pruner.h",
     {"axiom/axiom.h", "egraph/prover.h", "graph/terms.h", "kit/derivation_pruner.h", "tensor/term_program.h",
      "verify/derivation.h"}},
    {"SearchStrategy",
     "searches",
     "optimize/search.h",
     {"base/mixing.h", "optimize/program_egraph.h", "optimize/random_walk.h"}},
    {"CostModel",
     "costs",
     "optimize/cost.h",
     {"base/toml.h", "kit/window.h", "learn/kernel_features.h", "learn/learned_model.h", "onnx/onnx.h", "onnx/runtime.h",
      "optimize/cost_key.h", "plugin/registry.h", "tensor/correlation.h", "tune/kernel_tuner.h"}},
    {"Runtime",
     "runtimes",
     "onnx/runtime.h",
     {"compile/compiled_session.h", "onnx/batch_times.h", "plugin/registry.h"}},
    {"Target",
     "targets",
     "loop/target.h",
     {"base/command.h", "loop/element_types.h", "loop/linear_index.h", "loop/buffer_owners.h", "schedule/transform.h"}},
    {"Tuner", "tuners", "tune/tuner.h", {"base/mixing.h"}},
    {"Predictor", "predictors", "tune/predictor.h", {"base/mixing.h", "tune/roofline.h"}},
    {"Generator", "generators", "tune/generator.h", {}},
};

std::string text_of(const fs::path& file) {
  std::ifstream stream(file);
  return {std::istreambuf_iterator<char>(stream), {}};
}

/// Without comments and white space; the versions themselves count as no change.
std::string code_of(const std::string& text) {
  static const std::regex kComment(R"(//[^\n]*)"), kVersion(R"(k(PluginAbiVersion|AbiVersion<\w+>) = \d+;)");
  std::string code = std::regex_replace(std::regex_replace(text, kVersion, ""), kComment, "");
  std::erase_if(code, [](unsigned char c) { return std::isspace(c) != 0; });
  return code;
}

std::vector<std::string> included_by(const fs::path& file) {
  static const std::regex kInclude(R"(#include <rewright/([^>]+)>)");
  std::vector<std::string> names;
  const std::string text = text_of(file);
  for (std::sregex_iterator at(text.begin(), text.end(), kInclude), end; at != end; ++at) names.push_back((*at)[1]);
  return names;
}

/// `headers` and all that they lead to.
std::set<std::string> reached_from(std::vector<std::string> headers) {
  std::set<std::string> reached;
  while (!headers.empty()) {
    const std::string name = headers.back();
    headers.pop_back();
    if (!reached.insert(name).second) continue;
    std::ranges::copy(included_by(kHeaders / name), std::back_inserter(headers));
  }
  return reached;
}

std::set<std::string> headers_of(const Kind& kind) {
  std::vector<std::string> headers = kind.more;
  headers.push_back(kind.header);
  return reached_from(headers);
}

/// FNV-1a (Fowler, Noll, Vo), 64 bits.
std::uint64_t checksum(const std::set<std::string>& headers) {
  std::uint64_t hash = 0xcbf29ce484222325;
  for (const std::string& name : headers) {
    for (const unsigned char c : name + ":" + code_of(text_of(kHeaders / name)) + "\n") {
      hash = (hash ^ c) * 0x100000001b3;
    }
  }
  return hash;
}

std::string line_for(const std::string& word, const std::string& header, const std::string& constant,
                     const std::set<std::string>& headers) {
  std::smatch version;
  const std::string text = text_of(kHeaders / header);
  std::regex_search(text, version, std::regex(constant + R"( = (\d+);)"));
  return fmt::format("{} {} {:016x}", word, version[1].str(), checksum(headers));
}

std::string lines_now() {
  std::string lines =
      line_for("plugin", "plugin/plugin.h", "kPluginAbiVersion", reached_from({"plugin/plugin.h"})) + "\n";
  for (const Kind& kind : kKinds) {
    lines += line_for(kind.type, kind.header, "kAbiVersion<" + kind.type + ">", headers_of(kind)) + "\n";
  }
  return lines;
}

TEST(PublicHeaders, AreThoseOfTheirVersions) {
  EXPECT_EQ(text_of(fs::path(REWRIGHT_SOURCE_DIR) / "tests/architecture/public_headers.txt"), lines_now())
      << "A public header has changed. Of each line that differs, raise the version by one (once between two releases "
         "is "
         "enough): kPluginAbiVersion in plugin/plugin.h, or kAbiVersion in the header of the kind. Then put the new "
         "lines "
         "into tests/architecture/public_headers.txt.";
}

TEST(PublicHeaders, EveryOneIsSeenBySomeKind) {
  std::set<std::string> seen = reached_from({"plugin/plugin.h"});
  for (const Kind& kind : kKinds) seen.merge(headers_of(kind));
  for (const auto& entry : fs::recursive_directory_iterator(kHeaders)) {
    if (!entry.is_regular_file()) continue;
    EXPECT_THAT(seen, Contains(fs::relative(entry.path(), kHeaders).string()))
        << "it belongs to no kind of plugins: name it in kKinds, or make it private";
  }
}

TEST(PublicHeaders, APluginIncludesThoseOfItsKind) {
  const fs::path tree = REWRIGHT_SOURCE_DIR;
  for (const Kind& kind : kKinds) {
    const std::set<std::string> known = headers_of(kind), plugin = reached_from({"plugin/plugin.h"});
    const fs::path folder = kind.folder == "operators" ? tree / "operators" : tree / "plugins" / kind.folder;
    for (const auto& entry : fs::recursive_directory_iterator(folder)) {
      const auto extension = entry.path().extension();
      if (extension != ".cpp" && extension != ".h") continue;
      for (const std::string& name : included_by(entry.path())) {
        EXPECT_TRUE(known.contains(name) || plugin.contains(name))
            << entry.path() << " includes " << name << ", which kind " << kind.type << " is not versioned by (kKinds)";
      }
    }
  }
}

TEST(PublicHeaders, AnOperatorOutlivesAChangeOfTheSearches) {
  const std::set<std::string> headers = headers_of(kKinds.front());
  EXPECT_THAT(headers, IsSupersetOf({std::string("operator/operator.h"), std::string("tensor/shape.h")}));
  EXPECT_THAT(headers, Not(Contains("optimize/search.h")));
  EXPECT_THAT(headers, Not(Contains("rule/rule.h")));
}

TEST(PublicHeaders, CommentsAndVersionsAreNoChange) {
  EXPECT_EQ(code_of("int a;  // one\nint b;"), code_of("int a;\n\n// two\nint   b;"));
  EXPECT_EQ(code_of("kPluginAbiVersion = 1;"), code_of("kPluginAbiVersion = 2;"));
  EXPECT_EQ(code_of("kAbiVersion<Verifier> = 1;"), code_of("kAbiVersion<Verifier> = 2;"));
  EXPECT_NE(code_of("int a;"), code_of("long a;"));
}

}  // namespace
