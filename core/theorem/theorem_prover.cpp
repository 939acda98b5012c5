#include "theorem/theorem_prover.h"

#include <oneapi/tbb/parallel_for.h>
#include <oneapi/tbb/task_arena.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <map>
#include <memory>
#include <mutex>
#include <regex>
#include <stdexcept>

#include "axiom/domain.h"
#include "theorem/certifier.h"
#include "theorem/definedness.h"
#include "theorem/expansion.h"
#include "theorem/finish.h"
#include "theorem/matching.h"

namespace rewright::theorem {

namespace {

constexpr int kMostSplits = 14;

/// Bound variables as k0, k1, .. in the order in which they occur; "a - b" for "a + -1*b".
std::string as_read(std::string text) {
  static const std::regex kBound(R"(\bk(\d+)\b)"), kMinusOne(R"(\+ -1\*)"), kMinus(R"(\+ -)");
  text = std::regex_replace(std::regex_replace(text, kMinusOne, "- "), kMinus, "- ");
  std::map<std::string, std::size_t> names;
  std::string read;
  std::smatch found;
  while (std::regex_search(text, found, kBound)) {
    const auto name = names.emplace(found[1].str(), names.size()).first->second;
    read += fmt::format("{}k{}", found.prefix().str(), name);
    text = found.suffix();
  }
  return read + text;
}

/// "matmul(x, ewadd(y, z))".
std::string term_text(const TypedAxiom& axiom, std::uint32_t term) {
  const TypedTerm& node = axiom.terms[term];
  if (node.variable)
    return axiom.axiom != nullptr ? axiom.axiom->variables[*node.variable].name : fmt::format("t{}", *node.variable);
  std::vector<std::string> operands;
  for (const std::uint32_t operand : node.operands) operands.push_back(term_text(axiom, operand));
  const std::string part = node.output > 0 ? fmt::format(".{}", node.output) : "";
  return fmt::format("{}{}{}({})", node.op->name(), part, to_string(node.op->info().params, node.params),
                     fmt::join(operands, ", "));
}

/// Each once, as text.
std::vector<std::string> conditions_of(const TypedAxiom& axiom) {
  std::vector<std::string> texts;
  for (const auto* conditions : {&axiom.left_defined, &axiom.right_defined, &axiom.condition}) {
    for (const Constraint& condition : *conditions) {
      std::string text = to_string(condition);
      if (condition.decided() != true && std::ranges::find(texts, text) == texts.end())
        texts.push_back(std::move(text));
    }
  }
  return texts;
}

/// One combination's proof at work.
class InstanceProver {
 public:
  InstanceProver(const TypedAxiom& axiom, const SizeCases& size_cases, const ProofOptions& options)
      : axiom_(axiom),
        size_cases_(size_cases),
        options_(options),
        context_(symbols_, options.pivots),
        sums_(context_) {}

  InstanceProof run() {
    try {
      proof_.verdict = attempt();
    } catch (const Unsupported& unsupported) {
      proof_.reason = unsupported.reason;
    } catch (const Overflow&) {
      proof_.reason = "a number passes 63 bits";
    } catch (const std::length_error&) {
      proof_.reason = "a product of more than 15 sizes and indices";
    }
    proof_.queries = context_.queries();
    proof_.laws = sums_.laws();
    return std::move(proof_);
  }

 private:
  using Verdict = InstanceProof::Verdict;

