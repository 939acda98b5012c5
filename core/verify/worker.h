// The inside of a verifier's own process.
#pragma once

#include <rewright/base/visibility.h>

namespace rewright {

/// Speaks on the socket that is standard input: reads a task, says that it is ready, answers goals until the other end
/// is gone. The exit code.
REWRIGHT_API int serve_verifier();

}  // namespace rewright
