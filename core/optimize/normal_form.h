// Forms of models that rules do not know, in terms that they know.
//
// Rules speak of conv2d, ewadd, concat; models bring batch normalisation and biases between them. On the way in
//
//   batch_norm(conv2d(x, w), s, b, m, v)  becomes  bias_add(conv2d(x, w'), b')
//       w'[o, ...] = w[o, ...] * s[o] / sqrt(v[o] + epsilon)      by batch_norm(w) with mean and bias 0, o on axis 1
//       b'[o]      = b[o] - m[o] * s[o] / sqrt(v[o] + epsilon)    by batch_norm(0)
//   ewadd(bias_add(conv2d(x, w), b), bias_add(conv2d(x, v), c))
//                                becomes  bias_add(ewadd(conv2d(x, w), conv2d(x, v)), ewadd(b, c))
//
// where s, b, m, v, c are weights (and w, where it is folded into), so that the work on them is none at run time, and
// where nothing else uses what is taken apart. The first is what runtimes do by themselves. The second pays only if the
// convolutions become one: otherwise it parts a convolution from the bias that a runtime adds on the way. So it is made
// for convolutions of one tensor alone, and the normal form is kept only if it pays, with rules or alone (optimizer.h).
// Source  Jacob et al., Quantization and Training of Neural Networks, CVPR 2018, section 3.2 (batch-norm folding).
#pragma once

#include <rewright/base/visibility.h>
#include <rewright/graph/graph.h>
#include <rewright/plugin/registry.h>

namespace rewright {

/// The same graph where nothing is to be done. Errors: kInternal; operators that are not loaded are done without.
[[nodiscard]] REWRIGHT_API Result<Graph> normal_form(const Graph& graph, const Registry& registry);

/// The way back, for what no rule made use of: bias_add(ewadd(conv2d(x, w), y), b) becomes
/// ewadd(bias_add(conv2d(x, w), b), y), where nothing else uses the sum or the convolution. As many operators, but a
/// runtime adds a bias that follows a convolution on the way.
[[nodiscard]] REWRIGHT_API Result<Graph> biases_to_convolutions(const Graph& graph);

}  // namespace rewright
