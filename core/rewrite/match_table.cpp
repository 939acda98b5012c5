#include "rewrite/match_table.h"

#include <algorithm>
#include <map>
#include <utility>

namespace rewright {

// --- one node --------------------------------------------------------------------------------------------------

std::span<const std::uint32_t> MatchTable::demands(std::uint32_t node) {
  const SignatureId signature = pool_->node(node).signature;
  if (demands_.size() <= signature) demands_.resize(pool_->signature_count()), demands_known_.resize(demands_.size());
  if (!demands_known_[signature]) {
    demands_known_[signature] = true;
    const NodePool::Label& label = pool_->label(node);
    if (label.op != nullptr)
      demands_[signature] = rules_->met_by(*label.op, label.params, pool_->operands(node).size());
  }
  return demands_[signature];
}

void MatchTable::match_node(std::uint32_t node) {
  OfNode& of = of_node_[node];
  of.first_match = static_cast<std::uint32_t>(matches_.size());
  of.first_part = static_cast<std::uint32_t>(parts_.size());
  ports_.assign(1, Port{{node}, 0});
  if (!demands(node).empty()) walk(0, 0);
  of.match_count = static_cast<std::uint32_t>(matches_.size()) - of.first_match;
  of.part_count = static_cast<std::uint32_t>(parts_.size()) - of.first_part;
}

void MatchTable::walk(std::uint32_t at, std::uint32_t depth) {
  const RuleSet::Place& place = rules_->place(at);
  for (const RuleSet::Leaf& leaf : place.leaves) take(leaf);
  if (depth == ports_.size()) return;
  const Port port = ports_[depth];
  if (!place.tensors.empty()) {
    const auto rank = static_cast<std::uint32_t>(pool_->shape(port).rank());
    for (const RuleSet::Branch& branch : place.tensors)
      if (branch.key == rank) walk(branch.next, depth + 1);
  }
  for (const RuleSet::Branch& branch : place.repeated)
    if (ports_[branch.key] == port) walk(branch.next, depth + 1);
  for (const RuleSet::Branch& branch : place.siblings)
    if (ports_[branch.key].node == port.node && port.output == branch.output) walk(branch.next, depth + 1);
  if (place.operators.empty()) return;
  const std::size_t size = ports_.size();
  for (const std::uint32_t demand : demands(port.node.value)) {
    const auto at_least = [&](const RuleSet::Branch& branch) {
      return std::pair(branch.key, branch.output) < std::pair(demand, port.output);
    };
    const auto branch = std::ranges::partition_point(place.operators, at_least);
    if (branch == place.operators.end() || branch->key != demand || branch->output != port.output) continue;
    const auto operands = pool_->operands(port.node.value);
    ports_.insert(ports_.end(), operands.begin(), operands.end());
    walk(branch->next, depth + 1);
    ports_.resize(size);
  }
}

void MatchTable::clear_binding(const RuleProgram& program) {
  binding_.inputs.assign(program.input_ranks.size(), Port{{kNoId}, 0});
  binding_.nodes.assign(program.source.size(), kNoId);
  binding_.free_sizes.assign(program.free_count, 0);
}

void MatchTable::take(const RuleSet::Leaf& leaf) {
  for (const std::uint32_t place : leaf.swapped) {
    const auto operands = pool_->operands(ports_[place].node.value);
    if (operands[0] == operands[1]) return;  // Exchanging them is the match that was found before.
  }
  const RuleProgram& program = rules_->programs()[leaf.program];
  clear_binding(program);
  for (const auto& [input, place] : leaf.inputs) binding_.inputs[input] = ports_[place];
  for (const auto& [node, place] : leaf.nodes) binding_.nodes[node] = ports_[place].node.value;
  if (program.parts.size() > 1) {
    parts_.push_back({leaf.part, {leaf.program, write(program)}});
  } else if (program.admits(*pool_, binding_, slots_)) {
    matches_.push_back({leaf.program, write(program)});
  }
}

// --- writing down ----------------------------------------------------------------------------------------------

std::uint32_t MatchTable::write(const RuleProgram&) {
  const auto first = static_cast<std::uint32_t>(words_.size());
  for (const Port port : binding_.inputs) words_.push_back(port.node.value), words_.push_back(port.output);
  words_.insert(words_.end(), binding_.nodes.begin(), binding_.nodes.end());
  for (const std::int64_t size : binding_.free_sizes) {
    words_.push_back(static_cast<std::uint32_t>(size));
    words_.push_back(static_cast<std::uint32_t>(static_cast<std::uint64_t>(size) >> 32));
  }
  return first;
}

void MatchTable::read(const MatchRecord& record, Binding& binding) const {
  const RuleProgram& program = rules_->programs()[record.program];
  const std::uint32_t* word = words_.data() + record.first_word;
  binding.inputs.resize(program.input_ranks.size());
  for (Port& port : binding.inputs) port.node.value = *word++, port.output = *word++;
  binding.nodes.assign(word, word + program.source.size());
  word += program.source.size();
  binding.free_sizes.resize(program.free_count);
  for (std::int64_t& size : binding.free_sizes) {
    const std::uint64_t low = *word++, high = *word++;
    size = static_cast<std::int64_t>(high << 32 | low);
  }
}

// --- several parts ---------------------------------------------------------------------------------------------

/// Joins the parts of one rule, one after the other.
struct MatchTable::Join {
  MatchTable& table;
  std::uint32_t program_id;
  const RuleProgram& program;
  const std::vector<std::vector<MatchRecord>>& parts;  ///< By part.
  std::vector<MatchRecord>& matches;
  std::vector<std::multimap<Port, std::uint32_t>> by_input = {};  ///< By part: records, by its joining input.
  Binding part = {};

