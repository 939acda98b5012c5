// TASO's operators and ours in one table, by which rule files are read and written.
//
//   type        TASO's name, our operator, how many operands it has, and its parameters
//   parameter   a pair of functions: one reads it from TASO's numbers, the other writes these from it
#pragma once

#include <rewright/rule/rule.h>

#include <array>
#include <cstddef>
#include <functional>
#include <optional>
#include <string_view>
#include <vector>

#include "interchange/taso_format.h"

namespace rewright::taso_format {

/// An application that is being read. What the file says of it is in `params`; what comes out is in `named`, `sizes`
/// and `side`.
struct ParamReader {
  const Parameters& params;
  std::vector<const SymbolicShape*> in;
  int open_rank;   ///< Of a tensor that only its users' ranks decide.
  int activation;  ///< The position in kActivations.
  Side& side;
  std::function<SymbolicDim()> fresh_size;
  /// Of a convolution that does not say, by the shapes of its image and weight.
  std::function<std::int64_t(const SymbolicShape&, const SymbolicShape&)> open_groups;

  std::vector<NamedParam> named = {};
  std::vector<SymbolicDim> sizes = {};
  bool has_activation = false;  ///< `named` has it; else an operator of its own follows.
};

/// An application that is being written to `op`.
struct ParamWriter {
  const PatternNode& node;
  std::vector<const SymbolicShape*> in;
  std::optional<std::array<std::int64_t, 2>> weight_kernel;  ///< Height and width that the rule asks of its weight.
  taso::Operator& op;

  [[nodiscard]] const BasicParamValue<SymbolicDim>& at(std::string_view param) const;
  [[nodiscard]] std::int64_t integer(std::string_view param) const { return std::get<std::int64_t>(at(param)); }
  [[nodiscard]] const std::vector<std::int64_t>& integers(std::string_view param) const {
    return std::get<std::vector<std::int64_t>>(at(param));
  }
  [[nodiscard]] const std::vector<SymbolicDim>& sizes() const {
    return std::get<SizeList<SymbolicDim>>(at("sizes")).values;
  }
  void put(Key key, std::int64_t value);
};

struct ParamCodec {
  Status (*read)(ParamReader& reader);   ///< Errors: kParse, a number that is missing or out of range.
  Status (*write)(ParamWriter& writer);  ///< Errors: kUnsupported, what the format cannot say.
};

struct OperatorRow {
  const char* name;
  const char* ours = nullptr;  ///< Null where we have no such operator.
  int least_operands = 1;
  int most_operands = 1;
  std::array<const ParamCodec*, 5> params = {};  ///< In the order in which they are written; then null.
};

/// Null where the number is no type.
[[nodiscard]] const OperatorRow* row_of(int type);
/// "source operator 2 (conv2d)"; side 1 is the source.
[[nodiscard]] std::string where_of(int side, int index, int type);
/// The type that stands for an operator of ours.
[[nodiscard]] std::optional<int> type_of(std::string_view ours);

}  // namespace rewright::taso_format
