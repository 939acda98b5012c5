// The text form of graphs, one node a line. Beyond what <rewright/graph/graph.h> shows:
//
//     "conv 1/x:0" = input float16 (2, 4)              names that are no words stand in double quotes
//     split.0, split.1 = split[sizes=[1, 1]](x)        several outputs: a name and a number each
//     e = opaque "Einsum"(x, y) -> (2, 4), int64 (3)   nodes that no operator knows: type, operands, types of outputs
//     one = constant_one[sizes=[2, 4]]                 no operands
//     output e, result = one                           the one last line; outputs may have names of their own
//     b = weight (3) [1, -2.5, 0]                      a weight may have values: text_values.h
//
// Files have more: graph_file.h.
//
// Empty lines, and what follows # at the start of a line, are passed over.
#include <rewright/graph/graph.h>
#include <rewright/plugin/registry.h>

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <utility>

#include "base/scanner.h"
#include "graph/text_form.h"

namespace rewright {

namespace {

std::string text_of(const TensorType& type) {
  if (type.element == ElementType::kFloat32) return to_string(type.shape);
  return fmt::format("{} {}", name_of(type.element), to_string(type.shape));
}

/// In quotes, every byte that is not printable ASCII as \xNN.
std::string bytes_in_quotes(std::string_view bytes) {
  std::string text = "\"";
  for (const char c : bytes) {
    if (c == '"' || c == '\\') text += '\\';
    if (c >= ' ' && c <= '~') {
      text += c;
    } else {
      text += fmt::format("\\x{:02x}", static_cast<unsigned char>(c));
    }
  }
  return text + "\"";
}

// --- writing -------------------------------------------------------------------------------------------------

class GraphWriter {
 public:
  /// `file`: where long values go; null: no values are written.
  explicit GraphWriter(const Graph& graph, WeightFile* file = nullptr)
      : graph_(graph), file_(file), names_(graph.nodes().size()) {
    for (const NodeId id : graph.inputs()) {
      names_[id.value] = {graph.node(id).name};
      taken_.insert(graph.node(id).name);
    }
    for (std::size_t i = 0; i < names_.size(); ++i) {
      if (!graph.nodes()[i].is_input()) names_[i] = fresh_names(graph.nodes()[i]);
    }
  }

  [[nodiscard]] std::string text() const {
    std::string text = frame();
    for (std::size_t i = 0; i < names_.size(); ++i) {
      for (std::size_t output = 0; output < names_[i].size(); ++output)
        text += (output == 0 ? "" : ", ") + written(names_[i][output]);
      text += " = " + definition(graph_.nodes()[i]) + "\n";
    }
    text += "output";
    for (std::size_t i = 0; i < graph_.outputs().size(); ++i) {
      const std::string name = i < graph_.output_names().size() ? graph_.output_names()[i] : "";
      text += i == 0 ? " " : ", ";
      if (!name.empty()) text += written(name) + " = ";
      text += name_of(graph_.outputs()[i]);
    }
    return text + "\n";
  }

 private:
  static std::string written(const std::string& name) {
    Scanner scanner(name);
    const auto word = scanner.identifier(true);
    return word && word->size() == name.size() && name != "output" ? name : in_quotes(name);
  }

  // The node's name or its operator's, with a number where it is taken; one per output.
  std::vector<std::string> fresh_names(const Node& node) {
    const ApplicationNode* application = node.application();
    const std::string wish = !node.name.empty() ? node.name : application ? application->op->name() : "opaque";
    for (int n = 1;; ++n) {
      const std::string base = n == 1 ? wish : fmt::format("{}_{}", wish, n);
      std::vector<std::string> names;
      for (std::size_t i = 0; i < node.outputs.size(); ++i)
        names.push_back(node.outputs.size() == 1 ? base : fmt::format("{}.{}", base, i));
      if (std::any_of(names.begin(), names.end(), [&](const auto& name) { return taken_.contains(name); })) continue;
      taken_.insert(names.begin(), names.end());
      return names;
    }
  }

  [[nodiscard]] std::string name_of(Port port) const { return written(names_[port.node.value][port.output]); }

  /// The line of what opaque nodes need of their model.
  [[nodiscard]] std::string frame() const {
    if (file_ == nullptr) return {};
    for (const Node& node : graph_.nodes()) {
      if (node.opaque() && node.opaque()->frame) return "model " + bytes_in_quotes(*node.opaque()->frame) + "\n";
    }
    return {};
  }

