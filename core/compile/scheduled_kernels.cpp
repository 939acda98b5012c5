#include "compile/scheduled_kernels.h"

#include <algorithm>
#include <set>

#include "compile/reciprocals.h"
#include "compile/storage.h"
#include "compile/sum_conditions.h"
#include "compile/window_counts.h"
#include "loop/validator.h"
#include "schedule/apply.h"
#include "schedule/nest.h"
#include "schedule/places.h"

namespace rewright::compile {
namespace {

using loop::Program;

constexpr std::size_t kRank = 4;

/// The axis that an index is, beside a number.
std::optional<Axis> axis_of(const IndexExpr& index) {
  const auto form = loop::linear(index);
  if (!form || form->terms.size() != 1 || form->terms[0].second != 1) return std::nullopt;
  const IndexExpr& atom = form->terms[0].first;
  return atom.kind() == IndexExpr::Kind::kAxis ? std::optional(atom.axis()) : std::nullopt;
}

/// Is a buffer made by sums of products with weights along its dimension 1, and by them alone?
bool sums_over_channels(const Program& program, BufferId buffer) {
  if (program[buffer].sizes.size() != kRank) return false;
  bool found = false;
  for (const loop::Statement& statement : program.body) {
    const auto nest = statement.loop() != nullptr ? schedule::nest_at(*statement.loop()) : std::nullopt;
    if (!nest || nest->update == nullptr || nest->stored().buffer != buffer) continue;
    const auto channel = axis_of(nest->stored().at[1]), row = axis_of(nest->stored().at[2]),
               column = axis_of(nest->stored().at[3]);
    if (!channel || !row || !column) return false;
    for (const ValueExpr& load : schedule::loads_in(nest->update->value)) {
      const auto at = load.indices();
      const bool is_weight = program[load.buffer()].role == BufferRole::kWeight;
      const bool follows_places = schedule::names_axis(at, *row) || schedule::names_axis(at, *column);
      if (is_weight && follows_places) return false;
      if (!is_weight && !follows_places) return false;
      found |= is_weight && schedule::names_axis(at, *channel);
    }
  }
  return found;
}

/// Is all that is stored at least 0?
bool stores_positive(const Program& program, BufferId buffer) {
  bool is_positive = true, found = false;
  const std::function<void(const loop::Body&)> visit = [&](const loop::Body& body) {
    for (const loop::Statement& statement : body) {
      visit(loop::body_of(statement));
      const loop::Store* store = statement.store();
      if (store == nullptr || store->buffer != buffer) continue;
      found = true;
      const auto is_zero = [](const ValueExpr& value) { return value == ValueExpr::from_integer(0); };
      is_positive &= store->kind == loop::StoreKind::kSet && store->value.kind() == ValueExpr::Kind::kMaximum &&
                     std::ranges::any_of(store->value.operands(), is_zero);
    }
  };
  visit(program.body);
  return found && is_positive;
}

/// What is known of buffers, for others of the same names: a schedule may have taken some away. New ones have nothing.
template <class T>
std::vector<T> by_buffer(const std::vector<Buffer>& before, const std::vector<Buffer>& after,
                         const std::vector<T>& known) {
  std::vector<T> found(after.size());
  for (std::size_t b = 0; b < after.size(); ++b) {
    const auto at = static_cast<std::size_t>(std::ranges::find(before, after[b].name, &Buffer::name) - before.begin());
    if (at < known.size()) found[b] = known[at];
  }
  return found;
}

/// Without a buffer that nothing uses; those behind it move up.
Program without_buffer(Program program, BufferId gone) {
  const schedule::Places same = [](std::span<const IndexExpr> at, const loop::AxisRanges&) {
    return std::vector<IndexExpr>(at.begin(), at.end());
  };
  for (std::uint32_t b = gone.value + 1; b < program.buffers.size(); ++b) {
    program.body = schedule::with_places(program.body, {b}, {b - 1}, same);
  }
  program.buffers.erase(program.buffers.begin() + gone.value);
  return program;
}

/// The weight is packed before the program runs.
Program with_packed_weight(Program program, const schedule::Pack& pack) {
  const auto named = [&](const std::string& name) {
    return BufferId{
        static_cast<std::uint32_t>(std::ranges::find(program.buffers, name, &Buffer::name) - program.buffers.begin())};
  };
  const BufferId weight = named(pack.buffer), copy = named(pack.name);
  std::erase_if(program.body, [&](const loop::Statement& statement) {
    if (statement.store() != nullptr) return statement.store()->buffer == copy;
    return statement.loop() != nullptr && statement.loop()->axis.name.starts_with(pack.name + ".");
  });
  program.body = schedule::with_places(program.body, copy, weight, [](std::span<const IndexExpr> at, const auto&) {
    return std::vector<IndexExpr>(at.begin(), at.end());
  });
  program.buffers[weight.value].sizes = program.buffers[copy.value].sizes;
  return without_buffer(std::move(program), copy);
}

/// Stores, as far as extents are numbers.
std::int64_t work_in(const loop::Body& body) {
  std::int64_t work = 0;
  for (const loop::Statement& statement : body) {
    const std::int64_t inside = work_in(loop::body_of(statement));
    const loop::Loop* loop = statement.loop();
    work += statement.store() != nullptr ? 1 : loop != nullptr ? inside * loop->extent.number().value_or(1) : inside;
  }
  return work;
}

/// Of each nest the outermost loop that may run in parallel, if that pays.
Program in_parallel(Program program) {
  constexpr std::int64_t kLeastWork = 1 << 15;
  for (std::size_t i = 0; i < program.body.size(); ++i) {
    if (work_in({program.body[i]}) < kLeastWork) continue;
    const loop::Loop* loop = program.body[i].loop();
    while (loop != nullptr) {
      const schedule::Mark mark{*loop::parse_loop_name(loop->axis.name), loop::LoopKind::kParallel};
      const bool is_single = loop->extent.number().value_or(1) < 2;
      auto made = schedule::apply(program, schedule::Transform(mark));
      if (!is_single && loop->kind == loop::LoopKind::kSerial && std::holds_alternative<Program>(made)) {
        program = std::get<Program>(std::move(made));
        break;
      }
      loop = loop->body.size() == 1 ? loop->body[0].loop() : nullptr;
    }
  }
  return program;
}

class KernelScheduling {
 public:
  KernelScheduling(const Graph& graph, const Kernels& kernels, const schedule::VectorUnit& unit, int threads,
                   const ScheduleChoice& choose)
      : graph_(graph), kernels_(kernels), unit_(unit), choose_(choose) {
    result_.threads = threads;
  }

