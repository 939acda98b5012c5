// The registry and the loader of plugins.
#include <rewright/loop/target.h>
#include <rewright/onnx/runtime.h>
#include <rewright/operator/operator.h>
#include <rewright/optimize/cost.h>
#include <rewright/optimize/search.h>
#include <rewright/plugin/plugin.h>
#include <rewright/rule/pruner.h>
#include <rewright/tune/generator.h>
#include <rewright/tune/predictor.h>
#include <rewright/tune/tuner.h>
#include <rewright/verify/verifier.h>

#include <dlfcn.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <set>

#include "plugin/own_folder.h"

namespace rewright {

namespace {

namespace fs = std::filesystem;

template <class Kind>
struct Entry {
  std::unique_ptr<Kind> object;
  std::string file;
};

template <class Kind>
using Table = std::map<std::string, Entry<Kind>, std::less<>>;

/// An object as a plugin hands it over, with the version of its kind that the plugin was built for.
template <class Kind>
struct StagedObject {
  std::unique_ptr<Kind> object;
  std::uint32_t abi_version;
};

/// Two of one name are kept apart, so that they can be refused.
template <class Kind>
using StagedObjects = std::vector<StagedObject<Kind>>;

}  // namespace

struct Registry::State {
#define REWRIGHT_TABLE(Kind, word) Table<Kind>,
#define REWRIGHT_STAGED(Kind, word) StagedObjects<Kind>,
  std::tuple<REWRIGHT_PLUGIN_KINDS(REWRIGHT_TABLE) int> tables;
  std::tuple<REWRIGHT_PLUGIN_KINDS(REWRIGHT_STAGED) int> staged;
#undef REWRIGHT_TABLE
#undef REWRIGHT_STAGED
  std::vector<LoadedPlugin> plugins;
  std::set<std::string> files;

  template <class Kind>
  Status check_versions(const std::string& file, const char* word) const {
    for (const auto& [object, version] : std::get<StagedObjects<Kind>>(staged)) {
      if (version == kAbiVersion<Kind>) continue;
      return make_error(ErrorCode::kPlugin,
                        "{}: was built for version {} of the interface of kind '{}', but this program has version {}; "
                        "build it again",
                        file, version, word, kAbiVersion<Kind>);
    }
    return {};
  }

  template <class Kind>
  Status check_names(const State& stage, const std::string& file, const char* word) const {
    std::set<std::string> fresh;
    for (const auto& [object, version] : std::get<StagedObjects<Kind>>(stage.staged)) {
      const std::string name = object->name();
      if (const auto taken = std::get<Table<Kind>>(tables).find(name); taken != std::get<Table<Kind>>(tables).end()) {
        return make_error(ErrorCode::kPlugin, "{}: the {} '{}' is there already, from {}; load only one of the two",
                          file, word, name, taken->second.file);
      }
      if (!fresh.insert(name).second) {
        return make_error(ErrorCode::kPlugin, "{}: registers the {} '{}' twice", file, word, name);
      }
    }
    return {};
  }

