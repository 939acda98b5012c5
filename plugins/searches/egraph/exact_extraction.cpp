#include <algorithm>
#include <map>
#include <utility>

#include "extraction.h"
#include "integer_program.h"
#include "needs.h"

namespace rewright::egraph_search {
namespace {

using Class = ProgramEGraph::Class;

std::vector<Class> without_repeats(std::vector<Class> classes) {
  std::ranges::sort(classes);
  classes.erase(std::unique(classes.begin(), classes.end()), classes.end());
  return classes;
}

/// Of applications that take the same and give the same the cheapest: by their positions among the choices.
std::vector<std::size_t> cheapest_of_equal(std::span<const ProgramEGraph::Choice> choices) {
  std::map<std::pair<std::vector<Class>, std::vector<Class>>, std::size_t> cheapest;
  for (std::size_t i = 0; i < choices.size(); ++i) {
    const auto [entry, is_new] =
        cheapest.try_emplace({without_repeats(choices[i].operands), without_repeats(choices[i].outputs)}, i);
    if (!is_new && choices[i].cost_us < choices[entry->second].cost_us) entry->second = i;
  }
  std::vector<std::size_t> positions;
  for (const auto& [key, position] : cheapest) positions.push_back(position);
  std::ranges::sort(positions);
  return positions;
}

/// The integer program: a column for each class that some output may need, and one for each application that gives one.
class Extraction {
 public:
  explicit Extraction(const ProgramEGraph& egraph)
      : egraph_(egraph),
        applications_(cheapest_of_equal(egraph.choices())),
        makers_(makers_of(egraph, applications_)),
        needs_(makers_, egraph.class_count(), egraph.outputs()),
        column_of_class_(egraph.class_count(), -1),
        column_of_maker_(makers_.size(), -1),
        makers_of_class_(egraph.class_count()) {
    add_columns();
    for (const Class of : needs_.order())
      if (column_of_class_[of] >= 0) relate(of);
    for (const Class output : egraph_.outputs()) require(output);
  }

  Result<std::optional<ExactChoice>> solve(const Selection& known, const ExactLimits& limits,
                                           const std::function<bool()>& keep_going) {
    const auto round = [this](std::span<const double> values) { return rounded(values); };
    REWRIGHT_TRY(const auto solution, minimise(program_, values_of(known), {limits.nodes, keep_going, round}));
    if (!solution) return std::optional<ExactChoice>();
    return std::optional(ExactChoice{selection_of(solution->values), solution->is_optimal});
  }

 private:
  static std::vector<Maker> makers_of(const ProgramEGraph& egraph, const std::vector<std::size_t>& applications) {
    std::vector<Maker> makers;
    for (const std::size_t i : applications)
      makers.push_back({without_repeats(egraph.choices()[i].operands), without_repeats(egraph.choices()[i].outputs)});
    return makers;
  }

  int add_column(double cost_us, bool is_integer) {
    program_.columns.push_back({cost_us, 0, 1, is_integer, {}});
    return static_cast<int>(program_.columns.size()) - 1;
  }
  void add_columns() {
    for (const Class of : needs_.order())
      if (needs_.can_be_computed(of)) column_of_class_[of] = add_column(0, false);
    for (std::size_t i = 0; i < makers_.size(); ++i) {
      const auto has_column = [this](Class of) { return column_of_class_[of] >= 0; };
      if (!std::ranges::all_of(makers_[i].operands, has_column) || !std::ranges::any_of(makers_[i].outputs, has_column))
        continue;
      column_of_maker_[i] = add_column(egraph_.choices()[applications_[i]].cost_us, true);
      for (const Class given : makers_[i].outputs) makers_of_class_[given].push_back(i);
      if (makers_[i].outputs.size() > 1)
        for (const Class operand : makers_[i].operands)
          add_row({{column_of_class_[operand], 1}, {column_of_maker_[i], -1}});
    }
  }

  /// A row: the sum of these is at least 0.
  void add_row(const std::vector<std::pair<int, double>>& entries) {
    const int row = static_cast<int>(program_.least.size());
    program_.least.push_back(0);
    for (const auto& [column, value] : entries)
      program_.columns[static_cast<std::size_t>(column)].entries.push_back({row, value});
  }