  Result<Kernels> run() {
    for (const KernelCall& call : kernels_.calls) calls_.push_back(call);
    for (const KernelCall& call : calls_) programs_.push_back(with_window_counts(with_roles(call)));
    separate_outputs();
    choose_channels_last();
    choose_halos();
    for (std::size_t k = 0; k < calls_.size(); ++k) REWRIGHT_CHECK(add_call(k));
    return std::move(result_);
  }

 private:
  /// Weights are what is known now.
  [[nodiscard]] Program with_roles(const KernelCall& call) const {
    Program program = kernels_.program(call);
    for (std::size_t b = 0; b < program.buffers.size(); ++b) {
      BufferRole& role = program.buffers[b].role;
      if (role != BufferRole::kInput && role != BufferRole::kWeight) continue;
      const bool is_weight =
          call.tensors[b]->node.value < graph_.nodes().size() && graph_.node(call.tensors[b]->node).is_weight();
      role = is_weight ? BufferRole::kWeight : BufferRole::kInput;
    }
    return program;
  }
  [[nodiscard]] bool is_output_of_graph(Port port) const {
    return std::ranges::find(graph_.outputs(), port) != graph_.outputs().end();
  }
  [[nodiscard]] bool is_input_of_graph(Port port) const {
    return port.node.value < graph_.nodes().size() && graph_.node(port.node).is_data();
  }

