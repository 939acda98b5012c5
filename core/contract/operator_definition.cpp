// What an operator computes against what its definition says, run as loops.
#include <rewright/loop/loop_program.h>

#include "contract/operator_checks.h"
#include "loop/interpreter.h"
#include "loop/lower.h"
#include "loop/validator.h"
#include "operator/properties.h"

namespace rewright::contract {

namespace {

/// The outputs' elements, one after the other, as run() gives them.
template <class Scalar>
Result<std::vector<Scalar>> run_as_loops(const loop::Program& program, const std::vector<Tensor<Scalar>>& in) {
  loop::Contents<Scalar> contents(program.buffers.size());
  std::size_t next = 0;
  for (std::size_t b = 0; b < program.buffers.size(); ++b)
    if (program.buffers[b].role == BufferRole::kInput) contents[b] = in[next++].values();
  REWRIGHT_CHECK(loop::interpret(program, contents));
  std::vector<Scalar> elements;
  for (std::size_t b = 0; b < program.buffers.size(); ++b)
    if (program.buffers[b].role == BufferRole::kOutput)
      elements.insert(elements.end(), contents[b].begin(), contents[b].end());
  return elements;
}

template <class Scalar>
Breach differs(const Application& application, const loop::Program& program, Random& random, const char* algebra) {
  const auto in =
      operands<Scalar>(application, [&](std::size_t) { return Scalar::from_integer(random.between(-9, 9)); });
  const auto said = run_as_loops<Scalar>(program, in);
  if (!said) return "its definition: " + said.error().message;
  const std::vector<Scalar> computed = run(application, in);
  for (std::size_t i = 0; i < computed.size(); ++i) {
    if (said->size() != computed.size() || (*said)[i] != computed[i])
      return fmt::format("over {} element {} is not what its definition says", algebra, i);
  }
  return std::nullopt;
}

/// Of the traits that engines rely on, those that the definition does not bear out.
Breach claims_wrongly(const Application& application, const Definition& definition) {
  const Traits said = application.op->traits(application.params), found = traits_of(definition);
  if (said.multilinear && !found.multilinear)
    return "it says that it is multilinear, and by its definition it is not linear in each operand";
  if (found.uses_order && !said.uses_order) return "its definition compares values, and uses_order is not set";
  if (found.uses_functions && !said.uses_functions)
    return "its definition has functions in it, and uses_functions is not set";
  return std::nullopt;
}

}  // namespace

Breach differs_from_definition(const Application& application, Random& random, bool& counts) {
  const auto definition = application.op->definition(application.params, application.in);
  const std::vector<Shape> shapes = *application.op->infer(application.params, application.in);
  std::size_t output = 0;
  counts = definition.has_value();  // Another shape rule over symbols is another breach.
  for (std::size_t b = 0; counts && b < definition->buffers.size(); ++b) {
    const Buffer& buffer = definition->buffers[b];
    if (buffer.role != BufferRole::kOutput) continue;
    const Shape& shape = shapes[output++];
    counts = std::ranges::equal(buffer.sizes, shape.dims(),
                                [](const IndexExpr& size, std::int64_t number) { return size.number() == number; });
  }
  if (!counts) return std::nullopt;
  if (Breach breach = claims_wrongly(application, *definition)) return breach;
  const auto program = loop::lower(*definition);
  if (!program) return "its definition: " + program.error().message;
  if (const Status valid = loop::validate(*program); !valid) return "its definition: " + valid.error().message;
  if (Breach breach = differs<Field>(application, *program, random, "Field")) return breach;
  return differs<Exact>(application, *program, random, "Exact");
}

}  // namespace rewright::contract
