// Enumeration: every connected graph of up to n operators over given input tensors, grouped by fingerprint.
#pragma once

#include <rewright/base/result.h>
#include <rewright/graph/graph.h>
#include <rewright/plugin/registry.h>
#include <rewright/rule/pruner.h>

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace rewright {

/// An operator with its parameters fixed. `split` without sizes is applied at the point of the last concatenation.
struct OperatorChoice {
  const Operator* op = nullptr;
  Params params;
  /// Bit i: operand i takes no input of kind kWeight directly (a convolution's data operand, say).
  std::uint32_t no_weight_operands = 0;
  /// Operands are inputs, never results of operators (TASO's enlarge).
  bool inputs_only = false;
  /// The two operands are different tensors; the first is made before the second, inputs before all (TASO's
  /// restrictions, which cost rules and save graphs).
  bool distinct_operands = false;
  bool operands_in_order = false;
  /// Empty, or for each operand its rank, as the number of entries, and the largest size along each axis; 0: any.
  std::vector<std::vector<std::int64_t>> operands_up_to = {};
  /// The parameters for the further shapes of the inputs, where they differ from `params` (sizes of constants).
  std::vector<Params> more_params = {};
};

struct EnumerationInput {
  std::string name;
  Shape shape;
  InputKind kind = InputKind::kData;
  /// Further shapes of the same rank. Every graph is computed on the first shapes of all inputs, again on their second
  /// ones, and so on, so that what holds for one size by chance is not taken for a law. Equally many for all inputs.
  std::vector<Shape> more_shapes = {};
};

struct EnumerationConfig {
  std::vector<OperatorChoice> operators;
  std::vector<EnumerationInput> inputs;
  int max_operators = 2;
  std::int64_t max_elements = 512;  ///< Larger tensors are not made.
  std::uint64_t seed = 1;
  bool instances = true;            ///< False: only candidates from which the others follow.
  std::uint32_t sample_factor = 1;  ///< Samples are that many times as many as would do.
  /// Quicker, for large spaces: graphs that differ on three of the samples are not looked at on others.
  bool few_samples_first = false;
  int threads = 1;
  std::uint64_t memory_bytes = 0;  ///< Of fingerprints kept in memory, about; the rest goes to `folder`. 0: no limit.
  std::string folder = "/tmp";
  /// Where finished work is kept, so that a run that was killed goes on from it; empty: nowhere.
  std::string work_folder;
  double checkpoint_seconds = 5;  ///< From then on, what is finished is kept there.
  /// Processes that enumerate together, through `work_folder`, and which of them this is. The first gets the
  /// candidates.
  std::size_t rank = 0;
  std::size_t ranks = 1;
  std::string token;  ///< The same for all of them, different for every run.
};

/// Figures of one level: graphs with exactly that many operators.
struct EnumerationLevel {
  int operators = 0;
  std::uint64_t graphs = 0;
  /// Distinct fingerprints among graphs of up to that many operators. With `few_samples_first` those on few samples, by
  /// which some classes are one: three in a thousand where tensors are small.
  std::uint64_t classes = 0;
  std::uint64_t candidates = 0;   ///< Pairs found whose larger side has that many operators.
  std::uint64_t unconfirmed = 0;  ///< Classes that fell apart on fresh samples.
  std::uint64_t instances = 0;    ///< Pairs left out because they follow from smaller ones.
  double seconds = 0;
};

/// One pass of the enumeration, for people who look where time goes.
struct EnumerationPass {
  const char* name = "";
  std::uint64_t results = 0;  ///< What it hands to the next.
  double seconds = 0;
};

struct EnumerationReport {
  std::vector<EnumerationLevel> levels;
  std::vector<EnumerationPass> passes;
  /// Of the tensors that repeat another and were not computed upon, a fixed 16th is compared again on fresh inputs;
  /// those that differ were pruned by chance, and rules may be lost with them. Of work done by this process.
  std::uint64_t audited = 0;
  std::uint64_t pruned_by_chance = 0;
  bool stopped_early = false;
};

struct EnumerationProgress {
  const char* pass = "";  ///< What is being done, for people.
  int level = 0;
  std::uint64_t graphs = 0;  ///< In this level so far.
  double fraction = 0;       ///< Of this level, by the share of first operators done.
};

/// Two graphs make a candidate when their outputs have equal hashes in every sample and again in more samples of a
/// fresh seed. Each class of equal graphs yields its members paired with its first, the one of fewest operators, and
/// every two members that share no application; what holds between any two follows. Without `instances`, members that
/// are equal to others by smaller equalities are left out, and so are pairs that follow from smaller ones; what both
/// graphs of a pair have in common is replaced by inputs (t1, t2, ...) where the pair is equal for any. A graph of no
/// operators (inputs as they are) is a member too. Which graphs are visited, how those that fall apart are found, and
/// how often an equality errs stands in core/enumerate/README.md; in short, for operators that are polynomial in their
/// operands: two unequal graphs of degree d agree in one output element on one sample with probability at most d / 30
/// over the choice of inputs, and candidates agree in all elements of 20 samples or more (Schwartz, JACM 1980; Zippel,
/// EUROSAM 1979). A candidate is no more than that: rules rest on verifiers.
///
/// Calls `sink` with every candidate, small ones first, in one fixed order that depends on the graphs asked for alone:
/// not on threads, memory, processes, or what an earlier run left in the work folder. `progress` may be empty;
/// returning false stops early.
[[nodiscard]] REWRIGHT_API Result<EnumerationReport> enumerate(
    const EnumerationConfig& config, const std::function<Status(Candidate)>& sink,
    const std::function<bool(const EnumerationProgress&)>& progress = {});

}  // namespace rewright