  [[nodiscard]] std::string definition(const Node& node) const {
    if (node.is_input()) {
      std::string text = (node.is_weight() ? "weight " : "input ") + text_of(node.outputs.front());
      if (file_ != nullptr && node.constant()) text += text_of_value(*node.constant(), *file_);
      return text;
    }
    const OpaqueNode* opaque = node.opaque();
    std::string text = opaque ? "opaque " + in_quotes(opaque->type) : to_string(*node.application());
    if (opaque && file_ != nullptr) text += " " + bytes_in_quotes(opaque->serialized);
    if (!node.inputs.empty() || !text.ends_with(']')) {
      text += "(";
      for (std::size_t i = 0; i < node.inputs.size(); ++i) text += (i == 0 ? "" : ", ") + name_of(node.inputs[i]);
      text += ")";
    }
    if (opaque) {
      for (std::size_t i = 0; i < node.outputs.size(); ++i) text += (i == 0 ? " -> " : ", ") + text_of(node.outputs[i]);
    }
    return text;
  }

  const Graph& graph_;
  WeightFile* file_;
  std::vector<std::vector<std::string>> names_;
  std::set<std::string> taken_;
};

// --- reading -------------------------------------------------------------------------------------------------

class GraphReader {
 public:
  GraphReader(std::string_view text, const Registry& registry, const WeightReader& read)
      : registry_(registry), read_weight_(read), builder_(&registry) {
    while (!text.empty()) {
      const std::string_view line = text.substr(0, text.find('\n'));
      text.remove_prefix(std::min(line.size() + 1, text.size()));
      lines_.push_back(line);
    }
  }

  Result<Graph> read() {
    bool ended = false;
    for (line_ = 0; line_ < lines_.size(); ++line_) {
      Scanner scanner(lines_[line_], line_ + 1);
      if (scanner.at_end() || scanner.sees("#")) continue;
      if (ended) return scanner.expected("nothing more after the outputs");
      REWRIGHT_TRY(const bool is_frame, take_frame(scanner));
      if (is_frame) continue;
      ended = take_output(scanner);
      REWRIGHT_CHECK(ended ? read_outputs(scanner) : read_node(scanner));
      if (!scanner.at_end()) return scanner.expected("the end of the line");
    }
    if (!ended)
      return make_error(ErrorCode::kParse,
                        "line {}: expected 'output' and the names of the outputs, found the end of the"
                        " text",
                        lines_.size() + 1);
    return builder_.finish();
  }

 private:
  struct Place {
    std::string name;
    std::size_t position;
  };

  static bool take_output(Scanner& scanner) {
    const std::size_t start = scanner.position();
    if (scanner.identifier(true) == std::optional<std::string_view>("output")) return true;
    scanner.set_position(start);
    return false;
  }

  /// The line `model "..."`.
  Result<bool> take_frame(Scanner& scanner) {
    const std::size_t start = scanner.position();
    const bool is_model = scanner.identifier(true) == std::optional<std::string_view>("model");
    if (!is_model || !scanner.sees("\"")) {
      scanner.set_position(start);
      return false;
    }
    REWRIGHT_TRY(std::string frame, scanner.name("a serialized model, in quotes"));
    if (!scanner.at_end()) return scanner.expected("the end of the line");
    frame_ = std::make_shared<const std::string>(std::move(frame));
    return true;
  }

  static Result<std::vector<Place>> read_names(Scanner& scanner) {
    std::vector<Place> names;
    do {
      scanner.skip_space();
      const std::size_t position = scanner.position();
      REWRIGHT_TRY(std::string name, scanner.name(names.empty() ? "a node's name or 'output'" : "a name"));
      names.push_back({std::move(name), position});
    } while (scanner.take(","));
    return names;
  }

