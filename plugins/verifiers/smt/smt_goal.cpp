#include "smt_goal.h"

#include <rewright/tensor/linear.h>

#include <fmt/ranges.h>

#include <set>

#include "smt.h"

namespace smt_verifier {
namespace {

using namespace rewright;

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
    name_inputs();
    claim_solved_sizes();
    REWRIGHT_TRY(const auto left, render_side(rule_.source, source_));
    REWRIGHT_TRY(const auto right, render_side(rule_.target, target_));
    static const SizeSystem kOfAllTensors{SizeOrder(SizeOrder::Least::kOneInTensors)};
    std::set<std::string> claimed;
    for (const Constraint& constraint : known) {
      const Constraint normal{constraint.kind, sizes_->normalise(constraint.left), sizes_->normalise(constraint.right)};
      if (normal.decided() || kOfAllTensors.implies(normal)) continue;  // Solvers are told of inputs what holds of all.
      const std::string condition = smt_condition(normal, name_of(), theory_.sizes());
      if (claimed.insert(condition).second) claim(condition);
    }
    std::vector<std::string> questions;
    for (std::size_t k = 0; k < left.size(); ++k) {
      if (left[k] != right[k]) questions.push_back(fmt::format("(assert (not (= {} {})))\n", left[k], right[k]));
    }
    return GoalText{std::move(text_), std::move(questions), std::move(vocabulary_)};
  }

 private:
  void claim(const std::string& formula) { text_ += "(assert " + formula + ")\n"; }

  /// A size that is no input's is a number.
  NameOf name_of() {
    return [this](SizeVar name) {
      const auto known = size_names_.find(name);
      if (known != size_names_.end()) return known->second;
      return size_names_.emplace(name, number_name(vocabulary_.numbers++)).first->second;
    };
  }
  std::string size_text(const SymbolicDim& dim) { return smt_size(sizes_->normalise(dim), name_of(), theory_.sizes()); }

  void name_inputs() {
    for (const PatternInput& input : rule_.inputs) {
      inputs_.push_back(input_name(input.rank, vocabulary_.inputs[static_cast<std::size_t>(input.rank)]++));
      for (int axis = 0; axis < input.rank; ++axis)
        size_names_.emplace(SizeVar::axis(input.name, axis), size_of(input.rank, std::to_string(axis), inputs_.back()));
    }
  }
  void claim_solved_sizes() {
    for (const auto& [name, value] : sizes_->solved())
      claim(fmt::format("(= {} {})", name_of()(name), size_text(value)));
  }
  /// A name for the term; the same for the same term.
  std::string name_term(const std::string& term, int rank) {
    const auto [place, fresh] = term_names_.emplace(term, fmt::format("t.{}", term_names_.size()));
    if (fresh) {
      text_ += fmt::format("(define-fun {} () {} {})\n", place->second, sort_name(rank), term);
      claim(defined(rank, place->second));
    }
    return place->second;
  }
  /// The names of a side's outputs.
  Result<std::vector<std::string>> render_side(const Pattern& side, const PatternShapes& shapes) {
    std::vector<std::vector<std::string>> terms;  // By port: the inputs first.
    for (const std::string& name : inputs_) terms.push_back({name});
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
        const Symbol* function = theory_.symbol(*node.op, output, node.params, ranks);
        if (!function) return make_error(ErrorCode::kUnsupported, "{} cannot be put as a term", node.op->name());
        vocabulary_.symbols.insert(function);
        terms.back().push_back(name_term(smt_apply(function->name, arguments), function->shape.rank()));
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

  const Rule& rule_;
  Theory& theory_;
  PatternShapes source_, target_;
  std::optional<SizeSystem> sizes_;
  std::map<std::string, std::string> term_names_;
  std::vector<std::string> inputs_;
  std::map<SizeVar, std::string> size_names_;  ///< As the solver knows them.
  Vocabulary vocabulary_;
  std::string text_;
};

}  // namespace

Result<GoalText> render_goal(const Rule& rule, Theory& theory) {
  if (rule.source.outputs.size() != rule.target.outputs.size())
    return make_error(ErrorCode::kUnsupported, "source and target have different numbers of outputs");
  return GoalRenderer(rule, theory).run();
}

}  // namespace smt_verifier
