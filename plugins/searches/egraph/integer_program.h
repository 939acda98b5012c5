// A minimisation over binary variables, by branch and bound, that can be stopped at any moment.
//
//   minimise    sum of  cost(j) * x(j)      x(j) in {low(j), high(j)}, integral where is_integer(j)
//   such that   sum of  value(i, j) * x(j)  >=  least(i)      for each row i
//
// Source  COIN-OR: CBC 2.10 (branch and bound), Clp 1.17 (linear programs).
#pragma once

#include <rewright/base/result.h>

#include <functional>
#include <optional>
#include <span>
#include <vector>

namespace rewright::egraph_search {

struct IntegerProgram {
  struct Entry {
    int row;
    double value;
  };
  struct Column {
    double cost = 0;
    double low = 0;
    double high = 1;
    bool is_integer = true;
    std::vector<Entry> entries;
  };
  std::vector<Column> columns;
  std::vector<double> least;  ///< By row.
};

struct IntegerSolution {
  std::vector<double> values;  ///< By column.
  bool is_optimal = false;     ///< Proved; otherwise the best that was found before a limit or a stop.
};

struct IntegerLimits {
  int nodes = 1000;  ///< Of the search tree, at most.
  /// Asked some 50 times a second, between simplex iterations; false ends it. May be empty.
  std::function<bool()> keep_going = {};
  /// Makes a solution of what a linear program gave; empty where it cannot. May be empty.
  std::function<std::vector<double>(std::span<const double>)> round = {};
};

/// `known`: a solution to start from; empty: none is known. Nothing where there is no solution, or none was found
/// before the end. Errors: kIo, the library with the solver cannot be opened.
[[nodiscard]] Result<std::optional<IntegerSolution>> minimise(const IntegerProgram& program,
                                                              const std::vector<double>& known,
                                                              const IntegerLimits& limits);

/// What that library, egraph.solver beside the plugin, gives by this name.
using Minimise = void(const IntegerProgram& program, const std::vector<double>& known, const IntegerLimits& limits,
                      std::optional<IntegerSolution>& solution);
inline constexpr const char* kMinimise = "rewright_minimise";

}  // namespace rewright::egraph_search
