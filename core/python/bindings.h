// What the parts of the Python module share: errors, plugins, objects that keep their plugins alive, long work.
#pragma once

#include <rewright/axiom/axiom.h>
#include <rewright/base/result.h>
#include <rewright/plugin/registry.h>
#include <rewright/rule/rule.h>
#include <rewright/verify/verifier.h>

#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <exception>
#include <memory>
#include <mutex>
#include <optional>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>

#include "onnx/import.h"

namespace rewright::python {

namespace py = pybind11;

/// Becomes rewright.Error, with the library's sentence.
struct Failure : std::runtime_error {
  explicit Failure(const Error& error) : std::runtime_error(error.message), code(error.code) {}
  ErrorCode code;
};

template <class T>
[[nodiscard]] T value_of(Result<T> result) {
  if (!result) throw Failure(result.error());
  return *std::move(result);
}
inline void check(const Status& status) {
  if (!status) throw Failure(status.error());
}

/// Rules and graphs point to operators, which a registry owns.
using Plugins = std::shared_ptr<const Registry>;
/// The plugins given, or those of the installation, loaded once.
[[nodiscard]] Plugins plugins_or_own(const std::optional<Plugins>& plugins);

struct OwnedRule {
  Plugins plugins;
  Rule rule;
};

struct OwnedGraph {
  Plugins plugins;
  Graph graph;
  std::shared_ptr<const ImportedModel> origin;  ///< Null where no model was.
};

/// Runs `work(stop)` without Python's lock, in a thread of its own, while this one looks after Ctrl-C; stop() is true
/// once it came or `failure` is set. Then raises what was set.
class LongWork {
 public:
  /// For `progress` callbacks: calls what Python handed over; an exception in it ends the work.
  template <class... Args>
  void tell(const py::object& callback, const Args&... args) {
    if (callback.is_none()) return;
    const py::gil_scoped_acquire lock;
    if (stopped_) return;
    try {
      callback(args...);
    } catch (...) {
      failure_ = std::current_exception();
      stopped_ = true;
    }
  }
  [[nodiscard]] bool stopped() const { return stopped_; }

  template <class Work>
  auto run(Work work) {
    std::optional<decltype(work())> result;
    std::exception_ptr thrown;
    bool done = false;
    std::mutex mutex;
    std::condition_variable changed;
    {
      const py::gil_scoped_release unlock;
      std::thread thread([&] {
        try {
          result.emplace(work());
        } catch (...) {
          thrown = std::current_exception();
        }
        const std::lock_guard guard(mutex);
        done = true;
        changed.notify_one();
      });
      std::unique_lock guard(mutex);
      while (!changed.wait_for(guard, std::chrono::milliseconds(50), [&] { return done; })) {
        guard.unlock();
        if (!stopped_ && signalled()) stopped_ = true;
        guard.lock();
      }
      guard.unlock();
      thread.join();
    }
    if (failure_) std::rethrow_exception(failure_);
    if (thrown) std::rethrow_exception(thrown);
    return *std::move(result);
  }

 private:
  /// Python's own handler raises; what it raised is kept.
  bool signalled() {
    const py::gil_scoped_acquire lock;
    if (PyErr_CheckSignals() == 0) return false;
    failure_ = std::make_exception_ptr(py::error_already_set());
    return true;
  }

  std::atomic<bool> stopped_ = false;
  std::exception_ptr failure_;
};

/// One output of a node, as Python has it: a value, of no graph in particular.
struct TensorHandle {
  Port port;
  TensorType type;
};

/// A node, and the graph that it is of.
struct NodeHandle {
  std::shared_ptr<const OwnedGraph> graph;
  NodeId id;
  [[nodiscard]] const Node& get() const { return graph->graph.node(id); }
};

struct OwnedAxioms {
  Plugins plugins;
  std::shared_ptr<const AxiomSet> set;
};

void bind_plugins(py::module_& module);
void bind_nodes(py::module_& module);
void bind_graphs(py::module_& module);
void bind_rules(py::module_& module);
void bind_matches(py::module_& module);
void bind_axioms(py::module_& module);
void bind_proofs(py::module_& module);
void bind_compiling(py::module_& module);
void bind_learning(py::module_& module);
void bind_campaigns(py::module_& module);
void bind_optimization(py::module_& module);

}  // namespace rewright::python
