#include "experiment/manifest.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <ranges>
#include <set>

#include "base/files.h"
#include "base/toml_section.h"

namespace rewright::experiment {
namespace {

namespace fs = std::filesystem;

constexpr std::array kTakes = {"only", "sum", "least", "most", "mean", "geomean", "count", "distinct"};
constexpr std::array kUnits = {"", "s", "us", "x", "%", "yes"};

Result<Json> to_json(const std::string& file, const toml::node& node) {
  if (const auto* text = node.as_string()) return Json(text->get());
  if (const auto* number = node.as_integer()) return Json(number->get());
  if (const auto* number = node.as_floating_point()) return Json(number->get());
  if (const auto* truth = node.as_boolean()) return Json(truth->get());
  if (const auto* list = node.as_array()) {
    Json json = Json::array();
    for (const auto& element : *list) {
      REWRIGHT_TRY(Json value, to_json(file, element));
      json.push_back(std::move(value));
    }
    return json;
  }
  if (const auto* table = node.as_table()) {
    Json json = Json::object();
    for (const auto& [key, child] : in_file_order(*table)) {
      REWRIGHT_TRY(json[key], to_json(file, *child));
    }
    return json;
  }
  return toml_error(file, node, fmt::format("{} cannot stand in a manifest", describe(node)));
}

class ManifestReader {
 public:
  explicit ManifestReader(std::string file) : file_(std::move(file)) {}

  Result<Manifest> read(const toml::table& document);

 private:
  Status read_run(const toml::node& node);
  Status read_claim(const toml::node& node);
  Status read_table(const toml::node& node);
  Status read_plot(const toml::node& node);
  /// Every table of the list [[key]].
  Status read_all(Section& document, const std::string& key, bool required,
                  Status (ManifestReader::*read)(const toml::node&));
  Status add_to(Sweep& sweep, const toml::table& table, const std::set<std::string>& aside);
  Result<std::optional<Selection>> selection(Section& section, const std::string& key);
  Status known_run(const Section& section, const std::string& run);
  /// "run" or "runs".
  Result<std::vector<std::string>> runs(Section& section);
  Result<Json> where(Section& section);
  template <std::size_t N>
  Status one_of(const Section& section, const char* key, const std::string& word,
                const std::array<const char*, N>& all) {
    if (std::ranges::find(all, word) != all.end()) return {};
    return section.error(
        *section.table().get(key),
        fmt::format("'{}' is '{}'; there are: {}", key, word,
                    fmt::join(std::views::filter(all, [](const char* each) { return *each != 0; }), ", ")));
  }
  Result<std::optional<double>> number(Section& section, const std::string& key);
  Status read_quick(Section& section, Claim& claim);

