#include "optimize/node_runner.h"

#include <algorithm>
#include <utility>

namespace rewright {
namespace {

/// Sessions kept at a time. Each holds some 100 KB.
constexpr std::size_t kMostSessions = 1024;

}  // namespace

Status NodeRunner::set_model(std::string_view model) {
  REWRIGHT_TRY(models_, model::NodeModels::create(model));
  return {};
}

Result<NodeRunner::Loaded*> NodeRunner::load(const Node& node, std::span<const ElementType> types, bool wide) {
  REWRIGHT_TRY(model::NodeModel written, models_.write(node.opaque()->serialized, types, wide));
  if (const auto found = loaded_.find(written.model); found != loaded_.end()) return &found->second;
  if (loaded_.size() >= kMostSessions) loaded_.clear();
  Loaded loaded;
  auto session = runtime_->load(std::as_bytes(std::span(written.model)), {directory_, false});
  if (session) {
    loaded.session = *std::move(session);
  } else {
    loaded.trouble = session.error().message;
  }
  std::string content = written.model;
  written.model.clear();
  loaded.model = std::move(written);
  return &loaded_.emplace(std::move(content), std::move(loaded)).first->second;
}

Result<std::vector<RuntimeTensor>> NodeRunner::run_as(const Node& node, std::span<const ElementType> types, bool wide,
                                                      const Operands& operand) {
  REWRIGHT_TRY(Loaded* const loaded, load(node, types, wide));
  if (loaded->session == nullptr) return make_error(ErrorCode::kUnsupported, "{}", loaded->trouble);
  const model::NodeModel& model = loaded->model;
  std::vector<RuntimeTensor> inputs;
  for (std::size_t i = 0; i < types.size(); ++i) {
    const auto is_fed = [&](const RuntimeTensor& input) { return input.name == model.inputs[i]; };
    if (std::ranges::any_of(inputs, is_fed)) continue;
    inputs.push_back(operand(i, model.fed[i]));
    inputs.back().name = model.inputs[i];
  }
  REWRIGHT_TRY(std::vector<RuntimeTensor> made, loaded->session->run(inputs));
  std::vector<RuntimeTensor> outputs(node.outputs.size(), {"", {{}, ElementType::kUnknown}, {}});
  for (std::size_t i = 0; i < made.size() && i < model.outputs.size(); ++i)
    outputs[model.outputs[i]] = std::move(made[i]);
  return outputs;
}

Result<std::vector<RuntimeTensor>> NodeRunner::run(const Node& node, std::span<const ElementType> types, bool wide,
                                                   const Operands& operand) {
  if (wide) {
    if (auto outputs = run_as(node, types, true, operand)) return outputs;
  }
  auto outputs = run_as(node, types, false, operand);
  if (outputs) return outputs;
  return make_error(ErrorCode::kUnsupported, "node '{}' does not run by itself ({})", node.opaque()->type,
                    outputs.error().message);
}

}  // namespace rewright
