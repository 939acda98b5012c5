// ONNX Runtime as a Runtime: judges equality and measures.
//
// The library is opened with dlopen when it is first needed, so that nothing here has to be built against it. Its C API
// is one table of function pointers to which every release only appends; we name the few slots that we use.
//
// Search   the file in the environment variable REWRIGHT_ONNXRUNTIME; the file that the build was configured with;
//          libonnxruntime.so.1 beside this plugin and on the loader's path.
// Operators of others: REWRIGHT_ONNXRUNTIME_OPERATORS, files with RegisterCustomOps, separated by ":".
// Sessions run on as many threads as they are asked to, with all graph optimisations or none.
// Units    wall-clock microseconds (onnx/batch_times.h).
// Source   onnxruntime_c_api.h, API version 16 (ONNX Runtime 1.16 and later).
#include <rewright/onnx/batch_times.h>
#include <rewright/onnx/runtime.h>
#include <rewright/plugin/plugin.h>

#include <dlfcn.h>

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <mutex>
#include <sstream>
#include <utility>

namespace {

using namespace rewright;

// --- the C API -----------------------------------------------------------------------------------------------

// The API's own types: never complete outside the library.
struct OrtStatus;
struct OrtEnv;
struct OrtSession;
struct OrtSessionOptions;
struct OrtValue;
struct OrtMemoryInfo;
struct OrtAllocator;
struct OrtTypeAndShape;

inline constexpr std::uint32_t kApiVersion = 16;

/// Places in the table, in the order of declaration in onnxruntime_c_api.h.
enum Slot : std::size_t {
  kGetErrorMessage = 2,
  kCreateEnv = 3,
  kCreateSessionFromArray = 8,
  kRun = 9,
  kCreateSessionOptions = 10,
  kSetOptimizedModelFilePath = 11,
  kDisableMemPattern = 17,
  kDisableCpuMemArena = 19,
  kSetSessionLogSeverityLevel = 22,
  kSetSessionGraphOptimizationLevel = 23,
  kSetIntraOpNumThreads = 24,
  kSetInterOpNumThreads = 25,
  kRegisterCustomOpsLibrary = 29,
  kSessionGetOutputCount = 31,
  kSessionGetOutputName = 37,
  kCreateTensorWithData = 49,
  kIsTensor = 50,
  kGetTensorMutableData = 51,
  kGetTensorElementType = 60,
  kGetDimensionsCount = 61,
  kGetDimensions = 62,
  kGetTensorTypeAndShape = 65,
  kCreateCpuMemoryInfo = 69,
  kAllocatorFree = 76,
  kGetAllocatorWithDefaultOptions = 78,
  kReleaseStatus = 93,
  kReleaseMemoryInfo = 94,
  kReleaseSession = 95,
  kReleaseValue = 96,
  kReleaseTensorTypeAndShape = 99,
  kReleaseSessionOptions = 100,
  kAddSessionConfigEntry = 130,
};

struct ApiBase {
  const void* const* (*get_api)(std::uint32_t version);
  const char* (*get_version_string)();
};

/// ONNX Runtime's messages may span lines and end in a line break; ours are one sentence.
std::string one_line(std::string text) {
  while (!text.empty() && std::isspace(static_cast<unsigned char>(text.back())) != 0) text.pop_back();
  std::replace(text.begin(), text.end(), '\n', ' ');
  return text;
}

/// The opened library. Never closed: it keeps threads and tables of its own.
class Api {
 public:
  /// Opens the library once; the error says what to install.
  static Result<const Api*> get();

  template <class... Args>
  Status call(Slot slot, Args... args) const {
    auto* status = function<OrtStatus*(Args...)>(slot)(args...);
    if (status == nullptr) return {};
    Error error = make_error(ErrorCode::kUnsupported, "ONNX Runtime: {}",
                             one_line(function<const char*(const OrtStatus*)>(kGetErrorMessage)(status)));
    release(kReleaseStatus, status);
    return error;
  }
  template <class T>
  void release(Slot slot, T* object) const {
    if (object != nullptr) function<void(T*)>(slot)(object);
  }
  [[nodiscard]] const std::string& version() const { return version_; }
  [[nodiscard]] OrtEnv* environment() const { return environment_; }

