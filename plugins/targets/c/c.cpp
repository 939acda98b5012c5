// C as a target: portable C11 without a dependency but libm, compiled by the system's compiler.
//
// Compiler  that of base/command.h, in a process of its own, with a time limit.
// Dialects  c11: loops run in order whatever their kind; a compiler may vectorise them. Functions are libm's.
//           vectors: vector loops are explicit vectors (GNU C), unrolled loops written out, small temporaries of known
//           places variables; a product that a sum takes in is fused; functions of vectors are polynomials, quotients
//           by one number products. vectors is for the processor at hand, vectors-avx512, vectors-avx2 and
//           vectors-portable for others.
// Threads   parallel loops of the vectors dialects run on TBB's, if TargetOptions asks for more than one.
// Numbers   float32 arithmetic is float32, contracted nowhere else.
#include <rewright/base/command.h>
#include <rewright/loop/element_types.h>
#include <rewright/loop/target.h>
#include <rewright/plugin/plugin.h>

#include <dlfcn.h>
#include <tbb/blocked_range.h>
#include <tbb/parallel_for.h>
#include <tbb/task_arena.h>

#include <algorithm>
#include <fstream>
#include <sstream>

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
  static Result<std::unique_ptr<loop::CompiledProgram>> find(const Library& library, const std::string& program,
                                                             int threads) {
    auto* entry = reinterpret_cast<Entry*>(::dlsym(library.get(), entry_name(program).c_str()));
    if (entry == nullptr) return make_error(ErrorCode::kInternal, "compiled code lacks the program '{}'", program);
    auto* parallel = reinterpret_cast<Parallel*>(::dlsym(library.get(), "rewright_parallel"));
    if (parallel != nullptr && threads > 1) *parallel = &run_parallel;
    return std::unique_ptr<loop::CompiledProgram>(new LoadedCode(library, entry, threads));
  }
  [[nodiscard]] Status run(std::span<std::byte* const> buffers) const override {
    int failed = 0;
    if (threads_ > 1)
      tbb::task_arena(threads_).execute([&] { failed = entry_(buffers.data()); });
    else
      failed = entry_(buffers.data());
    if (failed == 0) return {};
    return shape_error("an index that was read from data lay outside of its declared range");
  }

 private:
  using Entry = int(std::byte* const*);
  using LoopBody = void(void* context, std::int64_t begin, std::int64_t end);
  using Parallel = void (*)(std::int64_t count, LoopBody* body, void* context);
  static void run_parallel(std::int64_t count, LoopBody* body, void* context) {
    tbb::parallel_for(tbb::blocked_range<std::int64_t>(0, count),
                      [=](const auto& part) { body(context, part.begin(), part.end()); });
  }
  LoadedCode(Library library, Entry* entry, int threads)
      : library_(std::move(library)), entry_(entry), threads_(threads) {}
  Library library_;
  Entry* entry_;
  int threads_;
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
    REWRIGHT_TRY(const auto instructions, instructions_of(options.dialect));
    return c::c_source(programs, instructions ? &*instructions : nullptr);
  }
  [[nodiscard]] Result<std::vector<std::unique_ptr<loop::CompiledProgram>>> compile(
      std::span<const loop::NamedProgram> programs, const loop::TargetOptions& options) const override {
    REWRIGHT_TRY(const auto instructions, instructions_of(options.dialect));
    if (instructions && !is_here(*instructions)) {
      return make_error(ErrorCode::kUnsupported,
                        "target c: this processor has no {}, so that code of dialect '{}' cannot be run here",
                        instructions->name, options.dialect);
    }
    REWRIGHT_TRY(const std::string functions, source(programs, options));
    REWRIGHT_TRY(const TemporaryFolder folder, TemporaryFolder::make());
    const std::string file = folder.path() + "/kernel.c", object = folder.path() + "/kernel.so";
    std::ofstream text(file);
    text << functions;
    for (const loop::NamedProgram& named : programs) text << entry_source(named);
    text.close();
    std::vector<std::string> arguments = {"-std=c11", "-O3", "-ffp-contract=off", "-fPIC", "-shared"};
    if (instructions) {
      arguments = {"-std=gnu11",
                   "-O2",
                   "-ffp-contract=off",
                   "-fno-math-errno",
                   "-fno-trapping-math",
                   "-fno-predictive-commoning",
                   "-fPIC",
                   "-shared",
                   "-Wno-psabi"};
      std::istringstream flags(instructions->flags);
      for (std::string flag; flags >> flag;) arguments.push_back(flag);
    }
    arguments.insert(arguments.end(), {"-o", object, file, "-lm"});
    REWRIGHT_CHECK(run_c_compiler(arguments, options.seconds));
    REWRIGHT_TRY(const Library library, load(object));
    std::vector<std::unique_ptr<loop::CompiledProgram>> compiled;
    for (const loop::NamedProgram& named : programs) {
      REWRIGHT_TRY(compiled.emplace_back(), LoadedCode::find(library, named.name, options.threads));
    }
    return compiled;
  }

 private:
  static bool is_here(const c::Instructions& instructions) {
    return std::ranges::any_of(c::instructions_here(),
                               [&](const auto& here) { return here.name == instructions.name; });
  }
  /// Of a dialect with vectors.
  static Result<std::optional<c::Instructions>> instructions_of(const std::string& dialect) {
    if (dialect.empty() || dialect == "c11") return std::optional<c::Instructions>();
    if (dialect == "vectors") return std::optional(c::instructions_here().front());
    const c::Instructions* named = dialect.starts_with("vectors-") ? c::instructions_named(dialect.substr(8)) : nullptr;
    if (named != nullptr) return std::optional(*named);
    return make_error(ErrorCode::kUsage,
                      "target c: there is no dialect '{}'; there are c11, vectors (as this processor has them), "
                      "vectors-avx512, vectors-avx2 and vectors-portable",
                      dialect);
  }
};

}  // namespace

REWRIGHT_PLUGIN("target.c", "1.0.0", "Portable C11 from loop programs") {
  registry.add<Target>(std::make_unique<CTarget>());
}
