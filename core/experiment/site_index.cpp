// The report's front page: all claims, by what they are taken from.
#include <algorithm>
#include <array>
#include <map>

#include "experiment/site_pages.h"
#include "report/gallery/html.h"

namespace rewright::experiment {
namespace {

using gallery::escaped;
using gallery::file_name;

struct SourcedClaim {
  const Findings* findings = nullptr;
  const ClaimFinding* finding = nullptr;
};

struct Group {
  Work work;
  std::vector<SourcedClaim> claims;

  [[nodiscard]] std::vector<const ClaimFinding*> findings() const {
    std::vector<const ClaimFinding*> found;
    for (const SourcedClaim& claim : claims) found.push_back(claim.finding);
    return found;
  }
};

/// Papers in the order of `works`, then those that it does not name, then the project's own.
std::vector<Group> by_work(std::span<const SiteEntry> entries, std::span<const Work> works) {
  std::vector<Group> groups;
  for (const Work& work : works) groups.push_back(Group{work, {}});
  Group own{Work{kOwnWork, "Of this project", "what the papers leave open, and parts of the program switched off"}, {}};
  for (const SiteEntry& entry : entries) {
    for (const ClaimFinding& finding : entry.findings->claims) {
      const std::string& name = finding.claim->work;
      auto group = std::ranges::find(groups, name, [](const Group& known) { return known.work.name; });
      if (name != kOwnWork && group == groups.end()) group = groups.insert(groups.end(), Group{Work{name, "", ""}, {}});
      (name == kOwnWork ? own : *group).claims.push_back({entry.findings, &finding});
    }
  }
  groups.push_back(std::move(own));
  std::erase_if(groups, [](const Group& group) { return group.claims.empty(); });
  return groups;
}

std::string tiles(std::span<const ClaimFinding* const> claims) {
  std::string html = "<ul class=\"tiles\">\n";
  for (const Answer answer : {Answer::kReproduced, Answer::kNotReproduced, Answer::kNotComparable, Answer::kNotRun}) {
    const auto count =
        std::ranges::count_if(claims, [&](const ClaimFinding* claim) { return claim->answer == answer; });
    if (count > 0 || answer != Answer::kNotRun)
      html += fmt::format("<li><a href=\"#verdict={}\"><b>{}</b><span>{}</span></a></li>\n", key_of(answer), count,
                          name_of(answer));
  }
  return html + "</ul>\n";
}

std::string choice(const std::string& name, const std::string& label, const std::string& all,
                   const std::vector<std::pair<std::string, std::string>>& values) {
  std::string html = fmt::format("<label>{} <select name=\"{}\"><option value=\"\">{}</option>", label, name, all);
  for (const auto& [value, text] : values)
    html += fmt::format("<option value=\"{}\">{}</option>", escaped(value), escaped(text));
  return html + "</select></label>\n";
}

std::string filters(std::span<const SiteEntry> entries, const std::vector<Group>& groups) {
  std::vector<std::pair<std::string, std::string>> verdicts, works, experiments;
  for (const Answer answer : {Answer::kReproduced, Answer::kNotReproduced, Answer::kNotComparable, Answer::kNotRun})
    verdicts.emplace_back(key_of(answer), name_of(answer));
  for (const Group& group : groups)
    works.emplace_back(group.work.name, fmt::format("{} ({})", group.work.name, group.claims.size()));
  for (const SiteEntry& entry : entries)
    experiments.emplace_back(entry.findings->manifest->name, entry.findings->manifest->name);
  return "<form id=\"filters\" role=\"search\">\n<input type=\"search\" name=\"text\" aria-label=\"Words of a claim\" "
         "placeholder=\"Words of a claim, a paper, a reason\">\n<div class=\"choices\">\n" +
         choice("verdict", "Verdict", "any", verdicts) + choice("work", "Source", "any", works) +
         choice("experiment", "Experiment", "any", experiments) +
         "</div>\n<p role=\"status\"><span id=\"count\"></span> <a id=\"all\" href=\"#\" hidden>Show "
         "all</a></p>\n</form>\n";
}

std::string claim_row(const SourcedClaim& claim) {
  const Claim& of = *claim.finding->claim;
  const std::string& name = claim.findings->manifest->name;
  const std::string why = reason(*claim.finding);
  const std::string because = why.empty() ? "" : fmt::format("<small>{}</small>", escaped(why));
  return fmt::format(
      "<tr data-verdict=\"{}\" data-work=\"{}\" data-experiment=\"{}\"><td><a href=\"{}#{}\">{}</a><small>{}; "
      "{}</small></td><td>{}</td><td>{}{}</td></tr>\n",
      key_of(claim.finding->answer), escaped(of.work), escaped(name), page_of(*claim.findings), file_name(of.id),
      escaped(of.claim), escaped(name), escaped(of.source), compared(*claim.finding), badge(claim.finding->answer),
      because);
}

std::string group_section(const Group& group) {
  const std::string title = group.work.title.empty() ? ""
                                                     : fmt::format("<p class=\"lede\">{}. {}.</p>\n",
                                                                   escaped(group.work.title), escaped(group.work.by));
  std::string rows;
  for (const SourcedClaim& claim : group.claims) rows += claim_row(claim);
  return fmt::format(
      "<section class=\"work\"><h3>{}</h3>\n{}<p class=\"quiet\">{}</p>\n<table class=\"claims\"><thead><tr><th "
      "scope=\"col\">claim</th><th scope=\"col\">figures</th><th scope=\"col\">verdict</th></tr></thead>\n<tbody>\n"
      "{}</tbody></table></section>\n",
      escaped(group.work.name), title, counts_text(group.findings()), rows);
}

std::string experiment_cards(std::span<const SiteEntry> entries) {
  std::string cards;
  for (const SiteEntry& entry : entries) {
    std::vector<const ClaimFinding*> claims;
    for (const ClaimFinding& claim : entry.findings->claims) claims.push_back(&claim);
    cards += fmt::format("<li><a href=\"{}\">{}</a><p>{}</p><p>{}</p></li>\n", page_of(*entry.findings),
                         escaped(entry.findings->manifest->title), escaped(entry.findings->manifest->question),
                         counts_text(claims));
  }
  return "<h2 id=\"experiments\">Experiments</h2>\n<ul class=\"experiments\">\n" + cards + "</ul>\n";
}

}  // namespace

std::string index_page(std::span<const SiteEntry> entries, std::span<const Work> works) {
  const std::vector<Group> groups = by_work(entries, works);
  std::vector<const ClaimFinding*> all;
  for (const SiteEntry& entry : entries)
    for (const ClaimFinding& claim : entry.findings->claims) all.push_back(&claim);
  std::string body =
      "<h1>Claims, and whether they hold here</h1>\n<p class=\"lede\">What papers on superoptimizers of tensor "
      "programs claim, what this program measures, and the verdict. A claim that does not hold stays on this page, "
      "with "
      "what is known of the reason. Figures of a GPU are modelled, and say so.</p>\n" +
      tiles(all) +
      "<h2 id=\"claims\">Claims</h2>\n<p class=\"quiet\">Bars: the paper's figure beside ours; the line is the limit "
      "that "
      "the criterion asks for.</p>\n" +
      filters(entries, groups);
  for (const Group& group : groups) body += group_section(group);
  body += experiment_cards(entries);
  return site_frame("Rewright: experiments", "", body + "<script>\n" + std::string(site_script()) + "</script>\n");
}

}  // namespace rewright::experiment
