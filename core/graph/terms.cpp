#include <rewright/graph/terms.h>

#include <algorithm>
#include <utility>

#define XXH_INLINE_ALL
#include <xxhash.h>

namespace rewright {
namespace {

constexpr std::size_t kMostRenamings = 5'040;

std::uint64_t hash_of(std::string_view text) { return XXH3_64bits(text.data(), text.size()); }

// Depends on the order of both.
std::uint64_t mixed(std::uint64_t a, std::uint64_t b) {
  const std::uint64_t words[] = {a, b};
  return XXH3_64bits(words, sizeof(words));
}

// The canonical form of some pairs, read in one of the two directions. Everything that decides an order (of colours,
// of the operands of commutative operators, of pairs) is a hash of what is written there, without the names of inputs.
class Form {
 public:
  Form(const TermBank& bank, std::span<const TermPair> pairs, bool exchanged, const std::vector<TermId>& terms,
       const std::vector<std::string>& labels)
      : bank_(bank), pairs_(pairs), exchanged_(exchanged), terms_(terms), labels_(labels), hashes_(bank.size()) {
    std::size_t input = 0;
    for (const TermId id : terms) {
      if (bank[id].is_input()) inputs_.push_back({id, &labels[input++]});
    }
    for (const Input& each : inputs_) hashes_[each.term.value] = hash_of(*each.label);
    refine();
    hash_ = hash_of_pairs();
    std::stable_sort(inputs_.begin(), inputs_.end(),
                     [&](const Input& a, const Input& b) { return hashes_[a.term.value] < hashes_[b.term.value]; });
    for (std::size_t i = 0; i < inputs_.size(); ++i) {
      if (i == 0 || hashes_[inputs_[i].term.value] != hashes_[inputs_[i - 1].term.value]) groups_.push_back(i);
    }
  }

  // Of the form with colours in the place of names.
  [[nodiscard]] std::uint64_t hash() const { return hash_; }

  // The text for the names that give the least hash, of those that differ only among inputs of one colour.
  std::string text() {
    std::vector<Input> best = inputs_;
    if (groups_.size() < inputs_.size()) {
      std::uint64_t least = ~0ULL;
      std::size_t tried = 0;
      do {
        name_inputs();
        if (const std::uint64_t hash = hash_of_pairs(); tried == 0 || hash < least) {
          least = hash;
          best = inputs_;
        }
      } while (++tried < kMostRenamings && next_renaming());
    }
    inputs_ = std::move(best);
    name_inputs();
    hash_of_pairs();
    return write();
  }

 private:
  struct Input {
    TermId term;
    const std::string* label = nullptr;
    friend bool operator<(const Input& a, const Input& b) { return a.term < b.term; }
  };

  [[nodiscard]] std::uint64_t of(TermId id) const { return hashes_[id.value]; }
  [[nodiscard]] TermPair directed(const TermPair& pair) const {
    return exchanged_ ? TermPair(pair.second, pair.first) : pair;
  }

  // From the hashes of inputs those of all terms, and of the pairs together.
  std::uint64_t hash_of_pairs() {
    for (const TermId id : terms_) {
      const TensorTerm& term = bank_[id];
      if (term.is_input()) continue;
      std::uint64_t hash = mixed(bank_.hash_of_head(term), term.output);
      std::size_t i = 0;
      if (term.op->info().commutative && term.operands.size() >= 2) {
        const std::uint64_t a = of(term.operands[0]), b = of(term.operands[1]);
        hash = mixed(mixed(hash, std::min(a, b)), std::max(a, b));
        i = 2;
      }
      for (; i < term.operands.size(); ++i) hash = mixed(hash, of(term.operands[i]));
      hashes_[id.value] = hash;
    }
    std::uint64_t sum = 0;
    for (const TermPair& pair : pairs_) {
      const auto [left, right] = directed(pair);
      sum += mixed(of(left), of(right));
    }
    return sum;
  }

