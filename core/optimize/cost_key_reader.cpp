// Reads the key of a kernel (optimize/cost_key.h has the grammar).
#include <rewright/optimize/cost_key.h>
#include <rewright/plugin/registry.h>

#include <charconv>
#include <optional>
#include <utility>

namespace rewright {
namespace {

class KeyReader {
 public:
  KeyReader(std::string_view key, const Registry& registry, std::span<const std::int64_t> sizes)
      : whole_(key), rest_(key), registry_(registry), sizes_(sizes) {}

  Result<OwnedKernel> read() {
    OwnedKernel kernel;
    do {
      Part part;
      std::vector<Join> joins;
      if (kernel.size() > 0) REWRIGHT_CHECK(read_joins(kernel, joins));
      REWRIGHT_CHECK(read_application(part));
      REWRIGHT_CHECK(join(kernel, joins, part));
      kernel.add(std::move(part));
    } while (take('+'));
    if (!rest_.empty()) return expected("'+' or the end");
    return kernel;
  }

 private:
  using Part = OwnedKernel::Part;
  struct Join {
    std::uint32_t operand;
    Kernel::Source source;
  };

  [[nodiscard]] Error expected(std::string_view what) const {
    return make_error(ErrorCode::kParse, "the kernel's key '{}' has '{}' at {}; expected {}", whole_,
                      rest_.substr(0, 20), whole_.size() - rest_.size(), what);
  }
  bool take(char letter) {
    if (!rest_.starts_with(letter)) return false;
    rest_.remove_prefix(1);
    return true;
  }
  bool take(std::string_view word) {
    if (!rest_.starts_with(word)) return false;
    rest_.remove_prefix(word.size());
    return true;
  }
  template <class Number>
  Result<Number> number() {
    Number value{};
    const auto [end, error] = std::from_chars(rest_.data(), rest_.data() + rest_.size(), value);
    if (error != std::errc()) return expected("a number");
    rest_.remove_prefix(static_cast<std::size_t>(end - rest_.data()));
    return value;
  }

