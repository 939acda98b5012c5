#include "networks.h"

#include <algorithm>
#include <cmath>

namespace neural {
namespace {

using rewright::tune::Features;
using rewright::tune::Network;
using rewright::tune::NetworkAttribute;
using Whole = std::vector<std::int64_t>;
using Words = std::vector<std::string>;

constexpr Index kTable = 8;  ///< Numbers for a kind.
constexpr double kLeastDeviation = 1e-3;

std::int64_t kind_of(const Features& program, std::size_t stage, int kinds) {
  const std::int64_t kind = stage < program.kinds.size() ? program.kinds[stage] : 0;
  return kind > 0 && kind < kinds ? kind : 0;
}

/// One of zeros for a program without stages.
Index row_count(const Features& program) { return std::max<Index>(1, static_cast<Index>(program.stages.size())); }

double logarithm(const std::vector<double>& row, std::size_t column) {
  return column < row.size() ? std::log(1 + std::max(row[column], 0.0)) : 0;
}

template <class Scalar>
typename Tape<Scalar>::Variable layer(Tape<Scalar>& tape, typename Tape<Scalar>::Variable x,
                                      typename Tape<Scalar>::Variable weight, typename Tape<Scalar>::Variable bias) {
  return tape.plus_row(tape.product(x, weight), bias);
}

template <class Scalar>
typename Tape<Scalar>::Variable graph_output(Tape<Scalar>& tape, const Batch<Scalar>& batch, const Shape& shape,
                                             typename Tape<Scalar>::Variable x,
                                             const std::vector<typename Tape<Scalar>::Variable>& w) {
  auto e = tape.leaky(layer(tape, x, w[1], w[2]));
  std::size_t at = 3;
  for (int hop = 0; hop < shape.hops; ++hop, at += 6) {
    const auto read = tape.sparse_product(batch.reads, tape.leaky(layer(tape, e, w[at], w[at + 1])));
    const auto reader = tape.sparse_product(batch.readers, tape.leaky(layer(tape, e, w[at + 2], w[at + 3])));
    e = tape.unit_rows(tape.leaky(layer(tape, tape.beside({e, read, reader}), w[at + 4], w[at + 5])));
  }
  return layer(tape, tape.reduced(e, batch.starts), w[at], w[at + 1]);
}

template <class Scalar>
typename Tape<Scalar>::Variable sequence_output(Tape<Scalar>& tape, const Batch<Scalar>& batch, const Shape& shape,
                                                typename Tape<Scalar>::Variable x,
                                                const std::vector<typename Tape<Scalar>::Variable>& w) {
  const auto programs = static_cast<Index>(batch.starts.size()) - 1, width = static_cast<Index>(shape.width);
  Index longest = 0;
  for (std::size_t p = 0; p + 1 < batch.starts.size(); ++p)
    longest = std::max(longest, batch.starts[p + 1] - batch.starts[p]);
  auto h = tape.variable(Matrix<Scalar>::Zero(programs, width));
  auto c = tape.variable(Matrix<Scalar>::Zero(programs, width));
  for (Index t = 0; t < longest; ++t) {
    std::vector<Index> at;
    Matrix<Scalar> goes_on = Matrix<Scalar>::Zero(programs, 1);
    for (Index p = 0; p < programs; ++p) {  // One that has ended keeps its state.
      const Index first = batch.starts[static_cast<std::size_t>(p)],
                  end = batch.starts[static_cast<std::size_t>(p) + 1];
      at.push_back(std::min(first + t, end - 1));
      goes_on(p, 0) = first + t < end ? 1 : 0;
    }
    const Matrix<Scalar> ended = (1 - goes_on.array()).matrix();
    const auto gates = tape.plus_row(tape.sum(tape.product(tape.rows(x, at), w[1]), tape.product(h, w[2])), w[3]);
    const auto in = tape.sigmoid(tape.columns(gates, 0, width));
    const auto out = tape.sigmoid(tape.columns(gates, width, width));
    const auto forget = tape.sigmoid(tape.columns(gates, 2 * width, width));
    const auto cell = tape.tanh(tape.columns(gates, 3 * width, width));
    const auto next_c = tape.sum(tape.times(forget, c), tape.times(in, cell));
    const auto next_h = tape.times(out, tape.tanh(next_c));
    c = tape.sum(tape.scaled_rows(next_c, goes_on), tape.scaled_rows(c, ended));
    h = tape.sum(tape.scaled_rows(next_h, goes_on), tape.scaled_rows(h, ended));
  }
  return layer(tape, h, w[4], w[5]);
}

/// Nodes of a network, one after the other.
class Writer {
 public:
  Writer(Network& network, std::string prefix) : network_(network), prefix_(std::move(prefix)) {}
  std::string add(const char* type, Words inputs, std::map<std::string, NetworkAttribute> attributes = {}) {
    std::string output = prefix_ + "t" + std::to_string(count_++);
    network_.nodes.push_back({type, std::move(inputs), {output}, std::move(attributes)});
    return output;
  }
  std::string layer(const std::string& x, const std::string& weight, const std::string& bias) {
    return add("Add", {add("MatMul", {x, prefix_ + weight}), prefix_ + bias});
  }
  std::string leaky(const std::string& x) { return add("LeakyRelu", {x}, {{"alpha", 0.1F}}); }

