// Random graphs on which the true rules find something to do: few operators, few sizes, shared tensors.
#pragma once

#include <rewright/graph/graph.h>

#include <algorithm>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "support/operators.h"
#include "support/random.h"

namespace rewright::testing {

/// Grows a graph by random applications to the tensors that are there; most choices do not fit and are not made.
class Grower {
 public:
  explicit Grower(std::uint64_t seed) : random_(seed) {}

  Graph graph(int applications) {
    const bool images = random_.one_in(3);
    for (int i = 0; i < 3; ++i) images ? add_image_inputs(i) : add_matrix_inputs(i);
    for (int made = 0, tried = 0; made < applications && tried < 40 * applications; ++tried) made += try_one(images);
    // What nothing uses is an output, so that nothing of the graph is lost.
    for (Port port : ports_)
      if (!used_.contains(port) && !builder_.node(port.node).is_input()) builder_.output(port);
    builder_.output(ports_.back());
    return builder_.finish();
  }

 private:
  void add_input(const std::string& name, Shape shape, InputKind kind) {
    ports_.push_back(*builder_.input(name, {std::move(shape), ElementType::kFloat32}, kind));
  }
  void add_matrix_inputs(int i) {
    add_input(fmt::format("x{}", i), {size(), size()}, InputKind::kData);
    add_input(fmt::format("w{}", i), {size(), size()}, InputKind::kWeight);
  }
  void add_image_inputs(int i) {
    add_input(fmt::format("x{}", i), {1, 2, 3, 4}, InputKind::kData);
    add_input(fmt::format("w{}", i), {2, 2, random_.pick(kTaps), random_.pick(kTaps)}, InputKind::kWeight);
  }
  std::int64_t size() { return random_.one_in(4) ? 2 : 3; }

  bool try_one(bool images) {
    static const std::vector<std::string> kMatrixCalls = {"ewadd",
                                                          "ewmul",
                                                          "matmul",
                                                          "matmul",
                                                          "relu",
                                                          "transpose",
                                                          "concat",
                                                          "concat[axis=1]",
                                                          "split[axis=0, sizes=[2, 1]]",
                                                          "split[axis=1, sizes=[2, 2]]"};
    static const std::vector<std::string> kImageCalls = {
        "ewadd", "conv2d", "conv2d", "conv2d", "relu", "concat[axis=1]", "split[axis=1, sizes=[2, 2]]"};
    const Call call = testing::call(random_.pick(images ? kImageCalls : kMatrixCalls));
    std::vector<Port> operands;
    for (int i = 0; i < std::max(call.op->info().min_arity, 1); ++i) operands.push_back(random_.pick(ports_));
    const auto outputs = builder_.apply(*call.op, call.params, operands);
    if (!outputs) return false;
    for (Port port : operands) used_.insert(port);
    for (Port port : *outputs)
      if (std::find(ports_.begin(), ports_.end(), port) == ports_.end()) ports_.push_back(port);
    return true;
  }

  static constexpr std::int64_t kTaps[] = {1, 3};
  Random random_;
  GraphBuilder builder_;
  std::vector<Port> ports_;
  std::set<Port> used_;
};

}  // namespace rewright::testing
