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
  template <class A>
  static void define(A& a, const rewright::Params&) {
    const auto x = a.in(0);
    a.out(0).is("i", [&](auto i) { return x(i); });
  }
};
