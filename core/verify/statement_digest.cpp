#include <rewright/verify/certificate.h>

namespace rewright {
namespace {

/// FNV-1a over texts, each closed by a byte that no text has.
class Digest {
 public:
  void add(std::string_view text) {
    for (const char c : text) byte(static_cast<unsigned char>(c));
    byte(0xff);
  }
  void add(std::uint64_t number) { add(std::to_string(number)); }
  [[nodiscard]] std::uint64_t value() const { return hash_; }

 private:
  void byte(unsigned char c) { hash_ = (hash_ ^ c) * 0x100000001b3; }
  std::uint64_t hash_ = 0xcbf29ce484222325;
};

void add(Digest& digest, const AxiomParam& param) {
  digest.add(param.index());
  if (const auto* one = std::get_if<SymbolicDim>(&param)) digest.add(to_string(*one));
  if (const auto* real = std::get_if<double>(&param)) digest.add(fmt::format("{}", *real));
  if (const auto* variable = std::get_if<AxiomParamVariable>(&param)) digest.add(variable->name);
  if (const auto* list = std::get_if<std::vector<SymbolicDim>>(&param)) {
    digest.add(list->size());
    for (const SymbolicDim& dim : *list) digest.add(to_string(dim));
  }
}

}  // namespace

std::string statement_digest(const Axiom& axiom) {
  Digest digest;
  for (const AxiomVariable& variable : axiom.variables) {
    digest.add(variable.name);
    digest.add(static_cast<std::uint64_t>(variable.sort));
  }
  for (const AxiomTerm& term : axiom.terms) {
    digest.add(term.variable ? "variable" : term.op->name());
    digest.add(term.variable.value_or(term.output));
    for (const AxiomParam& param : term.params) add(digest, param);
    for (const std::uint32_t operand : term.operands) digest.add(operand);
  }
  digest.add(axiom.left);
  digest.add(axiom.right);
  for (const Constraint& constraint : axiom.condition) digest.add(to_string(constraint));
  for (const AxiomRanks& ranks : axiom.ranks) digest.add(fmt::format("{}", fmt::join(ranks, ",")));
  return fmt::format("{:08x}", static_cast<std::uint32_t>(digest.value() ^ (digest.value() >> 32)));
}

}  // namespace rewright
