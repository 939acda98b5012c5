#include "compile/artefact.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <iterator>
#include <numeric>

#include "base/files.h"
#include "compile/artefact_texts.h"
#include "compile/binding_texts.h"
#include "compile/single_node_model.h"
#include "compile/version_writer.h"
#include "loop/reserved_words.h"

namespace rewright::compile {
namespace {

/// Names that another file of the artefact, a header it includes, a module of Python, a target of make or a function
/// of libc has.
constexpr std::string_view kTakenNames[] = {
    "all", "clean", "ctypes",  "fcntl",  "main",   "math",  "mman",   "mq",     "os",   "numpy",  "sem",
    "shm", "stat",  "stdbool", "stddef", "stdint", "stdio", "stdlib", "string", "time", "unistd", "wheel"};

constexpr std::string_view kPlainFlags[] = {"-std=c11", "-O3"};
/// As target c compiles these dialects. Predictive commoning keeps loads for later steps, in more registers than are
/// free.
constexpr std::string_view kVectorFlags[] = {
    "-std=gnu11", "-O2", "-ffp-contract=off", "-fno-math-errno", "-fno-trapping-math", "-fno-predictive-commoning",
    "-Wno-psabi"};

class ArtefactWriter {
 public:
  ArtefactWriter(const std::string& name, std::span<const ModelVersion> versions,
                 const tune::InstructionSet* instructions)
      : name_(name), models_(versions), instructions_(instructions) {
    artefact_.name = name;
    if (instructions != nullptr) artefact_.instructions = instructions->name;
    for (const std::string_view flag : instructions != nullptr ? std::span<const std::string_view>(kVectorFlags)
                                                               : std::span<const std::string_view>(kPlainFlags))
      artefact_.flags.emplace_back(flag);
    for (const ModelVersion& version : versions) {
      writers_.emplace_back(version, weights_);
      artefact_.versions.push_back(writers_.back().version());
    }
    artefact_.weights = std::move(weights_.placed());
    artefact_.weight_bytes = weights_.bytes();
  }

  Result<Artefact> write(const Target& target) {
    const std::string dialect = instructions_ != nullptr ? instructions_->dialect : "c11";
    for (const ModelVersion& version : models_) {
      REWRIGHT_TRY(functions_.emplace_back(), target.source(version.kernels->functions, {.dialect = dialect}));
      has_pool_.push_back(functions_.back().find("rewright_parallel") != std::string::npos);
    }
    const bool beside = artefact_.weight_bytes > kMostEmbeddedBytes;
    REWRIGHT_TRY(const std::string weights, beside ? mapped() : embedded());
    if (any_pool()) artefact_.flags.emplace_back("-pthread");
    write_sources(weights);
    auto& files = artefact_.files;
    files[name_ + ".h"] = header();
    files["main.c"] = filled(kMainText);
    files["Makefile"] = filled(kMakefileText);
    files["CMakeLists.txt"] = filled(kCMakeText);
    files[name_ + ".py"] = filled(kPythonText);
    files["wheel.py"] = filled(kWheelText);
    files[name_ + ".hpp"] = filled(kCppText);
    files[name_ + "_ort.c"] = filled(kOperatorText);
    files[name_ + ".onnx"] = single_node_model(name_, artefact_.versions);
    if (!beside) artefact_.weights.clear();
    return std::move(artefact_);
  }

 private:
  [[nodiscard]] bool is_open() const { return !artefact_.versions.front().sizes.empty(); }
  [[nodiscard]] bool any_pool() const { return std::ranges::find(has_pool_, true) != has_pool_.end(); }
  /// Of the code of a version, and of its file where it has one.
  [[nodiscard]] std::string name_of_version(std::size_t i) const {
    return is_open() ? fmt::format("{}_{}", name_, i) : name_;
  }

