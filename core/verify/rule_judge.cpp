#include "verify/rule_judge.h"

#include <tbb/enumerable_thread_specific.h>

#include <algorithm>
#include <array>
#include <thread>

#include "axiom/audit.h"
#include "axiom/writer.h"
#include "base/sha256.h"
#include "plugin/own_folder.h"

namespace rewright {
namespace {

constexpr std::uint64_t kPatience = 4;  // Times the budget that a solver had.

// axioms/audited.txt: SHA-256 of the axiom files that came with the program and stood the whole audit, and the
// operators with which they did, "matmul 1.0.0". Either list may be empty.
constexpr std::string_view kAuditedFiles[] = {
    "",
#include "audited_axioms.inc"
};
constexpr std::string_view kAuditedOperators[] = {
    "",
#include "audited_operators.inc"
};
// axioms/theorems.txt: SHA-256 of what each axiom says that was proved with a certificate, and the operators from whose
// definitions.
constexpr std::string_view kTheorems[] = {
    "",
#include "theorems.inc"
};
constexpr std::string_view kTheoremOperators[] = {
    "",
#include "theorem_operators.inc"
};

/// The operators that came with the program, in the versions of the list.
std::set<std::string, std::less<>> own_operators(const Registry& registry, std::span<const std::string_view> list) {
  std::set<std::string, std::less<>> names;
  for (const LoadedPlugin& plugin : registry.plugins()) {
    if (!plugin.file.starts_with(own_plugin_folder() + "/")) continue;
    for (const std::string& object : plugin.provides) {
      constexpr std::string_view kKind = "operator ";
      if (!object.starts_with(kKind)) continue;
      std::string name = object.substr(kKind.size());
      if (std::ranges::find(list, name + " " + plugin.version) != list.end()) names.insert(std::move(name));
    }
  }
  return names;
}

/// As `axioms check --quick`: seconds for a file of axioms.
AuditOptions quick_audit(int threads) {
  AuditOptions options;
  options.domain = AuditDomain::kTaso;
  options.max_dim = 4;
  options.max_sizes = 50;
  options.max_typings = 100;
  options.wide_sizes = 4;
  options.threads = threads > 0 ? threads : static_cast<int>(std::max(std::thread::hardware_concurrency(), 1U));
  return options;
}

/// Name, options and the content of the plugin's file; "" where that cannot be read.
std::string identity_of(const VerifierChoice& verifier, const Registry& registry) {
  for (const LoadedPlugin& plugin : registry.plugins()) {
    if (std::ranges::find(plugin.provides, "verifier " + verifier.name) == plugin.provides.end()) continue;
    const auto hash = file_sha256(plugin.file);
    if (!hash) return "";
    std::string text = *hash + " " + verifier.name;
    for (const auto& [name, value] : verifier.options)
      text += std::visit([&, &key = name](const auto& plain) { return fmt::format(" {}={}", key, plain); }, value);
    return text;
  }
  return "";
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

Result<std::string> axiom_digest(const Axiom& axiom) {
  Axiom plain = axiom;
  plain.name = "n";
  plain.source = "s";
  REWRIGHT_TRY(const std::string text, to_smt(plain));
  return sha256(text);
}

/// By thread.
struct RuleJudge::Checkers {
  Checkers(const AxiomSet& axioms, const Registry& registry)
      : of_threads(
            [axioms = axioms.axioms(), &registry] { return std::make_unique<CertificateChecker>(axioms, registry); }) {}
  tbb::enumerable_thread_specific<std::unique_ptr<CertificateChecker>> of_threads;
};

CertificateChecker& RuleJudge::checker() { return *checkers_->of_threads.local(); }

RuleJudge::RuleJudge(const AxiomSet& axioms, const Registry& registry, Memory memory, int threads)
    : axioms_(axioms),
      registry_(registry),
      threads_(threads),
      remembers_(memory == Memory::kUsed),
      checkers_(std::make_shared<Checkers>(axioms, registry)),
      memory_(registry),
      audited_operators_(own_operators(registry, kAuditedOperators)),
      theorem_operators_(own_operators(registry, kTheoremOperators)) {
  for (const std::string& file : axioms.files()) {
    if (hash_of(file).empty()) return;
  }
  for (const std::string& file : axioms.files()) basis_ += hash_of(file) + "\n";
  for (const Axiom& axiom : axioms.axioms()) basis_ += fmt::format("{} {}", axiom.name.size(), axiom.name);
  basis_ = sha256(basis_);
}

Status RuleJudge::prove(const Rule& rule, std::string_view certificate) {
  const std::string digest = proof_digest(rule, certificate);
  if (remembers_ && memory_.knows(digest)) return {};
  REWRIGHT_CHECK(checker().check(rule, certificate));
  if (trust_by(certificate) != Trust::kTheorem) REWRIGHT_CHECK(check_axioms());
  if (!digest.empty()) memory_.add(digest);
  return {};
}

Status RuleJudge::ask(const Rule& rule, const VerifierChoice& verifier, Budget budget) {
  const std::string who = identity_of(verifier, registry_);
  const std::string digest =
      basis_.empty() || who.empty() ? "" : JudgedMemory::digest_of({"solver", basis_, to_text(rule), who});
  if (remembers_ && memory_.knows(digest)) return {};
  REWRIGHT_CHECK(check_axioms());
  PortfolioOptions options;
  options.budget = budget;
  options.budget.work *= kPatience;
  REWRIGHT_TRY(const PortfolioReport report, verify_all({&rule, 1}, axioms_, {&verifier, 1}, registry_, options));
  const Verdict& said = report.rules.front().outcome;
  if (said.kind != VerdictKind::kProved || !said.conditions.empty())
    return make_error(ErrorCode::kMismatch, "{} does not prove it when it is asked again: {}", verifier.name,
                      said.kind == VerdictKind::kProved ? "not without further conditions" : said.reason);
  if (!digest.empty()) memory_.add(digest);
  return {};
}

std::string RuleJudge::proof_digest(const Rule& rule, std::string_view certificate) const {
  return basis_.empty() ? "" : JudgedMemory::digest_of({"proof", basis_, to_text(rule), certificate});
}

Status RuleJudge::check_axioms() {
  if (audited_.size() == axioms_.axioms().size()) return {};
  for (const Axiom& axiom : axioms_.axioms()) REWRIGHT_CHECK(check_axiom(axiom));
  return {};
}

Status RuleJudge::check_axiom(const Axiom& axiom) {
  if (audited_.contains(axiom.name)) return {};
  const std::string& hash = hash_of(axiom.file);
  const bool is_own = is_recorded(axiom, hash);
  const std::string digest = JudgedMemory::digest_of({"axiom", hash, axiom.name});
  if (!is_own && (hash.empty() || !remembers_ || !memory_.knows(digest))) {
    REWRIGHT_TRY(const AuditResult result, audit(axiom, quick_audit(threads_)));
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

bool RuleJudge::is_recorded(const Axiom& axiom, const std::string& hash) const {
  const auto has = [&](const auto& operators) {
    return std::ranges::all_of(
        axiom.terms, [&](const AxiomTerm& term) { return term.op == nullptr || operators.contains(term.op->name()); });
  };
  if (!hash.empty() && std::ranges::find(kAuditedFiles, hash) != std::end(kAuditedFiles) && has(audited_operators_))
    return true;
  const auto digest = axiom_digest(axiom);
  return digest && std::ranges::find(kTheorems, *digest) != std::end(kTheorems) && has(theorem_operators_);
}

const std::string& RuleJudge::hash_of(const std::string& file) {
  const auto [at, is_new] = hash_.try_emplace(file);
  if (is_new) {
    if (auto hash = file_sha256(file)) at->second = *std::move(hash);
  }
  return at->second;
}

}  // namespace rewright
