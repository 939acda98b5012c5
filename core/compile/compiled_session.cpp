#include <rewright/compile/compiled_session.h>

#include <algorithm>
#include <map>

#include "compile/loaded_model.h"
#include "optimize/model_run.h"

namespace rewright::compile {
namespace {

constexpr int kCompilerSeconds = 300;

class CompiledSession final : public RuntimeSession {
 public:
  CompiledSession(ModelSource source, std::vector<OpenSize> open, const Registry& registry, const Target& target,
                  bool simplifies)
      : source_(std::move(source)),
        open_(std::move(open)),
        registry_(registry),
        target_(target),
        simplifies_(simplifies) {}

  Result<std::vector<RuntimeTensor>> run(std::span<const RuntimeTensor> inputs) override {
    REWRIGHT_TRY(const LoadedModel* model, at_sizes_of(inputs));
    return model->run(inputs);
  }
  Result<RunTimes> measure(std::span<const RuntimeTensor> inputs, int repetitions, double batch_us) override {
    REWRIGHT_TRY(const LoadedModel* model, at_sizes_of(inputs));
    return model->measure(inputs, repetitions, batch_us);
  }

 private:
  Result<const LoadedModel*> at_sizes_of(std::span<const RuntimeTensor> inputs) {
    Sizes sizes;
    for (const OpenSize& open : open_) {
      const auto given = std::ranges::find(inputs, open.places.front().input, &RuntimeTensor::name);
      if (given == inputs.end() || given->type.shape.rank() != open.places.front().rank) {
        return make_error(ErrorCode::kUsage, "input '{}' of rank {} is not given", open.places.front().input,
                          open.places.front().rank);
      }
      sizes[open.name] = given->type.shape[open.places.front().axis];
    }
    auto& model = models_[sizes];
    if (!model) {
      REWRIGHT_TRY(model, compiled(std::move(sizes)));
    }
    return model.get();
  }
  [[nodiscard]] Result<std::unique_ptr<LoadedModel>> compiled(Sizes sizes) {
    source_.sizes = std::move(sizes);
    REWRIGHT_TRY(OpenedModel opened, open_model(source_, registry_, nullptr));
    if (simplifies_) simplify(opened);
    return LoadedModel::make(opened.start(), registry_, target_, kCompilerSeconds);
  }

  ModelSource source_;
  std::vector<OpenSize> open_;
  const Registry& registry_;
  const Target& target_;
  bool simplifies_;
  std::map<Sizes, std::unique_ptr<LoadedModel>> models_;
};

}  // namespace

Result<std::unique_ptr<RuntimeSession>> compiled_session(std::span<const std::byte> model, const Registry& registry,
                                                         const Target& target, const LoadOptions& options) {
  ModelSource source;
  source.bytes.assign(reinterpret_cast<const char*>(model.data()), model.size());
  source.file = "the model";
  source.directory = options.directory;
  source.freeze = true;
  REWRIGHT_TRY(auto open, open_sizes(model, source.file));
  return std::unique_ptr<RuntimeSession>(
      new CompiledSession(std::move(source), std::move(open), registry, target, options.optimise));
}

}  // namespace rewright::compile