 private:
  template <class F>
  F* function(Slot slot) const {
    return reinterpret_cast<F*>(const_cast<void*>(table_[slot]));
  }
  Status open();

  const void* const* table_ = nullptr;
  std::string version_;
  OrtEnv* environment_ = nullptr;
};

/// Owns an object of the API.
template <class T>
class Owned {
 public:
  Owned(const Api& api, Slot release) : api_(&api), release_(release) {}
  Owned(Owned&& other) noexcept : api_(other.api_), release_(other.release_), object_(other.object_) {
    other.object_ = nullptr;
  }
  Owned& operator=(Owned&&) = delete;
  ~Owned() { api_->release(release_, object_); }
  [[nodiscard]] T* get() const { return object_; }
  [[nodiscard]] T** receive() { return &object_; }

 private:
  const Api* api_;
  Slot release_;
  T* object_ = nullptr;
};

std::string folder_of_this_plugin() {
  Dl_info info{};
  if (::dladdr(reinterpret_cast<const void*>(&folder_of_this_plugin), &info) == 0) return {};
  const std::string file = info.dli_fname;
  const auto slash = file.rfind('/');
  return slash == std::string::npos ? std::string(".") : file.substr(0, slash);
}

constexpr const char* kHowToInstall =
    "run scripts/install-dependencies, or name a libonnxruntime.so.1 of version 1.16 or later in REWRIGHT_ONNXRUNTIME";

struct Library {
  void* handle;
  std::string file;
};

/// Where the library usually lies, the likeliest first.
std::vector<std::string> usual_files() {
  std::vector<std::string> files;
#ifdef REWRIGHT_ONNXRUNTIME_DEFAULT
  files.emplace_back(REWRIGHT_ONNXRUNTIME_DEFAULT);
#endif
  const std::string folder = folder_of_this_plugin();
  files.push_back(folder + "/libonnxruntime.so.1");
  files.push_back(folder + "/../libonnxruntime.so.1");
  files.emplace_back("libonnxruntime.so.1");
  return files;
}

Result<Library> open_library() {
  const char* const named = std::getenv("REWRIGHT_ONNXRUNTIME");
  const bool is_named = named != nullptr && *named != '\0';
  const std::vector<std::string> files = is_named ? std::vector<std::string>{named} : usual_files();
  for (const std::string& file : files) {
    if (void* handle = ::dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL)) return Library{handle, file};
  }
  return make_error(ErrorCode::kNotFound, "ONNX Runtime cannot be opened: {} '{}' ({}); {}",
                    is_named ? "REWRIGHT_ONNXRUNTIME names" : "looked for", fmt::join(files, "', '"), ::dlerror(),
                    kHowToInstall);
}

Status Api::open() {
  REWRIGHT_TRY(const Library library, open_library());
  auto* base_of = reinterpret_cast<const ApiBase* (*)()>(::dlsym(library.handle, "OrtGetApiBase"));
  if (base_of == nullptr) {
    return make_error(ErrorCode::kPlugin, "{} is no ONNX Runtime: it has no OrtGetApiBase; {}", library.file,
                      kHowToInstall);
  }
  version_ = base_of()->get_version_string();
  table_ = base_of()->get_api(kApiVersion);
  if (table_ == nullptr) {
    return make_error(ErrorCode::kPlugin, "ONNX Runtime {} is too old: version 1.16 or later is needed; {}", version_,
                      kHowToInstall);
  }
  constexpr int kFatalOnly = 4;
  return call(kCreateEnv, kFatalOnly, "rewright", &environment_);
}

Result<const Api*> Api::get() {
  static std::mutex mutex;
  static std::unique_ptr<const Api> opened;
  const std::scoped_lock lock(mutex);
  if (!opened) {
    auto api = std::make_unique<Api>();
    REWRIGHT_CHECK(api->open());
    opened = std::move(api);
  }
  return opened.get();
}

// --- tensors -------------------------------------------------------------------------------------------------

