// Depth-first enumeration of graphs as sets of applications.
//
// A graph is the set of its applications. Each set is visited once, without a table of visited graphs: at every step
// the candidates for the next application are the untried rest of the parent's list, followed by the applications that
// only the newest one makes possible (Redelmeier, "Counting polyominoes", Discrete Math. 36, 1981, section 3). Graphs
// of fewer than max_operators operators have their tensors evaluated at once, so that a graph that computes a tensor
// twice is not extended; the tensors that only the last operator makes are hashed afterwards, in parallel.
#include "enumerate/enumerator.h"

#include "enumerate/classes.h"
#include "enumerate/values.h"

#include <tbb/global_control.h>
#include <tbb/parallel_for.h>
#include <tbb/task_arena.h>

#include <algorithm>
#include <chrono>
#include <numeric>

namespace rewright {

namespace enumeration {
namespace {

/// Inputs that can be exchanged for each other: of one shape and kind. Positions within the group are in order.
struct InputGroups {
  std::vector<std::uint32_t> group_of;     ///< By input.
  std::vector<std::uint32_t> position_of;  ///< By input.
  std::uint32_t count = 0;

  explicit InputGroups(const EnumerationConfig& config) {
    std::vector<std::pair<Shape, InputKind>> keys;
    std::vector<std::uint32_t> sizes;
    for (const EnumerationInput& input : config.inputs) {
      const auto key = std::pair(input.shape, input.kind);
      const auto place = std::find(keys.begin(), keys.end(), key);
      const auto group = static_cast<std::uint32_t>(place - keys.begin());
      if (place == keys.end()) {
        keys.push_back(key);
        sizes.push_back(0);
      }
      group_of.push_back(group);
      position_of.push_back(sizes[group]++);
    }
    count = static_cast<std::uint32_t>(keys.size());
  }

  /// How many inputs are skipped: unused though a later one of their group is used.
  [[nodiscard]] int skipped(const std::vector<bool>& used) const {
    std::vector<int> highest(count, -1);
    std::vector<int> used_in(count, 0);
    for (std::size_t i = 0; i < used.size(); ++i) {
      if (!used[i]) continue;
      highest[group_of[i]] = std::max(highest[group_of[i]], static_cast<int>(position_of[i]));
      ++used_in[group_of[i]];
    }
    int total = 0;
    for (std::uint32_t group = 0; group < count; ++group) total += highest[group] + 1 - used_in[group];
    return total;
  }
};

class Walk {
 public:
  Walk(const EnumerationConfig& config, ValuePool& pool,
       const std::function<bool(const EnumerationProgress&)>& progress)
      : config_(config), pool_(pool), groups_(config), progress_(progress) {
    for (const OperatorChoice& choice : config.operators) {
      const OperatorInfo& info = choice.op->info();
      arities_.push_back(static_cast<std::uint32_t>(info.max_arity < 0 ? std::max(info.min_arity, 2) : info.min_arity));
      largest_arity_ = std::max(largest_arity_, static_cast<int>(arities_.back()));
    }
  }

  /// All graphs of exactly `level` operators, or nothing if it was stopped.
  [[nodiscard]] bool run(int level, std::vector<Record>& records) {
    level_ = level;
    records_ = &records;
    stopped_ = false;
    values_.resize(pool_.input_count());
    std::iota(values_.begin(), values_.end(), ValueId{0});
    std::vector<ApplicationId> first;
    for (std::uint32_t choice = 0; choice < config_.operators.size(); ++choice) add_applications(choice, 0, first);
    visit(first);
    return !stopped_;
  }