  /// GCC may use the instructions in these functions, and nowhere else.
  [[nodiscard]] std::string with_features(const std::string& functions) const {
    if (instructions_ == nullptr || instructions_->features.empty()) return functions;
    return fmt::format(
        "#if defined(__clang__)\n#pragma clang attribute push(__attribute__((target(\"{0}\"))), apply_to = "
        "function)\n#elif defined(__GNUC__)\n#pragma GCC push_options\n#pragma GCC target(\"{0}\")\n#endif\n{1}"
        "#if defined(__clang__)\n#pragma clang attribute pop\n#elif defined(__GNUC__)\n#pragma GCC pop_options\n"
        "#endif\n",
        instructions_->features, functions);
  }
  /// Nothing, or what a model asks first when it is opened.
  [[nodiscard]] std::string processor_test() const {
    if (instructions_ == nullptr || instructions_->test.empty()) return "";
    return fmt::format("  if (!({})) return 2; /* This processor has no {}. */\n", instructions_->test,
                       instructions_->name);
  }

  // --- what differs where sizes are open -----------------------------------------------------------------------

  /// "size_batch" for the open size "batch"; each its own.
  [[nodiscard]] std::vector<std::string> words_of_sizes() const {
    std::vector<std::string> words;
    for (const auto& [name, size] : artefact_.versions.front().sizes) {
      std::string word = "size_" + loop::as_word(name);
      while (std::ranges::find(words, word) != words.end()) word += '_';
      words.push_back(std::move(word));
    }
    return words;
  }
  [[nodiscard]] std::string sizes_text(std::string_view before, std::string_view between) const {
    std::string text;
    for (const std::string& word : words_of_sizes())
      text += fmt::format("{}{}{}", text.empty() ? "" : between, before, word);
    return text;
  }
  /// The number of a version, by its sizes.
  [[nodiscard]] std::string selection() const {
    if (!is_open()) return "";
    std::string text = "int @name@_version(" + sizes_text("int64_t ", ", ") + ") {\n";
    const std::vector<std::string> words = words_of_sizes();
    for (std::size_t i = 0; i < artefact_.versions.size(); ++i) {
      std::vector<std::string> conditions;
      for (auto word = words.begin(); const auto& [name, size] : artefact_.versions[i].sizes)
        conditions.push_back(fmt::format("{} == {}", *word++, size));
      text += fmt::format("  if ({}) return {};\n", fmt::join(conditions, " && "), i);
    }
    return text + "  return -1;\n}\n";
  }
  /// From the words of a command.
  [[nodiscard]] std::string read_sizes() const {
    std::vector<std::string> words;
    for (std::size_t i = 0; i < artefact_.versions.front().sizes.size(); ++i)
      words.push_back(fmt::format("strtoll(sizes[{}], NULL, 10)", i));
    return fmt::format("{}", fmt::join(words, ", "));
  }
  [[nodiscard]] std::string python_names() const {
    std::vector<std::string> names;
    for (const auto& [name, size] : artefact_.versions.front().sizes)
      names.push_back(fmt::format("b{}.decode()", c_string(name)));
    return fmt::format("[{}]", fmt::join(names, ", "));
  }

  [[nodiscard]] std::string filled(std::string_view given) const {
    const bool open = is_open();
    std::string sources;
    for (const std::string& source : artefact_.sources) sources += (sources.empty() ? "" : " ") + source;
    const std::pair<std::string_view, std::string> parts[] = {
        {"@processor@", processor_test()},
        {"@flags@", fmt::format("{}", fmt::join(artefact_.flags, " "))},
        {"@sources@", sources},
        {"@opened@", any_pool() ? "  if (weights->bytes != NULL) pool_open();\n" : ""},
        {"@closed@", any_pool() ? "  if (weights->bytes != NULL) pool_close();\n" : ""},
        {"@versions@", fmt::format("{}", artefact_.versions.size())},
        {"@version_first@", open ? "int version, " : ""},
        {"@version_alone@", open ? "int version" : "void"},
        {"@number@", open ? "version" : "0"},
        {"@with_number@", open ? "version, " : ""},
        {"@only_number@", open ? "version" : ""},
        {"@is_known@", open ? fmt::format("version >= 0 && version < {} && ", artefact_.versions.size()) : ""},
        {"@sizes@", sizes_text("", ", ")},
        {"@int_sizes@", sizes_text("int64_t ", ", ")},
        {"@selection@", selection()},
        {"@read_sizes@", read_sizes()},
        {"@size_count@", fmt::format("{}", artefact_.versions.front().sizes.size())},
        {"@size_names@", python_names()}};
    std::string result = choose(given, open);
    for (const auto& [mark, text] : parts) replace(result, mark, text);
    replace(result, "@name@", name_);
    return result;
  }
  static void replace(std::string& text, std::string_view mark, const std::string& by) {
    for (std::size_t at = 0; (at = text.find(mark, at)) != std::string::npos; at += by.size())
      text.replace(at, mark.size(), by);
  }
  /// "@open{...@}" stays where sizes are open, "@fixed{...@}" where they are not.
  static std::string choose(std::string_view given, bool open) {
    std::string text;
    while (true) {
      const std::size_t at = std::min(given.find("@open{"), given.find("@fixed{"));
      text += given.substr(0, at);
      if (at == std::string_view::npos) return text;
      const bool is_for_open = given[at + 1] == 'o';
      const std::size_t begin = given.find('{', at) + 1, end = given.find("@}", begin);
      if (is_for_open == open) text += given.substr(begin, end - begin);
      given.remove_prefix(end + 2);
    }
  }

