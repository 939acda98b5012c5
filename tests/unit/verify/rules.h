// Rules from text, the axioms of this tree and its verifiers.
#pragma once

#include <rewright/axiom/axiom.h>
#include <rewright/plugin/plugin.h>
#include <rewright/verify/verifier.h>

#include <algorithm>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "verify/portfolio.h"

namespace rewright::test {

inline Registry load_plugins() {
  Registry registry;
  if (auto status = registry.load_default(); !status) fail(status.error().message);
  return registry;
}
inline const Registry& plugins() {
  static const Registry kRegistry = load_plugins();
  return kRegistry;
}

inline const AxiomSet& axioms() {
  static const AxiomSet kAxioms = [] {
    std::vector<std::string> files;
    for (const auto& entry : std::filesystem::directory_iterator(REWRIGHT_SOURCE_DIR "/axioms")) {
      if (entry.path().extension() == ".smt2" && entry.path().filename() != "rejected.smt2")
        files.push_back(entry.path().string());
    }
    std::sort(files.begin(), files.end());
    auto set = load_axioms(files, plugins());
    if (!set) fail(set.error().message);
    return *std::move(set);
  }();
  return kAxioms;
}

inline Rule rule(std::string_view text) {
  auto parsed = parse_rule(text, plugins());
  if (!parsed) fail(fmt::format("{}: {}", text, parsed.error().message));
  return *std::move(parsed);
}

/// What one verifier says of one rule.
inline Verdict ask(const std::string& verifier, const Rule& rule, const Options& options = {},
                   const Budget& budget = {}) {
  const auto object = plugins().find<Verifier>(verifier)->clone();
  if (auto status = object->configure(options); !status) fail(status.error().message);
  const std::vector<Goal> goals = {{rule, axioms(), budget}};
  auto verdicts = object->verify(goals);
  if (!verdicts) fail(verdicts.error().message);
  return verdicts->at(0);
}

/// Equal for all shapes that meet the conditions, and within reach of the axioms.
inline const std::vector<std::string>& true_rules() {
  static const std::vector<std::string> kRules = {
      "(x:2, y:2) ewadd(x, y) => ewadd(y, x)",
      "(x:2, y:2, z:2) matmul(matmul(x, y), z) => matmul(x, matmul(y, z))",
      "(x:2, y:2, z:2) ewadd(matmul(x, y), matmul(x, z)) => matmul(x, ewadd(y, z))",
      "(x:2, y:2, z:2) ewadd(matmul(x, z), matmul(y, z)) => matmul(ewadd(x, y), z)",
      "(x:2, y:2) split[sizes=[x.0, y.0]](concat(x, y)) => x, y",
      "(x:2, y:2) split[sizes=[y.0, x.0 + y.0]](concat(y, concat(y, x))) => y, concat(y, x)",  // y + x = x + y
      "(x:2) transpose(transpose(x)) => x",
      "(x:2, y:2) transpose(matmul(transpose(x), transpose(y))) => matmul(y, x)",
      "(x:2, y:2) let a, b = split[axis=1, sizes=[x.1, y.1]](relu(concat[axis=1](x, y))) in a, b => relu(x), relu(y)",
      "(x:2, y:2, z:2) let a, b = split[axis=1, sizes=[y.1, z.1]](matmul(x, concat[axis=1](y, z))) in a, b => "
      "matmul(x, y), matmul(x, z)",
      "(x:2, y:2, z:2) matmul(x, y), matmul(x, z) => split[axis=1, sizes=[y.1, z.1]](matmul(x, concat[axis=1](y, z)))",
      "(x:4, w:4, v:4) ewadd(conv2d(x, w), conv2d(x, v)) => conv2d(x, ewadd(w, v))",
      "(x:4, w:4, v:4) conv2d(x, w), conv2d(x, v) => let a, b = split[axis=1, sizes=[w.0, v.0]](conv2d(x, concat(w, "
      "v))) in a, b",
      "(x:4, y:4, w:4) concat(conv2d(x, w), conv2d(y, w)) => conv2d(concat(x, y), w)",
      "(x:4, y:4, w:4) concat(conv2d[strides=[2, 2]](x, w), conv2d[strides=[2, 2]](y, w)) => conv2d[strides=[2, "
      "2]](concat(x, y), w)",
      "(x:4, w:4) relu(conv2d(x, w)) => conv2d[activation=relu](x, w)",
      "(x:4, w:4) conv2d(x, enlarge[kernel=[3, 3]](w)) => conv2d(x, w)",
      "(x:4, y:4, w:4, v:4) ewadd(conv2d(x, w), conv2d(y, v)) => conv2d(concat[axis=1](x, y), concat[axis=1](w, v))",
      "(x:4) pool2d_avg[kernel=[3, 3]](x) => conv2d(x, constant_pool[sizes=[x.1, x.1, 3, 3]])",
      "(x:4) conv2d(x, constant_conv[sizes=[x.1, x.1, 3, 3]]) => x",
      "(x:2, s:0) relu(relu(smul(x, s))) => relu(smul(x, s))",
      "(x:2, s:0, y:2) smul(matmul(x, y), s) => matmul(smul(x, s), y)",
      "(x:2, y:2, z:2) concat(concat(x, y), z) => concat(x, concat(y, z))",
      "(x:2, y:2, z:2, w:2) concat(concat[axis=1](x, y), concat[axis=1](z, w)) => concat[axis=1](concat(x, z), "
      "concat(y, w))",
      "(x:2) matmul(x, constant_identity[sizes=[x.1, x.1]]) => x",
      "(x:4) relu(pool2d_max[kernel=[3, 3]](relu(x))) => pool2d_max[kernel=[3, 3]](relu(x))",
      "(x:2, y:2, z:2) concat(x, y, z) => concat(x, concat(y, z))",
      "(x:2, y:2, z:2, w:2) ewadd(matmul(x, z), matmul(y, w)) => matmul(concat[axis=1](x, y), concat(z, w))",
      "(x:2, y:2, z:2) ewmul(ewadd(x, y), z) => ewadd(ewmul(z, y), ewmul(z, x))",
      "(x:2, y:2, z:2) matmul(x, ewadd(ewadd(y, z), y)) => ewadd(matmul(x, z), matmul(x, ewadd(y, y)))",
      "(x:4, w:4, v:4) conv2d(x, w), conv2d(x, v) => split[axis=1, sizes=[w.0, v.0]](conv2d(x, "
      "concat(enlarge[kernel=[3, 3]](w), v))) where v.2 = 3, v.3 = 3",
      "(x:2, y:2, z:2, w:2) matmul(concat[axis=1](x, y), concat(z, w)) => ewadd(matmul(x, z), matmul(y, w))",
  };
  return kRules;
}

/// Different somewhere.
inline const std::vector<std::string>& wrong_rules() {
  static const std::vector<std::string> kRules = {
      "(x:2, s:0) relu(smul(x, s)) => smul(relu(x), s)",
      "(x:2, y:2) concat(x, y) => concat(y, x)",
      "(x:4, w:4, v:4) concat[axis=1](conv2d[groups=2](x, w), conv2d[groups=2](x, v)) => conv2d[groups=2](x, concat(w, "
      "v))",
      "(x:4, w:4) conv2d[dilations=[2, 2]](x, enlarge[kernel=[3, 3]](w)) => conv2d[dilations=[2, 2]](x, w)",
      "(x:2, y:2, z:2) matmul(x, concat[axis=1](y, z)) => concat[axis=1](matmul(x, z), matmul(x, y))",
      "(x:2, y:2) matmul(x, y) => matmul(y, x)",
      "(x:4) pool2d_avg[kernel=[3, 3], count_include_pad=no](x) => conv2d(x, constant_pool[sizes=[x.1, x.1, 3, 3]])",
      "(w:4, x:4) conv2d[activation=relu](pool2d_max[kernel=[3, 3]](w), ewmul(x, x)) => conv2d(pool2d_max[kernel=[3, "
      "3]](w), ewmul(x, x))",
      "(x:4) let p = pool2d_max[kernel=[3, 3]](x) in relu(conv2d(p, p)) => let p = pool2d_max[kernel=[3, 3]](x) in "
      "conv2d(p, p)",
      "(s:0) relu(ewadd(s, ewmul(s, s))) => ewadd(s, ewmul(s, s))",
      "(x:2) relu(ewadd(x, ewmul(x, x))) => ewadd(x, ewmul(x, x))",
      "(x:2, y:2) relu(ewadd(x, y)) => ewadd(relu(x), relu(y))",
      "(x:4, y:4, w:4, v:4) conv2d[groups=2](concat[axis=1](x, y), concat[axis=1](w, v)) => ewadd(conv2d[groups=2](x, "
      "w), conv2d[groups=2](y, v))",
      "(x:2, y:2, s:0) ewmul(smul(x, s), smul(y, s)) => smul(ewmul(x, y), s)",
      "(x:4, y:4) pool2d_max[kernel=[3, 3]](ewadd(x, y)) => ewadd(pool2d_max[kernel=[3, 3]](x), pool2d_max[kernel=[3, "
      "3]](y))",
      "(x:2, y:2, z:2, w:2) ewadd(concat(x, y), concat(z, w)) => concat(ewadd(x, w), ewadd(y, z))",
      "(x:2, y:2) transpose(matmul(x, y)) => matmul(transpose(x), transpose(y))",
      "(x:4, w:4, y:4) ewmul(conv2d(x, w), y) => conv2d(x, w)",
      "(x:2) ewadd(x, matmul(constant_one[sizes=[x.0, 17]], constant_one[sizes=[17, x.1]])) => ewadd(x, "
      "matmul(constant_one[sizes=[x.0, 1]], constant_one[sizes=[1, x.1]]))",
      "(x:2) ewadd(x, matmul(constant_one[sizes=[x.0, 2*x.0]], constant_one[sizes=[2*x.0, x.1]])) => ewadd(x, "
      "matmul(constant_one[sizes=[x.0, x.0]], constant_one[sizes=[x.0, x.1]]))",
  };
  return kRules;
}

}  // namespace rewright::test
