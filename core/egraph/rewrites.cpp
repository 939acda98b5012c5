#include "egraph/rewrites.h"

#include <algorithm>
#include <bit>

namespace rewright::egraph {
namespace {

constexpr ValueId kUnbound = kNoId;

bool is_plain_size(const SymbolicDim& dim) {
  const auto variable = dim.variable();
  return variable && !variable->is_axis();
}

std::optional<std::uint32_t> position_of(const std::vector<std::string>& names, std::string_view name) {
  const auto found = std::ranges::find(names, name);
  if (found == names.end()) return std::nullopt;
  return static_cast<std::uint32_t>(found - names.begin());
}

}  // namespace

// --- patterns --------------------------------------------------------------------------------------------------------

bool Rewrites::add(const Axiom& axiom) {
  std::vector<std::string> parameters = parameter_variables(axiom);
  if (axiom.variables.size() > kMaxVariables || parameters.size() > kMaxVariables) return false;
  auto left = compile_side(axiom, axiom.left, parameters), right = compile_side(axiom, axiom.right, parameters);
  if (left->applications.size() > kMaxApplications || right->applications.size() > kMaxApplications) return false;
  const auto number = static_cast<std::uint32_t>(axioms_.size());
  axioms_.push_back(&axiom);
  parameters_.push_back(std::move(parameters));
  const auto operators_of = [&](const Side& side) {
    Vocabulary operators;
    for (const PatternApplication& application : side.applications) operators.set(heads_.number_of(*application.op));
    return operators;
  };
  if (!left->root.is_variable) add({number, true, left.get(), right.get(), operators_of(*right)});
  if (!right->root.is_variable) add({number, false, right.get(), left.get(), operators_of(*left)});
  sides_.push_back(std::move(left));
  sides_.push_back(std::move(right));
  return true;
}

void Rewrites::add(Direction direction) {
  const auto number = static_cast<std::uint32_t>(directions_.size());
  directions_.push_back(direction);
  for (HeadId id = 0; id < of_head_.size(); ++id) {
    if (!of_head_[id] || !may_start(direction, heads_[id])) continue;
    of_head_[id]->entries.push_back(entry_of(number));
    of_head_[id]->depth = std::max(of_head_[id]->depth, direction.from->depth);
  }
}

std::unique_ptr<Side> Rewrites::compile_side(const Axiom& axiom, std::uint32_t root,
                                             const std::vector<std::string>& parameters) {
  auto side = std::make_unique<Side>();
  const auto visit = [&](const auto& self, std::uint32_t index, std::uint32_t parent, std::uint32_t place,
                         int depth) -> Ref {
    const AxiomTerm& term = axiom.terms[index];
    if (term.variable) return {true, static_cast<std::uint32_t>(*term.variable)};
    const auto id = static_cast<std::uint32_t>(side->applications.size());
    side->depth = std::max(side->depth, depth);
    PatternApplication application{term.op, term.output, index, parent, place, {}, {}};
    for (std::size_t p = 0; p < term.params.size(); ++p)
      application.params.push_back(compile_param(term.op->info().params[p], term.params[p], parameters));
    side->applications.push_back(std::move(application));
    for (std::uint32_t i = 0; i < term.operands.size(); ++i) {
      const Ref operand = self(self, term.operands[i], id, i, depth + 1);
      side->applications[id].operands.push_back(operand);
    }
    return {false, id};
  };
  side->root = visit(visit, root, 0, 0, 1);
  return side;
}

ParamPattern Rewrites::compile_param(const ParamSpec& spec, const AxiomParam& param,
                                     const std::vector<std::string>& parameters) {
  using Kind = ParamPattern::Kind;
  if (const auto* variable = std::get_if<AxiomParamVariable>(&param))
    return {Kind::kVariable, 0, position_of(parameters, variable->name).value_or(0), {}};
  if (const auto* real = std::get_if<double>(&param)) return {Kind::kEqual, heads_.value(*real), 0, {}};
  const auto* one = std::get_if<SymbolicDim>(&param);
  const std::vector<SymbolicDim> list = one ? std::vector{*one} : std::get<std::vector<SymbolicDim>>(param);
  ParamPattern pattern{Kind::kElements, 0, 0, {}};
  bool all_numbers = true;
  std::vector<std::int64_t> numbers;
  for (const SymbolicDim& dim : list) {
    ParamPattern::Element element{std::nullopt, dim.constant()};
    if (is_plain_size(dim)) element.variable = position_of(parameters, dim.variable()->text());
    all_numbers = all_numbers && element.number;
    numbers.push_back(element.number.value_or(0));
    pattern.elements.push_back(element);
  }
  if (spec.kind == ParamKind::kSizes) {
    pattern.kind = Kind::kSizes;
    pattern.value = heads_.value(SizeList<std::int64_t>{std::vector<std::int64_t>(list.size())});
  } else if (all_numbers) {
    pattern.kind = Kind::kEqual;
    pattern.value = one ? heads_.value(numbers.front()) : heads_.value(numbers);
  } else if (one && pattern.elements.front().variable) {
    pattern.kind = Kind::kVariable;
    pattern.variable = *pattern.elements.front().variable;
  }
  return pattern;
}

Rewrites::Entry Rewrites::entry_of(std::uint32_t direction) {
  const Side &from = *directions_[direction].from, &to = *directions_[direction].to;
  Entry entry;
  entry.direction = direction;
  const auto& operands = from.applications.front().operands;
  for (std::size_t i = 0; i < std::min(operands.size(), entry.operands.size()); ++i) {
    if (operands[i].is_variable) continue;
    entry.operands[i] = static_cast<std::uint16_t>(heads_.number_of(*from.applications[operands[i].index].op));
  }
  if (!to.root.is_variable) entry.to_root = static_cast<std::uint16_t>(heads_.number_of(*to.applications.front().op));
  return entry;
}

/// By operator, output and the parameters that are given as values.
bool Rewrites::may_start(const Direction& direction, const Head& head) const {
  const PatternApplication& root = direction.from->applications.front();
  if (root.op != head.op || root.output != head.output || root.params.size() != head.params.size()) return false;
  for (std::size_t p = 0; p < root.params.size(); ++p) {
    const auto kind = root.params[p].kind;
    const bool given = kind == ParamPattern::Kind::kEqual || kind == ParamPattern::Kind::kSizes;
    if (given && root.params[p].value != head.params[p]) return false;
  }
  return true;
}

/// The directions whose root this head may be.
const Rewrites::OfHead& Rewrites::of_head(HeadId id) {
  if (of_head_.size() <= id) of_head_.resize(heads_.size());
  if (of_head_[id]) return *of_head_[id];
  OfHead fitting;
  for (std::uint32_t d = 0; d < directions_.size(); ++d) {
    if (!may_start(directions_[d], heads_[id])) continue;
    fitting.entries.push_back(entry_of(d));
    fitting.depth = std::max(fitting.depth, directions_[d].from->depth);
  }
  return of_head_[id].emplace(std::move(fitting));
}

int Rewrites::depth_of(HeadId head) { return of_head(head).depth; }

// --- matching --------------------------------------------------------------------------------------------------------

class Rewrites::Matcher {
 public:
  Matcher(Rewrites& rewrites, const EGraph& graph, const Sizes& sizes, std::vector<Match>& matches)
      : rewrites_(rewrites), graph_(graph), sizes_(sizes), matches_(matches) {}

