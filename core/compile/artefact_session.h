// An artefact as a session: built by the system's compiler, and run as its user would, on files, in a process of its
// own. So a model that crashes or does not end is a sentence.
#pragma once

#include <rewright/onnx/runtime.h>

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "compile/artefact.h"

namespace rewright::compile {

class ArtefactSession final : public RuntimeSession {
 public:
  /// Builds what was written into `folder`, in the folder `built`, where inputs and outputs will lie, too. `seconds`:
  /// for the compiler, and for each run. Errors: of the compiler.
  [[nodiscard]] static Result<std::unique_ptr<ArtefactSession>> build(const Artefact& artefact,
                                                                      const std::string& folder,
                                                                      const std::string& built, int seconds);

  /// Runs are of this version from now on; at first of the first.
  void choose(std::size_t version) { version_ = version; }
  /// Inputs by name, in any order. Errors: kUnsupported, it takes too long; kInternal, it fails; kIo.
  [[nodiscard]] Result<std::vector<RuntimeTensor>> run(std::span<const RuntimeTensor> inputs) override;
  /// The least times of as many processes. Errors: as `run`.
  [[nodiscard]] Result<RunTimes> measure(std::span<const RuntimeTensor> inputs, int repetitions,
                                         double batch_us) override;
  struct Profile {
    std::int64_t peak_bytes = 0;  ///< The most that it added to its process; 0 where the system does not tell.
    std::vector<double> us;       ///< Least time of each kernel, by call.
  };
  /// Of so many runs of an artefact with one version. Errors: of the compiler; as `run`.
  [[nodiscard]] Result<Profile> profile(std::span<const RuntimeTensor> inputs, int repeats);

 private:
  ArtefactSession(std::string built, const Artefact& artefact, const std::string& folder, int seconds);
  [[nodiscard]] const ArtefactVersion& version() const { return versions_[version_]; }
  [[nodiscard]] std::string path(const std::string& file) const { return built_ + "/" + file; }
  [[nodiscard]] Status write_inputs(std::span<const RuntimeTensor> inputs) const;
  /// Builds it into `built`, with flags beside its own.
  [[nodiscard]] Status compile(const std::string& program, const std::vector<std::string>& flags) const;
  /// What it prints. `repeats`: 0 for a run that is not timed.
  [[nodiscard]] Result<std::string> execute(int repeats, const std::string& program = "run") const;

  std::string built_;
  std::vector<std::string> flags_, sources_;
  std::vector<ArtefactVersion> versions_;
  std::size_t version_ = 0;
  std::string weights_;
  int seconds_;
};

}  // namespace rewright::compile