  /// Tensors of sums over channels that the graph hands out are made with channels last, and copied in the end.
  void separate_outputs() {
    std::map<Port, Port> made;
    std::vector<std::pair<KernelCall, Program>> last;
    for (std::size_t k = 0; k < calls_.size(); ++k) {
      for (std::uint32_t b = 0; b < calls_[k].tensors.size(); ++b) {
        auto& port = calls_[k].tensors[b];
        const Buffer& buffer = programs_[k].buffers[b];
        if (!port) continue;
        if (buffer.role == BufferRole::kOutput && buffer.element == ElementType::kFloat32 &&
            is_output_of_graph(*port) && sums_over_channels(programs_[k], {b})) {
          made.emplace(*port, new_port());
          last.emplace_back(KernelCall{kernels_.functions.size(), {made.at(*port), *port}}, copying(buffer));
        }
        if (const auto found = made.find(*port); found != made.end()) port = found->second;
      }
    }
    for (auto& [call, program] : last) {
      calls_.push_back(std::move(call));
      programs_.push_back(std::move(program));
    }
  }
  /// Of no node.
  Port new_port() { return {{static_cast<std::uint32_t>(graph_.nodes().size()) + new_ports_++}, 0}; }

  /// Inputs of the graph that sums over channels read: there are copies of these, which others may read, too.
  [[nodiscard]] std::set<Port> inputs_to_copy() const {
    std::set<Port> found;
    for (std::size_t k = 0; k < calls_.size(); ++k) {
      if (!sums_over_channels_somewhere(k)) continue;
      for (std::size_t b = 0; b < calls_[k].tensors.size(); ++b)
        if (is_copied(k, b)) found.insert(*calls_[k].tensors[b]);
    }
    return found;
  }
  [[nodiscard]] bool sums_over_channels_somewhere(std::size_t k) const {
    for (std::uint32_t b = 0; b < programs_[k].buffers.size(); ++b)
      if (programs_[k].buffers[b].role == BufferRole::kOutput && sums_over_channels(programs_[k], {b})) return true;
    return false;
  }
  /// Is a tensor one that sums read as a copy, with channels last?
  [[nodiscard]] bool is_copied(std::size_t k, std::size_t b) const {
    const Buffer& buffer = programs_[k].buffers[b];
    return buffer.role == BufferRole::kInput && buffer.sizes.size() == kRank &&
           buffer.element == ElementType::kFloat32 && is_input_of_graph(*calls_[k].tensors[b]);
  }
  static bool has_sums(const Program& program) {
    return std::ranges::any_of(program.body, [](const loop::Statement& statement) {
      const auto nest = statement.loop() != nullptr ? schedule::nest_at(*statement.loop()) : std::nullopt;
      return nest && nest->update != nullptr;
    });
  }

