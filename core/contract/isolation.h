// A check in a process of its own: what crashes, throws or does not end breaks its contract and nothing else.
#pragma once

#include "contract/contracts.h"

namespace rewright::contract {

/// Ends the check after `seconds`. Call it while the process has one thread.
[[nodiscard]] REWRIGHT_API Outcome check_apart(const Contract& contract, int seconds);

}  // namespace rewright::contract
