// The hot paths of the enumeration, one at a time, on the space of experiments/taso/generate-4.toml (two shapes an
// input, eight samples).
//
//   rewright_bench_kernels [--benchmark_filter=REGEX]
//
// Units    items_per_second: applications, reductions, products, graphs or fingerprints a second, on one core.
#include <benchmark/benchmark.h>

#include <cstdio>
#include <cstdlib>

#include "campaign/config.h"
#include "enumerate/fingerprints.h"
#include "enumerate/operator_space.h"
#include "enumerate/record.h"
#include "enumerate/walk.h"

namespace {

using namespace rewright;
using namespace rewright::enumeration;

const EnumerationConfig& config() {
  static Registry registry;
  static const EnumerationConfig kConfig = [] {
    const auto fail = [](const std::string& sentence) {
      std::fprintf(stderr, "%s\n", sentence.c_str());
      std::exit(2);
    };
    if (const Status status = registry.load_default(); !status) fail(status.error().message);
    auto campaign = load_campaign(REWRIGHT_SOURCE_DIR "/experiments/taso/generate-4.toml", registry);
    if (!campaign) fail(campaign.error().message);
    return campaign->enumeration;
  }();
  return kConfig;
}

/// An operator on two inputs of the space: the first choice of this name that is defined on them.
struct Application {
  Application(const char* name, const char* left, const char* right) : space(config()) {
    std::array<TypeId, 2> types{};
    for (std::size_t i = 0; i < space.inputs().size(); ++i) {
      const std::string& input = config().inputs[space.config_index(i)].name;
      for (std::size_t side = 0; side < 2; ++side) {
        if (input != (side == 0 ? left : right)) continue;
        types[side] = space.inputs()[i].type;
        operands[side].resize(space.words(types[side]));
        space.input(i, operands[side].data());
      }
    }
    for (ChoiceId choice = 0; choice < space.choices().size() && signature == nullptr; ++choice) {
      if (config().operators[choice].op->name() != name) continue;
      const Signature& found = space.signature(choice, std::span(types.data(), space.choices()[choice].arity));
      if (found.defined) signature = &found;
    }
    if (signature == nullptr) std::exit(2);
    result.resize(space.words(signature->outputs[0]));
  }

  OperatorSpace space;
  std::array<std::vector<Word>, 2> operands;
  std::vector<Word> result;
  const Signature* signature = nullptr;
};

void evaluate(benchmark::State& state, const char* name, const char* left, const char* right) {
  Application application(name, left, right);
  const Word* const in[] = {application.operands[0].data(), application.operands[1].data()};
  Word* const out[] = {application.result.data()};
  for (auto _ : state) {
    application.space.evaluate(*application.signature, in, out, Samples::kAll);
    benchmark::DoNotOptimize(application.result.data());
  }
  state.SetItemsProcessed(state.iterations());
}

void reduce(benchmark::State& state, const char* name, const char* left, const char* right) {
  Application application(name, left, right);
  std::vector<Word> reduction(application.signature->reduction);
  for (auto _ : state) {
    application.space.reduce(*application.signature, 0, application.operands[0].data(), reduction.data(),
                             Samples::kAll);
    benchmark::DoNotOptimize(reduction.data());
  }
  state.SetItemsProcessed(state.iterations());
}

void product(benchmark::State& state, const char* name, const char* left, const char* right) {
  Application application(name, left, right);
  std::vector<Word> a(application.signature->reduction), b(application.signature->reduction);
  application.space.reduce(*application.signature, 0, application.operands[0].data(), a.data(), Samples::kAll);
  application.space.reduce(*application.signature, 1, application.operands[1].data(), b.data(), Samples::kAll);
  for (auto _ : state)
    benchmark::DoNotOptimize(application.space.product(*application.signature, a.data(), b.data(), Samples::kAll));
  state.SetItemsProcessed(state.iterations());
}

void hash(benchmark::State& state) {
  OperatorSpace space(config());
  const TypeId type = space.inputs()[0].type;
  std::vector<Word> words(space.words(type));
  space.input(0, words.data());
  for (auto _ : state) benchmark::DoNotOptimize(space.hash(type, words.data(), Samples::kAll));
  state.SetItemsProcessed(state.iterations());
}

/// All graphs of exactly three operators, hashed.
void walk(benchmark::State& state) {
  Walk walk(OperatorSpace(config()).clone(), {.inputs_in_order = true, .connected = true, .keep_repetitions = true},
            4096);
  const std::vector<Unit> units = walk.units(3);
  std::int64_t graphs = 0;
  std::uint64_t sum = 0;
  for (auto _ : state) {
    for (const Unit& unit : units) {
      walk.run(3, unit, [&](const Leaf& leaf) {
        ++graphs;
        sum += leaf.fingerprint;
      });
    }
  }
  benchmark::DoNotOptimize(sum);
  state.SetItemsProcessed(graphs);
}

/// A million fingerprints stored, then counted; a tenth of them twice.
void fingerprints(benchmark::State& state) {
  constexpr std::uint64_t kCount = 1'000'000;
  for (auto _ : state) {
    FingerprintStore store(0, "/tmp");
    {
      FingerprintStore::Writer writer(store);
      for (std::uint64_t i = 0; i < kCount; ++i) writer.add(mix(i % (kCount / 10 * 9)));
    }
    std::vector<std::uint64_t> shared;
    benchmark::DoNotOptimize(store.count_distinct(&shared, 1).has_value());
  }
  state.SetItemsProcessed(static_cast<std::int64_t>(kCount) * state.iterations());
}

BENCHMARK_CAPTURE(evaluate, matmul, "matmul", "x1", "w1");
BENCHMARK_CAPTURE(evaluate, conv2d, "conv2d", "i1", "w4");
BENCHMARK_CAPTURE(evaluate, ewmul, "ewmul", "i1", "i2");
BENCHMARK_CAPTURE(evaluate, pool2d_max, "pool2d_max", "i1", "");
BENCHMARK_CAPTURE(evaluate, pool2d_avg, "pool2d_avg", "i1", "");
BENCHMARK_CAPTURE(reduce, matmul, "matmul", "x1", "w1");
BENCHMARK_CAPTURE(reduce, conv2d, "conv2d", "i1", "w4");
BENCHMARK_CAPTURE(product, matmul, "matmul", "x1", "w1");
BENCHMARK_CAPTURE(product, conv2d, "conv2d", "i1", "w4");
BENCHMARK(hash);
BENCHMARK(walk)->Unit(benchmark::kMillisecond);
BENCHMARK(fingerprints)->Unit(benchmark::kMillisecond);

}  // namespace

BENCHMARK_MAIN();