  std::string file_;
  Manifest manifest_;
};

Result<const toml::table*> as_table(const std::string& file, const toml::node& node, const std::string& what) {
  if (const toml::table* table = node.as_table()) return table;
  return toml_error(file, node, fmt::format("{} must be a table, not {}", what, describe(node)));
}

Status ManifestReader::read_all(Section& document, const std::string& key, bool required,
                                Status (ManifestReader::*read)(const toml::node&)) {
  REWRIGHT_TRY(const toml::array* list, document.list(key, required));
  for (const toml::node& node : *list) REWRIGHT_CHECK((this->*read)(node));
  return {};
}

Status ManifestReader::add_to(Sweep& sweep, const toml::table& table, const std::set<std::string>& aside) {
  for (const auto& [key, node] : in_file_order(table)) {
    if (aside.contains(key)) continue;
    std::erase_if(sweep.each, [&key = key](const auto& swept) { return swept.first == key; });
    REWRIGHT_TRY(sweep.fixed[key], to_json(file_, *node));
  }
  const toml::node* each = table.get("each");
  if (each == nullptr) return {};
  REWRIGHT_TRY(const toml::table* swept, as_table(file_, *each, "'each'"));
  for (const auto& [key, node] : in_file_order(*swept)) {
    const toml::array* values = node->as_array();
    if (values == nullptr || values->empty())
      return toml_error(file_, *node,
                        fmt::format("'{}' must be a list of the values to go through, not {}", key, describe(*node)));
    sweep.fixed.erase(key);
    REWRIGHT_TRY(Json list, to_json(file_, *node));
    const auto known = std::ranges::find(sweep.each, key, [](const auto& entry) { return entry.first; });
    if (known != sweep.each.end()) {
      known->second = std::move(list);
    } else {
      sweep.each.emplace_back(key, std::move(list));
    }
  }
  return {};
}

Status ManifestReader::read_run(const toml::node& node) {
  REWRIGHT_TRY(const toml::table* table, as_table(file_, node, "an entry of [[runs]]"));
  Section section(file_, "a run", *table);
  RunSpec run;
  REWRIGHT_TRY(run.name, section.text("name"));
  REWRIGHT_TRY(run.kind, section.text("kind"));
  for (const RunSpec& other : manifest_.runs)
    if (other.name == run.name) return section.error(node, fmt::format("two runs are called '{}'", run.name));
  run.place = {file_, node.source().begin.line};
  const std::set<std::string> aside = {"name", "kind", "each", "quick"};
  REWRIGHT_CHECK(add_to(run.full, *table, aside));
  run.quick = run.full;
  const auto note_lines = [&](const toml::table& of) {
    for (const auto& [key, value] : of) run.lines.emplace(std::string(key.str()), value.source().begin.line);
  };
  note_lines(*table);
  if (const toml::node* each = table->get("each"); each != nullptr && each->is_table()) note_lines(*each->as_table());
  if (const toml::node* quick = table->get("quick")) {
    REWRIGHT_TRY(const toml::table* less, as_table(file_, *quick, "'quick'"));
    if (less->get("skip") != nullptr) {
      if (!less->get("skip")->value<bool>().value_or(false) || less->size() > 1)
        return toml_error(file_, *quick, "'quick' is either 'skip = true' alone, or what differs from the full run");
      run.quick.reset();
    } else {
      REWRIGHT_CHECK(add_to(*run.quick, *less, {"each"}));
    }
  }
  manifest_.runs.push_back(std::move(run));
  return {};
}

Status ManifestReader::known_run(const Section& section, const std::string& run) {
  for (const RunSpec& known : manifest_.runs)
    if (known.name == run) return {};
  std::vector<std::string> names;
  for (const RunSpec& known : manifest_.runs) names.push_back(known.name);
  const toml::node* node = section.table().get("run");
  return section.error(node != nullptr ? *node : *section.table().get("runs"),
                       fmt::format("there is no run '{}'; there are: {}", run, fmt::join(names, ", ")));
}

Result<std::vector<std::string>> ManifestReader::runs(Section& section) {
  std::vector<std::string> names;
  REWRIGHT_TRY(const toml::array* list, section.list("runs", false));
  if (section.find("runs") == nullptr) {
    REWRIGHT_TRY(std::string name, section.text("run"));
    names.push_back(std::move(name));
  } else {
    for (const toml::node& name : *list) {
      if (!name.is_string()) return section.error(name, "'runs' must be a list of texts");
      names.push_back(name.as_string()->get());
    }
  }
  for (const std::string& name : names) REWRIGHT_CHECK(known_run(section, name));
  return names;
}

Result<Json> ManifestReader::where(Section& section) {
  if (section.find("where") == nullptr) return Json(Json::object());
  REWRIGHT_TRY(const toml::table* table, section.section("where", true));
  return to_json(file_, *table);
}

Result<std::optional<Selection>> ManifestReader::selection(Section& section, const std::string& key) {
  if (section.find(key) == nullptr) return std::optional<Selection>();
  REWRIGHT_TRY(const toml::table* table, section.section(key, true));
  Section inner(file_, "'" + key + "'", *table);
  Selection selection;
  REWRIGHT_TRY(selection.run, inner.text("run"));
  REWRIGHT_CHECK(known_run(inner, selection.run));
  REWRIGHT_TRY(selection.take, inner.text("take", "only"));
  REWRIGHT_CHECK(one_of(inner, "take", selection.take, kTakes));
  REWRIGHT_TRY(selection.field,
               inner.text("field", selection.take == "count" ? std::optional<std::string>("") : std::nullopt));
  REWRIGHT_TRY(selection.where, where(inner));
  REWRIGHT_CHECK(inner.finish());
  return std::optional(std::move(selection));
}

Result<std::optional<double>> ManifestReader::number(Section& section, const std::string& key) {
  const toml::node* node = section.find(key);
  if (node == nullptr) return std::optional<double>();
  if (!node->is_number())
    return section.error(*node, fmt::format("'{}' must be a number, not {}", key, describe(*node)));
  return std::optional(*node->value<double>());
}

/// quick = true, "why not", or { what differs from the claim }.
Status ManifestReader::read_quick(Section& section, Claim& claim) {
  const toml::node* node = section.find("quick");
  if (node == nullptr) return {};
  if (const auto* why = node->as_string()) {
    claim.quick = false;
    claim.not_quick = why->get();
    if (claim.not_quick.empty())
      return section.error(*node, "'quick' must say why a quick run says nothing of the claim");
    return {};
  }
  if (node->is_boolean()) {
    REWRIGHT_TRY(claim.quick, section.boolean("quick", true));
    if (!claim.quick) claim.not_quick = "--quick is too small to say";
    return {};
  }
  REWRIGHT_TRY(const toml::table* table, section.section("quick", true));
  Section inner(file_, "'quick'", *table);
  Claim form = claim;
  form.expected.reset();
  form.paper_value.reset();  // It is of the whole, not of what is small.
  for (auto [key, kept] : {std::pair("ours", &form.ours), {"over", &form.over}}) {
    REWRIGHT_TRY(std::optional<Selection> other, selection(inner, key));
    if (other) *kept = std::move(other);
  }
  REWRIGHT_TRY(form.at_least, number(inner, "at_least"));
  REWRIGHT_TRY(form.at_most, number(inner, "at_most"));
  REWRIGHT_TRY(form.criterion, inner.text("criterion"));
  REWRIGHT_CHECK(inner.finish());
  if (!form.at_least && !form.at_most)
    return section.error(*node, "'quick' needs 'at_least' or 'at_most': when the claim holds in a quick run");
  claim.quick_form.push_back(std::move(form));
  return {};
}

Status ManifestReader::read_claim(const toml::node& node) {
  REWRIGHT_TRY(const toml::table* table, as_table(file_, node, "an entry of [[claims]]"));
  Section section(file_, "a claim", *table);
  Claim claim;
  REWRIGHT_TRY(claim.id, section.text("id"));
  REWRIGHT_TRY(claim.claim, section.text("claim"));
  REWRIGHT_TRY(claim.source, section.text("source"));
  REWRIGHT_TRY(claim.work, section.text("work", claim.source.starts_with(kOwnWork) ? kOwnWork : "other works"));
  REWRIGHT_TRY(claim.paper, section.text("paper"));
  REWRIGHT_TRY(claim.paper_value, number(section, "paper_value"));
  REWRIGHT_TRY(claim.ours, selection(section, "ours"));
  REWRIGHT_TRY(claim.over, selection(section, "over"));
  REWRIGHT_TRY(claim.pair, section.text("pair", ""));
  REWRIGHT_TRY(claim.unit, section.text("unit", ""));
  REWRIGHT_CHECK(one_of(section, "unit", claim.unit, kUnits));
  REWRIGHT_TRY(const toml::array* expected, section.list("expected", false));
  if (section.find("expected") != nullptr) {
    if (expected->size() != 2 || !expected->get(0)->is_number() || !expected->get(1)->is_number())
      return section.error(*expected, "'expected' must be two numbers: from, to");
    claim.expected = {*expected->get(0)->value<double>(), *expected->get(1)->value<double>()};
  }
  REWRIGHT_TRY(claim.at_least, number(section, "at_least"));
  REWRIGHT_TRY(claim.at_most, number(section, "at_most"));
  REWRIGHT_TRY(claim.because, section.text("because", ""));
  REWRIGHT_TRY(claim.criterion,
               section.text("criterion", claim.because.empty() ? std::nullopt : std::optional<std::string>("")));
  REWRIGHT_TRY(claim.note, section.text("note", ""));
  REWRIGHT_CHECK(read_quick(section, claim));
  REWRIGHT_CHECK(section.finish());
  if (claim.because.empty() && (!claim.ours || (!claim.at_least && !claim.at_most)))
    return section.error(node, fmt::format("the claim '{}' needs 'ours', and 'at_least' or 'at_most'; or 'because', "
                                           "which says why it cannot be compared here",
                                           claim.id));
  for (const Claim& other : manifest_.claims)
    if (other.id == claim.id) return section.error(node, fmt::format("two claims have the id '{}'", claim.id));
  manifest_.claims.push_back(std::move(claim));
  return {};
}

Status ManifestReader::read_table(const toml::node& node) {
  REWRIGHT_TRY(const toml::table* source, as_table(file_, node, "an entry of [[tables]]"));
  Section section(file_, "a table", *source);
  TableSpec table;
  REWRIGHT_TRY(table.title, section.text("title"));
  REWRIGHT_TRY(table.runs, runs(section));
  REWRIGHT_TRY(table.where, where(section));
  REWRIGHT_TRY(table.rows, section.text("rows", ""));
  REWRIGHT_TRY(table.across, section.text("across", ""));
  REWRIGHT_TRY(table.value, section.text("value", ""));
  REWRIGHT_TRY(table.in_readme, section.boolean("readme", true));
  REWRIGHT_TRY(const toml::array* columns, section.list("columns", table.value.empty()));
  for (const toml::node& column : *columns) {
    if (!column.is_string()) return section.error(column, "'columns' must be a list of texts");
    table.columns.push_back(column.as_string()->get());
  }
  if (!table.value.empty() && (table.rows.empty() || table.across.empty() || !table.columns.empty()))
    return section.error(node, "a table of a 'value' needs 'rows' and 'across', and no 'columns'");
  REWRIGHT_CHECK(section.finish());
  manifest_.tables.push_back(std::move(table));
  return {};
}

Status ManifestReader::read_plot(const toml::node& node) {
  REWRIGHT_TRY(const toml::table* source, as_table(file_, node, "an entry of [[plots]]"));
  Section section(file_, "a plot", *source);
  PlotSpec plot;
  REWRIGHT_TRY(plot.title, section.text("title"));
  REWRIGHT_TRY(plot.runs, runs(section));
  REWRIGHT_TRY(plot.where, where(section));
  REWRIGHT_TRY(const std::string kind, section.text("kind"));
  REWRIGHT_CHECK(one_of(section, "kind", kind, std::array{"lines", "bars", "heat"}));
  if (kind == "lines") {
    REWRIGHT_TRY(plot.x, section.text("x"));
    REWRIGHT_TRY(plot.y, section.text("y"));
    REWRIGHT_TRY(plot.series, section.text("series", ""));
    REWRIGHT_TRY(plot.log_x, section.boolean("log_x", false));
    REWRIGHT_TRY(plot.steps, section.boolean("steps", false));
  } else {
    plot.kind = kind == "heat" ? PlotSpec::Kind::kHeat : PlotSpec::Kind::kBars;
    REWRIGHT_TRY(plot.rows, section.text("rows"));
    REWRIGHT_TRY(plot.value, section.text("value"));
    if (kind == "heat") {
      REWRIGHT_TRY(plot.across, section.text("across"));
    }
  }
  REWRIGHT_TRY(plot.log_y, section.boolean("log_y", false));
  REWRIGHT_CHECK(section.finish());
  manifest_.plots.push_back(std::move(plot));
  return {};
}

Result<Manifest> ManifestReader::read(const toml::table& document) {
  Section top(file_, "the manifest", document);
  manifest_.folder = fs::path(file_).parent_path().string();
  manifest_.name = fs::path(manifest_.folder).filename().string();
  REWRIGHT_TRY(const toml::table* head, top.section("experiment", true));
  Section section(file_, "[experiment]", *head);
  REWRIGHT_TRY(manifest_.title, section.text("title"));
  REWRIGHT_TRY(manifest_.question, section.text("question"));
  REWRIGHT_TRY(const std::optional<double> minutes, number(section, "minutes"));
  if (!minutes) return section.error(*head, "[experiment] needs 'minutes': about how long it takes on two cores");
  manifest_.minutes = *minutes;
  REWRIGHT_CHECK(section.finish());
  REWRIGHT_CHECK(read_all(top, "runs", true, &ManifestReader::read_run));
  REWRIGHT_CHECK(read_all(top, "claims", true, &ManifestReader::read_claim));
  REWRIGHT_CHECK(read_all(top, "tables", false, &ManifestReader::read_table));
  REWRIGHT_CHECK(read_all(top, "plots", false, &ManifestReader::read_plot));
  REWRIGHT_CHECK(top.finish());
  return std::move(manifest_);
}

void add_units(const Sweep& sweep, std::size_t run, std::vector<UnitSpec>& units) {
  std::vector<Json> combinations = {sweep.fixed};
  for (const auto& [key, values] : sweep.each) {
    std::vector<Json> longer;
    for (const Json& begun : combinations) {
      for (const Json& value : values) {
        longer.push_back(begun);
        longer.back()[key] = value;
      }
    }
    combinations = std::move(longer);
  }
  for (Json& parameters : combinations) units.push_back({run, std::move(parameters)});
}

}  // namespace

Result<Manifest> load_manifest(const std::string& file) {
  REWRIGHT_TRY(const std::string text, read_file(file));
  REWRIGHT_TRY(const toml::table document, parse_toml(text, file));
  return ManifestReader(file).read(document);
}

Result<std::vector<Manifest>> load_manifests(const std::string& folder) {
  std::vector<std::string> files;
  std::error_code failed;
  for (const auto& entry : fs::directory_iterator(folder, failed)) {
    const fs::path file = entry.path() / "experiment.toml";
    std::error_code ignored;
    if (fs::is_regular_file(file, ignored)) files.push_back(file.string());
  }
  if (files.empty())
    return make_error(ErrorCode::kNotFound, "there is no experiment in '{}': no NAME/experiment.toml", folder);
  std::ranges::sort(files);
  std::vector<Manifest> manifests;
  for (const std::string& file : files) {
    REWRIGHT_TRY(Manifest manifest, load_manifest(file));
    manifests.push_back(std::move(manifest));
  }
  return manifests;
}

Result<std::vector<Work>> load_works(const std::string& folder) {
  const std::string file = folder + "/works.toml";
  std::vector<Work> works;
  std::error_code ignored;
  if (!fs::is_regular_file(file, ignored)) return works;
  REWRIGHT_TRY(const std::string text, read_file(file));
  REWRIGHT_TRY(const toml::table document, parse_toml(text, file));
  Section top(file, "the list of works", document);
  REWRIGHT_TRY(const toml::array* list, top.list("works", true));
  for (const toml::node& node : *list) {
    REWRIGHT_TRY(const toml::table* table, as_table(file, node, "an entry of [[works]]"));
    Section section(file, "a work", *table);
    Work work;
    REWRIGHT_TRY(work.name, section.text("name"));
    REWRIGHT_TRY(work.title, section.text("title"));
    REWRIGHT_TRY(work.by, section.text("by"));
    REWRIGHT_CHECK(section.finish());
    if (std::ranges::find(works, work.name, &Work::name) != works.end())
      return section.error(node, fmt::format("two works are called '{}'", work.name));
    works.push_back(std::move(work));
  }
  REWRIGHT_CHECK(top.finish());
  return works;
}

std::string records_folder(const Manifest& manifest) {
  return (fs::path(manifest.folder).parent_path() / "results" / manifest.name).string();
}

std::vector<UnitSpec> units_of(const Manifest& manifest, bool quick) {
  std::vector<UnitSpec> units;
  for (std::size_t run = 0; run < manifest.runs.size(); ++run) {
    const RunSpec& spec = manifest.runs[run];
    if (!quick) add_units(spec.full, run, units);
    if (quick && spec.quick) add_units(*spec.quick, run, units);
  }
  return units;
}

}  // namespace rewright::experiment
