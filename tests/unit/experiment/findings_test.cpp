// Figures, tables and pages from rows.
#include "experiment/findings.h"

#include <gmock/gmock.h>

#include "experiment/site.h"
#include "report/plot.h"
#include "unit/experiment/scratch.h"

namespace rewright::testing {
namespace {

using experiment::Findings;
using experiment::Json;
using experiment::Manifest;
using experiment::ResultFile;
using experiment::Selection;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

/// Two models by two searches.
class Paired : public ::testing::Test {
 protected:
  Paired() {
    manifest_.name = "paired";
    experiment::RunSpec run;
    run.name = "searches";
    run.kind = "optimize";
    run.quick = run.full;
    manifest_.runs.push_back(run);
    experiment::UnitResult unit;
    unit.run = "searches";
    unit.kind = "optimize";
    unit.parameters = Json::object();
    for (const auto& [model, search, gain] :
         {std::tuple{"a", "x", 2.0}, {"a", "y", 4.0}, {"b", "x", 3.0}, {"b", "y", 1.5}})
      unit.rows.push_back({{"row", "sum"}, {"model", model}, {"search", search}, {"gain", gain}});
    results_.units.push_back(unit);
  }
  std::optional<double> value(const std::string& take, const std::string& pair, const std::string& field = "gain") {
    experiment::Claim claim;
    claim.id = "claim";
    claim.ours = Selection{"searches", field, {{"search", "y"}}, take};
    if (!pair.empty()) claim.over = Selection{"searches", "gain", {{"search", "x"}}, take};
    claim.pair = pair;
    claim.at_least = 0;
    manifest_.claims = {claim};
    const auto findings = experiment::findings_of(manifest_, results_, false);
    EXPECT_TRUE(findings) << findings.error().message;
    return findings->claims[0].value;
  }
  Manifest manifest_;
  ResultFile results_;
};

TEST_F(Paired, RowsAreTakenTogether) {
  EXPECT_EQ(value("sum", ""), 5.5);
  EXPECT_EQ(value("least", ""), 1.5);
  EXPECT_EQ(value("most", ""), 4);
  EXPECT_EQ(value("mean", ""), 2.75);
  EXPECT_DOUBLE_EQ(*value("geomean", ""), std::sqrt(6.0));
  EXPECT_EQ(value("count", ""), 2);
  EXPECT_EQ(value("distinct", "", "search"), 1);
}

TEST_F(Paired, EachRowIsDividedByItsPartner) {
  EXPECT_EQ(value("most", "model"), 2) << "a: 4 / 2, b: 1.5 / 3";
  EXPECT_EQ(value("least", "model"), 0.5);
}

TEST_F(Paired, SeveralPartnersAreAnErrorThatSaysSo) {
  experiment::Claim claim;
  claim.id = "halved";
  claim.ours = Selection{"searches", "gain", {{"search", "y"}}, "geomean"};
  claim.over = Selection{"searches", "gain", {{"search", "x"}}, "geomean"};
  claim.pair = "row";
  claim.at_least = 0;
  manifest_.claims = {claim};
  const auto findings = experiment::findings_of(manifest_, results_, false);
  ASSERT_FALSE(findings);
  EXPECT_THAT(findings.error().message, HasSubstr("pairs rows by 'row', and run 'searches' has several where it is"));
}

TEST_F(Paired, TheOnlyOneOfSeveralIsAnErrorThatSaysSo) {
  experiment::Claim claim;
  claim.id = "one";
  claim.ours = Selection{"searches", "gain", {{"search", "y"}}, "only"};
  claim.at_least = 0;
  manifest_.claims = {claim};
  const auto findings = experiment::findings_of(manifest_, results_, false);
  ASSERT_FALSE(findings);
  EXPECT_THAT(findings.error().message,
              HasSubstr("the claim 'one' takes the only 'gain' of run 'searches', and there are 2"));
}

TEST_F(Paired, ATableCanHaveOneFieldAcross) {
  const auto findings = experiment::findings_of(manifest_, results_, false);
  experiment::TableSpec spec;
  spec.runs = {"searches"};
  spec.rows = "model";
  spec.across = "search";
  spec.value = "gain";
  const auto table = shown(*findings, spec);
  EXPECT_THAT(table.header, ElementsAre("model", "x", "y"));
  ASSERT_EQ(table.cells.size(), 2U);
  EXPECT_THAT(table.cells[1], ElementsAre("b", "3.00x", "1.50x"));
  EXPECT_THAT(table.raw[1], ElementsAre("b", "3.0", "1.5"));
}

TEST_F(Paired, ATableCanBeLeftOutOfTheReadme) {
  experiment::TableSpec shown_everywhere, on_the_page;
  shown_everywhere.title = "gains";
  on_the_page.title = "all figures";
  on_the_page.in_readme = false;
  for (experiment::TableSpec* spec : {&shown_everywhere, &on_the_page}) {
    spec->runs = {"searches"};
    spec->columns = {"model", "gain"};
    manifest_.tables.push_back(*spec);
  }
  const auto findings = experiment::findings_of(manifest_, results_, false);
  ASSERT_TRUE(findings) << findings.error().message;
  EXPECT_THAT(markdown(*findings), HasSubstr("all figures"));
  const std::string readme = markdown(*findings, experiment::Tables::kReadme);
  EXPECT_THAT(readme, HasSubstr("gains"));
  EXPECT_THAT(readme, Not(HasSubstr("all figures")));
}

TEST_F(Paired, TheOverviewHasTheAnswerAlone) {
  value("sum", "");
  manifest_.claims[0].note = "a note";
  manifest_.claims[0].source = "a source";
  const auto findings = experiment::findings_of(manifest_, results_, false);
  ASSERT_TRUE(findings) << findings.error().message;
  const auto table = overview(std::span(&*findings, 1), {});
  ASSERT_EQ(table.cells.size(), 1U);
  EXPECT_THAT(table.cells[0], ElementsAre("", "paired", "", "", "5.5", "reproduced"));
  EXPECT_THAT(claims_table(*findings).cells[0], ElementsAre("", "a source", "", "5.5", "reproduced. a note"));
}

TEST(Tables, AreEscapedForMarkdownAndCsv) {
  experiment::ShownTable table;
  table.header = {"a", "b"};
  table.to_the_right = {false, true};
  table.cells = {{"x|y split[axis=1](x)", "1,000"}};
  table.raw = {{"say \"x\", then y", "1000"}};
  EXPECT_EQ(markdown(table), "| a | b |\n|---|---:|\n| x\\|y split\\[axis=1](x) | 1,000 |\n");
  EXPECT_EQ(csv(table), "a,b\n\"say \"\"x\"\", then y\",1000\n");
}

TEST(Tables, ASectionOfAPageIsReplaced) {
  const std::string page = "# A\n<!-- results: begin (made) -->\nold\n<!-- results: end -->\nrest\n";
  EXPECT_EQ(*experiment::with_section(page, "results", "new\n"),
            "# A\n<!-- results: begin (made) -->\nnew\n<!-- results: end -->\nrest\n");
  EXPECT_FALSE(experiment::with_section(page, "claims", "new\n"));
  EXPECT_FALSE(experiment::with_section("<!-- results: begin -->\n", "results", "new\n"));
}

TEST(Plots, SayNothingOfNothing) {
  EXPECT_EQ(plot::lines_svg({}), "");
  plot::Lines lines;
  lines.log_y = true;
  lines.series = {{"only zeros", {{1, 0}, {2, 0}}}};
  EXPECT_EQ(plot::lines_svg(lines), "");
}

TEST(Plots, HaveALineForEachSeriesAndEscapeNames) {
  plot::Lines lines{"t", "x", "y", false, true, true, {{"<a>", {{0, 1}, {1, 10}}}, {"b", {{0, 5}, {2, 100}}}}};
  const std::string svg = plot::lines_svg(lines);
  EXPECT_THAT(svg, HasSubstr("&lt;a&gt;"));
  EXPECT_THAT(svg, Not(HasSubstr("<a>")));
  std::size_t paths = 0;
  for (std::size_t at = svg.find("<path"); at != std::string::npos; at = svg.find("<path", at + 1)) ++paths;
  EXPECT_EQ(paths, 2U);
  EXPECT_THAT(svg, HasSubstr(">100</text>")) << "a mark at each power of ten";
}

TEST(Plots, NameTheirLanguageInAFileOfTheirOwn) {
  const std::vector<plot::Bar> bars = {{"a", 1, "1"}};
  const std::string svg = plot::bars_svg("t", bars);
  EXPECT_THAT(svg, Not(HasSubstr("http")));
  EXPECT_THAT(plot::as_file(svg), ::testing::StartsWith("<svg xmlns=\"http://www.w3.org/2000/svg\" class="));
}

TEST(Plots, NumbersAreShort) {
  EXPECT_EQ(plot::number_text(1204311), "1,204,311");
  EXPECT_EQ(plot::number_text(0.12345), "0.123");
  EXPECT_EQ(plot::number_text(-2000), "-2,000");
  EXPECT_EQ(plot::number_text(12345.6), "12,346");
}

// --- the report ------------------------------------------------------------------------------------------------------

/// A claim of the project's own, one of a paper, one of a paper that works.toml does not name.
constexpr const char* kSources = R"(
[experiment]
title = "Sources"
question = "Whose?"
minutes = 0.1
[[runs]]
name = "lines"
kind = "lines"
files = ["a.txt"]
mark = "#"
[[claims]]
id = "own"
claim = "Our own"
source = "this project"
paper = "-"
because = "it is asked for"
[[claims]]
id = "unnamed"
claim = "Somebody's"
source = "somebody"
paper = "2"
because = "it is far away"
[[claims]]
id = "paper"
claim = "The paper's"
source = "a paper, section 2"
work = "Paper"
paper = "4 lines"
paper_value = 4
ours = { run = "lines", field = "lines", where = { row = "sum" } }
at_least = 1
criterion = "one at least"
)";

TEST(Report, HasPapersFirstAndFiguresAsBars) {
  const Experiments folder;
  folder.write("sources", "one\n", "a.txt");
  const auto manifest = experiment::load_manifest(folder.write("sources", kSources));
  ASSERT_TRUE(manifest) << manifest.error().message;
  const auto outcome = run_experiment(*manifest, folder.options("sources"));
  ASSERT_TRUE(outcome) << outcome.error().message;
  const auto findings = experiment::findings_of(*manifest, outcome->results, false);
  ASSERT_TRUE(findings) << findings.error().message;
  folder.write("", "[[works]]\nname = \"Paper\"\ntitle = \"A <paper>\"\nby = \"Somebody, 2020\"\n", "works.toml");
  const auto works = experiment::load_works(folder.path().string());
  ASSERT_TRUE(works) << works.error().message;
  const auto table = overview(std::span(&*findings, 1), *works);
  EXPECT_EQ(table.cells[0][0], "Paper");
  EXPECT_EQ(table.cells[1][0], "other works");
  EXPECT_EQ(table.cells[2][0], "this project");
  const std::vector<experiment::SiteEntry> entries = {{&*findings, folder.options("sources").folder}};
  ASSERT_TRUE(write_site(entries, *works, (folder.path() / "site").string()));
  const std::string index = folder.read("site/index.html");
  EXPECT_LT(index.find("<h3>Paper</h3>"), index.find("<h3>other works</h3>"));
  EXPECT_LT(index.find("<h3>other works</h3>"), index.find("<h3>this project</h3>"));
  EXPECT_THAT(index, HasSubstr("A &lt;paper&gt;. Somebody, 2020."));
  EXPECT_THAT(index, HasSubstr("--long:100.0%;--limit:25.0%;--limited:block\"></i>4 lines"));
  EXPECT_THAT(index, HasSubstr("--long:25.0%;--limit:25.0%;--limited:block\"></i>1</dd>"));
  EXPECT_THAT(index, HasSubstr("href=\"#verdict=not-comparable-here\"><b>2</b>"));
  EXPECT_THAT(index, HasSubstr("href=\"sources.html#paper\""));
  EXPECT_THAT(folder.read("site/sources.html"), HasSubstr("<tr id=\"paper\">"));
}

TEST(Works, AreReadStrictly) {
  const Experiments folder;
  EXPECT_TRUE(experiment::load_works(folder.path().string())->empty()) << "no file, no works";
  const std::string file = folder.write("", "[[works]]\nname = \"A\"\ntitel = \"B\"\n", "works.toml");
  const auto misspelt = experiment::load_works(folder.path().string());
  ASSERT_FALSE(misspelt);
  EXPECT_THAT(misspelt.error().message, HasSubstr("works.toml:3:9: a work has no key 'titel'; did you mean 'title'?"));
  const std::string work = "[[works]]\nname = \"A\"\ntitle = \"B\"\nby = \"C\"\n";
  folder.write("", work + work, "works.toml");
  const auto twice = experiment::load_works(folder.path().string());
  ASSERT_FALSE(twice);
  EXPECT_THAT(twice.error().message, HasSubstr("works.toml:5:1: two works are called 'A'"));
}

// --- the tree's own pages --------------------------------------------------------------------------------------------

std::string read(const std::string& file) {
  std::ostringstream text;
  text << std::ifstream(file).rdbuf();
  return text.str();
}

TEST(OwnPages, SayWhatTheKeptResultsGive) {
  const std::string folder = REWRIGHT_SOURCE_DIR "/experiments";
  const auto manifests = experiment::load_manifests(folder);
  ASSERT_TRUE(manifests) << manifests.error().message;
  std::vector<Findings> all;
  for (const Manifest& manifest : *manifests) {
    const auto results = experiment::read_results(folder + "/results/" + manifest.name + "/results.jsonl");
    ASSERT_TRUE(results) << results.error().message;
    auto findings = experiment::findings_of(manifest, *results, false);
    ASSERT_TRUE(findings) << findings.error().message;
    all.push_back(*std::move(findings));
  }
  const std::string how = "rewright experiment report --all --results experiments/results --readme";
  for (const Findings& findings : all) {
    const std::string page = read(findings.manifest->folder + "/README.md");
    const auto updated = experiment::with_section(
        page, "results", findings.done > 0 ? markdown(findings, experiment::Tables::kReadme) : "");
    ASSERT_TRUE(updated) << findings.manifest->name << ": " << updated.error().message;
    EXPECT_EQ(page, *updated) << findings.manifest->name << "/README.md: " << how;
  }
  const std::string page = read(folder + "/README.md");
  const auto works = experiment::load_works(folder);
  ASSERT_TRUE(works) << works.error().message;
  const auto updated = experiment::with_section(page, "claims", markdown(overview(all, *works)));
  ASSERT_TRUE(updated) << updated.error().message;
  EXPECT_EQ(page, *updated) << how;
}

}  // namespace
}  // namespace rewright::testing
