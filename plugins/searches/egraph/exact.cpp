#include <coin/Cbc_C_Interface.h>

#include <algorithm>
#include <map>
#include <memory>
#include <mutex>

#include "extraction.h"

namespace rewright::egraph_search {
namespace {

/// Cbc_solve hands its settings over as a command line whose reader has one place for the whole process (CBC 2.10,
/// CbcOrClpParam.cpp). Two at a time lose words of it, and CBC then prompts for them and reads standard input.
std::mutex one_solver_at_a_time;

struct Deleter {
  void operator()(Cbc_Model* model) const { Cbc_deleteModel(model); }
};

/// The integer program: columns are applications that some output may need.
class Program {
 public:
  explicit Program(const ProgramEGraph& egraph) : egraph_(egraph), column_(egraph.choices().size(), -1) {
    std::vector<std::vector<int>> makers(egraph.class_count());
    const auto choices = egraph.choices();
    for (std::size_t i = 0; i < choices.size(); ++i)
      for (const ProgramEGraph::Class given : choices[i].outputs) makers[given].push_back(static_cast<int>(i));
    collect(makers);
    rows_of_columns_.resize(choice_.size());
    for (const ProgramEGraph::Class output : egraph.outputs()) {
      for (const int maker : makers[output]) put(maker, 1);
      end_row(1);
    }
    for (const int user : choice_) {
      std::vector<ProgramEGraph::Class> operands = choices[static_cast<std::size_t>(user)].operands;
      std::ranges::sort(operands);
      operands.erase(std::unique(operands.begin(), operands.end()), operands.end());
      for (const ProgramEGraph::Class operand : operands) {
        for (const int maker : makers[operand]) put(maker, 1);
        put(user, -1);
        end_row(0);
      }
    }
  }

  std::optional<ExactChoice> solve(const Selection& known, const ExactLimits& limits) {
    std::vector<int> starts = {0}, rows;
    std::vector<double> values, costs, low(choice_.size(), 0), high(choice_.size(), 1);
    for (std::size_t column = 0; column < choice_.size(); ++column) {
      for (const auto& [row, value] : rows_of_columns_[column]) rows.push_back(row), values.push_back(value);
      starts.push_back(static_cast<int>(rows.size()));
      costs.push_back(egraph_.choices()[static_cast<std::size_t>(choice_[column])].cost_us);
    }
    const std::vector<double> unbounded(row_low_.size(), 1e30);
    const std::scoped_lock lock(one_solver_at_a_time);
    const std::unique_ptr<Cbc_Model, Deleter> model(Cbc_newModel());
    Cbc_loadProblem(model.get(), static_cast<int>(choice_.size()), static_cast<int>(row_low_.size()), starts.data(),
                    rows.data(), values.data(), low.data(), high.data(), costs.data(), row_low_.data(),
                    unbounded.data());
    for (int column = 0; column < static_cast<int>(choice_.size()); ++column) Cbc_setInteger(model.get(), column);
    Cbc_setLogLevel(model.get(), 0);
    Cbc_setMaximumNodes(model.get(), limits.nodes);
    start_from(model.get(), known);
    Cbc_solve(model.get());
    const double* solution = Cbc_getColSolution(model.get());
    if (solution == nullptr || Cbc_isProvenInfeasible(model.get()) != 0) return std::nullopt;
    return ExactChoice{selection_of(solution), Cbc_isProvenOptimal(model.get()) != 0};
  }

 private:
  /// The applications below the outputs.
  void collect(const std::vector<std::vector<int>>& makers) {
    const auto reach = [&](ProgramEGraph::Class of) {
      for (const int maker : makers[of]) {
        if (column_[static_cast<std::size_t>(maker)] >= 0) continue;
        column_[static_cast<std::size_t>(maker)] = static_cast<int>(choice_.size());
        choice_.push_back(maker);
      }
    };
    for (const ProgramEGraph::Class output : egraph_.outputs()) reach(output);
    for (std::size_t i = 0; i < choice_.size(); ++i)
      for (const ProgramEGraph::Class operand : egraph_.choices()[static_cast<std::size_t>(choice_[i])].operands)
        reach(operand);
  }
  void put(int choice, double value) { row_[column_[static_cast<std::size_t>(choice)]] += value; }
  void end_row(double low) {
    for (const auto& [column, value] : row_)
      rows_of_columns_[static_cast<std::size_t>(column)].emplace_back(static_cast<int>(row_low_.size()), value);
    row_low_.push_back(low);
    row_.clear();
  }

  /// Applications of `known` that its outputs need.
  void start_from(Cbc_Model* model, const Selection& known) const {
    std::vector<int> columns;
    std::vector<bool> reached(egraph_.class_count(), false), taken(choice_.size(), false);
    std::vector<ProgramEGraph::Class> open(egraph_.outputs().begin(), egraph_.outputs().end());
    while (!open.empty()) {
      const ProgramEGraph::Class of = open.back();
      open.pop_back();
      if (reached[of]) continue;
      reached[of] = true;
      if (known[of] < 0) return;
      const auto column = static_cast<std::size_t>(column_[static_cast<std::size_t>(known[of])]);
      if (!taken[column]) taken[column] = true, columns.push_back(static_cast<int>(column));
      const auto& operands = egraph_.choices()[static_cast<std::size_t>(known[of])].operands;
      open.insert(open.end(), operands.begin(), operands.end());
    }
    const std::vector<double> ones(columns.size(), 1);
    Cbc_setMIPStartI(model, static_cast<int>(columns.size()), columns.data(), ones.data());
  }

  [[nodiscard]] Selection selection_of(const double* solution) const {
    Selection selection(egraph_.class_count(), -1);
    for (std::size_t column = 0; column < choice_.size(); ++column) {
      if (solution[column] < 0.5) continue;
      for (const ProgramEGraph::Class given : egraph_.choices()[static_cast<std::size_t>(choice_[column])].outputs)
        if (selection[given] < 0) selection[given] = choice_[column];
    }
    return selection;
  }

  const ProgramEGraph& egraph_;
  std::vector<int> column_;  ///< By choice; -1: nothing needs it.
  std::vector<int> choice_;  ///< By column.
  std::vector<std::vector<std::pair<int, double>>> rows_of_columns_;
  std::vector<double> row_low_;
  std::map<int, double> row_;
};

}  // namespace

std::optional<ExactChoice> choose_exactly(const ProgramEGraph& egraph, const Selection& known,
                                          const ExactLimits& limits) {
  std::vector<int> makers(egraph.class_count(), 0);
  for (const ProgramEGraph::Choice& choice : egraph.choices())
    for (const ProgramEGraph::Class given : choice.outputs) ++makers[given];
  if (std::ranges::all_of(makers, [](int count) { return count <= 1; })) return ExactChoice{known, true};
  return Program(egraph).solve(known, limits);
}

}  // namespace rewright::egraph_search
