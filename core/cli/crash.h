// What is said when code of a plugin crashes: which plugin, and that nothing that was saved is lost.
#pragma once

#include <rewright/plugin/registry.h>

#include <span>

namespace rewright::cli {

/// For SIGSEGV, SIGBUS, SIGFPE, SIGILL and SIGABRT, in this process and not in those that it starts by fork.
void install_crash_handlers();

/// The files among which a crash is looked for.
void remember_plugins(std::span<const LoadedPlugin> plugins);

}  // namespace rewright::cli
