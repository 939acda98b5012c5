// The enumerator against a naive one: no order, no pruning, no hash-consing.
#include "enumerate/enumerator.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <functional>
#include <optional>
#include <random>
#include <set>
#include <thread>

#include "enumerate/record.h"
#include "support/operators.h"

namespace rewright {
namespace {

OperatorChoice choice(const std::string& name, const std::string& params = "") {
  const auto [op, values] = rewright::testing::call(name + params);
  return {op, values};
}

// --- the naive enumerator ----------------------------------------------------------------------------------------

struct NaiveTensor {
  CutShape shape;
  std::vector<std::vector<Field>> samples;

  [[nodiscard]] Shape plain() const {
    Shape result;
    for (const CutDim& dim : shape) result.append(dim.extent());
    return result;
  }
  /// What must be equal for two tensors to be the same number for number.
  [[nodiscard]] std::string content() const {
    std::string text = to_string(plain());
    for (const auto& sample : samples) {
      for (const Field element : sample) text += fmt::format(" {}", element.residue());
    }
    return text;
  }
};

struct NaiveApplication {
  std::vector<std::string> operands;
  std::vector<std::string> outputs;
};

/// Tensors and applications are known by their expression, written out.
class Naive {
 public:
  explicit Naive(const EnumerationConfig& config) : config_(config) {
    std::mt19937_64 random(config.seed * 77 + 5);
    for (const EnumerationInput& input : config.inputs) {
      NaiveTensor tensor;
      for (const std::int64_t size : input.shape) tensor.shape.append(CutDim(size));
      for (int sample = 0; sample < 40; ++sample) {
        std::vector<Field> elements;
        for (std::int64_t i = 0; i < input.shape.elements(); ++i) {
          const auto magnitude = static_cast<std::int64_t>(random() % 3 == 0 ? 1 : random() % 15 + 1);
          elements.push_back(Field::from_integer(random() % 2 == 0 ? magnitude : -magnitude) / Field::from_integer(2));
        }
        tensor.samples.push_back(std::move(elements));
      }
      tensors_[input.name] = std::move(tensor);
    }
  }

  /// A graph: the names of its applications, or for one without applications the names of its outputs.
  using Key = std::set<std::string>;
  struct Counts {
    std::uint64_t graphs = 0;
    std::uint64_t classes = 0;
  };
  struct Class {
    std::vector<Key> connected;               ///< Graphs that the enumerator is to visit.
    std::optional<std::size_t> fewest_apart;  ///< Operators of the smallest equal graph that falls apart.
  };

  std::vector<Counts> run() {
    std::vector<Counts> counts;
    add_wires();
    std::set<Key> level = {{}};
    for (int operators = 1; operators <= config_.max_operators; ++operators) {
      std::set<Key> next;
      for (const auto& graph : level) {
        for (const std::string& application : extensions(graph)) {
          auto extended = graph;
          if (extended.insert(application).second) next.insert(std::move(extended));
        }
      }
      std::uint64_t graphs = 0;
      for (const auto& graph : next) {
        if (!has_different_outputs(graph)) continue;
        add_beside_inputs(graph);
        if (!connected(graph)) {
          falls_apart(fingerprint(graph), graph.size());
        } else if (wanted(graph)) {
          ++graphs;
          classes_[fingerprint(graph)].connected.push_back(graph);
        }
      }
      const auto has_connected = [](const auto& each) { return !each.second.connected.empty(); };
      counts.push_back(
          {graphs, static_cast<std::uint64_t>(std::count_if(classes_.begin(), classes_.end(), has_connected))});
      level = std::move(next);
    }
    return counts;
  }
  [[nodiscard]] const std::map<std::string, Class>& classes() const { return classes_; }
  /// Do the graphs share an application?
  [[nodiscard]] static bool share(const Key& a, const Key& b) {
    return std::any_of(a.begin(), a.end(), [&](const std::string& name) {
      return name.find('(') != std::string::npos && b.contains(name);
    });
  }

 private:
  void add_wires() {
    for (std::size_t a = 0; a < config_.inputs.size(); ++a) {
      for (std::size_t b = a; b < config_.inputs.size(); ++b) {
        const Key used = {config_.inputs[a].name, config_.inputs[b].name};
        if (skips_no_input(used)) classes_[content_of({used.begin(), used.end()})].connected.push_back(used);
      }
    }
  }

  void falls_apart(const std::string& fingerprint, std::size_t operators) {
    auto& fewest = classes_[fingerprint].fewest_apart;
    fewest = std::min(fewest.value_or(operators), operators);
  }
  /// The graph and one input, or two, that are outputs as they are.
  void add_beside_inputs(const Key& graph) {
    for (std::size_t a = 0; a < config_.inputs.size(); ++a) {
      for (std::size_t b = a; b < config_.inputs.size(); ++b) {
        Key all = {config_.inputs[a].name, config_.inputs[b].name};
        for (const std::string& output : outputs(graph)) all.insert(output);
        falls_apart(content_of({all.begin(), all.end()}), graph.size());
      }
    }
  }

