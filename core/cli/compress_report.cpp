#include "cli/compress_report.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cmath>

namespace rewright::cli {
namespace {

using compress::Amounts;
using compress::LayerChange;
using compress::OutputError;
using compress::UntouchedChannels;

std::string count(std::int64_t number) { return with_commas(static_cast<std::uint64_t>(number)); }

std::string share(double part, double whole) { return whole > 0 ? fmt::format("{:.1f} %", 100 * part / whole) : "-"; }

std::string layers_table(const CompressReport& report) {
  Table table({"layer", "operator", report.zeros ? "weight" : "before", report.zeros ? "numbers" : "after",
               report.zeros ? "not zero" : "numbers", "stays"});
  table.align_right(report.zeros ? std::vector<std::size_t>{3, 4, 5} : std::vector<std::size_t>{4, 5});
  for (const LayerChange& layer : report.made->layers) {
    const std::int64_t before = layer.before.elements(), after = layer.after.elements();
    if (report.zeros) {
      table.add({layer.name, layer.op, to_string(layer.before), count(before), count(layer.nonzeros_after),
                 share(static_cast<double>(layer.nonzeros_after), static_cast<double>(before))});
    } else {
      table.add({layer.name, layer.op, to_string(layer.before), to_string(layer.after), count(after),
                 share(static_cast<double>(after), static_cast<double>(before))});
    }
  }
  return table.to_string();
}

std::string totals_table(const Amounts& before, const Amounts& after) {
  Table table({"", "before", "after", "stays"});
  table.align_right({1, 2, 3});
  const auto add = [&](const char* what, double was, double is) {
    table.add({what, count(std::llround(was)), count(std::llround(is)), share(is, was)});
  };
  add("numbers stored", static_cast<double>(before.numbers), static_cast<double>(after.numbers));
  add("not zero", static_cast<double>(before.nonzeros), static_cast<double>(after.nonzeros));
  add("multiply-adds", before.multiply_adds, after.multiply_adds);
  return table.to_string();
}

std::string sentence_of(const UntouchedChannels& channels) {
  const std::size_t others = channels.layers.size() - 1;
  return fmt::format("Channels of {}{} stay: {}.\n", channels.layers.front(),
                     others == 0 ? "" : fmt::format(" and {}", counted(others, "other layer")), channels.reason);
}

std::string sentence_of(const OutputError& error) {
  std::string text = fmt::format("Output {}: off by {:.3g} at most, {:.3g} of its greatest number", error.name,
                                 error.greatest, error.relative);
  if (error.same_greatest)
    text += fmt::format("; the greatest is the same in {} of {} rows", *error.same_greatest, error.rows);
  return text + ".\n";
}

Json to_json(const Amounts& amounts) {
  return {{"numbers", amounts.numbers}, {"nonzeros", amounts.nonzeros}, {"multiply_adds", amounts.multiply_adds}};
}

}  // namespace

std::string to_text(const CompressReport& report) {
  const compress::CompressedGraph& made = *report.made;
  std::string text = layers_table(report) + "\n" + totals_table(made.before, made.after) + "\n";
  for (const UntouchedChannels& channels : made.untouched) text += sentence_of(channels);
  if (report.errors)
    for (const OutputError& error : *report.errors) text += sentence_of(error);
  if (report.accuracy_before && report.accuracy_after)
    text += fmt::format("Accuracy: {} before, {} after.\n", *report.accuracy_before, *report.accuracy_after);
  return text;
}

Json to_json(const CompressReport& report) {
  const compress::CompressedGraph& made = *report.made;
  Json layers = Json::array(), untouched = Json::array(), outputs = Json::array();
  for (const LayerChange& layer : made.layers)
    layers.push_back({{"name", layer.name},
                      {"operator", layer.op},
                      {"before", layer.before.dims()},
                      {"after", layer.after.dims()},
                      {"nonzeros_before", layer.nonzeros_before},
                      {"nonzeros_after", layer.nonzeros_after}});
  for (const UntouchedChannels& channels : made.untouched)
    untouched.push_back({{"layers", channels.layers}, {"reason", channels.reason}});
  if (report.errors) {
    for (const OutputError& error : *report.errors) {
      Json output = {{"name", error.name}, {"max_abs_error", error.greatest}, {"max_rel_error", error.relative}};
      if (error.same_greatest) output["same_greatest"] = *error.same_greatest, output["rows"] = error.rows;
      outputs.push_back(std::move(output));
    }
  }
  Json json = {{"before", to_json(made.before)}, {"after", to_json(made.after)}, {"layers", std::move(layers)}};
  if (!report.zeros) json["untouched"] = std::move(untouched);
  json["outputs"] = std::move(outputs);
  if (report.accuracy_before) json["accuracy_before"] = *report.accuracy_before;
  if (report.accuracy_after) json["accuracy_after"] = *report.accuracy_after;
  return json;
}

}  // namespace rewright::cli
