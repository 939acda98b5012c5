// What a graph costs: the sum over its applications of what the cost model says, each asked once.
#include <rewright/cost.h>
#include <rewright/cost_key.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <bit>
#include <optional>
#include <unordered_map>
#include <utility>

namespace rewright {

std::vector<bool> weight_only(const Graph& graph) {
  const auto nodes = graph.nodes();
  std::vector<bool> weight(nodes.size(), false);
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    const Node& node = nodes[i];
    if (node.opaque) continue;
    weight[i] = node.is_input() ? node.input_kind == InputKind::kWeight : true;
    for (Port operand : node.inputs) weight[i] = weight[i] && weight[operand.node.value];
  }
  return weight;
}

namespace {

/// By node: the concat that it is part of, if it is a concat whose only use is another one on the same axis.
std::vector<bool> absorbed_concats(const Graph& graph, const std::vector<bool>& weight) {
  const auto nodes = graph.nodes();
  std::vector<std::uint32_t> uses(nodes.size(), 0);
  std::vector<bool> by_equal_concat(nodes.size(), false);
  for (const Node& node : nodes) {
    for (Port operand : node.inputs) {
      ++uses[operand.node.value];
      const Node& maker = nodes[operand.node.value];
      if (node.op != nullptr && node.op == maker.op && node.params == maker.params && node.op->name() == "concat")
        by_equal_concat[operand.node.value] = true;
    }
  }
  for (Port port : graph.outputs()) ++uses[port.node.value];
  for (std::size_t i = 0; i < nodes.size(); ++i) by_equal_concat[i] = by_equal_concat[i] && uses[i] == 1 && !weight[i];
  return by_equal_concat;
}

/// What distinguishes one question to the model from another, as words.
class Question {
 public:
  void start(const Node& node) {
    words_.clear();
    words_.push_back(reinterpret_cast<std::uintptr_t>(node.op));
    for (const ParamValue& value : node.params.values()) add(value);
  }
  void add(const Shape& shape, InputKind kind) {
    words_.push_back(static_cast<std::uint64_t>(shape.rank()) << 1 | static_cast<std::uint64_t>(kind));
    for (std::int64_t size : shape) words_.push_back(static_cast<std::uint64_t>(size));
  }
  [[nodiscard]] Hash128 hash() const {
    const XXH128_hash_t hash = XXH3_128bits(words_.data(), words_.size() * sizeof(std::uint64_t));
    return {hash.low64, hash.high64};
  }

 private:
  void add(const ParamValue& value) {
    if (const auto* number = std::get_if<0>(&value)) words_.push_back(static_cast<std::uint64_t>(*number));
    if (const auto* real = std::get_if<1>(&value)) words_.push_back(std::bit_cast<std::uint64_t>(*real));
    if (const auto* list = std::get_if<2>(&value)) add(*list);
    if (const auto* sizes = std::get_if<3>(&value)) add(sizes->values);
  }
  void add(const std::vector<std::int64_t>& list) {
    words_.push_back(list.size());
    for (std::int64_t element : list) words_.push_back(static_cast<std::uint64_t>(element));
  }
  std::vector<std::uint64_t> words_;
};

struct LowBits {
  std::size_t operator()(Hash128 hash) const { return hash.low; }
};

}  // namespace

std::string to_key(const Application& application) {
  std::string key =
      fmt::format("|{}{}|", application.op.name(), to_string(application.op.info().params, application.params));
  for (std::size_t i = 0; i < application.in.size(); ++i)
    key += fmt::format("{}{}", application.kinds[i] == InputKind::kWeight ? "weight" : "data", application.in[i]);
  return key;
}

struct GraphCost::State {
  CostModel& model;
  CostCache* cache;
  /// 128 bits stand for the question itself: among 2^32 questions two meet with probability below 2^-64.
  std::unordered_map<Hash128, double, LowBits> known = {};
  Question question = {};

  void append_operands(const Graph& graph, const Node& node, const std::vector<bool>& absorbed,
                       std::vector<Port>& ports) {
    for (Port operand : node.inputs) {
      if (absorbed[operand.node.value] && node.op == graph.node(operand.node).op) {
        append_operands(graph, graph.node(operand.node), absorbed, ports);
      } else {
        ports.push_back(operand);
      }
    }
  }

  Result<double> of(const Graph& graph, const Node& node, std::span<const Port> ports,
                    const std::vector<bool>& weight) {
    const auto kind_of = [&](Port port) { return weight[port.node.value] ? InputKind::kWeight : InputKind::kData; };
    question.start(node);
    for (Port port : ports) question.add(graph.shape(port), kind_of(port));
    const auto [entry, is_new] = known.try_emplace(question.hash(), 0.0);
    if (!is_new) return entry->second;
    auto answer = ask(graph, node, ports, kind_of);
    if (!answer) {
      known.erase(entry);
      return answer;
    }
    entry->second = *answer;
    return answer;
  }

  Result<double> ask(const Graph& graph, const Node& node, std::span<const Port> ports, const auto& kind_of) {
    std::vector<Shape> shapes;
    std::vector<InputKind> kinds;
    for (Port port : ports) shapes.push_back(graph.shape(port)), kinds.push_back(kind_of(port));
    const Application application{*node.op, node.params, shapes, kinds};
    if (cache == nullptr) return model.cost_us(application);
    const std::string key = fmt::format("{}|{}{}", model.name(), model.device(), to_key(application));
    if (auto cached = cache->find(key)) return *cached;
    REWRIGHT_TRY(const double cost, model.cost_us(application));
    REWRIGHT_CHECK(cache->insert(key, cost));
    return cost;
  }
};

GraphCost::GraphCost(CostModel& model, CostCache* cache)
    : state_(std::make_unique<State>(State{model, model.measured() ? cache : nullptr})) {}
GraphCost::~GraphCost() = default;

Result<double> GraphCost::cost_us(const Graph& graph) {
  const std::vector<bool> weight = weight_only(graph);
  const std::vector<bool> absorbed = absorbed_concats(graph, weight);
  const auto nodes = graph.nodes();
  double total = 0;
  std::vector<Port> ports;
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    if (nodes[i].op == nullptr || weight[i] || absorbed[i]) continue;
    ports.clear();
    state_->append_operands(graph, nodes[i], absorbed, ports);
    REWRIGHT_TRY(const double cost, state_->of(graph, nodes[i], ports, weight));
    total += cost;
  }
  return total;
}

}  // namespace rewright
