// Shape rules: one for numbers, sizes with cuts and symbols; refusals; how parameters are written.
#include <rewright/operator/map_sizes.h>

#include <map>

#include "contract/operator_checks.h"

namespace rewright::contract {

namespace {

/// Each size of each operand as a variable, and each size parameter too if `symbolic_params`.
struct Symbols {
  Symbols(const Application& application, bool symbolic_params) : params(to_symbolic(application.params)) {
    for (const Shape& numbers : application.in) {
      SymbolicShape shape;
      for (const std::int64_t size : numbers) shape.append(variable(size));
      in.push_back(std::move(shape));
    }
    if (!symbolic_params) return;
    params = map_sizes(params, [&](const SymbolicDim& size) { return variable(size.constant().value()); });
  }
  SymbolicDim variable(std::int64_t value) {
    const SizeVar size = SizeVar::axis(fmt::format("x{}", values.size()), 0);
    values.emplace(size, value);
    return SymbolicDim::variable(size);
  }
  [[nodiscard]] DimBinding binding() const {
    return [this](SizeVar size) -> std::optional<std::int64_t> { return values.at(size); };
  }

  std::map<SizeVar, std::int64_t> values;
  SymbolicParams params;
  std::vector<SymbolicShape> in;
};

using Shapes = std::optional<std::vector<Shape>>;

std::string text_of(const Shapes& shapes) {
  if (!shapes) return "refused";
  std::string text;
  for (const Shape& shape : *shapes) text += (text.empty() ? "" : ", ") + rewright::to_string(shape);
  return text;
}

/// What the rule over symbols says at these numbers.
Shapes at_numbers(const Operator& op, const Symbols& symbols) {
  Constraints<SymbolicDim> where;
  const auto out = op.infer(symbols.params, symbols.in, where);
  if (!out) return std::nullopt;
  for (const Constraint& condition : where.conditions()) {
    if (!condition.holds(symbols.binding()).value()) return std::nullopt;
  }
  std::vector<Shape> shapes;
  for (const SymbolicShape& symbolic : *out) {
    Shape& shape = shapes.emplace_back();
    for (const SymbolicDim& dim : symbolic) shape.append(dim.evaluate(symbols.binding()).value());
  }
  return shapes;
}

Shapes over_cuts(const Application& application) {
  std::vector<CutShape> in;
  for (const Shape& shape : application.in) in.emplace_back(std::vector<CutDim>(shape.begin(), shape.end()));
  const auto out = application.op->infer(application.params, std::span<const CutShape>(in));
  if (!out) return std::nullopt;
  std::vector<Shape> shapes;
  for (const CutShape& cuts : *out) {
    Shape& extents = shapes.emplace_back();
    for (const CutDim& dim : cuts) extents.append(dim.extent());
  }
  return shapes;
}

Breach shape_rules_differ(const Application& application) {
  const Operator& op = *application.op;
  const auto numbers = op.infer(application.params, application.in);
  const Shapes expected = numbers ? Shapes(*numbers) : std::nullopt;
  const auto differ = [&](const char* over, const Shapes& found) -> Breach {
    if (found == expected) return std::nullopt;
    return fmt::format("over numbers {}, over {} {}", text_of(expected), over, text_of(found));
  };
  if (Breach breach = differ("sizes with cuts", over_cuts(application))) return breach;
  if (Breach breach = differ("symbols", at_numbers(op, Symbols(application, false)))) return breach;
  const Symbols all(application, true);
  Constraints<SymbolicDim> where;
  if (!op.infer(all.params, all.in, where)) return std::nullopt;  // Some ask for size parameters that are numbers.
  return differ("symbols, size parameters too,", at_numbers(op, all));
}

}  // namespace

Outcome refuses_in_sentences(const Operator& op) {
  const auto breach_of = [&](const Error& error) -> Breach {
    if (error.code != ErrorCode::kShape) return fmt::format("refused, but not with kShape: {}", error.message);
    if (!error.message.starts_with(op.name() + ": "))
      return fmt::format("the refusal does not begin with '{}: ': {}", op.name(), error.message);
    return error.message.size() > op.name().size() + 8 ? Breach() : "no sentence: " + error.message;
  };
  ApplicationSource source(op, kSeed);
  const auto found = source.accepted(1, 1000, kAttempts);
  if (found.empty()) return Outcome::broken("no operands were found that it takes");
  const OperatorInfo& info = op.info();
  for (const int arity : {info.min_arity - 1, info.max_arity < 0 ? -1 : info.max_arity + 1}) {
    if (arity < 0) continue;
    const auto refused = op.infer(found[0].params, std::vector<Shape>(static_cast<std::size_t>(arity), Shape{2, 2}));
    if (refused) return Outcome::broken(fmt::format("it takes {} operands", arity));
    if (const Breach breach = breach_of(refused.error())) return Outcome::broken(*breach);
  }
  int refused = 0;
  for (int i = 0; i < 1000; ++i) {
    const Application drawn = source.draw();
    const auto out = op.infer(drawn.params, drawn.in);
    if (out) continue;
    ++refused;
    if (const Breach breach = breach_of(out.error())) return Outcome::broken(to_string(drawn) + ": " + *breach);
  }
  return Outcome::kept(fmt::format("{} of 1,000 random applications refused", refused));
}

Outcome has_one_shape_rule(const Operator& op) {
  ApplicationSource source(op, kSeed);
  std::vector<Application> applications = source.accepted(60, 1'000'000, kAttempts);
  for (int i = 0; i < 1000; ++i) applications.push_back(source.draw());
  for (const Application& application : applications) {
    if (const Breach breach = shape_rules_differ(application))
      return Outcome::broken(to_string(application) + ": " + *breach);
  }
  return Outcome::kept(fmt::format("{} applications, taken or refused", applications.size()));
}

Breach does_not_read_back(const Application& application) {
  const auto& specs = application.op->info().params;
  const std::string text = rewright::to_string(specs, application.params);
  const auto read = parse_params(application.op->name(), specs, text);
  if (!read) return fmt::format("its parameters are written {}, which is refused: {}", text, read.error().message);
  if (*read == to_symbolic(application.params)) return std::nullopt;
  return fmt::format("its parameters are written {}, which is read as others", text);
}

}  // namespace rewright::contract
