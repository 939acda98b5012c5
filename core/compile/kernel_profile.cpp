#include "compile/kernel_profile.h"

#include <rewright/loop/element_types.h>
#include <rewright/loop/target.h>

#include <algorithm>
#include <map>
#include <set>

#include "loop/bounds.h"
#include "loop/interpreter.h"
#include "tune/kernel_program.h"

namespace rewright::compile {
namespace {

using Kind = ValueExpr::Kind;

bool is_operation(Kind kind) {
  return kind != Kind::kLoad && kind != Kind::kNumber && kind != Kind::kIndex && kind != Kind::kCast;
}

class Count {
 public:
  explicit Count(const loop::Program& program) : program_(program) { visit(program.body, 1); }

  [[nodiscard]] KernelWork work() const {
    double bytes = 0;
    for (const BufferId id : loop::parameters(program_)) {
      const Buffer& buffer = program_[id];
      const auto touched = touched_.find(id.value);
      if (buffer.role == BufferRole::kTemporary || touched == touched_.end()) continue;
      const auto count = loop::element_count(buffer);
      const double elements = count ? static_cast<double>(*count) : touched->second;
      bytes += std::min(elements, touched->second) * static_cast<double>(element_size(buffer.element));
    }
    return {operations_, bytes};
  }

 private:
  void visit(const loop::Body& body, double times) {
    for (const loop::Statement& statement : body) {
      const loop::Loop* loop = statement.loop();
      visit(loop::body_of(statement),
            loop == nullptr ? times : times * static_cast<double>(loop::mean_extent(program_, *loop)));
      const loop::Store* store = statement.store();
      if (store == nullptr) continue;
      touched_[store->buffer.value] += times;
      if (store->kind != loop::StoreKind::kSet) operations_ += times;
      visit(store->value, times);
    }
  }
  void visit(const ValueExpr& value, double times) {
    if (value.kind() == Kind::kLoad) touched_[value.buffer().value] += times;
    if (is_operation(value.kind())) operations_ += times;
    for (const ValueExpr& part : value.operands()) visit(part, times);
  }

  const loop::Program& program_;
  double operations_ = 0;
  std::map<std::uint32_t, double> touched_;  ///< Elements, by buffer, those that are touched again too.
};

std::string result_of(const Graph& graph, const loop::Program& program, const KernelCall& call) {
  for (std::size_t b = 0; b < call.tensors.size(); ++b) {
    const auto& port = call.tensors[b];
    if (program.buffers[b].role != BufferRole::kOutput || !port) continue;
    return port->node.value < graph.nodes().size() ? graph.node(port->node).name : "";
  }
  return "";
}

/// Named nodes by the stored result that they go into: their own, or the first behind them where each has one reader.
std::map<std::string, std::vector<std::string>> nodes_by_result(const Graph& graph,
                                                                const std::vector<KernelTime>& profile) {
  std::set<std::string> stored;
  for (const KernelTime& time : profile) stored.insert(time.result);
  std::vector<std::set<std::uint32_t>> readers(graph.nodes().size());
  for (std::uint32_t i = 0; i < graph.nodes().size(); ++i)
    for (const Port& port : graph.nodes()[i].inputs) readers[port.node.value].insert(i);
  std::map<std::string, std::vector<std::string>> found;
  for (std::uint32_t i = 0; i < graph.nodes().size(); ++i) {
    if (graph.nodes()[i].is_input() || graph.nodes()[i].name.empty()) continue;
    std::uint32_t at = i;
    while (!stored.contains(graph.nodes()[at].name) && readers[at].size() == 1) at = *readers[at].begin();
    if (stored.contains(graph.nodes()[at].name)) found[graph.nodes()[at].name].push_back(graph.nodes()[i].name);
  }
  return found;
}

}  // namespace

KernelWork work_of(const loop::Program& program) { return Count(program).work(); }

double limit_us(const KernelWork& work, const tune::Machine& machine, int threads) {
  return tune::limit_us(work.operations, work.bytes, machine) / threads;
}

std::vector<KernelTime> kernel_profile(const Graph& graph, const Kernels& kernels, const std::vector<double>& times,
                                       const tune::Machine& machine) {
  std::vector<KernelTime> profile;
  for (std::size_t k = 0; k < std::min(times.size(), kernels.calls.size()); ++k) {
    const KernelCall& call = kernels.calls[k];
    const loop::Program& program = kernels.program(call);
    const KernelWork work = work_of(program);
    profile.push_back({.kernel = kernels.functions[call.function].name,
                       .result = result_of(graph, program, call),
                       .us = times[k],
                       .limit_us = limit_us(work, machine, kernels.threads),
                       .key = call.key,
                       .work = work});
  }
  const auto nodes = nodes_by_result(graph, profile);
  for (KernelTime& time : profile)
    if (const auto at = nodes.find(time.result); at != nodes.end()) time.nodes = at->second;
  return profile;
}

}  // namespace rewright::compile