Result<Owned<OrtValue>> make_value(const Api& api, const OrtMemoryInfo* memory, const RuntimeTensor& tensor) {
  const std::size_t size = element_size(tensor.type.element);
  if (size == 0) {
    return make_error(ErrorCode::kUnsupported, "input '{}': ONNX Runtime takes no tensor of element type {} from us",
                      tensor.name, static_cast<int>(tensor.type.element));
  }
  const std::size_t expected = size * static_cast<std::size_t>(tensor.type.shape.elements());
  if (tensor.bytes.size() != expected) {
    return make_error(ErrorCode::kUsage, "input '{}' of shape {} has {} bytes, expected {}", tensor.name,
                      tensor.type.shape, tensor.bytes.size(), expected);
  }
  Owned<OrtValue> value(api, kReleaseValue);
  const auto dims = tensor.type.shape.dims();
  void* data = const_cast<std::byte*>(tensor.bytes.data());  // ONNX Runtime does not write to inputs.
  REWRIGHT_CHECK(api.call(kCreateTensorWithData, memory, data, tensor.bytes.size(), dims.data(), dims.size(),
                          static_cast<int>(tensor.type.element), value.receive()));
  return value;
}

Result<RuntimeTensor> read_value(const Api& api, std::string name, OrtValue* value) {
  RuntimeTensor tensor{std::move(name), {}, {}};
  int is_tensor = 0;
  REWRIGHT_CHECK(api.call(kIsTensor, static_cast<const OrtValue*>(value), &is_tensor));
  if (is_tensor == 0) return make_error(ErrorCode::kUnsupported, "output '{}' is not a tensor", tensor.name);
  Owned<OrtTypeAndShape> type(api, kReleaseTensorTypeAndShape);
  REWRIGHT_CHECK(api.call(kGetTensorTypeAndShape, static_cast<const OrtValue*>(value), type.receive()));
  int element = 0;
  std::size_t rank = 0;
  const OrtTypeAndShape* info = type.get();
  REWRIGHT_CHECK(api.call(kGetTensorElementType, info, &element));
  REWRIGHT_CHECK(api.call(kGetDimensionsCount, info, &rank));
  std::vector<std::int64_t> dims(rank);
  REWRIGHT_CHECK(api.call(kGetDimensions, info, dims.data(), rank));
  tensor.type = {Shape(std::move(dims)), static_cast<ElementType>(element)};
  const std::size_t size = element_size(tensor.type.element);
  if (size == 0) {
    return make_error(ErrorCode::kUnsupported, "output '{}' has element type {}, which has no bytes to compare",
                      tensor.name, element);
  }
  tensor.bytes.resize(size * static_cast<std::size_t>(tensor.type.shape.elements()));
  void* data = nullptr;
  REWRIGHT_CHECK(api.call(kGetTensorMutableData, value, &data));
  if (!tensor.bytes.empty()) std::memcpy(tensor.bytes.data(), data, tensor.bytes.size());
  return tensor;
}

// --- sessions ------------------------------------------------------------------------------------------------

class Session final : public RuntimeSession {
 public:
  Session(const Api& api, Owned<OrtSession> session, Owned<OrtMemoryInfo> memory, std::vector<std::string> outputs)
      : api_(api), session_(std::move(session)), memory_(std::move(memory)), outputs_(std::move(outputs)) {}

  Result<std::vector<RuntimeTensor>> run(std::span<const RuntimeTensor> inputs) override {
    REWRIGHT_TRY(Call call, prepare(inputs));
    REWRIGHT_TRY(std::vector<Owned<OrtValue>> values, run_once(call));
    std::vector<RuntimeTensor> tensors;
    for (std::size_t i = 0; i < values.size(); ++i) {
      REWRIGHT_TRY(RuntimeTensor tensor, read_value(api_, outputs_[i], values[i].get()));
      tensors.push_back(std::move(tensor));
    }
    return tensors;
  }

