#include "tried_sizes.h"

#include <rewright/base/mixing.h>
#include <rewright/tensor/linear.h>
#include <rewright/tensor/size_code.h>

#include <algorithm>

namespace evaluate_verifier {

using namespace rewright;

namespace {

std::int64_t distinct(Sizes sizes) {
  std::ranges::sort(sizes);
  return std::ranges::unique(sizes).begin() - sizes.begin();
}

std::int64_t total(const Sizes& sizes) {
  std::int64_t sum = 0;
  for (const std::int64_t size : sizes) sum += size;
  return sum;
}

}  // namespace

// --- names ---------------------------------------------------------------------------------------------------------

SizeNames::SizeNames(const Rule& rule) {
  for (const PatternInput& input : rule.inputs) {
    for (int axis = 0; axis < input.rank; ++axis) names_.push_back(SizeVar::axis(input.name, axis));
  }
  for (const Pattern* side : {&rule.source, &rule.target}) {
    for (const PatternNode& node : side->nodes) {
      for (const auto& value : node.params.values()) {
        const auto* list = std::get_if<SizeList<SymbolicDim>>(&value);
        if (!list) continue;
        for (const SymbolicDim& size : list->values) {
          for (const SizeVar name : size.variables())
            if (std::ranges::find(names_, name) == names_.end()) names_.push_back(name);
        }
      }
    }
  }
}

// --- choice ----------------------------------------------------------------------------------------------------------

std::optional<Sizes> example_sizes(const Rule& rule, const SizeNames& names) {
  if (rule.example.size() != rule.inputs.size()) return std::nullopt;
  Sizes sizes;
  for (std::size_t i = 0; i < rule.inputs.size(); ++i) {
    if (rule.example[i].rank() != rule.inputs[i].rank) return std::nullopt;
    sizes.insert(sizes.end(), rule.example[i].begin(), rule.example[i].end());
  }
  for (std::size_t i = sizes.size(); i < names.count(); ++i) {
    const auto given = std::ranges::find(rule.example_sizes, names.names()[i], [](const auto& s) { return s.first; });
    if (given == rule.example_sizes.end()) return std::nullopt;
    sizes.push_back(given->second);
  }
  return sizes;
}

Sizes halved(const Sizes& example) {
  Sizes small;
  for (const std::int64_t size : example) small.push_back((size + 1) / 2);
  return small;
}

Sizes compressed(const Sizes& example) {
  Sizes distinct = example;
  std::ranges::sort(distinct);
  distinct.erase(std::ranges::unique(distinct).begin(), distinct.end());
  const std::int64_t first = !distinct.empty() && distinct.front() == 1 ? 1 : 2;
  Sizes small;
  for (const std::int64_t size : example)
    small.push_back(first + (std::ranges::lower_bound(distinct, size) - distinct.begin()));
  return small;
}

namespace {

/// Draws free sizes; gives the others by what they equal.
class Sampler {
 public:
  Sampler(std::span<const Constraint> constraints, const SizeNames& names, const DrawOptions& options)
      : options_(options), random_(options.seed) {
    const SizeSystem system(constraints);
    for (std::size_t i = 0; i < names.count(); ++i) {
      const auto solved = system.solved().find(names.names()[i]);
      if (solved == system.solved().end())
        free_.push_back(i);
      else
        solved_.emplace_back(i, SizeCode::compile(solved->second, names.names()));
    }
    for (const Constraint& constraint : constraints)
      conditions_.push_back(ConstraintCode::compile(constraint, names.names()));
    sizes_.resize(names.count());
  }

  /// Nothing if the draw does not meet the constraints.
  std::optional<Sizes> draw() {
    for (const std::size_t i : free_)
      sizes_[i] = 1 + static_cast<std::int64_t>(random_.bits() % static_cast<std::uint64_t>(options_.max_dim));
    for (const auto& [i, code] : solved_) {
      const auto value = code ? code->value(sizes_) : std::nullopt;
      if (!value || *value < 1 || *value > 4 * options_.max_dim) return std::nullopt;
      sizes_[i] = *value;
    }
    if (!std::ranges::all_of(conditions_, [&](const auto& code) { return code && code->holds(sizes_); }))
      return std::nullopt;
    return sizes_;
  }

 private:
  DrawOptions options_;
  Random random_;
  std::vector<std::size_t> free_;
  std::vector<std::pair<std::size_t, std::optional<SizeCode>>> solved_;  ///< Nothing: never met.
  std::vector<std::optional<ConstraintCode>> conditions_;
  Sizes sizes_;
};

std::vector<Sizes> search(std::span<const Constraint> constraints, const SizeNames& names, std::int64_t max_dim) {
  std::vector<Sizes> found;
  for_each_solution(
      names.names(), constraints, 1, max_dim,
      [&](const SizeAssignment& solution) {
        Sizes sizes;
        for (const SizeVar name : names.names()) sizes.push_back(solution.at(name));
        found.push_back(std::move(sizes));
        return found.size() < 64;
      },
      200'000);
  return found;
}

}  // namespace

std::vector<Sizes> draw_sizes(std::span<const Constraint> constraints, const SizeNames& names,
                              const DrawOptions& options) {
  Sampler sampler(constraints, names, options);
  std::vector<Sizes> drawn;
  for (int attempt = 0; attempt < 400 && std::ssize(drawn) < 4 * options.count; ++attempt) {
    auto sizes = sampler.draw();
    if (sizes && std::ranges::find(drawn, *sizes) == drawn.end()) drawn.push_back(*std::move(sizes));
  }
  if (drawn.empty()) drawn = search(constraints, names, options.max_dim);
  std::vector<std::pair<std::int64_t, std::size_t>> order;  // The most distinct, of these the smallest.
  for (std::size_t i = 0; i < drawn.size(); ++i) order.emplace_back(-256 * distinct(drawn[i]) + total(drawn[i]), i);
  std::ranges::sort(order);
  if (std::ssize(order) > options.count) order.resize(static_cast<std::size_t>(options.count));
  std::vector<Sizes> chosen;
  for (const auto& [rank, i] : order) chosen.push_back(std::move(drawn[i]));
  std::ranges::stable_sort(chosen, std::less(), total);
  return chosen;
}

}  // namespace evaluate_verifier
