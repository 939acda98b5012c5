#include "axiom/audit.h"

#include <tbb/global_control.h>
#include <tbb/parallel_for.h>
#include <tbb/task_arena.h>

#include <algorithm>
#include <atomic>
#include <limits>
#include <mutex>
#include <set>

#include "axiom/counterexample.h"
#include "axiom/evaluation.h"
#include "axiom/size_search.h"

namespace rewright {
namespace {

std::uint64_t mix(std::uint64_t x) {
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9;
  x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
  return x ^ (x >> 31);
}

std::vector<Constraint> constraints_of(const TypedAxiom& axiom) {
  std::vector<Constraint> all = axiom.left_defined;
  all.insert(all.end(), axiom.right_defined.begin(), axiom.right_defined.end());
  all.insert(all.end(), axiom.condition.begin(), axiom.condition.end());
  return all;
}

std::vector<std::string> size_variables(const TypedAxiom& axiom, std::span<const Constraint> constraints) {
  std::set<std::string> names;
  const auto add = [&](const SymbolicDim& dim) {
    for (auto& name : dim.variables()) names.insert(std::move(name));
  };
  for (const TypedTerm& term : axiom.terms) {
    for (const SymbolicDim& dim : term.shape) add(dim);
    for (const auto& value : term.params.values()) {
      if (const auto* sizes = std::get_if<SizeList<SymbolicDim>>(&value)) std::ranges::for_each(sizes->values, add);
    }
  }
  for (const Constraint& constraint : constraints) {
    add(constraint.left);
    add(constraint.right);
  }
  return {names.begin(), names.end()};
}

/// Sizes that parameters name and no tensor has, as n in reshape to [n], may pass the greatest size of a tensor.
SizeDomain with_free_parameters(const TypedAxiom& axiom, std::span<const std::string> names, SizeDomain sizes) {
  for (const std::string& name : names) {
    const auto& variables = axiom.axiom->variables;
    const auto variable = std::ranges::find(variables, name.substr(0, name.find('.')), &AxiomVariable::name);
    if (variable == variables.end() || variable->sort != AxiomSort::kTensor) sizes.try_emplace(name);
  }
  return sizes;
}

/// A point at which both sides differ.
struct Point {
  enum class Algebra { kField, kExact, kReal } algebra;
  Draw draw;
  std::uint64_t seed;
};

struct Failure {
  std::vector<std::int64_t> sizes;
  Point point;
  std::int64_t elements = std::numeric_limits<std::int64_t>::max();
};

/// One axiom at one combination of ranks and parameters.
class TypingAudit {
 public:
  TypingAudit(const TypedAxiom& axiom, const ParamDomain& domain, const AuditOptions& options)
      : axiom_(axiom),
        options_(options),
        constraints_(constraints_of(axiom)),
        variables_(size_variables(axiom, constraints_)),
        sizes_(with_free_parameters(axiom, variables_, size_domain_of(axiom, domain, options.domain))),
        search_(variables_, constraints_, options.max_dim, sizes_),
        program_(axiom, search_.names()),
        field_(program_),
        exact_(program_),
        real_(program_) {}

  /// Compares at the domain's sizes, or an even part of them; adds to `result`. A failure ends it.
  std::optional<Failure> run(AuditResult& result, const std::atomic<bool>& stop) {
    std::size_t total = 0, step = 1;
    if (options_.max_sizes > 0) {
      const std::size_t most = options_.max_sizes * 64;
      search_.for_each([&](std::span<const std::int64_t>) { return ++total < most; });
      step = std::max<std::size_t>(1, total / options_.max_sizes);
      if (step > 1 || total == most) result.complete = false;
    }
    std::optional<Failure> failure;
    std::size_t index = 0;
    const bool few = total > 0 && total < 40;
    search_.for_each([&](std::span<const std::int64_t> sizes) {
      if (index++ % step != 0) return true;
      if (options_.max_sizes > 0 && index > options_.max_sizes * 64) return false;
      if ((index & 255) == 0 && stop.load(std::memory_order_relaxed)) return false;
      const auto point = difference_at(sizes, index, few ? 6 : 1, result);
      if (point) failure = Failure{{sizes.begin(), sizes.end()}, *point, elements(*point)};
      return !point;
    });
    return failure;
  }