  // Inputs that look alike from everywhere get the same hash, their colour: colours are refined by how the pairs look
  // when one input is singled out, until nothing changes.
  void refine() {
    constexpr std::uint64_t kSingledOut = 0x9e3779b97f4a7c15;
    std::vector<std::uint64_t> fresh(inputs_.size()), distinct;
    std::size_t colours = 0;
    while (inputs_.size() > 1) {
      for (std::size_t i = 0; i < inputs_.size(); ++i) {
        std::uint64_t& colour = hashes_[inputs_[i].term.value];
        const std::uint64_t old = std::exchange(colour, kSingledOut);
        fresh[i] = mixed(old, hash_of_pairs());
        colour = old;
      }
      for (std::size_t i = 0; i < inputs_.size(); ++i) hashes_[inputs_[i].term.value] = fresh[i];
      distinct = fresh;
      std::sort(distinct.begin(), distinct.end());
      const auto count = static_cast<std::size_t>(std::unique(distinct.begin(), distinct.end()) - distinct.begin());
      if (count == colours || count == inputs_.size()) break;
      colours = count;
    }
  }

  // Steps to the next combination of permutations of inputs of one colour; false after the last.
  bool next_renaming() {
    for (std::size_t group = 0; group < groups_.size(); ++group) {
      const std::size_t end = group + 1 < groups_.size() ? groups_[group + 1] : inputs_.size();
      if (std::next_permutation(inputs_.begin() + static_cast<std::ptrdiff_t>(groups_[group]),
                                inputs_.begin() + static_cast<std::ptrdiff_t>(end))) {
        return true;
      }
    }
    return false;
  }

  void name_inputs() {
    for (std::size_t i = 0; i < inputs_.size(); ++i)
      hashes_[inputs_[i].term.value] = mixed(hash_of(*inputs_[i].label), i);
  }

  // By the hashes that are there. A term that occurs again is written as the number of its first place.
  std::string write() {
    std::vector<TermPair> order;
    for (const TermPair& pair : pairs_) order.push_back(directed(pair));
    std::sort(order.begin(), order.end(), [&](const TermPair& a, const TermPair& b) {
      return std::pair(of(a.first), of(a.second)) < std::pair(of(b.first), of(b.second));
    });
    places_.assign(hashes_.size(), 0);
    place_ = 0;
    for (std::size_t i = 0; i < inputs_.size(); ++i) places_[inputs_[i].term.value] = ++place_;
    std::string text;
    for (const Input& input : inputs_) text.append(*input.label).append(1, '|');
    for (const auto& [left, right] : order) {
      write(left, text);
      text += '=';
      write(right, text);
      text += ';';
    }
    return text;
  }
  void write(TermId id, std::string& text) {
    if (const std::uint32_t place = places_[id.value]; place != 0) {
      fmt::format_to(std::back_inserter(text), "@{}", place);
      return;
    }
    const TensorTerm& term = bank_[id];
    text += bank_.text_of_head(term);
    if (term.output != 0) fmt::format_to(std::back_inserter(text), "#{}", term.output);
    text += '(';
    const bool swapped =
        term.op->info().commutative && term.operands.size() >= 2 && of(term.operands[1]) < of(term.operands[0]);
    for (std::size_t i = 0; i < term.operands.size(); ++i) {
      if (i > 0) text += ',';
      write(term.operands[swapped && i < 2 ? 1 - i : i], text);
    }
    text += ')';
    places_[id.value] = ++place_;
  }

