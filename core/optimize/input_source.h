// What an input of a model is fed: given numbers, or a distribution that numbers are drawn from.
#pragma once

#include <rewright/base/result.h>
#include <rewright/base/visibility.h>
#include <rewright/graph/graph.h>

#include <cstdint>
#include <map>
#include <optional>
#include <random>
#include <string>
#include <vector>

namespace rewright {

using RandomBits = std::mt19937_64;

/// Uniform in [0, 1); the same on every machine.
[[nodiscard]] REWRIGHT_API double uniform_number(RandomBits& random);

/// What an input is fed.
struct InputSource {
  enum class Kind : std::uint8_t {
    kNumbers,   ///< `numbers`: one for all elements, or one for each.
    kUniform,   ///< In [low, high).
    kNormal,    ///< Of mean `low` and standard deviation `high`.
    kIntegers,  ///< Whole numbers from `low` to `high`, both among them.
    kChoices,   ///< One of `numbers` for each element.
    kDefault,   ///< Nothing: the model has a value for it, `numbers`, or draws none from us.
  };
  Kind kind = Kind::kNumbers;
  double low = 0;
  double high = 1;
  std::vector<double> numbers = {};
};
/// By the input's name.
using GivenInputs = std::map<std::string, InputSource>;

/// "uniform(a,b)", "normal(m,s)" or "integers(a,b)"; nothing where the text is none of them. Errors: a distribution
/// whose bounds are none.
[[nodiscard]] REWRIGHT_API Result<std::optional<InputSource>> read_distribution(const std::string& text);

/// Every name must be a data input's, every count fit. Errors: kUsage, a sentence that names the input.
[[nodiscard]] REWRIGHT_API Status check_given(const Graph& graph, const GivenInputs& given);
/// As many values as the type has elements.
[[nodiscard]] REWRIGHT_API std::vector<double> draw(const InputSource& source, const TensorType& type,
                                                    RandomBits& random);

}  // namespace rewright
