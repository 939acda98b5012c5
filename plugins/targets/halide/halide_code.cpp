#include "halide_code.h"

#include <fmt/format.h>

#include <limits>

namespace rewright::halide {

namespace ir = Halide::Internal;

namespace {

/// As Halide's own lowering has them, from the pass on after which it holds loops and stores.
ir::Stmt passed(ir::Stmt statement) {
  statement = ir::simplify(statement);
  statement = ir::unroll_loops(statement);
  statement = ir::simplify(statement);
  statement = ir::vectorize_loops(statement, {});
  statement = ir::simplify(statement);
  statement = ir::flatten_nested_ramps(statement);
  return ir::remove_dead_allocations(statement);
}

/// Halide counts elements in 32 bits.
Status check_sizes(const loop::Program& program) {
  for (const Buffer& buffer : program.buffers) {
    std::int64_t count = 1;
    for (const IndexExpr& size : buffer.sizes) {
      count *= *size.number();
      if (count <= std::numeric_limits<std::int32_t>::max()) continue;
      return make_error(ErrorCode::kUnsupported,
                        "target halide: buffer {} has 2^31 elements or more, which Halide cannot count; use target c",
                        buffer.name);
    }
  }
  return {};
}

class HalideProgram final : public loop::CompiledProgram {
 public:
  HalideProgram(ir::JITModule code, std::vector<BufferId> taken, int threads)
      : code_(std::move(code)), taken_(std::move(taken)), threads_(threads) {}
  [[nodiscard]] Status run(std::span<std::byte* const> buffers) const override {
    std::int32_t fault = 0;
    std::vector<void*> places;
    for (const BufferId id : taken_) places.push_back(buffers[id.value]);
    places.push_back(&fault);
    std::vector<const void*> arguments;
    for (void* const& place : places) arguments.push_back(&place);
    if (threads_ > 1) set_threads(threads_);
    const int failed = code_.argv_function()(arguments.data());
    if (failed != 0) return make_error(ErrorCode::kInternal, "target halide: the compiled code ended with {}", failed);
    if (fault == 0) return {};
    return shape_error("an index that was read from data lay outside of its declared range");
  }

 private:
  ir::JITModule code_;
  std::vector<BufferId> taken_;
  int threads_;
};

}  // namespace

Halide::Target processor(bool is_strict) {
  Halide::Target target = Halide::get_host_target().with_feature(Halide::Target::JIT);
  return is_strict ? target.with_feature(Halide::Target::StrictFloat) : target;
}

void set_threads(int threads) {
  using SetThreads = int(int);
  for (const ir::JITModule& runtime : ir::JITSharedRuntime::get(nullptr, processor(true), false)) {
    const auto symbol = runtime.find_symbol_by_name("halide_set_num_threads");
    if (symbol.address != nullptr) reinterpret_cast<SetThreads*>(symbol.address)(threads);
  }
}

Result<LoweredProgram> lowered(const loop::NamedProgram& named, const StatementOptions& options) {
  REWRIGHT_CHECK(check_sizes(named.program));
  return caught([&]() -> Result<LoweredProgram> {
    StatementBuilder builder(named.program, options);
    const Halide::Target target = processor(options.is_strict);
    Halide::Module module(named.name, target);
    module.set_any_strict_float(options.is_strict);
    std::vector<ir::LoweredFunc> closures;
    const ir::Stmt body = ir::lower_parallel_tasks(passed(builder.build()), closures, named.name, target);
    for (const ir::LoweredFunc& closure : closures) module.append(closure);
    std::vector<ir::LoweredArgument> arguments;
    const auto add = [&](const std::string& name) {
      arguments.emplace_back(name, Halide::Argument::InputScalar, Halide::Handle(), 0, Halide::ArgumentEstimates());
    };
    for (const BufferId id : builder.taken()) add(builder.name(id));
    add(kFault);
    module.append(ir::LoweredFunc(named.name, arguments, body, Halide::LinkageType::ExternalPlusMetadata,
                                  Halide::NameMangling::C));
    return LoweredProgram{module, builder.taken()};
  });
}

Result<std::unique_ptr<loop::CompiledProgram>> compiled(const LoweredProgram& lowered, int threads) {
  return caught([&]() -> Result<std::unique_ptr<loop::CompiledProgram>> {
    const ir::JITModule code(lowered.module, lowered.module.functions().back());
    return std::unique_ptr<loop::CompiledProgram>(std::make_unique<HalideProgram>(code, lowered.taken, threads));
  });
}

}  // namespace rewright::halide
