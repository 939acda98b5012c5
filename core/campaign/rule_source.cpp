#include "campaign/rule_source.h"

#include <rewright/axiom/axiom.h>
#include <rewright/theorem/rule_theorem.h>
#include <rewright/verify/certificate.h>
#include <rewright/verify/derivation.h>

#include <tbb/parallel_for.h>

#include <algorithm>
#include <deque>
#include <filesystem>
#include <memory>
#include <optional>
#include <set>

#include "base/files.h"
#include "campaign/operator_versions.h"
#include "campaign/solver_rules.h"
#include "rule/canonical.h"
#include "store/store.h"
#include "verify/certificate_text.h"
#include "verify/rule_judge.h"

namespace rewright {
namespace {

namespace fs = std::filesystem;

bool has_certificates(std::string_view text) {
  while (!text.empty()) {
    const std::string_view line = take_line(text);
    if (!line.empty() && !line.starts_with('#')) return line.starts_with("axioms ") || line.starts_with("rule ");
  }
  return false;
}

Result<AxiomSet> axioms_of(const CertificateFile& file, const std::string& path, const Registry& registry) {
  std::vector<std::string> files;
  for (const std::string& name : file.axioms) {
    files.push_back((fs::path(path).parent_path() / name).lexically_normal().string());
    if (!fs::is_regular_file(files.back()))
      return make_error(ErrorCode::kNotFound, "the axiom file '{}', on which the proofs in '{}' rest, is not there",
                        files.back(), path);
  }
  return load_axioms(files, registry);
}

Result<CertificateFile> parse_file(const std::string& text, const std::string& path) {
  auto file = read_certificate_file(text);
  if (!file) return make_error(file.error().code, "{}: {}", path, file.error().message);
  return file;
}

constexpr int kRounds = 3;  // Members whose parameters only other members' targets bring.

/// The rules of a file and the members of its families, each with a proof that was replayed. Members are replayed by
/// several threads; the order of the rules does not depend on it.
class Replay {
 public:
  Replay(const std::string& path, const AxiomSet& axioms, const Registry& registry)
      : path_(path), axioms_(axioms.axioms()), registry_(registry), judge_(axioms, registry) {}

  Result<std::vector<Rule>> run(const CertificateFile& file, ParameterUses uses) {
    std::vector<Result<Rule>> parsed(file.entries.size(), Rule{});
    tbb::parallel_for(std::size_t{0}, parsed.size(),
                      [&](std::size_t i) { parsed[i] = parse_rule(file.entries[i].rule, registry_); });
    std::vector<Member> listed;
    for (std::size_t i = 0; i < parsed.size(); ++i) {
      if (const Status status = add(file.entries[i], std::move(parsed[i]), listed); !status)
        return make_error(status.error().code, "{}:{}: {}", path_, file.entries[i].line, status.error().message);
    }
    REWRIGHT_CHECK(keep_listed(listed));
    for (int round = 0; round < kRounds && !uses.empty(); ++round) {
      const std::size_t before = rules_.size();
      std::vector<Member> wanted;
      for (const Family& family : families_) {
        for (auto& values : members_for(family, uses)) wanted.push_back({&family, std::move(values)});
      }
      for (Result<Rule>& member : replay(wanted))
        if (member) keep(*std::move(member));
      if (rules_.size() == before) break;
      for (std::size_t i = before; i < rules_.size(); ++i) uses.add(rules_[i], true);
    }
    return std::move(rules_);
  }

 private:
  struct Member {
    const Family* family;
    std::vector<std::string> values;
    const CertificateFile::Entry* entry = nullptr;  ///< Of those that the file lists.
    const CertificateFile::Member* at = nullptr;
    std::optional<Rule> proved = {};  ///< In place of a member: a rule of the file.
  };

  Status add(const CertificateFile::Entry& entry, Result<Rule> parsed, std::vector<Member>& listed) {
    REWRIGHT_TRY(Rule rule, std::move(parsed));
    if (const Status proved = judge_.prove(rule, entry.certificate); !proved)
      return make_error(proved.error().code, "the proof is rejected: {}", proved.error().message);
    rule.trust = trust_by(entry.certificate);
    rule.certificate = entry.certificate;
    listed.push_back({.family = nullptr, .values = {}, .proved = rule});
    if (entry.free.empty() && entry.members.empty()) return {};
    REWRIGHT_TRY(Family read, Family::read(std::move(rule), entry.free, axioms_, registry_));
    const Family& family = families_.emplace_back(std::move(read));
    for (const CertificateFile::Member& at : entry.members) {
      REWRIGHT_TRY(auto values, family.read_values(at.values));
      listed.push_back({&family, std::move(values), &entry, &at});
    }
    return {};
  }

