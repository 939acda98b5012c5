// An artefact for other languages and programs: C++, Python, ONNX Runtime. The same for every model; @name@ is
// the model's.
#pragma once

#include <string_view>

namespace rewright::compile {

inline constexpr std::string_view kCppText =
    R"(/* The model @name@ for C++17, as its C header has it: opened once, run by any threads.
 *
 *   rewright_models::@name@ model("@name@.weights"@open{, @sizes@@});
 *   std::vector<std::vector<unsigned char>> outputs = model.run({{data, bytes}, ...});
 */
#ifndef REWRIGHT_@name@_HPP
#define REWRIGHT_@name@_HPP

#include <cstdlib>
#include <memory>
#include <new>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "@name@.h"

namespace rewright_models {

class @name@ {
 public:
  /* The file is not looked at where weights are in the code. Throws std::runtime_error@open{; std::invalid_argument,
   * sizes that it was not compiled for@}. */
@fixed{  explicit @name@(const std::string &weights = "@name@.weights") {
@}@open{  @name@(const std::string &weights, @int_sizes@) : version(@name@_version(@sizes@)) {
    if (version < 0) throw std::invalid_argument("@name@: it was not compiled for these sizes");
@}    const int opened = @name@_open(&weights_, weights.c_str());
    if (opened == 2) throw std::runtime_error("@name@: this processor lacks instructions that it was compiled for");
    if (opened != 0) throw std::runtime_error(weights + ": these are not the weights of @name@");
  }
  ~@name@() { @name@_close(&weights_); }
  @name@(const @name@ &) = delete;
  @name@ &operator=(const @name@ &) = delete;

  /* Inputs as addresses and bytes. Throws std::invalid_argument, an input has not its size; std::out_of_range, an index
   * in one. */
  std::vector<std::vector<unsigned char>> run(const std::vector<std::pair<const void *, std::size_t>> &inputs) const {
    if (inputs.size() != @name@_input_count)
      throw std::invalid_argument("@name@: expected " + std::to_string(int(@name@_input_count)) + " inputs, got " +
                                  std::to_string(inputs.size()));
    std::vector<const void *> data(inputs.size() + 1);
    std::vector<std::size_t> sizes(inputs.size() + 1);
    for (std::size_t i = 0; i < inputs.size(); ++i) {
      data[i] = inputs[i].first;
      sizes[i] = inputs[i].second;
    }
    if (const int wrong = @name@_check(@with_number@sizes.data())) {
      const @name@_tensor &tensor = *@name@_input(@with_number@wrong - 1);
      throw std::invalid_argument(tensor.name + (": expected " + std::to_string(tensor.bytes)) + " bytes, got " +
                                  std::to_string(sizes[std::size_t(wrong) - 1]));
    }
    std::vector<std::vector<unsigned char>> outputs(@name@_output_count);
    std::vector<void *> places(outputs.size() + 1);
    for (std::size_t i = 0; i < outputs.size(); ++i) {
      outputs[i].resize(@name@_output(@with_number@int(i))->bytes);
      places[i] = outputs[i].data();
    }
    const std::unique_ptr<void, decltype(&std::free)> memory(
        std::aligned_alloc(64, (@name@_memory_bytes(@only_number@) + 64) / 64 * 64), &std::free);
    if (!memory) throw std::bad_alloc();
    const int fault = @name@_run(@with_number@&weights_, data.data(), places.data(), memory.get());
    if ((fault & 4) != 0)
      throw std::runtime_error("@name@: an index in the weights is out of its range: their file is damaged");
    if (fault != 0)
      throw std::out_of_range("@name@: an index in an input is out of its range");
    return outputs;
  }

 private:
  @name@_weights weights_;
@open{  int version;
@}};

}  // namespace rewright_models

#endif
)";

inline constexpr std::string_view kPythonText =
    R"("""The model @name@, compiled by rewright: Model(@open{SIZE=NUMBER, ...@}).run(INPUT, ...) gives a list of outputs.

Inputs are anything with a buffer: bytes, array.array, numpy arrays (C order, of the type that the header names).
Outputs are numpy arrays where numpy is installed, else bytearrays. `make lib@name@.so` comes first.
"""
import ctypes
import os

_FOLDER = os.path.dirname(os.path.abspath(__file__))


class _Tensor(ctypes.Structure):
    _fields_ = [("name", ctypes.c_char_p), ("type", ctypes.c_char_p), ("rank", ctypes.c_int),
                ("sizes", ctypes.POINTER(ctypes.c_int64)), ("bytes", ctypes.c_size_t)]

    def shape(self):
        return tuple(self.sizes[i] for i in range(self.rank))


class _Weights(ctypes.Structure):
    _fields_ = [("bytes", ctypes.c_void_p), ("mapped", ctypes.c_size_t), ("owned", ctypes.c_void_p)]


def _tensors(function, *version):
    function.restype = ctypes.POINTER(_Tensor)
    tensors = []
    while function(*version, len(tensors)):
        tensors.append(function(*version, len(tensors)).contents)
    return tensors


class Model:
    def __init__(self, folder=_FOLDER@open{, **sizes@}):
        self._library = ctypes.CDLL(os.path.join(folder, "lib@name@.so"))
        self._version = ()
@open{        names = @size_names@
        if sorted(sizes) != sorted(names):
            raise TypeError("expected the sizes %s, got %s" % (", ".join(names), ", ".join(sizes) or "none"))
        self._version = (self._library.@name@_version(*[ctypes.c_int64(sizes[name]) for name in names]),)
        if self._version[0] < 0:
            raise ValueError("the model was not compiled for these sizes")
@}        self._library.@name@_memory_bytes.restype = ctypes.c_size_t
        self._weights = _Weights()
        file = os.path.join(folder, "@name@.weights")
        opened = self._library.@name@_open(ctypes.byref(self._weights), file.encode())
        if opened == 2:
            raise OSError("this processor lacks instructions that the model was compiled for")
        if opened != 0:
            raise OSError(file + ": these are not the weights")
        self.inputs = _tensors(self._library.@name@_input, *self._version)
        self.outputs = _tensors(self._library.@name@_output, *self._version)

    def run(self, *inputs):
        if len(inputs) != len(self.inputs):
            raise TypeError("expected %d inputs, got %d" % (len(self.inputs), len(inputs)))
        given = []
        for tensor, value in zip(self.inputs, inputs):
            data = bytes(memoryview(value).cast("B")) if memoryview(value).nbytes else b""
            if len(data) != tensor.bytes:
                raise ValueError("%s: expected %d bytes, got %d" % (tensor.name.decode(), tensor.bytes, len(data)))
            given.append(ctypes.create_string_buffer(data, max(len(data), 1)))
        results = [ctypes.create_string_buffer(max(tensor.bytes, 1)) for tensor in self.outputs]
        memory = ctypes.create_string_buffer(self._library.@name@_memory_bytes(*self._version) + 64)
        start = (ctypes.addressof(memory) + 63) // 64 * 64
        pointers = lambda buffers: (ctypes.c_void_p * (len(buffers) + 1))(*[ctypes.addressof(b) for b in buffers])
        fault = self._library.@name@_run(*self._version, ctypes.byref(self._weights), pointers(given),
                                         pointers(results), ctypes.c_void_p(start))
        if fault & 4:
            raise RuntimeError("an index in the weights is out of its range: their file is damaged")
        if fault:
            raise ValueError("an index in an input is out of its range")
        return [self._array(tensor, result.raw[:tensor.bytes]) for tensor, result in zip(self.outputs, results)]

    @staticmethod
    def _array(tensor, data):
        try:
            import numpy
        except ImportError:
            return bytearray(data)
        return numpy.frombuffer(data, dtype=tensor.type.decode()).reshape(tensor.shape()).copy()
)";

inline constexpr std::string_view kWheelText =
    R"("""Makes a wheel of lib@name@.so, its weights and the module: `make wheel`, then `pip install @name@-*.whl`."""
import base64
import hashlib
import os
import sysconfig
import zipfile

HERE = os.path.dirname(os.path.abspath(__file__))
TAG = "py3-none-" + sysconfig.get_platform().replace("-", "_").replace(".", "_")
INFO = "@name@-1.0.dist-info/"


def main():
    files = {"@name@/__init__.py": "@name@.py"}
    files.update(("@name@/" + name, name) for name in ("lib@name@.so", "@name@.weights")
                 if os.path.exists(os.path.join(HERE, name)))
    texts = {INFO + "METADATA": "Metadata-Version: 2.1\nName: @name@\nVersion: 1.0\n",
             INFO + "WHEEL": "Wheel-Version: 1.0\nGenerator: rewright\nRoot-Is-Purelib: false\nTag: " + TAG + "\n"}
    record = []
    name = os.path.join(HERE, "@name@-1.0-" + TAG + ".whl")
    with zipfile.ZipFile(name, "w", zipfile.ZIP_DEFLATED) as wheel:
        def add(place, data):
            wheel.writestr(place, data)
            digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
            record.append("%s,sha256=%s,%d\n" % (place, digest, len(data)))
        for place, file in files.items():
            with open(os.path.join(HERE, file), "rb") as stream:
                add(place, stream.read())
        for place, text in texts.items():
            add(place, text.encode())
        wheel.writestr(INFO + "RECORD", "".join(record) + INFO + "RECORD,,\n")
    print(name)


if __name__ == "__main__":
    main()
)";

/// Source: onnxruntime_c_api.h, version 16.
inline constexpr std::string_view kOperatorText =
    R"(/* The model @name@ as an operator of ONNX Runtime, the one node of @name@.onnx: rewright.@name@.
 *
 *   make lib@name@_ort.so, and in the session's options RegisterCustomOpsLibrary(options, ".../lib@name@_ort.so");
 *   weights beside the code are looked for beside the library.
 *
 * The runtime's C API is one table of functions, to which releases only append; numbers here are places in it. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "@name@.h"

enum { API_VERSION = 16, ORT_FAIL = 1, ORT_INVALID_ARGUMENT = 2 };

typedef void *status; /* Null: success. */
typedef struct {
  status (*create_status)(int code, const char *message);
  void *until_domain[25];
  status (*create_domain)(const char *name, void **domain);
  status (*add_operator)(void *domain, const void *operator);
  status (*add_domain)(void *options, void *domain);
  void *until_data[22];
  status (*data)(void *value, void **place);
  void *until_size[9];
  status (*rank)(const void *shape, size_t *rank);
  status (*sizes)(const void *shape, int64_t *sizes, size_t rank);
  void *until_shape[2];
  status (*shape)(const void *value, void **shape);
  void *until_input[24];
  status (*input)(const void *context, size_t index, const void **value);
  status (*output)(void *context, size_t index, const int64_t *sizes, size_t rank, void **value);
  void *until_release[7];
  void (*release_shape)(void *shape);
} api;
typedef struct {
  const api *(*table)(uint32_t version);
  const char *(*version)(void);
} api_base;

typedef struct operator operator;
struct operator {
  uint32_t version;
  void *(*create)(const operator *, const api *, const void *info);
  const char *(*name)(const operator *);
  const char *(*provider)(const operator *);
  int (*input_type)(const operator *, size_t);
  size_t (*input_count)(const operator *);
  int (*output_type)(const operator *, size_t);
  size_t (*output_count)(const operator *);
  void (*compute)(void *kernel, void *context);
  void (*destroy)(void *kernel);
  int (*input_form)(const operator *, size_t);
  int (*output_form)(const operator *, size_t);
  int (*input_memory)(const operator *, size_t);
  int (*least_inputs)(const operator *);
  int (*equal_inputs)(const operator *);
  int (*least_outputs)(const operator *);
  int (*equal_outputs)(const operator *);
  status (*create_with_status)(const operator *, const api *, const void *info, void **kernel);
  status (*compute_with_status)(void *kernel, void *context);
};

typedef struct {
  const api *api;
  @name@_weights weights;
  void *memory;
  atomic_flag is_used; /* The memory: a run that finds it so has one of its own. */
} kernel;

static int beside; /* Its address is this library's. */

/* For any version. */
static void *block(void) {
  size_t bytes = 0;
  for (int version = 0; version < @versions@; ++version) {
    const size_t needed = @name@_memory_bytes(@only_number@);
    if (needed > bytes) bytes = needed;
  }
  return aligned_alloc(64, (bytes + 64) / 64 * 64);
}

static status create(const operator *self, const api *table, const void *info, void **made) {
  char file[4096] = "@name@.weights";
  Dl_info here;
  const char *end;
  kernel *new_kernel = calloc(1, sizeof *new_kernel);
  (void)self, (void)info;
  if (new_kernel == NULL) return table->create_status(ORT_FAIL, "@name@: there is no memory");
  if (dladdr(&beside, &here) != 0 && (end = strrchr(here.dli_fname, '/')) != NULL)
    snprintf(file, sizeof file, "%.*s/@name@.weights", (int)(end - here.dli_fname), here.dli_fname);
  new_kernel->api = table;
  atomic_flag_clear(&new_kernel->is_used);
  switch (@name@_open(&new_kernel->weights, file)) {
    case 0: break;
    case 2:
      free(new_kernel);
      return table->create_status(ORT_FAIL, "@name@: this processor lacks instructions that it was compiled for");
    default:
      free(new_kernel);
      return table->create_status(ORT_FAIL, "@name@: its weights are not beside lib@name@_ort.so");
  }
  new_kernel->memory = block();
  if (new_kernel->memory == NULL) {
    @name@_close(&new_kernel->weights);
    free(new_kernel);
    return table->create_status(ORT_FAIL, "@name@: there is no memory");
  }
  *made = new_kernel;
  return NULL;
}

static void destroy(void *given) {
  kernel *old = given;
  @name@_close(&old->weights);
  free(old->memory);
  free(old);
}

#define TRY(call)                       \
  {                                     \
    const status failed = call;         \
    if (failed != NULL) return failed;  \
  }

enum { MOST_SIZES = 64 };

/* Has the input the sizes that it has in a version? */
static status has_sizes(const kernel *self, const void *context, int version, int i, int *same) {
  const @name@_tensor *tensor = @name@_input(@with_number@i);
  int64_t sizes[MOST_SIZES];
  const void *value;
  void *shape;
  size_t rank = 0;
  status failed;
  (void)version;
  TRY(self->api->input(context, (size_t)i, &value))
  TRY(self->api->shape(value, &shape))
  failed = self->api->rank(shape, &rank);
  if (failed == NULL && rank <= MOST_SIZES) failed = self->api->sizes(shape, sizes, rank);
  self->api->release_shape(shape);
  *same = failed == NULL && rank == (size_t)tensor->rank && rank <= MOST_SIZES;
  for (size_t d = 0; *same && d < rank; ++d) *same = sizes[d] == tensor->sizes[d];
  return failed;
}

/* The number of the version that all inputs have the sizes of. */
static status version_of(const kernel *self, const void *context, int *found) {
  char message[256];
  int wrong = 0;
  for (int version = 0; version < @versions@; ++version) {
    int same = 1, i = 0;
    for (; i < @name@_input_count && same; ++i) TRY(has_sizes(self, context, version, i, &same))
    *found = version;
    if (same) return NULL;
    wrong = i - 1;
  }
  snprintf(message, sizeof message, "@name@: input %.100s has sizes that it was not compiled for; see @name@.h",
           @name@_input(@open{0, @}wrong)->name);
  return self->api->create_status(ORT_INVALID_ARGUMENT, message);
}

static status compute(void *given, void *context) {
  kernel *self = given;
  const void *inputs[@name@_input_count + 1], *value;
  void *outputs[@name@_output_count + 1], *made, *memory = self->memory;
  int fault, version = 0;
  TRY(version_of(self, context, &version))
  for (int i = 0; i < @name@_input_count; ++i) {
    TRY(self->api->input(context, (size_t)i, &value))
    TRY(self->api->data((void *)value, (void **)&inputs[i]))
  }
  for (int i = 0; i < @name@_output_count; ++i) {
    const @name@_tensor *tensor = @name@_output(@with_number@i);
    TRY(self->api->output(context, (size_t)i, tensor->sizes, (size_t)tensor->rank, &made))
    TRY(self->api->data(made, &outputs[i]))
  }
  const int is_shared = !atomic_flag_test_and_set(&self->is_used);
  if (!is_shared) memory = block();
  if (memory == NULL) return self->api->create_status(ORT_FAIL, "@name@: there is no memory");
  fault = @name@_run(@with_number@&self->weights, inputs, outputs, memory);
  if (is_shared)
    atomic_flag_clear(&self->is_used);
  else
    free(memory);
  if (fault == 0) return NULL;
  return fault & 4 ? self->api->create_status(ORT_FAIL, "@name@: an index in the weights is out of its range: their file is damaged")
                   : self->api->create_status(ORT_INVALID_ARGUMENT, "@name@: an index in an input is out of its range");
}

static int type_of(const @name@_tensor *tensor) {
  static const char *const names[] = {"", "float32", "uint8", "int8", "uint16", "int16", "int32", "int64", "string",
                                      "bool", "float16", "float64"};
  for (int t = 1; t < (int)(sizeof names / sizeof *names); ++t) {
    if (strcmp(names[t], tensor->type) == 0) return t;
  }
  return 0;
}

static const char *name(const operator *self) { return (void)self, "@name@"; }
static const char *provider(const operator *self) { return (void)self, NULL; }
static int input_type(const operator *self, size_t i) { return (void)self, type_of(@name@_input(@open{0, @}(int)i)); }
static int output_type(const operator *self, size_t i) { return (void)self, type_of(@name@_output(@open{0, @}(int)i)); }
static size_t input_count(const operator *self) { return (void)self, (size_t)@name@_input_count; }
static size_t output_count(const operator *self) { return (void)self, (size_t)@name@_output_count; }
static int zero_of(const operator *self, size_t i) { return (void)self, (void)i, 0; }
static int zero(const operator *self) { return (void)self, 0; }

/* Adds the operator to a domain. */
status @name@_add_to(const void *table, void *domain);
status @name@_add_to(const void *table, void *domain) {
  static const operator this_model = {.version = API_VERSION,
                                      .name = name,
                                      .provider = provider,
                                      .input_type = input_type,
                                      .input_count = input_count,
                                      .output_type = output_type,
                                      .output_count = output_count,
                                      .destroy = destroy,
                                      .input_form = zero_of,
                                      .output_form = zero_of,
                                      .input_memory = zero_of,
                                      .least_inputs = zero,
                                      .equal_inputs = zero,
                                      .least_outputs = zero,
                                      .equal_outputs = zero,
                                      .create_with_status = create,
                                      .compute_with_status = compute};
  return ((const api *)table)->add_operator(domain, &this_model);
}

#ifndef REWRIGHT_PART /* of a library with more operators */
status RegisterCustomOps(void *options, const api_base *base) {
  const api *table = base->table(API_VERSION);
  void *domain;
  TRY(table->create_domain("rewright", &domain))
  TRY(@name@_add_to(table, domain))
  return table->add_domain(options, domain);
}
#endif
)";

/// A library of the operators that some files define: for fmt, declared and added.
inline constexpr std::string_view kOperatorsText =
    R"(/* Operators of ONNX Runtime: in the session's options RegisterCustomOpsLibrary(options, ".../lib..._ort.so"). Weights are
 * looked for beside the library. */
#include <stddef.h>
#include <stdint.h>

typedef void *status; /* Null: success. */
typedef struct {{
  void *until_domain[26];
  status (*create_domain)(const char *name, void **domain);
  void *add_operator;
  status (*add_domain)(void *options, void *domain);
}} api;
typedef struct {{
  const api *(*table)(uint32_t version);
  const char *(*version)(void);
}} api_base;

{declared}
#define TRY(call)                       \
  {{                                     \
    const status failed = call;         \
    if (failed != NULL) return failed;  \
  }}

status RegisterCustomOps(void *options, const api_base *base);
status RegisterCustomOps(void *options, const api_base *base) {{
  const api *table = base->table(16);
  void *domain;
  TRY(table->create_domain("rewright", &domain))
{added}  return table->add_domain(options, domain);
}}
)";

}  // namespace rewright::compile
