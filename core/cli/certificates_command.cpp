// rewright certificates check | export
#include <rewright/axiom/axiom.h>
#include <rewright/verify/certificate.h>

#include <algorithm>
#include <filesystem>
#include <memory>

#include "base/files.h"
#include "campaign/rule_source.h"
#include "cli/commands.h"
#include "cli/output.h"
#include "cli/program.h"
#include "store/store.h"
#include "verify/certificate_text.h"
#include "verify/rule_judge.h"

namespace rewright::cli {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kShown = 20;  // Rejections that are written out; the rest is counted.

struct CertificatesArguments {
  std::string path;
  std::string output;
  std::vector<std::string> axioms;
  bool families = false;
};

struct Proofs {
  CertificateFile file;
  std::vector<std::vector<std::string>> names;  ///< Of an entry's rule and its members: the rule's id, or FILE:LINE.
  std::size_t solver = 0;                       ///< Rules that rest on a solver's word.
};

Result<Proofs> read_store(const std::string& folder) {
  REWRIGHT_TRY(const auto store, Store::open(folder, Store::Mode::kRead));
  REWRIGHT_TRY(const auto rules, store->rule_texts());
  Proofs proofs;
  for (const RuleText& rule : rules) {
    if (rule.trust == name_of(Trust::kSolver)) {
      ++proofs.solver;
      continue;
    }
    proofs.file.entries.push_back({rule.text, rule.certificate, 0});
    proofs.names.push_back({rule.id});
  }
  if (!fs::exists(store->path("axioms.txt"))) return proofs;
  REWRIGHT_TRY(const std::string paths, read_file(store->path("axioms.txt")));
  for (std::string_view rest = paths; !rest.empty();) proofs.file.axioms.emplace_back(take_line(rest));
  return proofs;
}

Result<Proofs> read_proofs(const std::string& path) {
  if (fs::is_directory(path)) return read_store(path);
  REWRIGHT_TRY(const std::string text, read_file(path));
  auto file = read_certificate_file(text);
  if (!file) return make_error(file.error().code, "{}: {}", path, file.error().message);
  Proofs proofs{*std::move(file), {}, 0};
  for (const auto& entry : proofs.file.entries) {
    auto& names = proofs.names.emplace_back();
    names.push_back(fmt::format("{}:{}", path, entry.line));
    for (const auto& member : entry.members) names.push_back(fmt::format("{}:{}", path, member.line));
  }
  for (std::string& axioms : proofs.file.axioms) axioms = (fs::path(path).parent_path() / axioms).string();
  return proofs;
}

Result<AxiomSet> read_axioms(const CertificatesArguments& arguments, const Proofs& proofs, const Registry& registry) {
  const auto& files = arguments.axioms.empty() ? proofs.file.axioms : arguments.axioms;
  const auto needs_none = [](const auto& entry) { return trust_by(entry.certificate) == Trust::kTheorem; };
  if (files.empty() && !std::ranges::all_of(proofs.file.entries, needs_none))
    return make_error(ErrorCode::kUsage, "'{}' does not say where its axioms are; name the files with --axioms",
                      arguments.path);
  for (const std::string& file : files) {
    if (!fs::is_regular_file(file))
      return make_error(ErrorCode::kNotFound,
                        "the axiom file '{}', on which the proofs rest, is not there; name the files with --axioms",
                        file);
  }
  return load_axioms(files, registry);
}

/// The rule, which in a store has an id, then each member of its family.
std::vector<Status> check_entry(RuleJudge& judge, const AxiomSet& axioms, const CertificateFile::Entry& entry,
                                const std::string* id, const Registry& registry) {
  std::vector<Status> all(1 + entry.members.size());
  auto rule = parse_rule(entry.rule, registry);
  if (!rule) {
    std::ranges::fill(all, Status(rule.error()));
    return all;
  }
  if (id) all.front() = check_id(*rule, *id);
  if (all.front()) all.front() = judge.prove(*rule, entry.certificate);
  if (entry.free.empty() && entry.members.empty()) return all;
  rule->certificate = entry.certificate;
  const auto family = Family::read(*std::move(rule), entry.free, axioms.axioms(), registry);
  if (!family && all.front()) all.front() = family.error();
  for (std::size_t i = 0; i < entry.members.size(); ++i) {
    if (!family) {
      all[i + 1] = family.error();
      continue;
    }
    const auto values = family->read_values(entry.members[i].values);
    if (!values) {
      all[i + 1] = values.error();
    } else if (const auto member = family->member(*values, judge.checker()); !member) {
      all[i + 1] = make_error(member.error().code, "member {}: {}", entry.members[i].values, member.error().message);
    }
  }
  return all;
}

Result<ExitCode> check(const Settings& settings, const CertificatesArguments& arguments) {
  REWRIGHT_TRY(const Registry registry, settings.registry());
  REWRIGHT_TRY(const Proofs proofs, read_proofs(arguments.path));
  REWRIGHT_TRY(const AxiomSet axioms, read_axioms(arguments, proofs, registry));
  RuleJudge judge(axioms, registry, RuleJudge::Memory::kNone);
  const bool is_store = fs::is_directory(arguments.path);
  std::size_t checked = 0;
  Json rejections = Json::array();
  for (std::size_t i = 0; i < proofs.file.entries.size(); ++i) {
    const std::vector<Status> all =
        check_entry(judge, axioms, proofs.file.entries[i], is_store ? &proofs.names[i].front() : nullptr, registry);
    checked += all.size();
    for (std::size_t k = 0; k < all.size(); ++k)
      if (!all[k]) rejections.push_back({{"rule", proofs.names[i][k]}, {"reason", all[k].error().message}});
  }
  const std::size_t rejected = rejections.size(), accepted = checked - rejected;
  if (settings.json) {
    print_json({{"checked", checked},
                {"accepted", accepted},
                {"rejected", rejected},
                {"solver", proofs.solver},
                {"rejections", std::move(rejections)}});
    return rejected == 0 ? ExitCode::kDone : ExitCode::kNegative;
  }
  for (std::size_t i = 0; i < std::min(kShown, rejections.size()); ++i)
    print_line(fmt::format("{}: rejected: {}", rejections[i]["rule"].get<std::string>(),
                           rejections[i]["reason"].get<std::string>()));
  if (rejections.size() > kShown) print_line(fmt::format("and {} more", with_commas(rejections.size() - kShown)));
  print_line(fmt::format("{} checked: {} accepted, {} rejected", counted(checked, "certificate"), with_commas(accepted),
                         with_commas(rejected)));
  if (proofs.solver > 0)
    print_line(fmt::format("on a solver's word, without a certificate: {}", counted(proofs.solver, "rule")));
  return rejected == 0 ? ExitCode::kDone : ExitCode::kNegative;
}

Result<ExitCode> export_proofs(const Settings& settings, const CertificatesArguments& arguments) {
  REWRIGHT_TRY(Proofs proofs, read_store(arguments.path));
  if (arguments.families) {
    REWRIGHT_TRY(const Registry registry, settings.registry());
    REWRIGHT_TRY(const AxiomSet axioms, read_axioms(arguments, proofs, registry));
    REWRIGHT_TRY(proofs.file, with_families(std::move(proofs.file), axioms, registry));
  }
  if (arguments.output.empty()) {
    print(to_text(proofs.file));
    return ExitCode::kDone;
  }
  const fs::path folder = fs::weakly_canonical(fs::absolute(arguments.output)).parent_path();
  for (std::string& axioms : proofs.file.axioms)
    axioms = fs::weakly_canonical(axioms).lexically_relative(folder).string();
  REWRIGHT_CHECK(write_file(arguments.output, to_text(proofs.file)));
  return ExitCode::kDone;
}

}  // namespace