  void run() {
    for (std::size_t i = 0; i < program.parts.size(); ++i) {
      by_input.emplace_back();
      if (program.parts[i].joined_by == kNoId) continue;
      for (std::uint32_t r = 0; r < parts[i].size(); ++r) {
        table.read(parts[i][r], part);
        by_input[i].emplace(part.inputs[program.parts[i].joined_by], r);
      }
    }
    table.clear_binding(program);
    extend(0);
  }

  void extend(std::size_t i) {
    if (i == program.parts.size()) {
      Binding kept = table.binding_;
      if (program.admits(*table.pool_, table.binding_, table.slots_))
        matches.push_back({program_id, table.write(program)});
      table.binding_ = std::move(kept);
      return;
    }
    if (program.parts[i].joined_by == kNoId) {
      for (const MatchRecord& record : parts[i]) try_part(i, record);
      return;
    }
    const auto [first, last] = by_input[i].equal_range(table.binding_.inputs[program.parts[i].joined_by]);
    for (auto at = first; at != last; ++at) try_part(i, parts[i][at->second]);
  }

  void try_part(std::size_t i, const MatchRecord& record) {
    table.read(record, part);
    const Binding& bound = table.binding_;
    for (std::size_t k = 0; k < part.inputs.size(); ++k)
      if (part.inputs[k].node.value != kNoId && bound.inputs[k].node.value != kNoId &&
          part.inputs[k] != bound.inputs[k])
        return;
    for (std::size_t k = 0; k < part.nodes.size(); ++k)
      if (part.nodes[k] != kNoId && bound.nodes[k] != kNoId && part.nodes[k] != bound.nodes[k]) return;
    const Binding kept = table.binding_;
    for (std::size_t k = 0; k < part.inputs.size(); ++k)
      if (part.inputs[k].node.value != kNoId) table.binding_.inputs[k] = part.inputs[k];
    for (std::size_t k = 0; k < part.nodes.size(); ++k)
      if (part.nodes[k] != kNoId) table.binding_.nodes[k] = part.nodes[k];
    extend(i + 1);
    table.binding_ = kept;
  }
};

void MatchTable::find(std::span<const std::uint32_t> nodes, std::vector<MatchRecord>& matches) {
  if (of_node_.size() < pool_->size()) of_node_.resize(pool_->size());
  std::map<std::uint32_t, std::vector<std::vector<MatchRecord>>> open;  // By rule: parts.
  for (const std::uint32_t node : nodes) {
    if (of_node_[node].first_match == kNoId) match_node(node);
    const OfNode& of = of_node_[node];
    matches.insert(matches.end(), matches_.begin() + of.first_match,
                   matches_.begin() + of.first_match + of.match_count);
    for (std::uint32_t i = of.first_part; i < of.first_part + of.part_count; ++i) {
      const Part& part = parts_[i];
      auto& parts = open[part.record.program];
      parts.resize(rules_->programs()[part.record.program].parts.size());
      parts[part.part].push_back(part.record);
    }
  }
  for (const auto& [program, parts] : open)
    if (std::ranges::none_of(parts, [](const auto& list) { return list.empty(); }))
      Join{*this, program, rules_->programs()[program], parts, matches}.run();
}

}  // namespace rewright
