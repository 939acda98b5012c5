// C as a target: portable C11 without a dependency but libm, compiled by the system's compiler.
//
// Compiler  that of base/command.h, in a process of its own, with a time limit.
// Loops     run in order whatever their kind: a compiler may vectorise or unroll them, and parallel loops are not run
//           in parallel.
// Numbers   float32 arithmetic is float32, contracted nowhere; a function is libm's.
#include <rewright/base/command.h>
#include <rewright/loop/element_types.h>
#include <rewright/loop/target.h>
#include <rewright/plugin/plugin.h>

#include <dlfcn.h>

#include <algorithm>
#include <fstream>

#include "c_source.h"

namespace {

using namespace rewright;

/// A shared object, unloaded with the last that holds it.
using Library = std::shared_ptr<void>;

Result<Library> load(const std::string& file) {
  void* const library = ::dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) return make_error(ErrorCode::kInternal, "compiled code cannot be loaded: {}", ::dlerror());
  return Library(library, [](void* loaded) { ::dlclose(loaded); });
}

std::string entry_name(const std::string& program) { return "rewright_entry_" + program; }

/// Keeps the shared object for as long as it may be run.
class LoadedCode final : public loop::CompiledProgram {
 public:
  static Result<std::unique_ptr<loop::CompiledProgram>> find(const Library& library, const std::string& program) {
    auto* entry = reinterpret_cast<Entry*>(::dlsym(library.get(), entry_name(program).c_str()));
    if (entry == nullptr) return make_error(ErrorCode::kInternal, "compiled code lacks the program '{}'", program);
    return std::unique_ptr<loop::CompiledProgram>(new LoadedCode(library, entry));
  }
  [[nodiscard]] Status run(std::span<std::byte* const> buffers) const override {
    if (entry_(buffers.data()) == 0) return {};
    return shape_error("an index that was read from data lay outside of its declared range");
  }

 private:
  using Entry = int(std::byte* const*);
  LoadedCode(Library library, Entry* entry) : library_(std::move(library)), entry_(entry) {}
  Library library_;
  Entry* entry_;
};

/// A symbol over an array of pointers, one for each buffer.
std::string entry_source(const loop::NamedProgram& named) {
  std::string arguments;
  for (const BufferId id : loop::parameters(named.program)) {
    arguments += fmt::format("{}({} *)buffers[{}]", arguments.empty() ? "" : ", ",
                             loop::c_type(named.program[id].element), id.value);
  }
  return fmt::format("\nint {}(void *const *buffers) {{\n  (void)buffers;\n  return {}({});\n}}\n",
                     entry_name(named.name), named.name, arguments);
}

class CTarget final : public Target {
 public:
  [[nodiscard]] std::string name() const override { return "c"; }
  [[nodiscard]] std::string summary() const override { return "C11, compiled by the system's compiler"; }
  [[nodiscard]] Result<std::string> version() const override {
    REWRIGHT_TRY(const std::string text, run_c_compiler({"--version"}, 20));
    return std::string(text.begin(), std::ranges::find(text, '\n'));
  }
  [[nodiscard]] Result<std::string> source(std::span<const loop::NamedProgram> programs,
                                           const loop::TargetOptions& options) const override {
    if (!options.dialect.empty() && options.dialect != "c11") {
      return make_error(ErrorCode::kUsage, "target c: there is no dialect '{}'; there is c11", options.dialect);
    }
    return c::c_source(programs);
  }
  [[nodiscard]] Result<std::vector<std::unique_ptr<loop::CompiledProgram>>> compile(
      std::span<const loop::NamedProgram> programs, const loop::TargetOptions& options) const override {
    REWRIGHT_TRY(const std::string functions, source(programs, options));
    REWRIGHT_TRY(const TemporaryFolder folder, TemporaryFolder::make());
    const std::string file = folder.path() + "/kernel.c", object = folder.path() + "/kernel.so";
    std::ofstream text(file);
    text << functions;
    for (const loop::NamedProgram& named : programs) text << entry_source(named);
    text.close();
    REWRIGHT_CHECK(run_c_compiler(
        {"-std=c11", "-O3", "-ffp-contract=off", "-fPIC", "-shared", "-o", object, file, "-lm"}, options.seconds));
    REWRIGHT_TRY(const Library library, load(object));
    std::vector<std::unique_ptr<loop::CompiledProgram>> compiled;
    for (const loop::NamedProgram& named : programs) {
      REWRIGHT_TRY(compiled.emplace_back(), LoadedCode::find(library, named.name));
    }
    return compiled;
  }
};

}  // namespace

REWRIGHT_PLUGIN("target.c", "1.0.0", "Portable C11 from loop programs") {
  registry.add<Target>(std::make_unique<CTarget>());
}