void add_certificates(Program& program) {
  const Command group = program.group("certificates", "Certificates: proofs of rules that anyone can replay");
  auto arguments = std::make_shared<CertificatesArguments>();
  const Command check_command = program.command(
      group, "check", "Replays every proof of a store or file, on the axiom files as they are now",
      {"rewright certificates check quickstart.store", "rewright certificates check proofs.txt --axioms axioms/*.smt2"},
      [arguments](const Settings& settings) { return check(settings, *arguments); });
  check_command.add_option("STORE|FILE", arguments->path, "A store, or what `certificates export` wrote").required();
  check_command.add_option("--axioms", arguments->axioms,
                           "The axiom files to believe; else those that the store or the file names");

  const Command export_command =
      program.command(group, "export", "Writes the rules of a store with their proofs",
                      {"rewright certificates export quickstart.store > proofs.txt",
                       "rewright certificates export library.store --families -o experiments/library/library.rules"},
                      [arguments](const Settings& settings) { return export_proofs(settings, *arguments); });
  export_command.add_option("STORE", arguments->path, "The store").required();
  export_command
      .add_option("-o,--output", arguments->output,
                  "The file to write, which names axiom files relative to itself (default: standard output)")
      .type_name("FILE");
  export_command.add_flag("--families", arguments->families,
                          "One entry for rules that differ in parameters alone, with the parameters that may be free");
}

}  // namespace rewright::cli
