#include "campaign/remembered_classes.h"

#include <cstddef>
#include <string>

#include "rule/rule_class.h"
#include "verify/judged_memory.h"

namespace rewright {

std::vector<char> remembered_range_changing(std::span<const Rule> rules, const Registry& registry) {
  JudgedMemory memory(registry);
  std::vector<std::string> digests(rules.size());
  std::vector<char> changing(rules.size(), 0);
  std::vector<std::size_t> unknown;
  std::vector<Rule> asked;
  for (std::size_t i = 0; i < rules.size(); ++i) {
    digests[i] = JudgedMemory::digest_of({"not range-changing", to_text(rules[i])});
    if (memory.knows(digests[i])) continue;
    unknown.push_back(i);
    asked.push_back(rules[i]);
  }
  const std::vector<char> found = are_range_changing(asked);
  for (std::size_t i = 0; i < unknown.size(); ++i) {
    changing[unknown[i]] = found[i];
    if (found[i] == 0) memory.add(digests[unknown[i]]);
  }
  return changing;
}

}  // namespace rewright