 private:
  /// Appends the applications of `choice` to the values there are, at least one of them at or after position
  /// `fresh_from`; with 0, all of them, constants included.
  void add_applications(std::uint32_t choice, std::size_t fresh_from, std::vector<ApplicationId>& list) {
    const std::uint32_t arity = arities_[choice];
    std::array<ValueId, kMaxOperands> operands{};
    const auto add = [&](auto&& self, std::uint32_t position, bool fresh) -> void {
      if (position == arity) {
        if (!fresh && fresh_from != 0) return;
        const ApplicationId id = pool_.apply(choice, std::span(operands.data(), arity));
        if (id != kNone) list.push_back(id);
        return;
      }
      const OperatorChoice& chosen = config_.operators[choice];
      for (std::size_t i = 0; i < values_.size(); ++i) {
        const ValueId value = values_[i];
        if (position == 1 && chosen.op->info().commutative && value < operands[0]) continue;
        if ((chosen.no_weight_operands >> position & 1) != 0 && value < pool_.input_count() &&
            config_.inputs[value].kind == InputKind::kWeight) {
          continue;
        }
        operands[position] = value;
        self(self, position + 1, fresh || i >= fresh_from);
      }
    };
    add(add, 0, false);
  }

  void visit(const std::vector<ApplicationId>& list) {
    const bool last = static_cast<int>(graph_.size()) + 1 == level_;
    for (std::size_t i = 0; i < list.size() && !stopped_; ++i) {
      if (graph_.empty() && progress_) {
        stopped_ = !progress_({level_, records_->size(), static_cast<double>(i) / static_cast<double>(list.size())});
      }
      graph_.push_back(list[i]);
      if (completable()) {
        if (last) {
          records_->push_back({graph_, {}});
        } else {
          pool_.evaluate_and_keep(list[i]);
          if (computes_new_tensors(list[i])) descend(list, i);
        }
      }
      graph_.pop_back();
    }
  }

  void descend(const std::vector<ApplicationId>& list, std::size_t i) {
    std::vector<ApplicationId> next(list.begin() + static_cast<std::ptrdiff_t>(i) + 1, list.end());
    const Application newest = pool_.application(list[i]);
    const std::size_t fresh_from = values_.size();
    for (std::uint32_t output = 0; output < newest.output_count; ++output)
      values_.push_back(newest.first_output + output);
    for (std::uint32_t choice = 0; choice < config_.operators.size(); ++choice) {
      if (arities_[choice] > 0) add_applications(choice, fresh_from, next);
    }
    visit(next);
    values_.resize(fresh_from);
  }

  /// False where every extension computes a tensor twice.
  [[nodiscard]] bool computes_new_tensors(ApplicationId id) const {
    const Application& newest = pool_.application(id);
    for (std::uint32_t output = 0; output < newest.output_count; ++output) {
      for (const ValueId value : values_) {
        if (pool_.interchangeable(newest.first_output + output, value)) return false;
      }
    }
    return true;
  }

  /// Can the operators that are left still skip no input and join all parts? Exact at the last level.
  [[nodiscard]] bool completable() const {
    const int left = level_ - static_cast<int>(graph_.size());
    std::vector<bool> used(pool_.input_count(), false);
    std::vector<std::uint32_t> part(graph_.size());
    std::iota(part.begin(), part.end(), 0U);
    const auto unite = [&](std::size_t a, std::size_t b) {
      const std::uint32_t from = part[a];
      for (std::uint32_t& p : part) {
        if (p == from) p = part[b];
      }
    };
    const auto shares_tensor = [&](const Application& later, ApplicationId earlier_id) {
      const Application& earlier = pool_.application(earlier_id);
      for (std::uint32_t i = 0; i < later.operand_count; ++i) {
        const ValueId operand = later.operands[i];
        if (operand >= earlier.first_output && operand < earlier.first_output + earlier.output_count) return true;
        for (std::uint32_t j = 0; j < earlier.operand_count; ++j) {
          if (earlier.operands[j] == operand) return true;
        }
      }
      return false;
    };
    for (std::size_t i = 0; i < graph_.size(); ++i) {
      const Application& application = pool_.application(graph_[i]);
      for (std::uint32_t k = 0; k < application.operand_count; ++k) {
        if (application.operands[k] < pool_.input_count()) used[application.operands[k]] = true;
      }
      for (std::size_t j = 0; j < i; ++j) {
        if (part[i] != part[j] && shares_tensor(application, graph_[j])) unite(i, j);
      }
    }
    std::sort(part.begin(), part.end());
    const auto parts = std::unique(part.begin(), part.end()) - part.begin();
    return groups_.skipped(used) <= left * largest_arity_ && parts <= 1 + left * std::max(largest_arity_ - 1, 1);
  }

