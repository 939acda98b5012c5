// Kind "representatives": what is left of a space where one graph of each class alone is extended, the scheme for
// sequences of gates of Xu et al., Quartz (PLDI 2022, section 3, RepGen).
//
//   file            a campaign file, for its operators and inputs
//   operators       levels 1 to this, of any graphs over any inputs
//
// A graph is made there if the graph without one of its last applications is the first one of its class that was made.
//
// Rows  level: operators, graphs, classes, made, found, lost: graphs and classes (the smaller ones of no more operators
//       counted, too) of the whole space, graphs that the scheme makes, classes that it finds and does not find
#include <algorithm>
#include <unordered_map>

#include "campaign/config.h"
#include "enumerate/operator_space.h"
#include "enumerate/walk.h"
#include "experiment/kind.h"

namespace rewright::experiment {
namespace {

using namespace enumeration;

constexpr Scope kAll{.inputs_in_order = false, .connected = false};

/// What tells a graph from others: the sum of its outputs' hashes, and that of its applications'.
struct GraphHash {
  std::uint64_t outputs = 0, applications = 0;
};

/// A graph taken apart: applications and the tensors that they make, each with the applications that read it.
class Leaves {
 public:
  explicit Leaves(const Walk& walk) : walk_(walk) {}

  void read(const Leaf& leaf) {
    count_ = 0;
    tensors_.clear();
    for (const MadeTensor& tensor : walk_.made()) tensors_.push_back({tensor.hash, tensor.producer, 0});
    for (const Entry& entry : leaf.applications) read(entry);
    for (std::uint32_t k = 0; k < leaf.last->signature->output_count; ++k)
      tensors_.push_back({leaf.last->hashes[k], static_cast<std::uint8_t>(count_), 0});
    read(*leaf.last);
  }
  [[nodiscard]] std::size_t count() const { return count_; }
  [[nodiscard]] bool is_last(std::size_t application) const {
    return std::ranges::none_of(
        tensors_, [&](const Tensor& tensor) { return tensor.producer == application && tensor.readers != 0; });
  }
  /// Of the graph without one application that nothing reads; without none for an index past the end.
  [[nodiscard]] GraphHash without(std::size_t application) const {
    GraphHash sum;
    for (const Tensor& tensor : tensors_) {
      if (tensor.producer == application) continue;
      const auto readers = application < count_ ? tensor.readers & ~(1U << application) : tensor.readers;
      if (readers == 0) sum.outputs += output_hash(tensor.hash);
    }
    for (std::size_t i = 0; i < count_; ++i) sum.applications += i == application ? 0 : hashes_[i];
    return sum;
  }

 private:
  struct Tensor {
    TensorHash hash;
    std::uint8_t producer = 0;
    std::uint32_t readers = 0;  ///< Bit i: application i.
  };

  void read(const Entry& entry) {
    const std::size_t inputs = walk_.input_hashes().size();
    std::uint64_t hash = mix(entry.choice);
    for (std::size_t i = 0; i < walk_.arity(entry); ++i) {
      const std::size_t operand = entry.operands[i];
      const TensorHash& read = operand < inputs ? walk_.input_hashes()[operand] : tensors_[operand - inputs].hash;
      if (operand >= inputs) tensors_[operand - inputs].readers |= 1U << count_;
      hash = mix(hash ^ read.identity) + i;
    }
    hashes_[count_++] = mix(hash);
  }

  const Walk& walk_;
  std::size_t count_ = 0;
  std::array<std::uint64_t, kMaxOperators> hashes_{};
  std::vector<Tensor> tensors_;
};

std::uint64_t distinct(std::vector<std::uint64_t>& fingerprints) {
  std::ranges::sort(fingerprints);
  fingerprints.erase(std::ranges::unique(fingerprints).begin(), fingerprints.end());
  return fingerprints.size();
}

Result<Outcome> work(const std::string& file, std::size_t operators, const Lab& lab) {
  REWRIGHT_TRY(const CampaignConfig config, load_campaign(file, *lab.registry));
  REWRIGHT_CHECK(check_space(config.enumeration));
  Walk walk(OperatorSpace(config.enumeration).clone(), kAll, 2048);
  Leaves leaves(walk);
  std::unordered_map<std::uint64_t, std::uint64_t> first;  // Of each class: outputs to applications.
  std::vector<std::uint64_t> classes, found;
  // Inputs are graphs of no operators, alone and in pairs: no graph that repeats them is extended.
  const auto inputs = walk.input_hashes();
  for (std::size_t a = 0; a < inputs.size(); ++a) {
    for (std::size_t b = a; b < inputs.size(); ++b) {
      const std::uint64_t outputs = output_hash(inputs[a]) + (b == a ? 0 : output_hash(inputs[b]));
      first.emplace(outputs, 0);
    }
  }
  Outcome outcome;
  for (std::size_t level = 1; level <= operators; ++level) {
    std::uint64_t graphs = 0, made = 0;
    const std::vector<Unit> units = walk.units(level);
    for (std::size_t i = 0; i < units.size(); ++i) {
      if (lab.stopped()) return stopped_early();
      if (i % 64 == 0)
        lab.show(fmt::format("{} operators", level), static_cast<double>(i) / static_cast<double>(units.size()));
      walk.run(level, units[i], [&](const Leaf& leaf) {
        ++graphs;
        classes.push_back(leaf.fingerprint);
        leaves.read(leaf);
        bool extends = level == 1;
        for (std::size_t k = 0; k < leaves.count() && !extends; ++k) {
          if (!leaves.is_last(k)) continue;
          const GraphHash rest = leaves.without(k);
          const auto at = first.find(rest.outputs);
          extends = at != first.end() && at->second == rest.applications;
        }
        if (!extends) return;
        ++made;
        found.push_back(leaf.fingerprint);
        if (level < operators) first.emplace(leaf.fingerprint, leaves.without(leaves.count()).applications);
      });
    }
    const std::uint64_t all = distinct(classes), kept = distinct(found);
    outcome.rows.push_back({{"row", "level"},
                            {"campaign", config.name},
                            {"operators", level},
                            {"graphs", graphs},
                            {"classes", all},
                            {"made", made},
                            {"found", kept},
                            {"lost", all - kept}});
  }
  return outcome;
}

}  // namespace

Result<Job> representatives_job(Parameters& parameters, const Lab&) {
  REWRIGHT_TRY(const std::string file, parameters.file("file"));
  REWRIGHT_TRY(const std::int64_t operators, parameters.integer("operators", 1, 4));
  return Job{[file, operators](const Lab& place) { return work(file, static_cast<std::size_t>(operators), place); }};
}

}  // namespace rewright::experiment
