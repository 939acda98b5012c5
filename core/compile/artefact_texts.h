// The parts of an artefact that are the same for every model; @name@ is the model's. Where sizes are open, functions
// have the number of a version first, and "@open{...@}" stays; else "@fixed{...@}".
#pragma once

#include <string_view>

namespace rewright::compile {

/// What the C file begins with: files of 4 GiB where file offsets have 32 bits by default.
inline constexpr std::string_view kFeatureText = "#define _POSIX_C_SOURCE 200809L\n#define _FILE_OFFSET_BITS 64\n";

/// For fmt: rows, input_count, output_count, memory, needs, state.
inline constexpr std::string_view kHeaderText = R"(/* The model @name@, compiled by rewright.
 *
{rows} *
 * Tensors are row-major; bool is one byte.
 *
 *   @name@_weights weights;
 *   if (@name@_open(&weights, "@name@.weights") != 0) ...
@open{ *   const int version = @name@_version(@sizes@);
@} *   void *memory = aligned_alloc(64, @name@_memory_bytes(@only_number@));
 *   if (@name@_run(@with_number@&weights, inputs, outputs, memory) != 0) ...
 *   @name@_close(&weights);
 *
 * Runs may go on at once over the same weights, each with a memory of its own. {state}
 */
#ifndef REWRIGHT_@name@_H
#define REWRIGHT_@name@_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {{
#endif

enum {{ @name@_input_count = {input_count}, @name@_output_count = {output_count} }};

typedef struct {{
  const char *name;
  const char *type; /* "float32", "int64", ... */
  int rank;
  const int64_t *sizes;
  size_t bytes;
}} @name@_tensor;

@open{enum {{ @name@_versions = @versions@ }};

/* The number of what was compiled for these sizes; -1: nothing was. */
int @name@_version(@int_sizes@);

@}const @name@_tensor *@name@_input(@version_first@int i);
const @name@_tensor *@name@_output(@version_first@int i);

/* What a run needs beside inputs and outputs: @open{at most @}{memory} bytes, aligned to 64. */
size_t @name@_memory_bytes(@version_alone@);

typedef struct {{
  const unsigned char *bytes;
  size_t mapped; /* Bytes to unmap; 0: none. */
  void *owned;   /* To be freed, or null. */
}} @name@_weights;

/* 0, or 1 where the file cannot be read or has not the right size. Weights inside the code need no file.{needs} */
int @name@_open(@name@_weights *weights, const char *file);
void @name@_close(@name@_weights *weights);

/* 0, or 1 + the number of the first input that has not so many bytes@open{; -1: there is no such version@}. */
int @name@_check(@version_first@const size_t *input_bytes);

/* 0, or what was out of its range, so that the outputs say nothing: 1, an index in an input; 4, one in the weights, whose
 * file is damaged; both added up.@open{ 2: no such version.@} */
int @name@_run(@version_first@const @name@_weights *weights, const void *const *inputs, void *const *outputs,
    void *memory);

#ifdef __cplusplus
}}
#endif
#endif
)";

inline constexpr std::string_view kEmbeddedText = R"(
int @name@_open(@name@_weights *weights, const char *file) {
  (void)file;
@processor@  weights->bytes = weight_bytes;
  weights->mapped = 0;
  weights->owned = NULL;
@opened@  return 0;
}

void @name@_close(@name@_weights *weights) {
@closed@  weights->bytes = NULL;
}
)";

/// After WEIGHT_BYTES.
inline constexpr std::string_view kMappedText = R"(
#include <stdio.h>
#include <stdlib.h>
#if defined(__unix__) || defined(__APPLE__)
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

int @name@_open(@name@_weights *weights, const char *file) {
  struct stat status;
  int descriptor;
  weights->bytes = NULL;
  weights->mapped = 0;
  weights->owned = NULL;
@processor@  descriptor = open(file, O_RDONLY);
  if (descriptor < 0) return 1;
  if (fstat(descriptor, &status) == 0 && (uint64_t)status.st_size == WEIGHT_BYTES && WEIGHT_BYTES <= SIZE_MAX) {
    void *place = mmap(NULL, (size_t)WEIGHT_BYTES, PROT_READ, MAP_PRIVATE, descriptor, 0);
    if (place != MAP_FAILED) {
      weights->bytes = place;
      weights->mapped = (size_t)WEIGHT_BYTES;
    }
  }
  close(descriptor);
@opened@  return weights->bytes == NULL;
}

