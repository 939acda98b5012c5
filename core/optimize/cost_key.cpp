// Keys of kernels: written, with their sizes in place or apart.
#include <rewright/optimize/cost_key.h>

#include <fmt/ranges.h>

#include <algorithm>
#include <optional>

namespace rewright {
namespace {

/// The applications in an order that depends on the graph alone: from what no other takes backwards, operands from left
/// to right, each behind its own.
class CanonicalOrder {
 public:
  explicit CanonicalOrder(const Kernel& kernel) : kernel_(kernel), placed_(kernel.applications.size(), false) {
    std::vector<bool> is_taken(kernel.applications.size(), false);
    for (const Kernel::Source& source : kernel.sources)
      if (!source.is_outside()) is_taken[source.application] = true;
    std::vector<std::uint32_t> last;
    for (std::uint32_t i = 0; i < is_taken.size(); ++i)
      if (!is_taken[i]) last.push_back(i);
    std::ranges::stable_sort(last, {}, [&](std::uint32_t i) { return to_key(kernel.applications[i]); });
    for (const std::uint32_t i : last) place(i);
  }
  [[nodiscard]] const std::vector<std::uint32_t>& order() const { return order_; }

 private:
  void place(std::uint32_t application) {
    if (placed_[application]) return;
    placed_[application] = true;
    for (std::size_t k = 0; k < kernel_.applications[application].in.size(); ++k)
      if (const Kernel::Source source = kernel_.source(application, k); !source.is_outside()) place(source.application);
    order_.push_back(application);
  }
  const Kernel& kernel_;
  std::vector<bool> placed_;
  std::vector<std::uint32_t> order_;
};

class KeyWriter {
 public:
  /// Sizes go to `sizes`; null: they stay in the text.
  explicit KeyWriter(std::vector<std::int64_t>* sizes) : sizes_(sizes) {}

  void write(const Application& application) {
    text_ += fmt::format("|{}{}|", application.op.name(), params(application));
    for (std::size_t i = 0; i < application.in.size(); ++i) {
      text_ += application.kinds[i] == InputKind::kWeight ? "weight" : "data";
      text_ += sizes_ == nullptr ? fmt::format("{}", application.in[i]) : shape(application.in[i]);
    }
    for (const AxisOrder& order : application.orders) text_ += fmt::format("@{}", fmt::join(order, ""));
  }
  void write(const Kernel& kernel) {
    const CanonicalOrder canonical(kernel);
    std::vector<std::uint32_t> place(kernel.applications.size());
    for (std::uint32_t at = 0; at < place.size(); ++at) {
      const std::uint32_t application = canonical.order()[at];
      place[application] = at;
      if (at > 0) text_ += fmt::format("+{}", fmt::join(joins(kernel, application, place), ","));
      write(kernel.applications[application]);
    }
  }
  [[nodiscard]] std::string take() { return std::move(text_); }

 private:
  [[nodiscard]] static std::vector<std::string> joins(const Kernel& kernel, std::uint32_t application,
                                                      const std::vector<std::uint32_t>& place) {
    std::vector<std::string> all;
    for (std::size_t k = 0; k < kernel.applications[application].in.size(); ++k) {
      const Kernel::Source source = kernel.source(application, k);
      if (source.is_outside()) continue;
      std::string& join = all.emplace_back(fmt::format("{}", k));
      const bool is_before = place[source.application] + 1 == place[application];
      if (!is_before || source.output > 0) join += fmt::format(":{}", place[source.application]);
      if (source.output > 0) join += fmt::format(".{}", source.output);
    }
    return all;
  }
  [[nodiscard]] SymbolicDim named(std::int64_t size) {
    sizes_->push_back(size);
    return SymbolicDim::variable(SizeVar::read(fmt::format("s{}", sizes_->size() - 1)));
  }
  [[nodiscard]] std::string shape(const Shape& shape) {
    std::vector<std::string> names;
    for (const std::int64_t size : shape) names.push_back(to_string(named(size)));
    return fmt::format("({})", fmt::join(names, ", "));
  }
  [[nodiscard]] std::string params(const Application& application) {
    const std::vector<ParamSpec>& specs = application.op.info().params;
    if (sizes_ == nullptr) return to_string(specs, application.params);
    std::vector<BasicParamValue<SymbolicDim>> values;
    for (const ParamValue& value : application.params.values()) {
      const auto* list = std::get_if<SizeList<std::int64_t>>(&value);
      if (list == nullptr) {
        values.push_back(to_symbolic(Params({value}))[0]);
        continue;
      }
      SizeList<SymbolicDim> symbolic;
      for (const std::int64_t size : list->values) symbolic.values.push_back(named(size));
      values.emplace_back(std::move(symbolic));
    }
    return to_string(specs, SymbolicParams(std::move(values)));
  }

  std::vector<std::int64_t>* sizes_;
  std::string text_;
};

}  // namespace

std::string to_key(const Application& application) {
  KeyWriter writer(nullptr);
  writer.write(application);
  return writer.take();
}

std::string to_key(const Kernel& kernel) {
  KeyWriter writer(nullptr);
  writer.write(kernel);
  return writer.take();
}

KernelKey key_of(const Kernel& kernel) {
  KernelKey key;
  KeyWriter writer(&key.sizes);
  writer.write(kernel);
  key.structure = writer.take();
  return key;
}

}  // namespace rewright