  void run(std::uint32_t direction, NodeId root) {
    side_ = rewrites_.directions_[direction].from;
    axiom_ = rewrites_.directions_[direction].axiom;
    key_.direction = direction;
    key_.values.fill(kUnbound);
    match_.variables.fill(kNoId);
    at_node(0, root);
  }

 private:
  void descend(std::uint32_t application) {
    if (application == side_->applications.size()) return finish();
    const PatternApplication& pattern = side_->applications[application];
    const NodeId start = graph_.operands(match_.applications[pattern.parent])[pattern.place];
    NodeId node = start;
    do {
      if (!graph_.superfluous(node) && !graph_.is_input(node)) at_node(application, node);
      node = graph_.next(node);
    } while (node != start);
  }
  void at_node(std::uint32_t application, NodeId node) {
    const PatternApplication& pattern = side_->applications[application];
    const Head& head = rewrites_.heads_[graph_.head(node)];
    if (head.op != pattern.op || head.output != pattern.output) return;
    const auto operands = graph_.operands(node);
    if (operands.size() != pattern.operands.size()) return;
    const auto variables = match_.variables;
    const auto values = key_.values;
    if (fits(pattern, head, node, operands)) {
      match_.applications[application] = node;
      descend(application + 1);
    }
    match_.variables = variables;
    key_.values = values;
  }
  bool fits(const PatternApplication& pattern, const Head& head, NodeId node, std::span<const NodeId> operands) {
    for (std::size_t i = 0; i < operands.size(); ++i) {
      if (!pattern.operands[i].is_variable) continue;
      NodeId& bound = match_.variables[pattern.operands[i].index];
      if (bound == kNoId) {
        bound = operands[i];
      } else if (graph_.find(bound) != graph_.find(operands[i])) {
        return false;
      }
    }
    std::uint32_t size_argument = 0;
    for (std::size_t p = 0; p < pattern.params.size(); ++p) {
      if (!fits(pattern.params[p], head.params[p], node, size_argument)) return false;
    }
    return true;
  }
  bool fits(const ParamPattern& pattern, ValueId value, NodeId node, std::uint32_t& size_argument) {
    using Kind = ParamPattern::Kind;
    switch (pattern.kind) {
      case Kind::kEqual: return pattern.value == value;
      case Kind::kVariable:
        if (const auto* sizes = std::get_if<SizeList<std::int64_t>>(&rewrites_.heads_(value)))
          size_argument += static_cast<std::uint32_t>(sizes->values.size());
        return bind(pattern.variable, value);
      case Kind::kSizes: {
        if (pattern.value != value) return false;
        const auto arguments = graph_.sizes(node).subspan(size_argument, pattern.elements.size());
        size_argument += static_cast<std::uint32_t>(pattern.elements.size());
        for (std::size_t i = 0; i < arguments.size(); ++i) {
          if (!pattern.elements[i].variable) continue;
          const auto number = sizes_.number(arguments[i]);
          if (!number || !bind(*pattern.elements[i].variable, rewrites_.heads_.value(*number))) return false;
        }
        return true;
      }
      case Kind::kElements: break;
    }
    return fits_elements(pattern, ParamValue(rewrites_.heads_(value)));
  }
  bool fits_elements(const ParamPattern& pattern, const ParamValue& value) {
    std::vector<std::int64_t> numbers;
    if (const auto* one = std::get_if<std::int64_t>(&value)) {
      numbers = {*one};
    } else if (const auto* list = std::get_if<std::vector<std::int64_t>>(&value)) {
      numbers = *list;
    }
    if (numbers.size() != pattern.elements.size()) return false;
    for (std::size_t i = 0; i < numbers.size(); ++i) {
      const auto& element = pattern.elements[i];
      if (element.number && *element.number != numbers[i]) return false;
      if (element.variable && !bind(*element.variable, rewrites_.heads_.value(numbers[i]))) return false;
    }
    return true;
  }
  bool bind(std::uint32_t variable, ValueId value) {
    if (key_.values[variable] == kUnbound) key_.values[variable] = value;
    return key_.values[variable] == value;
  }
  void finish() {
    const Axiom& axiom = *rewrites_.axioms_[axiom_];
    for (std::size_t i = 0; i < rewrites_.parameters_[axiom_].size(); ++i) {
      if (key_.values[i] == kUnbound) return;
    }
    for (std::size_t i = 0; i < axiom.variables.size(); ++i) {
      const NodeId node = match_.variables[i];
      if (node == kNoId && axiom.variables[i].sort == AxiomSort::kTensor) return;
      key_.ranks[i] = static_cast<std::int8_t>(node == kNoId ? 0 : graph_.rank(node));
    }
    match_.use = rewrites_.use_of(key_);
    if (!match_.use) return;
    for (std::size_t i = 0; i < side_->applications.size(); ++i) {
      if (match_.use->from_heads[i] != graph_.head(match_.applications[i])) return;
    }
    matches_.push_back(match_);
  }

