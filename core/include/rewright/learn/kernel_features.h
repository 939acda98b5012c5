// A kernel as numbers, for predictors: a row for each application, all counts as they are.
//
// | column            | of an application                                                                   |
// |-------------------|-------------------------------------------------------------------------------------|
// | operations        | what its operator says that it computes (Operator::work)                            |
// | bytes             | of its operands and results, those that stay inside the kernel left out             |
// | weight_bytes      | of these, known before the first run                                                |
// | operands, weights | how many                                                                            |
// | out, data, second | elements of the first result, of the first operand, of the second one               |
// | out_1 to out_4    | sizes of the first result, the last first; 0 where it has fewer                     |
// | data_1, second_1  | the same of the first operand, of the second one                                    |
// | out_over, second_over | the last size of the result, and the first of the second operand, modulo 16     |
// | channels_over     | the second size of the result, modulo 16                                            |
// | stride            | elements of the first operand's last axis by the result's, rounded                  |
// | groups            | sizes of axis 1 of the first operand by the second's, where that divides it         |
// | intensity         | operations by bytes                                                                 |
// | numbers, product  | sum and product of the parameters that are whole numbers                            |
#pragma once

#include <rewright/optimize/kernel.h>
#include <rewright/tune/predictor.h>

#include <span>
#include <string>
#include <vector>

namespace rewright::learn {

/// Names of the columns.
[[nodiscard]] REWRIGHT_API const std::vector<std::string>& kernel_columns();
/// In the order of the columns. `kinds`: names of operators, the first one for all others.
[[nodiscard]] REWRIGHT_API tune::Features features_of(const Kernel& kernel, std::span<const std::string> kinds);

}  // namespace rewright::learn