void @name@_close(@name@_weights *weights) {
@closed@  if (weights->mapped != 0) munmap((void *)weights->bytes, weights->mapped);
  weights->bytes = NULL;
  weights->mapped = 0;
}
#else
int @name@_open(@name@_weights *weights, const char *file) {
  FILE *stream;
  weights->bytes = NULL;
  weights->mapped = 0;
  weights->owned = NULL;
@processor@  stream = fopen(file, "rb");
  if (stream == NULL) return 1;
  if (WEIGHT_BYTES <= SIZE_MAX) weights->owned = malloc((size_t)WEIGHT_BYTES);
  if (weights->owned != NULL && fread(weights->owned, 1, (size_t)WEIGHT_BYTES, stream) == WEIGHT_BYTES) {
    weights->bytes = weights->owned;
  }
  fclose(stream);
@opened@  return weights->bytes == NULL;
}

void @name@_close(@name@_weights *weights) {
@closed@  free(weights->owned);
  weights->bytes = NULL;
  weights->owned = NULL;
}
#endif
)";

/// What a version is.
inline constexpr std::string_view kCodeText = R"(struct @name@_code {
  const @name@_tensor *inputs, *outputs;
  size_t memory_bytes;
  int (*run)(const @name@_weights *weights, const void *const *inputs, void *const *outputs, void *memory);
};

)";

/// After codes[].
inline constexpr std::string_view kTableText = R"(
const @name@_tensor *@name@_input(@version_first@int i) {
  return @is_known@i >= 0 && i < @name@_input_count ? &codes[@number@]->inputs[i] : NULL;
}
const @name@_tensor *@name@_output(@version_first@int i) {
  return @is_known@i >= 0 && i < @name@_output_count ? &codes[@number@]->outputs[i] : NULL;
}
size_t @name@_memory_bytes(@version_alone@) { return @open{version < 0 || version >= @versions@ ? 0 : @}codes[@number@]->memory_bytes; }
int @name@_check(@version_first@const size_t *input_bytes) {
@open{  if (version < 0 || version >= @versions@) return -1;
@}  for (int i = 0; i < @name@_input_count; ++i) {
    if (input_bytes[i] != codes[@number@]->inputs[i].bytes) return i + 1;
  }
  return 0;
}
int @name@_run(@version_first@const @name@_weights *weights, const void *const *inputs, void *const *outputs,
    void *memory) {
@open{  if (version < 0 || version >= @versions@) return 2;
@}  return codes[@number@]->run(weights, inputs, outputs, memory);
}
)";

/// After KERNELS: the least time of each call, where the code is compiled to be timed.
inline constexpr std::string_view kCallText = R"(#ifdef REWRIGHT_PROFILE
#include <time.h>
double @name@_kernel_us[KERNELS + 1];
const int @name@_kernels = KERNELS;
static long long now_ns(void) {
  struct timespec time;
  timespec_get(&time, TIME_UTC);
  return (long long)time.tv_sec * 1000000000 + time.tv_nsec;
}
#define CALL(k, call)                                                                          \
  {                                                                                            \
    const long long before = now_ns();                                                         \
    double time;                                                                               \
    fault |= call;                                                                             \
    time = (double)(now_ns() - before) * 1e-3;                                                 \
    if (!(@name@_kernel_us[k] > 0) || time < @name@_kernel_us[k]) @name@_kernel_us[k] = time;  \
  }
#else
#define CALL(k, call) fault |= call;
#endif

)";

inline constexpr std::string_view kMainText = R"(/* Runs the model @name@ on raw files.
 *
 *   @name@ [-n REPEATS] @open{SIZE... @}WEIGHTS INPUT... OUTPUT...
 *
 * @open{Sizes in the order of @name@_version. @}Files in the order of the header; WEIGHTS is "-" where weights are inside the code. With -n the run is repeated, and
 * the least time of one is printed, in microseconds.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "@name@.h"

