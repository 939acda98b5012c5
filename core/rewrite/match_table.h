// Where rules match in the nodes of a pool: worked out once a node, for all graphs that it is in.
#pragma once

#include <rewright/base/visibility.h>

#include <cstdint>
#include <span>
#include <vector>

#include "rewrite/node_pool.h"
#include "rewrite/rule_set.h"

namespace rewright {

/// A match, written down: see MatchTable::read.
struct MatchRecord {
  std::uint32_t program = 0;
  std::uint32_t first_word = 0;
};

class REWRIGHT_API MatchTable {
 public:
  /// Borrows both.
  MatchTable(const NodePool& pool, const RuleSet& rules) : pool_(&pool), rules_(&rules) {}

  /// Appends every match in the graph that consists of `nodes` (ascending), in an order that depends on them alone:
  /// by node, then those of several parts by rule. Matches that would make the graph cyclic are among them.
  void find(std::span<const std::uint32_t> nodes, std::vector<MatchRecord>& matches);
  void read(const MatchRecord& record, Binding& binding) const;

 private:
  struct Part {
    std::uint32_t part = 0;
    MatchRecord record;
  };
  struct OfNode {
    std::uint32_t first_match = kNoId;  ///< kNoId: not looked for yet.
    std::uint32_t match_count = 0;
    std::uint32_t first_part = 0;
    std::uint32_t part_count = 0;
  };
  /// What a place of the tree stands for, on the way down.
  void match_node(std::uint32_t node);
  void walk(std::uint32_t place, std::uint32_t depth);
  void take(const RuleSet::Leaf& leaf);
  void clear_binding(const RuleProgram& program);
  [[nodiscard]] std::uint32_t write(const RuleProgram& program);
  [[nodiscard]] std::span<const std::uint32_t> demands(std::uint32_t node);

  struct Join;

  const NodePool* pool_;
  const RuleSet* rules_;
  std::vector<std::vector<std::uint32_t>> demands_;  ///< By signature, from 1 on; see demands().
  std::vector<bool> demands_known_;
  std::vector<OfNode> of_node_;
  std::vector<MatchRecord> matches_;
  std::vector<Part> parts_;
  std::vector<std::uint32_t> words_;
  // Room to work in.
  std::vector<Port> ports_;
  Binding binding_;
  std::vector<std::int64_t> slots_;
};

}  // namespace rewright
