#include <algorithm>
#include <map>
#include <utility>

#include "extraction.h"
#include "integer_program.h"

namespace rewright::egraph_search {
namespace {

using Class = ProgramEGraph::Class;

std::vector<Class> without_repeats(std::vector<Class> classes) {
  std::ranges::sort(classes);
  classes.erase(std::unique(classes.begin(), classes.end()), classes.end());
  return classes;
}

/// The integer program: a column for each class that some output may need, and one for each application that gives one.
class Extraction {
 public:
  explicit Extraction(const ProgramEGraph& egraph)
      : egraph_(egraph), column_of_class_(egraph.class_count(), -1), makers_(egraph.class_count()) {
    collect_makers();
    collect_classes();
    add_applications();
    require_outputs();
  }

  std::optional<ExactChoice> solve(const Selection& known, const ExactLimits& limits,
                                   const std::function<bool()>& keep_going) {
    const auto solution = minimise(program_, values_of(known), limits.nodes, keep_going);
    if (!solution) return std::nullopt;
    return ExactChoice{selection_of(solution->values), solution->is_optimal};
  }

 private:
  [[nodiscard]] const ProgramEGraph::Choice& choice(int index) const {
    return egraph_.choices()[static_cast<std::size_t>(index)];
  }

  /// Of applications that take the same and give the same the cheapest is enough.
  void collect_makers() {
    std::map<std::pair<std::vector<Class>, std::vector<Class>>, int> cheapest;
    for (int i = 0; i < static_cast<int>(egraph_.choices().size()); ++i) {
      const auto [entry, is_new] =
          cheapest.try_emplace({without_repeats(choice(i).operands), without_repeats(choice(i).outputs)}, i);
      if (!is_new && choice(i).cost_us < choice(entry->second).cost_us) entry->second = i;
    }
    for (const auto& [key, application] : cheapest)
      for (const Class given : key.second) makers_[given].push_back(application);
  }

  /// The classes below the outputs.
  void collect_classes() {
    std::vector<Class> open;
    const auto reach = [&](Class of) {
      if (column_of_class_[of] >= 0) return;
      column_of_class_[of] = add_column(0, false);
      open.push_back(of);
    };
    for (const Class output : egraph_.outputs()) reach(output);
    for (std::size_t i = 0; i < open.size(); ++i) {
      for (const int maker : makers_[open[i]])
        for (const Class operand : choice(maker).operands) reach(operand);
    }
  }

  int add_column(double cost_us, bool is_integer) {
    program_.columns.push_back({cost_us, 0, 1, is_integer, {}});
    return static_cast<int>(program_.columns.size()) - 1;
  }
  void put(int row, int column, double value) {
    program_.columns[static_cast<std::size_t>(column)].entries.push_back({row, value});
  }
  int add_row() {
    program_.least.push_back(0);
    return static_cast<int>(program_.least.size()) - 1;
  }

  void add_applications() {
    column_of_choice_.assign(egraph_.choices().size(), -1);
    for (Class of = 0; of < makers_.size(); ++of) {
      const int needed = column_of_class_[of];
      if (needed < 0) continue;
      const int row = add_row();
      put(row, needed, -1);
      for (const int maker : makers_[of]) put(row, column_of(maker), 1);
    }
  }

  /// Enters what the application takes when it is met first.
  int column_of(int application) {
    int& column = column_of_choice_[static_cast<std::size_t>(application)];
    if (column >= 0) return column;
    column = add_column(choice(application).cost_us, true);
    for (const Class operand : without_repeats(choice(application).operands)) {
      const int row = add_row();
      put(row, column_of_class_[operand], 1);
      put(row, column, -1);
    }
    return column;
  }

  void require(Class of, std::vector<Class>& open) {
    double& low = program_.columns[static_cast<std::size_t>(column_of_class_[of])].low;
    if (low == 1) return;
    low = 1;
    open.push_back(of);
  }

  /// What an output needs whatever is chosen is fixed.
  void require_outputs() {
    std::vector<Class> open;
    for (const Class output : egraph_.outputs()) require(output, open);
    while (!open.empty()) {
      const Class of = open.back();
      open.pop_back();
      if (makers_[of].size() != 1) continue;
      const int maker = makers_[of].front();
      program_.columns[static_cast<std::size_t>(column_of_choice_[static_cast<std::size_t>(maker)])].low = 1;
      for (const Class operand : choice(maker).operands) require(operand, open);
    }
  }

  /// Of the applications of `known` that the outputs need; empty where it lacks one.
  [[nodiscard]] std::vector<double> values_of(const Selection& known) const {
    std::vector<double> values(program_.columns.size(), 0);
    std::vector<Class> open(egraph_.outputs().begin(), egraph_.outputs().end());
    while (!open.empty()) {
      const Class of = open.back();
      open.pop_back();
      double& needed = values[static_cast<std::size_t>(column_of_class_[of])];
      if (needed == 1) continue;
      needed = 1;
      if (known[of] < 0) return {};
      const int column = column_of_choice_[static_cast<std::size_t>(known[of])];
      if (column < 0) return {};
      values[static_cast<std::size_t>(column)] = 1;
      const auto& operands = choice(known[of]).operands;
      open.insert(open.end(), operands.begin(), operands.end());
    }
    return values;
  }

  [[nodiscard]] Selection selection_of(const std::vector<double>& values) const {
    Selection selection(egraph_.class_count(), -1);
    for (std::size_t i = 0; i < column_of_choice_.size(); ++i) {
      const int column = column_of_choice_[i];
      if (column < 0 || values[static_cast<std::size_t>(column)] < 0.5) continue;
      for (const Class given : choice(static_cast<int>(i)).outputs)
        if (selection[given] < 0) selection[given] = static_cast<std::int32_t>(i);
    }
    return selection;
  }

  const ProgramEGraph& egraph_;
  std::vector<int> column_of_class_;       ///< -1: nothing needs it.
  std::vector<int> column_of_choice_;      ///< -1: nothing needs it.
  std::vector<std::vector<int>> makers_;   ///< By class.
  IntegerProgram program_;
};

}  // namespace

std::optional<ExactChoice> choose_exactly(const ProgramEGraph& egraph, const Selection& known, const ExactLimits& limits,
                                          const std::function<bool()>& keep_going) {
  std::vector<int> makers(egraph.class_count(), 0);
  for (const ProgramEGraph::Choice& choice : egraph.choices())
    for (const Class given : choice.outputs) ++makers[given];
  if (std::ranges::all_of(makers, [](int count) { return count <= 1; })) return ExactChoice{known, true};
  return Extraction(egraph).solve(known, limits, keep_going);
}

}  // namespace rewright::egraph_search
