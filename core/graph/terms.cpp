#include <rewright/terms.h>

#include <algorithm>
#include <numeric>
#include <set>

namespace rewright {
namespace {

constexpr std::size_t kMostRenamings = 5'040;

// Names of inputs, by term id; other entries are unused.
using Names = std::map<TermId, std::string>;

class Writer {
 public:
  Writer(const TermBank& bank, const Names& names) : bank_(bank), names_(names) {}

  const std::string& text(TermId id) {
    if (const auto known = texts_.find(id); known != texts_.end()) return known->second;
    return texts_.emplace(id, write(bank_[id], id)).first->second;
  }

 private:
  std::string write(const TensorTerm& term, TermId id) {
    if (term.is_input()) return names_.at(id);
    std::vector<std::string> operands;
    for (const TermId operand : term.operands) operands.push_back(text(operand));
    if (term.op->info().commutative && operands.size() >= 2 && operands[1] < operands[0]) {
      std::swap(operands[0], operands[1]);
    }
    return fmt::format("{}#{}({})", term.head, term.output, fmt::join(operands, ","));
  }

  const TermBank& bank_;
  const Names& names_;
  std::map<TermId, std::string> texts_;
};

std::string write_pairs(const TermBank& bank, std::span<const TermPair> pairs, const Names& names, bool exchanged) {
  Writer writer(bank, names);
  std::vector<std::string> texts;
  for (const auto& [left, right] : pairs) {
    texts.push_back(fmt::format("{}={}", writer.text(exchanged ? right : left), writer.text(exchanged ? left : right)));
  }
  std::sort(texts.begin(), texts.end());
  return fmt::format("{}", fmt::join(texts, ";"));
}

std::vector<TermId> inputs_of(const TermBank& bank, std::span<const TermPair> pairs) {
  std::vector<TermId> roots;
  for (const auto& [left, right] : pairs) roots.insert(roots.end(), {left, right});
  std::vector<TermId> inputs;
  for (const TermId id : bank.below(roots)) {
    if (bank[id].is_input()) inputs.push_back(id);
  }
  return inputs;
}

// Inputs that look alike from everywhere share a colour. Colours are refined by how the pairs look when one input is
// singled out, until nothing changes.
class Colouring {
 public:
  Colouring(const TermBank& bank, std::span<const TermPair> pairs, bool exchanged, const std::vector<TermId>& inputs,
            const InputLabel& label)
      : bank_(bank), pairs_(pairs), exchanged_(exchanged), inputs_(inputs) {
    for (const TermId input : inputs) names_[input] = label(bank[input]);
    std::size_t colours = 0;
    while (true) {
      const std::size_t refined = refine();
      if (refined == colours || refined == inputs.size()) break;
      colours = refined;
    }
  }

  // Inputs by colour, in an order of colours that does not depend on names.
  [[nodiscard]] std::vector<std::vector<TermId>> groups() const {
    std::map<std::string, std::vector<TermId>> by_name;
    for (const TermId input : inputs_) by_name[names_.at(input)].push_back(input);
    std::vector<std::vector<TermId>> groups;
    for (auto& [name, members] : by_name) groups.push_back(std::move(members));
    return groups;
  }

 private:
  std::size_t refine() {
    std::map<TermId, std::string> signatures;
    for (const TermId input : inputs_) {
      Names singled = names_;
      singled[input] = std::string(1, '*');
      signatures[input] = fmt::format("{}|{}", names_[input], write_pairs(bank_, pairs_, singled, exchanged_));
    }
    std::set<std::string> distinct;
    for (const auto& [input, signature] : signatures) distinct.insert(signature);
    for (const auto& [input, signature] : signatures) {
      const auto place = std::distance(distinct.begin(), distinct.find(signature));
      const std::string& old = names_[input];
      names_[input] = fmt::format("{}.{}", old.substr(0, old.rfind('.')), place);
    }
    return distinct.size();
  }

