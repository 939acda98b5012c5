// Axioms as rewrites of an e-graph, each in both directions.
//
// An axiom's side is matched as it stands: operators, parameters (which bind the axiom's parameter variables), classes
// of operands. A match fixes ranks and parameters; the axiom specialised to them (<rewright/axiom/axiom.h>) is compiled
// once and kept: what sizes must be checked, what is built, with which shapes.
#pragma once

#include <rewright/axiom/axiom.h>

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "egraph/egraph.h"
#include "egraph/heads.h"
#include "egraph/size_arithmetic.h"

namespace rewright::egraph {

inline constexpr std::size_t kMaxVariables = 16;     ///< Of one axiom, tensors and parameters each.
inline constexpr std::size_t kMaxApplications = 16;  ///< On one side of an axiom.

/// A tensor variable of the axiom, or an application of the same side.
struct Ref {
  bool is_variable = false;
  std::uint32_t index = 0;
};

/// What a parameter of a pattern asks of a head.
struct ParamPattern {
  enum class Kind : std::uint8_t {
    kEqual,     ///< This value.
    kVariable,  ///< Binds the variable.
    kElements,  ///< A number or list with variables among its elements: those bind, the rest is checked later.
    kSizes,     ///< A size list; elements that are parameter variables must be numbers.
  } kind = Kind::kEqual;
  ValueId value = 0;           ///< kEqual; kSizes: the list of that length.
  std::uint32_t variable = 0;  ///< kVariable.
  struct Element {
    std::optional<std::uint32_t> variable;
    std::optional<std::int64_t> number;
  };
  std::vector<Element> elements;
};

struct PatternApplication {
  const Operator* op = nullptr;
  std::uint32_t output = 0;
  std::uint32_t term = 0;               ///< Position in Axiom::terms.
  std::uint32_t parent = 0, place = 0;  ///< The application that it is an operand of, and which.
  std::vector<ParamPattern> params;
  std::vector<Ref> operands;
};

/// One side of an axiom as a tree; an application comes after its parent, so the root is the first.
struct Side {
  Ref root;
  std::vector<PatternApplication> applications;
  int depth = 0;
};

/// One direction of an axiom at given ranks and parameters.
struct Use {
  const Axiom* axiom = nullptr;
  bool left_to_right = true;
  const Side* from = nullptr;
  const Side* to = nullptr;
  TypedAxiom typed;
  /// Slots: the sizes of the tensor variables, then the size variables that are no tensor's.
  std::vector<std::uint32_t> first_slot;  ///< By position in Axiom::variables.
  std::vector<SizeVar> size_variables;
  std::uint32_t slots = 0;
  struct SizeMatch {
    std::uint32_t application = 0, place = 0;
    std::optional<std::uint32_t> binds;  ///< A size variable's slot; else the size must equal `value`.
    SizeCode value;
  };
  std::vector<SizeMatch> size_matches;  ///< Those that bind first.
  std::vector<HeadId> from_heads;
  std::vector<ConstraintCode> residual;
  struct Build {
    HeadId head = 0;
    std::vector<SizeCode> sizes;
    std::vector<SizeCode> shape;
  };
  std::vector<Build> builds;  ///< As to->applications.
};

/// A use at nodes of the e-graph. Spans lie in Instances.
struct Instance {
  const Use* use = nullptr;
  std::uint32_t variables = 0;  ///< Nodes of the tensor variables, by position in Axiom::variables.
  std::uint32_t from = 0;       ///< Nodes of the applications that were matched.
  std::uint32_t to = 0;         ///< Nodes of the applications that were built.
  std::uint32_t slots = 0;
  std::uint32_t assumed = 0, assumed_count = 0;  ///< Conditions that were taken for granted.
};

struct Instances {
  std::vector<Instance> list;
  std::vector<NodeId> nodes;
  std::vector<DimId> dims;
  std::vector<Condition> assumed;
  void clear() {
    list.clear();
    nodes.clear();
    dims.clear();
    assumed.clear();
  }
};

/// A match of a side, before sizes are looked at.
struct Match {
  const Use* use = nullptr;
  std::array<NodeId, kMaxVariables> variables{};
  std::array<NodeId, kMaxApplications> applications{};
};

class Rewrites {
 public:
  explicit Rewrites(Heads& heads) : heads_(heads) {}

