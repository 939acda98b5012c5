// Ctrl-C (SIGINT) and SIGTERM: the first asks the running work to stop and save, the second ends the program at once.
#pragma once

namespace rewright::cli {

void install_interrupt_handlers();

/// True once a signal came. Long work asks between its steps. Safe from any thread.
[[nodiscard]] bool interrupted();

}  // namespace rewright::cli
