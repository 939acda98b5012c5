#include "onnx/check.h"

#include <onnx/checker.h>

#include <algorithm>
#include <map>
#include <queue>
#include <set>
#include <unordered_map>
#include <unordered_set>

#include "onnx/opset.h"
#include "onnx/scope.h"

namespace rewright::model {
namespace {

constexpr std::int64_t kImplausibleOpset = 100;  ///< Of ONNX's own operators; others number as they like.
constexpr std::int64_t kNewestKnownIr = 8;

Status check_versions(const ModelProto& model, const std::string& file) {
  if (model.graph().output_size() == 0) {
    return make_error(ErrorCode::kParse, "{}: the graph is empty: it has {} nodes and no output", file,
                      model.graph().node_size());
  }
  if (model.ir_version() < 1) return make_error(ErrorCode::kParse, "{}: the model says no IR version", file);
  std::map<std::string, std::int64_t> domains;
  for (const auto& import : model.opset_import()) {
    const auto [known, is_new] = domains.emplace(normal_domain(import.domain()), import.version());
    if (!is_new && known->second != import.version()) {
      return make_error(ErrorCode::kParse, "{}: opsets of domain '{}' are imported twice, {} and {}", file,
                        normal_domain(import.domain()).empty() ? "ai.onnx" : import.domain(), known->second,
                        import.version());
    }
    const bool is_own = normal_domain(import.domain()).empty();
    if (is_own && (import.version() < 1 || import.version() > kImplausibleOpset)) {
      return make_error(ErrorCode::kParse, "{}: opset {} of domain '{}' does not exist; ONNX's own start at 1", file,
                        import.version(), import.domain());
    }
  }
  return {};
}

/// Who makes each tensor of the graph: a node's position, or -1 for inputs and initializers.
Result<std::unordered_map<std::string, int>> producers(const ModelProto& model, const std::string& file) {
  const GraphProto& graph = model.graph();
  std::unordered_map<std::string, int> made;
  const auto define = [&](const std::string& name, int by, const std::string& what) -> Status {
    if (made.emplace(name, by).second) return {};
    return make_error(ErrorCode::kParse, "{}: tensor '{}' is defined twice, the second time by {}", file, name, what);
  };
  for (const auto& input : graph.input()) {
    if (input.name().empty()) return make_error(ErrorCode::kParse, "{}: an input of the graph has no name", file);
    REWRIGHT_CHECK(define(input.name(), -1, "the graph's inputs"));
  }
  std::unordered_set<std::string> initializers;
  const auto define_initializer = [&](const std::string& name) -> Status {
    if (name.empty()) return make_error(ErrorCode::kParse, "{}: an initializer has no name", file);
    if (!initializers.insert(name).second) {
      return make_error(ErrorCode::kParse, "{}: tensor '{}' is defined twice, the second time by an initializer", file,
                        name);
    }
    made.emplace(name, -1);  // May be an input too: then it is that input's default.
    return {};
  };
  for (const TensorProto& tensor : graph.initializer()) REWRIGHT_CHECK(define_initializer(tensor.name()));
  for (const auto& tensor : graph.sparse_initializer()) REWRIGHT_CHECK(define_initializer(tensor.values().name()));
  for (int i = 0; i < graph.node_size(); ++i) {
    for (const std::string& output : graph.node(i).output()) {
      if (!output.empty()) REWRIGHT_CHECK(define(output, i, describe(graph.node(i))));
    }
  }
  return made;
}

std::vector<std::string> used_by(const NodeProto& node) {
  std::vector<std::string> names = captures(node);
  for (const std::string& input : node.input()) {
    if (!input.empty()) names.push_back(input);
  }
  return names;
}

/// Kahn's algorithm; of the nodes that are ready, the first in the model goes first.
Result<std::vector<int>> topological_order(const GraphProto& graph, const std::unordered_map<std::string, int>& made,
                                           const std::string& file) {
  const auto count = static_cast<std::size_t>(graph.node_size());
  std::vector<int> waiting(count, 0);
  std::vector<std::vector<int>> users(count);
  for (int i = 0; i < graph.node_size(); ++i) {
    for (const std::string& name : used_by(graph.node(i))) {
      const auto producer = made.find(name);
      if (producer == made.end()) {
        return make_error(ErrorCode::kParse, "{}: {} uses tensor '{}', which nothing in the model defines", file,
                          describe(graph.node(i)), name);
      }
      if (producer->second < 0) continue;
      users[static_cast<std::size_t>(producer->second)].push_back(i);
      ++waiting[static_cast<std::size_t>(i)];
    }
  }
  std::priority_queue<int, std::vector<int>, std::greater<>> ready;
  for (std::size_t i = 0; i < count; ++i) {
    if (waiting[i] == 0) ready.push(static_cast<int>(i));
  }
  std::vector<int> order;
  while (!ready.empty()) {
    const int node = ready.top();
    ready.pop();
    order.push_back(node);
    for (const int user : users[static_cast<std::size_t>(node)]) {
      if (--waiting[static_cast<std::size_t>(user)] == 0) ready.push(user);
    }
  }
  if (order.size() == count) return order;
  const auto stuck = std::find_if(waiting.begin(), waiting.end(), [](int left) { return left > 0; });
  return make_error(ErrorCode::kParse, "{}: {} waits for its own result: {} nodes lie on a cycle or behind one", file,
                    describe(graph.node(static_cast<int>(stuck - waiting.begin()))), count - order.size());
}

/// Operators of ONNX's own domain that were never in its schemas; runtimes have them still for models of that time.
const std::set<std::string> kExperimental = {
    "Affine", "Crop", "DynamicSlice", "ImageScaler", "ParametricSoftplus", "Scale", "ScaledTanh", "ThresholdedRelu"};

std::string first_line(const std::string& text) { return text.substr(0, text.find('\n')); }

/// The nodes, one by one, against their schemas.
class SchemaCheck {
 public:
  SchemaCheck(const ModelProto& model, const std::string& file) : file_(file), opset_(opset_of(model)) {
    for (const auto& import : model.opset_import()) {
      opsets_[normal_domain(import.domain())] = static_cast<int>(import.version());
    }
    for (const auto& function : model.functions()) local_.insert(function.domain() + ":" + function.name());
    context_.set_ir_version(static_cast<int>(model.ir_version()));
    context_.set_opset_imports(opsets_);
    strict_ = opset_ <= kNewestKnownOpset && model.ir_version() <= kNewestKnownIr;
  }

