// Transfer: schedules that were tuned for other kernels of a class, put on a kernel without a search.
//
//   class    kernels whose longest sums are alike (schedule/nest_class.h); without sums, or where the program of a
//            kernel is not among the records, those whose programs differ in numbers alone
//   donor    the fastest schedule of another kernel of the class, by records of any machine
//   adapted  step by step, by the names of loops; where programs differ in more than numbers, nest by nest, by the
//            places of loops, and nests without a counterpart as a schedule that needs no search has them. A factor
//            that does not divide its loop becomes one near it that does, or gets a tail, and a step that still does
//            not fit is left out, as no step changes what is computed. Strictly, as in the thesis, a step that does not fit makes the schedule invalid
//   choice   of one model to take schedules from: the greatest sum over classes c of P_c^2 sqrt(W_c); P_c: the share of
//            c in the untuned time of what is tuned, W_c: kernels of c that the model has schedules of
//
// Source  Gibson & Cano, Transfer-tuning: reusing auto-schedules for efficient tensor program code generation, PACT
//         2022; Gibson's thesis (Glasgow 2023), equation 6.1. There no split has a tail, and machines do not differ.
#pragma once

#include <rewright/loop/loop_program.h>

#include <map>
#include <span>
#include <string>
#include <vector>

#include "schedule/nest_class.h"
#include "schedule/vector_unit.h"
#include "store/schedule_records.h"
#include "tune/tuning_task.h"

namespace rewright::tune {

/// Of what is tuned: the share of each class in the untuned time.
using ClassShares = std::map<std::string, double>;
/// Of a model: how many kernels of each class there are schedules of.
using ClassKernels = std::map<std::string, std::size_t>;

[[nodiscard]] REWRIGHT_API double donor_score(const ClassShares& shares, const ClassKernels& kernels);
/// Places of the models that have a class in common with it, the best first.
[[nodiscard]] REWRIGHT_API std::vector<std::size_t> donors_in_order(const ClassShares& shares,
                                                                    std::span<const ClassKernels> models);

/// A kernel with schedules that ran.
struct DonorKernel {
  std::string structure;
  std::vector<std::int64_t> sizes;
  std::vector<schedule::SumNest> nests = {};  ///< Of its program, where that is known.
  std::vector<std::string> schedules = {};    ///< The fastest on each machine, without what is for readers.
};
/// `target`, `dialect`: of the records.
[[nodiscard]] REWRIGHT_API std::vector<DonorKernel> donor_kernels(std::span<const ScheduleRecord> records,
                                                                  const KernelPrograms& programs,
                                                                  const std::string& target,
                                                                  const std::string& dialect);

/// A kernel's class.
[[nodiscard]] REWRIGHT_API std::string class_of(const std::string& structure, std::span<const schedule::SumNest> nests);
[[nodiscard]] REWRIGHT_API ClassKernels kernels_by_class(std::span<const DonorKernel> kernels);

/// A schedule to try, and the nests that it is of; none: of a program that differs in numbers alone.
struct DonorSchedule {
  std::string schedule;
  std::vector<schedule::SumNest> nests = {};
};
/// Those of the other kernels of its class, that nearest in sizes first; those of one text once.
[[nodiscard]] REWRIGHT_API std::vector<DonorSchedule> donor_schedules(std::span<const DonorKernel> kernels,
                                                                      const TuningTask& task);

enum class Division : std::uint8_t { kTails, kStrict };
/// Errors: kUsage, the step that cannot be applied; with tails, the last one, where none can; kParse.
[[nodiscard]] REWRIGHT_API Result<schedule::OneShot> adapted(const loop::Program& program, const DonorSchedule& donor,
                                                             Division division, const schedule::VectorUnit& unit);

}  // namespace rewright::tune
