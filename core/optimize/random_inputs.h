// Seeded random tensors: what two graphs are run on to be compared. The same on every machine.
#pragma once

#include <rewright/export.h>
#include <rewright/graph.h>
#include <rewright/result.h>
#include <rewright/runtime.h>

#include <cstddef>
#include <cstdint>
#include <map>
#include <random>
#include <span>
#include <string>
#include <vector>

namespace rewright {

using RandomBits = std::mt19937_64;

/// A seed for the tensor of that name.
[[nodiscard]] std::uint64_t seed_of(const std::string& name, std::uint64_t seed);

/// Reals in [-1, 1); integers and booleans 0 or 1, which serve as indices wherever two things can be indexed.
[[nodiscard]] std::vector<double> random_values(const TensorType& type, RandomBits& random);
/// Weights that keep a deep network's numbers in range: variance of about 1 / fan-in; vectors, which may be
/// variances or scales, in [0.5, 1.5).
[[nodiscard]] std::vector<double> random_weights(const TensorType& type, RandomBits& random);

/// Little-endian bytes of numbers in an element type. Errors: kUnsupported for strings and types that are not known.
[[nodiscard]] Result<std::vector<std::byte>> encode(std::span<const double> values, ElementType type);

/// Values for inputs that cannot be random, by name: one number for all elements, or one for each.
using GivenInputs = std::map<std::string, std::vector<double>>;

/// Every name must be a data input's, every count fit. Errors: kUsage, a sentence that names the input.
[[nodiscard]] REWRIGHT_API Status check_given(const Graph& graph, const GivenInputs& given);
/// As many values as the type has elements.
[[nodiscard]] std::vector<double> spread_out(const std::vector<double>& values, const TensorType& type);

/// A value for every input that is given at each run: as `given`, else random. Errors: as encode().
[[nodiscard]] REWRIGHT_API Result<std::vector<RuntimeTensor>> random_inputs(const Graph& graph, std::uint64_t seed,
                                                                            const GivenInputs& given = {});

}  // namespace rewright