#ifdef REWRIGHT_PROFILE
extern double @name@_kernel_us[];
extern const int @name@_kernels;

/* What is in memory, VmRSS, or was at most, VmHWM, as Linux tells; 0 elsewhere. */
static long long resident(const char *which) {
  FILE *stream = fopen("/proc/self/status", "rb");
  char line[256];
  long long kibibytes = 0;
  while (stream != NULL && fgets(line, sizeof line, stream) != NULL)
    if (strncmp(line, which, 5) == 0 && sscanf(line + 5, ": %lld", &kibibytes) == 1) break;
  if (stream != NULL) fclose(stream);
  return 1024 * kibibytes;
}
#endif

static void *block(size_t bytes) {
  void *place = aligned_alloc(64, (bytes + 64) / 64 * 64);
  if (place != NULL) return place;
  fprintf(stderr, "there is no room for %zu bytes\n", bytes);
  exit(1);
}

static int read_file(const char *file, void *to, size_t bytes) {
  FILE *stream = fopen(file, "rb");
  const size_t count = stream == NULL ? 0 : fread(to, 1, bytes, stream);
  const int more = stream != NULL && fgetc(stream) != EOF;
  if (stream != NULL) fclose(stream);
  if (stream != NULL && count == bytes && !more) return 0;
  fprintf(stderr, "%s: expected a file of %zu bytes\n", file, bytes);
  return 1;
}

static int write_file(const char *file, const void *from, size_t bytes) {
  FILE *stream = fopen(file, "wb");
  const int written = stream != NULL && fwrite(from, 1, bytes, stream) == bytes;
  if (stream != NULL && fclose(stream) == 0 && written) return 0;
  fprintf(stderr, "%s: cannot be written\n", file);
  return 1;
}

static long long now_ns(void) {
  struct timespec time;
  timespec_get(&time, TIME_UTC);
  return (long long)time.tv_sec * 1000000000 + time.tv_nsec;
}

int main(int argc, char **argv) {
  const int repeats = argc > 2 && strcmp(argv[1], "-n") == 0 ? atoi(argv[2]) : 0;
  char **@open{sizes@}@fixed{files@} = argv + 1 + (repeats > 0 ? 2 : 0);
@open{  char **files = sizes + @size_count@;
  int version;
@}  void *inputs[@name@_input_count + 1];
  void *outputs[@name@_output_count + 1];
  void *memory;
  @name@_weights weights;
  double least = 0;
#ifdef REWRIGHT_PROFILE
  const long long at_start = resident("VmRSS");
#endif
  if (argc - (files - argv) != 1 + @name@_input_count + @name@_output_count) {
    fprintf(stderr, "usage: %s [-n REPEATS] @open{SIZE... @}WEIGHTS INPUT... OUTPUT...\n", argv[0]);
    return 2;
  }
@open{  version = @name@_version(@read_sizes@);
  if (version < 0) {
    fprintf(stderr, "this is not compiled for such sizes; see @name@.h\n");
    return 2;
  }
@}  switch (@name@_open(&weights, files[0])) {
    case 0: break;
    case 2: fprintf(stderr, "this processor lacks instructions that the model was compiled for\n"); return 1;
    default: fprintf(stderr, "%s: these are not the weights\n", files[0]); return 1;
  }
  for (int i = 0; i < @name@_input_count; ++i) {
    inputs[i] = block(@name@_input(@with_number@i)->bytes);
    if (read_file(files[1 + i], inputs[i], @name@_input(@with_number@i)->bytes) != 0) return 1;
  }
  memory = block(@name@_memory_bytes(@only_number@));
  for (int i = 0; i < @name@_output_count; ++i) outputs[i] = block(@name@_output(@with_number@i)->bytes);
  for (int i = 0; i <= repeats; ++i) {
    const long long before = now_ns();
    const int fault = @name@_run(@with_number@&weights, (const void *const *)inputs, outputs, memory);
    if ((fault & 4) != 0) fprintf(stderr, "%s: an index in it is out of its range: the file is damaged\n", files[0]);
    if ((fault & 1) != 0) fprintf(stderr, "an index in an input is out of its range\n");
    if (fault != 0) return 1;
    const double time = (double)(now_ns() - before) * 1e-3;
    if (i == 0 || time < least) least = time;
  }
  for (int i = 0; i < @name@_output_count; ++i) {
    if (write_file(files[1 + @name@_input_count + i], outputs[i], @name@_output(@with_number@i)->bytes) != 0) return 1;
  }
  if (repeats > 0) printf("%.3f\n", least);
#ifdef REWRIGHT_PROFILE
  printf("%lld\n", resident("VmHWM") - at_start);
  for (int k = 0; k < @name@_kernels; ++k) printf("%.3f\n", @name@_kernel_us[k]);
#endif
  for (int i = 0; i < @name@_input_count; ++i) free(inputs[i]);
  for (int i = 0; i < @name@_output_count; ++i) free(outputs[i]);
  free(memory);
  @name@_close(&weights);
  return 0;
}
)";