  Status read_node(Scanner& scanner) {
    REWRIGHT_TRY(const std::vector<Place> names, read_names(scanner));
    for (std::size_t i = 0; i < names.size(); ++i) {
      const bool again = std::any_of(names.begin(), names.begin() + static_cast<std::ptrdiff_t>(i),
                                     [&](const Place& other) { return other.name == names[i].name; });
      if (again || ports_.contains(names[i].name))
        return scanner.error_at(names[i].position, ErrorCode::kParse,
                                fmt::format("the name {} is given twice", in_quotes(names[i].name)));
    }
    REWRIGHT_CHECK(scanner.expect("=", "after a node's names"));
    scanner.skip_space();
    const std::size_t position = scanner.position();
    const auto word = scanner.identifier();
    if (!word) return scanner.expected("'input', 'weight', 'opaque' or an operator");
    REWRIGHT_TRY(const std::vector<Port> ports, *word == "input"    ? read_input(scanner, names, InputKind::kData)
                                                : *word == "weight" ? read_input(scanner, names, InputKind::kWeight)
                                                : *word == "opaque"
                                                    ? read_opaque(scanner)
                                                    : read_application(scanner, *word, position, names));
    if (ports.size() != names.size())
      return scanner.error_at(
          position, ErrorCode::kParse,
          fmt::format("{} has {} outputs, and {} names stand before it", *word, ports.size(), names.size()));
    for (std::size_t i = 0; i < names.size(); ++i) ports_.emplace(names[i].name, ports[i]);
    return {};
  }

  Result<std::vector<Port>> read_input(Scanner& scanner, std::span<const Place> names, InputKind kind) {
    REWRIGHT_TRY(TensorType type, read_type(scanner));
    std::shared_ptr<const ConstantData> value;
    if (kind == InputKind::kWeight) {
      REWRIGHT_TRY(value, read_value(scanner, type, read_weight_));
    }
    const auto port = builder_.input(names.front().name, std::move(type), kind, std::move(value));
    if (!port) return scanner.error_at(names.front().position, port.error().code, port.error().message);
    return std::vector<Port>{*port};
  }

  Result<std::vector<Port>> read_opaque(Scanner& scanner) {
    REWRIGHT_TRY(std::string type, scanner.name("the type of the opaque node, in quotes"));
    std::string serialized;
    if (scanner.sees("\"")) {
      REWRIGHT_TRY(serialized, scanner.name("a serialized node, in quotes"));
    }
    REWRIGHT_TRY(std::vector<Port> operands, read_operands(scanner));
    std::vector<TensorType> outputs;
    if (scanner.take("->")) {
      do {
        REWRIGHT_TRY(TensorType output, read_type(scanner));
        outputs.push_back(std::move(output));
      } while (scanner.take(","));
    }
    return builder_.opaque({std::move(type), std::move(serialized), frame_}, std::move(operands), std::move(outputs));
  }

  Result<std::vector<Port>> read_application(Scanner& scanner, std::string_view name, std::size_t position,
                                             std::span<const Place> names) {
    const auto op = registry_.get<Operator>(name);
    if (!op) return scanner.error_at(position, op.error().code, op.error().message);
    scanner.skip_space();
    const std::size_t params_position = scanner.position();
    std::string_view params_text;
    if (scanner.sees("[")) {
      REWRIGHT_TRY(params_text, scanner.brackets());
    }
    const auto symbolic = parse_params((*op)->name(), (*op)->info().params, params_text);
    if (!symbolic) return scanner.error_at(params_position, symbolic.error().code, symbolic.error().message);
    auto params = evaluate(*symbolic, [](SizeVar) { return std::nullopt; });
    if (!params)
      return scanner.error_at(params_position, ErrorCode::kParse, "the sizes of a graph are numbers, not variables");
    std::vector<Port> operands;
    if (params_text.empty() || scanner.sees("(")) {
      REWRIGHT_TRY(operands, read_operands(scanner));
    }
    auto ports = builder_.apply(**op, *std::move(params), std::move(operands), hint(names));
    if (!ports) return scanner.error_at(position, ports.error().code, ports.error().message);
    return ports;
  }

  // "split" for split.0, split.1; the name itself for one output.
  static std::string hint(std::span<const Place> names) {
    if (names.size() == 1) return names.front().name;
    std::string base = names.front().name;
    if (!base.ends_with(".0")) return {};
    base.resize(base.size() - 2);
    for (std::size_t i = 0; i < names.size(); ++i) {
      if (names[i].name != fmt::format("{}.{}", base, i)) return {};
    }
    return base;
  }

  Result<std::vector<Port>> read_operands(Scanner& scanner) {
    std::vector<Port> ports;
    REWRIGHT_CHECK(scanner.expect("(", "before the operands"));
    if (scanner.take(")")) return ports;
    do {
      REWRIGHT_TRY(const Port port, read_port(scanner));
      ports.push_back(port);
    } while (scanner.take(","));
    REWRIGHT_CHECK(scanner.expect(")", "or ',' after an operand"));
    return ports;
  }