  Status read_joins(const OwnedKernel& before, std::vector<Join>& joins) {
    if (rest_.starts_with('|')) return {};
    do {
      REWRIGHT_TRY(const auto operand, number<std::uint32_t>());
      Kernel::Source source{static_cast<std::uint32_t>(before.size() - 1), 0};
      if (take(':')) {
        REWRIGHT_TRY(source.application, number<std::uint32_t>());
      }
      if (take('.')) {
        REWRIGHT_TRY(source.output, number<std::uint32_t>());
      }
      if (source.application >= before.size()) return expected("an application before this one");
      joins.push_back({operand, source});
    } while (take(','));
    return {};
  }
  Status read_application(Part& part) {
    if (!take('|')) return expected("'|'");
    const std::size_t end = rest_.find_first_of("[|");
    if (end == std::string_view::npos) return expected("an operator and '|'");
    const std::string name(rest_.substr(0, end));
    REWRIGHT_TRY(part.op, registry_.get<Operator>(name));
    rest_.remove_prefix(end);
    REWRIGHT_CHECK(read_params(part));
    if (!take('|')) return expected("'|'");
    while (rest_.starts_with("data") || rest_.starts_with("weight")) REWRIGHT_CHECK(read_operand(part));
    while (take('@')) REWRIGHT_CHECK(read_order(part));
    return {};
  }
  Status read_params(Part& part) {
    std::size_t length = 0, depth = 0;
    for (; length < rest_.size(); ++length) {
      if (rest_[length] == '[') ++depth;
      if (rest_[length] == ']' && --depth == 0) break;
      if (depth == 0) break;
    }
    if (depth > 0) return expected("parameters that end with ']'");
    if (length > 0) ++length;
    REWRIGHT_TRY(const SymbolicParams params,
                 parse_params(part.op->name(), part.op->info().params, rest_.substr(0, length)));
    const std::optional<Params> numbers = evaluate(params, [&](SizeVar size) { return size_called(size.text()); });
    if (!numbers) return expected("parameters whose sizes are given");
    part.params = *numbers;
    rest_.remove_prefix(length);
    return {};
  }
  Status read_operand(Part& part) {
    part.kinds.push_back(take("weight") ? InputKind::kWeight : InputKind::kData);
    if (part.kinds.back() == InputKind::kData) take("data");
    if (!take('(')) return expected("'('");
    Shape shape;
    while (!take(')')) {
      if (shape.rank() > 0 && !take(", ")) return expected("', ' or ')'");
      REWRIGHT_TRY(const std::int64_t size, read_size());
      shape.append(size);
    }
    part.in.push_back(shape);
    return {};
  }
  Result<std::int64_t> read_size() {
    if (rest_.starts_with('-')) return expected("a size");
    if (!rest_.starts_with('s')) return number<std::int64_t>();
    const std::size_t length = std::min(rest_.find_first_of(",)"), rest_.size());
    const auto known = size_called(rest_.substr(0, length));
    if (!known) return expected("a size that is given");
    rest_.remove_prefix(length);
    return *known;
  }
  /// "s3" is the fourth of those that are given.
  [[nodiscard]] std::optional<std::int64_t> size_called(std::string_view name) const {
    std::size_t at = 0;
    if (!name.starts_with('s')) return std::nullopt;
    const auto [end, error] = std::from_chars(name.data() + 1, name.data() + name.size(), at);
    if (error != std::errc() || end != name.data() + name.size() || at >= sizes_.size()) return std::nullopt;
    return sizes_[at];
  }
  /// One digit an axis; a block's size, with its minus, at the end.
  Status read_order(Part& part) {
    AxisOrder order;
    while (!rest_.empty() && rest_.front() >= '0' && rest_.front() <= '9') {
      order.push_back(rest_.front() - '0');
      rest_.remove_prefix(1);
    }
    if (rest_.starts_with('-')) {
      REWRIGHT_TRY(const int block, number<int>());
      order.push_back(block);
    }
    part.orders.push_back(std::move(order));
    return {};
  }

  /// Puts what is joined in its place, if the operands fit the operator and what is joined its source.
  Status join(const OwnedKernel& before, const std::vector<Join>& joins, Part& part) const {
    part.sources.resize(part.in.size());
    for (const auto& [operand, source] : joins) {
      if (operand >= part.in.size()) return expected("as many operands as are joined");
      const Part& maker = before.part(source.application);
      REWRIGHT_TRY(const std::vector<Shape> made, maker.op->infer(maker.params, maker.in));
      if (source.output >= made.size() || made[source.output] != part.in[operand])
        return make_error(ErrorCode::kShape, "the kernel's key '{}' joins shapes that differ", whole_);
      part.sources[operand] = source;
    }
    REWRIGHT_TRY([[maybe_unused]] const auto out, part.op->infer(part.params, part.in));
    return {};
  }

  std::string_view whole_, rest_;
  const Registry& registry_;
  std::span<const std::int64_t> sizes_;
};

}  // namespace

Result<OwnedKernel> from_key(std::string_view key, const Registry& registry, std::span<const std::int64_t> sizes) {
  return KeyReader(key, registry, sizes).read();
}

std::vector<std::string> chain_of(const Kernel& kernel) {
  std::vector<std::string> names;
  for (std::uint32_t i = 0; i < kernel.applications.size(); ++i) {
    std::size_t inner = 0;
    for (std::size_t k = 0; k < kernel.applications[i].in.size(); ++k) {
      const Kernel::Source source = kernel.source(i, k);
      if (source.is_outside()) continue;
      if (source != Kernel::Source{i - 1, 0} || ++inner > 1) return {};
    }
    if (inner != (i == 0 ? 0U : 1U)) return {};
    names.push_back(kernel.applications[i].op.name());
  }
  return names;
}

}  // namespace rewright
