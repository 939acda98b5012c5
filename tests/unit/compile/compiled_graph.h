// Graphs for the room's tests, as artefacts and as libraries that are loaded.
#pragma once

#include <rewright/base/command.h>
#include <rewright/loop/target.h>

#include <dlfcn.h>
#include <gtest/gtest.h>
#include <sys/mman.h>

#include <array>
#include <cstring>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/files.h"
#include "compile/artefact.h"
#include "compile/scheduled_kernels.h"
#include "support/operators.h"
#include "tune/instruction_set.h"

namespace rewright::compile::testing {

using rewright::testing::loaded;

inline TensorType floats(Shape shape) { return {std::move(shape), ElementType::kFloat32}; }

inline std::shared_ptr<const ConstantData> constant(TensorType type, const std::vector<float>& numbers) {
  const auto bytes = std::as_bytes(std::span(numbers));
  return std::make_shared<const ConstantData>(
      ConstantData{std::move(type), std::vector<std::byte>(bytes.begin(), bytes.end())});
}
inline std::shared_ptr<const ConstantData> repeated(TensorType type, double number) {
  return std::make_shared<const ConstantData>(ConstantData{std::move(type), number});
}

inline ImportedModel model_of(Graph graph) {
  ImportedModel model;
  model.graph = std::move(graph);
  return model;
}

inline Kernels kernels_of_model(const ImportedModel& model) {
  auto kernels = kernels_of(model.graph, model.carried, model.external, &loaded());
  if (!kernels) fail(kernels.error().message);
  return *std::move(kernels);
}

inline Artefact artefact_of(const ImportedModel& model, const std::string& name = "model",
                            const std::string& dialect = "c11", int threads = 1, const ScheduleChoice& choose = {},
                            const WeightWishes& wishes = {}) {
  const auto target = loaded().get<Target>("c");
  if (!target) fail(target.error().message);
  const auto instructions = tune::instruction_set(dialect);
  if (!instructions) fail(instructions.error().message);
  Kernels kernels = kernels_of_model(model);
  if (*instructions != nullptr) {
    auto made = scheduled(model.graph, kernels, (*instructions)->unit, threads, choose, wishes);
    if (!made) fail(made.error().message);
    kernels = *std::move(made);
  }
  const ModelVersion version{&model.graph, &model.external, &kernels};
  auto artefact = make_artefact(name, {&version, 1}, **target, *instructions);
  if (!artefact) fail(artefact.error().message);
  return *std::move(artefact);
}

/// Memory that ends where nothing may be touched: a byte too many is a crash.
class GuardedMemory {
 public:
  explicit GuardedMemory(std::size_t bytes) : bytes_(bytes), size_((bytes / 4096 + 2) * 4096) {
    void* const place = ::mmap(nullptr, size_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (place == MAP_FAILED) fail("no memory");
    start_ = static_cast<std::byte*>(place);
    ::mprotect(start_ + size_ - 4096, 4096, PROT_NONE);
  }
  ~GuardedMemory() { ::munmap(start_, size_); }
  GuardedMemory(const GuardedMemory&) = delete;
  GuardedMemory& operator=(const GuardedMemory&) = delete;
  [[nodiscard]] std::byte* get() const { return start_ + size_ - 4096 - bytes_; }

 private:
  std::size_t bytes_, size_;
  std::byte* start_ = nullptr;
};

/// An artefact called "model", written, built with these options and loaded.
class Library {
 public:
  struct Tensor {
    const char *name, *type;
    int rank;
    const std::int64_t* sizes;
    std::size_t bytes;
  };
  struct Weights {
    const unsigned char* bytes;
    std::size_t mapped;
    void* owned;
  };