  /// The failing combination with the fewest elements among sizes up to max_dim.
  std::optional<Failure> smallest(std::int64_t max_dim) {
    SizeSearch search(variables_, constraints_, max_dim, limited(sizes_, max_dim));
    if (search.names() != search_.names()) return std::nullopt;
    std::optional<Failure> best;
    std::size_t index = 0;
    AuditResult ignored;
    search.for_each([&](std::span<const std::int64_t> sizes) {
      const auto point = difference_at(sizes, ++index, 6, ignored);
      if (point && (!best || elements(*point) < best->elements))
        best = Failure{{sizes.begin(), sizes.end()}, *point, elements(*point)};
      return index < 20'000;
    });
    return best;
  }

  /// Inputs of -1, 0 and 1 where such show it too.
  std::string describe(const Failure& failure) {
    if (failure.point.algebra != Point::Algebra::kReal) {
      for (const Draw draw : {Draw::kSigns, Draw::kSmall, Draw::kQuarters, Draw::kNegative}) {
        for (std::uint64_t seed = 1; seed <= 64; ++seed) {
          if (exact_.run(failure.sizes, draw, seed) && !exact_.equal())
            return describe_counterexample(axiom_, program_, exact_, search_.names(), failure.sizes);
        }
      }
      if (failure.point.algebra == Point::Algebra::kExact &&
          exact_.run(failure.sizes, failure.point.draw, failure.point.seed))
        return describe_counterexample(axiom_, program_, exact_, search_.names(), failure.sizes);
    }
    for (const Draw draw : {Draw::kSigns, Draw::kSmall, Draw::kQuarters}) {
      for (std::uint64_t seed = 1; seed <= 64 && program_.uses_functions(); ++seed) {
        if (real_.run(failure.sizes, draw, seed) && !real_.equal())
          return describe_counterexample(axiom_, program_, real_, search_.names(), failure.sizes);
      }
    }
    if (field_.run(failure.sizes, failure.point.draw, failure.point.seed))
      return describe_counterexample(axiom_, program_, field_, search_.names(), failure.sizes);
    return describe_typing(axiom_);
  }

 private:
  static SizeDomain limited(const SizeDomain& sizes, std::int64_t max_dim) {
    SizeDomain result = sizes;
    for (auto& [name, values] : result) {
      const std::int64_t least = values.empty() ? 1 : values.front();
      std::erase_if(values, [&](std::int64_t value) { return value > std::max(max_dim, least); });
    }
    return result;
  }

  std::int64_t elements(const Point& point) const {
    switch (point.algebra) {
      case Point::Algebra::kField: return field_.input_elements();
      case Point::Algebra::kExact: return exact_.input_elements();
      case Point::Algebra::kReal: return real_.input_elements();
    }
    return 0;
  }

  template <class Scalar>
  bool differs(TermValues<Scalar>& values, std::span<const std::int64_t> sizes, Draw draw, std::uint64_t seed,
               bool& compared) {
    if (!values.run(sizes, draw, seed)) return false;
    compared |= values.defined();
    return !values.equal();
  }

