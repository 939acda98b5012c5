#include "integer_program.h"

#include <coin/CbcEventHandler.hpp>
#include <coin/CbcHeuristic.hpp>
#include <coin/CbcModel.hpp>
#include <coin/ClpEventHandler.hpp>
#include <coin/OsiClpSolverInterface.hpp>

#include <algorithm>
#include <chrono>
#include <limits>

namespace rewright::egraph_search {
namespace {

/// Asks `keep_going`, not more often than every 20 ms; once it said no, the answer stays no.
class Patience {
 public:
  explicit Patience(const std::function<bool()>& keep_going) : keep_going_(keep_going) {}
  [[nodiscard]] bool is_over() {
    if (is_over_ || std::chrono::steady_clock::now() < next_) return is_over_;
    is_over_ = keep_going_ && !keep_going_();
    next_ = std::chrono::steady_clock::now() + std::chrono::milliseconds(20);
    return is_over_;
  }

 private:
  const std::function<bool()>& keep_going_;
  std::chrono::steady_clock::time_point next_;
  bool is_over_ = false;
};

/// Clp calls it in each iteration. The solver copies it together with its models.
class StopsSimplex final : public ClpEventHandler {
 public:
  explicit StopsSimplex(Patience& patience) : patience_(&patience) {}
  int event(Event /*which*/) override { return patience_->is_over() ? 0 : -1; }
  [[nodiscard]] ClpEventHandler* clone() const override { return new StopsSimplex(*this); }

 private:
  Patience* patience_;
};

/// CBC calls it at each node of the tree and around heuristics.
class StopsTree final : public CbcEventHandler {
 public:
  explicit StopsTree(Patience& patience) : patience_(&patience) {}
  CbcAction event(CbcEvent /*which*/) override { return patience_->is_over() ? stop : noAction; }
  CbcAction event(CbcEvent which, void* /*data*/) override { return event(which); }
  [[nodiscard]] CbcEventHandler* clone() const override { return new StopsTree(*this); }

 private:
  Patience* patience_;
};

/// The program in the solver's form, by columns.
void load(const IntegerProgram& program, OsiClpSolverInterface& solver) {
  const std::size_t columns = program.columns.size();
  std::vector<CoinBigIndex> starts = {0};
  std::vector<int> rows;
  std::vector<double> values, low, high, costs;
  for (const IntegerProgram::Column& column : program.columns) {
    for (const auto& [row, value] : column.entries) rows.push_back(row), values.push_back(value);
    starts.push_back(static_cast<CoinBigIndex>(rows.size()));
    low.push_back(column.low), high.push_back(column.high), costs.push_back(column.cost);
  }
  const std::vector<double> unbounded(program.least.size(), solver.getInfinity());
  solver.loadProblem(static_cast<int>(columns), static_cast<int>(program.least.size()), starts.data(), rows.data(),
                     values.data(), low.data(), high.data(), costs.data(), program.least.data(), unbounded.data());
  for (std::size_t i = 0; i < columns; ++i)
    if (program.columns[i].is_integer) solver.setInteger(static_cast<int>(i));
}

double cost_of(const IntegerProgram& program, const std::vector<double>& values) {
  double cost = 0;
  for (std::size_t i = 0; i < values.size(); ++i) cost += program.columns[i].cost * values[i];
  return cost;
}

/// The cheapest solution that was met. What CBC keeps itself is gone when it is stopped within a linear program.
class Incumbent {
 public:
  Incumbent(const IntegerProgram& program, const std::vector<double>& known)
      : program_(program), cost_(std::numeric_limits<double>::infinity()) {
    offer(known);
  }
  [[nodiscard]] double cost() const { return cost_; }
  [[nodiscard]] const std::vector<double>& values() const { return values_; }
  /// Empty values are none.
  void offer(const std::vector<double>& values) {
    if (values.empty()) return;
    const double cost = cost_of(program_, values);
    if (cost >= cost_) return;
    cost_ = cost;
    values_ = values;
  }

 private:
  const IntegerProgram& program_;
  double cost_;
  std::vector<double> values_;
};

/// CBC asks it at each node.
class Rounding final : public CbcHeuristic {
 public:
  using Round = std::function<std::vector<double>(std::span<const double>)>;
  Rounding(const Round& round, Incumbent& incumbent) : round_(&round), incumbent_(&incumbent) {}
  int solution(double& cost, double* solution) override {
    const auto columns = static_cast<std::size_t>(model_->solver()->getNumCols());
    incumbent_->offer((*round_)({model_->solver()->getColSolution(), columns}));
    if (incumbent_->cost() >= cost) return 0;
    cost = incumbent_->cost();
    std::ranges::copy(incumbent_->values(), solution);
    return 1;
  }
  void resetModel(CbcModel* model) override { model_ = model; }
  [[nodiscard]] CbcHeuristic* clone() const override { return new Rounding(*this); }

 private:
  const Round* round_;
  Incumbent* incumbent_;
};

/// True: what the incumbent has was proved to be the least.
bool branch_and_bound(const OsiClpSolverInterface& solver, const IntegerLimits& limits, Patience& patience,
                      Incumbent& incumbent) {
  CbcModel model(solver);
  const StopsTree stops_tree(patience);
  model.passInEventHandler(&stops_tree);
  model.setLogLevel(0);
  model.solver()->messageHandler()->setLogLevel(0);
  model.setMaximumNodes(limits.nodes);
  if (limits.round) {
    Rounding rounding(limits.round, incumbent);
    model.addHeuristic(&rounding);
  }
  const std::vector<double>& known = incumbent.values();
  if (!known.empty()) model.setBestSolution(known.data(), static_cast<int>(known.size()), incumbent.cost(), false);
  model.branchAndBound();
  if (patience.is_over()) return false;
  if (const double* best = model.bestSolution(); best != nullptr) incumbent.offer({best, best + model.getNumCols()});
  return model.isProvenOptimal();
}

std::optional<IntegerSolution> solve(const IntegerProgram& program, const std::vector<double>& known,
                                     const IntegerLimits& limits) {
  Patience patience(limits.keep_going);
  Incumbent incumbent(program, known);
  OsiClpSolverInterface solver;
  solver.messageHandler()->setLogLevel(0);
  solver.getModelPtr()->setLogLevel(0);
  load(program, solver);
  const StopsSimplex stops_simplex(patience);
  solver.getModelPtr()->passInEventHandler(&stops_simplex);
  solver.initialSolve();
  bool is_optimal = false;
  if (!patience.is_over() && solver.isProvenOptimal())
    is_optimal = branch_and_bound(solver, limits, patience, incumbent);
  if (incumbent.values().empty()) return std::nullopt;
  return IntegerSolution{incumbent.values(), is_optimal};
}

}  // namespace
}  // namespace rewright::egraph_search

// NOLINTNEXTLINE(readability-identifier-naming): looked up by its name.
extern "C" __attribute__((visibility("default"))) void rewright_minimise(
    const rewright::egraph_search::IntegerProgram& program, const std::vector<double>& known,
    const rewright::egraph_search::IntegerLimits& limits,
    std::optional<rewright::egraph_search::IntegerSolution>& solution) {
  solution = rewright::egraph_search::solve(program, known, limits);
}
