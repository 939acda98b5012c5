// Plugins that break their contracts in one way each: the contract that says so is the one that is broken.
#include "contract/contracts.h"

#include <rewright/kit/families.h>
#include <rewright/onnx/onnx.h>
#include <rewright/onnx/runtime.h>
#include <rewright/operator/operator.h>
#include <rewright/optimize/cost.h>
#include <rewright/optimize/search.h>
#include <rewright/rule/pruner.h>
#include <rewright/tune/generator.h>
#include <rewright/tune/predictor.h>
#include <rewright/tune/tuner.h>
#include <rewright/verify/verifier.h>

#include <gmock/gmock.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <limits>
#include <set>
#include <stdexcept>

#include "contract/isolation.h"
#include "contract/operator_checks.h"
#include "contract/samples.h"

namespace rewright::contract {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::MatchesRegex;
using ::testing::Not;
using ::testing::SizeIs;
using ::testing::StartsWith;

const Registry& loaded() {
  static const Registry kRegistry = [] {
    Registry registry;
    if (const Status status = registry.load_default(); !status) ADD_FAILURE() << status.error().message;
    return registry;
  }();
  return kRegistry;
}

/// The contracts that are broken, by name.
std::vector<std::string> broken(const std::vector<Contract>& contracts) {
  std::vector<std::string> names;
  for (const Contract& contract : contracts) {
    const Outcome outcome = check_apart(contract, 60);
    if (outcome.state == Outcome::State::kBroken) names.push_back(contract.name);
  }
  return names;
}

/// What one of the contracts says, asked in this process: of a plugin that neither crashes nor hangs.
std::string said(const std::vector<Contract>& contracts, std::string_view name) {
  const auto found = std::ranges::find(contracts, name, &Contract::name);
  if (found == contracts.end()) return "there is no such contract";
  const Outcome outcome = found->check();
  return (outcome.state == Outcome::State::kKept ? "kept: " : "not kept: ") + outcome.detail;
}

// --- operators -------------------------------------------------------------------------------------------------------

/// y = 2 x, but for what a test gets wrong.
enum class Fault {
  kNone,
  kShape,
  kCuts,
  kField,
  kExact,
  kLinear,
  kUnwritten,
  kThrows,
  kCrashes,
  kSentence,
  kNameless,
  kNever,
  kArity,
  kAlone,
  kOtherInOnnx,
  kFewerInOnnx,
  kOpaqueInOnnx
};
template <Fault kFault>
struct Twice final : OperatorOf<Twice<kFault>> {
  static OperatorInfo describe() {
    return {.name = "twice",
            .summary = "2 x",
            .min_arity = kFault == Fault::kArity ? 2 : 1,
            .max_arity = 1,
            .commutative = kFault == Fault::kAlone,
            .multilinear = true};
  }
  template <class Dim>
  static Result<Shapes<Dim>> shape(const BasicParams<Dim>&, ShapeInputs<Dim> in, Constraints<Dim>&) {
    if (kFault == Fault::kNever) return make_error(ErrorCode::kShape, "twice: of no tensor this can be asked");
    if (kFault == Fault::kNameless && in[0].rank() == 3)
      return make_error(ErrorCode::kShape, "twice:tensors of rank 3 are not taken");
    if (kFault == Fault::kSentence && in[0].rank() == 3) return make_error(ErrorCode::kShape, "no");
    BasicShape<Dim> out = in[0];
    if (kFault == Fault::kShape && std::is_same_v<Dim, SymbolicDim> && out.rank() > 1) out[0] = out[1];
    if (kFault == Fault::kCuts && std::is_same_v<Dim, CutDim> && out.rank() > 1) out[1] = out[0];
    return Shapes<Dim>{out};
  }
  template <class A>
  static void define(A& a, const Params&) {
    const auto x = a.in(0);
    a.out(0).is("i", [&](auto i) { return kFault == Fault::kLinear ? x(i) * x(i) : x(i) + x(i); });
  }
  template <class Scalar>
  static void kernel(const Params&, Inputs<Scalar> in, Outputs<Scalar> out) {
    for (std::int64_t i = 0; i < in[0].elements(); ++i) {
      const Scalar x = in[0][i];
      if (kFault == Fault::kUnwritten && i == 2) continue;
      if (kFault == Fault::kThrows && i == 3) throw std::runtime_error("out of luck");
      if (kFault == Fault::kCrashes && i == 3) std::abort();
      out[0][i] = kFault == Fault::kLinear ? x * x : x + x;
      if (kFault == Fault::kExact && std::is_same_v<Scalar, Exact>) out[0][i] = x;
      if (kFault == Fault::kField && std::is_same_v<Scalar, Field>) out[0][i] = x;
    }
  }
  Result<std::vector<std::string>> to_onnx(const Params& params, std::span<const std::string> in,
                                           std::span<const Shape> shapes, OnnxWriter& writer) const override {
    if (kFault == Fault::kOtherInOnnx) return writer.emit("Mul", {in[0], in[0]});
    if (kFault == Fault::kFewerInOnnx) return writer.emit("ReduceSum", writer.emit("Add", {in[0], in[0]}));
    if (kFault == Fault::kOpaqueInOnnx) return writer.emit("Sinh", {in[0]});
    return OperatorOf<Twice<kFault>>::to_onnx(params, in, shapes, writer);
  }
};

/// x + y, which says that x and y may be exchanged, and takes them in one order alone.
struct Later final : OperatorOf<Later> {
  static OperatorInfo describe() {
    return {.name = "later", .summary = "x + y", .min_arity = 2, .max_arity = 2, .commutative = true};
  }
  template <class Dim>
  static Result<Shapes<Dim>> shape(const BasicParams<Dim>&, ShapeInputs<Dim> in, Constraints<Dim>&) {
    if (in[0].rank() > 0 && in[1].rank() == 0) return Shapes<Dim>{in[0]};
    return make_error(ErrorCode::kShape, "later: the second operand must be a single number, the first none");
  }
  template <class A>
  static void define(A& a, const Params&) {
    const auto x = a.in(0), y = a.in(1);
    a.out(0).is("i", [&](auto i) { return x(i) + y(); });
  }
};

/// x^2, but for what the output holds before: an element that is left out, or a sum that begins there.
enum class Leftover { kNone, kElement, kSum };
template <Leftover kLeftover>
struct Square final : OperatorOf<Square<kLeftover>> {
  static OperatorInfo describe() { return {.name = "square", .summary = "x^2"}; }
  template <class Dim>
  static Result<Shapes<Dim>> shape(const BasicParams<Dim>&, ShapeInputs<Dim> in, Constraints<Dim>&) {
    return Shapes<Dim>{in[0]};
  }
  template <class A>
  static void define(A& a, const Params&) {
    const auto x = a.in(0);
    a.out(0).is("i", [&](auto i) { return x(i) * x(i); });
  }
  template <class Scalar>
  static void kernel(const Params&, Inputs<Scalar> in, Outputs<Scalar> out) {
    for (std::int64_t i = 0; i < in[0].elements(); ++i) {
      if (kLeftover == Leftover::kElement && i == 2) continue;
      const Scalar before = kLeftover == Leftover::kSum ? out[0][i] : Scalar{};
      out[0][i] = before + in[0][i] * in[0][i];
    }
  }
};

template <Leftover kLeftover>
std::vector<std::string> broken_by_square() {
  static const Square<kLeftover> kOperator;
  return broken(contracts_of(kOperator, loaded()));
}

TEST(OperatorContracts, SeeWhatTheOutputHeldBefore) {
  EXPECT_THAT(broken_by_square<Leftover::kNone>(), ElementsAre());
  const auto* definition = "computes what its definition says";
  EXPECT_THAT(broken_by_square<Leftover::kElement>(), ElementsAre(definition, "writes every element"));
  EXPECT_THAT(broken_by_square<Leftover::kSum>(), ElementsAre(definition, "writes every element"));
  EXPECT_THAT(said(contracts_of(Square<Leftover::kElement>(), loaded()), "writes every element"),
              MatchesRegex("not kept: square .*: over Field element 2 of the result is not written"));
  EXPECT_THAT(said(contracts_of(Square<Leftover::kSum>(), loaded()), "writes every element"),
              MatchesRegex("not kept: square .*: over Field element 0 of the result is made from what the output held "
                           "before"));
}

enum class Constant { kSixth, kFloat, kDecimal, kFifthCompared, kFifth };
/// relu(x) / 6, or over 5 inside of relu.
template <Constant kConstant>
struct Scaled final : UnaryOf<Scaled<kConstant>> {
  static OperatorInfo describe() {
    return {.name = "scaled", .summary = "relu(x) times a constant", .uses_order = true};
  }
  template <class Scalar>
  static Scalar value(const Params&, const Scalar& x) {
    if (kConstant == Constant::kFifthCompared) return relu(x * Scalar::from_double(0.2));
    if (kConstant == Constant::kFifth) return relu(x) * Scalar::from_double(0.2);
    if (kConstant == Constant::kFloat) return relu(x) * Scalar::from_double(1.0F / 6);
    return relu(x) * Scalar::from_double(kConstant == Constant::kSixth ? 1.0 / 6 : 0.1666667);
  }
};
template <Constant kConstant>
std::string meaning_of_constant() {
  static const Scaled<kConstant> kOperator;
  return said(contracts_of(kOperator, loaded()), "means the same over every algebra");
}

TEST(OperatorContracts, SayHowAConstantIsWritten) {
  EXPECT_THAT(meaning_of_constant<Constant::kSixth>(), StartsWith("kept"));
  EXPECT_THAT(meaning_of_constant<Constant::kFifth>(), StartsWith("kept"));
  EXPECT_THAT(meaning_of_constant<Constant::kDecimal>(),
              EndsWith("the constant 0.1666667 is not 1/6 over the field and the fractions: write 1.0 / 6 for it"));
  EXPECT_THAT(
      meaning_of_constant<Constant::kFloat>(),
      EndsWith("the constant 0.1666666716337204 is not 1/6 over the field and the fractions: write 1.0 / 6 for it"));
  EXPECT_THAT(meaning_of_constant<Constant::kFifthCompared>(),
              EndsWith("; the constant 1/5 has no place in the order of the field, which has fractions of 36^4 alone: "
                       "compare what is not yet multiplied with it, as max(x, 0)"));
}

template <Fault kFault>
std::vector<std::string> broken_by() {
  static const Twice<kFault> kOperator;
  return broken(contracts_of(kOperator, loaded()));
}

TEST(OperatorContracts, AreAllKeptByARightOne) { EXPECT_THAT(broken_by<Fault::kNone>(), ElementsAre()); }

TEST(OperatorContracts, NameWhatIsBroken) {
  const auto* shapes = "has one shape rule for numbers, cuts and symbols";
  const auto* meaning = "means the same over every algebra";
  const auto* definition = "computes what its definition says";
  EXPECT_THAT(broken_by<Fault::kShape>(), ElementsAre(shapes));
  EXPECT_THAT(broken_by<Fault::kCuts>(), ElementsAre(shapes));
  EXPECT_THAT(broken_by<Fault::kField>(), ElementsAre(meaning, definition));
  EXPECT_THAT(broken_by<Fault::kLinear>(),
              ElementsAre("computes what its definition says", "is linear in each operand, if it says so"));
  EXPECT_THAT(broken_by<Fault::kUnwritten>(), Contains("writes every element"));
  EXPECT_THAT(broken_by<Fault::kThrows>(), Contains(meaning));
  EXPECT_THAT(broken_by<Fault::kCrashes>(), Contains(meaning));
  const auto* sentence = "refuses what does not fit, in a sentence";
  EXPECT_THAT(broken_by<Fault::kSentence>(), ElementsAre(sentence));
  EXPECT_THAT(broken_by<Fault::kNameless>(), ElementsAre(sentence)) << "no space after its name";
  EXPECT_THAT(broken_by<Fault::kExact>(), ElementsAre(meaning, definition));
  EXPECT_THAT(broken_by<Fault::kNever>(), Contains(sentence));
  EXPECT_THAT(broken(contracts_of(Later(), loaded())), ElementsAre("commutes, if it says so"));
}

TEST(OperatorContracts, NameWhatIsOtherInOnnx) {
  const Runtime* found = loaded().find<Runtime>("onnxruntime");
  if (found == nullptr || !found->version()) GTEST_SKIP() << "ONNX Runtime is not here";
  const auto* back = "reads back what it writes to ONNX";
  const auto* runtime = "computes what ONNX Runtime computes";
  EXPECT_THAT(broken_by<Fault::kOtherInOnnx>(), ElementsAre(back, runtime));
  EXPECT_THAT(broken_by<Fault::kFewerInOnnx>(), ElementsAre(back, runtime));
  EXPECT_THAT(broken_by<Fault::kOpaqueInOnnx>(), ElementsAre(runtime)) << "no operator here is a Sinh";
}

TEST(OperatorContracts, SayWhatIsReadBackOtherwiseFromOnnx) {
  const auto back = [](const Operator& op) {
    return said(contracts_of(op, loaded()), "reads back what it writes to ONNX");
  };
  EXPECT_THAT(back(*loaded().find<Operator>("relu")), StartsWith("kept: "));
  EXPECT_THAT(back(Twice<Fault::kOtherInOnnx>()),
              MatchesRegex("not kept: twice .*: read back from ONNX element 0 is .*, by its meaning .*"));
  EXPECT_THAT(back(Twice<Fault::kFewerInOnnx>()),
              MatchesRegex("not kept: twice .*: what it writes to ONNX cannot be read back: .*"));
  EXPECT_EQ(back(Twice<Fault::kOpaqueInOnnx>()), "not kept: of none of its applications this can be asked");
}

TEST(OperatorContracts, FindTheAttributeThatIsNotRead) {
  const Runtime* found = loaded().find<Runtime>("onnxruntime");
  if (found == nullptr || !found->version()) GTEST_SKIP() << "ONNX Runtime is not here";
  const auto* heeds = "heeds every attribute of the ONNX nodes that it reads";
  for (const bool forgetful : {false, true}) {
    Registry registry;
    ASSERT_TRUE(registry.load_default());
    const Status status = registry.load(
        fmt::format("{}/tests/plugins/contract/{}.so", REWRIGHT_BUILD_DIR, forgetful ? "forgetful" : "triangle"));
    ASSERT_TRUE(status) << status.error().message;
    const Operator& op = *registry.find<Operator>("triangle");
    if (!forgetful) {
      EXPECT_THAT(broken(contracts_of(op, registry)), ElementsAre());
      EXPECT_THAT(said(contracts_of(op, registry), heeds), StartsWith("kept: "));
      continue;
    }
    EXPECT_THAT(broken(contracts_of(op, registry)), ElementsAre(heeds));
    EXPECT_THAT(said(contracts_of(op, registry), heeds),
                MatchesRegex("not kept: triangle .*: ONNX's Trilu with upper = 0: read from ONNX "
                             "element .* is .*, in the runtime .*"));
  }
}

/// A runtime that computes nothing: it gives so many zeros.
class Zeros final : public Runtime {
 public:
  explicit Zeros(std::size_t count) : count_(count) {}
  std::string name() const override { return "zeros"; }
  std::string summary() const override { return "Computes nothing"; }
  Result<std::string> version() const override { return std::string("0"); }
  Result<std::unique_ptr<RuntimeSession>> load(std::span<const std::byte>, const LoadOptions&) const override {
    class Session final : public RuntimeSession {
     public:
      explicit Session(std::size_t count) : count_(count) {}
      Result<std::vector<RuntimeTensor>> run(std::span<const RuntimeTensor>) override {
        return std::vector<RuntimeTensor>{{"output", {}, std::vector<std::byte>(4 * count_)}};
      }
      Result<RunTimes> measure(std::span<const RuntimeTensor>, int, double) override { return RunTimes{1, 1, 1, 1}; }

     private:
      std::size_t count_;
    };
    return std::unique_ptr<RuntimeSession>(std::make_unique<Session>(count_));
  }