  Status keep_listed(std::vector<Member>& listed) {
    std::vector<Result<Rule>> members = replay(listed);
    for (std::size_t i = 0; i < listed.size(); ++i) {
      if (listed[i].proved) {
        keep(*std::move(listed[i].proved));
        continue;
      }
      if (!members[i])
        return make_error(members[i].error().code, "{}:{}: the proof is rejected for the member {}: {}", path_,
                          listed[i].entry->line, listed[i].at->values, members[i].error().message);
      keep(*std::move(members[i]));
    }
    return {};
  }

  std::vector<Result<Rule>> replay(const std::vector<Member>& members) {
    std::vector<Result<Rule>> rules(members.size(), Rule{});
    tbb::parallel_for(std::size_t{0}, members.size(), [&](std::size_t i) {
      if (members[i].family != nullptr) rules[i] = members[i].family->member(members[i].values, judge_.checker());
    });
    return rules;
  }

  void keep(Rule rule) {
    if (ids_.insert(rule.id).second) rules_.push_back(std::move(rule));
  }

  const std::string& path_;
  std::span<const Axiom> axioms_;
  const Registry& registry_;
  RuleJudge judge_;
  std::vector<Rule> rules_;
  std::set<std::string> ids_;
  std::deque<Family> families_;  // Members point into it.
};

// --- a store -----------------------------------------------------------------------------------------------------

Result<AxiomSet> axioms_of(Store& store, const Registry& registry) {
  std::vector<std::string> files;
  const std::string list = store.path("axioms.txt");
  if (!fs::exists(list))
    return make_error(ErrorCode::kNotFound, "'{}' does not say on which axioms its proofs rest: '{}' is not there",
                      store.folder(), list);
  REWRIGHT_TRY(const std::string paths, read_file(list));
  for (std::string_view rest = paths; !rest.empty();) {
    files.emplace_back(take_line(rest));
    if (!fs::is_regular_file(files.back()))
      return make_error(ErrorCode::kNotFound,
                        "the axiom file '{}', on which the proofs in '{}' rest, is not there; put it back, or run the "
                        "campaign again",
                        files.back(), store.folder());
  }
  return load_axioms(files, registry);
}

Status ask_again(Store& store, const RuleText& row, const Rule& rule, RuleJudge& judge) {
  REWRIGHT_TRY(const SolverWord word, solver_word(store, row));
  return judge.ask(rule, word.verifier, word.budget);
}

}  // namespace

Result<std::vector<Rule>> judged_rules(Store& store, const Registry& registry) {
  REWRIGHT_TRY(const std::vector<RuleText> rows, store.rule_texts());
  std::vector<Result<Rule>> parsed(rows.size(), Rule{});
  tbb::parallel_for(std::size_t{0}, rows.size(), [&](std::size_t i) { parsed[i] = unjudged_rule(rows[i], registry); });
  const auto refused = [&](const RuleText& row, const Error& error) {
    return make_error(error.code, "'{}', rule {} ({}): {}; run the campaign again, or remove the row",
                      store.database().file(), row.id, row.name, error.message);
  };
  std::vector<Rule> rules;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (!parsed[i]) return store.unreadable(rows[i], parsed[i].error(), registry);
    if (const Status same = check_id(*parsed[i], rows[i].id); !same) return refused(rows[i], same.error());
    rules.push_back(*std::move(parsed[i]));
  }
  REWRIGHT_TRY(const std::vector<OtherVersion> others, other_versions(store, registry));
  distrust(rules, others);
  if (std::ranges::all_of(rules, [](const Rule& rule) { return rule.trust == Trust::kNone; })) return rules;
  REWRIGHT_TRY(const AxiomSet axioms, axioms_of(store, registry));
  RuleJudge judge(axioms, registry);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (rules[i].trust >= Trust::kCertificate) {
      if (const Status proved = judge.prove(rules[i], rules[i].certificate); !proved)
        return refused(rows[i], {proved.error().code, "its proof is rejected: " + proved.error().message});
    } else if (rules[i].trust == Trust::kSolver) {
      const Status proved = ask_again(store, rows[i], rules[i], judge);
      if (!proved && proved.error().code == ErrorCode::kMismatch) return refused(rows[i], proved.error());
      if (!proved) rules[i].trust = Trust::kNone;  // The solver is not there.
    }
  }
  return rules;
}

