// Reverse-mode differentiation of matrix operations: what is computed is written down, and gone through backwards.
//
// A Variable is a matrix on a tape. backward() of a 1 x 1 matrix gives every Variable the derivative of it. The scalar
// is double where derivatives are checked against differences, float where it learns.
//
// Source  Griewank & Walther, Evaluating Derivatives, 2008, chapter 3.
#pragma once

#include <Eigen/Core>
#include <Eigen/SparseCore>

#include <cmath>
#include <cstddef>
#include <deque>
#include <functional>
#include <vector>

namespace neural {

template <class Scalar>
using Matrix = Eigen::Matrix<Scalar, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
template <class Scalar>
using Sparse = Eigen::SparseMatrix<Scalar, Eigen::RowMajor>;
using Index = Eigen::Index;

template <class Scalar>
class Tape {
 public:
  using Values = Matrix<Scalar>;
  struct Node {
    Values value, gradient;
    std::function<void(Node&)> back = {};
  };
  /// Valid as long as the tape.
  using Variable = Node*;

  Variable variable(Values value) { return make(std::move(value), {}); }

  Variable product(Variable a, Variable b) {
    return make(a->value * b->value, [=](Node& y) {
      a->gradient.noalias() += y.gradient * b->value.transpose();
      b->gradient.noalias() += a->value.transpose() * y.gradient;
    });
  }
  /// A row is added to every row.
  Variable plus_row(Variable a, Variable row) {
    return make(a->value.rowwise() + row->value.row(0), [=](Node& y) {
      a->gradient += y.gradient;
      row->gradient.row(0) += y.gradient.colwise().sum();
    });
  }
  Variable sum(Variable a, Variable b) {
    return make(a->value + b->value, [=](Node& y) {
      a->gradient += y.gradient;
      b->gradient += y.gradient;
    });
  }
  /// Element by element.
  Variable times(Variable a, Variable b) {
    return make(a->value.cwiseProduct(b->value), [=](Node& y) {
      a->gradient += y.gradient.cwiseProduct(b->value);
      b->gradient += y.gradient.cwiseProduct(a->value);
    });
  }
  /// Each row by a number of its own.
  Variable scaled_rows(Variable a, const Values& column) {
    return make((a->value.array().colwise() * column.col(0).array()).matrix(),
                [=](Node& y) { a->gradient += (y.gradient.array().colwise() * column.col(0).array()).matrix(); });
  }
  /// x, or 0.1 x below 0.
  Variable leaky(Variable a) {
    return apply(
        a, [](Scalar x) { return x > 0 ? x : kLeak * x; }, [](Scalar x, Scalar) { return x > 0 ? Scalar(1) : kLeak; });
  }
  Variable sigmoid(Variable a) {
    return apply(
        a, [](Scalar x) { return 1 / (1 + std::exp(-x)); }, [](Scalar, Scalar y) { return y * (1 - y); });
  }
  Variable tanh(Variable a) {
    return apply(
        a, [](Scalar x) { return std::tanh(x); }, [](Scalar, Scalar y) { return 1 - y * y; });
  }
  /// Columns side by side.
  Variable beside(const std::vector<Variable>& parts) {
    Index columns = 0;
    for (const Variable part : parts) columns += part->value.cols();
    Values value(parts.front()->value.rows(), columns);
    for (Index at = 0; const Variable part : parts) {
      value.middleCols(at, part->value.cols()) = part->value;
      at += part->value.cols();
    }
    return make(std::move(value), [=](Node& y) {
      for (Index at = 0; const Variable part : parts) {
        part->gradient += y.gradient.middleCols(at, part->value.cols());
        at += part->value.cols();
      }
    });
  }
  Variable columns(Variable a, Index first, Index count) {
    return make(a->value.middleCols(first, count),
                [=](Node& y) { a->gradient.middleCols(first, count) += y.gradient; });
  }
  /// Row i is row at[i] of a.
  Variable rows(Variable a, const std::vector<Index>& at) {
    Values value(static_cast<Index>(at.size()), a->value.cols());
    for (Index i = 0; i < value.rows(); ++i) value.row(i) = a->value.row(at[static_cast<std::size_t>(i)]);
    return make(std::move(value), [=](Node& y) {
      for (Index i = 0; i < y.gradient.rows(); ++i)
        a->gradient.row(at[static_cast<std::size_t>(i)]) += y.gradient.row(i);
    });
  }
  Variable sparse_product(const Sparse<Scalar>& a, Variable b) {
    return make(a * b->value, [=, &a](Node& y) { b->gradient += a.transpose() * y.gradient; });
  }
  /// Rows of length 1.
  Variable unit_rows(Variable a) {
    const Values lengths = (a->value.rowwise().squaredNorm().array() + kTiny).sqrt().matrix();
    return make((a->value.array().colwise() / lengths.col(0).array()).matrix(), [=](Node& y) {
      const Values along = y.gradient.cwiseProduct(y.value).rowwise().sum();
      a->gradient += ((y.gradient - (y.value.array().colwise() * along.col(0).array()).matrix()).array().colwise() /
                      lengths.col(0).array())
                         .matrix();
    });
  }
  /// Of each segment of rows, [starts[i], starts[i + 1]), none empty: their sum, mean and greatest, side by side.
  Variable reduced(Variable a, const std::vector<Index>& starts) {
    const Index segments = static_cast<Index>(starts.size()) - 1, width = a->value.cols();
    Values value(segments, 3 * width);
    std::vector<Index> greatest(static_cast<std::size_t>(segments * width));
    for (Index s = 0; s < segments; ++s) {
      const Index first = starts[static_cast<std::size_t>(s)], count = starts[static_cast<std::size_t>(s) + 1] - first;
      const auto rows = a->value.middleRows(first, count);
      value.row(s).segment(0, width) = rows.colwise().sum();
      value.row(s).segment(width, width) = rows.colwise().sum() / static_cast<Scalar>(count);
      for (Index c = 0; c < width; ++c) {
        Index at = 0;
        value(s, 2 * width + c) = rows.col(c).maxCoeff(&at);
        greatest[static_cast<std::size_t>(s * width + c)] = first + at;
      }
    }
    return make(std::move(value), [=](Node& y) {
      for (Index s = 0; s < segments; ++s) {
        const Index first = starts[static_cast<std::size_t>(s)],
                    count = starts[static_cast<std::size_t>(s) + 1] - first;
        a->gradient.middleRows(first, count).rowwise() +=
            y.gradient.row(s).segment(0, width) + y.gradient.row(s).segment(width, width) / static_cast<Scalar>(count);
        for (Index c = 0; c < width; ++c)
          a->gradient(greatest[static_cast<std::size_t>(s * width + c)], c) += y.gradient(s, 2 * width + c);
      }
    });
  }
  /// Mean of the squares of what differs.
  Variable squared_loss(Variable y, const Values& wanted) {
    const Values off = y->value - wanted;
    Values loss(1, 1);
    loss(0, 0) = off.squaredNorm() / static_cast<Scalar>(off.rows());
    return make(std::move(loss),
                [=](Node& l) { y->gradient += l.gradient(0, 0) * 2 / static_cast<Scalar>(off.rows()) * off; });
  }
  /// Mean over pairs of rows of one group of which the first is wanted greater: what `rank` says of y_i - y_j.
  enum class Rank { kHinge, kLogistic };
  Variable rank_loss(Variable y, const Values& wanted, const std::vector<int>& groups, Rank rank) {
    Values slope = Values::Zero(y->value.rows(), 1), loss = Values::Zero(1, 1);
    Scalar pairs = 0;
    for (Index i = 0; i < slope.rows(); ++i) {
      for (Index j = 0; j < slope.rows(); ++j) {
        if (groups[static_cast<std::size_t>(i)] != groups[static_cast<std::size_t>(j)] || wanted(i, 0) <= wanted(j, 0))
          continue;
        const Scalar z = y->value(i, 0) - y->value(j, 0);
        const Scalar each = rank == Rank::kHinge ? std::max(Scalar(0), 1 - z) : std::log1p(std::exp(-z));
        const Scalar down = rank == Rank::kHinge ? (z < 1 ? Scalar(-1) : Scalar(0)) : -1 / (1 + std::exp(z));
        loss(0, 0) += each;
        slope(i, 0) += down;
        slope(j, 0) -= down;
        pairs += 1;
      }
    }
    if (pairs > 0) loss /= pairs, slope /= pairs;
    return make(std::move(loss), [=](Node& l) { y->gradient += l.gradient(0, 0) * slope; });
  }

  void backward(Variable loss) {
    loss->gradient.setOnes();
    for (auto node = nodes_.rbegin(); node != nodes_.rend(); ++node) {
      if (node->back) node->back(*node);
    }
  }

 private:
  static constexpr Scalar kLeak = Scalar(0.1), kTiny = Scalar(1e-12);

  Variable make(Values value, std::function<void(Node&)> back) {
    Node& node = nodes_.emplace_back();
    node.gradient = Values::Zero(value.rows(), value.cols());
    node.value = std::move(value);
    node.back = std::move(back);
    return &node;
  }
  template <class Function, class Slope>
  Variable apply(Variable a, Function function, Slope slope) {
    return make(a->value.unaryExpr(function),
                [=](Node& y) { a->gradient += y.gradient.cwiseProduct(a->value.binaryExpr(y.value, slope)); });
  }

  std::deque<Node> nodes_;
};

}  // namespace neural
