// One version of an artefact: where its tensors lie, and its run in C.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "compile/artefact_version.h"
#include "compile/weights_file.h"

namespace rewright::compile {

/// The weights of all versions, in blocks. What is equal lies once.
class WeightPlaces {
 public:
  /// Where it lies.
  std::int64_t place(PlacedWeight weight, std::int64_t bytes);
  [[nodiscard]] std::vector<PlacedWeight>& placed() { return placed_; }
  [[nodiscard]] std::int64_t bytes() const { return bytes_; }

 private:
  std::vector<PlacedWeight> placed_;
  std::multimap<std::string, std::size_t> known_;  ///< Of `placed_`, by content.
  std::int64_t bytes_ = 0;
};

/// Of all elements.
[[nodiscard]] std::int64_t bytes_of(const TensorType& type);
/// A literal of C. Question marks could make trigraphs; '@' is what names are filled in by.
[[nodiscard]] std::string c_string(std::string_view text);
/// What stays inside a comment.
[[nodiscard]] std::string in_comment(std::string_view text);

class VersionWriter {
 public:
  VersionWriter(const ModelVersion& version, WeightPlaces& weights);

  [[nodiscard]] const ArtefactVersion& version() const { return version_; }
  /// Of a header's comment: a line for each tensor.
  [[nodiscard]] std::string rows(std::string_view indent) const;
  /// inputs[] and outputs[].
  [[nodiscard]] std::string tables() const;
  /// run(), of CALL(k, call).
  [[nodiscard]] std::string run_function() const;

 private:
  void name_tensors();
  void place_weights(WeightPlaces& weights);
  [[nodiscard]] std::vector<std::pair<WeightForm, std::int64_t>> forms_of(Port port) const;
  void place_buffers();
  [[nodiscard]] NamedTensor named(const std::string& name, Port port) const { return {name, port, graph_.type(port)}; }
  [[nodiscard]] std::int64_t bytes_of(Port port) const;
  [[nodiscard]] std::string place_of(const KernelCall& call, std::size_t buffer) const;
  [[nodiscard]] std::string call(std::size_t k) const;

  const Graph& graph_;
  const std::map<std::string, ExternalWeight>& external_;
  const Kernels& kernels_;
  ArtefactVersion version_;
  std::map<Port, std::string> places_;  ///< In C.
  /// Of a weight, by the parts of its layout.
  std::map<Port, std::vector<std::pair<WeightForm, std::string>>> weight_places_;
  std::map<std::pair<std::size_t, std::size_t>, std::string> own_places_;
};

}  // namespace rewright::compile
