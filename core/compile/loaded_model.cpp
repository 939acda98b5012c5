#include "compile/loaded_model.h"

#include <rewright/onnx/batch_times.h>

#include <dlfcn.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdlib>

#include "compile/memory_plan.h"

namespace rewright::compile {
namespace {

constexpr std::size_t kMostNamed = 3;

Error not_compiled(const std::vector<NotCompiled>& nodes) {
  std::vector<std::string> named;
  for (std::size_t i = 0; i < std::min(nodes.size(), kMostNamed); ++i) {
    named.push_back(fmt::format("{}: {}", nodes[i].node, nodes[i].reason));
  }
  const std::string more =
      nodes.size() > kMostNamed ? fmt::format("; and {} more", nodes.size() - kMostNamed) : std::string();
  return make_error(ErrorCode::kUnsupported, "it cannot be compiled: {}{}", fmt::join(named, "; "), more);
}

}  // namespace

/// The arguments of a run. Borrows the inputs' bytes.
struct LoadedModel::Call {
  std::vector<const void*> inputs;
  std::vector<RuntimeTensor> outputs;
  std::vector<void*> places;  ///< Of the outputs.
  std::unique_ptr<void, decltype(&std::free)> memory{nullptr, &std::free};
};

Result<std::unique_ptr<LoadedModel>> LoadedModel::make(const ImportedModel& model, const Registry& registry,
                                                       const Target& target, int seconds) {
  REWRIGHT_TRY(const Kernels kernels, kernels_of(model.graph, model.carried, model.external, &registry));
  if (!kernels.not_compiled.empty()) return not_compiled(kernels.not_compiled);
  const ModelVersion version{&model.graph, &model.external, &kernels};
  REWRIGHT_TRY(Artefact artefact, make_artefact("model", {&version, 1}, target));
  REWRIGHT_TRY(TemporaryFolder folder, TemporaryFolder::make());
  REWRIGHT_CHECK(write_artefact(artefact, folder.path()));
  const std::string source = folder.path() + "/model.c", object = folder.path() + "/model.so";
  REWRIGHT_CHECK(run_c_compiler({"-std=c11", "-O3", "-fPIC", "-shared", "-o", object, source, "-lm"}, seconds));
  std::unique_ptr<LoadedModel> loaded(new LoadedModel(std::move(folder), std::move(artefact)));
  REWRIGHT_CHECK(loaded->load());
  return loaded;
}

LoadedModel::LoadedModel(TemporaryFolder folder, Artefact artefact)
    : folder_(std::move(folder)), artefact_(std::move(artefact)) {
  artefact_.files.clear();
  artefact_.weights.clear();  // They are in the object, or mapped.
}

LoadedModel::~LoadedModel() {
  if (close_ != nullptr) close_(&weights_);
  if (library_ != nullptr) ::dlclose(library_);
}

template <class Function>
Result<Function*> LoadedModel::function(const char* what) const {
  if (auto* found = reinterpret_cast<Function*>(::dlsym(library_, what))) return found;
  return make_error(ErrorCode::kInternal, "compiled code has no function {}", what);
}

Status LoadedModel::load() {
  library_ = ::dlopen((folder_.path() + "/model.so").c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library_ == nullptr) return make_error(ErrorCode::kInternal, "compiled code cannot be loaded: {}", ::dlerror());
  REWRIGHT_TRY(auto* open, function<int(Weights*, const char*)>("model_open"));
  REWRIGHT_TRY(run_, function<int(const Weights*, const void* const*, void* const*, void*)>("model_run"));
  if (open(&weights_, (folder_.path() + "/model.weights").c_str()) != 0) {
    return make_error(ErrorCode::kIo, "{}/model.weights: the weights cannot be read", folder_.path());
  }
  REWRIGHT_TRY(close_, function<void(Weights*)>("model_close"));
  return {};
}

Result<LoadedModel::Call> LoadedModel::prepare(std::span<const RuntimeTensor> inputs) const {
  Call call;
  for (const NamedTensor& wanted : artefact_.versions.front().inputs) {
    const auto given = std::ranges::find(inputs, wanted.name, &RuntimeTensor::name);
    if (given == inputs.end()) return make_error(ErrorCode::kUsage, "input '{}' is not given", wanted.name);
    if (given->type.shape != wanted.type.shape || given->type.element != wanted.type.element) {
      return make_error(ErrorCode::kUsage, "input '{}' is {} {}, expected {} {}", wanted.name,
                        name_of(given->type.element), given->type.shape, name_of(wanted.type.element),
                        wanted.type.shape);
    }
    call.inputs.push_back(given->bytes.data());
  }
  for (const NamedTensor& output : artefact_.versions.front().outputs) {
    const std::size_t count = static_cast<std::size_t>(output.type.shape.elements());
    call.outputs.push_back(
        {output.name, output.type, std::vector<std::byte>(count * element_size(output.type.element))});
    call.places.push_back(call.outputs.back().bytes.data());
  }
  const std::int64_t bytes = aligned(artefact_.memory_bytes() + 1);
  call.memory.reset(std::aligned_alloc(kAlignment, static_cast<std::size_t>(bytes)));
  if (call.memory) return call;
  return make_error(ErrorCode::kBudget, "there is no room for the {} bytes that a run needs", bytes);
}

Status LoadedModel::run(const Call& call) const {
  const int fault = run_(&weights_, call.inputs.data(), call.places.data(), call.memory.get());
  if (fault == 0) return {};
  return shape_error("an index that was read from {} lay outside of its range",
                     (fault & 4) != 0 ? "a weight" : "an input");
}

Result<std::vector<RuntimeTensor>> LoadedModel::run(std::span<const RuntimeTensor> inputs) const {
  REWRIGHT_TRY(Call call, prepare(inputs));
  REWRIGHT_CHECK(run(call));
  return std::move(call.outputs);
}

Result<RunTimes> LoadedModel::measure(std::span<const RuntimeTensor> inputs, int repetitions, double batch_us) const {
  REWRIGHT_TRY(const Call call, prepare(inputs));
  REWRIGHT_CHECK(run(call));
  return time_batches(repetitions, batch_us, [&] { return run(call); });
}

}  // namespace rewright::compile