  std::vector<std::string> available(const std::set<std::string>& graph) const {
    std::vector<std::string> names;
    for (const EnumerationInput& input : config_.inputs) names.push_back(input.name);
    for (const std::string& application : graph) {
      const auto& outputs = applications_.at(application).outputs;
      names.insert(names.end(), outputs.begin(), outputs.end());
    }
    return names;
  }

  std::vector<std::string> extensions(const std::set<std::string>& graph) {
    std::vector<std::string> result;
    const auto names = available(graph);
    for (std::size_t c = 0; c < config_.operators.size(); ++c) {
      const OperatorInfo& info = config_.operators[c].op->info();
      const int arity = info.max_arity < 0 ? 2 : info.min_arity;
      if (arity == 0) add(c, {}, result);
      for (const std::string& a : names) {
        if (arity == 1) add(c, {a}, result);
        if (arity < 2) continue;
        for (const std::string& b : names) {
          // Of the two orders of a commutative operator's operands, one by their expressions.
          if (arity == 2 && (!info.commutative || a <= b)) add(c, {a, b}, result);
          if (arity != 3) continue;
          for (const std::string& third : names) add(c, {a, b, third}, result);
        }
      }
    }
    return result;
  }

  void add(std::size_t c, const std::vector<std::string>& operands, std::vector<std::string>& result) {
    const OperatorChoice& chosen = config_.operators[c];
    const std::string name = fmt::format("{}#{}({})", chosen.op->name(), c, fmt::join(operands, ","));
    if (applications_.contains(name)) {
      result.push_back(name);
      return;
    }
    std::vector<CutShape> in;
    for (const std::string& operand : operands) in.push_back(tensors_.at(operand).shape);
    Params params = chosen.params;
    std::optional<std::pair<CutDim, CutDim>> parts;
    const auto axis = chosen.op->name() == "split" ? static_cast<int>(params.integer(0)) : -1;
    if (axis >= 0) {
      if (axis >= in[0].rank() || in[0][axis].cut() == nullptr) return;
      parts = *in[0][axis].cut();
      params = Params({std::int64_t{axis}, SizeList<std::int64_t>{{parts->first.extent(), parts->second.extent()}}});
    }
    auto shapes = chosen.op->infer(params, in);
    if (!shapes) return;
    if (parts) {
      (*shapes)[0][axis] = parts->first;
      (*shapes)[1][axis] = parts->second;
    }
    NaiveApplication application{operands, {}};
    std::vector<NaiveTensor> outputs(shapes->size());
    for (std::size_t o = 0; o < outputs.size(); ++o) {
      outputs[o].shape = (*shapes)[o];
      if (outputs[o].plain().elements() > config_.max_elements) return;
    }
    for (std::size_t sample = 0; sample < 40; ++sample) {
      std::vector<Shape> shapes_in, shapes_out;
      for (const std::string& operand : operands) shapes_in.push_back(tensors_.at(operand).plain());
      for (NaiveTensor& output : outputs) {
        shapes_out.push_back(output.plain());
        output.samples.emplace_back(static_cast<std::size_t>(shapes_out.back().elements()));
      }
      std::vector<TensorView<const Field>> views_in;
      std::vector<TensorView<Field>> views_out;
      for (std::size_t i = 0; i < operands.size(); ++i) {
        views_in.emplace_back(tensors_.at(operands[i]).samples[sample].data(), shapes_in[i]);
      }
      for (std::size_t o = 0; o < outputs.size(); ++o) {
        views_out.emplace_back(outputs[o].samples[sample].data(), shapes_out[o]);
      }
      chosen.op->evaluate(params, Inputs<Field>(views_in), Outputs<Field>(views_out));
    }
    for (std::size_t o = 0; o < outputs.size(); ++o) {
      application.outputs.push_back(fmt::format("{}.{}", name, o));
      tensors_[application.outputs.back()] = std::move(outputs[o]);
    }
    applications_[name] = std::move(application);
    result.push_back(name);
  }

  bool skips_no_input(const std::set<std::string>& used) const {
    for (std::size_t i = 0; i < config_.inputs.size(); ++i) {
      for (std::size_t j = i + 1; j < config_.inputs.size(); ++j) {
        const EnumerationInput& earlier = config_.inputs[i];
        const EnumerationInput& later = config_.inputs[j];
        if (earlier.shape == later.shape && earlier.kind == later.kind && used.contains(later.name) &&
            !used.contains(earlier.name)) {
          return false;
        }
      }
    }
    return true;
  }

  bool connected(const std::set<std::string>& graph) const {
    std::vector<std::string> reached = {*graph.begin()};
    for (std::size_t i = 0; i < reached.size(); ++i) {
      for (const std::string& other : graph) {
        if (std::find(reached.begin(), reached.end(), other) == reached.end() && touch(reached[i], other)) {
          reached.push_back(other);
        }
      }
    }
    return reached.size() == graph.size();
  }
  bool touch(const std::string& a, const std::string& b) const {
    // Two operators touch through a tensor that one makes and the other reads.
    const auto feeds = [&](const std::string& from, const std::string& to) {
      const auto& made = applications_.at(from).outputs;
      const auto& read = applications_.at(to).operands;
      return std::any_of(made.begin(), made.end(),
                         [&](const std::string& t) { return std::find(read.begin(), read.end(), t) != read.end(); });
    };
    return feeds(a, b) || feeds(b, a);
  }