  std::optional<Point> difference_at(std::span<const std::int64_t> sizes, std::size_t index, int rounds,
                                     AuditResult& result) {
    bool compared = false;
    const std::uint64_t seed = mix(options_.seed * 0x9e3779b97f4a7c15 + index);
    const auto found = program_.uses_functions() ? functional_difference(sizes, seed, rounds, compared)
                       : program_.uses_order()   ? ordered_difference(sizes, seed, index, rounds, compared)
                                                 : polynomial_difference(sizes, seed, compared);
    if (!compared) return std::nullopt;
    ++result.combinations;
    if (program_.uses_functions() || program_.uses_order()) {
      ++result.sampled;
    } else {
      const double degree = program_.degree(static_cast<double>(field_.greatest_tensor()));
      result.error = std::max(result.error, degree / static_cast<double>(Field::kPrime));
    }
    return found;
  }
  std::optional<Point> polynomial_difference(std::span<const std::int64_t> sizes, std::uint64_t seed, bool& compared) {
    if (differs(field_, sizes, Draw::kWhole, seed, compared)) return Point{Point::Algebra::kField, Draw::kWhole, seed};
    if (differs(exact_, sizes, Draw::kSmall, seed, compared)) return Point{Point::Algebra::kExact, Draw::kSmall, seed};
    return std::nullopt;
  }
  std::optional<Point> ordered_difference(std::span<const std::int64_t> sizes, std::uint64_t seed, std::size_t index,
                                          int rounds, bool& compared) {
    static constexpr Draw kDraws[] = {Draw::kSmall, Draw::kQuarters, Draw::kNegative};
    for (int round = 0; round < rounds; ++round) {
      // One kind a combination where there are many, in turn; every kind where there are few.
      for (std::size_t kind = 0; kind < 3; ++kind) {
        if (rounds == 1 && kind != index % 3) continue;
        const std::uint64_t own = mix(seed + static_cast<std::uint64_t>(round) * 3 + kind);
        if (differs(exact_, sizes, kDraws[kind], own, compared))
          return Point{Point::Algebra::kExact, kDraws[kind], own};
      }
    }
    return std::nullopt;
  }
  std::optional<Point> functional_difference(std::span<const std::int64_t> sizes, std::uint64_t seed, int rounds,
                                             bool& compared) {
    const bool any_function = axiom_.axiom->needs.empty() && !program_.uses_order();
    if (any_function && differs(field_, sizes, Draw::kWhole, seed, compared))
      return Point{Point::Algebra::kField, Draw::kWhole, seed};
    for (int round = 0; round < rounds; ++round) {
      const Draw draw = round % 2 == 0 ? Draw::kQuarters : Draw::kNegative;
      const std::uint64_t own = mix(seed + static_cast<std::uint64_t>(round));
      if (differs(real_, sizes, draw, own, compared)) return Point{Point::Algebra::kReal, draw, own};
    }
    return std::nullopt;
  }

  const TypedAxiom& axiom_;
  const AuditOptions& options_;
  std::vector<Constraint> constraints_;
  std::vector<std::string> variables_;
  SizeDomain sizes_;
  SizeSearch search_;
  TermProgram program_;
  TermValues<Field> field_;
  TermValues<Exact> exact_;
  TermValues<Real> real_;
};

/// All combinations of ranks and parameters of one axiom at which both sides can be defined, or an even part of them.
struct AxiomTypings {
  ParamDomain domain;
  std::vector<TypedAxiom> typings;
  bool complete = true;
};

Result<AxiomTypings> typings_of(const Axiom& axiom, const AuditOptions& options) {
  AxiomTypings all;
  REWRIGHT_TRY(all.domain, domain_of(axiom, options.domain));
  const auto bindings = bindings_of(all.domain);
  for (const AxiomRanks& ranks : axiom.ranks) {
    for (const ParamBinding& binding : bindings) {
      if (auto typed = specialise(axiom, ranks, binding)) all.typings.push_back(*std::move(typed));
    }
  }
  if (options.max_typings == 0 || all.typings.size() <= options.max_typings) return all;
  const std::size_t step = (all.typings.size() + options.max_typings - 1) / options.max_typings;
  std::vector<TypedAxiom> kept;
  for (std::size_t i = 0; i < all.typings.size(); i += step) kept.push_back(std::move(all.typings[i]));
  all.typings = std::move(kept);
  all.complete = false;
  return all;
}

/// What one typing said; merged in order, so that the result does not depend on the threads.
struct TypingResult {
  AuditResult part;
  bool failed = false;
};

/// The smallest failure among the typings that failed: the least greatest size first, then the fewest elements.
std::string smallest_counterexample(const AxiomTypings& all, std::span<const std::size_t> failed,
                                    const AuditOptions& options) {
  for (std::int64_t max_dim = 1; max_dim <= options.max_dim; ++max_dim) {
    std::optional<Failure> best;
    std::size_t where = 0;
    for (const std::size_t i : failed) {
      TypingAudit audit(all.typings[i], all.domain, options);
      auto found = audit.smallest(max_dim);
      if (found && (!best || found->elements < best->elements)) {
        best = std::move(found);
        where = i;
      }
    }
    if (best) return TypingAudit(all.typings[where], all.domain, options).describe(*best);
  }
  AuditResult ignored;
  const std::atomic<bool> go_on = false;
  TypingAudit audit(all.typings[failed.front()], all.domain, options);
  const auto again = audit.run(ignored, go_on);
  return again ? audit.describe(*again) : describe_typing(all.typings[failed.front()]);
}

AuditResult merge(const Axiom& axiom, const AxiomTypings& all, std::span<const TypingResult> parts,
                  const AuditOptions& options) {
  AuditResult result;
  result.name = axiom.name;
  result.complete = all.complete;
  std::vector<std::size_t> failed;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    result.combinations += parts[i].part.combinations;
    result.sampled += parts[i].part.sampled;
    result.error = std::max(result.error, parts[i].part.error);
    result.complete &= parts[i].part.complete;
    if (parts[i].failed && failed.size() < 16) failed.push_back(i);
  }
  if (failed.empty()) return result;
  result.holds = false;
  result.counterexample = smallest_counterexample(all, failed, options);
  return result;
}

/// Counts what is done and asks whether to stop.
class Monitor {
 public:
  Monitor(const AuditOptions& options, std::size_t total) : options_(options), total_(total) {}
  void done(std::uint64_t combinations) {
    const std::lock_guard lock(mutex_);
    ++done_;
    combinations_ += combinations;
    if (options_.progress) options_.progress(done_, total_, combinations_);
    if (options_.stop && options_.stop()) stop_ = true;
  }
  [[nodiscard]] const std::atomic<bool>& stop() const { return stop_; }

