// Axioms at given ranks and parameters, compiled once: what sizes must be checked, what is built.
#include <algorithm>

#include "egraph/rewrites.h"

namespace rewright::egraph {

const Use* Rewrites::use_of(const Key& key) {
  std::uint64_t hash = key.direction;
  for (std::size_t i = 0; i < kMaxVariables; ++i)
    hash = mix(hash, (std::uint64_t{key.values[i]} << 8) | static_cast<std::uint8_t>(key.ranks[i]));
  const auto found = use_index_.find(hash, [&](std::uint32_t id) { return uses_[id].key == key; });
  if (found != HashIndex::kNone) return uses_[found].use.get();
  uses_.push_back({key, compile_use(key)});
  use_index_.insert(hash, static_cast<std::uint32_t>(uses_.size() - 1));
  return uses_.back().use.get();
}

std::unique_ptr<Use> Rewrites::compile_use(const Key& key) {
  const Direction& direction = directions_[key.direction];
  const Axiom& axiom = *axioms_[direction.axiom];
  const AxiomRanks ranks(key.ranks.begin(), key.ranks.begin() + std::ssize(axiom.variables));
  if (std::ranges::find(axiom.ranks, ranks) == axiom.ranks.end()) return nullptr;
  ParamBinding fixed;
  const auto& names = parameters_[direction.axiom];
  for (std::size_t i = 0; i < names.size(); ++i) fixed.emplace(names[i], heads_(key.values[i]));
  auto typed = specialise(axiom, ranks, fixed);
  if (!typed) return nullptr;
  auto use = std::make_unique<Use>();
  use->axiom = &axiom;
  use->left_to_right = direction.left_to_right;
  use->from = direction.from;
  use->to = direction.to;
  use->typed = *std::move(typed);
  if (!compile_sizes(*use) || !compile_builds(*use)) return nullptr;
  return use;
}

/// Slots, what the sizes in the matched side bind and must equal, and what is left to check.
bool Rewrites::compile_sizes(Use& use) {
  const auto& residual = use.left_to_right ? use.typed.left_to_right : use.typed.right_to_left;
  if (!residual) return false;
  for (std::size_t v = 0; v < use.axiom->variables.size(); ++v) {
    use.first_slot.push_back(use.slots);
    use.slots += static_cast<std::uint32_t>(use.typed.ranks[v]);
  }
  const SlotOf slot_of = [&use](SizeVar name) -> std::optional<std::uint32_t> {
    const auto own = std::ranges::find(use.size_variables, name);
    if (own != use.size_variables.end()) return use.slots - static_cast<std::uint32_t>(use.size_variables.end() - own);
    if (!name.is_axis()) return std::nullopt;
    const auto variable = std::ranges::find(use.axiom->variables, name.tensor(), &AxiomVariable::name);
    if (variable == use.axiom->variables.end() || variable->sort != AxiomSort::kTensor) return std::nullopt;
    const auto v = static_cast<std::size_t>(variable - use.axiom->variables.begin());
    if (name.axis() < 0 || name.axis() >= use.typed.ranks[v]) return std::nullopt;
    return use.first_slot[v] + static_cast<std::uint32_t>(name.axis());
  };
  std::vector<std::vector<const SymbolicDim*>> arguments(use.from->applications.size());
  for (std::uint32_t i = 0; i < arguments.size(); ++i) {
    append_size_arguments(use.typed.terms[use.from->applications[i].term].params, arguments[i]);
    for (std::uint32_t k = 0; k < arguments[i].size(); ++k) {
      const auto name = arguments[i][k]->variable();
      if (!name || slot_of(*name)) continue;
      use.size_variables.push_back(*name);
      ++use.slots;
      use.size_matches.push_back({i, k, use.slots - 1, {}});
    }
  }
  // Only now are all slots known; those of the size variables are counted from the end.
  for (std::size_t s = 0; s < use.size_variables.size(); ++s)
    use.size_matches[s].binds = static_cast<std::uint32_t>(use.slots - use.size_variables.size() + s);
  const std::size_t binding = use.size_matches.size();
  for (std::uint32_t i = 0; i < arguments.size(); ++i) {
    for (std::uint32_t k = 0; k < arguments[i].size(); ++k) {
      const auto binds = std::span(use.size_matches).first(binding);
      if (std::ranges::any_of(binds, [&](const auto& m) { return m.application == i && m.place == k; })) continue;
      auto value = SizeCode::compile(*arguments[i][k], slot_of);
      if (!value) return false;
      use.size_matches.push_back({i, k, std::nullopt, *std::move(value)});
    }
  }
  for (const Constraint& constraint : *residual) {
    auto program = ConstraintCode::compile(constraint, slot_of);
    if (!program) return false;
    use.residual.push_back(*std::move(program));
  }
  for (const PatternApplication& application : use.to->applications) {
    const TypedTerm& term = use.typed.terms[application.term];
    Use::Build build;
    std::vector<const SymbolicDim*> sizes;
    append_size_arguments(term.params, sizes);
    for (const SymbolicDim* size : sizes) {
      auto program = SizeCode::compile(*size, slot_of);
      if (!program) return false;
      build.sizes.push_back(*std::move(program));
    }
    for (const SymbolicDim& dim : term.shape) {
      auto program = SizeCode::compile(dim, slot_of);
      if (!program) return false;
      build.shape.push_back(*std::move(program));
    }
    use.builds.push_back(std::move(build));
  }
  return true;
}

bool Rewrites::compile_builds(Use& use) {
  for (const PatternApplication& application : use.from->applications) {
    const TypedTerm& term = use.typed.terms[application.term];
    use.from_heads.push_back(heads_.head(*term.op, term.output, term.params));
  }
  for (std::size_t i = 0; i < use.builds.size(); ++i) {
    const TypedTerm& term = use.typed.terms[use.to->applications[i].term];
    use.builds[i].head = heads_.head(*term.op, term.output, term.params);
  }
  return true;
}

}  // namespace rewright::egraph
