// The registry: every object that plugins provide, by kind and name.
#pragma once

#include <rewright/base/abi.h>
#include <rewright/base/result.h>
#include <rewright/base/visibility.h>

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace rewright {

// The kinds of objects: type and the word for it. A new kind is one interface header and one line here.
#define REWRIGHT_PLUGIN_KINDS(X) \
  X(Operator, "operator")        \
  X(Verifier, "verifier")        \
  X(Pruner, "pruner")            \
  X(SearchStrategy, "search")    \
  X(CostModel, "cost")           \
  X(Runtime, "runtime")          \
  X(Target, "target")            \
  X(Tuner, "tuner")              \
  X(Predictor, "predictor")      \
  X(Generator, "generator")

#define REWRIGHT_DECLARE_KIND(Kind, word) class Kind;
REWRIGHT_PLUGIN_KINDS(REWRIGHT_DECLARE_KIND)
#undef REWRIGHT_DECLARE_KIND

/// A plugin that was loaded.
struct LoadedPlugin {
  std::string file;
  std::string name;
  std::string version;
  std::string summary;
  std::vector<std::string> provides;  ///< "operator matmul".
};

class REWRIGHT_API Registry {
 public:
  Registry();
  ~Registry();
  Registry(Registry&&) noexcept;
  Registry& operator=(Registry&&) noexcept;

  /// Takes an object over; its name() must be new among its kind, which is checked when the plugin is merged.
  template <class Kind>
  void add(std::unique_ptr<Kind> object) {
    stage(std::move(object), kAbiVersion<Kind>);
  }

  /// Null if there is none of that name.
  template <class Kind>
  [[nodiscard]] const Kind* find(std::string_view name) const;
  /// The object, or kNotFound with the names there are.
  template <class Kind>
  [[nodiscard]] Result<const Kind*> get(std::string_view name) const;
  /// All of a kind, by name.
  template <class Kind>
  [[nodiscard]] std::vector<const Kind*> all() const;

  [[nodiscard]] std::span<const LoadedPlugin> plugins() const;

  /// Loads one shared object. Errors: kPlugin, a sentence that names the file, what it has and what is needed.
  Status load(const std::string& file);
  /// Loads every *.so below `folder`, in sorted order of path. A folder that does not exist is no error.
  Status load_folder(const std::string& folder);
  /// Loads `files`, then the folders in REWRIGHT_PLUGIN_PATH (colon-separated), then the plugins that came with the
  /// program (install or build folder).
  Status load_default(std::span<const std::string> files = {});

 private:
  template <class Kind>
  void stage(std::unique_ptr<Kind> object, std::uint32_t abi_version);

  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace rewright
