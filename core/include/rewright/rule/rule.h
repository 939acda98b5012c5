// Rules: substitutions of one pattern by another, with the exact conditions under which both are equal.
//
// A pattern is a graph over inputs of known rank whose sizes are variables: "x.0" is the size of input x along axis 0.
// Ports number the inputs first (0 .. n-1), then the pattern's nodes.
#pragma once

#include <rewright/base/result.h>
#include <rewright/base/visibility.h>
#include <rewright/graph/graph.h>
#include <rewright/tensor/dim.h>

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace rewright {

struct PatternInput {
  std::string name;
  int rank = 0;
  friend bool operator==(const PatternInput&, const PatternInput&) = default;
};

struct PatternNode {
  const Operator* op = nullptr;
  SymbolicParams params;     ///< Sizes may name input sizes, or variables of their own that a match binds ("s0").
  std::vector<Port> inputs;  ///< Of inputs, or of earlier nodes.
};

/// One side of a rule, over the rule's inputs.
struct Pattern {
  std::vector<PatternNode> nodes;
  std::vector<Port> outputs;
};

/// The symbolic shapes of a pattern's ports and what must hold for it to be defined.
struct PatternShapes {
  std::vector<std::vector<SymbolicShape>> of_node;  ///< By node, the inputs first.
  std::vector<Constraint> defined;
};
[[nodiscard]] REWRIGHT_API Result<PatternShapes> infer_shapes(std::span<const PatternInput> inputs,
                                                              const Pattern& pattern);

/// What a rule's correctness rests on.
enum class Trust : std::uint8_t {
  kNone,         ///< A candidate: fingerprints agree, nothing is proved.
  kSolver,       ///< An external solver's word.
  kCertificate,  ///< A proof from axioms that the independent checker has replayed.
  kTheorem,      ///< A proof from the operators' definitions that it has replayed.
};
[[nodiscard]] REWRIGHT_API const char* name_of(Trust trust);
/// What a rule that was proved rests on: on a solver's word where there is no certificate.
[[nodiscard]] REWRIGHT_API Trust trust_by(std::string_view certificate);

/// source => target, output by output, wherever source is defined and the precondition holds.
struct Rule {
  std::string id;    ///< 32 hexadecimal digits: the hash of the canonical text form, names of inputs aside.
  std::string name;  ///< Readable, from the operators; unique within a library.
  std::vector<PatternInput> inputs;
  Pattern source;
  Pattern target;
  std::vector<Constraint>
      precondition;            ///< defined(target) and the proof's conditions, minus what defined(source) implies.
  std::vector<Shape> example;  ///< Input shapes at which both sides are defined.
  std::vector<std::pair<SizeVar, std::int64_t>> example_sizes;  ///< There, the match's own size variables.
  Trust trust = Trust::kNone;
  std::string certificate;
};

/// The sizes "x.0", ... of inputs of the given shapes, and whatever `extra` binds.
[[nodiscard]] REWRIGHT_API DimBinding bind_sizes(std::span<const PatternInput> inputs, std::span<const Shape> shapes,
                                                 DimBinding extra = {});
[[nodiscard]] REWRIGHT_API DimBinding bind_sizes(std::vector<std::pair<SizeVar, std::int64_t>> sizes);
/// The size variables of a rule that are no sizes of inputs, in the order in which the source's size lists name them.
[[nodiscard]] REWRIGHT_API std::vector<SizeVar> match_variables(const Rule& rule);

/// What becomes of a size parameter that no equation between sizes determines.
enum class FreeSizes : std::uint8_t {
  kVariable,  ///< In the source: a variable of the match. In the target: an error.
  kNumber,    ///< The number that it is in the graphs.
};

/// Makes a rule of two graphs with equal input lists: sizes become variables; size parameters (split points, shapes of
/// constants) are solved from the equations between sizes. Inputs stand in the order in which the source first uses
/// them; those that neither side uses are left out. The rule is not proved, and may hold at the graphs' sizes only:
/// then kNumber may give a rule that holds where kVariable does not (an average pool of 3 x 3 as a convolution, say).
/// Errors: kUnsupported where a size parameter of the target is left undetermined, where the target uses an input that
/// the source does not, or for an opaque node or a constant with a value; kMismatch where inputs or outputs differ.
[[nodiscard]] REWRIGHT_API Result<Rule> generalise(const Graph& source, const Graph& target,
                                                   FreeSizes free = FreeSizes::kVariable);

/// The side as a concrete graph on inputs of the given shapes; `extra` binds size variables that are not sizes of
/// inputs. Errors: kShape where the pattern is not defined there.
[[nodiscard]] REWRIGHT_API Result<Graph> instantiate(std::span<const PatternInput> inputs, const Pattern& pattern,
                                                     std::span<const Shape> shapes, const DimBinding& extra = {});

/// One line:  (x:2, y:2) split[sizes=[x.0, y.0]](concat(x, y)) => x, y
/// An application whose outputs are not all used once, side by side, is named with `let`; see core/rule/README.md.
[[nodiscard]] REWRIGHT_API std::string to_text(const Rule& rule);
/// Reads the text form; conditions that the target needs and the text does not give are added, and an example is sought
/// (a bounded search: where it finds none, the example stays empty). Errors: line, column,
/// what was found and what was expected.
[[nodiscard]] REWRIGHT_API Result<Rule> parse_rule(std::string_view text, const Registry& registry);
/// The same for a whole file, one rule a line; empty lines and lines that start with # are passed over.
[[nodiscard]] REWRIGHT_API Result<std::vector<Rule>> parse_rules(std::string_view text, const Registry& registry);
/// Computes `id` from the canonical form.
[[nodiscard]] REWRIGHT_API std::string rule_id(const Rule& rule);

}  // namespace rewright