  explicit Library(const ImportedModel& model, const std::string& dialect = "c11", int threads = 1,
                   const ScheduleChoice& choose = {}, const WeightWishes& wishes = {})
      : artefact_(artefact_of(model, "model", dialect, threads, choose, wishes)), folder_(*TemporaryFolder::make()) {
    const Status written = write_artefact(artefact_, folder_.path());
    if (!written) fail(written.error().message);
    std::vector<std::string> words = artefact_.flags;
    for (const char* word : {"-O2", "-Wall", "-Wextra", "-Wno-unused-parameter", "-Werror", "-fPIC", "-shared", "-o"})
      words.emplace_back(word);
    words.insert(words.end(), {path("model.so"), path("model.c"), "-lm"});
    const auto built = run_c_compiler(words, 60);
    if (!built) fail(built.error().message);
    library_ = ::dlopen(path("model.so").c_str(), RTLD_NOW | RTLD_LOCAL);
    if (library_ == nullptr) fail(::dlerror());
    opened_ = open(weights_);
    if (opened_ != 0 && dialect == "c11") fail("the weights cannot be opened");
  }
  ~Library() {
    close(weights_);
    ::dlclose(library_);
  }
  Library(const Library&) = delete;
  Library& operator=(const Library&) = delete;

  /// Once more, beside what the object itself opened.
  int open(Weights& weights) const {
    return function<int(Weights*, const char*)>("model_open")(&weights, path("model.weights").c_str());
  }
  void close(Weights& weights) const { function<void(Weights*)>("model_close")(&weights); }
  [[nodiscard]] Weights& weights() { return weights_; }
  /// What model_open said.
  [[nodiscard]] int opened() const { return opened_; }
  [[nodiscard]] const Artefact& artefact() const { return artefact_; }
  [[nodiscard]] const std::string& folder() const { return folder_.path(); }
  [[nodiscard]] std::string path(const std::string& file) const { return folder_.path() + "/" + file; }
  [[nodiscard]] const Tensor* input(int i) const { return function<const Tensor*(int)>("model_input")(i); }
  [[nodiscard]] const Tensor* output(int i) const { return function<const Tensor*(int)>("model_output")(i); }
  [[nodiscard]] std::size_t memory_bytes() const { return function<std::size_t()>("model_memory_bytes")(); }

  /// Everything guarded, its contents arbitrary before.
  [[nodiscard]] std::vector<std::vector<float>> run(const std::vector<std::vector<float>>& inputs) const {
    std::vector<std::unique_ptr<GuardedMemory>> blocks;
    const auto block = [&](std::size_t bytes) {
      blocks.push_back(std::make_unique<GuardedMemory>(bytes));
      std::memset(blocks.back()->get(), 0x5a, bytes);
      return blocks.back()->get();
    };
    std::vector<const void*> given;
    std::vector<void*> results;
    for (const std::vector<float>& input : inputs) {
      std::byte* const place = block(input.size() * sizeof(float));
      std::memcpy(place, input.data(), input.size() * sizeof(float));
      given.push_back(place);
    }
    for (int i = 0; output(i) != nullptr; ++i) results.push_back(block(output(i)->bytes));
    void* const memory = block(memory_bytes());
    using Run = int(const Weights*, const void* const*, void* const*, void*);
    EXPECT_EQ(function<Run>("model_run")(&weights_, given.data(), results.data(), memory), 0);
    std::vector<std::vector<float>> outputs;
    for (std::size_t i = 0; i < results.size(); ++i) {
      const auto* const from = static_cast<const float*>(results[i]);
      outputs.emplace_back(from, from + output(static_cast<int>(i))->bytes / sizeof(float));
    }
    return outputs;
  }

 private:
  template <class Function>
  [[nodiscard]] Function* function(const char* name) const {
    auto* const found = reinterpret_cast<Function*>(::dlsym(library_, name));
    if (found == nullptr) fail(name);
    return found;
  }

  Artefact artefact_;
  TemporaryFolder folder_;
  void* library_ = nullptr;
  Weights weights_{};
  int opened_ = 0;
};

}  // namespace rewright::compile::testing