  void choose_channels_last() {
    const std::set<Port> copied = inputs_to_copy();
    for (std::size_t k = 0; k < calls_.size(); ++k) {
      const Program program = programs_[k];  // Copies are put before it below.
      for (std::uint32_t b = 0; b < program.buffers.size(); ++b) {
        const Buffer& buffer = program.buffers[b];
        if (buffer.role != BufferRole::kOutput || buffer.sizes.size() != kRank ||
            buffer.element != ElementType::kFloat32 || is_output_of_graph(*calls_[k].tensors[b]))
          continue;
        const bool is_sum = sums_over_channels(program, {b});
        const bool is_last = is_sum || reads_channels_last(k, has_sums(program) ? copied : std::set<Port>());
        if (is_last) copy_inputs(k);
        if (is_last) add_storage(*calls_[k].tensors[b], stores_positive(programs_[k], {b}));
      }
    }
  }
  void add_storage(Port port, bool is_positive) {
    storage_[port] = {{0, 2, 3, 1}, std::vector<std::int64_t>(kRank), std::vector<std::int64_t>(kRank)};
    if (is_positive) positive_.insert(port);
  }
  /// All tensors of its rank, weights apart; `copied`: inputs of the graph that count as such.
  [[nodiscard]] bool reads_channels_last(std::size_t k, const std::set<Port>& copied) const {
    bool found = false;
    for (std::size_t b = 0; b < calls_[k].tensors.size(); ++b) {
      const Buffer& buffer = programs_[k].buffers[b];
      if (buffer.role != BufferRole::kInput || buffer.sizes.size() != kRank) continue;
      if (!storage_.contains(*calls_[k].tensors[b]) && !copied.contains(*calls_[k].tensors[b])) return false;
      found = true;
    }
    return found;
  }
  /// Calls that copy what a sum reads of the graph's inputs stand before it.
  void copy_inputs(std::size_t& k) {
    for (std::size_t b = 0; b < calls_[k].tensors.size(); ++b) {
      if (!is_copied(k, b)) continue;
      const Buffer buffer = programs_[k].buffers[b];
      const Port from = *calls_[k].tensors[b];
      auto known = copies_.find(from);
      if (known == copies_.end()) {
        const Port to = new_port();
        known = copies_.emplace(from, to).first;
        add_storage(to, false);
        const auto at = static_cast<std::ptrdiff_t>(k);
        programs_.insert(programs_.begin() + at, copying(buffer));
        calls_.insert(calls_.begin() + at, KernelCall{kernels_.functions.size(), {from, to}});
        ++k;
      }
      calls_[k].tensors[b] = known->second;
    }
  }
  static Program copying(const Buffer& of) {
    Program program{{{"x", of.sizes, of.element, BufferRole::kInput}, {"y", of.sizes, of.element, BufferRole::kOutput}},
                    {}};
    std::vector<IndexExpr> at;
    std::vector<loop::Loop> loops;
    for (std::uint32_t d = 0; d < of.sizes.size(); ++d) {
      loops.push_back({{d, fmt::format("y.i{}", d)}, of.sizes[d]});
      at.emplace_back(loops.back().axis);
    }
    loop::Body body(1, loop::Statement(loop::Store{{1}, at, loop::StoreKind::kSet, ValueExpr::load({0}, at)}));
    for (std::size_t d = loops.size(); d-- > 0;) {
      loops[d].body = std::move(body);
      body = loop::Body(1, loop::Statement(loops[d]));
    }
    program.body = std::move(body);
    return program;
  }

  void choose_halos() {
    for (std::size_t k = 0; k < calls_.size(); ++k) {
      for (std::uint32_t b = 0; b < calls_[k].tensors.size(); ++b) {
        if (programs_[k].buffers[b].role != BufferRole::kInput) continue;
        const auto found = storage_.find(*calls_[k].tensors[b]);
        if (found == storage_.end()) continue;
        const Halo halo = halo_of(programs_[k], {b}, positive_.contains(found->first));
        for (std::size_t d = 0; d < kRank; ++d) {
          found->second.before[d] = std::max(found->second.before[d], halo.before[d]);
          found->second.after[d] = std::max(found->second.after[d], halo.after[d]);
        }
      }
    }
  }

