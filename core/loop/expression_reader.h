// Reads the expressions of loop programs, as operator/expression.h writes them.
#pragma once

#include <rewright/operator/expression.h>

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/scanner.h"

namespace rewright::loop {

class ExpressionReader {
 public:
  ExpressionReader(Scanner& in, const std::vector<Buffer>& buffers) : in_(in), buffers_(buffers) {}

  void enter(Axis axis) { scope_.push_back(std::move(axis)); }
  void leave() { scope_.pop_back(); }

  /// A loop around this place, else a size variable.
  [[nodiscard]] Result<IndexExpr> index();
  [[nodiscard]] Result<Guard> guard();
  [[nodiscard]] Result<ValueExpr> value();
  [[nodiscard]] Result<BufferId> buffer();
  /// "[" index, ... "]"
  [[nodiscard]] Result<std::vector<IndexExpr>> indices();
  /// A dotted name with splits and joints: c.i/0/1&c.j
  [[nodiscard]] Result<std::string> loop_name();

 private:
  [[nodiscard]] Result<IndexExpr> index_product();
  [[nodiscard]] Result<IndexExpr> index_atom();
  [[nodiscard]] Result<IndexExpr> floor();
  [[nodiscard]] Result<IndexExpr> data();
  [[nodiscard]] Result<IndexExpr> combined(char sign, const IndexExpr& a, const IndexExpr& b, std::size_t at) const;
  [[nodiscard]] Result<IndexCondition> condition();

  [[nodiscard]] Result<ValueExpr> conjunction();
  [[nodiscard]] Result<ValueExpr> negated();
  [[nodiscard]] Result<ValueExpr> comparison();
  [[nodiscard]] Result<ValueExpr> sum();
  [[nodiscard]] Result<ValueExpr> product();
  [[nodiscard]] Result<ValueExpr> atom();
  [[nodiscard]] Result<ValueExpr> literal(bool is_negative);
  [[nodiscard]] Result<ValueExpr> call(std::string_view word);
  [[nodiscard]] Result<std::vector<ValueExpr>> arguments(std::size_t count, std::string_view name);

  [[nodiscard]] bool sees_number();
  [[nodiscard]] Result<std::int64_t> integer(bool is_negative);
  /// The digits, dots and signs of a number at this place.
  [[nodiscard]] std::string_view number_text();
  [[nodiscard]] Status deeper();

  Scanner& in_;
  const std::vector<Buffer>& buffers_;
  std::vector<Axis> scope_;
  int depth_ = 0;
};

}  // namespace rewright::loop
