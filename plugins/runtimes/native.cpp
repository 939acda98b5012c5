// The models that `rewright compile` makes, as a Runtime: what a compiled model costs, and whether it computes the
// same.
//
// Operators and the target are those of the plugins that the program finds by itself and of REWRIGHT_PLUGIN_PATH; they
// are loaded when they are first needed.
// Sessions run on one thread.
#include <rewright/compile/compiled_session.h>
#include <rewright/plugin/plugin.h>

#include <memory>
#include <mutex>

namespace {

using namespace rewright;

/// Of the first call on; never gone, as sessions borrow it.
Result<const Registry*> registry() {
  static std::mutex mutex;
  static std::unique_ptr<const Registry> loaded;
  const std::scoped_lock lock(mutex);
  if (!loaded) {
    auto made = std::make_unique<Registry>();
    REWRIGHT_CHECK(made->load_default());
    loaded = std::move(made);
  }
  return loaded.get();
}

class Native final : public Runtime {
 public:
  [[nodiscard]] std::string name() const override { return "native"; }
  [[nodiscard]] std::string summary() const override { return "Models compiled by the target c"; }
  [[nodiscard]] Result<std::string> version() const override {
    REWRIGHT_TRY(const Target* target, this->target());
    REWRIGHT_TRY(const std::string version, target->version());
    return "C by " + version;
  }
  [[nodiscard]] Result<std::unique_ptr<RuntimeSession>> load(std::span<const std::byte> model,
                                                             const LoadOptions& options) const override {
    REWRIGHT_TRY(const Target* target, this->target());
    REWRIGHT_TRY(const Registry* plugins, registry());
    return compile::compiled_session(model, *plugins, *target, options);
  }

 private:
  [[nodiscard]] static Result<const Target*> target() {
    REWRIGHT_TRY(const Registry* plugins, registry());
    return plugins->get<Target>("c");
  }
};

}  // namespace

REWRIGHT_PLUGIN("runtime.native", "1.0.0", "Models compiled to C") {
  registry.add<Runtime>(std::make_unique<Native>());
}