  // --- files ---------------------------------------------------------------------------------------------------

  /// What a version is in C, after the functions of its kernels.
  [[nodiscard]] std::string code_of(std::size_t i) const {
    std::string text = "#include <stddef.h>\n#include <string.h>\n\n#include \"@name@.h\"\n\n";
    text += kCodeText;
    text += writers_[i].tables() + "\n";
    text += fmt::format("#define KERNELS {}\n", models_[i].kernels->calls.size());
    text += is_open() ? std::string_view("#define CALL(k, call) fault |= call;\n\n") : kCallText;
    text += writers_[i].run_function();
    text += fmt::format("\n{}const struct @name@_code {} = {{inputs, outputs, {}, run}};\n", is_open() ? "" : "static ",
                        is_open() ? name_of_version(i) : "code", artefact_.versions[i].memory_bytes);
    return text;
  }
  /// The file with the functions of a version, up to its code.
  [[nodiscard]] std::string functions_of(std::size_t i) const {
    const std::string parallel =
        has_pool_[i] ? fmt::format("#define rewright_parallel {}_parallel\n", name_of_version(i)) : "";
    return parallel + std::string(kFeatureText) + with_features(functions_[i]) + "\n";
  }
  /// Opening, and what is asked of a version by its number.
  [[nodiscard]] std::string interface(const std::string& weights) const {
    std::string text, codes;
    for (std::size_t i = 0; i < writers_.size(); ++i) {
      if (is_open()) text += fmt::format("extern const struct @name@_code {};\n", name_of_version(i));
      codes += fmt::format("{}&{}", i == 0 ? "" : ", ", is_open() ? name_of_version(i) : "code");
    }
    text += fmt::format("static const struct @name@_code *const codes[] = {{{}}};\n", codes);
    return text + weights + std::string(kTableText) + "@selection@";
  }
  [[nodiscard]] std::string pool() const {
    if (!any_pool()) return "";
    std::string text = fmt::format("#define THREADS {}\n", models_.front().kernels->threads), set;
    if (is_open()) text += "typedef void body_of_loop(void *context, int64_t begin, int64_t end);\n";
    for (std::size_t i = 0; i < has_pool_.size(); ++i) {
      if (!has_pool_[i]) continue;
      const std::string variable = name_of_version(i) + "_parallel";
      if (is_open())
        text += fmt::format("extern void (*{})(int64_t count, body_of_loop *body, void *context);\n", variable);
      set += fmt::format("    {} = pool_run;\n", variable);
    }
    text += kPoolText;
    replace(text, "@set_pools@", set);
    return text;
  }
  void write_sources(const std::string& weights) {
    auto& files = artefact_.files;
    if (!is_open()) {
      artefact_.sources = {name_ + ".c"};
      files[name_ + ".c"] = functions_of(0) + filled(code_of(0) + pool() + interface(weights));
      return;
    }
    const std::string head =
        std::string(kFeatureText) + "#include <stddef.h>\n#include <string.h>\n\n#include \"@name@.h\"\n\n";
    files[name_ + ".c"] = filled(head + std::string(kCodeText) + pool() + interface(weights));
    artefact_.sources = {name_ + ".c"};
    for (std::size_t i = 0; i < writers_.size(); ++i) {
      artefact_.sources.push_back(name_of_version(i) + ".c");
      files[artefact_.sources.back()] = functions_of(i) + filled(code_of(i));
    }
  }
  /// What the header says of global state.
  [[nodiscard]] std::string state() const {
    if (!any_pool()) return "There is no global state.";
    const int threads = models_.front().kernels->threads;
    return fmt::format(
        "The only global state is\n * a pool of {} beside the caller: started by the first open, shared by all runs, "
        "ended by the last close. Its\n * threads serve one run at a time; a run that finds them busy goes on alone.",
        threads == 2 ? "1 thread" : fmt::format("{} threads", threads - 1));
  }
  [[nodiscard]] std::string rows() const {
    if (!is_open()) return writers_.front().rows("  ");
    std::string text;
    for (std::size_t i = 0; i < writers_.size(); ++i) {
      std::vector<std::string> sizes;
      for (const auto& [name, size] : artefact_.versions[i].sizes)
        sizes.push_back(fmt::format("{}={}", in_comment(name), size));
      text += fmt::format(" *   version {}: {}\n{}", i, fmt::join(sizes, ", "), writers_[i].rows("    "));
    }
    return text;
  }
  [[nodiscard]] std::string header() const {
    const std::string needs =
        artefact_.instructions.empty()
            ? ""
            : fmt::format(" Compiled for processors with {}: 2 on others.", artefact_.instructions);
    const ArtefactVersion& first = artefact_.versions.front();
    return fmt::format(fmt::runtime(filled(kHeaderText)), fmt::arg("rows", rows()),
                       fmt::arg("input_count", first.inputs.size()), fmt::arg("output_count", first.outputs.size()),
                       fmt::arg("memory", artefact_.memory_bytes()), fmt::arg("needs", needs),
                       fmt::arg("state", state()));
  }
  [[nodiscard]] Result<std::string> embedded() const {
    REWRIGHT_TRY(const std::vector<std::byte> all, compile::bytes_of(artefact_.weights, artefact_.weight_bytes));
    std::string text = "static const _Alignas(64) unsigned char weight_bytes[] = {";
    for (std::size_t i = 0; i < all.size(); ++i) {
      fmt::format_to(std::back_inserter(text), "{}{},", i % 32 == 0 ? "\n  " : "", static_cast<unsigned>(all[i]));
    }
    return text + (all.empty() ? "0};\n" : "\n};\n") + std::string(kEmbeddedText);
  }
  [[nodiscard]] Result<std::string> mapped() const {
    return fmt::format("#define WEIGHT_BYTES UINT64_C({})\n", artefact_.weight_bytes) + std::string(kMappedText);
  }