  Rewrites& rewrites_;
  const EGraph& graph_;
  const Sizes& sizes_;
  std::vector<Match>& matches_;
  const Side* side_ = nullptr;
  std::uint32_t axiom_ = 0;
  Key key_;
  Match match_;
};

void Rewrites::match(const EGraph& graph, const Sizes& sizes, const Wanted& wanted, NodeId node,
                     std::vector<Match>& matches) {
  Matcher matcher(*this, graph, sizes, matches);
  const auto operands = graph.operands(node);
  std::array<Vocabulary, 2> at_operand;
  for (std::size_t i = 0; i < std::min(operands.size(), at_operand.size()); ++i) {
    NodeId member = operands[i];
    do {
      if (!graph.is_input(member)) at_operand[i].set(heads_[graph.head(member)].operator_number);
      member = graph.next(member);
    } while (member != operands[i]);
  }
  const auto fits = [](std::uint16_t number, const Vocabulary& there) {
    return number == kAnyOperator || there.test(number);
  };
  for (const Entry& entry : of_head(graph.head(node)).entries) {
    if (!fits(entry.operands[0], at_operand[0]) || !fits(entry.operands[1], at_operand[1]) ||
        !fits(entry.to_root, wanted.roots) || entry.direction < wanted.first || entry.direction >= wanted.last)
      continue;
    if ((directions_[entry.direction].brings & ~wanted.vocabulary).none()) matcher.run(entry.direction, node);
  }
}

// --- application ---

Rewrites::Applied Rewrites::apply(const Match& match, EGraph& graph, Sizes& sizes, Instances& instances,
                                  const MayAssume& may_assume) {
  const Use& use = *match.use;
  assumed_.clear();
  const auto granted = [&](const Condition& condition) {
    if (sizes.implies(condition)) return true;
    if (!may_assume || !may_assume(condition)) return false;
    assumed_.push_back(condition);
    return true;
  };
  slots_.assign(use.slots, 0);
  for (std::size_t v = 0; v < use.first_slot.size(); ++v) {
    if (match.variables[v] == kNoId) continue;
    std::ranges::copy(graph.shape(match.variables[v]), slots_.begin() + use.first_slot[v]);
  }
  for (const Use::SizeMatch& wanted : use.size_matches) {
    const DimId size = graph.sizes(match.applications[wanted.application])[wanted.place];
    if (wanted.binds) {
      slots_[*wanted.binds] = size;
    } else if (const DimId value = compute(wanted.value, sizes, slots_);
               value != size && !granted({Constraint::Kind::kEqual, value, size})) {
      return Applied::kBlocked;
    }
  }
  for (const ConstraintCode& condition : use.residual) {
    if (!granted(compute(condition, sizes, slots_))) return Applied::kBlocked;
  }
  built_.resize(use.builds.size());
  for (std::size_t i = use.builds.size(); i-- > 0;) {
    operands_.clear();
    for (const Ref operand : use.to->applications[i].operands)
      operands_.push_back(operand.is_variable ? match.variables[operand.index] : built_[operand.index]);
    dims_.clear();
    for (const SizeCode& size : use.builds[i].sizes) dims_.push_back(compute(size, sizes, slots_));
    shape_.clear();
    for (const SizeCode& dim : use.builds[i].shape) shape_.push_back(compute(dim, sizes, slots_));
    built_[i] = graph.add(use.builds[i].head, dims_, operands_, shape_);
  }
  const NodeId from = match.applications[0];
  const NodeId to = use.to->root.is_variable ? match.variables[use.to->root.index] : built_[0];
  if (graph.find(from) == graph.find(to)) return Applied::kNothingNew;
  Instance instance{&use,
                    static_cast<std::uint32_t>(instances.nodes.size()),
                    0,
                    0,
                    static_cast<std::uint32_t>(instances.dims.size()),
                    static_cast<std::uint32_t>(instances.assumed.size()),
                    static_cast<std::uint32_t>(assumed_.size())};
  instances.assumed.insert(instances.assumed.end(), assumed_.begin(), assumed_.end());
  const auto keep = [&](std::span<const NodeId> nodes) {
    const auto place = static_cast<std::uint32_t>(instances.nodes.size());
    instances.nodes.insert(instances.nodes.end(), nodes.begin(), nodes.end());
    return place;
  };
  instance.variables = keep(std::span(match.variables).first(use.first_slot.size()));
  instance.from = keep(std::span(match.applications).first(use.from->applications.size()));
  instance.to = keep(built_);
  instances.dims.insert(instances.dims.end(), slots_.begin(), slots_.end());
  instances.list.push_back(instance);
  graph.merge(from, to, static_cast<Reason>(instances.list.size() - 1));
  return Applied::kMerged;
}

}  // namespace rewright::egraph
