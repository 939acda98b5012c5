// A graph compiled to a shared object and loaded into this process.
#pragma once

#include <rewright/base/command.h>
#include <rewright/onnx/runtime.h>

#include <memory>
#include <span>
#include <vector>

#include "compile/artefact.h"

namespace rewright::compile {

class LoadedModel {
 public:
  /// Errors: kUnsupported, with the nodes that cannot be compiled; of the target and the compiler.
  [[nodiscard]] static Result<std::unique_ptr<LoadedModel>> make(const ImportedModel& model, const Registry& registry,
                                                                 const Target& target, int seconds);
  ~LoadedModel();
  LoadedModel(const LoadedModel&) = delete;
  LoadedModel& operator=(const LoadedModel&) = delete;

  /// Inputs by name, in any order. Errors: kUsage, an input that is not given or has other sizes; kShape, data out of
  /// range.
  [[nodiscard]] Result<std::vector<RuntimeTensor>> run(std::span<const RuntimeTensor> inputs) const;
  [[nodiscard]] Result<RunTimes> measure(std::span<const RuntimeTensor> inputs, int repetitions, double batch_us) const;

 private:
  struct Weights {  ///< NAME_weights of the header.
    const unsigned char* bytes;
    std::size_t mapped;
    void* owned;
  };
  struct Call;
  LoadedModel(TemporaryFolder folder, Artefact artefact);
  [[nodiscard]] Status load();
  template <class Function>
  [[nodiscard]] Result<Function*> function(const char* what) const;
  [[nodiscard]] Result<Call> prepare(std::span<const RuntimeTensor> inputs) const;
  [[nodiscard]] Status run(const Call& call) const;

  TemporaryFolder folder_;
  Artefact artefact_;
  void* library_ = nullptr;
  int (*run_)(const Weights*, const void* const*, void* const*, void*) = nullptr;
  void (*close_)(Weights*) = nullptr;
  Weights weights_ = {};
};

}  // namespace rewright::compile