  /// Adds both directions of the axiom, which must outlive the object. One with too many variables or applications is
  /// left out: false.
  bool add(const Axiom& axiom);

  /// The depth of the deepest pattern that this head may be the root of; 0 if there is none.
  [[nodiscard]] int depth_of(HeadId head);
  /// Directions are numbered in the order of add(): each axiom's from left to right, then from right to left.
  [[nodiscard]] std::uint32_t directions() const { return static_cast<std::uint32_t>(directions_.size()); }
  struct Wanted {
    Vocabulary vocabulary;             ///< No other operator is brought.
    Vocabulary roots = ~Vocabulary();  ///< What is built has one of these at its root, or is a tensor that was matched.
    std::uint32_t first = 0, last = kNoId;  ///< Directions first .. last - 1.
  };
  /// Appends the matches that have `node` as their root.
  void match(const EGraph& graph, const Sizes& sizes, const Wanted& wanted, NodeId node, std::vector<Match>& matches);

  enum class Applied : std::uint8_t { kMerged, kNothingNew, kBlocked };
  /// May a condition that does not follow be taken for granted? Null: never.
  using MayAssume = std::function<bool(const Condition&)>;
  /// Builds the other side of the match and merges. kBlocked: its sizes do not fit, or a condition does not follow.
  Applied apply(const Match& match, EGraph& graph, Sizes& sizes, Instances& instances,
                const MayAssume& may_assume = nullptr);

 private:
  struct Direction {
    std::uint32_t axiom = 0;
    bool left_to_right = true;
    const Side* from = nullptr;
    const Side* to = nullptr;
    Vocabulary brings;  ///< The operators of the side that is built.
  };
  struct Key {
    std::uint32_t direction = 0;
    std::array<std::int8_t, kMaxVariables> ranks{};
    std::array<ValueId, kMaxVariables> values{};
    friend bool operator==(const Key&, const Key&) = default;
  };
  struct Compiled {
    Key key;
    std::unique_ptr<Use> use;  ///< Null where there is no such use.
  };
  /// A direction in short, so that most of those that cannot match are passed over at once: operators at the first
  /// operands and at the root of what is built, where the pattern has one there.
  struct Entry {
    std::uint32_t direction = 0;
    std::array<std::uint16_t, 2> operands{kAnyOperator, kAnyOperator};
    std::uint16_t to_root = kAnyOperator;
  };
  static constexpr std::uint16_t kAnyOperator = 0xffff;
  struct OfHead {
    std::vector<Entry> entries;
    int depth = 0;
  };
  class Matcher;

  [[nodiscard]] std::unique_ptr<Side> compile_side(const Axiom& axiom, std::uint32_t root,
                                                   const std::vector<std::string>& parameters);
  [[nodiscard]] ParamPattern compile_param(const ParamSpec& spec, const AxiomParam& param,
                                           const std::vector<std::string>& parameters);
  void add(Direction direction);
  [[nodiscard]] Entry entry_of(std::uint32_t direction);
  [[nodiscard]] bool may_start(const Direction& direction, const Head& head) const;
  [[nodiscard]] const OfHead& of_head(HeadId head);
  [[nodiscard]] const Use* use_of(const Key& key);
  [[nodiscard]] std::unique_ptr<Use> compile_use(const Key& key);
  bool compile_sizes(Use& use);
  bool compile_builds(Use& use);

  Heads& heads_;
  std::vector<const Axiom*> axioms_;
  std::vector<std::vector<std::string>> parameters_;  ///< By axiom: the parameter variables.
  std::vector<std::unique_ptr<Side>> sides_;
  std::vector<Direction> directions_;
  std::vector<std::optional<OfHead>> of_head_;
  std::vector<Compiled> uses_;
  HashIndex use_index_;
  std::vector<DimId> slots_, dims_, shape_;
  std::vector<NodeId> built_, operands_;
  std::vector<Condition> assumed_;
};

}  // namespace rewright::egraph