  std::vector<std::string> outputs(const std::set<std::string>& graph) const {
    std::set<std::string> consumed;
    for (const std::string& name : graph) {
      consumed.insert(applications_.at(name).operands.begin(), applications_.at(name).operands.end());
    }
    std::vector<std::string> result;
    for (const std::string& name : graph) {
      for (const std::string& output : applications_.at(name).outputs) {
        if (!consumed.contains(output)) result.push_back(output);
      }
    }
    return result;
  }

  std::string content_of(const std::vector<std::string>& tensors) const {
    std::multiset<std::string> contents;
    for (const std::string& name : tensors) contents.insert(tensors_.at(name).content());
    return fmt::format("{}", fmt::join(contents, ";"));
  }
  std::string fingerprint(const std::set<std::string>& graph) const { return content_of(outputs(graph)); }

  /// Content and cuts: what a later operator could tell apart.
  std::string identity(const std::string& tensor) const {
    const auto cut_text = [](const CutDim& dim, auto&& self) -> std::string {
      if (dim.cut() == nullptr) return std::to_string(dim.extent());
      return fmt::format("({}|{})", self(dim.cut()->first, self), self(dim.cut()->second, self));
    };
    std::string text = tensors_.at(tensor).content();
    for (const CutDim& dim : tensors_.at(tensor).shape) text += fmt::format("/{}", cut_text(dim, cut_text));
    return text;
  }

  bool repeats(const std::set<std::string>& graph) const {
    std::set<std::string> tensors;
    for (const std::string& name : graph) {
      tensors.insert(applications_.at(name).operands.begin(), applications_.at(name).operands.end());
      tensors.insert(applications_.at(name).outputs.begin(), applications_.at(name).outputs.end());
    }
    std::set<std::string> identities;
    for (const std::string& tensor : tensors) {
      if (!identities.insert(identity(tensor)).second) return true;
    }
    return false;
  }

  bool has_different_outputs(const std::set<std::string>& graph) const {
    std::set<std::string> contents;
    for (const std::string& output : outputs(graph)) {
      if (!contents.insert(tensors_.at(output).content()).second) return false;
    }
    return true;
  }

  bool wanted(const std::set<std::string>& graph) {
    std::set<std::string> used;
    for (const std::string& name : graph) {
      for (const std::string& operand : applications_.at(name).operands) {
        if (std::any_of(config_.inputs.begin(), config_.inputs.end(),
                        [&](const auto& i) { return i.name == operand; })) {
          used.insert(operand);
        }
      }
    }
    if (!skips_no_input(used)) return false;
    if (!repeats(graph)) return true;
    // A repetition is kept where the graph is all that one operator needs, and no smaller part repeats.
    std::vector<std::string> sinks;
    for (const std::string& name : graph) {
      const auto& made = applications_.at(name).outputs;
      const bool is_consumed = std::any_of(graph.begin(), graph.end(), [&](const std::string& other) {
        const auto& read = applications_.at(other).operands;
        return std::any_of(made.begin(), made.end(),
                           [&](const std::string& t) { return std::find(read.begin(), read.end(), t) != read.end(); });
      });
      if (!is_consumed) sinks.push_back(name);
    }
    if (sinks.size() != 1) return false;
    auto rest = graph;
    rest.erase(sinks[0]);
    return rest.empty() || !repeats(rest);
  }

