#include "contract/applications.h"

#include <rewright/tensor/linear.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <set>

namespace rewright::contract {
namespace {

/// Operands of operators whose shapes are solved for; and of one operand, where it has more axes than are drawn.
constexpr int kSolvedFrom = 4, kSolvedTo = 6;
constexpr int kHighest = 4, kHighestOfFew = 6;

}  // namespace

std::string to_string(const Application& application) {
  std::string text = application.op->name() + rewright::to_string(application.op->info().params, application.params);
  for (std::size_t i = 0; i < application.in.size(); ++i) {
    text += (i == 0 ? " " : ", ") + rewright::to_string(application.in[i]);
  }
  return text;
}

Shape ApplicationSource::random_shape(std::int64_t rank) {
  Shape shape;
  for (std::int64_t axis = 0; axis < rank; ++axis) shape.append(random_.pick(pool_));
  return shape;
}

std::vector<Shape> ApplicationSource::random_shapes() {
  const OperatorInfo& info = op_.info();
  const std::int64_t most =
      info.max_arity < 0 ? info.min_arity + 2 : std::max<std::int64_t>(info.min_arity, info.max_arity);
  const std::int64_t arity = random_.between(info.min_arity, most);
  const auto rank = [this] { return random_.one_in(3) ? 4 : random_.between(0, 4); };
  const std::int64_t style = random_.between(0, 5), first = rank(), others = rank();
  std::vector<Shape> in;
  for (std::int64_t i = 0; i < arity; ++i) {
    if (i == 0 || style == 0) {
      in.push_back(random_shape(i == 0 ? first : rank()));
    } else if (style == 1) {  // One shape for all.
      in.push_back(in[0]);
    } else if (style == 2) {  // One shape for all but the first.
      in.push_back(i == 1 ? random_shape(others) : in[1]);
    } else if (style == 3) {  // The first shape with one size changed.
      in.push_back(in[0]);
      if (first > 0) in.back()[static_cast<int>(random_.between(0, first - 1))] = random_.pick(pool_);
    } else {  // One rank for all, other sizes.
      in.push_back(random_shape(first));
    }
  }
  return in;
}

std::vector<std::int64_t> ApplicationSource::random_integers(int rank) {
  const std::int64_t lengths[] = {rank, rank, rank - 2, 2 * rank, 2, 2, 4, 1, 0};
  std::vector<std::int64_t> integers(static_cast<std::size_t>(std::max<std::int64_t>(random_.pick(lengths), 0)));
  if (random_.one_in(3)) {
    std::iota(integers.begin(), integers.end(), 0);
    if (random_.one_in(2)) random_.shuffle(std::span(integers));
  } else {
    for (std::int64_t& value : integers) value = random_.one_in(20) ? -1 : random_.between(0, 3);
  }
  return integers;
}

std::vector<std::int64_t> ApplicationSource::random_sizes(const std::vector<Shape>& in) {
  std::vector<std::int64_t> sizes;
  const bool any_axis = !in.empty() && in[0].rank() > 0;
  if (any_axis && random_.one_in(3)) {  // Parts of a size.
    std::int64_t rest = in[0][static_cast<int>(random_.between(0, in[0].rank() - 1))];
    for (std::int64_t parts = random_.between(2, 3); parts > 1; --parts) {
      sizes.push_back(random_.between(0, rest));
      rest -= sizes.back();
    }
    sizes.push_back(rest);
  } else if (any_axis && random_.one_in(2)) {  // The operand's sizes in another order, two of them multiplied.
    sizes.assign(in[0].begin(), in[0].end());
    random_.shuffle(std::span(sizes));
    if (sizes.size() > 1 && random_.one_in(2)) {
      const std::int64_t last = sizes.back();
      sizes.pop_back();
      sizes.back() *= last;
    }
  } else {
    for (std::int64_t length = random_.one_in(2) ? 4 : random_.between(0, 5); length > 0; --length) {
      sizes.push_back(random_.one_in(20) ? random_.between(-1, 0) : random_.between(1, 3));
    }
  }
  return sizes;
}

ParamValue ApplicationSource::random_value(const ParamSpec& spec, const std::vector<Shape>& in) {
  if (!spec.required && random_.one_in(2)) return spec.default_value;
  switch (spec.kind) {
    case ParamKind::kInt: return random_.one_in(20) ? random_.between(-2, -1) : random_.between(0, 3);
    case ParamKind::kInts: return random_integers(in.empty() ? 2 : in[0].rank());
    case ParamKind::kSizes: return SizeList<std::int64_t>{random_sizes(in)};
    case ParamKind::kChoice: return random_.between(0, static_cast<std::int64_t>(spec.choices.size()) - 1);
    case ParamKind::kReal: return static_cast<double>(random_.between(-4, 12)) / 4;
  }
  return spec.default_value;
}

std::vector<ParamValue> ApplicationSource::random_params(const std::vector<Shape>& in) {
  std::vector<ParamValue> values;
  for (const ParamSpec& spec : op_.info().params) values.push_back(random_value(spec, in));
  return values;
}

namespace {

std::vector<SymbolicShape> shapes_of_symbols(std::span<const int> ranks) {
  std::vector<SymbolicShape> shapes;
  for (std::size_t i = 0; i < ranks.size(); ++i) {
    SymbolicShape& shape = shapes.emplace_back();
    for (int axis = 0; axis < ranks[i]; ++axis)
      shape.append(SymbolicDim::variable(SizeVar::axis(fmt::format("x{}", i), axis)));
  }
  return shapes;
}

}  // namespace

const std::vector<std::vector<int>>& ApplicationSource::fitting_ranks() {
  if (fitting_ranks_) return *fitting_ranks_;
  fitting_ranks_.emplace();
  const int arity = op_.info().min_arity;
  const auto fits = [&](const std::vector<int>& ranks, const std::vector<ParamValue>& params) {
    Constraints<SymbolicDim> where;
    return op_.infer(to_symbolic(Params(params)), shapes_of_symbols(ranks), where).has_value();
  };
  std::vector<int> ranks(static_cast<std::size_t>(arity), 0);
  const auto next = [&](int highest) {  // In the manner of an odometer.
    for (int& rank : ranks) {
      if (++rank <= highest) return true;
      rank = 0;
    }
    return false;
  };
  const std::vector<ParamSpec>& specs = op_.info().params;
  const bool is_few = arity == 1 || arity == 2;
  if (is_few && op_.info().max_arity == arity && std::ranges::none_of(specs, &ParamSpec::required)) {
    std::vector<ParamValue> usual;
    for (const ParamSpec& spec : specs) usual.push_back(spec.default_value);
    bool has_usual_ranks = false;
    do {
      if (!fits(ranks, usual)) continue;
      has_usual_ranks |= std::ranges::max(ranks) <= kHighest;
      fitting_ranks_->push_back(ranks);
    } while (next(kHighestOfFew));
    if (has_usual_ranks) fitting_ranks_->clear();
  }
  if (arity < kSolvedFrom || arity > kSolvedTo) return *fitting_ranks_;
  do {
    if (fits(ranks, random_params({}))) fitting_ranks_->push_back(ranks);
  } while (next(kHighest));
  return *fitting_ranks_;
}

std::optional<Application> ApplicationSource::solved() {
  if (fitting_ranks().empty()) return std::nullopt;
  const std::vector<SymbolicShape> shapes = shapes_of_symbols(random_.pick(fitting_ranks()));
  Params params(random_params({}));
  Constraints<SymbolicDim> where;
  if (!op_.infer(to_symbolic(params), shapes, where)) return std::nullopt;
  const SizeSystem system(where.conditions());
  std::map<SizeVar, std::int64_t> sizes;
  const DimBinding binding = [&](SizeVar name) -> std::optional<std::int64_t> {
    const auto solved = system.solved().find(name);
    if (solved != system.solved().end())
      return solved->second.evaluate(
          [&](SizeVar free) { return sizes.try_emplace(free, random_.pick(pool_)).first->second; });
    return sizes.try_emplace(name, random_.pick(pool_)).first->second;
  };
  Application made{&op_, std::move(params), {}};
  for (const SymbolicShape& shape : shapes) {
    Shape& in = made.in.emplace_back();
    for (const SymbolicDim& dim : shape) {
      const auto size = dim.evaluate(binding);
      if (!size || *size < 0) return std::nullopt;
      in.append(*size);
    }
  }
  return made;
}

Application ApplicationSource::draw() {
  pool_ = {random_.between(1, 3), random_.between(1, 5)};
  if (random_.one_in(3)) pool_.push_back(random_.one_in(5) ? 0 : random_.between(1, 6));
  const int arity = op_.info().min_arity;
  if ((arity >= kSolvedFrom || !fitting_ranks().empty()) && random_.one_in(2)) {
    if (auto made = solved()) return *std::move(made);
  }
  std::vector<Shape> in = random_shapes();
  Params params(random_params(in));
  return {&op_, std::move(params), std::move(in)};
}

std::vector<Application> ApplicationSource::accepted(std::size_t count, std::int64_t max_elements,
                                                     std::int64_t attempts) {
  std::vector<Application> found;
  std::set<std::string> seen;
  for (; attempts > 0 && found.size() < count; --attempts) {
    Application drawn = draw();
    const auto out = op_.infer(drawn.params, drawn.in);
    if (!out) continue;
    std::int64_t elements = 0;
    for (const Shape& shape : drawn.in) elements += shape.elements();
    for (const Shape& shape : *out) elements += shape.elements();
    if (elements > max_elements || !seen.insert(to_string(drawn)).second) continue;
    found.push_back(std::move(drawn));
  }
  return found;
}

}  // namespace rewright::contract
