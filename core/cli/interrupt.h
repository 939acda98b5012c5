// Ctrl-C (SIGINT) and SIGTERM. They end the program at once, unless its command saves what it has done: then the first
// asks the running work to stop and save, and the second ends the program.
#pragma once

namespace rewright::cli {

/// From now on the first signal does no more than make interrupted() true.
void heed_interrupts();

/// True once a heeded signal came. Long work asks between its steps. Safe from any thread.
[[nodiscard]] bool interrupted();

}  // namespace rewright::cli
