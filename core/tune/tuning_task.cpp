#include "tune/tuning_task.h"

#include <cctype>

#include "base/files.h"
#include "loop/lower.h"
#include "loop/validator.h"
#include "tune/kernel_program.h"
#include "tune/kernel_text.h"

namespace rewright::tune {
namespace {

constexpr std::int64_t kWalkedSteps = 200'000;  ///< By the validator.

bool is_in_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '/' || c == '.'; }

/// Lines that are for readers alone.
bool is_note(std::string_view line) {
  const std::size_t first = line.find_first_not_of(' ');
  return first == std::string_view::npos || line[first] == '#';
}

}  // namespace

Result<TuningTask> kernel_task(const std::string& text, const Registry& registry) {
  const auto kernel = parse_kernel(text, registry);
  if (!kernel) return make_error(kernel.error().code, "the kernel '{}': {}", text, kernel.error().message);
  REWRIGHT_TRY(TuningTask task, kernel_task(kernel->kernel(), registry));
  task.name = text;
  return task;
}

Result<TuningTask> kernel_task(const Kernel& kernel, const Registry& registry) {
  REWRIGHT_TRY(KernelTask task, task_of(kernel, registry));
  return TuningTask{std::move(task.key), std::move(task.apart.structure), std::move(task.apart.sizes),
                    std::move(task.program)};
}

TuningTask program_task(std::string name, const loop::Program& program) {
  TuningTask task{std::move(name), "", {}, program};
  std::string skeleton;
  const std::string text = to_string(program);
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    const std::string_view line(text.data() + begin, end - begin);
    begin = end + 1;
    if (is_note(line)) continue;
    for (std::size_t i = 0; i < line.size();) {
      const bool is_number =
          std::isdigit(static_cast<unsigned char>(line[i])) != 0 && (i == 0 || !is_in_word(line[i - 1]));
      std::size_t stop = i + 1;
      while (is_number && stop < line.size() && std::isdigit(static_cast<unsigned char>(line[stop])) != 0) ++stop;
      const bool is_size = is_number && stop - i < 18 && (stop == line.size() || !is_in_word(line[stop]));
      if (is_size) {
        task.sizes.push_back(std::stoll(std::string(line.substr(i, stop - i))));
        skeleton += '#';
      } else {
        skeleton += line.substr(i, stop - i);
      }
      i = stop;
    }
    skeleton += '\n';
  }
  task.structure = "loops " + content_hash(skeleton);
  return task;
}

Result<TuningTask> file_task(const std::string& file, const std::map<std::string, std::int64_t>& sizes) {
  REWRIGHT_TRY(const std::string text, read_file(file));
  auto program = loop::parse_program(text);
  if (!program) return make_error(program.error().code, "'{}': {}", file, program.error().message);
  program = loop::specialised(*program, [&](const SizeVar& size) -> std::optional<std::int64_t> {
    const auto at = sizes.find(size.text());
    return at == sizes.end() ? std::nullopt : std::optional(at->second);
  });
  const Status valid = loop::validate(*program, kWalkedSteps);
  if (!valid && valid.error().code != ErrorCode::kBudget)
    return make_error(valid.error().code, "'{}': {}", file, valid.error().message);
  return program_task(file, *program);
}

}  // namespace rewright::tune
