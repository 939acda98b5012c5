#include "campaign/rule_source.h"

#include "campaign/files.h"
#include "rule/store.h"
#include "verify/certificate_text.h"

#include <rewright/axiom.h>
#include <rewright/certificate.h>
#include <rewright/derivation.h>

#include <filesystem>
#include <set>

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

Result<std::vector<Rule>> replay(const CertificateFile& file, const std::string& path, const AxiomSet& axioms,
                                 const Registry& registry) {
  CertificateChecker checker(axioms.axioms(), registry);
  std::vector<Rule> rules;
  for (const CertificateFile::Entry& entry : file.entries) {
    auto rule = parse_rule(entry.rule, registry);
    if (!rule) return make_error(rule.error().code, "{}:{}: {}", path, entry.line, rule.error().message);
    if (const Status proved = checker.check(*rule, entry.certificate); !proved)
      return make_error(proved.error().code, "{}:{}: the proof is rejected: {}", path, entry.line,
                        proved.error().message);
    rule->trust = Trust::kCertificate;
    rule->certificate = entry.certificate;
    rules.push_back(*std::move(rule));
  }
  return rules;
}

}  // namespace

Result<std::vector<Rule>> read_proved_rules(const std::string& path, const AxiomSet& axioms, const Registry& registry) {
  REWRIGHT_TRY(const std::string text, read_file(path));
  REWRIGHT_TRY(const CertificateFile file, parse_file(text, path));
  return replay(file, path, axioms, registry);
}

Result<std::vector<Rule>> read_rule_source(const std::string& path, const Registry& registry) {
  if (fs::is_directory(path)) {
    REWRIGHT_TRY(const auto store, Store::open(path, Store::Mode::kRead));
    return store->rules(registry);
  }
  REWRIGHT_TRY(const std::string text, read_file(path));
  if (has_certificates(text)) {
    REWRIGHT_TRY(const CertificateFile file, parse_file(text, path));
    REWRIGHT_TRY(const AxiomSet axioms, axioms_of(file, path, registry));
    return replay(file, path, axioms, registry);
  }
  auto rules = parse_rules(text, registry);
  if (!rules) return make_error(rules.error().code, "'{}': {}", path, rules.error().message);
  return rules;
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
