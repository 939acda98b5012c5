#include "compile/scheduled_kernels.h"

#include <rewright/tune/roofline.h>

#include <algorithm>
#include <set>

#include "compile/border_zeros.h"
#include "compile/copies.h"
#include "compile/layout_choice.h"
#include "compile/parallel_loops.h"
#include "compile/reciprocals.h"
#include "compile/sparse_weights.h"
#include "compile/storage.h"
#include "compile/sum_conditions.h"
#include "compile/window_counts.h"
#include "loop/validator.h"
#include "schedule/apply.h"
#include "schedule/nest.h"
#include "schedule/places.h"
#include "schedule/read_box.h"
#include "tune/features.h"

namespace rewright::compile {
namespace {

using loop::Program;

constexpr std::size_t kRank = 4;
constexpr double kNeverUs = 1e9;  ///< Of what must not be.

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
  return schedule::without_buffer(std::move(program), copy);
}

/// Layouts are the same on every machine: what is recorded of kernels on one is found on others.
const tune::Machine& nominal_machine() {
  static const tune::Machine machine = [] {
    tune::Machine made;
    made.caches = {{1, 48 << 10, 400}, {2, 2 << 20, 100}, {3, 32 << 20, 30}, {0, 0, 12}};
    made.peak_gflops = 150;
    return made;
  }();
  return machine;
}

class KernelScheduling {
 public:
  KernelScheduling(const Graph& graph, const Kernels& kernels, const schedule::VectorUnit& unit, int threads,
                   const ScheduleChoice& choose, const WeightWishes& wishes)
      : graph_(graph),
        kernels_(kernels),
        unit_(unit),
        choose_(choose),
        wishes_(wishes),
        roofline_(tune::feature_columns(), nominal_machine()) {
    result_.threads = threads;
  }

