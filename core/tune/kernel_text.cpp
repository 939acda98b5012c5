#include "tune/kernel_text.h"

#include <rewright/operator/operator.h>

#include <algorithm>
#include <charconv>
#include <map>

#include "base/scanner.h"

namespace rewright::tune {
namespace {

constexpr std::size_t kMostNesting = 200;

class KernelReader {
 public:
  KernelReader(std::string_view text, const Registry& registry)
      : scanner_(text), registry_(registry), builder_(&registry) {}

  Result<OwnedKernel> read() {
    REWRIGHT_CHECK(read_inputs());
    REWRIGHT_TRY(const std::vector<Port> ports, read_term(0));
    if (!scanner_.at_end()) return scanner_.expected("the end of the kernel");
    for (const Port& port : ports) builder_.output(port);
    const Graph graph = builder_.finish();
    std::vector<NodeId> applications;
    for (std::uint32_t i = 0; i < graph.nodes().size(); ++i) {
      if (!graph.nodes()[i].is_input()) applications.push_back({i});
    }
    if (applications.empty()) return make_error(ErrorCode::kParse, "the kernel applies no operator");
    return kernel_of(graph, applications);
  }

 private:
  Status read_inputs() {
    REWRIGHT_CHECK(scanner_.expect("(", "before the inputs, as in (x:64x32) relu(x)"));
    do {
      scanner_.skip_space();
      const std::size_t position = scanner_.position();
      const auto word = scanner_.identifier();
      if (!word) return scanner_.expected("the name of an input");
      const std::string name(*word);
      REWRIGHT_CHECK(scanner_.expect(":", "and the sizes of the input, as in x:64x32"));
      REWRIGHT_TRY(Shape shape, read_sizes());
      const InputKind kind = scanner_.take("weight") ? InputKind::kWeight : InputKind::kData;
      const auto port = builder_.input(name, {std::move(shape), ElementType::kFloat32}, kind);
      if (!port) return scanner_.error_at(position, port.error().code, port.error().message);
      ports_.emplace(name, *port);
    } while (scanner_.take(","));
    return scanner_.expect(")", "or ',' after an input");
  }

  /// 64x32: a number, then one word that holds the other sizes.
  Result<Shape> read_sizes() {
    Shape shape;
    scanner_.skip_space();
    const std::size_t position = scanner_.position();
    REWRIGHT_TRY(const std::int64_t first, scanner_.number("a size"));
    shape.append(first);
    if (scanner_.text().substr(scanner_.position()).starts_with('x')) {
      std::string_view rest = *scanner_.identifier();
      while (!rest.empty()) {
        std::int64_t size = 0;
        const auto [end, fault] = std::from_chars(rest.data() + 1, rest.data() + rest.size(), size);
        if (rest[0] != 'x' || fault != std::errc() || shape.rank() == kMaxRank) {
          return scanner_.error_at(position, ErrorCode::kParse,
                                   fmt::format("expected at most {} sizes, as in 64x32", kMaxRank));
        }
        shape.append(size);
        rest.remove_prefix(static_cast<std::size_t>(end - rest.data()));
      }
    }
    std::int64_t elements = 1;
    for (const std::int64_t size : shape) {
      if (size < 1 || __builtin_mul_overflow(elements, size, &elements) || elements > kMostElements) {
        return scanner_.error_at(position, ErrorCode::kParse, "an input has from 1 to 2^32 elements");
      }
    }
    return shape;
  }

  Result<std::vector<Port>> read_term(std::size_t depth) {
    scanner_.skip_space();
    const std::size_t position = scanner_.position();
    const auto word = scanner_.identifier();
    if (!word) return scanner_.expected("an input or an operator");
    if (!scanner_.sees("[") && !scanner_.sees("(")) {
      const auto known = ports_.find(*word);
      if (known != ports_.end()) return std::vector<Port>{known->second};
      return scanner_.error_at(position, ErrorCode::kParse, fmt::format("no input is named '{}'", *word));
    }
    if (depth > kMostNesting) return scanner_.error_at(position, ErrorCode::kParse, "operators are nested too deep");
    const auto op = registry_.get<Operator>(*word);
    if (!op) return scanner_.error_at(position, op.error().code, op.error().message);
    REWRIGHT_TRY(Params params, read_params(**op));
    std::vector<Port> operands;
    REWRIGHT_CHECK(scanner_.expect("(", "before the operands"));
    if (!scanner_.take(")")) {
      do {
        REWRIGHT_TRY(const std::vector<Port> ports, read_term(depth + 1));
        operands.insert(operands.end(), ports.begin(), ports.end());
      } while (scanner_.take(","));
      REWRIGHT_CHECK(scanner_.expect(")", "or ',' after an operand"));
    }
    auto ports = builder_.apply(**op, std::move(params), std::move(operands));
    if (!ports) return scanner_.error_at(position, ports.error().code, ports.error().message);
    return ports;
  }

  Result<Params> read_params(const Operator& op) {
    scanner_.skip_space();
    const std::size_t position = scanner_.position();
    std::string_view text;
    if (scanner_.sees("[")) {
      REWRIGHT_TRY(text, scanner_.brackets());
    }
    const auto symbolic = parse_params(op.name(), op.info().params, text);
    if (!symbolic) return scanner_.error_at(position, symbolic.error().code, symbolic.error().message);
    auto params = evaluate(*symbolic, [](SizeVar) { return std::nullopt; });
    if (!params) return scanner_.error_at(position, ErrorCode::kParse, "the sizes of a kernel are numbers");
    return *std::move(params);
  }

  static constexpr std::int64_t kMostElements = std::int64_t{1} << 32;

  Scanner scanner_;
  const Registry& registry_;
  GraphBuilder builder_;
  std::map<std::string, Port, std::less<>> ports_;
};

}  // namespace

Result<OwnedKernel> parse_kernel(std::string_view text, const Registry& registry) {
  return KernelReader(text, registry).read();
}

}  // namespace rewright::tune