  template <class Kind>
  void merge(State& stage, LoadedPlugin& plugin, const char* word) {
    for (auto& [object, version] : std::get<StagedObjects<Kind>>(stage.staged)) {
      const std::string name = object->name();
      plugin.provides.push_back(fmt::format("{} {}", word, name));
      std::get<Table<Kind>>(tables).emplace(name, Entry<Kind>{std::move(object), plugin.file});
    }
  }
};

Registry::Registry() : state_(std::make_unique<State>()) {}
Registry::~Registry() = default;
Registry::Registry(Registry&&) noexcept = default;
Registry& Registry::operator=(Registry&&) noexcept = default;

std::span<const LoadedPlugin> Registry::plugins() const { return state_->plugins; }

template <class Kind>
void Registry::stage(std::unique_ptr<Kind> object, std::uint32_t abi_version) {
  std::get<StagedObjects<Kind>>(state_->staged).push_back({std::move(object), abi_version});
}

template <class Kind>
const Kind* Registry::find(std::string_view name) const {
  const auto& table = std::get<Table<Kind>>(state_->tables);
  const auto place = table.find(name);
  return place == table.end() ? nullptr : place->second.object.get();
}

template <class Kind>
std::vector<const Kind*> Registry::all() const {
  std::vector<const Kind*> objects;
  for (const auto& [name, entry] : std::get<Table<Kind>>(state_->tables)) objects.push_back(entry.object.get());
  return objects;
}

namespace {

template <class Kind>
constexpr const char* kWord = nullptr;
#define REWRIGHT_WORD(Kind, word) \
  template <>                     \
  constexpr const char* kWord<Kind> = word;
REWRIGHT_PLUGIN_KINDS(REWRIGHT_WORD)
#undef REWRIGHT_WORD

}  // namespace

template <class Kind>
Result<const Kind*> Registry::get(std::string_view name) const {
  if (const Kind* found = find<Kind>(name)) return found;
  std::vector<std::string> names;
  for (const auto& [known, entry] : std::get<Table<Kind>>(state_->tables)) names.push_back(known);
  return make_error(ErrorCode::kNotFound, "no {} is named '{}'; there are: {}", kWord<Kind>, name,
                    names.empty() ? std::string("none (no plugin of this kind is loaded)")
                                  : fmt::format("{}", fmt::join(names, ", ")));
}

#define REWRIGHT_INSTANTIATE(Kind, word)                                                 \
  template REWRIGHT_API void Registry::stage(std::unique_ptr<Kind>, std::uint32_t);      \
  template REWRIGHT_API const Kind* Registry::find<Kind>(std::string_view) const;        \
  template REWRIGHT_API Result<const Kind*> Registry::get<Kind>(std::string_view) const; \
  template REWRIGHT_API std::vector<const Kind*> Registry::all<Kind>() const;
REWRIGHT_PLUGIN_KINDS(REWRIGHT_INSTANTIATE)
#undef REWRIGHT_INSTANTIATE

// --- loading -----------------------------------------------------------------------------------------------------

namespace {

/// What dlerror() says, without the file's name in front.
std::string loader_message(const std::string& file) {
  const char* raw = dlerror();
  std::string message = raw ? raw : "no reason was given";
  if (const std::string prefix = file + ": "; message.starts_with(prefix)) message.erase(0, prefix.size());
  return message;
}

bool others_may_write(const fs::path& what) {
  std::error_code ignored;
  return (fs::status(what, ignored).permissions() & fs::perms::others_write) != fs::perms::none;
}

Error anybodys(const std::string& plugin, const char* what, const fs::path& path) {
  return make_error(ErrorCode::kPlugin,
                    "{}: every user of this machine may write to {}, so that the plugin may be anybody's; take that "
                    "right away (chmod o-w {})",
                    plugin, what, path.string());
}

/// A plugin runs with its user's rights: one that anybody may replace is anybody's program. In a folder with the sticky
/// bit only their owners may replace files, so that one that its user has named is safe there.
Status check_rights(const std::string& path) {
  std::error_code ignored;
  const fs::path folder = fs::path(path).parent_path();
  const bool sticky = (fs::status(folder, ignored).permissions() & fs::perms::sticky_bit) != fs::perms::none;
  if (others_may_write(path)) return anybodys(path, "it", path);
  if (!sticky && others_may_write(folder)) return anybodys(path, "its folder", folder);
  return {};
}

Result<const RewrightPlugin*> open_plugin(const std::string& file) {
  void* library = dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    return make_error(ErrorCode::kPlugin, "{}: cannot be loaded as a shared library: {}", file, loader_message(file));
  }
  using Entry = const RewrightPlugin* (*)();
  const auto entry = reinterpret_cast<Entry>(dlsym(library, "rewright_plugin"));
  if (entry == nullptr) {
    return make_error(
        ErrorCode::kPlugin,
        "{}: is a shared library but no Rewright plugin: it has no symbol 'rewright_plugin' (write it with "
        "REWRIGHT_PLUGIN)",
        file);
  }
  const RewrightPlugin* plugin = entry();
  if (plugin == nullptr)
    return make_error(ErrorCode::kPlugin, "{}: its 'rewright_plugin' returned no descriptor", file);
  if (plugin->abi_version != kPluginAbiVersion) {
    return make_error(ErrorCode::kPlugin,
                      "{}: was built for plugin ABI {}, but this program has ABI {}; build it again", file,
                      plugin->abi_version, kPluginAbiVersion);
  }
  if (plugin->size < sizeof(RewrightPlugin)) {
    return make_error(ErrorCode::kPlugin, "{}: its descriptor has {} bytes, but ABI {} needs {}; build it again", file,
                      plugin->size, kPluginAbiVersion, sizeof(RewrightPlugin));
  }
  if (plugin->build_tag == nullptr || std::string_view(plugin->build_tag) != REWRIGHT_BUILD_TAG) {
    return make_error(ErrorCode::kPlugin,
                      "{}: was built as '{}', but this program as '{}'; build it with the same compiler and standard",
                      file, plugin->build_tag ? plugin->build_tag : "", REWRIGHT_BUILD_TAG);
  }
  if (plugin->name == nullptr || plugin->version == nullptr || plugin->summary == nullptr || plugin->init == nullptr) {
    return make_error(ErrorCode::kPlugin, "{}: its descriptor lacks a name, version, summary or init function", file);
  }
  return plugin;
}

}  // namespace

