// Parameters: defaults, text form, and the sentences for those that do not fit.
#include <rewright/operator/params.h>

#include <gtest/gtest.h>

namespace rewright {
namespace {

const std::vector<ParamSpec> kSpecs = {
    {.name = "axis", .kind = ParamKind::kInt, .default_value = std::int64_t{0}},
    {.name = "strides", .kind = ParamKind::kInts, .default_value = std::vector<std::int64_t>{1, 1}},
    {.name = "sizes", .kind = ParamKind::kSizes, .required = true},
    {.name = "padding", .kind = ParamKind::kChoice, .default_value = std::int64_t{0}, .choices = {"same", "valid"}},
    {.name = "epsilon", .kind = ParamKind::kReal, .default_value = 0.5},
};

SymbolicParams parsed(std::string_view text) {
  const auto params = parse_params("op", kSpecs, text);
  EXPECT_TRUE(params) << params.error().message;
  return *params;
}
std::string error_of(std::string_view text) {
  const auto params = parse_params("op", kSpecs, text);
  return params ? "no error" : params.error().message;
}

TEST(Params, TextParsesBackAndLeavesDefaultsOut) {
  for (const char* text :
       {"[sizes=[2, 3]]", "[axis=-1, strides=[2, 1], sizes=[x.0, 2*y.1 + 1], padding=valid, epsilon=1e-05]",
        "[sizes=[floor((x.0 + 1) / 2) - 1]]", "[sizes=[]]", "[sizes=[1], epsilon=1/6]", "[sizes=[1], epsilon=-2/3]",
        "[sizes=[1], epsilon=inf]"}) {
    EXPECT_EQ(to_string(std::span<const ParamSpec>(kSpecs), parsed(text)), text);
  }
  EXPECT_EQ(to_string(std::span<const ParamSpec>(kSpecs), parsed("[axis=0, padding=same, sizes=[1]]")), "[sizes=[1]]");
}

TEST(Params, ARealNumberIsWrittenAsWhatItMeans) {
  EXPECT_EQ(parsed("[sizes=[1], epsilon=1/6]").real(4), 1.0 / 6);
  EXPECT_EQ(to_string(std::span<const ParamSpec>(kSpecs), parsed("[sizes=[1], epsilon=0.16666666666666666]")),
            "[sizes=[1], epsilon=1/6]");
  EXPECT_EQ(to_string(std::span<const ParamSpec>(kSpecs), parsed("[sizes=[1], epsilon=2/4]")), "[sizes=[1]]");
  const std::vector<NamedParam> named = {{"sizes", std::vector<std::int64_t>{1}}, {"epsilon", "1/6"}};
  const auto params = make_params("op", kSpecs, named);
  ASSERT_TRUE(params) << params.error().message;
  EXPECT_EQ(params->real(4), 1.0 / 6);
  EXPECT_EQ(error_of("[sizes=[1], epsilon=1/0]"),
            "op: parameter 'epsilon': '1/0' is no fraction of two whole numbers below 2^63");
  EXPECT_EQ(error_of("[sizes=[1], epsilon=a]"), "op: parameter 'epsilon' is 'a', but must be a number");
}

TEST(Params, SizesAreEvaluatedWhereTheyAreBound) {
  const DimBinding binding = [](SizeVar name) -> std::optional<std::int64_t> {
    if (name.text() == "x.0") return 5;
    return std::nullopt;
  };
  const auto params = evaluate(parsed("[sizes=[x.0, x.0 - 2]]"), binding);
  ASSERT_TRUE(params);
  EXPECT_EQ(params->sizes(2), (std::vector<std::int64_t>{5, 3}));
  EXPECT_FALSE(evaluate(parsed("[sizes=[y.0]]"), binding));
  EXPECT_EQ(to_symbolic(*params), parsed("[sizes=[5, 3]]"));
}

TEST(Params, MistakesAreNamed) {
  EXPECT_EQ(error_of("sizes=[1]"), "op: parameters 'sizes=[1]' must stand in [ ]");
  EXPECT_EQ(error_of("[size=[1]]"), "op: has no parameter 'size'; it takes axis, strides, sizes, padding, epsilon");
  EXPECT_EQ(error_of("[axis=1]"), "op: parameter 'sizes' is missing; it must be a list of sizes");
  EXPECT_EQ(error_of("[axis=1.5, sizes=[1]]"), "op: parameter 'axis' is '1.5', but must be an integer");
  EXPECT_EQ(error_of("[axis=99999999999999999999, sizes=[1]]"),
            "op: parameter 'axis' is '99999999999999999999', but must be an integer");
  EXPECT_EQ(error_of("[padding=full, sizes=[1]]"), "op: parameter 'padding' is 'full', but must be one of same, valid");
  EXPECT_EQ(error_of("[sizes=[1], sizes=[2]]"), "op: parameter 'sizes' is given twice");
  EXPECT_EQ(error_of("[sizes=3]"), "op: parameter 'sizes' is '3', but must be a list of sizes");
  EXPECT_EQ(error_of("[sizes]"), "op: found 'sizes' among the parameters, expected name=value");
}

TEST(Params, NamedValuesAreChecked) {
  const NamedParam good[] = {
      {"sizes", std::vector<std::int64_t>{4}}, {"padding", std::string("valid")}, {"epsilon", std::int64_t{1}}};
  const auto params = make_params("op", kSpecs, good);
  ASSERT_TRUE(params) << params.error().message;
  EXPECT_EQ(params->choice(3), 1);
  EXPECT_EQ(params->real(4), 1.0);
  EXPECT_EQ(params->integers(1), (std::vector<std::int64_t>{1, 1}));
  const NamedParam wrong[] = {{"sizes", std::int64_t{4}}};
  EXPECT_EQ(make_params("op", kSpecs, wrong).error().message, "op: parameter 'sizes' must be a list of sizes");
  const std::vector<NamedParam> sized = {{"sizes", std::vector<std::int64_t>{4}}};
  const auto refusal = [&](const NamedParam& param) {
    std::vector<NamedParam> given = sized;
    given.push_back(param);
    const auto made = make_params("op", kSpecs, given);
    return made ? "no error" : made.error().message;
  };
  EXPECT_EQ(refusal({"axis", 1.5}), "op: parameter 'axis' must be an integer");
  EXPECT_EQ(refusal({"strides", std::int64_t{1}}), "op: parameter 'strides' must be a list of integers");
  EXPECT_EQ(refusal({"epsilon", std::string("small")}), "op: parameter 'epsilon' must be a number");
  EXPECT_EQ(refusal({"padding", 1.0}), "op: parameter 'padding' must be one of same, valid");
  EXPECT_EQ(refusal({"stride", std::int64_t{1}}),
            "op: has no parameter 'stride'; it takes axis, strides, sizes, padding, epsilon");
  EXPECT_EQ(make_params("op", kSpecs, {}).error().message,
            "op: parameter 'sizes' is missing; it must be a list of sizes");
  EXPECT_EQ(make_params("op", {}, sized).error().message, "op: has no parameter 'sizes'; it takes none");
  const NamedParam out_of_range[] = {{"sizes", std::vector<std::int64_t>{4}}, {"padding", std::int64_t{2}}};
  EXPECT_EQ(make_params("op", kSpecs, out_of_range).error().message,
            "op: parameter 'padding' must be one of same, valid");
}

}  // namespace
}  // namespace rewright