  Status add_call(std::size_t k) {
    KernelCall call = calls_[k];
    std::string key = fmt::format("{}", call.function);
    if (is_copy(call)) key += to_string(programs_[k]);
    for (std::size_t b = 0; b < call.tensors.size(); ++b) {
      key += fmt::format("|{}", static_cast<int>(programs_[k].buffers[b].role));
      const auto storage = call.tensors[b] ? storage_.find(*call.tensors[b]) : storage_.end();
      if (storage != storage_.end())
        key += to_string(storage->second) + (positive_.contains(storage->first) ? "+" : "");
    }
    const auto [known, is_new] = function_of_.try_emplace(key, result_.functions.size());
    if (is_new) REWRIGHT_CHECK(add_function(k));
    call.function = known->second;
    call.packings = packings_[known->second];
    call.tensors = by_buffer(programs_[k].buffers, result_.functions[call.function].program.buffers, call.tensors);
    result_.calls.push_back(std::move(call));
    return {};
  }
  /// Over tensors as they are stored.
  [[nodiscard]] Program stored(std::size_t k) const {
    const KernelCall& call = calls_[k];
    if (is_copy(call)) {
      for (std::size_t b = 0; b < call.tensors.size(); ++b) {
        const auto storage = storage_.find(*call.tensors[b]);
        if (storage != storage_.end() && !has_halo(storage->second))
          return transposing(programs_[k][{0}].sizes, b == 0);
      }
    }
    Program program = programs_[k];
    for (std::uint32_t b = 0; b < call.tensors.size(); ++b) {
      const auto storage = call.tensors[b] ? storage_.find(*call.tensors[b]) : storage_.end();
      if (storage != storage_.end())
        program = with_storage(program, {b}, storage->second, positive_.contains(storage->first));
    }
    return program;
  }
  [[nodiscard]] bool is_copy(const KernelCall& call) const { return call.function == kernels_.functions.size(); }
  static bool has_halo(const Storage& storage) {
    const auto is_zero = [](std::int64_t width) { return width == 0; };
    return !std::ranges::all_of(storage.before, is_zero) || !std::ranges::all_of(storage.after, is_zero);
  }
  /// A copy to or from channels last, places as one dimension: y[n, c, p] = x[n, p, c], or the other way round.
  static Program transposing(const std::vector<IndexExpr>& sizes, bool from_last) {
    const std::vector<IndexExpr> first = {sizes[0], sizes[1], sizes[2] * sizes[3]},
                                 last = {first[0], first[2], first[1]};
    Program program = copying({"y", from_last ? first : last, ElementType::kFloat32, BufferRole::kOutput});
    program.buffers[0].sizes = from_last ? last : first;
    program.body = schedule::with_places(program.body, {0}, {0}, [](std::span<const IndexExpr> at, const auto&) {
      return std::vector<IndexExpr>{at[0], at[2], at[1]};
    });
    return program;
  }
  Status add_function(std::size_t k) {
    const KernelCall& call = calls_[k];
    const Program program = stored(k);
    const Program prepared = with_conditions_inside(with_reciprocals(program));
    auto chosen = choose_ ? choose_(prepared) : std::nullopt;
    schedule::OneShot scheduled = chosen ? *std::move(chosen) : schedule::one_shot(prepared, unit_);
    scheduled.program = with_conditions_outside(scheduled.program);
    if (result_.threads > 1) scheduled.program = in_parallel(std::move(scheduled.program));
    const std::string name =
        fmt::format("{}_{}", is_copy(call) ? "copy" : kernels_.functions[call.function].name, result_.functions.size());
    if (const auto valid = loop::validate(scheduled.program, kWalkedSteps);
        !valid && valid.error().code != ErrorCode::kBudget)
      return make_error(ErrorCode::kInternal, "kernel {}: its schedule gives no valid loops: {}", name,
                        valid.error().message);
    auto& packings = packings_.emplace_back(call.tensors.size());
    for (const schedule::Step& step : scheduled.steps) {
      const auto* pack = std::get_if<schedule::Pack>(&step.transform);
      if (pack == nullptr) continue;
      const auto buffer = std::ranges::find(program.buffers, pack->buffer, &Buffer::name);
      if (buffer->role != BufferRole::kWeight) continue;
      packings[static_cast<std::size_t>(buffer - program.buffers.begin())] = pack->parts;
      scheduled.program = with_packed_weight(std::move(scheduled.program), *pack);
    }
    packings = by_buffer(program.buffers, scheduled.program.buffers, packings);
    result_.functions.push_back({name, std::move(scheduled.program)});
    return {};
  }

  const Graph& graph_;
  const Kernels& kernels_;
  schedule::VectorUnit unit_;
  const ScheduleChoice& choose_;
  std::vector<KernelCall> calls_;
  std::vector<Program> programs_;  ///< By call, before they are scheduled.
  std::map<Port, Storage> storage_;
  std::map<Port, Port> copies_;  ///< Of inputs of the graph.
  std::set<Port> positive_;
  std::uint32_t new_ports_ = 0;
  std::map<std::string, std::size_t> function_of_;
  std::vector<std::vector<std::vector<schedule::LayoutPart>>> packings_;  ///< By function.
  Kernels result_;
};

}  // namespace

Result<Kernels> scheduled(const Graph& graph, const Kernels& kernels, const schedule::VectorUnit& unit, int threads,
                          const ScheduleChoice& choose) {
  return KernelScheduling(graph, kernels, unit, threads, choose).run();
}

}  // namespace rewright::compile
