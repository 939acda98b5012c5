// What a child program (child_program.h) does before it serves.
#pragma once

#include <sys/resource.h>

#include <cstdint>

namespace rewright {

/// As far as the limit that is there lets it.
void limit_resource(__rlimit_resource resource, rlim_t soft, rlim_t hard);
/// What the process may take beyond what is there. A sanitizer's shadow memory is no measure of it.
void limit_memory(std::uint64_t bytes);
/// The socket, out of the way of a plugin that reads standard input or writes standard output.
[[nodiscard]] int take_socket();
/// The process ends with the other end of the socket: none stays behind where its parent was killed.
void end_with(int socket);

}  // namespace rewright