  const EnumerationConfig& config_;
  ValuePool& pool_;
  InputGroups groups_;
  const std::function<bool(const EnumerationProgress&)>& progress_;
  std::vector<std::uint32_t> arities_;
  int largest_arity_ = 1;
  int level_ = 0;
  bool stopped_ = false;
  std::vector<ApplicationId> graph_;
  std::vector<ValueId> values_;
  std::vector<Record>* records_ = nullptr;
};

/// Graphs without operators: one input, or two different ones (what a split of a concatenation gives back), none
/// skipped within their group.
std::vector<Record> wires(const EnumerationConfig& config) {
  const InputGroups groups(config);
  std::vector<Record> records;
  const auto inputs = static_cast<ValueId>(config.inputs.size());
  for (ValueId a = 0; a < inputs; ++a) {
    for (ValueId b = a; b < inputs; ++b) {
      std::vector<bool> used(inputs, false);
      used[a] = used[b] = true;
      if (groups.skipped(used) > 0) continue;
      records.push_back({{}, a == b ? std::vector<ValueId>{a} : std::vector<ValueId>{a, b}});
    }
  }
  return records;
}

/// Hashes the outputs of every application that has not been evaluated.
void evaluate_rest(ValuePool& pool) {
  std::vector<ApplicationId> rest;
  for (ApplicationId id = 0; id < pool.application_count(); ++id) {
    if (!pool.application(id).evaluated) rest.push_back(id);
  }
  tbb::parallel_for(std::size_t{0}, rest.size(), [&](std::size_t i) { pool.evaluate_hash(rest[i]); });
}

/// Does a graph that computes a tensor twice still tell something new? Only where all of it serves one operator that
/// gives back a tensor it was made of, as in relu(relu(x)); otherwise the graph without the repetition tells the same.
/// Graphs whose outputs are not all different are never kept.
bool worth_keeping(const ValuePool& pool, const Record& record) {
  if (outputs_of(pool, record).empty()) return false;
  std::vector<ValueId> tensors;
  std::vector<bool> consumed(record.applications.size(), false);
  const auto add = [&](ValueId id) {
    if (std::find(tensors.begin(), tensors.end(), id) == tensors.end()) tensors.push_back(id);
  };
  for (std::size_t i = 0; i < record.applications.size(); ++i) {
    const Application& application = pool.application(record.applications[i]);
    for (std::uint32_t k = 0; k < application.operand_count; ++k) {
      const ValueId operand = application.operands[k];
      add(operand);
      for (std::size_t j = 0; j < i; ++j) {
        if (pool.value(operand).application == record.applications[j]) consumed[j] = true;
      }
    }
    for (std::uint32_t output = 0; output < application.output_count; ++output) add(application.first_output + output);
  }
  if (std::count(consumed.begin(), consumed.end(), false) == 1) return true;
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    for (std::size_t j = 0; j < i; ++j) {
      if (pool.interchangeable(tensors[i], tensors[j])) return false;
    }
  }
  return true;
}

/// Drops the records from position `from` on that are not worth keeping.
void drop_repetitions(const ValuePool& pool, std::size_t from, std::vector<Record>& records) {
  std::vector<char> keep(records.size() - from);
  tbb::parallel_for(std::size_t{0}, keep.size(),
                    [&](std::size_t i) { keep[i] = worth_keeping(pool, records[from + i]) ? 1 : 0; });
  std::size_t end = from;
  for (std::size_t i = 0; i < keep.size(); ++i) {
    if (!keep[i]) continue;
    if (end != from + i) records[end] = std::move(records[from + i]);
    ++end;
  }
  records.resize(end);
}

struct Fingerprinted {
  Hash128 fingerprint;
  std::uint32_t record = 0;
};

/// The members of each class, paired with the class's first.
std::vector<std::pair<std::uint32_t, std::uint32_t>> pairs_of_classes(const ValuePool& pool,
                                                                      const std::vector<Record>& records,
                                                                      EnumerationReport& report) {
  std::vector<Fingerprinted> all(records.size());
  tbb::parallel_for(std::size_t{0}, records.size(), [&](std::size_t i) {
    all[i] = {fingerprint_of(pool, outputs_of(pool, records[i])), static_cast<std::uint32_t>(i)};
  });
  // Records stand in the order of their number of operators, so the first of a class is a smallest one.
  std::sort(all.begin(), all.end(), [](const Fingerprinted& a, const Fingerprinted& b) {
    return std::tie(a.fingerprint, a.record) < std::tie(b.fingerprint, b.record);
  });
  std::vector<std::pair<std::uint32_t, std::uint32_t>> pairs;
  std::size_t first = 0;
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (all[i].fingerprint != all[first].fingerprint) first = i;
    if (i == first) {
      for (EnumerationLevel& level : report.levels) {
        if (records[all[i].record].applications.size() <= static_cast<std::size_t>(level.operators)) ++level.classes;
      }
    } else {
      pairs.emplace_back(all[i].record, all[first].record);
    }
  }
  std::sort(pairs.begin(), pairs.end());
  return pairs;
}

/// Builds and confirms the candidates in blocks, in parallel, and hands them over in order.
Status deliver(const EnumerationConfig& config, const ValuePool& pool, const std::vector<Record>& records,
               const std::vector<std::pair<std::uint32_t, std::uint32_t>>& pairs,
               const std::function<Status(Candidate)>& sink, EnumerationReport& report) {
  constexpr std::size_t kBlock = 4096;
  const std::uint32_t samples = samples_for(config);
  const std::uint64_t fresh_seed = config.seed ^ 0x5deece66d1ce4e5bULL;
  for (std::size_t start = 0; start < pairs.size(); start += kBlock) {
    const std::size_t count = std::min(kBlock, pairs.size() - start);
    std::vector<std::optional<Result<Candidate>>> block(count);
    std::vector<char> agrees(count, 0);
    tbb::parallel_for(std::size_t{0}, count, [&](std::size_t i) {
      const auto [source, target] = pairs[start + i];
      block[i] = make_candidate(config, pool, records[source], records[target]);
      if (!*block[i]) return;
      if (auto answer = confirmed(**block[i], fresh_seed, samples); answer) {
        agrees[i] = *answer ? 1 : 0;
      } else {
        block[i] = answer.error();
      }
    });
    for (std::size_t i = 0; i < count; ++i) {
      if (!*block[i]) return block[i]->error();
      EnumerationLevel& level = report.levels[records[pairs[start + i].first].applications.size() - 1];
      ++(agrees[i] ? level.candidates : level.unconfirmed);
      if (agrees[i]) REWRIGHT_CHECK(sink(*std::move(*block[i])));
    }
  }
  return {};
}

}  // namespace
}  // namespace enumeration

Result<EnumerationReport> enumerate(const EnumerationConfig& config, const std::function<Status(Candidate)>& sink,
                                    const std::function<bool(const EnumerationProgress&)>& progress) {
  using namespace enumeration;
  using Clock = std::chrono::steady_clock;
  const tbb::global_control threads(tbb::global_control::max_allowed_parallelism,
                                    static_cast<std::size_t>(std::max(config.threads, 1)));
  REWRIGHT_TRY(ValuePool pool, ValuePool::make(config));
  Walk walk(config, pool, progress);
  EnumerationReport report;
  std::vector<Record> records = wires(config);
  for (int level = 1; level <= config.max_operators; ++level) {
    const auto start = Clock::now();
    const std::size_t before = records.size();
    if (!walk.run(level, records)) {
      records.resize(before);
      report.stopped_early = true;
      break;
    }
    evaluate_rest(pool);
    drop_repetitions(pool, before, records);
    report.levels.push_back(
        {level, records.size() - before, 0, 0, 0, std::chrono::duration<double>(Clock::now() - start).count()});
  }
  const auto pairs = pairs_of_classes(pool, records, report);
  REWRIGHT_CHECK(deliver(config, pool, records, pairs, sink, report));
  return report;
}

}  // namespace rewright
