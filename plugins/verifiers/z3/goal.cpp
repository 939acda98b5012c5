#include "goal.h"

#include <rewright/linear.h>

#include <fmt/ranges.h>

#include "smt.h"

namespace z3_verifier {
namespace {

using namespace rewright;

std::string constant_name(std::string_view size) { return fmt::format("n.{}", size); }

class GoalRenderer {
 public:
  GoalRenderer(const Rule& rule, Theory& theory) : rule_(rule), theory_(theory) {}

  Result<GoalText> run() {
    REWRIGHT_TRY(source_, infer_shapes(rule_.inputs, rule_.source));
    REWRIGHT_TRY(target_, infer_shapes(rule_.inputs, rule_.target));
    std::vector<Constraint> known = rule_.precondition;
    known.insert(known.end(), source_.defined.begin(), source_.defined.end());
    known.insert(known.end(), target_.defined.begin(), target_.defined.end());
    sizes_.emplace(known);
    render_inputs();
    REWRIGHT_TRY(const auto left, render_side(rule_.source, source_));
    REWRIGHT_TRY(const auto right, render_side(rule_.target, target_));
    for (const Constraint& constraint : known) {
      const Constraint normal{constraint.kind, sizes_->normalise(constraint.left), sizes_->normalise(constraint.right)};
      if (!normal.decided()) facts_.push_back(smt_condition(normal, name_of()));
    }
    for (std::size_t k = 0; k < left.size(); ++k)
      text_.questions.push_back(fmt::format("(assert (not (= {} {})))\n", left[k], right[k]));
    finish();
    return std::move(text_);
  }

 private:
  /// The name of a size, which is noted for declaration.
  NameOf name_of() {
    return [this](std::string_view name) {
      constants_.insert(std::string(name));
      return constant_name(name);
    };
  }
  std::string size_text(const SymbolicDim& dim) { return smt_size(sizes_->normalise(dim), name_of()); }

  void render_inputs() {
    for (std::size_t i = 0; i < rule_.inputs.size(); ++i) {
      const int rank = rule_.inputs[i].rank;
      const std::string name = fmt::format("in.{}", i);
      declarations_ += fmt::format("(declare-fun {} () {})\n", name, sort_name(rank));
      facts_.push_back(defined(rank, name));
      for (int axis = 0; axis < rank; ++axis) {
        const auto size = SymbolicDim::variable(fmt::format("{}.{}", rule_.inputs[i].name, axis));
        facts_.push_back(fmt::format("(= {} {})", size_of(rank, std::to_string(axis), name), size_text(size)));
      }
    }
  }
  /// The terms of a side's outputs.
  Result<std::vector<std::string>> render_side(const Pattern& side, const PatternShapes& shapes) {
    std::vector<std::vector<std::string>> terms;  // By port: the inputs first.
    for (std::size_t i = 0; i < rule_.inputs.size(); ++i) terms.push_back({fmt::format("in.{}", i)});
    for (const PatternNode& node : side.nodes) {
      const std::size_t index = terms.size();
      std::vector<std::string> arguments;
      std::vector<int> ranks;
      for (const SymbolicDim& size : size_arguments(node.params)) arguments.push_back(size_text(size));
      for (const Port port : node.inputs) {
        arguments.push_back(terms[port.node.value][port.output]);
        ranks.push_back(shapes.of_node[port.node.value][port.output].rank());
      }
      terms.emplace_back();
      for (std::uint32_t output = 0; output < shapes.of_node[index].size(); ++output) {
        const auto id = theory_.symbol(*node.op, output, node.params, ranks);
        if (!id) return make_error(ErrorCode::kUnsupported, "{} cannot be put as a term", node.op->name());
        text_.symbols.insert(*id);
        terms.back().push_back(smt_apply(theory_[*id].name, arguments));
        facts_.push_back(defined(theory_[*id].shape.rank(), terms.back().back()));
      }
    }
    std::vector<std::string> outputs;
    for (std::size_t k = 0; k < side.outputs.size(); ++k) {
      const Port port = side.outputs[k], other = rule_.source.outputs.at(k);
      const int rank = shapes.of_node[port.node.value][port.output].rank();
      if (rank != source_.of_node[other.node.value][other.output].rank())
        return make_error(ErrorCode::kUnsupported, "output {} has different ranks in source and target", k);
      outputs.push_back(terms[port.node.value][port.output]);
    }
    return outputs;
  }
  void finish() {
    text_.assumptions = std::move(declarations_);
    for (const std::string& name : constants_)
      text_.assumptions += fmt::format("(declare-fun {0} () Int)(assert (>= {0} 1))\n", constant_name(name));
    for (const std::string& fact : facts_) text_.assumptions += fmt::format("(assert {})\n", fact);
  }

  const Rule& rule_;
  Theory& theory_;
  PatternShapes source_, target_;
  std::optional<SizeSystem> sizes_;
  std::string declarations_;
  std::set<std::string> constants_;
  std::vector<std::string> facts_;
  GoalText text_;
};

}  // namespace

Result<GoalText> render_goal(const Rule& rule, Theory& theory) {
  if (rule.source.outputs.size() != rule.target.outputs.size())
    return make_error(ErrorCode::kUnsupported, "source and target have different numbers of outputs");
  return GoalRenderer(rule, theory).run();
}

}  // namespace z3_verifier
