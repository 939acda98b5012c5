// What is enumerated and how; what is said of it while it runs and at the end.
#pragma once

#include <rewright/graph/graph.h>

#include <cstdint>
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

}  // namespace rewright
