// Consistency by collapse: what axioms make equal together must be equal.
//
// That a set of equations can be satisfied says nothing (a model of one element satisfies them all). Telling instead:
// goals are put into the e-graph, all axioms are applied to all there is, and every term of every class is evaluated at
// small unequal sizes. Two terms of one class that differ show that an axiom is false, or that its conditions are
// checked wrongly. The first instance that merged what differs, though what it rests on agrees, names the one.
//
// Goals    instances of each axiom at some of its ranks and parameters, and terms that are made of two axioms: a side
//          of one in the place of an input of the other.
// Values   the prime field where no term uses order or functions; exact rationals where one uses order; double
// precision,
//          and a difference of more than one part in 10^6, where one uses functions.
#pragma once

#include <rewright/axiom/axiom.h>
#include <rewright/base/visibility.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

namespace rewright {

struct CollapseOptions {
  std::size_t instances = 6;    ///< Of each axiom: combinations of ranks and parameters, evenly chosen.
  std::size_t composed = 2000;  ///< Goals that are made of two axioms, drawn.
  std::size_t nodes = 150;      ///< Of one goal's e-graph.
  std::size_t matches = 4000;   ///< Of axioms, tried, a goal.
  std::size_t sizes = 3;        ///< At which a goal's e-graph is evaluated.
  std::uint64_t seed = 1;
  int threads = 1;
  /// So many goals are done. Called from one thread at a time.
  std::function<void(std::size_t done, std::size_t total)> progress;
};

/// Two terms of one class that differ.
struct Collapse {
  std::string axiom;  ///< The one to blame.
  std::string goal;   ///< From which both terms come.
  std::string left, right;
  std::string chain;   ///< The steps from left to right, as certificates write them.
  std::string values;  ///< The sizes, and where both differ.
};

struct CollapseReport {
  std::size_t goals = 0;
  std::size_t nodes = 0;        ///< Of all e-graphs.
  std::size_t pairs = 0;        ///< Terms that were compared with another of their class, at all sizes together.
  std::size_t nowhere = 0;      ///< Goals for which no small sizes were found.
  std::vector<Collapse> found;  ///< The first for each axiom to blame.
};

/// Goals are made of `seeds`, and saturated with `axioms`. The same report on any number of threads.
/// Errors: a :domain of a seed that cannot be read.
[[nodiscard]] REWRIGHT_API Result<CollapseReport> check_collapse(std::span<const Axiom> axioms,
                                                                 std::span<const Axiom> seeds,
                                                                 const CollapseOptions& options = {});

}  // namespace rewright
