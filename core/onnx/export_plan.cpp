// Which nodes a model is written of, and in which order: what outputs need, as near to the original's order as may be.
#include <algorithm>
#include <queue>

#include "onnx/exporter.h"

namespace rewright {

using namespace model;

/// Who makes the tensor; none where nobody has to: an input, a weight, a value that is computed here.
Result<std::optional<Exporter::Unit>> Exporter::maker(Port port) {
  const auto original = kept_ ? kept_->maker_of(port) : std::nullopt;
  const bool is_known = folder_.is_known(port.node);
  if (is_known && !(original && kept_->is_as_it_was(port.node))) {
    REWRIGHT_TRY(const bool is_folded, folder_.fold(port.node));
    if (is_folded) return std::optional<Unit>();
  }
  if (original) return std::optional(Unit{true, static_cast<std::uint32_t>(original->first)});
  if (graph_.node(port.node).is_input()) return std::optional<Unit>();
  return std::optional(Unit{false, port.node.value});
}

Result<std::vector<Exporter::Unit>> Exporter::needed_by(const Unit& unit) {
  std::vector<Unit> needed;
  const auto need = [&](Port port) -> Status {
    REWRIGHT_TRY(const auto found, maker(port));
    if (found) needed.push_back(*found);
    return {};
  };
  if (!unit.is_original) {
    for (const Port& port : graph_.nodes()[unit.index].inputs) REWRIGHT_CHECK(need(port));
    return needed;
  }
  for (const InputSource& source : kept_->sources(unit.index)) {
    if (source.kind == InputSource::Kind::kMade) needed.push_back({true, static_cast<std::uint32_t>(source.maker)});
    if (source.kind == InputSource::Kind::kTensor) REWRIGHT_CHECK(need(source.port));
  }
  return needed;
}

/// True where the original's own tensor of that name is the output.
bool Exporter::is_as_declared(std::size_t i) const {
  if (!kept_ || i >= origin_.graph.outputs().size()) return false;
  return kept_->now_of(origin_.graph.outputs()[i]) == graph_.outputs()[i] &&
         kept_->source_of(proto_.graph().output(static_cast<int>(i)).name()).kind == InputSource::Kind::kMade;
}

Result<std::optional<Exporter::Unit>> Exporter::maker_of_output(std::size_t i) {
  if (!is_as_declared(i)) return maker(graph_.outputs()[i]);
  const InputSource source = kept_->source_of(proto_.graph().output(static_cast<int>(i)).name());
  return std::optional(Unit{true, static_cast<std::uint32_t>(source.maker)});
}

/// With as many guesses of what stands where as lead to no circle.
Result<std::vector<Exporter::Unit>> Exporter::plan_kept_units() {
  if (options_.keep_original && !origin_.origin.nodes.empty()) {
    for (const Guesses guesses : {Guesses::kAll, Guesses::kWeights, Guesses::kNeighbours, Guesses::kNone}) {
      kept_.emplace(graph_, origin_, guesses);
      auto units = plan_units();
      if (units || units.error().code != ErrorCode::kMismatch) return units;
    }
  }
  kept_.reset();
  return plan_units();
}

/// Depth first from the outputs; then in the order of the original, what is new as soon as its operands are there.
/// Errors: kMismatch where original nodes and new ones wait for each other.
Result<std::vector<Exporter::Unit>> Exporter::plan_units() {
  struct Entry {
    std::vector<Unit> needed;
    Place place;
    bool is_done = false;
  };
  std::map<Unit, Entry> entries;
  std::vector<std::pair<Unit, std::size_t>> path;  // And how many of what it needs were looked at.
  for (std::size_t i = 0; i < graph_.outputs().size(); ++i) {
    REWRIGHT_TRY(const auto first, maker_of_output(i));
    if (!first || entries.contains(*first)) continue;
    REWRIGHT_TRY(entries[*first].needed, needed_by(*first));
    path.assign(1, {*first, 0});
    while (!path.empty()) {
      auto& [unit, next] = path.back();
      Entry& entry = entries[unit];
      if (next < entry.needed.size()) {
        const Unit other = entry.needed[next++];
        const auto [found, is_new] = entries.try_emplace(other);
        if (!is_new && !found->second.is_done)
          return make_error(ErrorCode::kMismatch, "nodes of the original wait for what is made of them");
        if (!is_new) continue;
        REWRIGHT_TRY(found->second.needed, needed_by(other));
        path.emplace_back(other, 0);
        continue;
      }
      entry.is_done = true;
      for (const Unit& needed : entry.needed) entry.place = std::max(entry.place, entries[needed].place);
      entry.place = unit.is_original ? Place{unit.index, 0} : Place{entry.place.first, unit.index + 1};
      path.pop_back();
    }
  }

  std::map<Unit, std::vector<Unit>> users;
  std::map<Unit, std::size_t> waiting;
  using Ready = std::pair<Place, Unit>;
  std::priority_queue<Ready, std::vector<Ready>, std::greater<>> ready;
  for (const auto& [unit, entry] : entries) {
    waiting[unit] = entry.needed.size();
    for (const Unit& needed : entry.needed) users[needed].push_back(unit);
    if (entry.needed.empty()) ready.emplace(entry.place, unit);
  }
  std::vector<Unit> order;
  while (!ready.empty()) {
    const Unit unit = ready.top().second;
    ready.pop();
    order.push_back(unit);
    for (const Unit& user : users[unit])
      if (--waiting[user] == 0) ready.emplace(entries[user].place, user);
  }
  return order;
}

}  // namespace rewright
