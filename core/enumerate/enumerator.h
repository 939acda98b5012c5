// Enumeration: every connected graph of up to n operators over given input tensors, grouped by fingerprint.
#pragma once

#include <rewright/base/result.h>
#include <rewright/rule/pruner.h>

#include <functional>

#include "enumerate/enumeration_config.h"

namespace rewright {

/// Two graphs make a candidate when their outputs have equal hashes in every sample and again in more samples of a
/// fresh seed. Each class of equal graphs yields its members paired with its first, the one of fewest operators, and
/// every two members that share no application; what holds between any two follows. Without `instances`, members that
/// are equal to others by smaller equalities are left out, and so are pairs that follow from smaller ones; what both
/// graphs of a pair have in common is replaced by inputs (t1, t2, ...) where the pair is equal for any. A graph of no
/// operators (inputs as they are) is a member too. Which graphs are visited, how those that fall apart are found, and
/// how often an equality errs stands in core/enumerate/README.md; in short, for operators that are polynomial in their
/// operands: two unequal graphs of degree d agree in one output element on one sample with probability at most d / 30
/// over the choice of inputs, and candidates agree in all elements of 20 samples or more (Schwartz, JACM 1980; Zippel,
/// EUROSAM 1979). A candidate is no more than that: rules rest on verifiers.
///
/// Calls `sink` with every candidate, small ones first, in one fixed order that depends on the graphs asked for alone:
/// not on threads, memory, processes, or what an earlier run left in the work folder. `progress` may be empty;
/// returning false stops early.
[[nodiscard]] REWRIGHT_API Result<EnumerationReport> enumerate(
    const EnumerationConfig& config, const std::function<Status(Candidate)>& sink,
    const std::function<bool(const EnumerationProgress&)>& progress = {});

}  // namespace rewright
