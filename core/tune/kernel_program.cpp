#include "tune/kernel_program.h"

#include <rewright/loop/buffer_owners.h>
#include <rewright/loop/element_types.h>

#include <algorithm>
#include <map>
#include <optional>
#include <set>

#include "loop/composition.h"
#include "loop/expression_walk.h"
#include "loop/interpreter.h"
#include "loop/lower.h"
#include "loop/validator.h"

namespace rewright::tune {
namespace {

/// Larger programs are not walked iteration by iteration.
constexpr std::int64_t kWalkedSteps = 200'000;

Buffer buffer_of(std::string name, const Shape& shape, BufferRole role) {
  Buffer buffer{std::move(name), {}, ElementType::kFloat32, role};
  for (const std::int64_t size : shape) buffer.sizes.emplace_back(size);
  return buffer;
}

class Composer {
 public:
  explicit Composer(const Kernel& kernel) : kernel_(kernel) {}

  Result<loop::Program> compose() {
    for (std::uint32_t i = 0; i < kernel_.applications.size(); ++i) REWRIGHT_CHECK(add(i));
    mark_results();
    whole_ = loop::inlined(std::move(whole_));
    give_names();
    return loop::lower(whole_);
  }

 private:
  Status add(std::uint32_t i) {
    const Application& application = kernel_.applications[i];
    REWRIGHT_TRY(const Definition part, application.op.definition(application.params, application.in));
    std::vector<BufferId> operands;
    for (std::size_t k = 0; k < application.in.size(); ++k) {
      const Kernel::Source source = kernel_.source(i, k);
      operands.push_back(source.is_outside() ? outside(application, k) : results_[source.application][source.output]);
      if (!source.is_outside()) taken_.insert(operands.back().value);
    }
    results_.push_back(loop::append(whole_, part, operands, fmt::format("n{}_", i)));
    return {};
  }
  BufferId outside(const Application& application, std::size_t operand) {
    const BufferRole role = application.kinds[operand] == InputKind::kWeight ? BufferRole::kWeight : BufferRole::kInput;
    whole_.buffers.push_back(buffer_of(fmt::format("x{}", inputs_++), application.in[operand], role));
    return {static_cast<std::uint32_t>(whole_.buffers.size() - 1)};
  }
  void mark_results() {
    for (const auto& outputs : results_) {
      for (const BufferId id : outputs) {
        if (!taken_.contains(id.value)) whole_.buffers[id.value].role = BufferRole::kOutput;
      }
    }
  }
  void give_names() {
    std::size_t results = 0, stored = 0, all_results = 0;
    for (const Buffer& buffer : whole_.buffers) all_results += buffer.role == BufferRole::kOutput ? 1 : 0;
    for (Buffer& buffer : whole_.buffers) {
      if (buffer.role == BufferRole::kOutput) buffer.name = all_results == 1 ? "y" : fmt::format("y{}", results++);
      if (buffer.role == BufferRole::kTemporary) buffer.name = fmt::format("t{}", stored++);
    }
    std::map<std::string, int> stages;
    for (Stage& stage : whole_.stages) {
      const std::string& name = whole_[stage.target].name;
      const int again = stages[name]++;
      stage.name = again == 0 ? name : fmt::format("{}_{}", name, again);
    }
  }

  const Kernel& kernel_;
  Definition whole_;
  std::vector<std::vector<BufferId>> results_;
  std::set<std::uint32_t> taken_;
  std::size_t inputs_ = 0;
};

class WorkCounter {
 public:
  explicit WorkCounter(const loop::Program& program) : program_(program), owners_(loop::owners(program)) {}

  ProgramWork count() {
    walk(program_.body, 1);
    for (const Buffer& buffer : program_.buffers) {
      const auto elements = loop::element_count(buffer);
      if (buffer.role == BufferRole::kTemporary || !elements) continue;
      work_.bytes += *elements * static_cast<std::int64_t>(element_size(buffer.element));
    }
    return work_;
  }

 private:
  void walk(const loop::Body& body, double times) {
    for (const loop::Statement& statement : body) {
      if (const loop::Loop* loop = statement.loop()) {
        const auto extent = loop->extent.number();
        work_.is_exact = work_.is_exact && extent.has_value();
        loops_.push_back(loop);
        walk(loop->body, times * static_cast<double>(extent.value_or(1)));
        loops_.pop_back();
      } else if (const loop::Branch* branch = statement.branch()) {
        work_.is_exact = false;
        walk(branch->body, times);
      } else {
        count_store(*statement.store(), times);
      }
    }
  }
  void count_store(const loop::Store& store, double times) {
    if (!is_floating(program_[store.buffer].element)) return;
    std::int64_t operations = store.kind == loop::StoreKind::kSet ? 0 : 1;
    loop::ValueWalk([&](const ValueExpr& value) { operations += is_operation(value) ? 1 : 0; })(store.value);
    work_.operations += times * static_cast<double>(operations);
    if (store.kind != loop::StoreKind::kSet) work_.reduction += accumulated(store);
  }
  bool is_operation(const ValueExpr& value) {
    using Kind = ValueExpr::Kind;
    switch (value.kind()) {
      case Kind::kAdd:
      case Kind::kSubtract:
      case Kind::kMultiply:
      case Kind::kDivide:
      case Kind::kMaximum:
      case Kind::kMinimum:
      case Kind::kCall: return true;
      case Kind::kSelect: work_.is_exact = false; return false;
      default: return false;
    }
  }
  /// Iterations of the loops around that the place does not name, inside of the one that owns the buffer.
  [[nodiscard]] std::int64_t accumulated(const loop::Store& store) const {
    std::set<std::uint32_t> named;
    for (const IndexExpr& index : store.at) {
      loop::for_each_index(index, [&](const IndexExpr& part) {
        if (part.kind() == IndexExpr::Kind::kAxis) named.insert(part.axis().id);
      });
    }
    const auto owner = owners_[store.buffer.value];
    double count = 1;
    for (const loop::Loop* loop : loops_) {
      if (!named.contains(loop->axis.id)) count *= static_cast<double>(loop->extent.number().value_or(1));
      if (owner == loop->axis.id) count = 1;
    }
    return static_cast<std::int64_t>(std::min(count, 1e15));
  }

  const loop::Program& program_;
  std::vector<std::optional<std::uint32_t>> owners_;
  ProgramWork work_;
  std::vector<const loop::Loop*> loops_;
};

}  // namespace

Result<KernelTask> task_of(const Kernel& kernel, const Registry& registry) {
  KernelTask task{to_key(kernel), key_of(kernel), {}};
  REWRIGHT_TRY(const OwnedKernel ordered, from_key(task.key, registry));
  REWRIGHT_TRY(task.program, Composer(ordered.kernel()).compose());
  const auto valid = loop::validate(task.program, kWalkedSteps);
  if (valid || valid.error().code == ErrorCode::kBudget) return task;
  return make_error(ErrorCode::kInternal, "the kernel {} gives no valid loops: {}", task.key, valid.error().message);
}

ProgramWork work_of(const loop::Program& program) { return WorkCounter(program).count(); }

double limit_us(double operations, double bytes, const Machine& machine) {
  double reading = 0, left = bytes;
  for (const CacheLevel& cache : machine.caches) {
    const double here = cache.level == 0 ? left : std::min(left, static_cast<double>(cache.bytes));
    if (cache.read_gb_s > 0) reading += here / cache.read_gb_s;
    left -= here;
  }
  const double computing = machine.peak_gflops > 0 ? operations / machine.peak_gflops : 0;
  return std::max(reading, computing) * 1e-3;
}

}  // namespace rewright::tune
