// rewright new operator|axioms|verifier|pruner|search|cost NAME
#include <algorithm>
#include <array>
#include <filesystem>

#include "base/files.h"
#include "cli/commands.h"
#include "cli/output.h"
#include "cli/own_files.h"
#include "cli/program.h"

namespace rewright::cli {
namespace {

namespace fs = std::filesystem;

struct Kind {
  const char* name;
  const char* folder;  ///< Of built plugins of the kind; null: no plugin.
  const char* summary;
};

constexpr std::array kKinds = {
    Kind{"operator", "operators", "An operator with its laws and a rule: a project of four files that works as it is"},
    Kind{"axioms", nullptr, "A file of axioms, with its check as a test"},
    Kind{"verifier", "verifiers", "A verifier: a project of one source file that works as it is"},
    Kind{"pruner", "pruners", "A pruner of candidates: a project of one source file that works as it is"},
    Kind{"search", "searches", "A search strategy: a project of one source file that works as it is"},
    Kind{"cost", "costs", "A cost model: a project of one source file that works as it is"},
    Kind{"tuner", "tuners", "A tuner of schedules: a project of one source file that works as it is"},
};

struct NewArguments {
  std::string name;
  std::string folder;
};

/// "my_square" becomes "MySquare".
std::string camel_case(const std::string& name) {
  std::string text;
  bool upper = true;
  for (const char c : name) {
    if (c == '_') {
      upper = true;
      continue;
    }
    text += upper ? static_cast<char>(c >= 'a' && c <= 'z' ? c - 'a' + 'A' : c) : c;
    upper = false;
  }
  return text;
}

Status check_name(const std::string& name) {
  const auto is_letter = [](char c) { return c >= 'a' && c <= 'z'; };
  const bool good = !name.empty() && name.size() <= 64 && is_letter(name[0]) && std::ranges::all_of(name, [&](char c) {
    return is_letter(c) || (c >= '0' && c <= '9') || c == '_';
  });
  if (good) return {};
  return make_error(ErrorCode::kUsage,
                    "the name is '{}'; expected a lower-case letter, then up to 63 lower-case letters, digits and _",
                    name);
}

std::string filled_in(std::string text, const std::string& name, const Kind& kind) {
  const std::array<std::pair<std::string, std::string>, 5> values = {{
      {"@name@", name},
      {"@Name@", camel_case(name)},
      {"@kind@", kind.name},
      {"@folder@", kind.folder == nullptr ? "" : kind.folder},
      {"@prefix@", own_prefix()},
  }};
  for (const auto& [from, to] : values) {
    for (std::size_t at = 0; (at = text.find(from, at)) != std::string::npos; at += to.size())
      text.replace(at, from.size(), to);
  }
  return text;
}

Result<ExitCode> make_new(const Settings& settings, const Kind& kind, const NewArguments& arguments) {
  REWRIGHT_CHECK(check_name(arguments.name));
  const fs::path folder = arguments.folder.empty() ? arguments.name : arguments.folder;
  std::error_code failed;
  if (fs::exists(folder, failed) && !fs::is_empty(folder, failed))
    return make_error(ErrorCode::kUsage, "{}: it exists and is not empty; name a new folder with -o", folder.string());
  REWRIGHT_TRY(const std::string templates, own_templates());
  fs::create_directories(folder, failed);
  // A kind's own files first, then those that all plugins have.
  std::vector<std::string> written;
  for (const std::string& from : {std::string(kind.name), std::string("common")}) {
    std::vector<fs::path> files;
    for (const auto& entry : fs::directory_iterator(fs::path(templates) / from)) files.push_back(entry.path());
    std::ranges::sort(files);
    for (const fs::path& file : files) {
      const std::string name = filled_in(file.filename().string(), arguments.name, kind);
      if (std::ranges::find(written, name) != written.end()) continue;
      REWRIGHT_TRY(const std::string text, read_file(file.string()));
      if (const Status done = write_file((folder / name).string(), filled_in(text, arguments.name, kind)); !done) {
        for (const std::string& half : written) fs::remove(folder / half, failed);  // So that it can be tried again.
        return done.error();
      }
      written.push_back(name);
    }
  }
  if (settings.json) {
    print_json({{"folder", folder.string()}, {"files", written}});
  } else {
    print_line(fmt::format("{}: {}. Its README.md says how to go on.", folder.string(), fmt::join(written, ", ")));
  }
  return ExitCode::kDone;
}

}  // namespace

void add_new(Program& program) {
  const Command group = program.group("new", "Begins a plugin or a file of axioms of one's own, outside this tree");
  for (const Kind& kind : kKinds) {
    const auto arguments = std::make_shared<NewArguments>();
    const Command command =
        program.command(group, kind.name, kind.summary,
                        {fmt::format("rewright new {} my_{}", kind.name, kind.name),
                         fmt::format("rewright new {0} my_{0} -o work/my_{0}", kind.name)},
                        [&kind, arguments](const Settings& settings) { return make_new(settings, kind, *arguments); });
    command.add_option("NAME", arguments->name, "Its name: lower-case letters, digits and _").required();
    command.add_option("-o,--output", arguments->folder, "The folder to make (default: NAME)").type_name("DIR");
  }
}

}  // namespace rewright::cli
