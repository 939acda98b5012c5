// Every loaded operator keeps the contracts of operators, and enough of each operator is looked at to say so.
#include <rewright/onnx/runtime.h>

#include <gtest/gtest.h>

#include <map>

#include "contract/contracts.h"
#include "support/operators.h"

namespace rewright::testing {
namespace {

TEST(EveryOperator, KeepsItsContracts) {
  using contract::Outcome;
  std::map<std::string, std::size_t> kept;
  for (const Operator* op : loaded().all<Operator>()) {
    for (const contract::Contract& contract : contract::contracts_of(*op, loaded())) {
      const Outcome outcome = contract.check();
      EXPECT_NE(outcome.state, Outcome::State::kBroken) << op->name() << " " << contract.name << ": " << outcome.detail;
      kept[contract.name] += outcome.state == Outcome::State::kKept ? 1 : 0;
    }
  }
  const Runtime* runtime = loaded().find<Runtime>("onnxruntime");
  const bool has_runtime = runtime != nullptr && runtime->version();
  const std::size_t all = loaded().all<Operator>().size();
  for (const auto& [name, count] : kept) {
    const bool by_some = name.ends_with("if it says so") || name.find("ONNX") != std::string::npos;
    const bool needs_runtime =
        name == "computes what ONNX Runtime computes" || name.starts_with("heeds every attribute");
    const bool can_run = has_runtime || !needs_runtime;
    EXPECT_GE(count, !can_run ? 0 : by_some ? 2 : all) << name;
  }
  EXPECT_EQ(kept.size(), 12U);
}

}  // namespace
}  // namespace rewright::testing