  void relate(Class of) {
    std::vector<std::pair<int, double>> given = {{column_of_class_[of], -1}};
    std::map<Class, std::vector<std::pair<int, double>>> takers;
    for (const std::size_t maker : makers_of_class_[of]) {
      given.emplace_back(column_of_maker_[maker], 1);
      if (makers_[maker].outputs.size() > 1) continue;
      for (const Class operand : makers_[maker].operands) takers[operand].emplace_back(column_of_maker_[maker], -1);
    }
    add_row(given);
    for (auto& [operand, row] : takers) {
      row.emplace_back(column_of_class_[operand], 1);
      add_row(row);
    }
    for (const Class other : needs_.nearest(of)) add_row({{column_of_class_[other], 1}, {column_of_class_[of], -1}});
  }

  void require(Class of) {
    const int column = column_of_class_[of];
    if (column < 0 || program_.columns[static_cast<std::size_t>(column)].low == 1) return;
    program_.columns[static_cast<std::size_t>(column)].low = 1;
    for (const Class other : needs_.nearest(of)) require(other);
  }

  /// Calls `choose` with each class that the outputs need, which says by what it is given; no number: empty.
  template <typename Choose>
  [[nodiscard]] std::vector<double> values_by(const Choose& choose) const {
    std::vector<double> values(program_.columns.size(), 0);
    std::vector<Class> open(egraph_.outputs().begin(), egraph_.outputs().end());
    while (!open.empty()) {
      const Class of = open.back();
      open.pop_back();
      if (column_of_class_[of] < 0) return {};
      double& needed = values[static_cast<std::size_t>(column_of_class_[of])];
      if (needed == 1) continue;
      needed = 1;
      const std::optional<std::size_t> maker = choose(of);
      if (!maker || column_of_maker_[*maker] < 0) return {};
      values[static_cast<std::size_t>(column_of_maker_[*maker])] = 1;
      open.insert(open.end(), makers_[*maker].operands.begin(), makers_[*maker].operands.end());
    }
    return values;
  }

  [[nodiscard]] std::vector<double> values_of(const Selection& known) const {
    return values_by([&](Class of) -> std::optional<std::size_t> {
      const auto at = std::ranges::lower_bound(applications_, static_cast<std::size_t>(known[of]));
      if (known[of] < 0 || at == applications_.end() || *at != static_cast<std::size_t>(known[of])) return std::nullopt;
      return static_cast<std::size_t>(at - applications_.begin());
    });
  }

  /// Each class that is needed is given by the application that has most of it; any such choice is a graph.
  [[nodiscard]] std::vector<double> rounded(std::span<const double> values) const {
    return values_by([&](Class of) -> std::optional<std::size_t> {
      const auto share = [&](std::size_t maker) { return values[static_cast<std::size_t>(column_of_maker_[maker])]; };
      return *std::ranges::max_element(makers_of_class_[of], {}, share);
    });
  }

  [[nodiscard]] Selection selection_of(const std::vector<double>& values) const {
    Selection selection(egraph_.class_count(), -1);
    for (std::size_t i = 0; i < makers_.size(); ++i) {
      if (column_of_maker_[i] < 0 || values[static_cast<std::size_t>(column_of_maker_[i])] < 0.5) continue;
      for (const Class given : makers_[i].outputs)
        if (selection[given] < 0) selection[given] = static_cast<std::int32_t>(applications_[i]);
    }
    return selection;
  }

  const ProgramEGraph& egraph_;
  std::vector<std::size_t> applications_;  ///< Positions among the e-graph's choices, in order.
  std::vector<Maker> makers_;              ///< The same applications.
  Needs needs_;
  std::vector<int> column_of_class_;                       ///< -1: no output needs it, or nothing can give it.
  std::vector<int> column_of_maker_;                       ///< -1: the same.
  std::vector<std::vector<std::size_t>> makers_of_class_;  ///< That have columns.
  IntegerProgram program_;
};

}  // namespace

Result<std::optional<ExactChoice>> choose_exactly(const ProgramEGraph& egraph, const Selection& known,
                                                  const ExactLimits& limits, const std::function<bool()>& keep_going) {
  std::vector<int> makers(egraph.class_count(), 0);
  for (const ProgramEGraph::Choice& choice : egraph.choices())
    for (const Class given : choice.outputs) ++makers[given];
  if (std::ranges::all_of(makers, [](int count) { return count <= 1; })) return std::optional(ExactChoice{known, true});
  return Extraction(egraph).solve(known, limits, keep_going);
}

}  // namespace rewright::egraph_search
