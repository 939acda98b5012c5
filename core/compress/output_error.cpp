#include "compress/output_error.h"

#include <tbb/parallel_for.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <span>
#include <utility>

#include "optimize/random_inputs.h"
#include "optimize/reference.h"

namespace rewright::compress {
namespace {

using Outputs = std::vector<ReferenceTensor>;

std::string name_of_output(const Graph& graph, std::size_t k) {
  const auto names = graph.output_names();
  return k < names.size() && !names[k].empty() ? names[k] : fmt::format("number {}", k + 1);
}

bool are_scores(const TensorType& type) {
  return type.shape.rank() == 2 && type.shape[1] > 1 && is_floating(type.element);
}

std::size_t greatest_of(std::span<const Real> row) {
  return static_cast<std::size_t>(std::ranges::max_element(row, {}, [](const Real& number) { return number.value; }) -
                                  row.begin());
}

/// Where one is no number and the other is, the difference is infinite.
double distance(double a, double b) {
  if (a == b || (std::isnan(a) && std::isnan(b))) return 0;
  const double apart = std::abs(a - b);
  return std::isnan(apart) ? std::numeric_limits<double>::infinity() : apart;
}

void add_run(const ReferenceTensor& original, const ReferenceTensor& compressed, OutputError& error) {
  const std::vector<Real> was = numbers_of(original), is = numbers_of(compressed);
  double greatest = 0, scale = 0;
  for (std::size_t i = 0; i < was.size(); ++i) {
    greatest = std::max(greatest, distance(was[i].value, is[i].value));
    if (std::isfinite(was[i].value)) scale = std::max(scale, std::abs(was[i].value));
  }
  error.greatest = std::max(error.greatest, greatest);
  if (greatest > 0)
    error.relative = std::max(error.relative, scale > 0 ? greatest / scale : std::numeric_limits<double>::infinity());
  if (!are_scores(original.type)) return;
  const auto classes = static_cast<std::size_t>(original.type.shape[1]);
  std::int64_t same = 0;
  for (std::size_t row = 0; row + classes <= was.size(); row += classes) {
    same += greatest_of(std::span(was).subspan(row, classes)) == greatest_of(std::span(is).subspan(row, classes));
    ++error.rows;
  }
  error.same_greatest = error.same_greatest.value_or(0) + same;
}

class ErrorRuns {
 public:
  ErrorRuns(const ImportedModel& original, const ImportedModel& compressed, const Registry& registry,
            const ErrorOptions& options)
      : original_(original),
        compressed_(compressed),
        options_(options),
        first_(options.runtime, options.directory, &original.external, &registry),
        second_(options.runtime, options.directory, &compressed.external, &registry),
        runs_(static_cast<std::size_t>(options.inputs)) {}

  Result<std::vector<OutputError>> run() {
    REWRIGHT_CHECK(first_.set_model(original_.skeleton));
    REWRIGHT_CHECK(second_.set_model(compressed_.skeleton));
    const auto make = [&](std::size_t i) { runs_[i] = run_both(static_cast<int>(i)); };
    if (holds_much(original_.graph)) {
      for (std::size_t i = 0; i < runs_.size(); ++i) make(i);
    } else {
      tbb::parallel_for(std::size_t{0}, runs_.size(), make);
    }
    std::vector<OutputError> errors;
    for (const auto& both : runs_) {
      if (!*both) return both->error();
      const auto& [was, is] = **both;
      for (std::size_t k = 0; k < was.size(); ++k) {
        if (errors.size() <= k) errors.push_back({name_of_output(original_.graph, k), 0, 0, {}, 0});
        add_run(was[k], is[k], errors[k]);
      }
    }
    return errors;
  }

 private:
  using Both = std::pair<Outputs, Outputs>;

  Result<Both> run_both(int trial) {
    REWRIGHT_TRY(const auto drawn, random_inputs(original_.graph, options_.seed, options_.given, {.trial = trial}));
    ReferenceInputs inputs;
    for (const RuntimeTensor& input : drawn) {
      REWRIGHT_TRY(inputs[input.name], reference_tensor(input.type, input.bytes));
    }
    REWRIGHT_TRY(Outputs was, outputs_of(first_, original_.graph, inputs));
    REWRIGHT_TRY(Outputs is, outputs_of(second_, compressed_.graph, inputs));
    return Both(std::move(was), std::move(is));
  }
  static Result<Outputs> outputs_of(Reference& reference, const Graph& graph, const ReferenceInputs& inputs) {
    REWRIGHT_TRY(ReferenceRun run, reference.evaluate(graph, inputs, Arithmetic::kExact));
    for (const ReferenceTensor& output : run.outputs)
      if (!output.is_there())
        return make_error(ErrorCode::kUnsupported, "the model cannot be run in double precision: {}", run.trouble);
    return std::move(run.outputs);
  }

  const ImportedModel& original_;
  const ImportedModel& compressed_;
  const ErrorOptions& options_;
  Reference first_, second_;
  std::vector<std::optional<Result<Both>>> runs_;
};

}  // namespace

Result<std::vector<OutputError>> output_errors(const ImportedModel& original, const ImportedModel& compressed,
                                               const Registry& registry, const ErrorOptions& options) {
  return ErrorRuns(original, compressed, registry, options).run();
}

}  // namespace rewright::compress
