// The least operator there can be: the identity, under any name.
#pragma once

#include <rewright/operator/operator.h>
#include <rewright/plugin/plugin.h>

template <class Tag>
struct MinimalOperator final : rewright::OperatorOf<MinimalOperator<Tag>> {
  static rewright::OperatorInfo describe() { return {.name = Tag::kName, .summary = "For tests"}; }
  template <class Dim>
  static rewright::Result<rewright::Shapes<Dim>> shape(const rewright::BasicParams<Dim>&, rewright::ShapeInputs<Dim> in,
                                                       rewright::Constraints<Dim>&) {
    return rewright::Shapes<Dim>{in[0]};
  }
  template <class Scalar>
  static void apply(const rewright::Params&, rewright::Inputs<Scalar> in, rewright::Outputs<Scalar> out) {
    for (std::int64_t i = 0; i < in[0].elements(); ++i) out[0][i] = in[0][i];
  }
};