 private:
  std::size_t count_;
};

TEST(OperatorContracts, SayWhereARuntimeDiffers) {
  const auto breach = [](std::size_t count) {
    Random random(1);
    bool counts = false;
    const contract::Application application = {loaded().find<Operator>("exp"), {}, {Shape{2, 3}}};
    const Breach found = runtime_differs(application, loaded(), Zeros(count), random, counts);
    EXPECT_TRUE(counts);
    return found.value_or("none");
  };
  EXPECT_EQ(breach(5), "in the runtime it has 5 elements, by its meaning 6");
  EXPECT_THAT(breach(6), StartsWith("in the runtime element 0 is 0, by its meaning "));
}

/// A parameter of two choices that have one name.
struct Ambiguous final : OperatorOf<Ambiguous> {
  static OperatorInfo describe() {
    return {.name = "ambiguous",
            .summary = "x",
            .min_arity = 1,
            .max_arity = 1,
            .params = {{.name = "way", .kind = ParamKind::kChoice, .choices = {"up", "up"}, .required = true}}};
  }
  template <class Dim>
  static Result<Shapes<Dim>> shape(const BasicParams<Dim>&, ShapeInputs<Dim> in, Constraints<Dim>&) {
    return Shapes<Dim>{in[0]};
  }
  template <class A>
  static void define(A& a, const Params&) {
    const auto x = a.in(0);
    a.out(0).is("i", [&](auto i) { return x(i); });
  }
};

TEST(OperatorContracts, SayWhichParametersAreReadAsOthers) {
  const Ambiguous op;
  EXPECT_EQ(does_not_read_back({&op, Params({std::int64_t{0}}), {Shape{2}}}), std::nullopt);
  EXPECT_EQ(does_not_read_back({&op, Params({std::int64_t{1}}), {Shape{2}}}),
            "its parameters are written [way=up], which is read as others");
  EXPECT_THAT(broken(contracts_of(op, loaded())), SizeIs(1));
}

/// What the first contract, of the description, says.
template <Fault kFault>
std::string description() {
  static const Twice<kFault> kOperator;
  const Contract contract = contracts_of(kOperator, loaded()).at(0);
  return contract.name + ": " + check_apart(contract, 60).detail;
}

TEST(OperatorContracts, SayWhatIsWrongInADescription) {
  EXPECT_EQ(description<Fault::kArity>(), "describes itself: it takes 2 to 1 operands");
  EXPECT_EQ(description<Fault::kAlone>(),
            "describes itself: it says that its first two operands may be exchanged, and takes one or none");
  EXPECT_THAT(broken_by<Fault::kArity>(), Contains("describes itself")) << "and the others can be asked all the same";
  EXPECT_THAT(broken_by<Fault::kAlone>(), ElementsAre("describes itself"));
}

TEST(Isolation, SaysHowACheckEnded) {
  const auto ended = [](std::function<Outcome()> check) { return check_apart({"a check", std::move(check)}, 1); };
  EXPECT_EQ(ended([] { return Outcome::kept("well"); }).detail, "well");
  EXPECT_THAT(ended([]() -> Outcome { throw std::runtime_error("out of luck"); }).detail, HasSubstr("out of luck"));
  EXPECT_THAT(ended([]() -> Outcome { throw 3; }).detail, HasSubstr("not a std::exception"));
  EXPECT_THAT(ended([]() -> Outcome { std::abort(); }).detail, HasSubstr("Aborted"));
  EXPECT_THAT(ended([]() -> Outcome { _exit(7); }).detail, HasSubstr("exit code 7"));
  EXPECT_THAT(ended([]() -> Outcome {
                for (volatile int i = 0;;) i = i + 1;
              }).detail,
              HasSubstr("did not end within 1 s"));
  EXPECT_EQ(ended([] { return Outcome::skipped(std::string(100'000, 'x')); }).detail.size(), 100'000U);
}

TEST(Isolation, SkipsACheckForWhichThereIsNoProcess) {
  const int next = dup(STDOUT_FILENO);
  close(next);
  rlimit before{};
  getrlimit(RLIMIT_NOFILE, &before);
  const rlimit none_more = {static_cast<rlim_t>(next), before.rlim_max};
  setrlimit(RLIMIT_NOFILE, &none_more);
  const Outcome outcome = check_apart({"a check", [] { return Outcome::kept("well"); }}, 1);
  setrlimit(RLIMIT_NOFILE, &before);
  EXPECT_EQ(outcome.state, Outcome::State::kSkipped);
  EXPECT_EQ(outcome.detail, "no process of its own: Too many open files");
}

// --- other kinds -----------------------------------------------------------------------------------------------------

/// Says of everything what a test wants.
class Oracle final : public Verifier {
 public:
  Oracle(VerdictKind kind, bool proves, bool refutes) : kind_(kind), proves_(proves), refutes_(refutes) {}
  std::string name() const override { return "oracle"; }
  std::string summary() const override { return "Says the same of everything"; }
  bool proves() const override { return proves_; }
  bool refutes() const override { return refutes_; }
  Status configure(const Options& options) override {
    if (options.empty()) return {};
    return make_error(ErrorCode::kUsage, "no option {}", options.begin()->first);
  }
  Result<std::vector<Verdict>> verify(std::span<const Goal> goals) override {
    Verdict verdict;
    verdict.kind = kind_;
    verdict.reason = "so it is";
    return std::vector<Verdict>(goals.size(), verdict);
  }
  std::unique_ptr<Verifier> clone() const override { return std::make_unique<Oracle>(kind_, proves_, refutes_); }

 private:
  VerdictKind kind_;
  bool proves_, refutes_;
};

TEST(VerifierContracts, FindALiarOut) {
  const auto axioms = load_axioms(std::vector<std::string>{REWRIGHT_SOURCE_DIR "/axioms/elementwise.smt2"}, loaded());
  ASSERT_TRUE(axioms) << axioms.error().message;
  const Oracle yes(VerdictKind::kProved, true, true), no(VerdictKind::kRefuted, true, true),
      unsure(VerdictKind::kUnknown, true, false), surprising(VerdictKind::kProved, false, true);
  EXPECT_THAT(broken(contracts_of(yes, loaded(), *axioms)), Contains("never proves what does not hold"));
  EXPECT_THAT(broken(contracts_of(no, loaded(), *axioms)), Contains("never refutes what holds"));
  EXPECT_THAT(broken(contracts_of(unsure, loaded(), *axioms)), ElementsAre("decides something of what it says it can"));
  EXPECT_THAT(broken(contracts_of(surprising, loaded(), *axioms)), Contains("never refutes what holds"));
}

/// Drops every candidate, or every second one for one that it drops, too.
class Greedy final : public Pruner {
 public:
  explicit Greedy(std::string by) : by_(std::move(by)) {}
  std::string name() const override { return "greedy"; }
  std::string summary() const override { return "Drops"; }
  Result<std::unique_ptr<PruneSession>> start(const Options& options) const override {
    if (!options.empty()) return make_error(ErrorCode::kUsage, "no option {}", options.begin()->first);
    class Session final : public PruneSession {
     public:
      explicit Session(std::string by) : by_(std::move(by)) {}
      std::optional<Removal> offer(const Candidate&) override {
        if (!by_.empty() && count_++ == 0) return std::nullopt;
        return Removal{by_, "it is superfluous"};
      }

     private:
      std::string by_;
      int count_ = 0;
    };
    return std::unique_ptr<PruneSession>(std::make_unique<Session>(by_));
  }

 private:
  std::string by_;
};

AxiomSet few_axioms() {
  const std::vector<std::string> files = {REWRIGHT_SOURCE_DIR "/axioms/elementwise.smt2",
                                          REWRIGHT_SOURCE_DIR "/axioms/layout.smt2",
                                          REWRIGHT_SOURCE_DIR "/axioms/linear_algebra.smt2"};
  return *load_axioms(files, loaded());
}

/// Knows nothing, but for what a test gets wrong.
enum class Flaw { kName, kOption, kSilence, kTooFew, kFickle };
class Clumsy final : public Verifier {
 public:
  explicit Clumsy(Flaw flaw) : flaw_(flaw) {}
  std::string name() const override { return flaw_ == Flaw::kName ? "Clumsy one" : "clumsy"; }
  std::string summary() const override { return "Answers badly"; }
  bool proves() const override { return true; }
  bool refutes() const override { return false; }
  Status configure(const Options& options) override {
    if (options.empty()) return {};
    return make_error(ErrorCode::kUsage, "no option {}", flaw_ == Flaw::kOption ? "" : options.begin()->first);
  }
  Result<std::vector<Verdict>> verify(std::span<const Goal> goals) override {
    static int times = 0;
    std::vector<Verdict> verdicts(goals.size() - (flaw_ == Flaw::kTooFew ? 1 : 0));
    for (Verdict& verdict : verdicts) {
      if (flaw_ != Flaw::kSilence) verdict.reason = flaw_ == Flaw::kFickle ? std::to_string(++times) : "it is hard";
    }
    return verdicts;
  }
  std::unique_ptr<Verifier> clone() const override { return std::make_unique<Clumsy>(flaw_); }

 private:
  Flaw flaw_;
};

TEST(VerifierContracts, NameWhatIsBroken) {
  const AxiomSet axioms = few_axioms();
  const auto broken_by = [&](Flaw flaw) { return broken(contracts_of(Clumsy(flaw), loaded(), axioms)); };
  EXPECT_THAT(broken_by(Flaw::kName), Contains("describes itself"));
  EXPECT_THAT(broken_by(Flaw::kOption), Contains("refuses options it does not know"));
  EXPECT_THAT(broken_by(Flaw::kSilence), Contains("never refutes what holds"));
  EXPECT_THAT(broken_by(Flaw::kTooFew), Contains("survives large goals"));
  EXPECT_THAT(broken_by(Flaw::kFickle), Contains("answers alike when asked again"));
}

TEST(VerifierContracts, CountWhatIsDecided) {
  const AxiomSet axioms = few_axioms();
  EXPECT_EQ(said(contracts_of(*loaded().find<Verifier>("evaluate"), loaded(), axioms),
                 "decides something of what it says it can"),
            "kept: 0 proved, 8 refuted");
  EXPECT_THAT(said(contracts_of(*loaded().find<Verifier>("egraph"), loaded(), axioms),
                   "decides something of what it says it can"),
              MatchesRegex("kept: [1-8] proved, 0 refuted"));
}

TEST(PrunerContracts, FindOutWhatDropsTooMuch) {
  const AxiomSet axioms = few_axioms();
  for (const char* by : {"", "candidate 3"}) {
    EXPECT_THAT(
        broken(contracts_of(Greedy(by), loaded(), axioms)),
        ElementsAre("names what makes a candidate superfluous", "keeps a complete library on the reference campaign"));
  }
}

/// Drops the second candidate, for another reason each time.
class Fickle final : public Pruner {
 public:
  std::string name() const override { return "fickle"; }
  std::string summary() const override { return "Drops"; }
  Result<std::unique_ptr<PruneSession>> start(const Options& options) const override {
    if (!options.empty()) return make_error(ErrorCode::kUsage, "no option {}", options.begin()->first);
    class Session final : public PruneSession {
     public:
      std::optional<Removal> offer(const Candidate& candidate) override {
        static int times = 0;
        if (first_.empty()) first_ = candidate.id;
        if (count_++ != 1) return std::nullopt;
        return Removal{first_, fmt::format("it is superfluous for the time {}", ++times)};
      }

     private:
      std::string first_;
      int count_ = 0;
    };
    return std::unique_ptr<PruneSession>(std::make_unique<Session>());
  }
};

TEST(PrunerContracts, FindOutWhoDecidesOtherwiseTheSecondTime) {
  EXPECT_THAT(broken(contracts_of(Fickle(), loaded(), few_axioms())), ElementsAre("drops alike in a second pass"));
}

/// A pruner of rules that drops all; with `too_few` it has no answer for the last.
class Sweeping final : public Pruner {
 public:
  explicit Sweeping(bool too_few) : too_few_(too_few) {}
  std::string name() const override { return "sweeping"; }
  std::string summary() const override { return "Drops all"; }
  Subject subject() const override { return Subject::kRules; }
  Result<std::unique_ptr<RulePruneSession>> start_on_rules(const Options& options) const override {
    if (!options.empty()) return make_error(ErrorCode::kUsage, "no option {}", options.begin()->first);
    class Session final : public RulePruneSession {
     public:
      explicit Session(bool too_few) : too_few_(too_few) {}
      Result<std::vector<std::optional<RuleRemoval>>> prune(std::span<const Rule> rules, const Registry&,
                                                            const RulePassOptions&) override {
        return std::vector<std::optional<RuleRemoval>>(rules.size() - (too_few_ ? 1 : 0),
                                                       RuleRemoval{{}, "it is superfluous", ""});
      }

     private:
      bool too_few_;
    };
    return std::unique_ptr<RulePruneSession>(std::make_unique<Session>(too_few_));
  }

 private:
  bool too_few_;
};

TEST(PrunerContracts, FindOutWhichRulesAreNeeded) {
  const AxiomSet axioms = few_axioms();
  for (const bool too_few : {false, true}) {
    EXPECT_THAT(
        broken(contracts_of(Sweeping(too_few), loaded(), axioms)),
        ElementsAre("what it drops follows from what stays", "keeps a complete library on the reference campaign"));
  }
}

/// Drops all but the first and says that they follow from it.
class Confident final : public Pruner {
 public:
  std::string name() const override { return "confident"; }
  std::string summary() const override { return "Drops"; }
  Result<std::unique_ptr<PruneSession>> start(const Options& options) const override {
    if (!options.empty()) return make_error(ErrorCode::kUsage, "no option {}", options.begin()->first);
    class Session final : public PruneSession {
     public:
      std::optional<Removal> offer(const Candidate& candidate) override {
        if (!first_.empty()) return Removal{first_, "it follows from the first"};
        first_ = candidate.id;
        return std::nullopt;
      }

     private:
      std::string first_;
    };
    return std::unique_ptr<PruneSession>(std::make_unique<Session>());
  }
};

TEST(PrunerContracts, TryThePrunerOnACampaignOfWhichEverythingIsKnown) {
  const AxiomSet axioms = few_axioms();
  EXPECT_THAT(broken(contracts_of(Confident(), loaded(), axioms)),
              ElementsAre("keeps a complete library on the reference campaign"));
  for (const Pruner* pruner : loaded().all<Pruner>())
    EXPECT_THAT(broken(contracts_of(*pruner, loaded(), axioms)), ElementsAre()) << pruner->name();
}

class Prices final : public CostModel {
 public:
  explicit Prices(double step) : step_(step) {}
  std::string name() const override { return "prices"; }
  std::string summary() const override { return "Prices that change"; }
  std::string device() const override { return "none"; }
  bool measured() const override { return false; }
  Status configure(const Options& options, const Registry&) override {
    if (options.empty()) return {};
    return make_error(ErrorCode::kUsage, "no option {}", options.begin()->first);
  }
  Result<double> cost_us(const rewright::Application&) override { return price += step_; }
  std::unique_ptr<CostModel> clone() const override { return std::make_unique<Prices>(step_); }
  inline static double price = 1;

 private:
  double step_;
};

TEST(CostContracts, FindOutWhatIsNoPrice) {
  EXPECT_THAT(broken(contracts_of(Prices(0), loaded())), ElementsAre());
  EXPECT_THAT(broken(contracts_of(Prices(1), loaded())),
              ElementsAre("gives the same time again, if it is modelled", "adds up, if it says that nothing is fused"));
  EXPECT_THAT(broken(contracts_of(Prices(-1), loaded())), Contains("gives every application a time"));
}

TEST(CostContracts, FindOutWhatIsNoPriceOfAnOpaqueNode) {
  class Backwards final : public CostModel {
   public:
    std::string name() const override { return "backwards"; }
    std::string summary() const override { return "Gives time back for what it does not know"; }
    std::string device() const override { return "none"; }
    bool measured() const override { return false; }
    Status configure(const Options&, const Registry&) override { return {}; }
    Result<double> cost_us(const rewright::Application&) override { return 1.0; }
    Result<double> opaque_us(const OpaqueApplication&) override { return -1.0; }
    std::unique_ptr<CostModel> clone() const override { return std::make_unique<Backwards>(); }
  };
  EXPECT_THAT(broken(contracts_of(Backwards(), loaded())), Contains("gives every application a time"));
}

/// Right at every second question.
class Alternating final : public CostModel {
 public:
  std::string name() const override { return "alternating"; }
  std::string summary() const override { return "Prices that come and go"; }
  std::string device() const override { return "none"; }
  bool measured() const override { return false; }
  Status configure(const Options& options, const Registry&) override {
    if (options.empty()) return {};
    return make_error(ErrorCode::kUsage, "no option {}", options.begin()->first);
  }
  Result<double> cost_us(const rewright::Application&) override { return ++questions_ % 2 == 0 ? 2.0 : 1.0; }
  Result<double> kernel_us(const Kernel&) override { return 3.0; }
  std::unique_ptr<CostModel> clone() const override { return std::make_unique<Alternating>(); }

 private:
  int questions_ = 0;
};

TEST(CostContracts, FindOutWhoCountsTheQuestions) {
  const Alternating alternating;
  EXPECT_THAT(broken(contracts_of(alternating, loaded())), ElementsAre("gives the same time again, if it is modelled"));
  EXPECT_EQ(said(contracts_of(alternating, loaded()), "gives the same time again, if it is modelled").substr(0, 10),
            "not kept: ");
}

TEST(CostContracts, AreKeptByWhatSearchesAreTriedWith) {
  const std::unique_ptr<CostModel> prices = plain_prices();
  for (const Contract& contract : contracts_of(*prices, loaded())) {
    const Outcome outcome = contract.check();
    EXPECT_EQ(outcome.state, Outcome::State::kKept) << contract.name << ": " << outcome.detail;
  }
}

/// greedy, but for what a test gets wrong.
enum class Slip {
  kNone,
  kNothing,
  kDearer,
  kNoNumber,
  kSteps,
  kLuck,
  kPath,
  kGraph,
  kGap,
  kEnd,
  kFails,
  kOverrun,
  kCheap
};
class Spoilt final : public SearchStrategy {
 public:
  explicit Spoilt(Slip slip) : slip_(slip) {}
  std::string name() const override { return "spoilt"; }
  std::string summary() const override { return "greedy, spoilt"; }
  std::unique_ptr<SearchStrategy> clone() const override { return std::make_unique<Spoilt>(slip_); }
  Result<SearchResult> run(const SearchProblem& problem) override {
    static std::uint64_t times = 0;
    if (slip_ == Slip::kFails) return make_error(ErrorCode::kUnsupported, "no luck");
    SearchProblem given = problem;
    if (slip_ == Slip::kOverrun) {
      given.steps = 100;
      given.progress = [&](std::uint64_t, std::uint64_t candidates, double best_us) {
        return !problem.progress || problem.progress(0, candidates, best_us);
      };
    }
    REWRIGHT_TRY(SearchResult result, loaded().find<SearchStrategy>("greedy")->clone()->run(given));
    switch (slip_) {
      case Slip::kNone:
      case Slip::kFails: break;
      case Slip::kNothing:
        result.best = problem.start;
        result.cost_after_us = result.cost_before_us;
        result.path.clear();
        break;
      case Slip::kDearer: result.cost_after_us = 2 * result.cost_before_us; break;
      case Slip::kNoNumber: result.cost_after_us = std::nan(""); break;
      case Slip::kEnd: result.cost_after_us -= 1; break;
      case Slip::kSteps: result.steps = problem.steps + 1; break;
      case Slip::kLuck: result.candidates += ++times; break;
      case Slip::kPath:
        result.path.push_back({"rule", "rule", result.cost_after_us, result.cost_after_us, result.best});
        break;
      case Slip::kGraph:
        for (RewriteStep& step : result.path) step.graph = another();
        break;
      case Slip::kOverrun: result.steps = std::min(result.steps, problem.steps); break;
      case Slip::kCheap:
        result.cost_before_us /= 2;
        result.cost_after_us /= 2;
        for (RewriteStep& step : result.path) step.cost_before_us /= 2, step.cost_after_us /= 2;
        break;
      case Slip::kGap:
        for (RewriteStep& step : result.path) step.cost_before_us += 1;
        break;
    }
    return result;
  }

 private:
  static Graph another() {
    return *parse_graph("x = input (4, 4)\nu = input (4, 4)\nv = input (4, 4)\noutput u\n", loaded());
  }
  Slip slip_;
};

TEST(SearchContracts, NameWhatIsBroken) {
  const auto broken_by = [](Slip slip) { return broken(contracts_of(Spoilt(slip), loaded())); };
  const auto* result = "gives no costlier and no other graph";
  const auto* steps = "stays within its steps: two";
  EXPECT_THAT(broken_by(Slip::kNone), ElementsAre());
  EXPECT_THAT(broken_by(Slip::kNothing), ElementsAre("finds something on an easy way down"));
  EXPECT_THAT(broken_by(Slip::kDearer), Contains(result));
  EXPECT_THAT(broken_by(Slip::kNoNumber), Contains(result));
  EXPECT_THAT(broken_by(Slip::kEnd), Contains(result));
  EXPECT_THAT(broken_by(Slip::kSteps), Contains(steps));
  EXPECT_THAT(broken_by(Slip::kLuck), ElementsAre("ends alike for the same seed"));
  EXPECT_THAT(broken_by(Slip::kPath),
              ElementsAre("stays within its steps: none", "leaves a graph alone that no rule matches"));
  EXPECT_THAT(broken_by(Slip::kGraph), Contains(result));
  EXPECT_THAT(broken_by(Slip::kGap), Contains(result));
  EXPECT_THAT(broken_by(Slip::kFails), Contains(result));
  EXPECT_THAT(broken_by(Slip::kOverrun), ElementsAre("stays within its steps: none", steps));
  EXPECT_THAT(broken_by(Slip::kCheap), ElementsAre("says what its graphs cost"));
}

TEST(SearchContracts, SayHowTheStepsWereOverrun) {
  const Spoilt overrun(Slip::kOverrun);
  EXPECT_EQ(said(contracts_of(overrun, loaded()), "stays within its steps: none"),
            "not kept: its path has 3 rewrites where no step was allowed");
  EXPECT_EQ(
      said(contracts_of(overrun, loaded()), "stays within its steps: two"),
      "not kept: where 2 steps are allowed its path has 3 rewrites, as where 1000 are and it says that it took 4");
}

TEST(SearchContracts, AreKeptByThoseThatComeWithTheProgram) {
  for (const SearchStrategy* search : loaded().all<SearchStrategy>())
    EXPECT_THAT(broken(contracts_of(*search, loaded())), ElementsAre()) << search->name();
}

// --- advice ----------------------------------------------------------------------------------------------------------

TEST(Advice, NamesAHeaderThatThereIsAndAUsualCause) {
  std::set<std::string> headers;
  for (const auto& file : std::filesystem::recursive_directory_iterator(REWRIGHT_SOURCE_DIR "/core/include/rewright"))
    headers.insert(file.path().filename());
  const AxiomSet axioms = few_axioms();
  std::vector<Contract> all = contracts_of(*loaded().find<Operator>("relu"), loaded());
  const auto add = [&](std::vector<Contract> more) { all.insert(all.end(), more.begin(), more.end()); };
  add(contracts_of(*loaded().find<Verifier>("evaluate"), loaded(), axioms));
  for (const Pruner* pruner : loaded().all<Pruner>()) add(contracts_of(*pruner, loaded(), axioms));
  add(contracts_of(*loaded().find<SearchStrategy>("greedy"), loaded()));
  add(contracts_of(*loaded().find<CostModel>("flops"), loaded()));
  for (const Contract& contract : all) {
    ASSERT_THAT(contract.advice, MatchesRegex("see [a-z_]+\\.h.*; usual cause: .+")) << contract.name;
    const std::string header = contract.advice.substr(4, contract.advice.find(".h") - 2);
    EXPECT_TRUE(headers.contains(header)) << contract.advice;
  }
}

// --- tuners and predictors ----------------------------------------------------------------------------------------

enum class TunerFault : std::uint8_t { kRepeats, kLeavesTheSpace, kTakesAnyOption, kDependsOnTime };

template <TunerFault kFault>
class FaultyTuner final : public Tuner {
  class Run final : public tune::TunerRun {
   public:
    explicit Run(tune::TuningSpace& space) : space_(space) {}
    std::vector<tune::Point> propose(std::size_t) override {
      static std::uint64_t calls = 0;
      const std::uint64_t seed = kFault == TunerFault::kRepeats         ? 0
                                 : kFault == TunerFault::kDependsOnTime ? calls
                                                                        : next_;
      ++calls, ++next_;
      auto point = space_.random(seed);
      if (!point || (kFault != TunerFault::kRepeats && !known_.insert(*point).second)) return {};
      if (kFault == TunerFault::kLeavesTheSpace) point->choices[0] = 1000;
      return {*point};
    }
    void learn(std::span<const tune::MeasuredPoint>) override {}

   private:
    tune::TuningSpace& space_;
    std::uint64_t next_ = 0;
    std::set<tune::Point> known_;
  };

 public:
  [[nodiscard]] std::string name() const override { return "faulty"; }
  [[nodiscard]] std::string summary() const override { return "Breaks one contract"; }
  [[nodiscard]] Result<std::unique_ptr<tune::TunerRun>> start(tune::TuningSpace& space, std::uint64_t,
                                                              const Options& options) const override {
    if (!options.empty() && kFault != TunerFault::kTakesAnyOption) return make_error(ErrorCode::kUsage, "no option");
    return std::unique_ptr<tune::TunerRun>(std::make_unique<Run>(space));
  }
};

TEST(TunerContracts, EachFaultBreaksItsContract) {
  EXPECT_THAT(said(contracts_of(FaultyTuner<TunerFault::kRepeats>()), "proposes new points of the space"),
              HasSubstr("a point that it was told of"));
  EXPECT_THAT(said(contracts_of(FaultyTuner<TunerFault::kLeavesTheSpace>()), "proposes new points of the space"),
              HasSubstr("not in the space"));
  EXPECT_THAT(said(contracts_of(FaultyTuner<TunerFault::kTakesAnyOption>()), "knows its options"),
              HasSubstr("takes an option"));
  EXPECT_THAT(said(contracts_of(FaultyTuner<TunerFault::kDependsOnTime>()), "is the same for a seed"),
              HasSubstr("other points"));
}

/// All programs take as long. What it writes, it reads as something else.
class IndifferentPredictor final : public Predictor {
  class Fitted final : public tune::FittedPredictor {
    [[nodiscard]] std::vector<Estimate> predict(std::span<const tune::Features> programs) const override {
      std::vector<Estimate> all;
      for (std::size_t i = 0; i < programs.size(); ++i) all.push_back({first_us - static_cast<double>(i), 0});
      return all;
    }
    [[nodiscard]] Result<tune::Network> network() const override { return tune::Network(); }

   public:
    double first_us = 100;
  };

 public:
  [[nodiscard]] std::string name() const override { return "indifferent"; }
  [[nodiscard]] std::string summary() const override { return "Looks at nothing"; }
  [[nodiscard]] Result<std::unique_ptr<tune::FittedPredictor>> fit(std::span<const tune::Observation>,
                                                                   const tune::PredictorSetting&,
                                                                   const Options&) const override {
    return std::unique_ptr<tune::FittedPredictor>(std::make_unique<Fitted>());
  }
  [[nodiscard]] Result<std::unique_ptr<tune::FittedPredictor>> load(const tune::Network&,
                                                                    const tune::PredictorSetting&) const override {
    auto fitted = std::make_unique<Fitted>();
    fitted->first_us = 99;
    return std::unique_ptr<tune::FittedPredictor>(std::move(fitted));
  }
};

TEST(PredictorContracts, EachFaultBreaksItsContract) {
  const IndifferentPredictor predictor;
  EXPECT_THAT(broken(contracts_of(predictor)),
              ElementsAre("learns an order", "keeps what it learned", "says what it lacks"));
}

enum class GeneratorFault : std::uint8_t { kNoSchedule, kDoesNotApply, kDependsOnCalls };

template <GeneratorFault kFault>
class FaultyGenerator final : public Generator {
 public:
  [[nodiscard]] std::string name() const override { return "faulty"; }
  [[nodiscard]] std::string summary() const override { return "Wrong in one way"; }
  [[nodiscard]] std::vector<std::string> schedules(const loop::Program& /*program*/,
                                                   const tune::Machine& /*machine*/) const override {
    if (kFault == GeneratorFault::kNoSchedule) return {"make it fast"};
    if (kFault == GeneratorFault::kDoesNotApply) return {"split no.such.loop 2"};
    return std::vector<std::string>(++calls_ % 2);
  }

 private:
  mutable std::size_t calls_ = 0;
};

TEST(GeneratorContracts, EachFaultBreaksItsContract) {
  EXPECT_THAT(broken(contracts_of(FaultyGenerator<GeneratorFault::kNoSchedule>())),
              ElementsAre("writes schedules that apply"));
  EXPECT_THAT(broken(contracts_of(FaultyGenerator<GeneratorFault::kDoesNotApply>())),
              ElementsAre("writes schedules that apply"));
  EXPECT_THAT(broken(contracts_of(FaultyGenerator<GeneratorFault::kDependsOnCalls>())),
              ElementsAre("writes the same again"));
}

TEST(TuningContracts, ThePluginsThatShipKeepThem) {
  for (const Tuner* tuner : loaded().all<Tuner>())
    EXPECT_THAT(broken(contracts_of(*tuner)), ElementsAre()) << tuner->name();
  for (const Predictor* predictor : loaded().all<Predictor>())
    EXPECT_THAT(broken(contracts_of(*predictor)), ElementsAre()) << predictor->name();
  for (const Generator* generator : loaded().all<Generator>()) {
    EXPECT_THAT(broken(contracts_of(*generator)), ElementsAre()) << generator->name();
    EXPECT_EQ(contracts_of(*generator)[0].check().state, Outcome::State::kKept) << "it has rules for those programs";
  }
  EXPECT_THAT(loaded().all<Tuner>(), SizeIs(4));
}

}  // namespace
}  // namespace rewright::contract