  Result<Port> read_port(Scanner& scanner) {
    scanner.skip_space();
    const std::size_t position = scanner.position();
    REWRIGHT_TRY(const std::string name, scanner.name("the name of a tensor"));
    return port_of(scanner, name, position);
  }

  Result<Port> port_of(Scanner& scanner, const std::string& name, std::size_t position) const {
    if (const auto known = ports_.find(name); known != ports_.end()) return known->second;
    const auto line = line_that_makes(name);
    if (!line)
      return scanner.error_at(position, ErrorCode::kParse, fmt::format("no node is named {}", in_quotes(name)));
    return scanner.error_at(
        position, ErrorCode::kParse,
        fmt::format(
            "{} is made on line {}, so it cannot be used here: a graph has no cycles, and a node stands below its"
            " operands",
            in_quotes(name), *line));
  }

  // Only asked when something is wrong, so it may read all lines.
  [[nodiscard]] std::optional<std::size_t> line_that_makes(const std::string& name) const {
    for (std::size_t i = line_; i < lines_.size(); ++i) {
      Scanner scanner(lines_[i]);
      if (scanner.sees("#") || take_output(scanner)) continue;
      const auto names = read_names(scanner);
      if (!names || !scanner.sees("=")) continue;
      if (std::any_of(names->begin(), names->end(), [&](const Place& place) { return place.name == name; }))
        return i + 1;
    }
    return std::nullopt;
  }

  Status read_outputs(Scanner& scanner) {
    if (scanner.at_end()) return {};
    do {
      scanner.skip_space();
      const std::size_t position = scanner.position();
      REWRIGHT_TRY(const std::string name, scanner.name("the name of an output"));
      const bool named = scanner.take("=");
      REWRIGHT_TRY(const Port port, named ? read_port(scanner) : port_of(scanner, name, position));
      builder_.output(port, named ? name : "");
    } while (scanner.take(","));
    return {};
  }

  static Result<TensorType> read_type(Scanner& scanner) {
    TensorType type;
    scanner.skip_space();
    const std::size_t position = scanner.position();
    if (const auto word = scanner.identifier()) {
      const auto known = element_type_named(*word);
      if (!known)
        return scanner.error_at(
            position, ErrorCode::kParse,
            fmt::format("'{}' is no element type; there are float32, float16, int64, bool and others"
                        " of ONNX",
                        *word));
      type.element = *known;
    }
    REWRIGHT_CHECK(scanner.expect("(", "before the sizes of a shape, as in (2, 4)"));
    if (scanner.take(")")) return type;
    std::int64_t elements = 1;
    do {
      scanner.skip_space();
      const std::size_t at = scanner.position();
      REWRIGHT_TRY(const std::int64_t size, scanner.number("a size"));
      type.shape.append(size);
      if (type.shape.rank() > kMaxRank)
        return scanner.error_at(at, ErrorCode::kParse, fmt::format("a tensor has at most {} axes", kMaxRank));
      if (__builtin_mul_overflow(elements, std::max<std::int64_t>(size, 1), &elements) ||
          elements > (std::int64_t{1} << 62))
        return scanner.error_at(at, ErrorCode::kParse, "this tensor would have more than 2^62 elements");
    } while (scanner.take(","));
    REWRIGHT_CHECK(scanner.expect(")", "or ',' after a size"));
    return type;
  }

  const Registry& registry_;
  const WeightReader& read_weight_;
  GraphBuilder builder_;
  std::shared_ptr<const std::string> frame_;
  std::vector<std::string_view> lines_;
  std::size_t line_ = 0;
  std::map<std::string, Port, std::less<>> ports_;
};

}  // namespace

std::string to_text(const Graph& graph) { return GraphWriter(graph).text(); }
std::string to_text(const Graph& graph, WeightFile& file) { return GraphWriter(graph, &file).text(); }

Result<Graph> parse_graph(std::string_view text, const Registry& registry) { return parse_graph(text, registry, {}); }
Result<Graph> parse_graph(std::string_view text, const Registry& registry, const WeightReader& read) {
  return GraphReader(text, registry, read).read();
}

}  // namespace rewright
