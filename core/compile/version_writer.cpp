#include "compile/version_writer.h"

#include <rewright/loop/element_types.h>

#include <fmt/ranges.h>

#include <algorithm>
#include <bit>

#include "base/files.h"
#include "compile/memory_plan.h"
#include "loop/interpreter.h"
#include "loop/reserved_words.h"

namespace rewright::compile {
namespace {

/// Equal for weights of equal bytes.
std::string content_of(const PlacedWeight& weight) {
  if (const auto* external = std::get_if<ExternalWeight>(&weight.value))
    return fmt::format("{} {} {}", external->file, external->offset, external->bytes);
  const ConstantData& constant = *std::get<std::shared_ptr<const ConstantData>>(weight.value);
  const std::string type = fmt::format("{} {} ", name_of(constant.type.element), to_string(constant.type.shape));
  if (const auto* number = std::get_if<double>(&constant.value))
    return fmt::format("{}= {:x}", type, std::bit_cast<std::uint64_t>(*number));
  const auto& bytes = std::get<std::vector<std::byte>>(constant.value);
  return type + content_hash({reinterpret_cast<const char*>(bytes.data()), bytes.size()});
}

WeightForm form_of(const KernelCall& call, std::size_t buffer) {
  return buffer < call.forms.size() ? call.forms[buffer] : WeightForm();
}

std::int64_t size_of(const Buffer& buffer) {
  return *loop::element_count(buffer) * static_cast<std::int64_t>(element_size(buffer.element));
}

std::string table(const std::vector<NamedTensor>& tensors, std::string_view word) {
  std::string text;
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    const Shape& shape = tensors[i].type.shape;
    text += fmt::format("static const int64_t {}_{}_sizes[] = {{{}}};\n", word, i,
                        shape.rank() == 0 ? "0" : fmt::format("{}", fmt::join(shape.begin(), shape.end(), ", ")));
  }
  text += fmt::format("static const @name@_tensor {}s[] = {{\n", word);
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    const TensorType& type = tensors[i].type;
    text += fmt::format("  {{{}, \"{}\", {}, {}_{}_sizes, {}}},\n", c_string(tensors[i].name), name_of(type.element),
                        type.shape.rank(), word, i, bytes_of(type));
  }
  if (tensors.empty()) text += "  {0}\n";
  return text + "};\n";
}

}  // namespace

std::int64_t bytes_of(const TensorType& type) {
  return type.shape.elements() * static_cast<std::int64_t>(element_size(type.element));
}

std::string c_string(std::string_view text) {
  std::string result = "\"";
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    const bool is_plain = byte >= 0x20 && byte != 0x7f && c != '?' && c != '@' && c != '"' && c != '\\';
    result += is_plain ? std::string(1, c) : fmt::format("\\{:03o}", byte);
  }
  return result + '"';
}

std::string in_comment(std::string_view text) {
  std::string result;
  for (const char c : text) {
    if (c == '/' && result.ends_with('*')) result += ' ';
    result += static_cast<unsigned char>(c) < 0x20 ? '?' : c;
  }
  return result;
}

std::int64_t WeightPlaces::place(PlacedWeight weight, std::int64_t bytes) {
  const std::string content = content_of(weight);
  for (auto [at, end] = known_.equal_range(content); at != end; ++at)
    if (placed_[at->second].packing == weight.packing) return placed_[at->second].offset;
  known_.emplace(content, placed_.size());
  weight.offset = aligned(bytes_);
  bytes_ = weight.offset + bytes;
  placed_.push_back(std::move(weight));
  return placed_.back().offset;
}

VersionWriter::VersionWriter(const ModelVersion& version, WeightPlaces& weights)
    : graph_(*version.graph), external_(*version.external), kernels_(*version.kernels) {
  version_.sizes = version.sizes;
  name_tensors();
  place_weights(weights);
  place_buffers();
}

void VersionWriter::name_tensors() {
  for (const NodeId id : graph_.inputs()) {
    if (graph_.node(id).is_data()) version_.inputs.push_back(named(graph_.node(id).name, {id, 0}));
  }
  for (std::size_t i = 0; i < graph_.outputs().size(); ++i) {
    const auto names = graph_.output_names();
    const std::string name = i < names.size() ? names[i] : "";
    version_.outputs.push_back(named(name.empty() ? fmt::format("output{}", i) : name, graph_.outputs()[i]));
  }
}

// --- where tensors lie -------------------------------------------------------------------------------------------

