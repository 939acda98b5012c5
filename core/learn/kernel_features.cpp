#include <rewright/learn/kernel_features.h>

#include <algorithm>
#include <cmath>

namespace rewright::learn {
namespace {

constexpr std::size_t kSizes = 4;
constexpr std::int64_t kLanes = 16;
constexpr double kMostNumber = 1e12;

double bytes_of(const Shape& shape) { return static_cast<double>(shape.elements()) * sizeof(float); }

class Row {
 public:
  Row(const Kernel& kernel, std::size_t at, std::span<const bool> is_inside)
      : kernel_(kernel), application_(kernel.applications[at]), at_(at), is_inside_(is_inside) {}

  std::vector<double> values() {
    const auto inferred = application_.op.infer(application_.params, application_.in);
    const std::vector<Shape> out = inferred ? *inferred : std::vector<Shape>();
    const Work work = application_.op.work(application_.params, application_.in);
    double bytes = 0, weight_bytes = 0, weights = 0;
    for (std::size_t k = 0; k < application_.in.size(); ++k) {
      if (!kernel_.source(at_, k).is_outside()) continue;
      bytes += bytes_of(application_.in[k]);
      if (application_.kinds[k] != InputKind::kWeight) continue;
      weight_bytes += bytes_of(application_.in[k]);
      weights += 1;
    }
    for (std::size_t o = 0; o < out.size(); ++o) bytes += o < is_inside_.size() && is_inside_[o] ? 0 : bytes_of(out[o]);
    const Shape none;
    const Shape& result = out.empty() ? none : out[0];
    const Shape& data = application_.in.empty() ? none : application_.in[0];
    const Shape& second = application_.in.size() > 1 ? application_.in[1] : none;
    add({work.flops, bytes, weight_bytes, static_cast<double>(application_.in.size()), weights});
    for (const Shape* shape : {&result, &data, &second})
      add({shape == &none ? 0 : static_cast<double>(shape->elements())});
    for (const Shape* shape : {&result, &data, &second}) add_sizes(*shape);
    add({over(result, result.rank() - 1), over(second, 0), over(result, 1)});
    add({stride(data, result), groups(data, second), bytes > 0 ? work.flops / bytes : 0});
    add_numbers();
    return std::move(values_);
  }

 private:
  void add(std::initializer_list<double> values) { values_.insert(values_.end(), values); }
  void add_sizes(const Shape& shape) {
    for (int i = 1; i <= static_cast<int>(kSizes); ++i)
      values_.push_back(i <= shape.rank() ? static_cast<double>(shape[shape.rank() - i]) : 0);
  }
  static double over(const Shape& shape, int axis) {
    return axis >= 0 && axis < shape.rank() ? static_cast<double>(shape[axis] % kLanes) : 0;
  }
  static double stride(const Shape& data, const Shape& result) {
    if (data.rank() == 0 || result.rank() == 0 || result[result.rank() - 1] == 0) return 0;
    return std::round(static_cast<double>(data[data.rank() - 1]) / static_cast<double>(result[result.rank() - 1]));
  }
  static double groups(const Shape& data, const Shape& second) {
    if (data.rank() < 2 || second.rank() < 2 || second[1] == 0 || data[1] % second[1] != 0) return 0;
    return static_cast<double>(data[1] / second[1]);
  }
  void add_numbers() {
    double sum = 0, product = 1;
    const auto count = [&](std::int64_t number) {
      sum += static_cast<double>(std::abs(number));
      if (number != 0) product = std::min(product * static_cast<double>(std::abs(number)), kMostNumber);
    };
    for (const ParamValue& value : application_.params.values()) {
      if (const auto* number = std::get_if<std::int64_t>(&value)) count(*number);
      if (const auto* numbers = std::get_if<std::vector<std::int64_t>>(&value)) std::ranges::for_each(*numbers, count);
    }
    add({std::min(sum, kMostNumber), product});
  }

  const Kernel& kernel_;
  const Application& application_;
  std::size_t at_;
  std::span<const bool> is_inside_;
  std::vector<double> values_;
};

std::vector<std::string> names_of_columns() {
  std::vector<std::string> names = {"operations", "bytes", "weight_bytes", "operands",
                                    "weights",    "out",   "data",         "second"};
  for (const char* of : {"out", "data", "second"}) {
    for (std::size_t i = 1; i <= kSizes; ++i) names.push_back(fmt::format("{}_{}", of, i));
  }
  for (const char* name :
       {"out_over", "second_over", "channels_over", "stride", "groups", "intensity", "numbers", "product"})
    names.emplace_back(name);
  return names;
}

}  // namespace

const std::vector<std::string>& kernel_columns() {
  static const std::vector<std::string> names = names_of_columns();
  return names;
}

tune::Features features_of(const Kernel& kernel, std::span<const std::string> kinds) {
  constexpr std::size_t kMostResults = 64;
  struct Inside {
    bool of[kMostResults] = {};
  };
  std::vector<Inside> inside(kernel.applications.size());
  tune::Features features;
  for (std::uint32_t i = 0; i < kernel.applications.size(); ++i) {
    for (std::size_t k = 0; k < kernel.applications[i].in.size(); ++k) {
      const Kernel::Source source = kernel.source(i, k);
      if (source.is_outside()) continue;
      if (source.output < kMostResults) inside[source.application].of[source.output] = true;
      features.reads.emplace_back(i, source.application);
    }
  }
  for (std::size_t i = 0; i < kernel.applications.size(); ++i) {
    features.stages.push_back(Row(kernel, i, inside[i].of).values());
    const auto found = std::ranges::find(kinds, kernel.applications[i].op.name());
    features.kinds.push_back(found == kinds.end() ? 0 : found - kinds.begin());
  }
  return features;
}

}  // namespace rewright::learn