  Result<RunTimes> measure(std::span<const RuntimeTensor> inputs, int repetitions, double batch_us) override {
    REWRIGHT_TRY(const Call call, prepare(inputs));
    if (!std::exchange(warm_, true)) REWRIGHT_CHECK(run_once(call));  // Allocates, fills caches.
    return time_batches(repetitions, batch_us, [&]() -> Status {
      REWRIGHT_CHECK(run_once(call));
      return {};
    });
  }

 private:
  /// The arguments of one run; borrows names and bytes from the caller's inputs.
  struct Call {
    std::vector<const char*> names;
    std::vector<Owned<OrtValue>> values;
    std::vector<const OrtValue*> pointers;
  };

  Result<Call> prepare(std::span<const RuntimeTensor> inputs) {
    Call call;
    for (const RuntimeTensor& input : inputs) {
      REWRIGHT_TRY(Owned<OrtValue> value, make_value(api_, memory_.get(), input));
      call.names.push_back(input.name.c_str());
      call.pointers.push_back(value.get());
      call.values.push_back(std::move(value));
    }
    return call;
  }

  Result<std::vector<Owned<OrtValue>>> run_once(const Call& call) {
    std::vector<const char*> names;
    for (const std::string& name : outputs_) names.push_back(name.c_str());
    std::vector<OrtValue*> raw(outputs_.size(), nullptr);
    const auto status = api_.call(kRun, session_.get(), static_cast<const void*>(nullptr), call.names.data(),
                                  call.pointers.data(), call.pointers.size(), names.data(), names.size(), raw.data());
    std::vector<Owned<OrtValue>> values;
    for (OrtValue* value : raw) {
      values.emplace_back(api_, kReleaseValue);
      *values.back().receive() = value;
    }
    if (!status) return status.error();
    return values;
  }

  const Api& api_;
  Owned<OrtSession> session_;
  Owned<OrtMemoryInfo> memory_;
  std::vector<std::string> outputs_;
  bool warm_ = false;
};

Status register_operators(const Api& api, OrtSessionOptions* options) {
  const char* const named = std::getenv("REWRIGHT_ONNXRUNTIME_OPERATORS");
  std::istringstream files(named == nullptr ? "" : named);
  for (std::string file; std::getline(files, file, ':');) {
    void* handle = nullptr;  // The runtime keeps libraries open as long as anything may need them.
    if (!file.empty()) REWRIGHT_CHECK(api.call(kRegisterCustomOpsLibrary, options, file.c_str(), &handle));
  }
  return {};
}

Status configure(const Api& api, OrtSessionOptions* options, const LoadOptions& load) {
  constexpr int kQuiet = 4, kNoOptimisation = 0, kAllOptimisations = 99, kOneThread = 1;
  REWRIGHT_CHECK(api.call(kSetSessionLogSeverityLevel, options, kQuiet));
  REWRIGHT_CHECK(
      api.call(kSetSessionGraphOptimizationLevel, options, load.optimise ? kAllOptimisations : kNoOptimisation));
  REWRIGHT_CHECK(api.call(kSetIntraOpNumThreads, options, load.threads));
  REWRIGHT_CHECK(api.call(kSetInterOpNumThreads, options, kOneThread));
  if (load.is_lean) {
    REWRIGHT_CHECK(api.call(kDisableMemPattern, options));
    REWRIGHT_CHECK(api.call(kDisableCpuMemArena, options));
  }
  if (!load.directory.empty()) {
    REWRIGHT_CHECK(api.call(kAddSessionConfigEntry, options, "session.model_external_initializers_file_folder_path",
                            load.directory.c_str()));
  }
  return register_operators(api, options);
}

Result<std::vector<std::string>> output_names(const Api& api, const OrtSession* session) {
  OrtAllocator* allocator = nullptr;  // The default one; not ours to release.
  REWRIGHT_CHECK(api.call(kGetAllocatorWithDefaultOptions, &allocator));
  std::size_t count = 0;
  REWRIGHT_CHECK(api.call(kSessionGetOutputCount, session, &count));
  std::vector<std::string> names;
  for (std::size_t i = 0; i < count; ++i) {
    char* name = nullptr;
    REWRIGHT_CHECK(api.call(kSessionGetOutputName, session, i, allocator, &name));
    names.emplace_back(name);
    REWRIGHT_CHECK(api.call(kAllocatorFree, allocator, static_cast<void*>(name)));
  }
  return names;
}

