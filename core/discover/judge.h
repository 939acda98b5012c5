// Does an equation hold, as far as the audit can tell?
#pragma once

#include <rewright/axiom/axiom.h>

#include "axiom/audit.h"
#include "discover/law_options.h"

namespace rewright {

class Judge {
 public:
  explicit Judge(const LawOptions& options) : options_(options) {}

  /// At a few sizes: enough to drop what is wrong.
  bool probably(const Axiom& axiom) const {
    AuditOptions quick;
    quick.max_dim = 3;
    quick.max_sizes = 6;
    quick.max_typings = 12;
    quick.seed = options_.seed;
    return holds(axiom, quick) && holds(axiom, middle());
  }
  /// The same where few of the sizes and parameters that are tried may be such that both sides are defined.
  bool somewhere(const Axiom& axiom) const {
    AuditOptions options = middle();
    options.max_dim = 4;
    options.max_typings = 400;
    return holds(axiom, options);
  }
  bool surely(const Axiom& axiom) const {
    if (!probably(axiom)) return false;
    const auto result = thoroughly(axiom);
    return result && result->holds;
  }
  bool holds(const Axiom& axiom, const AuditOptions& how) const {
    const auto result = audited(axiom, how);
    return result && result->holds && result->combinations > 0;
  }
  /// The last word; its result. A few typings are looked at at more points: where max decides, one point says little.
  Result<AuditResult> thoroughly(const Axiom& axiom) const {
    AuditOptions options;
    options.max_dim = 4;
    options.max_sizes = 120;
    options.max_typings = 300;
    options.seed = options_.seed + 1;
    options.threads = options_.threads;
    auto result = audited(axiom, options);
    options.max_typings = 4;
    for (int again = 0; again < 12 && result && result->holds && result->sampled > 0; ++again) {
      ++options.seed;
      auto more = audited(axiom, options);
      if (more && !more->holds) result = std::move(more);
    }
    return result;
  }
  /// What was said since is worth nothing.
  bool stopped() const { return options_.stop && options_.stop(); }

 private:
  Result<AuditResult> audited(const Axiom& axiom, AuditOptions how) const {
    how.stop = options_.stop;
    return audit(axiom, how);
  }
  AuditOptions middle() const {
    AuditOptions options;
    options.max_dim = 3;
    options.max_sizes = 25;
    options.max_typings = 80;
    options.seed = options_.seed;
    return options;
  }
  const LawOptions& options_;
};

}  // namespace rewright