  Verdict attempt() {
    sums_.name_tensors(tensor_names());
    sizes_ = solve_sizes(axiom_, size_cases_, context_);
    if (context_.is_contradictory()) return Verdict::kVacuous;
    const SymbolicShape &left = axiom_.terms[axiom_.left].shape, &right = axiom_.terms[axiom_.right].shape;
    for (int axis = 0; axis < left.rank(); ++axis) {
      const Polynomial size = value_of(left[axis], sizes_, context_);
      if (!context_.equal(size, value_of(right[axis], sizes_, context_))) {
        proof_.reason = fmt::format("sizes along axis {} that are not known to be equal: {} and {}", axis,
                                    symbols_.text(size), symbols_.text(value_of(right[axis], sizes_, context_)));
        return Verdict::kOpen;
      }
      const Symbol index = symbols_.add(SymbolKind::kIndex, fmt::format("i{}", axis), 0);
      proof_.index.push_back(fmt::format("i{}", axis));
      index_.push_back(Polynomial::symbol(index));
      context_.add(at_least_zero(size - index_.back() - 1));
    }
    context_.keep_for_good();
    for (const TypedTerm& term : axiom_.terms) {
      if (!term.variable) continue;
      if (*term.variable >= shapes_.size()) shapes_.resize(*term.variable + 1);
      for (const SymbolicDim& dim : term.shape) shapes_[*term.variable].push_back(value_of(dim, sizes_, context_));
    }
    if (context_.is_contradictory()) return Verdict::kVacuous;
    return prove_case(0) ? Verdict::kProved : Verdict::kOpen;
  }

  bool prove_case(int depth) {
    if (++proof_.cases > options_.cases || depth > kMostSplits) throw Unsupported{"too many cases"};
    try {
      Expansion expansion(axiom_.terms, sizes_, sums_);
      Matching matching(sums_, shapes_);
      const Sum left = expansion.element(axiom_.left, index_), right = expansion.element(axiom_.right, index_);
      const std::size_t told = tell(left, right);
      const Sum difference = sums_.subtract(left, sums_.renamed(right));
      if (depth == 0) proof_.one_form = difference.is_zero();
      if (difference.is_zero())
        return because(told,
                       "Both sides are the same sum, but for the names of bound variables and the order of factors.");
      const Sum rest = matching.cancelled(difference);
      if (rest.is_zero())
        return because(
            told,
            "The terms of the difference cancel in pairs: each is another one with its bound variables put in "
            "terms of that one's.");
      if (const auto written_out = sums_.written_out(rest); written_out && matching.cancelled(*written_out).is_zero())
        return because(
            told,
            "What is left once terms cancel in pairs are sums of a known number of terms; written out, they cancel.");
      Finish finish(sums_, matching);
      if (finish.is_zero(rest))
        return because(
            told,
            "Terms of the difference cancel in pairs. What is left are functions, quotients and maxima of equal "
            "values, or maxima of which each branch is looked at where it is the greatest; all of that is 0.");
      proof_.reason = sums_.text(rest);
      return false;
    } catch (const Split& split) {
      return prove_cases(split.guard, depth);
    }
  }
  /// The number of the case that is told; past the end: none is.
  std::size_t tell(const Sum& left, const Sum& right) {
    if (proof_.told.size() >= options_.told) return options_.told;
    ProofCase one{where_, as_read(sums_.text(left)), as_read(sums_.text(right))};
    one.left_steps = unfolded(axiom_.left);
    one.right_steps = unfolded(axiom_.right);
    proof_.told.push_back(std::move(one));
    return proof_.told.size() - 1;
  }
  bool because(std::size_t told, std::string_view sentence) {
    if (told < proof_.told.size()) proof_.told[told].because = sentence;
    return true;
  }

  /// Applications below a term, it first and operands after what takes them.
  [[nodiscard]] std::vector<std::uint32_t> applications_of(std::uint32_t root) const {
    std::vector<bool> is_below(axiom_.terms.size());
    is_below[root] = true;
    std::vector<std::uint32_t> found;
    for (std::uint32_t t = root + 1; t-- > 0;) {
      if (!is_below[t] || axiom_.terms[t].variable) continue;
      found.push_back(t);
      for (const std::uint32_t operand : axiom_.terms[t].operands) is_below[operand] = true;
    }
    return found;
  }

