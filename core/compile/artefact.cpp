#include "compile/artefact.h"

#include <rewright/loop/element_types.h>

#include <fmt/ranges.h>

#include <algorithm>
#include <iterator>
#include <numeric>

#include "base/files.h"
#include "compile/artefact_texts.h"
#include "compile/binding_texts.h"
#include "compile/memory_plan.h"
#include "loop/interpreter.h"
#include "loop/reserved_words.h"

namespace rewright::compile {
namespace {

/// Names that another file of the artefact, a header it includes, a module of Python, a target of make or a function
/// of libc has.
constexpr std::string_view kTakenNames[] = {
    "all", "clean", "ctypes",  "fcntl",  "main",   "math",  "mman",   "mq",     "os",   "numpy",  "sem",
    "shm", "stat",  "stdbool", "stddef", "stdint", "stdio", "stdlib", "string", "time", "unistd", "wheel"};

constexpr std::string_view kPlainFlags[] = {"-std=c11", "-O3"};
/// As target c compiles these dialects.
constexpr std::string_view kVectorFlags[] = {"-std=gnu11",         "-O2",       "-ffp-contract=off", "-fno-math-errno",
                                             "-fno-trapping-math", "-Wno-psabi"};

/// Of any bytes. Question marks could make trigraphs; '@' is what names are filled in by.
std::string c_string(std::string_view text) {
  std::string result = "\"";
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    const bool is_plain = byte >= 0x20 && byte != 0x7f && c != '?' && c != '@' && c != '"' && c != '\\';
    result += is_plain ? std::string(1, c) : fmt::format("\\{:03o}", byte);
  }
  return result + '"';
}

/// What stays inside a comment.
std::string in_comment(std::string_view text) {
  std::string result;
  for (const char c : text) {
    if (c == '/' && result.ends_with('*')) result += ' ';
    result += static_cast<unsigned char>(c) < 0x20 ? '?' : c;
  }
  return result;
}

class ArtefactWriter {
 public:
  ArtefactWriter(const std::string& name, const ImportedModel& model, const Kernels& kernels,
                 const tune::InstructionSet* instructions)
      : name_(name), graph_(model.graph), external_(model.external), kernels_(kernels), instructions_(instructions) {
    artefact_.name = name;
    if (instructions != nullptr) artefact_.instructions = instructions->name;
    for (const std::string_view flag : instructions != nullptr ? std::span<const std::string_view>(kVectorFlags)
                                                               : std::span<const std::string_view>(kPlainFlags))
      artefact_.flags.emplace_back(flag);
  }

  Result<Artefact> write(const Target& target) {
    name_tensors();
    place_weights();
    place_buffers();
    const std::string dialect = instructions_ != nullptr ? instructions_->dialect : "c11";
    REWRIGHT_TRY(const std::string functions, target.source(kernels_.functions, {.dialect = dialect}));
    const bool beside = artefact_.weight_bytes > kMostEmbeddedBytes;
    REWRIGHT_TRY(const std::string weights, beside ? mapped() : embedded());
    auto& files = artefact_.files;
    has_pool_ = functions.find("rewright_parallel") != std::string::npos;
    if (has_pool_) artefact_.flags.emplace_back("-pthread");
    files[name_ + ".h"] = header();
    files[name_ + ".c"] = filled(has_pool_ ? "#define rewright_parallel @name@_parallel\n" : "") +
                          std::string(kFeatureText) + with_features(functions) + "\n" + interface(weights);
    files["main.c"] = filled(kMainText);
    files["Makefile"] = filled(kMakefileText);
    files["CMakeLists.txt"] = filled(kCMakeText);
    files[name_ + ".py"] = filled(kPythonText);
    files["wheel.py"] = filled(kWheelText);
    files[name_ + ".hpp"] = filled(kCppText);
    files[name_ + "_ort.c"] = filled(kOperatorText);
    files[name_ + ".onnx"] = single_node_model(name_, artefact_.inputs, artefact_.outputs);
    if (!beside) artefact_.weights.clear();
    return std::move(artefact_);
  }