/// `optimised_file`: where the optimised model is written too, its weights beside it; empty: nowhere.
Result<Owned<OrtSession>> create_session(const Api& api, std::span<const std::byte> model, const LoadOptions& load,
                                         const std::string& optimised_file) {
  Owned<OrtSessionOptions> options(api, kReleaseSessionOptions);
  REWRIGHT_CHECK(api.call(kCreateSessionOptions, options.receive()));
  REWRIGHT_CHECK(configure(api, options.get(), load));
  if (!optimised_file.empty()) {
    REWRIGHT_CHECK(api.call(kSetOptimizedModelFilePath, options.get(), optimised_file.c_str()));
    REWRIGHT_CHECK(api.call(kAddSessionConfigEntry, options.get(),
                            "session.optimized_model_external_initializers_file_name", "weights"));
  }
  Owned<OrtSession> session(api, kReleaseSession);
  REWRIGHT_CHECK(api.call(kCreateSessionFromArray, static_cast<const OrtEnv*>(api.environment()),
                          static_cast<const void*>(model.data()), model.size(),
                          static_cast<const OrtSessionOptions*>(options.get()), session.receive()));
  return session;
}

/// Deleted with its files.
class TemporaryFolder {
 public:
  TemporaryFolder() {
    std::string name = (std::filesystem::temp_directory_path() / "rewright-XXXXXX").string();
    if (::mkdtemp(name.data()) != nullptr) path_ = name;
  }
  ~TemporaryFolder() {
    std::error_code ignored;
    if (!path_.empty()) std::filesystem::remove_all(path_, ignored);
  }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  [[nodiscard]] std::string file(const std::string& name) const { return path_ + "/" + name; }

 private:
  std::string path_;
};

class OnnxRuntime final : public Runtime {
 public:
  std::string name() const override { return "onnxruntime"; }
  std::string summary() const override { return "ONNX Runtime on the CPU"; }
  Result<std::string> version() const override {
    REWRIGHT_TRY(const Api* api, Api::get());
    return "ONNX Runtime " + api->version();
  }
  Result<std::unique_ptr<RuntimeSession>> load(std::span<const std::byte> model,
                                               const LoadOptions& load) const override {
    REWRIGHT_TRY(const Api* api, Api::get());
    REWRIGHT_TRY(Owned<OrtSession> session, create_session(*api, model, load, ""));
    Owned<OrtMemoryInfo> memory(*api, kReleaseMemoryInfo);
    constexpr int kArenaAllocator = 1, kDefaultMemory = 0;
    REWRIGHT_CHECK(api->call(kCreateCpuMemoryInfo, kArenaAllocator, kDefaultMemory, memory.receive()));
    REWRIGHT_TRY(std::vector<std::string> outputs, output_names(*api, session.get()));
    return std::unique_ptr<RuntimeSession>(
        std::make_unique<Session>(*api, std::move(session), std::move(memory), std::move(outputs)));
  }
  Result<std::string> optimised(std::span<const std::byte> model, const LoadOptions& load) const override {
    REWRIGHT_TRY(const Api* api, Api::get());
    const TemporaryFolder folder;
    REWRIGHT_CHECK(create_session(*api, model, load, folder.file("model.onnx")));
    std::ifstream stream(folder.file("model.onnx"), std::ios::binary | std::ios::ate);
    std::string bytes(stream.is_open() ? static_cast<std::size_t>(stream.tellg()) : 0, '\0');
    stream.seekg(0).read(bytes.data(), static_cast<std::streamsize>(bytes.size()));
    if (!stream.is_open() || bytes.empty())
      return make_error(ErrorCode::kIo, "ONNX Runtime's optimised model cannot be read from '{}'",
                        folder.file("model.onnx"));
    return bytes;
  }
};

}  // namespace

REWRIGHT_PLUGIN("runtime.onnxruntime", "1.0.0", "ONNX Runtime, opened at run time") {
  registry.add<Runtime>(std::make_unique<OnnxRuntime>());
}
