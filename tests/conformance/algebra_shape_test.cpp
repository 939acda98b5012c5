// Every loaded operator refuses what does not fit in a sentence, and its shape rule says the same over numbers, sizes
// with cuts and symbols.
#include "conformance/algebra_applications.h"
#include "support/operators.h"

#include <gmock/gmock.h>

#include <filesystem>
#include <fstream>
#include <optional>
#include <regex>
#include <set>

namespace rewright::testing {
namespace {

constexpr std::uint64_t kSeed = 20261121;

TEST(EveryOperator, IsLoadedFromEachSourceFile) {
  std::set<std::string> sources, loaded_names;
  for (const auto& entry : std::filesystem::directory_iterator(REWRIGHT_SOURCE_DIR "/operators")) {
    if (entry.path().extension() == ".cpp") sources.insert(entry.path().stem().string());
  }
  for (const Operator* op : loaded().all<Operator>()) loaded_names.insert(op->name());
  EXPECT_THAT(loaded_names, ::testing::IsSupersetOf(sources));
  EXPECT_GE(sources.size(), 16U);
}

TEST(EveryOperator, CitesAxiomFilesThatSpeakOfIt) {
  const std::filesystem::path tree = REWRIGHT_SOURCE_DIR;
  const auto text_of_file = [](const std::filesystem::path& path) {
    std::ifstream stream(path);
    return std::string(std::istreambuf_iterator<char>(stream), {});
  };
  std::size_t cited = 0;
  for (const Operator* op : loaded().all<Operator>()) {
    const std::string source = text_of_file(tree / "operators" / (op->name() + ".cpp"));
    static const std::regex kFile("axioms/[a-z_]+[.]smt2");
    for (auto it = std::sregex_iterator(source.begin(), source.end(), kFile); it != std::sregex_iterator(); ++it) {
      const std::string axioms = text_of_file(tree / it->str());
      EXPECT_THAT(axioms, ::testing::HasSubstr("(" + op->name())) << it->str();
      ++cited;
    }
  }
  EXPECT_GE(cited, 16U);
}

TEST(EveryOperator, RefusesAWrongNumberOfOperands) {
  for (const Operator* op : loaded().all<Operator>()) {
    const OperatorInfo& info = op->info();
    const auto found = ApplicationSource(*op, kSeed).accepted(1, 1000, 200'000);
    ASSERT_EQ(found.size(), 1U) << op->name() << ": no operands were found that it takes";
    for (const int arity : {info.min_arity - 1, info.max_arity < 0 ? -1 : info.max_arity + 1}) {
      if (arity < 0) continue;
      const std::vector<Shape> in(static_cast<std::size_t>(arity), Shape{2, 2});
      const auto refused = op->infer(found[0].params, in);
      ASSERT_FALSE(refused) << op->name() << " takes " << arity << " operands";
      EXPECT_EQ(refused.error().code, ErrorCode::kShape);
      EXPECT_THAT(refused.error().message, ::testing::StartsWith(op->name() + ": "));
    }
  }
}

TEST(EveryOperator, RefusesWhatDoesNotFitInASentenceThatNamesIt) {
  for (const Operator* op : loaded().all<Operator>()) {
    ApplicationSource source(*op, kSeed);
    int refused = 0;
    for (int i = 0; i < 1000; ++i) {
      const Application drawn = source.draw();
      const auto out = op->infer(drawn.params, drawn.in);
      if (out) continue;
      ++refused;
      EXPECT_EQ(out.error().code, ErrorCode::kShape) << to_string(drawn) << ": " << out.error().message;
      EXPECT_THAT(out.error().message, ::testing::StartsWith(op->name() + ": "));
      EXPECT_GT(out.error().message.size(), op->name().size() + 8) << "no sentence: " << out.error().message;
    }
    const bool takes_anything =
        op->info().max_arity == 1 && std::ranges::all_of(op->info().params, [](const ParamSpec& spec) {
          return spec.kind == ParamKind::kReal;  // leaky_relu[alpha=..]
        });
    EXPECT_TRUE(refused > 0 || takes_anything) << op->name() << " refused nothing";
  }
}

/// Each size of each operand as a variable, and each size parameter too if `symbolic_params`.
struct Symbols {
  Symbols(const Application& application, bool symbolic_params) : params(to_symbolic(application.params)) {
    for (std::size_t i = 0; i < application.in.size(); ++i) {
      SymbolicShape shape;
      for (const std::int64_t size : application.in[i]) shape.append(variable(size));
      in.push_back(std::move(shape));
    }
    if (!symbolic_params) return;
    std::vector<BasicParamValue<SymbolicDim>> values(params.values().begin(), params.values().end());
    for (auto& value : values) {
      if (auto* sizes = std::get_if<SizeList<SymbolicDim>>(&value)) {
        for (SymbolicDim& size : sizes->values) size = variable(size.constant().value());
      }
    }
    params = SymbolicParams(std::move(values));
  }
  SymbolicDim variable(std::int64_t value) {
    const std::string name = fmt::format("x{}.0", values.size());
    values[name] = value;
    return SymbolicDim::variable(name);
  }
  DimBinding binding() const {
    return [this](std::string_view name) -> std::optional<std::int64_t> { return values.at(std::string(name)); };
  }

  std::map<std::string, std::int64_t> values;
  SymbolicParams params;
  std::vector<SymbolicShape> in;
};

/// What the rule over symbols says at these numbers: the output shapes, or nothing if it is not defined there.
std::optional<std::vector<Shape>> at_numbers(const Operator& op, const Symbols& symbols) {
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

TEST(EveryOperator, HasOneShapeRuleForNumbersCutsAndSymbols) {
  for (const Operator* op : loaded().all<Operator>()) {
    ApplicationSource source(*op, kSeed);
    std::vector<Application> applications = source.accepted(60, 1'000'000, 200'000);
    EXPECT_GE(applications.size(), 20U) << op->name();
    for (int i = 0; i < 1000; ++i) applications.push_back(source.draw());
    for (const Application& application : applications) {
      SCOPED_TRACE(to_string(application));
      const auto numbers = op->infer(application.params, application.in);
      const auto expected = numbers ? std::optional(*numbers) : std::nullopt;

      std::vector<CutShape> cut_in;
      for (const Shape& shape : application.in) cut_in.emplace_back(std::vector<CutDim>(shape.begin(), shape.end()));
      const auto cuts = op->infer(application.params, std::span<const CutShape>(cut_in));
      std::optional<std::vector<Shape>> cut_out;
      if (cuts) {
        cut_out.emplace();
        for (const CutShape& shape : *cuts) {
          Shape& extents = cut_out->emplace_back();
          for (const CutDim& dim : shape) extents.append(dim.extent());
        }
      }
      EXPECT_EQ(cut_out, expected) << "over sizes with cuts";
      EXPECT_EQ(at_numbers(*op, Symbols(application, false)), expected) << "over symbols";
      const Symbols all(application, true);
      Constraints<SymbolicDim> where;
      if (op->infer(all.params, all.in, where)) {  // Some ask for size parameters that are numbers.
        EXPECT_EQ(at_numbers(*op, all), expected) << "over symbols, size parameters too";
      }
      if (HasFailure()) return;
    }
  }
}

TEST(EveryOperator, PrintsParametersThatReadBack) {
  for (const Operator* op : loaded().all<Operator>()) {
    const auto& specs = op->info().params;
    for (const Application& application : ApplicationSource(*op, kSeed).accepted(20, 1000, 100'000)) {
      const std::string text = rewright::to_string(specs, application.params);
      const auto read = parse_params(op->name(), specs, text);
      ASSERT_TRUE(read) << op->name() << text << ": " << read.error().message;
      EXPECT_EQ(*read, to_symbolic(application.params)) << op->name() << text;
    }
  }
}

}  // namespace
}  // namespace rewright::testing
