// Seeded random graphs over every operator that is loaded.
//
// Operands are drawn from the tensors made so far, parameters from what the operand's shape suggests; what an operator
// refuses is drawn again. Where no tensor fits, a new input is made.
#pragma once

#include <rewright/graph/graph.h>

#include <algorithm>
#include <numeric>
#include <string>
#include <vector>

#include "support/operators.h"
#include "support/random.h"

namespace rewright::testing {

struct RandomGraphSize {
  int operators = 10;
  std::int64_t max_elements = 400;  ///< Of one tensor.
  bool odd_names = false;           ///< Names that need quotes, named outputs, hints that clash.
  bool opaque = false;              ///< Some nodes that no operator knows.
};

class RandomGraph {
 public:
  RandomGraph(std::uint64_t seed, RandomGraphSize size) : random_(seed), size_(size), builder_(&loaded()) {}

  Graph make() {
    for (const int rank : {2, 4}) add_input(random_shape(rank));
    const auto operators = loaded().all<Operator>();
    for (int made = 0, tries = 0; made < size_.operators && tries < size_.operators * 200; ++tries) {
      if (size_.opaque && random_.one_in(12)) {
        add(builder_.opaque({"Custom", "bytes"}, {any_port()},
                            {builder_.type(any_port()), TensorType{{2}, ElementType::kInt64}}));
        ports_.pop_back();
        ++made;
      } else if (apply(*random_.pick(operators))) {
        ++made;
      }
      if (random_.one_in(8)) add_input(random_shape(random_.pick(std::vector<int>{0, 1, 2, 2, 3, 4, 4})));
    }
    add_outputs();
    return builder_.finish();
  }

 private:
  Shape random_shape(int rank) {
    Shape shape;
    for (int axis = 0; axis < rank; ++axis) shape.append(random_.pick(std::vector<std::int64_t>{1, 2, 3, 4}));
    return shape;
  }

  void add_input(const Shape& shape) {
    std::string name = fmt::format("x{}", inputs_++);
    if (size_.odd_names && random_.one_in(2))
      name = random_.pick(std::vector<std::string>{"conv/{}:0", "output", "a \"b\" {}", "\\ {}\n\t", "relu",
                                                   "\xc3\xa9 {}", "x.0", "x.{}"});
    if (const auto brace = name.find("{}"); brace != std::string::npos) name.replace(brace, 2, std::to_string(inputs_));
    const InputKind kind = random_.one_in(3) ? InputKind::kWeight : InputKind::kData;
    if (const auto port = builder_.input(name, TensorType{shape}, kind)) ports_.push_back(*port);
  }

  [[nodiscard]] Port any_port() {
    // Later ones more often, so that graphs grow deep.
    const auto count = static_cast<std::int64_t>(ports_.size());
    return ports_[static_cast<std::size_t>(std::max(random_.between(0, count - 1), random_.between(0, count - 1)))];
  }

  std::vector<std::int64_t> integers(const Shape& shape) {
    std::vector<std::int64_t> values(static_cast<std::size_t>(random_.one_in(2) ? shape.rank() : 2));
    std::iota(values.begin(), values.end(), 0);
    if (random_.one_in(2)) {
      random_.shuffle(std::span(values));
    } else {
      for (auto& value : values) value = random_.between(1, 3);
    }
    return values;
  }

  std::vector<std::int64_t> sizes(const Shape& shape) {
    std::vector<std::int64_t> values(shape.begin(), shape.end());
    if (shape.rank() == 0 || random_.one_in(2)) {
      values.resize(static_cast<std::size_t>(random_.between(1, 4)));
      const std::int64_t size = random_.between(1, 3);
      for (auto& value : values) value = random_.one_in(4) ? random_.between(1, 3) : size;
    } else if (random_.one_in(2)) {
      const std::int64_t whole = shape[static_cast<int>(random_.between(0, shape.rank() - 1))],
                         part = random_.between(0, whole);
      values = {part, whole - part};
    }
    return values;
  }

  ParamValue value(const ParamSpec& spec, const Shape& shape) {
    if (!spec.required && random_.one_in(2)) return spec.default_value;
    switch (spec.kind) {
      case ParamKind::kInt: return random_.between(0, 3);
      case ParamKind::kInts: return integers(shape);
      case ParamKind::kSizes: return SizeList<std::int64_t>{sizes(shape)};
      case ParamKind::kChoice: return random_.between(0, static_cast<std::int64_t>(spec.choices.size()) - 1);
      case ParamKind::kReal: return static_cast<double>(random_.between(-4, 12)) / 8;
    }
    return spec.default_value;
  }

  bool apply(const Operator& op) {
    const OperatorInfo& info = op.info();
    const std::int64_t most = info.max_arity < 0 ? info.min_arity + 1 : info.max_arity;
    std::vector<Port> operands;
    for (std::int64_t i = random_.between(info.min_arity, most); i > 0; --i)
      operands.push_back(operands.empty() || !random_.one_in(3) ? any_port() : operands.front());
    const Shape shape = operands.empty() ? random_shape(2) : builder_.shape(operands.front());
    std::vector<ParamValue> values;
    for (const ParamSpec& spec : info.params) values.push_back(value(spec, shape));
    const Params params(std::move(values));

    std::vector<Shape> in;
    for (const Port port : operands) in.push_back(builder_.shape(port));
    // One number per channel, say: a new input that is as long as one axis of the first operand, for all the others.
    const bool vector = in.size() > 1 && shape.rank() > 0 && random_.one_in(4);
    if (vector)
      std::fill(in.begin() + 1, in.end(), Shape{shape[static_cast<int>(random_.between(0, shape.rank() - 1))]});
    const auto out = op.infer(params, in);
    if (!out) return false;
    for (const Shape& made : *out) {
      if (made.elements() > size_.max_elements || made.elements() == 0) return false;
    }
    std::string hint;
    if (size_.odd_names)
      hint = random_.pick(std::vector<std::string>{"", "", "a", "x.0", "x0", "relu", "split.0", "/n/Relu_1", "output"});
    if (vector) {
      const std::size_t before = ports_.size();
      add_input(in[1]);
      if (ports_.size() == before) return false;
      std::fill(operands.begin() + 1, operands.end(), ports_.back());
    }
    auto ports = builder_.apply(op, params, operands, hint);
    if (!ports) return false;
    add(*ports);
    return true;
  }

  void add(const std::vector<Port>& ports) { ports_.insert(ports_.end(), ports.begin(), ports.end()); }

  void add_outputs() {
    builder_.output(ports_.back());
    for (std::int64_t i = random_.between(0, 3); i > 0; --i)
      builder_.output(any_port(), size_.odd_names && random_.one_in(2) ? fmt::format("out put {}", i) : "");
  }

  Random random_;
  RandomGraphSize size_;
  GraphBuilder builder_;
  std::vector<Port> ports_;
  int inputs_ = 0;
};

/// The same graph for the same seed, size and loaded operators.
inline Graph random_graph(std::uint64_t seed, RandomGraphSize size = {}) { return RandomGraph(seed, size).make(); }

}  // namespace rewright::testing