/// Threads for parallel loops, from the first open to the last close: after THREADS.
inline constexpr std::string_view kPoolText = R"(
#include <pthread.h>
#include <stdatomic.h>
#include <time.h>

/* The caller of a loop and the threads that join it take its iterations in parts. The state is the loop's number << 32,
 * POOL_CLOSED once no part is left, and how many threads are in it: who comes late finds it closed, and nobody waits for
 * him. Who waits looks for 50 us, then sleeps. One run has the threads at a time; the loops of others run in order. */
#define POOL_CLOSED (UINT64_C(1) << 31)

static struct {
  pthread_mutex_t users_lock, loop_lock, sleep_lock;
  pthread_cond_t opened, left;
  pthread_t threads[THREADS];
  int users, count;
  atomic_int ends, sleeping_threads, sleeping_callers;
  _Atomic uint64_t state;
  atomic_llong next;
  int64_t iterations, part;
  body_of_loop *body;
  void *context;
} pool = {.users_lock = PTHREAD_MUTEX_INITIALIZER,
          .loop_lock = PTHREAD_MUTEX_INITIALIZER,
          .sleep_lock = PTHREAD_MUTEX_INITIALIZER,
          .opened = PTHREAD_COND_INITIALIZER,
          .left = PTHREAD_COND_INITIALIZER,
          .state = POOL_CLOSED};

static int64_t pool_now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (int64_t)time.tv_sec * 1000000000 + time.tv_nsec;
}

/* Is there a loop that a thread has not seen, or nothing more to come? */
static int pool_calls(uint64_t seen) {
  const uint64_t state = atomic_load(&pool.state);
  return atomic_load(&pool.ends) || ((state & POOL_CLOSED) == 0 && state >> 32 != seen);
}

static int pool_is_left(uint64_t unused) {
  (void)unused;
  return (atomic_load(&pool.state) & (POOL_CLOSED - 1)) == 0;
}

static void pool_wait(int (*is_over)(uint64_t), uint64_t seen, pthread_cond_t *signal, atomic_int *sleeping) {
  const int64_t end = pool_now() + 50000;
  while (!is_over(seen) && pool_now() < end) {
  }
  if (is_over(seen)) return;
  pthread_mutex_lock(&pool.sleep_lock);
  atomic_fetch_add(sleeping, 1);
  while (!is_over(seen)) pthread_cond_wait(signal, &pool.sleep_lock);
  atomic_fetch_sub(sleeping, 1);
  pthread_mutex_unlock(&pool.sleep_lock);
}

static void pool_signal(pthread_cond_t *signal, atomic_int *sleeping) {
  if (atomic_load(sleeping) == 0) return;
  pthread_mutex_lock(&pool.sleep_lock);
  pthread_cond_broadcast(signal);
  pthread_mutex_unlock(&pool.sleep_lock);
}

static void pool_take_parts(void) {
  for (;;) {
    const int64_t begin = atomic_fetch_add(&pool.next, pool.part);
    if (begin >= pool.iterations) return;
    pool.body(pool.context, begin, begin + pool.part < pool.iterations ? begin + pool.part : pool.iterations);
  }
}