Result<std::vector<Rule>> read_proved_rules(const std::string& path, const AxiomSet& axioms, const Registry& registry) {
  REWRIGHT_TRY(const std::string text, read_file(path));
  REWRIGHT_TRY(const CertificateFile file, parse_file(text, path));
  return Replay(path, axioms, registry).run(file, {});
}

Result<std::vector<Rule>> read_rule_source(const std::string& path, const Registry& registry,
                                           const ParameterUses& uses) {
  if (fs::is_directory(path)) {
    REWRIGHT_TRY(const auto store, Store::open(path, Store::Mode::kRead));
    return judged_rules(*store, registry);
  }
  REWRIGHT_TRY(const std::string text, read_file(path));
  if (has_certificates(text)) {
    REWRIGHT_TRY(const CertificateFile file, parse_file(text, path));
    REWRIGHT_TRY(const AxiomSet axioms, axioms_of(file, path, registry));
    return Replay(path, axioms, registry).run(file, uses);
  }
  auto rules = parse_rules(text, registry);
  if (!rules) return make_error(rules.error().code, "'{}': {}", path, rules.error().message);
  return rules;
}

Result<std::vector<std::string>> axiom_files_of(const std::string& path) {
  REWRIGHT_TRY(const std::string text, read_file(path));
  std::vector<std::string> files;
  if (!has_certificates(text)) return files;
  REWRIGHT_TRY(const CertificateFile file, parse_file(text, path));
  for (const std::string& name : file.axioms)
    files.push_back((fs::path(path).parent_path() / name).lexically_normal().string());
  return files;
}

void make_theorems(std::vector<Rule>& rules, const Registry& registry) {
  std::vector<std::string> proofs(rules.size());
  tbb::parallel_for(std::size_t{0}, rules.size(), [&](std::size_t i) {
    if (rules[i].trust != Trust::kTheorem) proofs[i] = prove_from_definitions(rules[i]).certificate;
  });
  const AxiomSet none;
  RuleJudge judge(none, registry);
  for (std::size_t i = 0; i < rules.size(); ++i) {
    if (proofs[i].empty() || !judge.prove(rules[i], proofs[i])) continue;
    rules[i].certificate = std::move(proofs[i]);
    rules[i].trust = Trust::kTheorem;
  }
}

Result<CertificateFile> with_families(CertificateFile file, const AxiomSet& axioms, const Registry& registry) {
  struct Kept {
    Family family;
    std::size_t entry;
  };
  RuleJudge judge(axioms, registry);
  REWRIGHT_CHECK(judge.check_axioms());
  CertificateChecker& checker = judge.checker();
  std::vector<Kept> kept;
  std::vector<CertificateFile::Entry> entries;
  for (CertificateFile::Entry& entry : file.entries) {
    REWRIGHT_TRY(Rule rule, parse_rule(entry.rule, registry));
    rule.certificate = entry.certificate;
    ParameterUses own;
    own.add(rule);
    const auto is_member = [&](const Kept& candidate) {
      const Family& family = candidate.family;
      if (readable_name(family.rule()) != readable_name(rule)) return false;
      for (const auto& values : members_for(family, own)) {
        const auto member = family.member(values, checker);
        if (!member || member->id != rule.id) continue;
        std::vector<ParamText> params = family.free();
        for (std::size_t i = 0; i < params.size(); ++i) params[i].second = values[i];
        entries[candidate.entry].members.push_back({to_text(params)});
        return true;
      }
      return false;
    };
    if (std::ranges::any_of(kept, is_member)) continue;
    std::vector<ParamText> free = free_parameters(rule, axioms.axioms(), registry, checker);
    entry.free = to_text(free);
    entries.push_back(std::move(entry));
    if (!free.empty())
      kept.push_back({Family(std::move(rule), std::move(free), axioms.axioms(), registry), entries.size() - 1});
  }
  file.entries = std::move(entries);
  return file;
}

std::vector<Rule> one_direction_each(const std::vector<Rule>& rules) {
  std::vector<Rule> firsts;
  std::set<std::string> converses;
  for (const Rule& rule : rules) {
    if (converses.contains(rule.id)) continue;
    if (const auto turned = converse(rule)) converses.insert(turned->id);
    firsts.push_back(rule);
  }
  return firsts;
}

}  // namespace rewright
