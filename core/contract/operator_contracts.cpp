// What an operator promises: one shape rule, one meaning, what its flags say, what it writes to ONNX.
#include "contract/contracts.h"
#include "contract/operator_checks.h"
#include "contract/samples.h"

namespace rewright::contract {

namespace {

/// How many applications are looked at.
constexpr std::size_t kMany = 40, kSome = 10;

/// Looks at accepted applications, one after the other, up to the first breach.
template <class Look>
Outcome over_applications(const Operator& op, std::size_t count, std::int64_t most_elements, const Look& look) {
  const std::vector<Application> applications = ApplicationSource(op, kSeed).accepted(count, most_elements, kAttempts);
  if (applications.empty())
    return Outcome::broken("no operands and parameters were found that it takes, in 200,000 random ones");
  std::size_t looked_at = 0;
  for (const Application& application : applications) {
    bool counts = true;
    if (const Breach breach = look(application, counts))
      return Outcome::broken(to_string(application) + ": " + *breach);
    looked_at += counts ? 1 : 0;
  }
  if (looked_at == 0) return Outcome::skipped("of none of its applications this can be asked");
  return Outcome::kept(fmt::format("{} applications", looked_at));
}

Outcome declares_itself(const Operator& op) {
  const OperatorInfo& info = op.info();
  if (info.min_arity < 0 || (info.max_arity >= 0 && info.max_arity < info.min_arity))
    return Outcome::broken(fmt::format("it takes {} to {} operands", info.min_arity, info.max_arity));
  if (info.commutative && info.max_arity >= 0 && info.max_arity < 2)
    return Outcome::broken("it says that its first two operands may be exchanged, and takes one or none");
  return describes_itself(info.name, info.summary);
}

/// Each application against ONNX Runtime, where it is there.
Outcome against_the_runtime(const Operator& op, const Registry& registry, std::size_t count, std::int64_t most_elements,
                            Breach (*look)(const Application&, const Registry&, const Runtime&, Random&, bool&)) {
  const Runtime* runtime = registry.find<Runtime>("onnxruntime");
  if (runtime == nullptr) return Outcome::skipped("there is no runtime onnxruntime");
  if (const auto version = runtime->version(); !version) return Outcome::skipped(version.error().message);
  Random random(kSeed);
  return over_applications(op, count, most_elements, [&](const Application& application, bool& counts) {
    return look(application, registry, *runtime, random, counts);
  });
}

}  // namespace

std::vector<Contract> contracts_of(const Operator& op, const Registry& registry) {
  const auto looking = [&op](std::int64_t most_elements, auto look) {
    return [&op, most_elements, look] {
      Random random(kSeed);
      return over_applications(op, kMany, most_elements, [&](const Application& application, bool& counts) {
        return look(application, random, counts);
      });
    };
  };
  const auto if_it_says = [](bool Traits::*flag, auto breach) {
    return [flag, breach](const Application& application, Random& random, bool& counts) -> Breach {
      counts = application.op->traits(application.params).*flag;
      return counts ? breach(application, random) : std::nullopt;
    };
  };
  return {
      {"describes itself", [&op] { return declares_itself(op); },
       "see operator.h: OperatorInfo; usual cause: no summary, or an arity that does not fit the flags"},
      {"refuses what does not fit, in a sentence", [&op] { return refuses_in_sentences(op); },
       "see operator.h: infer; usual cause: shape() reads a size before it has checked the rank, or its error does not "
       "begin with the operator's name"},
      {"has one shape rule for numbers, cuts and symbols", [&op] { return has_one_shape_rule(op); },
       "see dim.h: Constraints; usual cause: an `if` on a size, where `where` should get a constraint"},
      {"writes parameters that read back",
       looking(1000, [](const Application& application, Random&, bool&) { return does_not_read_back(application); }),
       "see params.h: ParamSpec; usual cause: two choices of one name"},
      {"means the same over every algebra",
       looking(400, [](const Application& application, Random& random,
                       bool&) { return algebras_differ(application, random); }),
       "see operator.h: define, kernel; usual cause: a kernel that computes something else, or a flag uses_order or "
       "uses_functions that is not set"},
      {"computes what its definition says", looking(400, differs_from_definition),
       "see operator.h: kernel, definition.h; usual cause: a kernel that computes something else, or a definition that "
       "reads outside of a tensor or says one element twice"},
      {"writes every element",
       looking(400, [](const Application& application, Random& random,
                       bool&) { return leaves_unwritten(application, random); }),
       "see operator.h: evaluate; usual cause: a loop that ends early, or a sum that begins with what the output held"},
      {"is linear in each operand, if it says so", looking(400, if_it_says(&Traits::multilinear, is_not_linear)),
       "see operator.h: OperatorInfo::multilinear, traits; usual cause: a constant is added, or an operand is used "
       "twice"},
      {"commutes, if it says so",
       looking(400,
               [](const Application& application, Random& random, bool& counts) -> Breach {
                 counts = application.op->info().commutative && application.in.size() >= 2;
                 return counts ? does_not_commute(application, random) : std::nullopt;
               }),
       "see operator.h: OperatorInfo::commutative; usual cause: a shape rule that treats the two operands differently"},
      {"reads back what it writes to ONNX",
       looking(2000, [&registry](const Application& application, Random& random,
                                 bool& counts) { return does_not_come_back(application, registry, random, counts); }),
       "see operator.h: to_onnx, from_onnx; usual cause: a parameter that one of the two leaves out"},
      {"computes what ONNX Runtime computes",
       [&op, &registry] { return against_the_runtime(op, registry, kMany, 2000, runtime_differs); },
       "see operator.h: to_onnx; usual cause: a default of ONNX's that differs from the parameter's"},
      {"heeds every attribute of the ONNX nodes that it reads",
       [&op, &registry] { return against_the_runtime(op, registry, kSome, 400, ignores_attributes); },
       "see operator.h: from_onnx, onnx.h: OnnxNode; usual cause: an attribute that is not read; return "
       "unsupported(...) "
       "for a value that no parameter can say"},
  };
}

}  // namespace rewright::contract
