// The schedules of experiments/schedules can be applied to the kernels of cases.toml at their sizes, and change no
// value: over the prime field, interpreted, and as compiled vectors over the integers modulo 2^32.
#include <rewright/base/toml.h>
#include <rewright/loop/target.h>
#include <rewright/plugin/registry.h>

#include <gtest/gtest.h>

#include <map>
#include <string>

#include "base/files.h"
#include "loop/compiled_run.h"
#include "loop/interpreter.h"
#include "loop/lower.h"
#include "loop/validator.h"
#include "schedule/apply.h"
#include "schedule/schedule_space.h"
#include "support/random_definitions.h"

namespace {

using namespace rewright;
using loop::Program;
using Numbers = std::map<std::string, std::int64_t>;

std::string text_of(const std::string& name) {
  auto text = read_file(std::string(REWRIGHT_SOURCE_DIR) + "/experiments/schedules/" + name);
  EXPECT_TRUE(text) << text.error().message;
  return text ? *text : "";
}

Program program_of(const std::string& name, const Numbers& sizes) {
  const auto program = loop::parse_program(text_of(name + ".loop"));
  EXPECT_TRUE(program) << name << ": " << program.error().message;
  return loop::specialised(*program, [&](const SizeVar& size) -> std::optional<std::int64_t> {
    const auto at = sizes.find(size.text());
    return at == sizes.end() ? std::nullopt : std::optional(at->second);
  });
}

schedule::Schedule schedule_of(const std::string& name, const Numbers& knobs) {
  auto space = schedule::parse_space(text_of(name + ".schedule"));
  EXPECT_TRUE(space) << name << ": " << space.error().message;
  for (const auto& [knob, value] : knobs) {
    const auto given = schedule::give(*space, knob + "=" + std::to_string(value));
    EXPECT_TRUE(given) << name << ": " << given.error().message;
  }
  const auto choices = schedule::given_choices(*space);
  EXPECT_TRUE(choices) << name << ": " << choices.error().message;
  const auto steps = schedule::schedule_of(*space, *choices);
  EXPECT_TRUE(steps) << name << ": " << steps.error().message;
  return *steps;
}

Numbers numbers_of(const toml::table& table) {
  Numbers all;
  for (const auto& [key, value] : table) all[std::string(key.str())] = value.value_or(std::int64_t{0});
  return all;
}

TEST(ShippedSchedules, ApplyToEveryCaseAndStayInside) {
  const auto table = parse_toml(text_of("cases.toml"), "cases.toml");
  ASSERT_TRUE(table) << table.error().message;
  const auto* cases = (*table)["case"].as_array();
  ASSERT_NE(cases, nullptr);
  EXPECT_GT(cases->size(), 40U);
  for (const auto& node : *cases) {
    const toml::table& given = *node.as_table();
    const std::string name = given["name"].value_or(std::string());
    for (const char* lanes : {"8", "16"}) {
      const auto at = [&](const std::string& key) {
        return given.contains(key + lanes) ? given[key + lanes] : given[key];
      };
      const auto stem = [&](const char* key) {
        const std::string file = at(key).value_or(std::string());
        return file.substr(0, file.rfind('.'));
      };
      const Program program = program_of(stem("program"), numbers_of(*at("sizes").as_table()));
      const auto made = schedule::apply(program, schedule_of(stem("schedule"), numbers_of(*at("knobs").as_table())));
      ASSERT_TRUE(made) << name << ": " << made.error().message;
      const auto valid = loop::validate(made->program, 1000);
      EXPECT_TRUE(valid || valid.error().code == ErrorCode::kBudget) << name << ": " << valid.error().message;
    }
  }
}

struct Small {
  const char* program;
  const char* schedule;
  Numbers sizes, knobs;
};

const Small kSmall[] = {
    {"matmul", "matmul", {{"M", 8}, {"N", 32}, {"K", 5}}, {{"ti", 4}, {"tj", 16}}},
    {"product", "product", {{"M", 8}, {"N", 37}, {"K", 5}, {"V", 16}}, {{"ti", 4}, {"tj", 16}}},
    {"product", "product", {{"M", 3}, {"N", 128}, {"K", 5}, {"V", 16}}, {{"ti", 1}, {"tj", 64}}},
    {"product", "product-tails", {{"M", 11}, {"N", 35}, {"K", 7}, {"V", 16}}, {{"ti", 4}, {"tj", 16}}},
    {"../tuning/product", "product-cuts", {{"M", 11}, {"N", 35}, {"K", 3}}, {{"ti", 4}, {"tt", 3}, {"tj", 16}}},
    {"product", "product-blocks", {{"M", 24}, {"N", 33}, {"K", 3}, {"V", 16}}, {{"ti", 4}, {"tj", 16}, {"mc", 8}}},
    {"convolution",
     "convolution",
     {{"G", 2}, {"Cb", 2}, {"Ci", 3}, {"Ob", 2}, {"V", 16}, {"OH", 3}, {"OW", 8}, {"S", 2}, {"KH", 3}, {"KW", 3}},
     {{"to", 2}, {"tw", 4}}},
    {"convolution",
     "convolution-by-channels",
     {{"G", 1}, {"Cb", 4}, {"Ci", 2}, {"Ob", 2}, {"V", 16}, {"OH", 3}, {"OW", 4}, {"S", 1}, {"KH", 3}, {"KW", 3}},
     {{"to", 2}, {"tw", 2}, {"tc", 2}}},
    {"convolution",
     "convolution-by-places",
     {{"G", 1}, {"Cb", 2}, {"Ci", 4}, {"Ob", 3}, {"V", 16}, {"OH", 2}, {"OW", 14}, {"S", 1}, {"KH", 1}, {"KW", 1}},
     {{"to", 1}, {"tw", 7}}},
    {"depthwise",
     "depthwise",
     {{"Cb", 2}, {"V", 8}, {"OH", 3}, {"OW", 4}, {"S", 2}, {"KH", 3}, {"KW", 3}},
     {{"tw", 2}}},
    {"grouped",
     "grouped",
     {{"Gb", 2}, {"n", 4}, {"V", 8}, {"OH", 2}, {"OW", 4}, {"S", 1}, {"KH", 3}, {"KW", 3}},
     {{"tw", 4}}},
    {"max-pool", "depthwise", {{"Cb", 2}, {"V", 8}, {"OH", 3}, {"OW", 4}, {"S", 2}, {"KH", 3}, {"KW", 3}}, {{"tw", 4}}},
    {"softmax", "softmax", {{"M", 3}, {"N", 64}}, {{"tj", 32}, {"lanes", 8}}},
    {"layernorm", "layernorm", {{"M", 3}, {"N", 64}}, {{"tj", 32}, {"lanes", 8}}},
    {"norm", "norm", {{"N", 128}}, {{"tj", 32}, {"lanes", 8}}},
    {"gelu", "gelu", {{"M", 2}, {"N", 29}}, {}},
};

TEST(ShippedSchedules, ChangeNoValue) {
  Registry registry;
  ASSERT_TRUE(registry.load_default());
  const Target* target = registry.find<Target>("c");
  ASSERT_NE(target, nullptr);
  loop::TargetOptions options;
  options.dialect = "vectors";
  std::uint64_t seed = 0;
  for (const Small& small : kSmall) {
    const Program plain = program_of(small.program, small.sizes);
    const auto made = schedule::apply(plain, schedule_of(small.schedule, small.knobs));
    ASSERT_TRUE(made) << small.schedule << ": " << made.error().message;
    const auto valid = loop::validate(made->program);
    EXPECT_TRUE(valid) << small.schedule << ": " << valid.error().message;

    auto expected = test_support::random_contents<Field>(plain.buffers, ++seed);
    auto found = test_support::random_contents<Field>(made->program.buffers, seed);
    for (std::size_t b = 0; b < plain.buffers.size(); ++b)
      if (plain.buffers[b].role != BufferRole::kTemporary) found[b] = expected[b];
    ASSERT_TRUE(interpret(plain, expected));
    ASSERT_TRUE(interpret(made->program, found));

    const Program integers = over_wrapping_integers(plain);
    auto wrapped = test_support::random_contents<loop::Wrapping>(integers.buffers, seed);
    std::vector<std::vector<double>> compiled(made->program.buffers.size());
    for (std::size_t b = 0; b < wrapped.size(); ++b)
      for (const loop::Wrapping& element : wrapped[b]) compiled[b].push_back(element.value);
    ASSERT_TRUE(interpret(integers, wrapped));
    const auto scheduled = schedule::apply(integers, schedule_of(small.schedule, small.knobs));
    ASSERT_TRUE(scheduled) << scheduled.error().message;
    const auto code = compile_one(*target, scheduled->program, options);
    ASSERT_TRUE(code) << code.error().message;
    ASSERT_TRUE(run_compiled(**code, scheduled->program, compiled));
    for (std::size_t b = 0; b < plain.buffers.size(); ++b) {
      if (plain.buffers[b].role != BufferRole::kOutput) continue;
      EXPECT_EQ(expected[b], found[b]) << small.schedule;
      for (std::size_t i = 0; i < wrapped[b].size(); ++i)
        ASSERT_EQ(wrapped[b][i].value, compiled[b][i]) << small.schedule << " at " << i;
    }
  }
}

}  // namespace