  /// A side as it is, then with one more operator's definition put in each time. What is not replaced yet stands as a
  /// tensor of its own. Ends early where a definition needs cases of its own.
  [[nodiscard]] std::vector<ProofStep> unfolded(std::uint32_t root) {
    const std::vector<std::uint32_t> applications = applications_of(root);
    std::vector<TypedTerm> terms = axiom_.terms;
    std::vector<std::string> names;
    for (std::size_t t = 0; t < terms.size(); ++t) names.push_back(term_text(axiom_, static_cast<std::uint32_t>(t)));
    const std::size_t first = tensor_names().size();
    for (const std::uint32_t t : applications) terms[t].variable = first + t;
    std::vector<std::string> all = tensor_names();
    all.insert(all.end(), names.begin(), names.end());
    sums_.name_tensors(std::move(all));
    std::vector<ProofStep> steps;
    try {
      steps.push_back({"", as_read(sums_.text(Expansion(terms, sizes_, sums_).element(root, index_)))});
      for (const std::uint32_t t : applications) {
        terms[t].variable.reset();
        steps.push_back(
            {terms[t].op->name(), as_read(sums_.text(Expansion(terms, sizes_, sums_).element(root, index_)))});
      }
    } catch (const Split&) {
    } catch (const Unsupported&) {
    }
    sums_.name_tensors(tensor_names());
    return steps;
  }

  [[nodiscard]] std::vector<std::string> tensor_names() const {
    std::vector<std::string> names;
    if (axiom_.axiom != nullptr) {
      for (const AxiomVariable& variable : axiom_.axiom->variables) names.push_back(variable.name);
      return names;
    }
    for (const TypedTerm& term : axiom_.terms)
      if (term.variable) names.resize(std::max(names.size(), *term.variable + 1));
    for (std::size_t i = 0; i < names.size(); ++i) names[i] = fmt::format("t{}", i);
    return names;
  }
  bool prove_cases(const Fact& guard, int depth) {
    const std::vector<Fact> cases = cases_of(guard);
    return std::ranges::all_of(cases, [&](const Fact& fact) {
      const Context::Scope scope(context_, std::span(&fact, 1));
      const std::vector<Polynomial> before = index_;
      if (fact.is_equality) put_in_index(fact.value);
      where_.push_back(as_read(symbols_.text(fact)));
      const bool holds = context_.is_contradictory() || prove_case(depth + 1);
      where_.pop_back();
      index_ = before;
      if (!holds && depth == 0) proof_.reason += ", where " + symbols_.text(fact);
      return holds;
    });
  }
  /// An index that the equation determines is put in for, so that i0 and i1 are one where they are equal.
  void put_in_index(const Polynomial& zero) {
    for (const Symbol symbol : zero.symbols()) {
      if (symbols_.kind(symbol) != SymbolKind::kIndex) continue;
      const auto part = linear_in(symbols_, zero, symbol);
      if (!part) continue;
      for (Polynomial& index : index_)
        index = context_.substitute(index, {{symbol, part->sign == 1 ? -part->rest : part->rest}});
      return;
    }
  }

