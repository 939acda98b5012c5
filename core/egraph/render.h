// Chains of steps as the text of a certificate (core/verify/README.md).
#pragma once

#include <map>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "egraph/chain.h"
#include "egraph/egraph.h"
#include "egraph/goal.h"
#include "egraph/heads.h"
#include "egraph/rewrites.h"
#include "egraph/sizes.h"

namespace rewright::egraph {

class Renderer {
 public:
  Renderer(const Heads& heads, const Sizes& sizes, const EGraph& graph, const Instances& instances)
      : heads_(heads), sizes_(sizes), graph_(graph), instances_(instances) {}

  /// Forgets what belongs to the last goal.
  void begin(const Rule& rule, std::span<const SizeVar> size_variables);
  void append_output(std::size_t output, std::span<const ChainStep> steps, std::string& text);
  [[nodiscard]] std::string term(NodeId node) {
    std::string text;
    append_term(node, text);
    return text;
  }
  /// Names of the axioms in what was appended since begin().
  [[nodiscard]] const std::set<std::string_view>& axioms() const { return axioms_; }

 private:
  void append_step(const ChainStep& step, std::string& text);
  void append_term(NodeId node, std::string& text);
  void append_size(DimId dim, std::string& text);
  void append_params(NodeId node, std::string& text);
  void append_value(const ParamValue& value, std::string& text) const;
  const std::string& reference_to(const Axiom& axiom);
  const std::string& opening_of(HeadId head);

  const Heads& heads_;
  const Sizes& sizes_;
  const EGraph& graph_;
  const Instances& instances_;
  const Rule* rule_ = nullptr;
  std::span<const SizeVar> names_;
  std::vector<std::string> size_text_;  ///< By DimId; of this goal.
  std::vector<std::string> openings_;   ///< By head without size arguments: "conv2d[groups=2]".
  std::map<const Axiom*, std::string> references_;
  std::set<std::string_view> axioms_;
};

}  // namespace rewright::egraph
