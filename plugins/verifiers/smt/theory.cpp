#include "theory.h"

#include <rewright/operator/map_sizes.h>

#include <fmt/ranges.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <algorithm>
#include <utility>

#include "side_matcher.h"
#include "smt.h"

namespace smt_verifier {
namespace {

using namespace rewright;

/// No symbols are sought beyond this many.
constexpr std::size_t kMostSymbols = 160;

/// Of sizes their number.
template <class Dim>
std::string text_of(const BasicParamValue<Dim>& value) {
  if (const auto* number = std::get_if<std::int64_t>(&value)) return std::to_string(*number);
  if (const auto* real = std::get_if<double>(&value)) return fmt::format("{}", *real);
  if (const auto* list = std::get_if<std::vector<std::int64_t>>(&value))
    return fmt::format("[{}]", fmt::join(*list, ","));
  return std::string("_").append(std::to_string(std::get<SizeList<Dim>>(value).values.size()));
}

/// Sizes forgotten, all else kept.
Params fixed_part(const SymbolicParams& params) {
  return map_sizes(params, [](const SymbolicDim&) { return std::int64_t{0}; });
}

/// "conv2d[2,1,[0,1],_2]:4,4.0": operator, parameters, ranks of operands, output.
std::string key_of(const Operator& op, std::uint32_t output, const SymbolicParams& params, std::span<const int> ranks) {
  std::string key = op.name() + "[";
  const char* separator = "";
  for (const auto& value : params.values()) key.append(std::exchange(separator, ",")).append(text_of(value));
  key += "]:";
  separator = "";
  for (const int rank : ranks) key.append(std::exchange(separator, ",")).append(std::to_string(rank));
  return key.append(".").append(std::to_string(output));
}

}  // namespace

// Put together without a format: a goal has dozens.
std::string variable_name(std::string_view name) { return std::string("?").append(name); }
std::string sort_name(int rank) { return std::string("T").append(std::to_string(rank)); }
std::string defined(int rank, const std::string& term) {
  return std::string("(def-").append(std::to_string(rank)).append(" ").append(term).append(")");
}
std::string size_of(int rank, std::string_view axis, const std::string& term) {
  return std::string("(dim-")
      .append(std::to_string(rank))
      .append("-")
      .append(axis)
      .append(" ")
      .append(term)
      .append(")");
}

std::vector<SymbolicDim> size_arguments(const SymbolicParams& params) {
  std::vector<SymbolicDim> sizes;
  for (const auto& value : params.values()) {
    if (const auto* list = std::get_if<SizeList<SymbolicDim>>(&value))
      sizes.insert(sizes.end(), list->values.begin(), list->values.end());
  }
  return sizes;
}

namespace {

std::string head_of(Sizes sizes) {
  std::string text = size_declarations(sizes);
  for (int rank = 0; rank <= kMaxRank; ++rank) {
    text += fmt::format("(declare-sort T{0} 0)(declare-fun def-{0} (T{0}) Bool)\n", rank);
    for (int axis = 0; axis < rank; ++axis)
      text += fmt::format("(declare-fun dim-{0}-{1} (T{0}) {2})\n", rank, axis, size_sort(sizes));
  }
  return text;
}

}  // namespace

Theory::Theory(AxiomSet axioms, const Manner& manner)
    : axioms_(std::move(axioms)), manner_(manner), head_(head_of(manner.sizes)) {}
Theory::~Theory() = default;

// --- symbols
// -------------------------------------------------------------------------------------------------------------

const Symbol* Theory::symbol(const Operator& op, std::uint32_t output, const SymbolicParams& params,
                             std::span<const int> ranks) {
  const std::scoped_lock lock(mutex_);
  return make_symbol(op, output, params, ranks);
}

/// The operator and 32 bits of the key; longer where another symbol has them already.
std::string Theory::unique_name(const Operator& op, const std::string& key) {
  std::string name = fmt::format("{}.{:08x}", op.name(), XXH3_64bits(key.data(), key.size()) >> 32);
  while (!names_.insert(name).second) name += '+';
  return name;
}

namespace {

/// The symbol's parameters with a variable "z0", "z1", ... for each size.
SymbolicParams with_size_variables(const Params& params) {
  std::size_t next_size = 0;
  return map_sizes(params,
                   [&](std::int64_t) { return SymbolicDim::variable(SizeVar::read(fmt::format("z{}", next_size++))); });
}

std::string text_of(const Symbol& symbol, std::string_view key, Sizes manner) {
  std::vector<std::string> sorts, variables, arguments;
  const auto add = [&](const std::string& name, const std::string& sort) {
    sorts.push_back(sort);
    variables.push_back(fmt::format("({} {})", variable_name(name), sort));
    arguments.push_back(variable_name(name));
  };
  std::size_t sizes = 0;
  for (const ParamValue& value : symbol.params.values()) {
    const auto* list = std::get_if<SizeList<std::int64_t>>(&value);
    for (std::size_t i = 0; list && i < list->values.size(); ++i)
      add(fmt::format("z{}", sizes++), std::string(size_sort(manner)));
  }
  for (std::size_t i = 0; i < symbol.ranks.size(); ++i) add(fmt::format("o{}", i), sort_name(symbol.ranks[i]));
  const int rank = symbol.shape.rank();
  std::string text =
      fmt::format("; {}\n(declare-fun {} ({}) {})\n", key, symbol.name, fmt::join(sorts, " "), sort_name(rank));
  const std::string term = smt_apply(symbol.name, arguments);
  const NameOf name_of = [&](SizeVar size) -> std::string {
    if (!size.is_axis()) return variable_name(size.text());
    const auto operand = static_cast<std::size_t>(std::stoul(size.tensor().substr(1)));
    return size_of(symbol.ranks[operand], size.axis_text(), variable_name(size.tensor()));
  };
  for (int axis = 0; axis < rank; ++axis) {
    const std::string size = size_of(rank, std::to_string(axis), term);
    const std::string rule =
        fmt::format("(=> {} (= {} {}))", defined(rank, term), size, smt_size(symbol.shape[axis], name_of, manner));
    if (variables.empty())
      text += fmt::format("(assert {})\n", rule);
    else
      text += fmt::format("(assert (forall ({}) (! {} :pattern ({}))))\n", fmt::join(variables, ""), rule, size);
  }
  return text;
}

}  // namespace

const Symbol* Theory::make_symbol(const Operator& op, std::uint32_t output, const SymbolicParams& params,
                                  std::span<const int> ranks) {
  const std::string key = key_of(op, output, params, ranks);
  const auto [place, fresh] = symbols_.emplace(key, nullptr);
  if (!fresh) return place->second.get();
  Symbol symbol{&op, output, fixed_part(params), {ranks.begin(), ranks.end()}, {}, {}, {}};
  std::vector<SymbolicShape> in;
  for (std::size_t i = 0; i < ranks.size(); ++i) {
    SymbolicShape shape;
    for (int axis = 0; axis < ranks[i]; ++axis)
      shape.append(SymbolicDim::variable(SizeVar::axis(fmt::format("o{}", i), axis)));
    in.push_back(std::move(shape));
  }
  Constraints<SymbolicDim> where;
  const auto out = op.infer(with_size_variables(symbol.params), in, where);
  if (!out || where.violation() || output >= out->size()) return nullptr;
  symbol.shape = (*out)[output];
  symbol.name = unique_name(op, key);
  symbol.text = text_of(symbol, key, manner_.sizes);
  place->second = std::make_unique<Symbol>(std::move(symbol));
  return place->second.get();
}

// --- uses of axioms

/// A match of one side's parameters and ranks.
struct Theory::Found {
  std::size_t axiom;
  bool left_to_right;
  AxiomRanks ranks;
  ParamBinding fixed;
};

namespace {

/// Takes away what leads nowhere: a use of a symbol that is not the goal's and that no other axiom's use speaks of.
/// Round after round, since what led there leads nowhere then.
std::vector<const Use*> without_dead_ends(std::vector<const Use*> uses, const SymbolSet& goal) {
  while (true) {
    std::map<const Symbol*, std::set<const TypedAxiom*>> speakers;
    for (const Use* use : uses) {
      for (const Symbol* symbol : use->symbols) speakers[symbol].insert(use->instance);
    }
    const std::size_t before = uses.size();
    std::erase_if(uses, [&](const Use* use) {
      return std::ranges::any_of(
          use->symbols, [&](const Symbol* symbol) { return !goal.contains(symbol) && speakers[symbol].size() == 1; });
    });
    if (uses.size() == before) return uses;
  }
}

}  // namespace

const std::vector<const Use*>& Theory::uses_from(const SymbolSet& from) {
  const std::scoped_lock lock(mutex_);
  const auto [place, fresh] =
      uses_from_.emplace(std::vector<const Symbol*>(from.begin(), from.end()), std::vector<const Use*>());
  std::vector<const Use*>& uses = place->second;
  if (!fresh) return uses;
  SymbolSet symbols = from;
  std::set<const Use*> known;
  for (int round = 0; round < manner_.rounds && symbols.size() < kMostSymbols; ++round) {
    std::vector<Found> all;
    const std::vector<const Symbol*> list(symbols.begin(), symbols.end());
    for (std::size_t i = 0; i < axioms_.axioms().size(); ++i) {
      const Axiom& axiom = axioms_.axioms()[i];
      for (const bool left_to_right : {true, false}) {
        match_side(axiom, left_to_right ? axiom.left : axiom.right, list,
                   [&](const AxiomRanks& ranks, const ParamBinding& fixed) {
                     all.push_back({i, left_to_right, ranks, fixed});
                   });
      }
    }
    const std::size_t before = symbols.size();
    for (const Found& found : all) {
      const Use* made = use(found);
      if (made->text.empty() || !known.insert(made).second) continue;
      uses.push_back(made);
      symbols.insert(made->brought.begin(), made->brought.end());
    }
    if (symbols.size() == before) break;
  }
  if (!manner_.dead_ends) uses = without_dead_ends(std::move(uses), from);
  return uses;
}

const TypedAxiom* Theory::typed(const Found& found, const std::string& key) {
  const auto [place, fresh] = typed_.emplace(key, nullptr);
  if (fresh) {
    if (auto result = specialise(axioms_.axioms()[found.axiom], found.ranks, found.fixed))
      place->second = std::make_unique<TypedAxiom>(*std::move(result));
  }
  return place->second.get();
}

/// Without text where the use is impossible, or says what the axiom says in the other direction.
const Use* Theory::use(const Found& found) {
  std::string key = fmt::format("{}:{}", found.axiom, fmt::join(found.ranks, ","));
  for (const auto& [name, value] : found.fixed) key += fmt::format(":{}={}", name, text_of(value));
  const auto [place, fresh] = uses_.emplace(key + (found.left_to_right ? ">" : "<"), Use());
  if (fresh) {
    if (const TypedAxiom* typing = typed(found, key)) {
      place->second = render(*typing, found.left_to_right);
      const auto mirrored = uses_.find(key + (found.left_to_right ? "<" : ">"));
      if (mirrored != uses_.end() && mirrored->second.rule == place->second.rule) place->second.text.clear();
    }
  }
  return &place->second;
}

}  // namespace smt_verifier
