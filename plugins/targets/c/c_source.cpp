#include "c_source.h"

#include <algorithm>
#include <optional>

#include "c_function.h"
#include "c_shared_parts.h"

namespace rewright::c {
namespace {

using namespace loop;

/// Who runs the code may set rewright_parallel; otherwise iterations run in order.
constexpr std::string_view kParallel = R"(typedef void body_of_loop(void *context, int64_t begin, int64_t end);
void (*rewright_parallel)(int64_t count, body_of_loop *body, void *context);
static void run_parallel(int64_t count, body_of_loop *body, void *context) {
  if (rewright_parallel)
    rewright_parallel(count, body, context);
  else
    body(context, 0, count);
}

)";

bool is_word(std::string_view text) {
  const auto is_letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; };
  return !text.empty() && is_letter(text[0]) &&
         std::ranges::all_of(text, [&](char c) { return is_letter(c) || (c >= '0' && c <= '9'); });
}

}  // namespace

Result<std::string> c_source(std::span<const NamedProgram> programs, const Instructions* instructions) {
  Helpers helpers;
  std::optional<VectorHelpers> vectors;
  if (instructions != nullptr) vectors.emplace(static_cast<int>(instructions->bytes / sizeof(float)));
  std::string functions;
  bool has_parallel_loops = false;
  for (const NamedProgram& named : programs) {
    if (!is_word(named.name) || is_taken(named.name)) {
      return make_error(ErrorCode::kUnsupported, "'{}' is no name for a function in C", named.name);
    }
    if (!functions.empty()) functions += "\n";
    if (!vectors) {
      functions += FunctionWriter(named, helpers).write();
      continue;
    }
    Registers registers;
    Helpers seen;
    VectorHelpers seen_vectors = *vectors;
    (void)FunctionWriter(named, seen, seen_vectors, registers).write();
    registers.settle();
    FunctionWriter writer(named, helpers, *vectors, registers);
    functions += with_shared_parts(writer.write());
    has_parallel_loops |= writer.has_parallel_loops();
  }
  std::string head = helpers.text();
  if (vectors) head += vectors->text();
  if (has_parallel_loops) head += kParallel;
  return head + functions;
}

}  // namespace rewright::c