  const TermBank& bank_;
  std::span<const TermPair> pairs_;
  bool exchanged_;
  const std::vector<TermId>& inputs_;
  Names names_;
};

// Steps to the next combination of permutations of the groups; false after the last.
bool next_renaming(std::vector<std::vector<TermId>>& groups) {
  for (auto& group : groups) {
    if (std::next_permutation(group.begin(), group.end())) return true;
  }
  return false;
}

std::string canonical_one_way(const TermBank& bank, std::span<const TermPair> pairs, const InputLabel& label,
                              bool exchanged) {
  const std::vector<TermId> inputs = inputs_of(bank, pairs);
  // A dot ends the label, so that a colour can be told from it.
  const InputLabel dotted = [&](const TensorTerm& input) { return fmt::format("{}.", label(input)); };
  std::vector<std::vector<TermId>> groups = Colouring(bank, pairs, exchanged, inputs, dotted).groups();
  std::string least;
  for (std::size_t tried = 0; tried < kMostRenamings; ++tried) {
    Names names;
    for (const auto& group : groups) {
      for (const TermId input : group) {
        const std::size_t number = names.size();
        names[input] = fmt::format("{}{}", dotted(bank[input]), number);
      }
    }
    std::string text = write_pairs(bank, pairs, names, exchanged);
    if (tried == 0 || text < least) least = std::move(text);
    if (!next_renaming(groups)) break;
  }
  return least;
}

}  // namespace

TermId TermBank::intern(TensorTerm term) {
  if (term.op != nullptr && term.op->info().commutative && term.operands.size() >= 2 &&
      term.operands[1] < term.operands[0]) {
    std::swap(term.operands[0], term.operands[1]);
  }
  std::string key = fmt::format("{}{}#{}", term.op == nullptr ? "" : "!", term.head, term.output);
  for (const TermId operand : term.operands) key += fmt::format(",{}", operand.value);
  const TermId fresh{static_cast<std::uint32_t>(terms_.size())};
  const auto [place, inserted] = ids_.emplace(std::move(key), fresh);
  if (inserted) terms_.push_back(std::move(term));
  return place->second;
}

TermId TermBank::input(const std::string& name, const Shape& shape, InputKind kind) {
  return intern(TensorTerm{nullptr, name, 0, {}, shape, kind});
}

TermId TermBank::with_operands(const TensorTerm& model, std::vector<TermId> operands) {
  TensorTerm term = model;
  term.operands = std::move(operands);
  return intern(std::move(term));
}

std::vector<TermId> TermBank::outputs(const Graph& graph) {
  std::map<Port, TermId> terms;
  for (std::uint32_t n = 0; n < graph.nodes().size(); ++n) {
    const Node& node = graph.nodes()[n];
    if (node.opaque != nullptr) fail("a term of an opaque node");
    if (node.is_input()) {
      terms[{NodeId{n}, 0}] = input(node.name, node.outputs.front().shape, node.input_kind);
      continue;
    }
    std::vector<TermId> operands;
    for (const Port port : node.inputs) operands.push_back(terms.at(port));
    const std::string head = fmt::format("{}{}", node.op->name(), to_string(node.op->info().params, node.params));
    for (std::uint32_t output = 0; output < node.outputs.size(); ++output) {
      terms[{NodeId{n}, output}] = intern(TensorTerm{node.op, head, output, operands, node.outputs[output].shape, {}});
    }
  }
  std::vector<TermId> outputs;
  for (const Port port : graph.outputs()) outputs.push_back(terms.at(port));
  return outputs;
}

TermId TermBank::replace(TermId in, TermId what, TermId by) {
  std::map<TermId, TermId> done = {{what, by}};
  for (const TermId id : below(std::span(&in, 1))) {
    if (done.contains(id)) continue;
    const TensorTerm term = terms_[id.value];
    std::vector<TermId> operands = term.operands;
    for (TermId& operand : operands) operand = done.at(operand);
    done[id] = operands == term.operands ? id : with_operands(term, std::move(operands));
  }
  return done.at(in);
}

std::vector<TermId> TermBank::below(std::span<const TermId> roots) const {
  std::set<TermId> seen;
  std::vector<TermId> open(roots.begin(), roots.end());
  while (!open.empty()) {
    const TermId id = open.back();
    open.pop_back();
    if (!seen.insert(id).second) continue;
    const auto& operands = terms_[id.value].operands;
    open.insert(open.end(), operands.begin(), operands.end());
  }
  return {seen.begin(), seen.end()};  // An operand is always made before what it is an operand of.
}

std::string canonical_form(const TermBank& bank, std::span<const TermPair> pairs, const InputLabel& label) {
  return std::min(canonical_one_way(bank, pairs, label, false), canonical_one_way(bank, pairs, label, true));
}

}  // namespace rewright
