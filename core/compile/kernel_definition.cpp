#include "compile/kernel_definition.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "loop/composition.h"

namespace rewright::compile {
namespace {

bool is_operand(const Buffer& buffer) {
  return buffer.role == BufferRole::kInput || buffer.role == BufferRole::kWeight;
}

class Composition {
 public:
  explicit Composition(std::span<const DefinitionPart> parts) : parts_(parts) {}

  Definition compose() {
    for (std::uint32_t i = 0; i < parts_.size(); ++i) add(i);
    for (std::uint32_t i = 0; i < parts_.size(); ++i) expose_outputs(i);
    return loop::inlined(std::move(whole_));
  }

 private:
  void add(std::uint32_t i) {
    const DefinitionPart& part = parts_[i];
    std::vector<BufferId> operands;
    auto source = part.sources.begin();
    for (const Buffer& buffer : part.definition.buffers) {
      if (is_operand(buffer)) operands.push_back(operand(buffer, *source++));
    }
    outputs_.push_back(loop::append(whole_, part.definition, operands, fmt::format("part{}_", i)));
  }
  BufferId operand(const Buffer& buffer, const Kernel::Source& source) {
    if (!source.is_outside()) return outputs_[source.application][source.output];
    whole_.buffers.push_back(buffer);
    whole_.buffers.back().name = fmt::format("x{}", operand_count_++);
    return {static_cast<std::uint32_t>(whole_.buffers.size() - 1)};
  }
  void expose_outputs(std::uint32_t i) {
    for (std::uint32_t output = 0; output < outputs_[i].size(); ++output) {
      if (is_taken({i, output})) continue;
      Buffer& buffer = whole_.buffers[outputs_[i][output].value];
      buffer.role = BufferRole::kOutput;
      buffer.name = fmt::format("y{}", output_count_++);
    }
  }
  [[nodiscard]] bool is_taken(const Kernel::Source& output) const {
    return std::ranges::any_of(parts_, [&](const DefinitionPart& part) {
      return std::ranges::find(part.sources, output) != part.sources.end();
    });
  }

  std::span<const DefinitionPart> parts_;
  Definition whole_;
  std::vector<std::vector<BufferId>> outputs_;  ///< By part.
  int operand_count_ = 0, output_count_ = 0;
};

}  // namespace

Definition composed(std::span<const DefinitionPart> parts) { return Composition(parts).compose(); }

Result<Definition> definition_of(const Application& application, const ElementTypes& types) {
  REWRIGHT_TRY(Definition definition, application.op.definition(application.params, application.in));
  std::size_t operand = 0, output = 0;
  for (Buffer& buffer : definition.buffers) {
    if (is_floating(buffer.element)) buffer.element = types.numbers;
    if (is_operand(buffer)) {
      const bool is_weight = application.kinds[operand++] == InputKind::kWeight;
      buffer.role = is_weight ? BufferRole::kWeight : BufferRole::kInput;
    }
    if (buffer.role == BufferRole::kOutput && !types.outputs.empty()) buffer.element = types.outputs[output++];
  }
  return definition;
}

Result<Definition> definition_of(const Kernel& kernel, std::span<const ElementTypes> types) {
  std::vector<DefinitionPart> parts;
  for (std::size_t i = 0; i < kernel.applications.size(); ++i) {
    const Application& application = kernel.applications[i];
    DefinitionPart& part = parts.emplace_back();
    REWRIGHT_TRY(part.definition, definition_of(application, types.empty() ? ElementTypes() : types[i]));
    for (std::size_t k = 0; k < application.in.size(); ++k) part.sources.push_back(kernel.source(i, k));
  }
  return composed(parts);
}

}  // namespace rewright::compile
