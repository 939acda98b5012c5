// Halide as a target: loop programs in its intermediate form, compiled into this process by its LLVM; and schedules as
// its own directives, over programs whose stores are definitions of its functions. What links Halide
// (halide_target.cpp) lies beside this file and is loaded when it is first asked: Halide and LLVM take 50 MB.
//
// Dialects  strict, which "" is: float32 and float64 arithmetic as IEEE 754 has it, contracted nowhere.
//           fast: as Halide has it: operations are fused and change their order, and nothing may be infinite or no
//           number.
//           adams2019, mullapudi2016, li2018: as fast, a whole program scheduled by that scheduler of Halide's.
// Threads   parallel loops run on Halide's, if TargetOptions asks for more than one.
// Limits    a buffer has less than 2^31 elements. There is no time limit: the compiler runs in this process.
#include <rewright/loop/target.h>
#include <rewright/plugin/plugin.h>

#include <dlfcn.h>

#include <mutex>

namespace {

using namespace rewright;

class HalideWhenAsked final : public Target {
 public:
  [[nodiscard]] std::string name() const override { return "halide"; }
  [[nodiscard]] std::string summary() const override { return "Halide's loops, compiled into this process by LLVM"; }
  [[nodiscard]] Result<std::string> version() const override {
    REWRIGHT_TRY(const Target* target, loaded());
    return target->version();
  }
  [[nodiscard]] Result<std::string> source(std::span<const loop::NamedProgram> programs,
                                           const loop::TargetOptions& options) const override {
    REWRIGHT_TRY(const Target* target, loaded());
    return target->source(programs, options);
  }
  [[nodiscard]] Result<std::vector<std::unique_ptr<loop::CompiledProgram>>> compile(
      std::span<const loop::NamedProgram> programs, const loop::TargetOptions& options) const override {
    REWRIGHT_TRY(const Target* target, loaded());
    return target->compile(programs, options);
  }
  [[nodiscard]] Result<std::unique_ptr<loop::CompiledProgram>> compile_scheduled(
      const loop::Program& program, const std::vector<schedule::Step>& schedule,
      const loop::TargetOptions& options) const override {
    REWRIGHT_TRY(const Target* target, loaded());
    return target->compile_scheduled(program, schedule, options);
  }

 private:
  /// It stays loaded until the process ends, as LLVM wants it.
  [[nodiscard]] Result<const Target*> loaded() const {
    const std::scoped_lock lock(mutex_);
    if (target_ != nullptr) return target_.get();
    Dl_info here{};
    ::dladdr(reinterpret_cast<const void*>(&kPlace), &here);
    const std::string own = here.dli_fname == nullptr ? "" : here.dli_fname;
    const std::string file = own.substr(0, own.rfind('/') + 1) + "halide-code";
    void* const code = ::dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (code == nullptr) {
      return make_error(ErrorCode::kNotFound, "target halide cannot be used here: {}; install Debian's libhalide14-0",
                        ::dlerror());
    }
    auto* const make = reinterpret_cast<Target* (*)()>(::dlsym(code, "rewright_halide_target"));
    if (make == nullptr) return make_error(ErrorCode::kPlugin, "target halide: '{}' is not of this build", file);
    target_.reset(make());
    return target_.get();
  }

  static constexpr char kPlace = 0;
  mutable std::mutex mutex_;
  mutable std::unique_ptr<Target> target_;
};

}  // namespace

REWRIGHT_PLUGIN("target.halide", "1.0.0", "Loop programs through Halide") {
  registry.add<Target>(std::make_unique<HalideWhenAsked>());
}
