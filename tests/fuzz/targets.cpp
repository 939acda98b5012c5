#include "fuzz/targets.h"

#include <rewright/axiom/axiom.h>
#include <rewright/graph/graph.h>
#include <rewright/plugin/registry.h>
#include <rewright/rule/rule.h>
#include <rewright/verify/certificate.h>

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "campaign/config.h"
#include "campaign/import_rules.h"
#include "interchange/taso.h"
#include "onnx/import.h"
#include "onnx/simplify.h"
#include "store/store.h"
#include "support/random_graph.h"
#include "support/taso_file.h"
#include "verify/certificate_text.h"

namespace rewright::fuzz {

namespace {

namespace fs = std::filesystem;

const std::string kTree = REWRIGHT_SOURCE_DIR;

const Registry& registry() {
  static const Registry loaded = [] {
    Registry loading;
    if (!loading.load_default()) std::abort();
    return loading;
  }();
  return loaded;
}

[[noreturn]] void complain(std::string_view what, std::string_view detail) {
  fmt::print(stderr, "{}: {}\n", what, detail);
  std::abort();
}

void expect_sentence(const std::string& message) {
  if (message.empty()) complain("an error without a sentence", "");
}

template <class T>
bool is_read(const Result<T>& result) {
  if (!result) expect_sentence(result.error().message);
  return static_cast<bool>(result);
}

std::string content_of(const fs::path& file) {
  std::ifstream in(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

std::vector<std::string> files_of(const fs::path& folder, std::string_view extension, std::size_t every = 1) {
  std::vector<fs::path> files;
  std::error_code ignored;
  for (const auto& entry : fs::recursive_directory_iterator(folder, ignored)) {
    if (entry.is_regular_file() && entry.path().extension() == extension && entry.file_size() < 100'000)
      files.push_back(entry.path());
  }
  std::sort(files.begin(), files.end());
  std::vector<std::string> contents;
  for (std::size_t i = 0; i < files.size(); i += every) contents.push_back(content_of(files[i]));
  return contents;
}

/// A folder of this process, for readers that take a file.
class Folder {
 public:
  Folder() {
    const fs::path memory = "/dev/shm";
    path_ =
        (fs::is_directory(memory) ? memory : fs::temp_directory_path()) / fmt::format("rewright-fuzz-{}", ::getpid());
    fs::create_directories(path_);
  }
  ~Folder() {
    std::error_code ignored;
    fs::remove_all(path_, ignored);
  }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;

  std::string with(const std::string& name, std::string_view bytes) const {
    std::ofstream(path_ / name, std::ios::binary) << bytes;
    return (path_ / name).string();
  }
  [[nodiscard]] const fs::path& path() const { return path_; }

 private:
  fs::path path_;
};

const Folder& folder() {
  static const Folder folder;
  return folder;
}

// --- the readers -----------------------------------------------------------------------------------------------------

void onnx(std::string_view bytes) {
  const auto model = import_model(std::as_bytes(std::span(bytes)), registry());
  if (is_read(model) && model->graph.nodes().size() > 100 * bytes.size() + 1000)
    complain("a graph larger than its file", std::to_string(model->graph.nodes().size()));
  (void)is_read(simplify_model(std::as_bytes(std::span(bytes)), {}, SimplifyLevel::kWeights));
}

void axioms(std::string_view bytes) {
  const std::string file = folder().with("axioms.smt2", bytes);
  (void)is_read(load_axioms({&file, 1}, registry()));
}

void campaign(std::string_view bytes) {
  (void)is_read(load_campaign(folder().with("campaign.toml", bytes), registry()));
}

void graph(std::string_view bytes) {
  const auto read = parse_graph(bytes, registry());
  if (!is_read(read)) return;
  const std::string text = to_text(*read);
  const auto again = parse_graph(text, registry());
  if (!again || to_text(*again) != text) complain("a graph that is written is not read again", text);
}

void rules(std::string_view bytes) {
  const auto read = parse_rules(bytes, registry());
  if (!is_read(read)) return;
  for (const Rule& rule : *read) {
    const auto again = parse_rule(to_text(rule), registry());
    if (!again || rule_id(*again) != rule_id(rule)) complain("a rule that is written is not read again", to_text(rule));
  }
}

void json_rules(std::string_view bytes) {
  (void)is_read(read_rules(std::string(bytes), "rules.json", "json", registry()));
}

void taso(std::string_view bytes) { (void)is_read(read_taso(std::string(bytes), "rules.pb", registry())); }

/// Reads a file of rules with certificates and checks them, on the axioms of the elements: a rule that passes is one
/// that would be taken into a library.
void certificates(std::string_view bytes) {
  static const AxiomSet axioms = [] {
    const std::string files[] = {kTree + "/axioms/elementwise.smt2", kTree + "/axioms/layout.smt2"};
    return *load_axioms(files, registry());
  }();
  static CertificateChecker checker(axioms.axioms(), registry());
  const auto file = read_certificate_file(bytes);
  if (!is_read(file)) return;
  for (const CertificateFile::Entry& entry : file->entries) {
    const auto rule = parse_rule(entry.rule, registry());
    if (!is_read(rule)) continue;
    const Status status = checker.check(*rule, entry.certificate);
    if (!status) expect_sentence(status.error().message);
  }
}

void store(std::string_view bytes) {
  const fs::path place = folder().path() / "store";
  std::error_code ignored;
  fs::remove_all(place, ignored);
  fs::create_directories(place);
  std::ofstream(place / "store.sqlite", std::ios::binary) << bytes;
  const auto read = Store::open(place.string(), Store::Mode::kRead);
  if (!is_read(read)) return;
  if (!is_read((*read)->campaign())) return;
  (void)is_read((*read)->unjudged_rules(registry()));
  (void)is_read((*read)->dump());
}

// --- what real inputs look like --------------------------------------------------------------------------------------

std::vector<std::string> onnx_corpus() { return files_of("/usr/share/libonnx-testdata/data/node", ".onnx", 25); }
std::vector<std::string> axiom_corpus() { return files_of(kTree + "/axioms", ".smt2"); }
std::vector<std::string> campaign_corpus() { return files_of(kTree + "/experiments", ".toml"); }

std::vector<std::string> graph_corpus() {
  std::vector<std::string> texts;
  for (std::uint64_t seed = 1; seed <= 40; ++seed)
    texts.push_back(to_text(rewright::testing::random_graph(seed, {.operators = 1 + static_cast<int>(seed % 6)})));
  return texts;
}

/// Rules with their certificates, five at a time.
std::vector<std::string> certificate_corpus() {
  const std::string text = content_of(kTree + "/experiments/library/library.rules");
  std::vector<std::string> parts;
  std::string part;
  int rules = 0;
  for (std::size_t at = text.find("\nrule "); at != std::string::npos && parts.size() < 30;) {
    const std::size_t next = text.find("\nrule ", at + 1);
    part += text.substr(at + 1, next == std::string::npos ? next : next - at);
    if (++rules % 5 == 0) parts.push_back(std::exchange(part, {}));
    at = next;
  }
  return parts;
}

std::vector<std::string> rule_corpus() {
  std::vector<std::string> texts;
  for (const std::string& part : certificate_corpus()) {
    std::string lines;
    for (std::size_t at = part.starts_with("rule ") ? 0 : part.find("\nrule "); at != std::string::npos;
         at = part.find("\nrule ", at + 1)) {
      const std::size_t begin = part.find("rule ", at) + 5;
      lines += part.substr(begin, part.find('\n', begin) - begin) + "\n";
    }
    texts.push_back(lines);
  }
  return texts;
}

std::vector<std::string> json_corpus() {
  std::vector<std::string> texts;
  for (const std::string& lines : rule_corpus()) {
    std::string json = "{\"rules\":[";
    for (std::size_t at = 0; at < lines.size(); at = lines.find('\n', at) + 1)
      json += fmt::format("{}{{\"text\":\"{}\"}}", at == 0 ? "" : ",", lines.substr(at, lines.find('\n', at) - at));
    texts.push_back(json + "]}");
  }
  return texts;
}

std::vector<std::string> taso_corpus() {
  std::vector<Rule> rules;
  for (const std::string& lines : rule_corpus()) {
    if (const auto read = parse_rules(lines, registry())) rules.insert(rules.end(), read->begin(), read->end());
  }
  std::vector<std::string> files;
  for (std::size_t i = 0; i + 3 < rules.size(); i += 3)
    files.push_back(write_taso(std::span(rules).subspan(i, 3)).bytes);
  return files;
}

std::vector<std::string> store_corpus() {
  const fs::path place = folder().path() / "small";
  {
    const auto made = Store::open(place.string(), Store::Mode::kRun);
    if (!made) complain("no store", made.error().message);
    if (!(*made)->begin({"fuzz", "0", "{}", {}})) complain("no campaign", "");
    if (!(*made)->add(CandidateRecord{0, "a", 1, "source", "target"})) complain("no candidate", "");
  }
  return {content_of(place / "store.sqlite")};
}

}  // namespace

std::span<const Target> targets() {
  static const std::vector<Target> all = {
      {"onnx", onnx, onnx_corpus, {"\x08\x01", "\xff\xff\xff\xff\xff\xff\xff\xff\x7f", "Conv", "../x", "axis"}},
      {"axioms", axioms, axiom_corpus, {"(assert", "(forall", "(!", ":named", "(=>", "(and", "rank", "((", "))", "|"}},
      {"campaign",
       campaign,
       campaign_corpus,
       {"inputs", "[operators]", "max_operators", "= -1", "= [", "nan", "1e400"}},
      {"graph", graph, graph_corpus, {"output ", "input ", "weight", "= ", ".0", "[", "relu(", "9223372036854775807"}},
      {"rules",
       rules,
       rule_corpus,
       {"let ", " in ", " where ", "=>", "floor(", "s0", "x.0", "split[sizes=", "x:8", " | "}},
      {"json_rules", json_rules, json_corpus, {"\"text\"", "{", "}", "[", "]", "null", "\\u0000", ":"}},
      {"taso", taso, taso_corpus, {"\x0a\x02", "\x08\x0c", "\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01"}},
      {"certificates",
       certificates,
       certificate_corpus,
       {"certificate 1", "output 0", ". > ", ". < ", "@", "x=", "; "}},
      {"store", store, store_corpus, {"CREATE TABLE", "rules", "version"}},
  };
  return all;
}

std::vector<std::string> inputs(const Target& target) {
  std::vector<std::string> all = target.corpus();
  std::ranges::move(files_of(fs::path(kTree) / "tests/fuzz/found" / target.name, ""), std::back_inserter(all));
  return all;
}

const Target* find(std::string_view name) {
  for (const Target& target : targets()) {
    if (target.name == name) return &target;
  }
  return nullptr;
}

}  // namespace rewright::fuzz
