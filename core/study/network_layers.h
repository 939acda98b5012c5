// Layers of a network: what each takes among the others, and convolutions by themselves.
#pragma once

#include <rewright/base/result.h>
#include <rewright/base/visibility.h>
#include <rewright/plugin/registry.h>

#include <nlohmann/json.hpp>

#include <set>
#include <string>
#include <vector>

namespace rewright::study {

/// Kernels that make one result.
struct LayerTime {
  std::string layer;               ///< The result's name.
  std::vector<std::string> nodes;  ///< Of the graph, that are computed in it.
  double us = 0;
};
/// `profile`: that of rewright compile --json. What only prepares a result ("NODE/windows", a copy without a name)
/// counts for the layer that it is for.
[[nodiscard]] REWRIGHT_API std::vector<LayerTime> layers_of(const nlohmann::ordered_json& profile);

/// A convolution of a network as a network of its own.
struct LoneLayer {
  std::string node;                  ///< As the network calls it.
  std::string key;                   ///< Equal for equal sizes and attributes, and as many elements that are not 0.
  std::string model;                 ///< A serialized ModelProto.
  std::set<std::string> algorithms;  ///< That fit it.
};
/// Those of a model's file, simplified as rewright compile does. Errors: as open_model.
[[nodiscard]] REWRIGHT_API Result<std::vector<LoneLayer>> lone_convolutions(const std::string& file,
                                                                            const Registry& registry);

}  // namespace rewright::study
