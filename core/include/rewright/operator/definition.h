// Definitions: an operator's meaning at an index, written once over an algebra of loops.
//
//     /// c[b, i, j] = sum over k of x[b, i, k] * y[b, k, j]
//     template <class A>
//     static void define(A& a, const Params&) {
//       const int batch = a.in(0).rank() - 2;
//       const auto x = a.in(0).grouped(batch, 1, 1), y = a.in(1).grouped(batch, 1, 1);
//       a.out(0).grouped(batch, 1, 1).is("b i j", [&](auto b, auto i, auto j) {
//         return a.sum("k", over(x.size(2)), [&](auto k) { return a.times(x(b, i, k), y(b, k, j)); });
//       });
//     }
//
// Eager<Scalar> (eager.h) runs it and computes: over the field, exact fractions, doubles, terms. Staged (staged.h) runs
// it and writes down what it says: a Definition, from which loops, code, costs and traits are made.
//
// Tensors     a.in(k), a.out(k): element x(i), where i stands for all axes at once. grouped(2, 1) makes one index of
//             the first two axes and one of the third. A group is passed on as it is; only an index of one axis is
//             computed with. a.stage("mean", extents...) is a tensor on the way: is() gives it to be read.
//             x.size(axis) is a size of one axis, x.extent(group) that of a group.
// Statements  out.is("i j", f): the element at (i, j) is f(i, j). out.is(view): the whole of a view. out.from(views...)
//             .is(f): f of their elements at the same index. out.part(axis, first, size) is written in place of all.
//             Every element of every output is written once.
// Recurrences a.serial("t", n, [&](auto t) {...}) runs its statements for each t in turn. In it s.at(t + 1).is("j", f)
//             writes a row of the stage s, and s.read()(t, j) reads one that was written. s.at(0) comes before.
// Views       a.view(k), moved as a whole: permuted, sliced, part, repeated; a.padded(view, before, value).
// Reductions  a.sum("k", over(n), f) and a.greatest: of f(k), over sizes, groups of axes (x.extent(1)) and the taps of
//             windows (rows(i), where rows = a.windows(axis, outputs)). A sum of a.times(u, v) is a sum of products.
//             a.view(k).along(axes)(i): the elements along some axes. a.count(over(...)): how many there are.
// Values      + - * /, max, minimum, relu, call(Function, x), a.number(n) of a number, size or index, a.quotient(x, n),
//             a.select(condition, x, y).
// Indices     + - * / % with indices and sizes (of one axis, none negative where it is divided); == < <= >= > && ||
//             between them are conditions of select, both of whose values must exist whatever the condition is: an
//             index is kept inside by % where select would leave it out. a.table(list, i).
//
// Parameters and ranks are plain C++. Sizes may be symbols, so that a size is computed with, but not compared. What
// depends on an index goes through the algebra: no C++ `if` on it, and no side effect in f, which runs once an element
// or once in all.
#pragma once

#include <rewright/operator/eager.h>
#include <rewright/operator/staged.h>

namespace rewright {

/// Computes what an operator's definition says.
template <class Self, class Scalar>
void evaluate_definition(const Params& params, std::span<const TensorView<const Scalar>> in,
                         std::span<const TensorView<Scalar>> out) {
  Eager<Scalar> algebra(params, in, out);
  Self::define(algebra, params);
}

}  // namespace rewright