  std::string name_;
  std::span<const ModelVersion> models_;
  const tune::InstructionSet* instructions_;
  WeightPlaces weights_;
  std::vector<VersionWriter> writers_;
  std::vector<std::string> functions_;  ///< By version.
  std::vector<bool> has_pool_;          ///< Has it parallel loops?
  Artefact artefact_;
};

}  // namespace

std::int64_t Artefact::bytes() const {
  const std::int64_t beside = weights.empty() ? 0 : weight_bytes;
  return std::accumulate(files.begin(), files.end(), beside, [](std::int64_t sum, const auto& file) {
    return sum + static_cast<std::int64_t>(file.second.size());
  });
}

std::int64_t Artefact::memory_bytes() const {
  return std::ranges::max(versions, {}, &ArtefactVersion::memory_bytes).memory_bytes;
}

std::string artefact_name(std::string_view stem) {
  const std::string word = loop::as_word(stem);
  return std::ranges::find(kTakenNames, word) == std::end(kTakenNames) ? word : word + "_model";
}

Result<Artefact> make_artefact(const std::string& name, std::span<const ModelVersion> versions, const Target& target,
                               const tune::InstructionSet* instructions) {
  return ArtefactWriter(name, versions, instructions).write(target);
}

Status write_artefact(const Artefact& artefact, const std::string& folder) {
  for (const auto& [name, content] : artefact.files) REWRIGHT_CHECK(write_file(folder + "/" + name, content));
  if (artefact.weights.empty()) return {};
  return write_weights(artefact.weights, artefact.weight_bytes, folder + "/" + artefact.name + ".weights");
}

}  // namespace rewright::compile