  void define(const std::string& name) { scope_.add(name); }

  Status check(const NodeProto& node) {
    REWRIGHT_CHECK(check_alone(node));
    for (const std::string& output : node.output()) scope_.add(output);  // Graphs inside later nodes may use them.
    return {};
  }

 private:
  Status check_alone(const NodeProto& node) {
    const std::string domain = normal_domain(node.domain());
    if (!opsets_.contains(domain)) {
      return make_error(ErrorCode::kParse, "{}: {} is of domain '{}', of which the model imports no opset", file_,
                        describe(node), domain.empty() ? "ai.onnx" : domain);
    }
    if (!strict_ || local_.contains(node.domain() + ":" + node.op_type())) return {};
    if (domain.empty() && ::onnx::OpSchemaRegistry::Schema(node.op_type(), static_cast<int>(opset_), "") == nullptr) {
      if (kExperimental.contains(node.op_type())) return {};
      return make_error(ErrorCode::kParse, "{}: {}: ONNX's opset {} has no operator of that name", file_,
                        describe(node), opset_);
    }
    try {
      ::onnx::checker::check_node(with_region(node, opset_), context_, scope_);
    } catch (const std::exception& problem) {
      return make_error(ErrorCode::kParse, "{}: {} is against ONNX's rules: {}", file_, describe(node),
                        first_line(problem.what()));
    }
    return {};
  }

  const std::string& file_;
  std::int64_t opset_;
  bool strict_ = false;
  std::unordered_map<std::string, int> opsets_;
  std::set<std::string> local_;
  ::onnx::checker::CheckerContext context_;
  ::onnx::checker::LexicalScopeContext scope_;
};

}  // namespace

NodeProto with_region(NodeProto node, std::int64_t opset) {
  constexpr int kRegion = 1;
  const bool is_resize = node.op_type() == "Resize" && normal_domain(node.domain()).empty();
  if (is_resize && (opset == 11 || opset == 12) && node.input_size() > kRegion && node.input(kRegion).empty())
    node.set_input(kRegion, "\x01region");  // No name of a model's is likely to begin so.
  return node;
}

Result<std::vector<int>> check_model(const ModelProto& model, const std::string& file) {
  REWRIGHT_CHECK(check_versions(model, file));
  REWRIGHT_TRY(const auto made, producers(model, file));
  for (const auto& output : model.graph().output()) {
    if (!made.contains(output.name())) {
      return make_error(ErrorCode::kParse, "{}: output '{}' of the graph is a tensor that nothing in the model defines",
                        file, output.name());
    }
  }
  REWRIGHT_TRY(std::vector<int> order, topological_order(model.graph(), made, file));
  SchemaCheck schemas(model, file);
  for (const auto& [name, by] : made) {
    if (by < 0) schemas.define(name);
  }
  for (const int i : order) REWRIGHT_CHECK(schemas.check(model.graph().node(i)));
  return order;
}

}  // namespace rewright::model