static void *pool_thread(void *unused) {
  uint64_t seen = UINT64_MAX;
  for (;;) {
    uint64_t state;
    pool_wait(pool_calls, seen, &pool.opened, &pool.sleeping_threads);
    if (atomic_load(&pool.ends)) return unused;
    state = atomic_load(&pool.state);
    if ((state & POOL_CLOSED) != 0 || !atomic_compare_exchange_strong(&pool.state, &state, state + 1)) continue;
    seen = state >> 32;
    pool_take_parts();
    atomic_fetch_sub(&pool.state, 1);
    pool_signal(&pool.left, &pool.sleeping_callers);
  }
}

static void pool_run(int64_t count, body_of_loop *body, void *context) {
  if (count < 2 || pool.count == 0 || pthread_mutex_trylock(&pool.loop_lock) != 0) {
    body(context, 0, count);
    return;
  }
  pool.body = body;
  pool.context = context;
  pool.iterations = count;
  pool.part = count / (4 * (pool.count + 1));
  if (pool.part == 0) pool.part = 1;
  atomic_store(&pool.next, 0);
  atomic_store(&pool.state, ((atomic_load(&pool.state) >> 32) + 1) << 32);
  pool_signal(&pool.opened, &pool.sleeping_threads);
  pool_take_parts();
  atomic_fetch_or(&pool.state, POOL_CLOSED);
  pool_wait(pool_is_left, 0, &pool.left, &pool.sleeping_callers);
  pthread_mutex_unlock(&pool.loop_lock);
}

static void pool_open(void) {
  pthread_mutex_lock(&pool.users_lock);
  if (pool.users++ == 0) {
    atomic_store(&pool.ends, 0);
    for (pool.count = 0; pool.count < THREADS - 1; ++pool.count) {
      if (pthread_create(&pool.threads[pool.count], NULL, pool_thread, NULL) != 0) break;
    }
@set_pools@  }
  pthread_mutex_unlock(&pool.users_lock);
}

static void pool_close(void) {
  pthread_mutex_lock(&pool.users_lock);
  if (--pool.users == 0) {
    atomic_store(&pool.ends, 1);
    pool_signal(&pool.opened, &pool.sleeping_threads);
    while (pool.count > 0) pthread_join(pool.threads[--pool.count], NULL);
  }
  pthread_mutex_unlock(&pool.users_lock);
}
)";

inline constexpr std::string_view kMakefileText = R"(CFLAGS ?= @flags@
all: @name@ lib@name@.so
@name@: main.c @sources@ @name@.h
	$(CC) $(CFLAGS) -o $@ main.c @sources@ -lm
lib@name@.so: @sources@ @name@.h
	$(CC) $(CFLAGS) -fPIC -shared -o $@ @sources@ -lm
lib@name@_ort.so: @name@_ort.c @sources@ @name@.h
	$(CC) $(CFLAGS) -fPIC -shared -o $@ @name@_ort.c @sources@ -lm -ldl
wheel: lib@name@.so
	python3 wheel.py
clean:
	rm -f @name@ lib@name@.so lib@name@_ort.so @name@-*.whl
.PHONY: all wheel clean
)";

inline constexpr std::string_view kCMakeText = R"(cmake_minimum_required(VERSION 3.16)
project(@name@ C)
add_library(@name@_model @sources@)
target_compile_options(@name@_model PRIVATE @flags@)
set_target_properties(@name@_model PROPERTIES POSITION_INDEPENDENT_CODE ON)
target_include_directories(@name@_model PUBLIC
  $<BUILD_INTERFACE:${CMAKE_CURRENT_SOURCE_DIR}> $<INSTALL_INTERFACE:include>)
target_link_libraries(@name@_model PUBLIC m)
add_executable(@name@ main.c)
target_link_libraries(@name@ PRIVATE @name@_model)

# find_package(@name@) then gives @name@::@name@_model; a shared object with -DBUILD_SHARED_LIBS=ON.
install(TARGETS @name@_model EXPORT @name@Config ARCHIVE DESTINATION lib LIBRARY DESTINATION lib)
install(FILES @name@.h @name@.hpp DESTINATION include)
file(GLOB weights ${CMAKE_CURRENT_SOURCE_DIR}/*.weights)
install(FILES ${weights} DESTINATION share/@name@)
install(EXPORT @name@Config NAMESPACE @name@:: DESTINATION lib/cmake/@name@)
)";

}  // namespace rewright::compile
