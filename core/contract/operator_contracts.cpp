// What an operator promises: one shape rule, one meaning, what its flags say, what it writes to ONNX.
#include "contract/contracts.h"
#include "contract/operator_checks.h"
#include "contract/samples.h"

namespace rewright::contract {

namespace {

/// Looks at accepted applications, one after the other, up to the first breach.
template <class Look>
Outcome over_applications(const Operator& op, std::int64_t most_elements, const Look& look) {
  const std::vector<Application> applications = ApplicationSource(op, kSeed).accepted(40, most_elements, kAttempts);
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

Outcome computes_as_the_runtime(const Operator& op, const Registry& registry) {
  const Runtime* runtime = registry.find<Runtime>("onnxruntime");
  if (runtime == nullptr) return Outcome::skipped("there is no runtime onnxruntime");
  if (const auto version = runtime->version(); !version) return Outcome::skipped(version.error().message);
  Random random(kSeed);
  return over_applications(op, 2000, [&](const Application& application, bool& counts) {
    return runtime_differs(application, registry, *runtime, random, counts);
  });
}

}  // namespace

std::vector<Contract> contracts_of(const Operator& op, const Registry& registry) {
  const auto looking = [&op](std::int64_t most_elements, auto look) {
    return [&op, most_elements, look] {
      Random random(kSeed);
      return over_applications(op, most_elements, [&](const Application& application, bool& counts) {
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
      {"describes itself", [&op] { return declares_itself(op); }},
      {"refuses what does not fit, in a sentence", [&op] { return refuses_in_sentences(op); }},
      {"has one shape rule for numbers, cuts and symbols", [&op] { return has_one_shape_rule(op); }},
      {"writes parameters that read back",
       looking(1000, [](const Application& application, Random&, bool&) { return does_not_read_back(application); })},
      {"means the same over every algebra", looking(400, [](const Application& application, Random& random,
                                                            bool&) { return algebras_differ(application, random); })},
      {"is linear in each operand, if it says so", looking(400, if_it_says(&Traits::multilinear, is_not_linear))},
      {"commutes, if it says so", looking(400,
                                          [](const Application& application, Random& random, bool& counts) -> Breach {
                                            counts = application.op->info().commutative && application.in.size() >= 2;
                                            return counts ? does_not_commute(application, random) : std::nullopt;
                                          })},
      {"says what work it is", looking(1'000'000, [](const Application& application, Random&,
                                                     bool&) { return has_senseless_work(application); })},
      {"reads back what it writes to ONNX",
       looking(2000, [&registry](const Application& application, Random& random,
                                 bool& counts) { return does_not_come_back(application, registry, random, counts); })},
      {"computes what ONNX Runtime computes", [&op, &registry] { return computes_as_the_runtime(op, registry); }},
  };
}

}  // namespace rewright::contract