  Result<Kernels> run() {
    for (const KernelCall& call : kernels_.calls) {
      calls_.push_back(call);
      programs_.push_back(with_window_counts(with_roles(call)));
    }
    copy_inputs();
    for (std::size_t k = 0; k < calls_.size(); ++k) {
      const KernelCall& call = calls_[k];
      for (std::size_t b = 0; b < call.tensors.size(); ++b) {
        if (call.tensors[b] && programs_[k].buffers[b].role == BufferRole::kOutput) written_.insert(*call.tensors[b]);
      }
    }
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
  /// Those that may lie with channels last: by port.
  [[nodiscard]] bool has_choice(std::size_t k, std::size_t b) const {
    const Buffer& buffer = programs_[k].buffers[b];
    return calls_[k].tensors[b] && buffer.sizes.size() == kRank && buffer.element == ElementType::kFloat32 &&
           (buffer.role == BufferRole::kInput || buffer.role == BufferRole::kOutput);
  }
  /// Of no node.
  Port new_port() { return {{static_cast<std::uint32_t>(graph_.nodes().size()) + new_ports_++}, 0}; }

  /// What a kernel reads beyond an input of the graph is asked at each place, unless there is a copy with zeros around.
  void copy_inputs() {
    std::map<Port, Port> copies;
    for (const NodeId id : graph_.inputs()) {
      const Port port{id, 0};
      for (std::size_t k = 0; k < calls_.size() && graph_.node(id).is_data() && !copies.contains(port); ++k)
        for (std::uint32_t b = 0; b < calls_[k].tensors.size(); ++b)
          if (calls_[k].tensors[b] == port && has_choice(k, b) && is_wide(halo_of(programs_[k], {b}, false)))
            copies.try_emplace(port, new_port());
    }
    std::set<Port> made;
    for (std::size_t k = 0; k < calls_.size(); ++k) {
      for (std::size_t b = 0; b < calls_[k].tensors.size(); ++b) {
        const auto copy = calls_[k].tensors[b] ? copies.find(*calls_[k].tensors[b]) : copies.end();
        if (copy == copies.end()) continue;
        if (made.insert(copy->first).second) {
          const auto at = static_cast<std::ptrdiff_t>(k);
          const Program program = copying(programs_[k].buffers[b]);
          calls_.insert(calls_.begin() + at, {kernels_.functions.size(), {copy->first, copy->second}});
          programs_.insert(programs_.begin() + at, program);
          ++k;
        }
        calls_[k].tensors[b] = copy->second;
      }
    }
  }
  static bool is_wide(const Halo& halo) {
    return halo.before != std::vector<std::int64_t>(kRank) || halo.after != std::vector<std::int64_t>(kRank);
  }

  void choose_channels_last() {
    for (std::size_t k = 0; k < calls_.size(); ++k)
      for (std::uint32_t b = 0; b < calls_[k].tensors.size(); ++b)
        if (has_choice(k, b) && stores_positive(programs_[k], {b})) positive_.insert(*calls_[k].tensors[b]);
    LayoutProblem problem;
    std::map<Port, std::size_t> number;
    std::vector<std::pair<std::size_t, std::uint32_t>> place;    // Of tensors: a call and its buffer.
    std::vector<std::map<Port, std::size_t>> at(calls_.size());  // In what is chosen for a kernel.
    for (std::size_t k = 0; k < calls_.size(); ++k) {
      LayoutProblem::Kernel& kernel = problem.kernels.emplace_back();
      for (const BufferRole role : {BufferRole::kInput, BufferRole::kOutput}) {
        for (std::uint32_t b = 0; b < calls_[k].tensors.size(); ++b) {
          if (!has_choice(k, b) || programs_[k].buffers[b].role != role) continue;
          const Port port = *calls_[k].tensors[b];
          if (!at[k].try_emplace(port, at[k].size()).second) continue;
          const auto [known, is_new] = number.try_emplace(port, problem.tensors);
          if (is_new) place.emplace_back(k, b);
          if (is_new) problem.must_be_first.push_back(is_output_of_graph(port));
          problem.tensors = number.size();
          (role == BufferRole::kInput ? kernel.reads : kernel.writes).push_back(known->second);
        }
      }
    }
    problem.kernel_cost = [&](std::size_t k, const std::vector<bool>& is_last) {
      if (is_barred(k, is_last)) return kNeverUs;
      std::map<Port, Storage> storage;
      for (const auto& [port, i] : at[k]) {
        if (is_last[i]) {
          storage.emplace(port, channels_last());
        } else if (is_between_kernels(port)) {
          storage.emplace(port, channels_first());
        }
      }
      add_halos(k, storage);
      return cost_of(k, storage);
    };
    problem.copy_cost = [&](std::size_t t, bool to_last) {
      return us_of(transposing(programs_[place[t].first][{place[t].second}].sizes, !to_last));
    };
    const std::vector<std::vector<bool>> chosen = choose_layouts(problem);
    lay_out(
        [&](std::size_t k, std::size_t b) { return has_choice(k, b) && chosen[k][at[k].at(*calls_[k].tensors[b])]; });
  }
  static Storage channels_last() {
    return {{0, 2, 3, 1}, std::vector<std::int64_t>(kRank), std::vector<std::int64_t>(kRank)};
  }
  static Storage channels_first() {
    return {{0, 1, 2, 3}, std::vector<std::int64_t>(kRank), std::vector<std::int64_t>(kRank)};
  }
  /// Whose place in memory nobody else knows: it may have zeros around it.
  [[nodiscard]] bool is_between_kernels(Port port) const {
    return written_.contains(port) && !is_output_of_graph(port);
  }
  [[nodiscard]] double cost_of(std::size_t k, const std::map<Port, Storage>& storage) {
    const std::string key = key_of(k, storage);
    const auto known = cost_of_.find(key);
    return known != cost_of_.end() ? known->second : cost_of_.emplace(key, us_of(stored(k, storage))).first->second;
  }
  [[nodiscard]] double us_of(const Program& program) const {
    const schedule::OneShot made = schedule::one_shot(with_conditions_inside(with_reciprocals(program)), unit_);
    return roofline_.us_of(tune::features_of(with_conditions_outside(made.program), nominal_machine(), unit_.lanes));
  }

  /// Tensors that kernels read or write with channels last, by call and buffer; copies where one is read both ways.
  void lay_out(const std::function<bool(std::size_t, std::size_t)>& is_last) {
    std::vector<std::vector<bool>> last, free;
    for (std::size_t k = 0; k < calls_.size(); ++k) {
      last.emplace_back();
      free.emplace_back();
      for (std::size_t b = 0; b < calls_[k].tensors.size(); ++b) {
        last.back().push_back(is_last(k, b));
        free.back().push_back(has_choice(k, b));
      }
    }
    const std::vector<KernelCall> calls = std::move(calls_);
    const std::vector<Program> programs = std::move(programs_);
    calls_.clear();
    programs_.clear();
    std::map<Port, Port> first_of, last_of;  // Where a tensor of the graph is, in either order.
    const auto copy = [&](Port from, Port to, const Buffer& buffer) {
      calls_.push_back({kernels_.functions.size(), {from, to}});
      programs_.push_back(copying(buffer));
    };
    std::vector<std::pair<Port, Buffer>> handed_out;  // What the graph hands out and is made with channels last.
    for (std::size_t k = 0; k < calls.size(); ++k) {
      KernelCall call = calls[k];
      for (std::size_t b = 0; b < call.tensors.size(); ++b) {
        if (!call.tensors[b]) continue;
        const Port port = *call.tensors[b];
        const Buffer& buffer = programs[k].buffers[b];
        std::map<Port, Port>&same = last[k][b] ? last_of : first_of, &other = last[k][b] ? first_of : last_of;
        if (buffer.role == BufferRole::kOutput) {
          const bool is_separate = last[k][b] && is_output_of_graph(port);
          if (is_separate) handed_out.emplace_back(port, buffer);
          same.emplace(port, is_separate ? new_port() : port);
        } else {
          if (!first_of.contains(port) && !last_of.contains(port)) first_of.emplace(port, port);  // Of no kernel.
          if (!same.contains(port)) {
            same.emplace(port, is_output_of_graph(port) && !last[k][b] ? port : new_port());
            copy(other.at(port), same.at(port), buffer);
          }
        }
        const Port stored = same.at(port);
        call.tensors[b] = stored;
        const bool is_own = stored != port || is_between_kernels(port);
        if (!last[k][b] && (!free[k][b] || !is_own)) continue;
        storage_.try_emplace(stored, last[k][b] ? channels_last() : channels_first());
        if (positive_.contains(port)) positive_.insert(same.at(port));
      }
      calls_.push_back(std::move(call));
      programs_.push_back(programs[k]);
    }
    for (const auto& [port, buffer] : handed_out)
      if (!first_of.contains(port)) copy(last_of.at(port), port, buffer);
  }
  void choose_halos() {
    for (std::size_t k = 0; k < calls_.size(); ++k) add_halos(k, storage_);
    std::erase_if(storage_, [](const auto& each) { return is_plain(each.second); });
  }
  static bool is_plain(const Storage& storage) { return storage == channels_first(); }
  /// What a kernel reads beyond the tensors that are stored.
  void add_halos(std::size_t k, std::map<Port, Storage>& storage) const {
    for (std::uint32_t b = 0; b < calls_[k].tensors.size(); ++b) {
      if (programs_[k].buffers[b].role != BufferRole::kInput) continue;
      const auto found = storage.find(*calls_[k].tensors[b]);
      if (found == storage.end()) continue;
      const Halo halo = halo_of(programs_[k], {b}, positive_.contains(found->first));
      for (std::size_t d = 0; d < kRank; ++d) {
        found->second.before[d] = std::max(found->second.before[d], halo.before[d]);
        found->second.after[d] = std::max(found->second.after[d], halo.after[d]);
      }
    }
  }

  /// Calls of equal keys may share a function.
  [[nodiscard]] std::string key_of(std::size_t k, const std::map<Port, Storage>& storage) const {
    const KernelCall& call = calls_[k];
    std::string key = fmt::format("{}", call.function);
    if (is_copy(call)) key += to_string(programs_[k]);
    for (std::size_t b = 0; b < call.tensors.size(); ++b) {
      key += fmt::format("|{}", static_cast<int>(programs_[k].buffers[b].role));
      const auto found = call.tensors[b] ? storage.find(*call.tensors[b]) : storage.end();
      if (found != storage.end()) key += to_string(found->second) + (positive_.contains(found->first) ? "+" : "");
      const WeightWish* wish = wish_of(k, b);
      if (wish != nullptr && wish->elements) key += fmt::format("|{} elements", *wish->elements);
    }
    return key;
  }
  Status add_call(std::size_t k) {
    KernelCall call = calls_[k];
    const auto [known, is_new] = function_of_.try_emplace(key_of(k, storage_), result_.functions.size());
    if (is_new) REWRIGHT_CHECK(add_function(k));
    call.function = known->second;
    call.forms = forms_[known->second];
    call.tensors = by_buffer(programs_[k].buffers, result_.functions[call.function].program.buffers, call.tensors);
    for (const auto& [part, weight] : sparse_[known->second]) call.tensors[part] = calls_[k].tensors[weight];
    result_.calls.push_back(std::move(call));
    return {};
  }
  /// What is asked of a call, by buffer; nothing: nothing.
  [[nodiscard]] const WeightWish* wish_of(std::size_t k, std::size_t b) const {
    const auto& port = calls_[k].tensors[b];
    if (!port || programs_[k].buffers[b].role != BufferRole::kWeight) return nullptr;
    const auto wish = wishes_.find(*port);
    return wish == wishes_.end() ? nullptr : &wish->second;
  }
  [[nodiscard]] bool is_barred(std::size_t k, const std::vector<bool>& is_last) const {
    using Layout = WeightWish::Layout;
    for (std::size_t b = 0; b < calls_[k].tensors.size(); ++b) {
      const WeightWish* wish = wish_of(k, b);
      if (wish == nullptr || wish->layout == Layout::kAny) continue;
      const bool barred = wish->layout == Layout::kChannelsFirst;
      if (std::ranges::find(is_last, barred) != is_last.end()) return true;
    }
    return false;
  }
  /// Over tensors as they are stored.
  [[nodiscard]] Program stored(std::size_t k, const std::map<Port, Storage>& storages) const {
    const KernelCall& call = calls_[k];
    if (is_copy(call)) {
      for (std::size_t b = 0; b < call.tensors.size(); ++b) {
        const auto storage = storages.find(*call.tensors[b]);
        const auto other = storages.find(*call.tensors[1 - b]);
        if (storage == storages.end() || storage->second.order != channels_last().order) continue;
        if (!has_halo(storage->second) && (other == storages.end() || !has_halo(other->second)))
          return transposing(programs_[k][{0}].sizes, b == 0);
      }
    }
    Program program = programs_[k];
    for (std::uint32_t b = 0; b < call.tensors.size(); ++b) {
      const auto storage = call.tensors[b] ? storages.find(*call.tensors[b]) : storages.end();
      if (storage != storages.end())
        program = with_storage(program, {b}, storage->second, positive_.contains(storage->first));
    }
    return program;
  }
  [[nodiscard]] bool is_copy(const KernelCall& call) const { return call.function == kernels_.functions.size(); }
  static bool has_halo(const Storage& storage) {
    const auto is_zero = [](std::int64_t width) { return width == 0; };
    return !std::ranges::all_of(storage.before, is_zero) || !std::ranges::all_of(storage.after, is_zero);
  }
  struct SparseParts {
    /// By name of a buffer: of which of the call's weights it is, and what of it.
    std::map<std::string, std::pair<std::size_t, SparsePart>> parts;
    std::set<std::string> nests;  ///< That are scheduled.
  };
  SparseParts make_sparse(std::size_t k, Program& program) const {
    SparseParts made;
    for (std::size_t b = 0; b < calls_[k].tensors.size(); ++b) {
      const WeightWish* wish = wish_of(k, b);
      if (wish == nullptr || !wish->elements) continue;
      const auto at = std::ranges::find(program.buffers, programs_[k].buffers[b].name, &Buffer::name);
      auto sparse = with_sparse_weight(program, BufferId{static_cast<std::uint32_t>(at - program.buffers.begin())},
                                       *wish->elements, unit_);
      if (!sparse) continue;
      program = std::move(sparse->program);
      made.nests.insert(sparse->nests.begin(), sparse->nests.end());
      for (auto& [name, part] : sparse->parts) made.parts.emplace(name, std::pair(b, std::move(part)));
    }
    return made;
  }
  [[nodiscard]] schedule::OneShot scheduled_beside(const Program& program, const std::set<std::string>& nests) const {
    std::vector<loop::LoopName> others = schedule::roots_of(program);
    std::erase_if(others, [&](const loop::LoopName& name) { return nests.contains(to_string(name)); });
    return schedule::one_shot({{}, program}, others, unit_);
  }
  [[nodiscard]] Program with_zeros_inside(Program program, std::size_t k) const {
    for (std::size_t b = 0; b < calls_[k].tensors.size(); ++b) {
      const Buffer& buffer = programs_[k].buffers[b];
      const auto storage = calls_[k].tensors[b] ? storage_.find(*calls_[k].tensors[b]) : storage_.end();
      if (buffer.role != BufferRole::kOutput || storage == storage_.end()) continue;
      const BufferId stored = schedule::buffer_named(program, buffer.name);
      program = compile::with_zeros_inside(std::move(program), stored, storage->second);
    }
    return program;
  }
  Status add_function(std::size_t k) {
    const KernelCall& call = calls_[k];
    Program program = stored(k, storage_);
    const auto [parts, nests] = make_sparse(k, program);
    const Program prepared = with_conditions_inside(with_reciprocals(program));
    auto chosen = choose_ ? choose_(prepared) : std::nullopt;
    schedule::OneShot scheduled = !parts.empty() ? scheduled_beside(prepared, nests)
                                  : chosen       ? *std::move(chosen)
                                                 : schedule::one_shot(prepared, unit_);
    scheduled.program = with_conditions_outside(scheduled.program);
    scheduled.program = with_zeros_inside(std::move(scheduled.program), k);
    if (result_.threads > 1) scheduled.program = with_parallel_loops(std::move(scheduled.program));
    const std::string name =
        fmt::format("{}_{}", is_copy(call) ? "copy" : kernels_.functions[call.function].name, result_.functions.size());
    if (const auto valid = loop::validate(scheduled.program, kWalkedSteps);
        !valid && valid.error().code != ErrorCode::kBudget)
      return make_error(ErrorCode::kInternal, "kernel {}: its schedule gives no valid loops: {}", name,
                        valid.error().message);
    auto& forms = forms_.emplace_back(program.buffers.size());
    for (const schedule::Step& step : scheduled.steps) {
      const auto* pack = std::get_if<schedule::Pack>(&step.transform);
      if (pack == nullptr) continue;
      const auto buffer = std::ranges::find(program.buffers, pack->buffer, &Buffer::name);
      if (buffer->role != BufferRole::kWeight) continue;
      forms[static_cast<std::size_t>(buffer - program.buffers.begin())].parts = pack->parts;
      scheduled.program = with_packed_weight(std::move(scheduled.program), *pack);
    }
    for (const auto& [name, part] : parts) {
      const auto at = std::ranges::find(program.buffers, name, &Buffer::name) - program.buffers.begin();
      forms[static_cast<std::size_t>(at)].sparse = part.second;
    }
    forms = by_buffer(program.buffers, scheduled.program.buffers, forms);
    auto& sparse = sparse_.emplace_back();
    for (const auto& [name, part] : parts) {
      const auto at = std::ranges::find(scheduled.program.buffers, name, &Buffer::name);
      sparse.emplace_back(at - scheduled.program.buffers.begin(), part.first);
    }
    result_.functions.push_back({name, std::move(scheduled.program)});
    return {};
  }

  const Graph& graph_;
  const Kernels& kernels_;
  schedule::VectorUnit unit_;
  const ScheduleChoice& choose_;
  const WeightWishes& wishes_;
  tune::Roofline roofline_;
  std::vector<KernelCall> calls_;
  std::vector<Program> programs_;  ///< By call, before they are scheduled.
  std::map<Port, Storage> storage_;
  std::map<std::string, double> cost_of_;  ///< By key.
  std::set<Port> written_;                 ///< By kernels.
  std::set<Port> positive_;
  std::uint32_t new_ports_ = 0;
  std::map<std::string, std::size_t> function_of_;
  std::vector<std::vector<WeightForm>> forms_;                            ///< By function and buffer.
  std::vector<std::vector<std::pair<std::size_t, std::size_t>>> sparse_;  ///< Parts of weights, and these.
  Kernels result_;
};

}  // namespace

Result<Kernels> scheduled(const Graph& graph, const Kernels& kernels, const schedule::VectorUnit& unit, int threads,
                          const ScheduleChoice& choose, const WeightWishes& wishes) {
  return KernelScheduling(graph, kernels, unit, threads, choose, wishes).run();
}

}  // namespace rewright::compile