 private:
  /// GCC may use the instructions in these functions, and nowhere else.
  [[nodiscard]] std::string with_features(const std::string& functions) const {
    if (instructions_ == nullptr || instructions_->features.empty()) return functions;
    return fmt::format(
        "#if defined(__clang__)\n#pragma clang attribute push(__attribute__((target(\"{0}\"))), apply_to = "
        "function)\n#elif defined(__GNUC__)\n#pragma GCC push_options\n#pragma GCC target(\"{0}\")\n#endif\n{1}"
        "#if defined(__clang__)\n#pragma clang attribute pop\n#elif defined(__GNUC__)\n#pragma GCC pop_options\n"
        "#endif\n",
        instructions_->features, functions);
  }
  /// Nothing, or what a model asks first when it is opened.
  [[nodiscard]] std::string processor_test() const {
    if (instructions_ == nullptr || instructions_->test.empty()) return "";
    return fmt::format("  if (!({})) return 2; /* This processor has no {}. */\n", instructions_->test,
                       instructions_->name);
  }
  [[nodiscard]] std::string filled(std::string_view given) const {
    std::string result(given);
    const std::pair<std::string_view, std::string> parts[] = {
        {"@processor@", processor_test()},
        {"@flags@", fmt::format("{}", fmt::join(artefact_.flags, " "))},
        {"@opened@", has_pool_ ? "  if (weights->bytes != NULL) pool_open();\n" : ""},
        {"@closed@", has_pool_ ? "  if (weights->bytes != NULL) pool_close();\n" : ""}};
    for (const auto& [mark, text] : parts) {
      for (std::size_t at = 0; (at = result.find(mark, at)) != std::string::npos; at += text.size())
        result.replace(at, mark.size(), text);
    }
    for (std::size_t at = 0; (at = result.find("@name@", at)) != std::string::npos; at += name_.size()) {
      result.replace(at, 6, name_);
    }
    return result;
  }
  [[nodiscard]] std::int64_t bytes_of(Port port) const {
    return graph_.shape(port).elements() * static_cast<std::int64_t>(element_size(graph_.type(port).element));
  }
  void name_tensors() {
    for (const NodeId id : graph_.inputs()) {
      if (graph_.node(id).is_data()) add(artefact_.inputs, graph_.node(id).name, {id, 0});
    }
    for (std::size_t i = 0; i < graph_.outputs().size(); ++i) {
      const auto names = graph_.output_names();
      const std::string name = i < names.size() ? names[i] : "";
      add(artefact_.outputs, name.empty() ? fmt::format("output{}", i) : name, graph_.outputs()[i]);
    }
  }
  void add(std::vector<NamedTensor>& tensors, const std::string& name, Port port) const {
    tensors.push_back({name, port, graph_.type(port)});
  }

  // --- where tensors lie ---------------------------------------------------------------------------------------

  void place_weights() {
    for (const NodeId id : graph_.inputs()) {
      const Port port{id, 0};
      if (!graph_.node(id).is_weight()) continue;
      for (const auto& parts : layouts_of(port)) {
        PlacedWeight& weight = artefact_.weights.emplace_back();
        weight.offset = aligned(artefact_.weight_bytes);
        if (const auto lies = external_.find(graph_.node(id).name); lies != external_.end()) {
          weight.value = lies->second;
        } else {
          weight.value = graph_.node(id).constant();
        }
        const Shape& shape = graph_.shape(port);
        if (!parts.empty())
          weight.packing = Packing{
              parts, {shape.begin(), shape.end()}, static_cast<std::int64_t>(element_size(graph_.type(port).element))};
        const std::string place = fmt::format("(w + {})", weight.offset);
        if (parts.empty()) places_[port] = place;
        weight_places_[port].emplace_back(parts, place);
        artefact_.weight_bytes = weight.offset + (parts.empty() ? bytes_of(port) : weight.packing->bytes());
      }
    }
  }
  /// In which the weight is used; no parts: as it is.
  [[nodiscard]] std::vector<std::vector<schedule::LayoutPart>> layouts_of(Port port) const {
    std::vector<std::vector<schedule::LayoutPart>> layouts;
    if (std::ranges::find(graph_.outputs(), port) != graph_.outputs().end()) layouts.emplace_back();
    for (const KernelCall& call : kernels_.calls) {
      for (std::size_t b = 0; b < call.tensors.size(); ++b) {
        if (call.tensors[b] != port) continue;
        const auto parts = packing_of(call, b);
        if (std::ranges::find(layouts, parts) == layouts.end()) layouts.push_back(parts);
      }
    }
    return layouts;
  }
  static std::vector<schedule::LayoutPart> packing_of(const KernelCall& call, std::size_t buffer) {
    return buffer < call.packings.size() ? call.packings[buffer] : std::vector<schedule::LayoutPart>();
  }
  [[nodiscard]] std::string place_of(const KernelCall& call, std::size_t buffer) const {
    const Port port = *call.tensors[buffer];
    const auto weight = weight_places_.find(port);
    if (weight == weight_places_.end()) return places_.at(port);
    const auto parts = packing_of(call, buffer);
    return std::ranges::find(weight->second, parts, [](const auto& place) { return place.first; })->second;
  }
  void place_buffers() {
    for (std::size_t i = 0; i < artefact_.inputs.size(); ++i)
      places_[artefact_.inputs[i].port] = fmt::format("inputs[{}]", i);
    for (std::size_t i = 0; i < artefact_.outputs.size(); ++i) {
      places_.try_emplace(artefact_.outputs[i].port, fmt::format("outputs[{}]", i));
    }
    std::map<Port, std::size_t> known;
    std::vector<Lifetime> lifetimes;
    std::vector<std::pair<std::size_t, std::size_t>> own;  ///< Call and buffer, of those that are no port's.
    std::vector<std::size_t> own_at;
    for (std::size_t k = 0; k < kernels_.calls.size(); ++k) {
      const loop::Program& program = kernels_.program(kernels_.calls[k]);
      for (const BufferId id : loop::parameters(program)) {
        const auto port = kernels_.calls[k].tensors[id.value];
        if (port && (places_.contains(*port) || weight_places_.contains(*port))) continue;
        const auto at = port ? known.try_emplace(*port, lifetimes.size()).first->second : lifetimes.size();
        if (at == lifetimes.size()) lifetimes.push_back({size_of(program[id]), k, k});
        lifetimes[at].last = k;
        if (port) continue;
        own.emplace_back(k, id.value);
        own_at.push_back(at);
      }
    }
    const MemoryPlan plan = plan_memory(lifetimes);
    artefact_.memory_bytes = plan.bytes;
    for (const auto& [port, at] : known) places_[port] = fmt::format("(m + {})", plan.offsets[at]);
    for (std::size_t i = 0; i < own.size(); ++i) own_places_[own[i]] = fmt::format("(m + {})", plan.offsets[own_at[i]]);
  }
  static std::int64_t size_of(const Buffer& buffer) {
    return *loop::element_count(buffer) * static_cast<std::int64_t>(element_size(buffer.element));
  }