  const TermBank& bank_;
  std::span<const TermPair> pairs_;
  bool exchanged_;
  const std::vector<TermId>& terms_;  // Operands first.
  const std::vector<std::string>& labels_;
  std::vector<std::uint64_t> hashes_;  // By term id: of an input its colour, or of its name.
  std::vector<Input> inputs_;          // By colour.
  std::vector<std::size_t> groups_;    // Where each colour begins.
  std::uint64_t hash_ = 0;
  std::vector<std::uint32_t> places_;
  std::uint32_t place_ = 0;
};

}  // namespace

std::uint32_t TermBank::head(const std::string& text) {
  const auto [place, fresh] = head_of_text_.try_emplace(text, static_cast<std::uint32_t>(heads_.size()));
  if (fresh) heads_.push_back({text, hash_of(text)});
  return place->second;
}

std::uint32_t TermBank::head(const Operator& op, const Params& params) {
  const auto [begin, end] = heads_of_operator_.equal_range(&op);
  for (auto known = begin; known != end; ++known) {
    if (known->second.first == params) return known->second.second;
  }
  const std::uint32_t made = head(op.name() + to_string(op.info().params, params));
  heads_of_operator_.emplace(&op, std::pair(params, made));
  return made;
}

TermId TermBank::intern(TensorTerm term) {
  if (term.op != nullptr && term.op->info().commutative && term.operands.size() >= 2 &&
      term.operands[1] < term.operands[0]) {
    std::swap(term.operands[0], term.operands[1]);
  }
  std::uint64_t hash = mixed(term.head, term.output + (term.is_input() ? 0U : 1U));
  for (const TermId operand : term.operands) hash = mixed(hash, operand.value);
  const auto [begin, end] = ids_.equal_range(hash);
  for (auto known = begin; known != end; ++known) {
    const TensorTerm& other = terms_[known->second.value];
    if (other.is_input() == term.is_input() && other.head == term.head && other.output == term.output &&
        other.operands == term.operands) {
      return known->second;
    }
  }
  const TermId fresh{static_cast<std::uint32_t>(terms_.size())};
  ids_.emplace(hash, fresh);
  terms_.push_back(std::move(term));
  return fresh;
}

TermId TermBank::input(const std::string& name, const Shape& shape, InputKind kind) {
  return intern(TensorTerm{nullptr, head(name), 0, {}, shape, kind});
}

TermId TermBank::with_operands(const TensorTerm& model, std::vector<TermId> operands) {
  TensorTerm term = model;
  term.operands = std::move(operands);
  return intern(std::move(term));
}

std::vector<TermId> TermBank::outputs(const Graph& graph) {
  std::vector<TermId> terms;  // Of all tensors.
  std::vector<std::size_t> first_of(graph.nodes().size());
  const auto term_of = [&](Port port) { return terms[first_of[port.node.value] + port.output]; };
  for (std::size_t n = 0; n < graph.nodes().size(); ++n) {
    const Node& node = graph.nodes()[n];
    if (node.opaque() != nullptr) fail("a term of an opaque node");
    first_of[n] = terms.size();
    if (const InputNode* given = node.input()) {
      terms.push_back(input(node.name, node.outputs.front().shape, given->kind));
      continue;
    }
    std::vector<TermId> operands;
    for (const Port port : node.inputs) operands.push_back(term_of(port));
    const auto& [op, params] = *node.application();
    const std::uint32_t applied = head(*op, params);
    for (std::uint32_t output = 0; output < node.outputs.size(); ++output)
      terms.push_back(intern(TensorTerm{op, applied, output, operands, node.outputs[output].shape, {}}));
  }
  std::vector<TermId> outputs;
  for (const Port port : graph.outputs()) outputs.push_back(term_of(port));
  return outputs;
}

TermId TermBank::replace(TermId in, TermId what, TermId by) {
  std::vector<TermId> done(in.value + 1);
  for (const TermId id : below(std::span(&in, 1))) {
    if (id == what) {
      done[id.value] = by;
      continue;
    }
    const TensorTerm& term = terms_[id.value];
    std::vector<TermId> operands = term.operands;
    for (TermId& operand : operands) operand = done[operand.value];
    done[id.value] = operands == term.operands ? id : with_operands(term, std::move(operands));
  }
  return done[in.value];
}

void TermBank::clear() {
  terms_.clear();
  ids_.clear();
}

std::vector<TermId> TermBank::below(std::span<const TermId> roots) const {
  std::vector<bool> seen(terms_.size());
  std::vector<TermId> open(roots.begin(), roots.end());
  while (!open.empty()) {
    const TermId id = open.back();
    open.pop_back();
    if (seen[id.value]) continue;
    seen[id.value] = true;
    const auto& operands = terms_[id.value].operands;
    open.insert(open.end(), operands.begin(), operands.end());
  }
  std::vector<TermId> all;  // An operand is always made before what it is an operand of.
  for (std::uint32_t id = 0; id < seen.size(); ++id) {
    if (seen[id]) all.push_back({id});
  }
  return all;
}

std::string canonical_form(const TermBank& bank, std::span<const TermPair> pairs, const InputLabel& label) {
  std::vector<TermId> roots;
  for (const auto& [left, right] : pairs) roots.insert(roots.end(), {left, right});
  const std::vector<TermId> terms = bank.below(roots);
  std::vector<std::string> labels;
  for (const TermId id : terms) {
    if (bank[id].is_input()) labels.push_back(label(bank[id]));
  }
  Form forth(bank, pairs, false, terms, labels), back(bank, pairs, true, terms, labels);
  if (forth.hash() != back.hash()) return (forth.hash() < back.hash() ? forth : back).text();
  return std::min(forth.text(), back.text());
}

}  // namespace rewright