void VersionWriter::place_weights(WeightPlaces& weights) {
  for (const NodeId id : graph_.inputs()) {
    const Port port{id, 0};
    if (!graph_.node(id).is_weight()) continue;
    for (const auto& [form, elements] : forms_of(port)) {
      PlacedWeight weight;
      if (const auto lies = external_.find(graph_.node(id).name); lies != external_.end()) {
        weight.value = lies->second;
      } else {
        weight.value = graph_.node(id).constant();
      }
      const TensorType& type = graph_.type(port);
      const bool are_places = form.sparse && form.sparse->kind == SparsePart::Kind::kPlaces;
      const ElementType element = are_places ? form.sparse->element : type.element;
      if (!form.is_plain())
        weight.packing = Packing{
            form, {type.shape.begin(), type.shape.end()}, static_cast<std::int64_t>(element_size(element)), elements};
      const std::int64_t bytes = form.is_plain() ? bytes_of(port) : weight.packing->bytes();
      const std::string place = fmt::format("(w + {})", weights.place(std::move(weight), bytes));
      if (form.is_plain()) places_[port] = place;
      weight_places_[port].emplace_back(form, place);
    }
  }
}

/// In which the weight is used, each with its size in elements.
std::vector<std::pair<WeightForm, std::int64_t>> VersionWriter::forms_of(Port port) const {
  std::vector<std::pair<WeightForm, std::int64_t>> forms;
  if (std::ranges::find(graph_.outputs(), port) != graph_.outputs().end()) forms.emplace_back();
  for (const KernelCall& call : kernels_.calls) {
    for (std::size_t b = 0; b < call.tensors.size(); ++b) {
      if (call.tensors[b] != port) continue;
      std::pair form(form_of(call, b), *loop::element_count(kernels_.program(call).buffers[b]));
      if (std::ranges::find(forms, form.first, [](const auto& known) { return known.first; }) == forms.end())
        forms.push_back(std::move(form));
    }
  }
  return forms;
}

void VersionWriter::place_buffers() {
  for (std::size_t i = 0; i < version_.inputs.size(); ++i)
    places_[version_.inputs[i].port] = fmt::format("inputs[{}]", i);
  for (std::size_t i = 0; i < version_.outputs.size(); ++i) {
    places_.try_emplace(version_.outputs[i].port, fmt::format("outputs[{}]", i));
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
  version_.memory_bytes = plan.bytes;
  for (const auto& [port, at] : known) places_[port] = fmt::format("(m + {})", plan.offsets[at]);
  for (std::size_t i = 0; i < own.size(); ++i) own_places_[own[i]] = fmt::format("(m + {})", plan.offsets[own_at[i]]);
}

std::int64_t VersionWriter::bytes_of(Port port) const { return compile::bytes_of(graph_.type(port)); }

std::string VersionWriter::place_of(const KernelCall& call, std::size_t buffer) const {
  const Port port = *call.tensors[buffer];
  const auto weight = weight_places_.find(port);
  if (weight == weight_places_.end()) return places_.at(port);
  const WeightForm form = form_of(call, buffer);
  return std::ranges::find(weight->second, form, [](const auto& place) { return place.first; })->second;
}

// --- texts -------------------------------------------------------------------------------------------------------

std::string VersionWriter::rows(std::string_view indent) const {
  std::string text;
  const auto add = [&](const std::vector<NamedTensor>& tensors, std::string_view word) {
    for (std::size_t i = 0; i < tensors.size(); ++i) {
      const TensorType& type = tensors[i].type;
      text += fmt::format(" * {}{}[{}]  {}, {} {}, {} bytes\n", indent, word, i, in_comment(tensors[i].name),
                          name_of(type.element), to_string(type.shape), compile::bytes_of(type));
    }
  };
  add(version_.inputs, "inputs");
  add(version_.outputs, "outputs");
  return text;
}

std::string VersionWriter::tables() const {
  return table(version_.inputs, "input") + table(version_.outputs, "output");
}

std::string VersionWriter::run_function() const {
  std::string text =
      "static int run(const @name@_weights *weights, const void *const *inputs, void *const *outputs, void *memory) {\n"
      "  const unsigned char *const w = weights->bytes;\n"
      "  unsigned char *const m = memory;\n"
      "  int fault = 0;\n  (void)w, (void)m, (void)inputs;\n";
  for (std::size_t k = 0; k < kernels_.calls.size(); ++k) text += call(k);
  for (std::size_t i = 0; i < version_.outputs.size(); ++i) {
    const Port port = version_.outputs[i].port;
    const std::string own = fmt::format("outputs[{}]", i), place = places_.at(port);
    if (place != own) text += fmt::format("  memcpy({}, {}, {});\n", own, place, bytes_of(port));
  }
  return text + "  return fault;\n}\n";
}

std::string VersionWriter::call(std::size_t k) const {
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

}  // namespace rewright::compile
