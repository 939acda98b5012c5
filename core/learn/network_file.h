// Networks as ONNX models: what a learned model's file is.
#pragma once

#include <rewright/base/result.h>
#include <rewright/tune/network.h>

#include <map>
#include <string>

namespace rewright::learn {

struct NetworkFile {
  tune::Network network;
  std::map<std::string, std::string> facts;  ///< The model's metadata.
};

/// An ONNX model with the inputs stages, kinds and reads, and the output us. Errors: kInternal.
[[nodiscard]] REWRIGHT_API Result<std::string> to_model(const NetworkFile& file);
/// Errors: kParse: no ONNX model, one without the fact `needed`, or with what a network does not have.
[[nodiscard]] REWRIGHT_API Result<NetworkFile> network_of(std::string_view model, const std::string& name,
                                                          const std::string& needed);

/// Its own names behind a prefix; the inputs keep theirs.
[[nodiscard]] tune::Network with_prefix(const tune::Network& network, const std::string& prefix);
/// What with_prefix() put in front of the names of those that have it; all others are left out.
[[nodiscard]] tune::Network without_prefix(const tune::Network& network, const std::string& prefix);

}  // namespace rewright::learn
