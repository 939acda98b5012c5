// Two networks over the stages of a program, with one number as their result.
//
//   x        [row of the table of the stage's kind, log(1 + features) less their means by their deviations]
//   graph    e = leaky(x W + b), K times e <- unit(leaky([e, mean over what it reads of leaky(e R + r),
//            mean over its readers of leaky(e S + s)] W + b));  y = w [sum, mean, max over stages of e] + b
//   sequence the last state of an LSTM over the stages in their order;  y = w h + b
//
// Sources  graph: Hamilton, Ying & Leskovec, GraphSAGE, NeurIPS 2017, as in Kaufman et al., A Learned Performance Model
//          for the Tensor Processing Unit, 2020 (there edges are followed in one direction); sequence: its baseline;
//          Hochreiter & Schmidhuber, Long Short-Term Memory, 1997
#pragma once

#include <rewright/tune/predictor.h>

#include <random>
#include <string>
#include <vector>

#include "tape.h"

namespace neural {

enum class Kind { kGraph, kSequence };

struct Shape {
  Kind kind = Kind::kGraph;
  int columns = 0, kinds = 1;  ///< Of the features.
  int width = 32, hops = 2;
};

/// Weights: matrices with names, all in one order.
struct Weight {
  std::string name;
  Index rows, columns;
};
[[nodiscard]] std::vector<Weight> weights_of(const Shape& shape);

/// How features are brought to one size.
struct Scaling {
  std::vector<float> means, deviations;
};
[[nodiscard]] Scaling scaling_of(const std::vector<const rewright::tune::Features*>& programs, int columns);

/// Programs one below the other.
template <class Scalar>
struct Batch {
  Matrix<Scalar> features;
  std::vector<Index> kinds;
  Sparse<Scalar> reads, readers;    ///< Rows sum to 1, or are empty.
  std::vector<Index> starts = {0};  ///< Of each program, and the end.
  Matrix<Scalar> labels;            ///< A row each.
  std::vector<int> groups = {};     ///< Of each program: its task.
};
template <class Scalar>
[[nodiscard]] Batch<Scalar> batch_of(const std::vector<const rewright::tune::Features*>& programs, const Shape& shape,
                                     const Scaling& scaling);

/// A row for each program. `weights`: in the order of weights_of().
template <class Scalar>
[[nodiscard]] typename Tape<Scalar>::Variable output_of(Tape<Scalar>& tape, const Batch<Scalar>& batch,
                                                        const Shape& shape,
                                                        const std::vector<typename Tape<Scalar>::Variable>& weights);

/// Adds the network whose weights have this prefix; what is left is a float32[1]. What all members share is there once.
void add_scaling(rewright::tune::Network& network, const Shape& shape, const Scaling& scaling);
[[nodiscard]] std::string add_member(rewright::tune::Network& network, const Shape& shape, const std::string& prefix,
                                     const std::vector<Matrix<float>>& weights);

}  // namespace neural