  const TypedAxiom& axiom_;
  const SizeCases& size_cases_;
  const ProofOptions& options_;
  SymbolTable symbols_;
  Context context_;
  Sums sums_;
  SizeValues sizes_;
  std::vector<Polynomial> index_;
  std::vector<std::string> where_;               ///< The cases around.
  std::vector<std::vector<Polynomial>> shapes_;  ///< By variable.
  InstanceProof proof_;
};

/// ", a = 0, d = [1, 1]".
std::string text_of(const ParamBinding& binding) {
  std::string text;
  for (const auto& [name, value] : binding) {
    const auto written = std::visit(
        []<class Value>(const Value& one) -> std::string {
          if constexpr (std::is_same_v<Value, std::vector<std::int64_t>>) {
            return fmt::format("[{}]", fmt::join(one, ", "));
          } else if constexpr (std::is_same_v<Value, SizeList<std::int64_t>>) {
            return fmt::format("{} sizes", one.values.size());
          } else {
            return fmt::format("{}", one);
          }
        },
        value);
    text += fmt::format(", {} = {}", name, written);
  }
  return text;
}

std::string text_of(const AxiomRanks& ranks, const ParamBinding& binding) {
  return fmt::format("ranks {}{}", fmt::join(ranks, " "), text_of(binding));
}

/// "x of rank 4, w of rank 4, a = 0".
std::string setting_of(const Axiom& axiom, const AxiomRanks& ranks, const ParamBinding& binding) {
  std::vector<std::string> tensors;
  for (std::size_t i = 0; i < axiom.variables.size(); ++i)
    if (axiom.variables[i].sort == AxiomSort::kTensor)
      tensors.push_back(fmt::format("{} of rank {}", axiom.variables[i].name, ranks[i]));
  const std::string text = fmt::format("{}{}", fmt::join(tensors, ", "), text_of(binding));
  return text.starts_with(", ") ? text.substr(2) : text;
}

/// Has a parameter more values than can be tried: a stride, and not an axis?
bool is_sampled(const ParamDomain& domain) {
  return std::ranges::any_of(domain.variables, [](const ParamVariable& variable) {
    const std::string& name = variable.spec->name;
    switch (variable.spec->kind) {
      case ParamKind::kInt: return name != "axis";
      case ParamKind::kInts:
        return name != "axes" && name != "perm" && name != "stretch_left" && name != "stretch_right";
      case ParamKind::kReal: return true;
      default: return false;
    }
  });
}

/// Can each side by itself be defined? Then it is their shapes that differ.
bool is_each_defined(const Axiom& axiom, const AxiomRanks& ranks, const ParamBinding& binding) {
  Axiom left = axiom, right = axiom;
  left.right = left.left;
  right.left = right.right;
  return specialise(left, ranks, binding).has_value() && specialise(right, ranks, binding).has_value();
}

Result<AxiomProof> prove_axiom(const Axiom& axiom, const AxiomProofOptions& options) {
  const auto start = std::chrono::steady_clock::now();
  AxiomProof result;
  result.name = axiom.name;
  REWRIGHT_TRY(const ParamDomain domain, domain_of(axiom, AuditDomain::kSmall));
  std::vector<ParamBinding> bindings = bindings_of(domain);
  Random random(options.seed);
  const std::size_t drawn = domain.params.empty() ? 0 : options.drawn;
  for (std::size_t d = 0; d < drawn; ++d) bindings.push_back(wide_binding(domain, random));
  std::string vacuous_at;
  const bool sampled = is_sampled(domain);
  const std::vector<AxiomRanks> all_ranks =
      axiom.ranks.empty() ? std::vector<AxiomRanks>{AxiomRanks(axiom.variables.size())} : axiom.ranks;
  for (const AxiomRanks& ranks : all_ranks) {
    for (const ParamBinding& binding : bindings) {
      if (options.stop && options.stop()) break;
      if (options.stop_at_open && result.open > 0) break;
      const auto typed = specialise(axiom, ranks, binding);
      if (!typed) {
        if (sampled && is_each_defined(axiom, ranks, binding) && ++result.vacuous == 1)
          vacuous_at = text_of(ranks, binding);
        continue;
      }
      const InstanceProof proof = prove(*typed, options.instance);
      ++result.instances;
      if (proof.verdict == InstanceProof::Verdict::kVacuous && ++result.vacuous == 1)
        vacuous_at = text_of(ranks, binding);
      result.shown += proof.verdict == InstanceProof::Verdict::kProved;
      result.laws.order |= proof.laws.order;
      result.laws.functions |= proof.laws.functions;
      if (options.certify && proof.verdict == InstanceProof::Verdict::kProved) {
        const auto certificate = certificate_of(*typed, options.instance);
        const Status taken = certificate ? certified::check_theorem(*typed, *certificate) : Status(certificate.error());
        result.certified += taken.has_value();
        if (!taken && result.uncertified.empty())
          result.uncertified = fmt::format("{}: {}", text_of(ranks, binding), taken.error().message);
      }
      if (proof.verdict != InstanceProof::Verdict::kOpen) continue;
      if (++result.open == 1) result.reason = fmt::format("{}: {}", text_of(ranks, binding), proof.reason);
    }
  }
  if (result.instances == 0) result.reason = "at no ranks and parameters that are tried can both sides be defined";
  if (result.open == 0 && result.instances > 0 && result.shown == 0)
    result.reason = "no sizes meet its conditions at the ranks and parameters that are tried";
  // f(x, same) = f(x, valid) of windows has sides of one shape at few strides: it would be proved where it says
  // nothing.
  if (result.open == 0 && result.vacuous > 0 && sampled) {
    result.open = result.vacuous;
    result.reason =
        fmt::format("{}: no sizes meet its conditions, so that others may be where it is false", vacuous_at);
  }
  const bool stopped = options.stop && options.stop();
  if (stopped) result.reason = "stopped";
  result.proved = result.open == 0 && result.shown > 0 && !stopped;
  result.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return result;
}

}  // namespace

namespace {

constexpr std::size_t kMostSizeCases = 6;

/// In this case of sizes that may be 0, and in those that it falls into.
InstanceProof prove_in(const TypedAxiom& axiom, const SizeCases& cases, const ProofOptions& options) {
  std::string unclear;
  try {
    return InstanceProver(axiom, cases, options).run();
  } catch (const UnclearSize& size) {
    unclear = size.name;
  }
  if (cases.size() >= kMostSizeCases || cases.contains(unclear)) {
    InstanceProof open;
    open.reason = fmt::format("the size {} may be 0 and is divided by", unclear);
    return open;
  }
  InstanceProof whole;
  whole.verdict = InstanceProof::Verdict::kVacuous;
  for (const bool is_zero : {false, true}) {
    SizeCases next = cases;
    next.emplace(unclear, is_zero);
    InstanceProof part = prove_in(axiom, next, options);
    part.cases += whole.cases;
    part.queries += whole.queries;
    part.laws.order |= whole.laws.order;
    part.laws.functions |= whole.laws.functions;
    if (part.verdict == InstanceProof::Verdict::kVacuous) part.verdict = whole.verdict;
    whole = std::move(part);
    if (whole.verdict == InstanceProof::Verdict::kOpen) break;
  }
  return whole;
}

}  // namespace

InstanceProof prove(const TypedAxiom& axiom, const ProofOptions& options) { return prove_in(axiom, {}, options); }

std::optional<AxiomReading> read_proof(const Axiom& axiom, std::size_t cases) {
  const auto domain = domain_of(axiom, AuditDomain::kSmall);
  if (!domain) return std::nullopt;
  const std::vector<AxiomRanks> all_ranks =
      axiom.ranks.empty() ? std::vector<AxiomRanks>{AxiomRanks(axiom.variables.size())} : axiom.ranks;
  for (const AxiomRanks& ranks : all_ranks) {
    for (const ParamBinding& binding : bindings_of(*domain)) {
      const auto typed = specialise(axiom, ranks, binding);
      if (!typed) continue;
      InstanceProof proof = prove(*typed, {.told = cases});
      if (proof.verdict == InstanceProof::Verdict::kProved && !proof.told.empty())
        return AxiomReading{text_of(ranks, binding),        setting_of(axiom, ranks, binding),
                            term_text(*typed, typed->left), term_text(*typed, typed->right),
                            conditions_of(*typed),          std::move(proof)};
      if (proof.verdict == InstanceProof::Verdict::kOpen) return std::nullopt;
    }
  }
  return std::nullopt;
}

Result<std::string> certificate_of(const TypedAxiom& axiom, const ProofOptions& options) {
  Certifier certifier(options.pivots);
  return certified::certify(axiom, certifier);
}

Result<std::vector<AxiomProof>> prove(std::span<const Axiom> axioms, const AxiomProofOptions& options) {
  std::vector<AxiomProof> results(axioms.size());
  std::optional<Error> error;
  std::mutex mutex;
  std::size_t done = 0;
  tbb::task_arena arena(std::max(options.threads, 1));
  arena.execute([&] {
    tbb::parallel_for(std::size_t{0}, axioms.size(), [&](std::size_t a) {
      auto result = prove_axiom(axioms[a], options);
      const std::scoped_lock lock(mutex);
      if (result) {
        results[a] = *std::move(result);
      } else if (!error) {
        error = result.error();
      }
      if (options.progress) options.progress(++done, axioms.size());
    });
  });
  if (error) return *std::move(error);
  return results;
}

}  // namespace rewright::theorem