  // --- texts ---------------------------------------------------------------------------------------------------

  [[nodiscard]] std::string rows(const std::vector<NamedTensor>& tensors, std::string_view word) const {
    std::string text;
    for (std::size_t i = 0; i < tensors.size(); ++i) {
      const TensorType& type = tensors[i].type;
      text += fmt::format(" *   {}[{}]  {}, {} {}, {} bytes\n", word, i, in_comment(tensors[i].name),
                          name_of(type.element), to_string(type.shape), bytes_of(tensors[i].port));
    }
    return text;
  }
  /// What the header says of global state.
  [[nodiscard]] std::string state() const {
    if (!has_pool_) return "There is no global state.";
    return fmt::format(
        "The only global state is\n * a pool of {} beside the caller: started by the first open, shared by all runs, "
        "ended by the last close. Its\n * threads serve one run at a time; a run that finds them busy goes on alone.",
        kernels_.threads == 2 ? "1 thread" : fmt::format("{} threads", kernels_.threads - 1));
  }
  [[nodiscard]] std::string header() const {
    const std::string needs =
        artefact_.instructions.empty()
            ? ""
            : fmt::format(" Compiled for processors with {}: 2 on others.", artefact_.instructions);
    return fmt::format(fmt::runtime(filled(kHeaderText)), fmt::arg("inputs", rows(artefact_.inputs, "inputs")),
                       fmt::arg("outputs", rows(artefact_.outputs, "outputs")),
                       fmt::arg("input_count", artefact_.inputs.size()),
                       fmt::arg("output_count", artefact_.outputs.size()), fmt::arg("memory", artefact_.memory_bytes),
                       fmt::arg("needs", needs), fmt::arg("state", state()));
  }
  [[nodiscard]] std::string table(const std::vector<NamedTensor>& tensors, std::string_view word) const {
    std::string text;
    for (std::size_t i = 0; i < tensors.size(); ++i) {
      const TensorType& type = tensors[i].type;
      text += fmt::format(
          "static const int64_t {}_{}_sizes[] = {{{}}};\n", word, i,
          type.shape.rank() == 0 ? "0" : fmt::format("{}", fmt::join(type.shape.begin(), type.shape.end(), ", ")));
    }
    text += fmt::format("static const @name@_tensor {}s[] = {{\n", word);
    for (std::size_t i = 0; i < tensors.size(); ++i) {
      const TensorType& type = tensors[i].type;
      text += fmt::format("  {{{}, \"{}\", {}, {}_{}_sizes, {}}},\n", c_string(tensors[i].name), name_of(type.element),
                          type.shape.rank(), word, i, bytes_of(tensors[i].port));
    }
    if (tensors.empty()) text += "  {0}\n";
    return text + "};\n";
  }
  [[nodiscard]] Result<std::string> embedded() const {
    REWRIGHT_TRY(const std::vector<std::byte> all, compile::bytes_of(artefact_.weights, artefact_.weight_bytes));
    std::string text = "static const _Alignas(64) unsigned char weight_bytes[] = {";
    for (std::size_t i = 0; i < all.size(); ++i) {
      fmt::format_to(std::back_inserter(text), "{}{},", i % 32 == 0 ? "\n  " : "", static_cast<unsigned>(all[i]));
    }
    return text + (all.empty() ? "0};\n" : "\n};\n") + std::string(kEmbeddedText);
  }
  [[nodiscard]] Result<std::string> mapped() const {
    return fmt::format("#define WEIGHT_BYTES UINT64_C({})\n", artefact_.weight_bytes) + std::string(kMappedText);
  }
  [[nodiscard]] std::string interface(const std::string& weights) const {
    std::string text = fmt::format("#include <stddef.h>\n#include <string.h>\n\n#include \"{}.h\"\n\n", name_);
    if (has_pool_) text += fmt::format("#define THREADS {}\n{}", kernels_.threads, kPoolText);
    text += table(artefact_.inputs, "input") + table(artefact_.outputs, "output") + "\n" + weights;
    text += kTableText;
    text += fmt::format("size_t @name@_memory_bytes(void) {{ return {}; }}\n\n", artefact_.memory_bytes);
    text += fmt::format("#define KERNELS {}\n", kernels_.calls.size()) + std::string(kCallText);
    return filled(text + run_function());
  }
  [[nodiscard]] std::string run_function() const {
    std::string text =
        "int @name@_run(const @name@_weights *weights, const void *const *inputs, void *const *outputs, void *memory) "
        "{\n"
        "  const unsigned char *const w = weights->bytes;\n"
        "  unsigned char *const m = memory;\n"
        "  int fault = 0;\n  (void)w, (void)m, (void)inputs;\n";
    for (std::size_t k = 0; k < kernels_.calls.size(); ++k) text += call(k);
    for (std::size_t i = 0; i < artefact_.outputs.size(); ++i) {
      const Port port = artefact_.outputs[i].port;
      const std::string own = fmt::format("outputs[{}]", i), place = places_.at(port);
      if (place != own) text += fmt::format("  memcpy({}, {}, {});\n", own, place, bytes_of(port));
    }
    return text + "  return fault;\n}\n";
  }
  [[nodiscard]] std::string call(std::size_t k) const {
    const KernelCall& kernel = kernels_.calls[k];
    const loop::Program& program = kernels_.program(kernel);
    std::vector<std::string> arguments;
    std::string result;
    for (const BufferId id : loop::parameters(program)) {
      const Buffer& buffer = program[id];
      const auto port = kernel.tensors[id.value];
      const std::string place = port ? place_of(kernel, id.value) : own_places_.at({k, id.value});
      const bool given = buffer.role == BufferRole::kInput || buffer.role == BufferRole::kWeight;
      arguments.push_back(fmt::format("({}{} *){}", given ? "const " : "", loop::c_type(buffer.element), place));
      if (buffer.role == BufferRole::kOutput)
        result = port->node.value < graph_.nodes().size() ? loop::as_word(graph_.node(port->node).name) : "a copy";
    }
    return fmt::format("  CALL({}, {}({}))  /* {} */\n", k, kernels_.functions[kernel.function].name,
                       fmt::join(arguments, ", "), result);
  }