  const EnumerationConfig& config_;
  std::map<std::string, NaiveTensor> tensors_;
  std::map<std::string, NaiveApplication> applications_;
  std::map<std::string, Class> classes_;
};

/// The naive enumerator's name for a graph of the enumerator.
Naive::Key key_of(const Graph& graph, const EnumerationConfig& config) {
  std::map<Port, std::string> names;
  Naive::Key key;
  for (std::size_t i = 0; i < graph.nodes().size(); ++i) {
    const Node& node = graph.nodes()[i];
    const NodeId id{static_cast<std::uint32_t>(i)};
    const ApplicationNode* made = node.application();
    if (made == nullptr) {
      names[{id, 0}] = node.name;
      continue;
    }
    std::size_t c = 0;
    for (; c < config.operators.size(); ++c) {
      const OperatorChoice& chosen = config.operators[c];
      // A split's sizes are filled in; its axis comes first.
      if (chosen.op == made->op && (chosen.params == made->params ||
                                    (node.applies("split") && chosen.params.integer(0) == made->params.integer(0))))
        break;
    }
    std::vector<std::string> operands;
    for (const Port port : node.inputs) operands.push_back(names.at(port));
    if (made->op->info().commutative) std::sort(operands.begin(), operands.end());
    const std::string name = fmt::format("{}#{}({})", made->op->name(), c, fmt::join(operands, ","));
    key.insert(name);
    for (std::uint32_t o = 0; o < node.outputs.size(); ++o) names[{id, o}] = fmt::format("{}.{}", name, o);
  }
  if (key.empty()) {
    for (const Port port : graph.outputs()) key.insert(names.at(port));
  }
  return key;
}

// --- the tests ---------------------------------------------------------------------------------------------------

std::vector<OperatorChoice> all_choices() {
  return {choice("ewadd"),
          choice("ewmul"),
          choice("matmul"),
          choice("transpose"),
          choice("relu"),
          choice("smul"),
          choice("concat", "[axis=0]"),
          choice("concat", "[axis=1]"),
          choice("split", "[axis=0, sizes=[]]"),
          choice("split", "[axis=1, sizes=[]]"),
          choice("constant_one", "[sizes=[2, 2]]"),
          choice("constant_identity", "[sizes=[2, 2]]")};
}

std::string describe(const EnumerationConfig& config) {
  std::string text;
  for (const OperatorChoice& c : config.operators) {
    text += fmt::format("{}{} ", c.op->name(), to_string(c.op->info().params, c.params));
  }
  for (const EnumerationInput& input : config.inputs) text += fmt::format("{}{} ", input.name, input.shape);
  return text;
}

EnumerationConfig random_config(std::uint64_t seed, int max_operators) {
  std::mt19937_64 random(seed);
  EnumerationConfig config;
  config.seed = seed;
  config.max_operators = max_operators;
  auto choices = all_choices();
  std::shuffle(choices.begin(), choices.end(), random);
  choices.resize(2 + random() % 3);
  config.operators = choices;
  const std::vector<Shape> shapes = {{2, 2}, {2, 2}, {2, 3}, {3, 2}, {4, 2}, {}};
  const std::size_t inputs = 2 + random() % 2;
  for (std::size_t i = 0; i < inputs; ++i) {
    const Shape& shape = shapes[random() % shapes.size()];
    config.inputs.push_back({fmt::format("x{}", i), shape, random() % 3 == 0 ? InputKind::kWeight : InputKind::kData});
  }
  return config;
}

void expect_same_as_naive(const EnumerationConfig& config) {
  std::map<Naive::Key, std::set<Naive::Key>> partners;
  std::size_t delivered = 0;
  const auto report = enumerate(config, [&](const Candidate& candidate) -> Status {
    ++delivered;
    const auto source = key_of(candidate.source, config), target = key_of(candidate.target, config);
    EXPECT_TRUE(partners[source].insert(target).second) << "delivered twice: " << describe(config);
    partners[target].insert(source);
    return {};
  });
  ASSERT_TRUE(report) << report.error().message;
  EnumerationConfig quick = config;
  quick.few_samples_first = true;
  std::size_t again = 0;
  const auto on_few = enumerate(quick, [&](const Candidate& candidate) -> Status {
    const auto& found = partners[key_of(candidate.source, config)];
    EXPECT_TRUE(found.contains(key_of(candidate.target, config))) << "found on few samples only: " << describe(config);
    ++again;
    return {};
  });
  ASSERT_TRUE(on_few) << on_few.error().message;
  EXPECT_EQ(again, delivered) << "not found on few samples: " << describe(config);
  Naive naive(config);
  const auto counts = naive.run();
  ASSERT_EQ(report->levels.size(), counts.size());
  for (std::size_t i = 0; i < counts.size(); ++i) {
    const EnumerationLevel& level = report->levels[i];
    EXPECT_EQ(level.graphs, counts[i].graphs) << "operators " << i + 1 << ": " << describe(config);
    EXPECT_EQ(level.classes, counts[i].classes) << "operators " << i + 1 << ": " << describe(config);
    EXPECT_EQ(on_few->levels[i].graphs, counts[i].graphs) << "operators " << i + 1 << ": " << describe(config);
    EXPECT_LE(on_few->levels[i].classes, counts[i].classes) << "operators " << i + 1 << ": " << describe(config);
    EXPECT_EQ(level.unconfirmed, 0U) << describe(config);
  }
  std::map<Naive::Key, std::string> class_of;
  for (const auto& [fingerprint, members] : naive.classes()) {
    for (const Naive::Key& member : members.connected) class_of[member] = fingerprint;
  }
  for (const auto& [fingerprint, members] : naive.classes()) {
    if (members.connected.empty()) continue;
    std::optional<std::size_t> fewest_apart;
    std::vector<Naive::Key> reached = {members.connected[0]};
    for (std::size_t i = 0; i < reached.size(); ++i) {
      for (const Naive::Key& partner : partners[reached[i]]) {
        const auto known = class_of.find(partner);
        if (known == class_of.end()) {
          fewest_apart = std::min(fewest_apart.value_or(partner.size()), partner.size());
          continue;
        }
        EXPECT_EQ(known->second, fingerprint) << "a wrong candidate: " << describe(config);
        if (std::find(reached.begin(), reached.end(), partner) == reached.end()) reached.push_back(partner);
      }
    }
    EXPECT_EQ(reached.size(), members.connected.size()) << "candidates do not link a class: " << describe(config);
    // What is equal to inputs alone falls apart into parts that are each equal to an input.
    const bool has_wires = std::any_of(members.connected.begin(), members.connected.end(), [](const Naive::Key& key) {
      return key.begin()->find('(') == std::string::npos;
    });
    if (!has_wires) {
      EXPECT_EQ(fewest_apart, members.fewest_apart) << "graphs that fall apart: " << describe(config)
                                                    << fmt::format("{}", fmt::join(members.connected.back(), " "));
    }
    for (const Naive::Key& a : members.connected) {
      for (const Naive::Key& b : members.connected) {
        if (a < b && !Naive::share(a, b)) {
          EXPECT_TRUE(partners[a].contains(b)) << "a pair is missing: " << describe(config);
        }
      }
    }
  }
}

TEST(Enumerator, FindsWhatTheNaiveOneFindsUpToTwoOperators) {
  for (std::uint64_t seed = 1; seed <= 150; ++seed) expect_same_as_naive(random_config(seed, 2));
}

TEST(Enumerator, FindsWhatTheNaiveOneFindsUpToThreeOperators) {
  for (std::uint64_t seed = 1; seed <= 40; ++seed) expect_same_as_naive(random_config(seed, 3));
}

TEST(Enumerator, FindsWhatTheNaiveOneFindsUpToFourOperators) {
  // Few operators on one input or two: parts of graphs that fall apart often share an application here.
  for (const auto& names :
       {std::vector<std::string>{"relu", "ewmul"}, {"relu", "ewadd", "transpose"}, {"matmul", "relu"}}) {
    EnumerationConfig config;
    config.max_operators = 4;
    for (const std::string& name : names) config.operators.push_back(choice(name));
    config.inputs = {{"v", {2, 2}, InputKind::kData}};
    expect_same_as_naive(config);
  }
}

/// x * y + z.
class MultiplyAdd final : public OperatorOf<MultiplyAdd> {
 public:
  static OperatorInfo describe() {
    return {.name = "multiply_add", .summary = "x * y + z", .min_arity = 3, .max_arity = 3};
  }
  template <class Dim>
  static Result<Shapes<Dim>> shape(const BasicParams<Dim>&, ShapeInputs<Dim> in, Constraints<Dim>& where) {
    if (in[0].rank() != in[1].rank() || in[0].rank() != in[2].rank()) return shape_error("multiply_add: ranks differ");
    for (int axis = 0; axis < in[0].rank(); ++axis)
      for (const std::size_t other : {1U, 2U}) where.equal(in[0][axis], in[other][axis], "sizes along an axis");
    return Shapes<Dim>{in[0]};
  }
  template <class A>
  static void define(A& a, const Params&) {
    const auto x = a.in(0), y = a.in(1), z = a.in(2);
    a.out(0).is("i", [&](auto i) { return x(i) * y(i) + z(i); });
  }
};

TEST(Enumerator, FindsWhatTheNaiveOneFindsOfOperatorsOnThreeTensors) {
  static const MultiplyAdd kMultiplyAdd;
  for (const int inputs : {1, 2, 3}) {
    EnumerationConfig config;
    config.max_operators = inputs == 1 ? 3 : 2;
    config.operators = {{&kMultiplyAdd, Params()}, choice("ewmul"), choice("ewadd")};
    for (int i = 0; i < inputs; ++i) config.inputs.push_back({fmt::format("x{}", i), {2}, InputKind::kData});
    expect_same_as_naive(config);
  }
}

/// x, until it drifts; then x * x.
class Drifting final : public OperatorOf<Drifting> {
 public:
  static OperatorInfo describe() { return {.name = "drifting", .summary = "x, later x * x"}; }
  template <class Dim>
  static Result<Shapes<Dim>> shape(const BasicParams<Dim>&, ShapeInputs<Dim> in, Constraints<Dim>&) {
    return Shapes<Dim>{in[0]};
  }
  template <class A>
  static void define(A& a, const Params&) {
    const auto x = a.in(0);
    const bool squares = drifts;
    a.out(0).is("i", [&](auto i) { return squares ? x(i) * x(i) : x(i); });
  }
  inline static std::atomic<bool> drifts = false;
};

TEST(Enumerator, TakesAClassApartThatFreshInputsTellApart) {
  // {x, drifting(x), transpose(transpose(x)), ...} is one class at first, as where fingerprints agree by chance.
  static const Drifting kDrifting;
  for (const bool instances : {true, false}) {
    EnumerationConfig config;
    config.instances = instances;
    config.operators = {{&kDrifting, Params()}, choice("transpose")};
    config.inputs = {{"x", {2, 2}, InputKind::kData}};
    Drifting::drifts = false;
    std::vector<std::string> laws;
    const auto report = enumerate(
        config,
        [&](const Candidate& candidate) -> Status {
          laws.push_back(to_text(candidate.source) + to_text(candidate.target));
          return {};
        },
        [](const EnumerationProgress& progress) {
          if (std::string_view(progress.pass) == "pairs") Drifting::drifts = true;
          // A report within 100 ms of the last one may be left out.
          if (!Drifting::drifts) std::this_thread::sleep_for(std::chrono::milliseconds(110));
          return true;
        });
    ASSERT_TRUE(report);
    EXPECT_EQ(report->levels[0].unconfirmed, 1U);  // drifting(x) leaves x.
    EXPECT_THAT(laws, ::testing::Contains(::testing::HasSubstr("transpose"))) << "transpose(transpose(x)) = x is lost";
    EXPECT_THAT(laws, ::testing::Each(::testing::Not(::testing::HasSubstr("drifting"))));
  }
}

/// -x and -y, until it drifts; then x * x and y * y.
class DriftingPair final : public OperatorOf<DriftingPair> {
 public:
  static OperatorInfo describe() {
    return {.name = "drifting_pair", .summary = "-x and -y, later their squares", .min_arity = 2, .max_arity = 2};
  }
  template <class Dim>
  static Result<Shapes<Dim>> shape(const BasicParams<Dim>&, ShapeInputs<Dim> in, Constraints<Dim>&) {
    return Shapes<Dim>{in[0], in[1]};
  }
  template <class A>
  static void define(A& a, const Params&) {
    const bool squares = drifts;
    for (std::size_t k = 0; k < 2; ++k) {
      const auto x = a.in(k);
      a.out(k).is("i", [&](auto i) { return (squares ? x(i) : a.number(-1)) * x(i); });
    }
  }
  inline static std::atomic<bool> drifts = false;
};

TEST(Enumerator, TakesAGraphFromWhatItFallsApartIntoThatFreshInputsTellApart) {
  // At first drifting_pair(x, y) is what neg(x) and neg(y) are together.
  static const DriftingPair kDriftingPair;
  for (const bool drifts : {false, true}) {
    EnumerationConfig config;
    config.max_operators = 2;
    config.instances = true;
    config.operators = {{&kDriftingPair, Params()}, choice("neg")};
    config.operators[0].distinct_operands = config.operators[0].operands_in_order = true;
    config.inputs = {{"x", {2}, InputKind::kData}, {"y", {2}, InputKind::kData}};
    DriftingPair::drifts = false;
    std::set<std::string> laws;
    const auto report = enumerate(
        config,
        [&](const Candidate& candidate) -> Status {
          laws.insert(to_text(candidate.source) + " = " + to_text(candidate.target));
          return {};
        },
        [&](const EnumerationProgress& progress) {
          if (std::string_view(progress.pass) == "pairs") DriftingPair::drifts = drifts;
          // A report within 100 ms of the last one may be left out.
          if (drifts && !DriftingPair::drifts) std::this_thread::sleep_for(std::chrono::milliseconds(110));
          return true;
        });
    ASSERT_TRUE(report);
    // Of six laws none but neg(neg(x)) = x is without the pair; in four of the others one side falls apart.
    EXPECT_EQ(laws.size(), drifts ? 1U : 6U);
    EXPECT_EQ(report->levels[1].unconfirmed, drifts ? 5U : 0U);
  }
}

EnumerationConfig matrix_config(int max_operators) {
  EnumerationConfig config;
  config.max_operators = max_operators;
  config.operators = {choice("matmul"),
                      choice("ewadd"),
                      choice("relu"),
                      choice("concat", "[axis=1]"),
                      choice("split", "[axis=1, sizes=[]]"),
                      choice("transpose")};
  for (const char* name : {"x", "y"}) config.inputs.push_back({name, {2, 4}, InputKind::kData});
  for (const char* name : {"v", "w"}) config.inputs.push_back({name, {4, 4}, InputKind::kWeight});
  return config;
}

std::vector<std::string> candidate_texts(const EnumerationConfig& config) {
  std::vector<std::string> texts;
  const auto report = enumerate(config, [&](const Candidate& candidate) -> Status {
    texts.push_back(fmt::format("{} {} {}", candidate.id, to_string(structural_hash(candidate.source)),
                                to_string(structural_hash(candidate.target))));
    return {};
  });
  EXPECT_TRUE(report);
  return texts;
}

TEST(Enumerator, GivesTheSameCandidatesInTheSameOrderForAnyNumberOfThreads) {
  for (const bool instances : {true, false}) {
    EnumerationConfig config = matrix_config(3);
    config.instances = instances;
    const auto one = candidate_texts(config);
    EXPECT_GT(one.size(), 100U);
    for (const int threads : {2, 8}) {
      config.threads = threads;
      for (const bool few : {false, true}) {
        config.few_samples_first = few;
        EXPECT_EQ(candidate_texts(config), one) << threads << " threads" << (few ? ", few samples first" : "");
      }
    }
  }
}

TEST(Enumerator, GivesTheSameCandidatesWhateverTheMemory) {
  EnumerationConfig config = matrix_config(3);
  config.instances = false;
  config.inputs.push_back({"u", {4, 4}, InputKind::kWeight});
  const auto all = candidate_texts(config);
  for (const std::uint64_t bytes : {std::uint64_t{1}, std::uint64_t{200} << 20, std::uint64_t{8} << 30}) {
    config.memory_bytes = bytes;
    config.few_samples_first = !config.few_samples_first;
    config.threads = 8;  // Each holds a chunk per partition, so that the least memory is not enough.
    EXPECT_EQ(candidate_texts(config), all) << bytes << " bytes";
  }
}

/// Is there a candidate whose sides apply exactly these operators, in any order?
bool has_candidate(const EnumerationConfig& config, std::multiset<std::string> source,
                   std::multiset<std::string> target) {
  bool found = false;
  const auto names = [](const Graph& graph) {
    std::multiset<std::string> all;
    for (const Node& node : graph.nodes()) {
      if (const ApplicationNode* made = node.application()) all.insert(made->op->name());
    }
    return all;
  };
  const auto report = enumerate(config, [&](const Candidate& candidate) -> Status {
    found = found || (names(candidate.source) == source && names(candidate.target) == target);
    return {};
  });
  EXPECT_TRUE(report);
  return found;
}

TEST(Enumerator, FindsTheLawsOfTheTextbooks) {
  EXPECT_TRUE(has_candidate(matrix_config(3), {"matmul", "matmul", "ewadd"}, {"ewadd", "matmul"}));  // distributivity
  EXPECT_TRUE(has_candidate(matrix_config(2), {"relu", "relu"}, {"relu"}));
  EXPECT_TRUE(has_candidate(matrix_config(2), {"concat", "split"}, {}));
  EXPECT_TRUE(has_candidate(matrix_config(3), {"concat", "matmul", "split"}, {"matmul", "matmul"}));  // merged products
}

// split(concat(relu(x), x)) is equal to two graphs that share nothing: relu(x), and the first input as it is.
TEST(Enumerator, FindsPartsThatAreTheFirstInput) {
  EnumerationConfig config;
  config.max_operators = 3;
  config.operators = {choice("relu"), choice("concat", "[axis=1]"), choice("split", "[axis=1, sizes=[]]")};
  config.inputs = {{"x", {2, 2}, InputKind::kData}};
  EXPECT_TRUE(has_candidate(config, {"relu", "concat", "split"}, {"relu"}));
}

TEST(Enumerator, FindsTheLawsWithoutTheirInstances) {
  EnumerationConfig three = matrix_config(3), two = matrix_config(2);
  three.instances = two.instances = false;
  EXPECT_TRUE(has_candidate(three, {"matmul", "matmul", "ewadd"}, {"ewadd", "matmul"}));
  EXPECT_TRUE(has_candidate(two, {"relu", "relu"}, {"relu"}));
  EXPECT_TRUE(has_candidate(two, {"concat", "split"}, {}));
  EXPECT_TRUE(has_candidate(three, {"concat", "matmul", "split"}, {"matmul", "matmul"}));
  EXPECT_LE(candidate_texts(three).size(), 689U) << "what follows from smaller equalities is left out";
}

TEST(Enumerator, LeavesOutALawUnderAnOperatorThatBothSidesEndWith) {
  // relu((x + x) + y) = relu(x + (x + y)) follows from the same without relu.
  const auto sums_under_relu = [](EnumerationConfig config) {
    int found = 0;
    const auto ends_with_relu = [](const Graph& graph) {
      const auto is_relu = [](const Node& node) { return node.applies("relu"); };
      return graph.operator_count() == 3 && std::ranges::count_if(graph.nodes(), is_relu) == 1 &&
             is_relu(graph.node(graph.outputs()[0].node));
    };
    const auto report = enumerate(config, [&](const Candidate& candidate) -> Status {
      found += ends_with_relu(candidate.source) && ends_with_relu(candidate.target) ? 1 : 0;
      return {};
    });
    EXPECT_TRUE(report);
    return found;
  };
  EnumerationConfig config = matrix_config(3);
  config.operators = {choice("ewadd"), choice("relu")};
  EXPECT_GT(sums_under_relu(config), 0);
  config.instances = false;
  EXPECT_EQ(sums_under_relu(config), 0);
}

TEST(Enumerator, ComparesSomeRepeatedTensorsAgain) {
  const auto report = enumerate(matrix_config(3), [](const Candidate&) { return Status(); });
  ASSERT_TRUE(report);
  EXPECT_GT(report->audited, 0U);
  EXPECT_EQ(report->pruned_by_chance, 0U);
  // What is compared: does the last application give a tensor that is there?
  const EnumerationConfig config = matrix_config(2);
  enumeration::Evaluator evaluator(config);
  constexpr std::uint16_t kRelu = 2, kTranspose = 5;
  const auto record = [](std::uint16_t first, std::uint16_t second) {
    enumeration::Record made;
    made.steps[0] = {first, {0}};
    made.steps[1] = {second, {static_cast<std::uint8_t>(matrix_config(2).inputs.size())}};
    made.count = 2;
    return made;
  };
  EXPECT_TRUE(evaluator.repeats(record(kRelu, kRelu)));
  EXPECT_TRUE(evaluator.repeats(record(kTranspose, kTranspose)));
  EXPECT_FALSE(evaluator.repeats(record(kTranspose, kRelu)));
}

TEST(Enumerator, RestrictsOperandsAsAsked) {
  EnumerationConfig config = matrix_config(1);
  config.operators = {choice("matmul"), choice("concat", "[axis=1]")};
  const auto graphs = [&] {
    const auto report = enumerate(config, [](const Candidate&) { return Status(); });
    EXPECT_TRUE(report);
    return report->levels[0].graphs;
  };
  // x v, v v, v w, w v; concat of x x, x y, y x and the same of v and w.
  EXPECT_EQ(graphs(), 10U);
  config.operators[0].distinct_operands = true;
  EXPECT_EQ(graphs(), 9U);
  config.operators[1].operands_in_order = config.operators[1].distinct_operands = true;
  EXPECT_EQ(graphs(), 5U);
  config.operators[0].operands_up_to = {{2, 0}, {0, 0}};
  EXPECT_EQ(graphs(), 3U);
  config.operators[0].operands_up_to = {{0, 0, 0}, {0, 0, 0}};
  EXPECT_EQ(graphs(), 2U);
}

TEST(Enumerator, DoesNotTakeAFalseLawForALaw) {
  // relu(s * x) = s * relu(x) holds for s >= 0 only.
  EnumerationConfig config;
  config.max_operators = 2;
  config.operators = {choice("relu"), choice("smul")};
  config.inputs = {{"x", {2, 2}, InputKind::kData}, {"s", {}, InputKind::kData}};
  const auto report = enumerate(config, [&](const Candidate& candidate) -> Status {
    const auto is_relu = [](const Node& node) { return node.applies("relu"); };
    const bool relu_on_x = candidate.source.inputs().size() == 2 &&
                           std::any_of(candidate.source.nodes().begin(), candidate.source.nodes().end(), is_relu);
    EXPECT_FALSE(relu_on_x) << to_string(structural_hash(candidate.source));
    return {};
  });
  ASSERT_TRUE(report);
  EXPECT_EQ(report->levels[1].unconfirmed, 0U);
}

TEST(Enumerator, GivesSidesWithTheSameInputsAndEqualOutputs) {
  std::mt19937_64 random(3);
  const auto report = enumerate(matrix_config(2), [&](const Candidate& candidate) -> Status {
    EXPECT_EQ(candidate.source.inputs().size(), candidate.target.inputs().size());
    std::vector<Tensor<Exact>> inputs;
    for (const NodeId id : candidate.source.inputs()) {
      Tensor<Exact> tensor(candidate.source.node(id).outputs[0].shape);
      for (Exact& element : tensor.values())
        element = Exact::from_integer(static_cast<std::int64_t>(random() % 19) - 9);
      inputs.push_back(std::move(tensor));
    }
    const auto left = evaluate<Exact>(candidate.source, inputs);
    const auto right = evaluate<Exact>(candidate.target, inputs);
    EXPECT_TRUE(left && right);
    if (!left || !right) return {};
    EXPECT_EQ(left->size(), right->size());
    for (std::size_t i = 0; i < left->size(); ++i) EXPECT_EQ((*left)[i].values(), (*right)[i].values());
    return {};
  });
  ASSERT_TRUE(report);
}

TEST(Enumerator, DeliversNothingWhenItIsStopped) {
  for (int calls = 0; calls < 12; ++calls) {
    int call = 0;
    std::uint64_t delivered = 0;
    const auto report = enumerate(
        matrix_config(3),
        [&](const Candidate&) -> Status {
          ++delivered;
          return {};
        },
        [&](const EnumerationProgress& progress) {
          return progress.pass == std::string_view("candidates") || call++ < calls;
        });
    ASSERT_TRUE(report);
    EXPECT_EQ(report->stopped_early, delivered == 0) << calls;
  }
}

TEST(Enumerator, RefusesASpaceThatItCannotHold) {
  const auto refusal = [](const std::function<void(EnumerationConfig&)>& change) {
    EnumerationConfig config = matrix_config(2);
    change(config);
    const auto report = enumerate(config, [](const Candidate&) { return Status(); });
    return report ? "no error" : report.error().message;
  };
  EXPECT_EQ(refusal([](EnumerationConfig& config) { config.inputs.resize(33, config.inputs[0]); }),
            "33 inputs; enumeration handles at most 32");
  for (const int operators : {0, 8}) {
    EXPECT_EQ(refusal([&](EnumerationConfig& config) { config.max_operators = operators; }),
              fmt::format("graphs of up to {} operators; enumeration handles 1 to 7", operators));
  }
  EXPECT_EQ(refusal([](EnumerationConfig& config) {
              config.inputs[0].more_shapes = {{3, 3}};
            }),
            "input 'y' has 1 shapes and 'x' has 2; all inputs need equally many");
  EXPECT_EQ(refusal([](EnumerationConfig& config) {
              for (EnumerationInput& input : config.inputs) input.more_shapes = {{3, 3}};
              config.inputs[1].more_shapes = {{3, 3, 3}};
            }),
            "input 'y' has shapes (2, 4) and (3, 3, 3); their ranks must be equal");
  EXPECT_EQ(refusal([](EnumerationConfig& config) { config.operators.push_back(choice("batch_norm")); }),
            "batch_norm: takes 5 operands; enumeration handles at most 3");
}

TEST(Enumerator, HandsOnAnErrorOfTheSink) {
  const auto report = enumerate(
      matrix_config(2), [](const Candidate&) -> Status { return make_error(ErrorCode::kIo, "the disk is full"); });
  ASSERT_FALSE(report);
  EXPECT_EQ(report.error().message, "the disk is full");
}

}  // namespace
}  // namespace rewright
