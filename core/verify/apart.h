// A verifier in a process of its own, behind the interface of verifiers.
//
// A crash there (a signal, an exception, no memory left, no answer in time) costs a process, not the campaign. What was
// being asked is asked again, in case the process was ended from outside; if that fails too, goal by goal, and a goal
// that fails twice by itself is Unknown, "crashed: ...". So verdicts depend on the goals and the verifier alone, as
// long as its crashes do.
#pragma once

#include <rewright/plugin/registry.h>
#include <rewright/verify/verifier.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

namespace rewright {

class WorkerShelf;

/// Which verifiers run in processes of their own.
enum class Apart : std::uint8_t {
  kForeign,  ///< Those of plugins that did not come with the program.
  kAll,
  kNone,
};

struct Isolation {
  Apart which = Apart::kForeign;
  /// Limits on processor time and on writing files besides those on memory and core files.
  bool strict = false;
  std::int64_t answer_seconds = 60;  ///< Of waiting for one answer: a last resort, budgets are in work.
  std::size_t most_crashes = 8;      ///< Goals that a verifier may crash over before it is put aside.
  /// Told of each crash, from any thread; for people, nothing depends on it.
  std::function<void(const std::string&)> note;
};

/// REWRIGHT_SAFE=1 in the environment: every verifier in a process of its own, strictly.
[[nodiscard]] REWRIGHT_API Isolation isolation_from_environment(Isolation otherwise);

[[nodiscard]] bool runs_apart(const Isolation& isolation, const Registry& registry, const std::string& verifier);

/// How the reason of a verdict begins if the verifier crashed over the goal, or was put aside for its crashes.
inline constexpr std::string_view kCrashed = "crashed: ";
inline constexpr std::string_view kPutAside = "put aside: ";
[[nodiscard]] std::string put_aside_reason(std::size_t crashes);

/// `prototype` is the verifier, as the registry has it; it is asked what it can, and nothing else. `shelf` keeps its
/// processes. All references outlive the object and its clones.
[[nodiscard]] REWRIGHT_API std::unique_ptr<Verifier> make_apart(const Verifier& prototype, const Registry& registry,
                                                                const Isolation& isolation,
                                                                const std::function<bool()>& stop, WorkerShelf& shelf);

}  // namespace rewright
