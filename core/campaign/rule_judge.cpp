#include "campaign/rule_judge.h"

#include <algorithm>
#include <array>
#include <thread>

#include "axiom/audit.h"
#include "campaign/files.h"

namespace rewright {
namespace {

/// Hashes of the axiom files that came with the program and stood the whole audit (axioms/audited.txt).
constexpr std::string_view kAuditedFiles[] = {
    "",  // The list may be empty.
#include "audited_axioms.inc"
};

/// As `axioms check --quick`: seconds for a file of axioms.
AuditOptions quick_audit() {
  AuditOptions options;
  options.domain = AuditDomain::kTaso;
  options.max_dim = 4;
  options.max_sizes = 50;
  options.max_typings = 100;
  options.wide_sizes = 4;
  options.threads = static_cast<int>(std::max(std::thread::hardware_concurrency(), 1U));
  return options;
}

std::string first_lines(const std::string& text) {
  std::string line = text;
  std::ranges::replace(line, '\n', ' ');
  return line;
}

}  // namespace

Status check_id(const Rule& rule, std::string_view id) {
  if (rule.id == id) return {};
  return make_error(ErrorCode::kMismatch, "its id is not that of its text ({}), so that one of both was changed",
                    rule.id);
}

RuleJudge::RuleJudge(const AxiomSet& axioms, const Registry& registry, Memory memory)
    : axioms_(axioms), remembers_(memory == Memory::kUsed), checker_(axioms.axioms(), registry), memory_(registry) {}

Status RuleJudge::prove(const Rule& rule, std::string_view certificate) {
  const std::string digest = JudgedMemory::digest_of({"proof", axioms_.digest(), to_text(rule), certificate});
  if (remembers_ && memory_.knows(digest)) return {};
  REWRIGHT_CHECK(checker_.check(rule, certificate));
  REWRIGHT_CHECK(check_axioms());
  memory_.add(digest);
  return {};
}

Status RuleJudge::check_axioms() {
  if (audited_.size() == axioms_.axioms().size()) return {};
  for (const Axiom& axiom : axioms_.axioms()) REWRIGHT_CHECK(check_axiom(axiom));
  return {};
}

Status RuleJudge::check_axiom(const Axiom& axiom) {
  if (audited_.contains(axiom.name)) return {};
  const std::string& hash = hash_of(axiom.file);
  const bool is_own = !hash.empty() && std::ranges::find(kAuditedFiles, hash) != std::end(kAuditedFiles);
  const std::string digest = JudgedMemory::digest_of({"axiom", hash, axiom.name});
  if (!is_own && (hash.empty() || !remembers_ || !memory_.knows(digest))) {
    REWRIGHT_TRY(const AuditResult result, audit(axiom, quick_audit()));
    if (!result.holds)
      return make_error(
          ErrorCode::kMismatch,
          "{}:{}: the axiom {} is false, so that nothing is proved by it: {}; correct it, or leave it out", axiom.file,
          axiom.line, axiom.name, first_lines(result.counterexample));
    if (result.combinations + result.drawn == 0)
      return make_error(
          ErrorCode::kMismatch,
          "{}:{}: the axiom {} cannot be audited, so that nothing is proved by it: no sizes of its domain "
          "meet its conditions",
          axiom.file, axiom.line, axiom.name);
    if (!hash.empty()) memory_.add(digest);
  }
  audited_.insert(axiom.name);
  return {};
}

const std::string& RuleJudge::hash_of(const std::string& file) {
  const auto [at, is_new] = hash_.try_emplace(file);
  if (is_new) {
    if (auto hash = file_hash(file)) at->second = *std::move(hash);
  }
  return at->second;
}

}  // namespace rewright
