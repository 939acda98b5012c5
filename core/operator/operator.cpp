// What all operators share: the checks around a shape rule.
#include <rewright/operator/map_sizes.h>
#include <rewright/operator/operator.h>

#include <algorithm>

#include "operator/properties.h"

namespace rewright {

namespace {

constexpr std::int64_t kMaxElements = std::int64_t{1} << 40;

Status check_arity(const OperatorInfo& info, std::size_t operands) {
  const auto count = static_cast<int>(operands);
  if (count >= info.min_arity && (info.max_arity < 0 || count <= info.max_arity)) return {};
  const std::string wanted = info.max_arity == info.min_arity ? fmt::format("{}", info.min_arity)
                             : info.max_arity < 0             ? fmt::format("at least {}", info.min_arity)
                                                              : fmt::format("{} to {}", info.min_arity, info.max_arity);
  return shape_error("{}: takes {} operands, but was given {}", info.name, wanted, count);
}

template <class Dim>
Status check_operands(const OperatorInfo& info, std::size_t params, std::span<const BasicShape<Dim>> in) {
  if (params != info.params.size()) {
    return shape_error("{}: takes {} parameters, but was given {}", info.name, info.params.size(), params);
  }
  REWRIGHT_CHECK(check_arity(info, in.size()));
  for (const BasicShape<Dim>& shape : in) {
    if (shape.rank() > kMaxRank) {
      return shape_error("{}: an operand of rank {} was given; the highest rank is {}", info.name, shape.rank(),
                         kMaxRank);
    }
    for (const Dim& dim : shape) {
      if (known(dim).value_or(0) > kMaxElements)
        return shape_error("{}: an operand has a size of {}; no tensor has more than 2^40 elements", info.name,
                           *known(dim));
    }
  }
  return {};
}

template <class Dim>
Status check_sizes(const OperatorInfo& info, const std::vector<BasicShape<Dim>>& shapes) {
  for (const BasicShape<Dim>& shape : shapes) {
    if (shape.rank() > kMaxRank) {
      return shape_error("{}: the result has rank {}; the highest rank is {}", info.name, shape.rank(), kMaxRank);
    }
    std::int64_t elements = 1;
    for (const Dim& dim : shape) {
      const std::int64_t size = known(dim).value_or(1);
      if (size < 0) return shape_error("{}: the result would have a negative size {}", info.name, size);
      if (__builtin_mul_overflow(elements, std::max<std::int64_t>(size, 1), &elements) || elements > kMaxElements) {
        return shape_error("{}: the result would have more than 2^40 elements", info.name);
      }
    }
  }
  return {};
}

/// "conv2d: " in front of what a requirement says, unless it is there already.
Error named(const OperatorInfo& info, Error error) {
  if (!error.message.starts_with(info.name + ":")) error.message = info.name + ": " + error.message;
  return error;
}

template <class Dim>
Result<std::vector<BasicShape<Dim>>> infer_checked(const Operator& op, const BasicParams<Dim>& params,
                                                   std::span<const BasicShape<Dim>> in, Constraints<Dim>& where) {
  const OperatorInfo& info = op.info();
  REWRIGHT_CHECK(check_operands<Dim>(info, params.size(), in));
  auto shapes = op.shape_of(params, in, where);
  if (where.violation()) return named(info, *where.violation());
  if (!shapes) return named(info, shapes.error());
  REWRIGHT_CHECK(check_sizes(info, *shapes));
  return shapes;
}

}  // namespace

Operator::~Operator() = default;

Result<std::vector<Shape>> Operator::infer(const Params& params, std::span<const Shape> in) const {
  std::vector<BasicShape<std::int64_t>> operands(in.begin(), in.end());
  Constraints<std::int64_t> where;
  REWRIGHT_TRY(auto shapes, infer_checked<std::int64_t>(*this, params, operands, where));
  return std::vector<Shape>(shapes.begin(), shapes.end());
}

Result<std::vector<CutShape>> Operator::infer(const Params& params, std::span<const CutShape> in) const {
  Constraints<CutDim> where;
  return infer_checked<CutDim>(*this, to_cut(params), in, where);
}

Result<std::vector<SymbolicShape>> Operator::infer(const SymbolicParams& params, std::span<const SymbolicShape> in,
                                                   Constraints<SymbolicDim>& where) const {
  return infer_checked<SymbolicDim>(*this, params, in, where);
}

Result<Definition> Operator::definition(const Params& params, std::span<const Shape> in) const {
  std::vector<SymbolicShape> shapes;
  for (const Shape& shape : in) shapes.emplace_back(std::vector<SymbolicDim>(shape.begin(), shape.end()));
  return definition(to_symbolic(params), shapes);
}

Result<Definition> Operator::definition(const SymbolicParams& params, std::span<const SymbolicShape> in) const {
  Constraints<SymbolicDim> where;
  REWRIGHT_TRY(const std::vector<SymbolicShape> out, infer(params, in, where));
  const Params numbers = map_sizes(params, [](const SymbolicDim& size) { return size.constant().value_or(0); });
  return write_down(numbers, params, in, out);
}

Work Operator::work(const Params& params, std::span<const Shape> in) const {
  constexpr double kBytes = 4;  // An element.
  const auto definition = this->definition(params, in);
  if (!definition) fail("work: " + definition.error().message);
  if (keeps_order(*definition)) return {};
  Work work{.flops = operations_of(*definition).value_or(0), .bytes = 0};
  for (const Buffer& buffer : definition->buffers) {
    double elements = buffer.role == BufferRole::kTemporary ? 0 : 1;
    for (const IndexExpr& size : buffer.sizes) elements *= static_cast<double>(size.number().value_or(0));
    work.bytes += kBytes * elements;
  }
  return work;
}

}  // namespace rewright