 private:
  Network& network_;
  std::string prefix_;
  int count_ = 0;
};

}  // namespace

std::vector<Weight> weights_of(const Shape& shape) {
  const Index width = shape.width, inputs = shape.columns + kTable;
  std::vector<Weight> all = {{"table", shape.kinds, kTable}};
  if (shape.kind == Kind::kSequence) {
    all.insert(all.end(), {{"w", inputs, 4 * width}, {"r", width, 4 * width}, {"b", 1, 4 * width}});
    all.insert(all.end(), {{"y_w", width, 1}, {"y_b", 1, 1}});
    return all;
  }
  all.insert(all.end(), {{"first_w", inputs, width}, {"first_b", 1, width}});
  for (int hop = 0; hop < shape.hops; ++hop) {
    const std::string name = "hop" + std::to_string(hop) + "_";
    for (const char* part : {"read", "reader"}) {
      all.push_back({name + part + "_w", width, width});
      all.push_back({name + part + "_b", 1, width});
    }
    all.push_back({name + "w", 3 * width, width});
    all.push_back({name + "b", 1, width});
  }
  all.insert(all.end(), {{"y_w", 3 * width, 1}, {"y_b", 1, 1}});
  return all;
}

Scaling scaling_of(const std::vector<const Features*>& programs, int columns) {
  const auto count = static_cast<std::size_t>(columns);
  std::vector<double> sums(count), squares(count);
  double rows = 0;
  for (const Features* program : programs) {
    for (const auto& row : program->stages) {
      rows += 1;
      for (std::size_t c = 0; c < count; ++c) {
        sums[c] += logarithm(row, c);
        squares[c] += logarithm(row, c) * logarithm(row, c);
      }
    }
  }
  Scaling scaling;
  for (std::size_t c = 0; c < count; ++c) {
    const double mean = rows > 0 ? sums[c] / rows : 0;
    const double variance = rows > 0 ? squares[c] / rows - mean * mean : 0;
    scaling.means.push_back(static_cast<float>(mean));
    scaling.deviations.push_back(
        static_cast<float>(variance > kLeastDeviation * kLeastDeviation ? std::sqrt(variance) : 1));
  }
  return scaling;
}

template <class Scalar>
Batch<Scalar> batch_of(const std::vector<const Features*>& programs, const Shape& shape, const Scaling& scaling) {
  Batch<Scalar> batch;
  Index rows = 0;
  for (const Features* program : programs) rows += row_count(*program);
  batch.features.resize(rows, shape.columns);
  std::vector<Eigen::Triplet<Scalar>> reads, readers;
  Index first = 0;
  for (const Features* program : programs) {
    for (std::size_t s = 0; s < static_cast<std::size_t>(row_count(*program)); ++s) {
      for (int c = 0; c < shape.columns; ++c) {
        const auto column = static_cast<std::size_t>(c);
        const auto value = static_cast<float>(s < program->stages.size() ? logarithm(program->stages[s], column) : 0);
        batch.features(first + static_cast<Index>(s), c) = (value - scaling.means[column]) / scaling.deviations[column];
      }
      batch.kinds.push_back(kind_of(*program, s, shape.kinds));
    }
    std::vector<Scalar> out(program->stages.size()), in(program->stages.size());
    for (const auto& [reader, read] : program->reads) {
      if (reader < out.size() && read < in.size()) out[reader] += 1, in[read] += 1;
    }
    for (const auto& [reader, read] : program->reads) {
      if (reader >= out.size() || read >= in.size()) continue;
      reads.emplace_back(first + reader, first + read, 1 / out[reader]);
      readers.emplace_back(first + read, first + reader, 1 / in[read]);
    }
    first += row_count(*program);
    batch.starts.push_back(first);
  }
  batch.reads.resize(rows, rows);
  batch.readers.resize(rows, rows);
  batch.reads.setFromTriplets(reads.begin(), reads.end());
  batch.readers.setFromTriplets(readers.begin(), readers.end());
  return batch;
}

template <class Scalar>
typename Tape<Scalar>::Variable output_of(Tape<Scalar>& tape, const Batch<Scalar>& batch, const Shape& shape,
                                          const std::vector<typename Tape<Scalar>::Variable>& weights) {
  const auto x = tape.beside({tape.rows(weights[0], batch.kinds), tape.variable(batch.features)});
  return shape.kind == Kind::kGraph ? graph_output(tape, batch, shape, x, weights)
                                    : sequence_output(tape, batch, shape, x, weights);
}

void add_scaling(Network& network, const Shape& shape, const Scaling& scaling) {
  network.constants["one"] = {{1}, std::vector<double>{1}};
  network.constants["means"] = {{shape.columns}, scaling.means};
  network.constants["deviations"] = {{shape.columns}, scaling.deviations};
  network.constants["axis"] = {{1}, Whole{0}};
  network.constants["last_axis"] = {{1}, Whole{1}};
  network.constants["at_least_one"] = {{}, std::vector<float>{1}};
  network.constants["tiny"] = {{}, std::vector<float>{1e-12F}};
  network.constants["flat"] = {{1}, Whole{1}};
  network.nodes.push_back({"Add", {"stages", "one"}, {"more"}});
  network.nodes.push_back({"Log", {"more"}, {"logs"}});
  network.nodes.push_back({"Cast", {"logs"}, {"logs_float"}, {{"to", std::int64_t{1}}}});
  network.nodes.push_back({"Sub", {"logs_float", "means"}, {"centred"}});
  network.nodes.push_back({"Div", {"centred", "deviations"}, {"features"}});
  if (shape.kind == Kind::kSequence) return;
  const auto keep = NetworkAttribute(std::int64_t{1});
  network.nodes.push_back({"ReduceSum", {"reads", "last_axis"}, {"read_count"}, {{"keepdims", keep}}});
  network.nodes.push_back({"Max", {"read_count", "at_least_one"}, {"read_divisor"}});
  network.nodes.push_back({"Div", {"reads", "read_divisor"}, {"read_means"}});
  network.nodes.push_back({"Transpose", {"reads"}, {"readers"}, {{"perm", Whole{1, 0}}}});
  network.nodes.push_back({"ReduceSum", {"readers", "last_axis"}, {"reader_count"}, {{"keepdims", keep}}});
  network.nodes.push_back({"Max", {"reader_count", "at_least_one"}, {"reader_divisor"}});
  network.nodes.push_back({"Div", {"readers", "reader_divisor"}, {"reader_means"}});
}

std::string add_member(Network& network, const Shape& shape, const std::string& prefix,
                       const std::vector<Matrix<float>>& weights) {
  const std::vector<Weight> names = weights_of(shape);
  for (std::size_t i = 0; i < names.size(); ++i)
    network.constants[prefix + names[i].name] = {
        {names[i].rows, names[i].columns},
        std::vector<float>(weights[i].data(), weights[i].data() + weights[i].size())};
  Writer write(network, prefix);
  const auto one = NetworkAttribute(std::int64_t{1});
  const std::string known = write.add("Gather", {prefix + "table", "kinds"}, {{"axis", std::int64_t{0}}});
  const std::string x = write.add("Concat", {known, "features"}, {{"axis", one}});
  std::string last;
  if (shape.kind == Kind::kGraph) {
    std::string e = write.leaky(write.layer(x, "first_w", "first_b"));
    for (int hop = 0; hop < shape.hops; ++hop) {
      const std::string name = "hop" + std::to_string(hop) + "_";
      const std::string read =
          write.add("MatMul", {"read_means", write.leaky(write.layer(e, name + "read_w", name + "read_b"))});
      const std::string reader =
          write.add("MatMul", {"reader_means", write.leaky(write.layer(e, name + "reader_w", name + "reader_b"))});
      const std::string next =
          write.leaky(write.layer(write.add("Concat", {e, read, reader}, {{"axis", one}}), name + "w", name + "b"));
      const std::string square = write.add("ReduceSumSquare", {next, "last_axis"}, {{"keepdims", one}});
      e = write.add("Div", {next, write.add("Sqrt", {write.add("Add", {square, "tiny"})})});
    }
    Words parts;
    for (const char* type : {"ReduceSum", "ReduceMean", "ReduceMax"})
      parts.push_back(write.add(type, {e, "axis"}, {{"keepdims", one}}));
    last = write.add("Concat", parts, {{"axis", one}});
  } else {
    // ONNX has the weights transposed, a bias for the state as well, and an axis for the direction.
    const auto width = static_cast<std::int64_t>(shape.width);
    network.constants[prefix + "no_bias"] = {{1, 4 * width}, std::vector<float>(static_cast<std::size_t>(4 * width))};
    network.constants["direction"] = {{1}, Whole{0}};
    network.constants["batch"] = {{1}, Whole{1}};
    const auto turned = [&](const char* name) {
      const std::string other = write.add("Transpose", {prefix + name}, {{"perm", Whole{1, 0}}});
      return write.add("Unsqueeze", {other, "direction"});
    };
    const std::string w = turned("w"), r = turned("r");
    const std::string bias = write.add("Concat", {prefix + "b", prefix + "no_bias"}, {{"axis", one}});
    const std::string steps = write.add("Unsqueeze", {x, "batch"});
    const std::string all = prefix + "states", state = prefix + "state";
    network.nodes.push_back({"LSTM", {steps, w, r, bias}, {all, state}, {{"hidden_size", width}}});
    last = write.add("Squeeze", {state, "direction"});
  }
  return write.add("Reshape", {write.layer(last, "y_w", "y_b"), "flat"});
}

template Batch<float> batch_of(const std::vector<const Features*>&, const Shape&, const Scaling&);
template Batch<double> batch_of(const std::vector<const Features*>&, const Shape&, const Scaling&);
template Tape<float>::Variable output_of(Tape<float>&, const Batch<float>&, const Shape&,
                                         const std::vector<Tape<float>::Variable>&);
template Tape<double>::Variable output_of(Tape<double>&, const Batch<double>&, const Shape&,
                                          const std::vector<Tape<double>::Variable>&);

}  // namespace neural