  std::string name_;
  const Graph& graph_;
  const std::map<std::string, ExternalWeight>& external_;
  const Kernels& kernels_;
  const tune::InstructionSet* instructions_;
  bool has_pool_ = false;
  Artefact artefact_;
  std::map<Port, std::string> places_;  ///< In C.
  /// Of a weight, by the parts of its layout.
  std::map<Port, std::vector<std::pair<std::vector<schedule::LayoutPart>, std::string>>> weight_places_;
  std::map<std::pair<std::size_t, std::size_t>, std::string> own_places_;
};

}  // namespace

std::int64_t Artefact::bytes() const {
  const std::int64_t beside = weights.empty() ? 0 : weight_bytes;
  return std::accumulate(files.begin(), files.end(), beside, [](std::int64_t sum, const auto& file) {
    return sum + static_cast<std::int64_t>(file.second.size());
  });
}

std::string artefact_name(std::string_view stem) {
  const std::string word = loop::as_word(stem);
  return std::ranges::find(kTakenNames, word) == std::end(kTakenNames) ? word : word + "_model";
}

Result<Artefact> make_artefact(const std::string& name, const ImportedModel& model, const Kernels& kernels,
                               const Target& target, const tune::InstructionSet* instructions) {
  return ArtefactWriter(name, model, kernels, instructions).write(target);
}

Status write_artefact(const Artefact& artefact, const std::string& folder) {
  for (const auto& [name, content] : artefact.files) REWRIGHT_CHECK(write_file(folder + "/" + name, content));
  if (artefact.weights.empty()) return {};
  return write_weights(artefact.weights, artefact.weight_bytes, folder + "/" + artefact.name + ".weights");
}

}  // namespace rewright::compile
