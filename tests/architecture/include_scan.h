// Which file may include which: the floors of core/README.md, held against the sources.
//
//   cli python worker > contract experiment > campaign discover optimize report > rewrite store interchange >
//   enumerate verify rule onnx egraph > axiom graph plugin > operator > tensor > base
//
// A file of core/ROOM includes its own room's headers and those of rooms on lower floors. The public headers in
// core/include/rewright are the contracts between rooms: each lies in the folder of its room, includes no private
// header, and never leads back to itself. No two files include each other, a header and its source taken as one. Rooms
// on one floor know each other by their public headers only; the room plugin, which carries every kind of object
// across, sees all of those. A plugin (a file of operators/, a file or a folder of plugins/KIND/) includes public
// headers, its own files, and libraries. Core includes none of the solvers and runtimes that live in plugins.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace architecture {

/// One sentence for each #include under `root` (core, operators, plugins) that breaks the rules, sorted; each names
/// the file, the line and the reason. `files` counts the sources that were read.
struct Scan {
  std::vector<std::string> violations;
  int files = 0;
};
[[nodiscard]] Scan scan_includes(const std::filesystem::path& root);

}  // namespace architecture
