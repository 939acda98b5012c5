// What a campaign and a verifier in a process of its own say to each other.
//
// A message is its length in eight bytes, in this machine's order, and its bytes: numbers of eight bytes, and texts
// with their length before them. Rules and conditions go in their text forms. Both ends are of one build, so there is
// no version; whatever does not read back is taken for a crash.
#pragma once

#include <rewright/base/result.h>
#include <rewright/base/visibility.h>
#include <rewright/plugin/registry.h>
#include <rewright/rule/rule.h>
#include <rewright/verify/verifier.h>

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace rewright {

/// The first message: what the process is for, and its limits.
struct WorkerTask {
  std::vector<std::string> plugins;  ///< Files: those with operators, and the verifier's.
  std::string verifier;
  Options options;
  std::vector<std::string> axiom_files;
  std::vector<std::string> axioms;  ///< Names: the set may be a part of what the files hold.
  std::string axiom_digest;
  std::uint64_t memory_bytes = 0;
  std::int64_t answer_seconds = 0;
  bool strict = false;  ///< Limits on processor time and files, too.
};

struct WorkerAnswer {
  enum class Kind : std::uint8_t {
    kVerdicts,
    kError,  ///< The verifier's own word that its backend failed.
    kThrew,  ///< An exception; the process ends.
  };
  Kind kind = Kind::kVerdicts;
  std::vector<Verdict> verdicts;
  Error error;  ///< For kThrew: what was thrown.
};

/// What crosses of a goal; the axioms are the task's.
struct WorkerGoal {
  Rule rule;
  Budget budget;
};

[[nodiscard]] REWRIGHT_API std::string to_message(const WorkerTask& task);
[[nodiscard]] REWRIGHT_API std::string to_message(std::span<const Goal> goals);
[[nodiscard]] REWRIGHT_API std::string to_message(const WorkerAnswer& answer);
/// Nothing where the bytes are no such message.
[[nodiscard]] REWRIGHT_API std::optional<WorkerTask> read_task(std::string_view message);
[[nodiscard]] REWRIGHT_API std::optional<WorkerAnswer> read_answer(std::string_view message);
/// Errors: kParse; a rule that cannot be read. kInternal: no such message.
[[nodiscard]] REWRIGHT_API Result<std::vector<WorkerGoal>> read_goals(std::string_view message,
                                                                      const Registry& registry);

/// False where the other end is gone.
[[nodiscard]] bool send_message(int socket, std::string_view message);

enum class Received : std::uint8_t { kMessage, kGone, kLate, kStopped };
/// Waits for `seconds` (negative: without end), and asks `stop` several times a second.
[[nodiscard]] Received receive_message(int socket, std::string& message, std::int64_t seconds,
                                       const std::function<bool()>& stop = {});

}  // namespace rewright