std::string own_library() {
  Dl_info info{};
  if (dladdr(reinterpret_cast<const void*>(&own_library), &info) == 0 || info.dli_fname == nullptr) return "";
  std::error_code ignored;
  return fs::weakly_canonical(info.dli_fname, ignored).string();
}

std::string own_plugin_folder() { return (fs::path(own_library()).parent_path() / "rewright").string(); }

Status Registry::load(const std::string& file) {
  std::error_code ignored;
  const std::string path = fs::weakly_canonical(file, ignored).string();
  if (!fs::exists(path, ignored)) {
    return make_error(ErrorCode::kPlugin, "{}: no such file; a plugin is a shared library (*.so)", file);
  }
  if (state_->files.contains(path)) return {};
  // The name that was given may be a link, that anybody may turn elsewhere.
  for (const std::string& place : {path, fs::absolute(file, ignored).string()}) REWRIGHT_CHECK(check_rights(place));
  REWRIGHT_TRY(const RewrightPlugin* descriptor, open_plugin(path));
  for (const LoadedPlugin& loaded : state_->plugins) {
    if (loaded.name == descriptor->name) {
      return make_error(ErrorCode::kPlugin, "{}: the plugin '{}' is loaded already, from {}; load only one of the two",
                        path, loaded.name, loaded.file);
    }
  }
  Registry staging;
  const char* problem = "its init function threw an exception";
  try {
    problem = descriptor->init(&staging);
  } catch (...) {
  }
  Status versions;
#define REWRIGHT_CHECK_VERSIONS(Kind, word) \
  if (versions) versions = staging.state_->check_versions<Kind>(path, word);
  REWRIGHT_PLUGIN_KINDS(REWRIGHT_CHECK_VERSIONS)
#undef REWRIGHT_CHECK_VERSIONS
  if (!versions) {
    static_cast<void>(staging.state_.release());  // not even the destructors of its objects can be called
    return versions.error();
  }
  if (problem != nullptr) {
    return make_error(ErrorCode::kPlugin, "{}: the plugin '{}' failed to start: {}; nothing of it was taken over", path,
                      descriptor->name, problem);
  }
#define REWRIGHT_CHECK_NAMES(Kind, word) REWRIGHT_CHECK(state_->check_names<Kind>(*staging.state_, path, word));
  REWRIGHT_PLUGIN_KINDS(REWRIGHT_CHECK_NAMES)
#undef REWRIGHT_CHECK_NAMES
  LoadedPlugin plugin{path, descriptor->name, descriptor->version, descriptor->summary, {}};
#define REWRIGHT_MERGE(Kind, word) state_->merge<Kind>(*staging.state_, plugin, word);
  REWRIGHT_PLUGIN_KINDS(REWRIGHT_MERGE)
#undef REWRIGHT_MERGE
  state_->plugins.push_back(std::move(plugin));
  state_->files.insert(path);
  return {};
}

Status Registry::load_folder(const std::string& folder) {
  std::error_code error;
  if (!fs::exists(folder, error)) return {};
  std::vector<std::string> files;
  for (fs::recursive_directory_iterator at(folder, error), end; !error && at != end; at.increment(error)) {
    if (at->is_regular_file(error) && at->path().extension() == ".so") files.push_back(at->path().string());
  }
  if (error) return make_error(ErrorCode::kIo, "{}: the plugin folder cannot be read: {}", folder, error.message());
  std::sort(files.begin(), files.end());
  for (const std::string& file : files) {
    // Where anybody may put files, or links, what is found is nobody's choice: the sticky bit does not help.
    const fs::path place = fs::path(file).parent_path();
    if (others_may_write(place)) return anybodys(file, "its folder", place);
    REWRIGHT_CHECK(load(file));
  }
  return {};
}

Status Registry::load_default(std::span<const std::string> files) {
  for (const std::string& file : files) REWRIGHT_CHECK(load(file));
  if (const char* path = std::getenv("REWRIGHT_PLUGIN_PATH")) {
    std::string_view rest = path;
    while (!rest.empty()) {
      const std::size_t end = std::min(rest.find(':'), rest.size());
      if (end > 0) REWRIGHT_CHECK(load_folder(std::string(rest.substr(0, end))));
      rest.remove_prefix(std::min(end + 1, rest.size()));
    }
  }
  if (const std::string own = own_plugin_folder(); !own.empty()) REWRIGHT_CHECK(load_folder(own));
  return {};
}

}  // namespace rewright
