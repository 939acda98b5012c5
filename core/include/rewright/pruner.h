// Pruners: plugins that drop candidates which other candidates make superfluous.
#pragma once

#include <rewright/export.h>
#include <rewright/graph.h>
#include <rewright/verifier.h>

#include <memory>
#include <optional>
#include <string>

namespace rewright {

/// Two graphs with the same inputs and the same fingerprint; the target is the one that is simpler or first.
struct Candidate {
  std::string id;  ///< Names it in reports and in the store.
  Graph source;
  Graph target;
};

/// Why a candidate was dropped.
struct Removal {
  std::string by;      ///< Id of the candidate that makes it superfluous; empty if it is superfluous by itself.
  std::string reason;  ///< One sentence.
};

/// One pass over candidates in a fixed order. Never shared between threads.
class REWRIGHT_API PruneSession {
 public:
  virtual ~PruneSession();
  /// Nothing: the candidate stays (and may make later ones superfluous).
  [[nodiscard]] virtual std::optional<Removal> offer(const Candidate& candidate) = 0;
};

class REWRIGHT_API Pruner {
 public:
  virtual ~Pruner();
  [[nodiscard]] virtual std::string name() const = 0;
  [[nodiscard]] virtual std::string summary() const = 0;
  [[nodiscard]] virtual Result<std::unique_ptr<PruneSession>> start(const Options& options) const = 0;
};

}  // namespace rewright