 private:
  const AuditOptions& options_;
  std::size_t total_;
  std::mutex mutex_;
  std::size_t done_ = 0;
  std::uint64_t combinations_ = 0;
  std::atomic<bool> stop_ = false;
};

}  // namespace

Result<std::vector<AuditResult>> audit(std::span<const Axiom> axioms, const AuditOptions& options) {
  const int threads = std::max(1, options.threads);
  const tbb::global_control limit(tbb::global_control::max_allowed_parallelism, static_cast<std::size_t>(threads));
  tbb::task_arena arena(threads);
  std::vector<std::optional<Result<AxiomTypings>>> prepared(axioms.size());
  arena.execute([&] {
    tbb::parallel_for(std::size_t{0}, axioms.size(),
                      [&](std::size_t i) { prepared[i] = typings_of(axioms[i], options); });
  });
  struct Task {
    std::size_t axiom, typing;
  };
  std::vector<Task> tasks;
  std::vector<std::vector<TypingResult>> parts(axioms.size());
  for (std::size_t i = 0; i < axioms.size(); ++i) {
    if (!*prepared[i]) return prepared[i]->error();
    parts[i].resize((*prepared[i])->typings.size());
    for (std::size_t k = 0; k < parts[i].size(); ++k) tasks.push_back({i, k});
  }
  Monitor monitor(options, tasks.size());
  arena.execute([&] {
    tbb::parallel_for(
        tbb::blocked_range<std::size_t>(0, tasks.size(), 1),
        [&](const auto& range) {
          for (std::size_t t = range.begin(); t != range.end() && !monitor.stop(); ++t) {
            const AxiomTypings& all = **prepared[tasks[t].axiom];
            TypingResult& result = parts[tasks[t].axiom][tasks[t].typing];
            TypingAudit one(all.typings[tasks[t].typing], all.domain, options);
            result.failed = one.run(result.part, monitor.stop()).has_value();
            monitor.done(result.part.combinations);
          }
        },
        tbb::simple_partitioner());
  });
  if (monitor.stop()) return make_error(ErrorCode::kBudget, "the audit was stopped before its end");
  std::vector<AuditResult> results(axioms.size());
  arena.execute([&] {
    tbb::parallel_for(std::size_t{0}, axioms.size(),
                      [&](std::size_t i) { results[i] = merge(axioms[i], **prepared[i], parts[i], options); });
  });
  return results;
}

Result<AuditResult> audit(const Axiom& axiom, const AuditOptions& options) {
  REWRIGHT_TRY(auto results, audit(std::span(&axiom, 1), options));
  return std::move(results.front());
}

}  // namespace rewright
