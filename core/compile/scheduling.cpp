#include "compile/scheduling.h"

#include <rewright/loop/linear_index.h>

#include <algorithm>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "base/files.h"
#include "compile/weights_file.h"
#include "loop/accesses.h"
#include "loop/interpreter.h"
#include "loop/validator.h"
#include "onnx/element.h"
#include "schedule/apply.h"
#include "schedule/places.h"
#include "schedule/storage.h"

namespace rewright::compile {
namespace {

using loop::Access;
using loop::Program;
using schedule::Storage;

constexpr std::size_t kImage = 4;  ///< Dimensions of a tensor with channels and places.
/// Larger programs are not walked iteration by iteration.
constexpr std::int64_t kWalkedSteps = 200'000;

std::vector<std::int64_t> sizes_of(const Buffer& buffer) {
  std::vector<std::int64_t> sizes;
  for (const IndexExpr& size : buffer.sizes) sizes.push_back(*size.number());
  return sizes;
}

/// Is it a sum of products of an image and a weight of four dimensions?
bool is_convolution(const Program& program, const loop::Body& body) {
  return std::ranges::any_of(body, [&](const loop::Statement& statement) {
    const loop::Store* store = statement.store();
    if (store == nullptr) return is_convolution(program, body_of(statement));
    if (store->kind != loop::StoreKind::kAdd || store->value.kind() != ValueExpr::Kind::kMultiply) return false;
    const auto is_image = [&](const ValueExpr& factor, bool weight) {
      if (factor.kind() != ValueExpr::Kind::kLoad) return false;
      const Buffer& buffer = program[factor.buffer()];
      return buffer.sizes.size() == kImage && (buffer.role == BufferRole::kWeight) == weight;
    };
    const auto factors = store->value.operands();
    return (is_image(factors[0], false) && is_image(factors[1], true)) ||
           (is_image(factors[1], false) && is_image(factors[0], true));
  });
}

/// Has each image that is read the channel of the image that is written, or one that is a number away from it?
bool keeps_channels(const Program& program) {
  std::optional<Axis> channel;
  const auto all = loop::accesses(program);
  for (const Access& access : all) {
    if (program[access.buffer].role != BufferRole::kOutput) continue;
    if (access.at.size() != kImage || access.at[1].kind() != IndexExpr::Kind::kAxis) return false;
    if (channel && channel->id != access.at[1].axis().id) return true;  // Several stages: each by itself.
    channel = access.at[1].axis();
  }
  if (!channel) return false;
  return std::ranges::all_of(all, [&](const Access& access) {
    if (program[access.buffer].role != BufferRole::kInput || access.at.size() != kImage) return true;
    const auto form = loop::linear(access.at[1]);
    return form && form->terms.size() == 1 && form->terms[0].second == 1;
  });
}

/// The program without a buffer that nothing touches.
Program without_buffer(Program program, BufferId unused) {
  const schedule::Places same = [](std::span<const IndexExpr> at, const loop::AxisRanges&) {
    return std::vector<IndexExpr>(at.begin(), at.end());
  };
  for (std::uint32_t b = unused.value + 1; b < program.buffers.size(); ++b) {
    program.body = schedule::with_places(program.body, BufferId{b}, BufferId{b - 1}, same);
  }
  program.buffers.erase(program.buffers.begin() + unused.value);
  return program;
}

bool is_touched(const Program& program, BufferId buffer) {
  return std::ranges::any_of(loop::accesses(program), [&](const Access& access) { return access.buffer == buffer; });
}

/// Work on one weight that stands at the beginning of a program: a program of its own, from the weight to `packed`.
struct Packing {
  BufferId weight, packed;
  Program program;  ///< Its buffers: the weight, the result.
};
std::optional<Packing> packing_of(const Program& program, const loop::Statement& statement) {
  Program alone = program;
  alone.body = {statement};
  std::optional<BufferId> weight, packed;
  for (const Access& access : loop::accesses(alone)) {
    const BufferRole role = program[access.buffer].role;
    if (role != (access.is_write ? BufferRole::kTemporary : BufferRole::kWeight)) return std::nullopt;
    std::optional<BufferId>& seen = access.is_write ? packed : weight;
    if (seen && !(*seen == access.buffer)) return std::nullopt;
    seen = access.buffer;
  }
  if (!weight || !packed) return std::nullopt;
  alone.buffers[weight->value].role = BufferRole::kInput;
  alone.buffers[packed->value].role = BufferRole::kOutput;
  for (std::uint32_t b = static_cast<std::uint32_t>(alone.buffers.size()); b-- > 0;) {
    if (b != weight->value && b != packed->value) alone = without_buffer(std::move(alone), BufferId{b});
  }
  return Packing{*weight, *packed, std::move(alone)};
}

class Scheduling {
 public:
  Scheduling(const Graph& graph, const Kernels& plain, const std::map<std::string, ExternalWeight>& external,
             const Target& target, const schedule::VectorUnit& unit)
      : graph_(graph), plain_(plain), external_(external), target_(target), unit_(unit) {
    next_port_ = static_cast<std::uint32_t>(graph.nodes().size());
  }

  Result<Kernels> run() {
    for (const loop::NamedProgram& function : plain_.functions) {
      unguarded_.push_back(schedule::without_edges(function.program));
    }
    choose_storage();
    for (const KernelCall& call : plain_.calls) REWRIGHT_CHECK(add(call));
    return std::move(result_);
  }

 private:
  // --- storage -------------------------------------------------------------------------------------------------

  [[nodiscard]] bool is_bound(Port port) const {
    return graph_.node(port.node).is_input() || std::ranges::find(graph_.outputs(), port) != graph_.outputs().end();
  }
  /// Of channels; 1 where they are not to be divided.
  [[nodiscard]] std::int64_t block_of(Port port) const {
    const TensorType& type = graph_.type(port);
    if (is_bound(port) || type.shape.rank() != kImage || type.element != ElementType::kFloat32) return 1;
    if (type.shape[1] % 16 == 0) return 16;
    return type.shape[1] % unit_.lanes == 0 ? unit_.lanes : 1;
  }
  template <class Visit>
  void for_each_image(const KernelCall& call, const Visit& visit) const {
    for (const auto& port : call.tensors) {
      if (port && graph_.shape(*port).rank() == kImage && !graph_.node(port->node).is_weight()) visit(*port);
    }
  }
  void choose_storage() {
    std::set<Port> blocked;
    for (const KernelCall& call : plain_.calls) {
      const Program& program = unguarded_[call.function].program;
      if (is_convolution(program, program.body)) for_each_image(call, [&](Port port) { blocked.insert(port); });
    }
    for (bool grows = true; grows;) {
      grows = false;
      for (const KernelCall& call : plain_.calls) {
        if (!keeps_channels(plain_.program(call))) continue;
        bool is_any = false;
        for_each_image(call, [&](Port port) { is_any |= blocked.contains(port) && block_of(port) > 1; });
        if (is_any) for_each_image(call, [&](Port port) { grows |= blocked.insert(port).second; });
      }
    }
    for (const Port& port : blocked) storage_[port].block = block_of(port);
    for (const KernelCall& call : plain_.calls) {
      const std::vector<Storage>& needed = unguarded_[call.function].storage;
      for (std::size_t b = 0; b < call.tensors.size(); ++b) {
        const auto port = call.tensors[b];
        if (port && !is_bound(*port)) storage_[*port] = with_border(storage_[*port], needed[b]);
      }
    }
  }
  [[nodiscard]] Storage storage(Port port) const {
    const auto known = storage_.find(port);
    return known == storage_.end() ? Storage{} : known->second;
  }

  // --- calls ---------------------------------------------------------------------------------------------------

  /// A function, as it was made of one of the plain ones.
  struct Made {
    std::size_t function = 0;
    std::vector<std::size_t> from;                ///< By buffer: that of the plain function; none of it: kNone.
    std::map<std::size_t, std::size_t> packings;  ///< By buffer: which packing.
  };
  static constexpr std::size_t kNone = ~std::size_t{0};

  Status add(const KernelCall& call) {
    std::vector<std::optional<Port>> tensors = call.tensors;
    std::vector<Storage> stored(tensors.size());
    const std::vector<Storage>& needed = unguarded_[call.function].storage;
    for (std::size_t b = 0; b < tensors.size(); ++b) {
      if (!tensors[b]) continue;
      stored[b] = storage(*tensors[b]);
      if (is_bound(*tensors[b]) && !needed[b].is_plain()) {
        stored[b] = needed[b];
        REWRIGHT_TRY(tensors[b], brought(*tensors[b], stored[b]));
      }
    }
    REWRIGHT_TRY(const Made* made, made_of(call.function, stored));
    KernelCall& added = result_.calls.emplace_back(KernelCall{made->function, {}});
    for (std::size_t b = 0; b < made->from.size(); ++b) {
      auto& port = added.tensors.emplace_back();
      if (made->from[b] == kNone) continue;
      port = tensors[made->from[b]];
      if (const auto packing = made->packings.find(b); packing != made->packings.end()) {
        REWRIGHT_TRY(port, packed(*port, packing->second));
      }
    }
    return {};
  }

  /// A tensor that lies in order, in that storage.
  Result<Port> brought(Port port, const Storage& to) {
    for (const auto& [known, at] : brought_) {
      if (known.first == port && known.second == to) return at;
    }
    const TensorType& type = graph_.type(port);
    const Program program = schedule::restored({type.shape.begin(), type.shape.end()}, type.element, Storage{}, to);
    REWRIGHT_TRY(const std::size_t function, function_of(program, "in_storage"));
    const Port made{NodeId{next_port_++}, 0};
    result_.calls.push_back(KernelCall{function, {port, made}});
    brought_.push_back({{port, to}, made});
    return made;
  }
  Result<std::size_t> function_of(const Program& program, const std::string& stem) {
    const std::string name = fmt::format("{}_{}", stem, content_hash(to_string(program)).substr(0, 12));
    const auto known = std::ranges::find(result_.functions, name, &loop::NamedProgram::name);
    if (known != result_.functions.end()) return static_cast<std::size_t>(known - result_.functions.begin());
    REWRIGHT_TRY(Program fast, with_schedule(program, name));
    result_.functions.push_back({name, std::move(fast)});
    return result_.functions.size() - 1;
  }
  Result<Program> with_schedule(const Program& program, const std::string& name) const {
    auto made = schedule::apply(program, schedule::one_shot(program, unit_));
    if (!made) return make_error(ErrorCode::kInternal, "{}: {}", name, made.error().message);
    if (const auto valid = loop::validate(made->program, kWalkedSteps);
        !valid && valid.error().code != ErrorCode::kBudget) {
      return make_error(ErrorCode::kInternal, "{}: its schedule makes no valid loops: {}", name, valid.error().message);
    }
    return std::move(made->program);
  }

  Result<const Made*> made_of(std::size_t function, const std::vector<Storage>& stored) {
    for (const auto& [known, made] : made_) {
      if (known.first == function && known.second == stored) return made.get();
    }
    const loop::NamedProgram& plain = plain_.functions[function];
    Program program = unguarded_[function].program;
    for (std::uint32_t b = 0; b < stored.size(); ++b) program = schedule::stored(program, BufferId{b}, stored[b]);
    const std::string name =
        made_names_.insert(plain.name).second ? plain.name : fmt::format("{}_{}", plain.name, made_.size());
    REWRIGHT_TRY(program, with_schedule(program, name));
    Made made;
    for (std::size_t b = 0; b < program.buffers.size(); ++b) made.from.push_back(b < stored.size() ? b : kNone);
    while (!program.body.empty()) {
      auto packing = packing_of(program, program.body.front());
      if (!packing) break;
      program.body.erase(program.body.begin());
      program.buffers[packing->packed.value].role = BufferRole::kWeight;
      made.from[packing->packed.value] = made.from[packing->weight.value];
      made.packings[packing->packed.value] = packings_.size();
      packings_.push_back(std::move(packing->program));
      if (is_touched(program, packing->weight)) continue;
      drop(packing->weight.value, program, made);
    }
    made.function = result_.functions.size();
    result_.functions.push_back({name, std::move(program)});
    made_.emplace_back(std::pair(function, stored), std::make_unique<Made>(std::move(made)));
    return made_.back().second.get();
  }
  static void drop(std::size_t buffer, Program& program, Made& made) {
    program = without_buffer(std::move(program), BufferId{static_cast<std::uint32_t>(buffer)});
    made.from.erase(made.from.begin() + static_cast<std::ptrdiff_t>(buffer));
    std::map<std::size_t, std::size_t> packings;
    for (const auto& [at, packing] : made.packings) packings[at > buffer ? at - 1 : at] = packing;
    made.packings = std::move(packings);
  }

  // --- weights -------------------------------------------------------------------------------------------------

  Result<Port> packed(Port weight, std::size_t packing) {
    const auto [known, is_new] = packed_.try_emplace({weight, packing}, Port{NodeId{next_port_}, 0});
    if (!is_new) return known->second;
    ++next_port_;
    const Program& program = packings_[packing];
    auto& code = code_of_[packing];
    if (!code) {
      REWRIGHT_TRY(code, compile_one(target_, program));
    }
    REWRIGHT_TRY(std::vector<std::byte> from, bytes_of_weight(weight));
    const std::vector<std::int64_t> sizes = sizes_of(program.buffers[1]);
    const ElementType element = program.buffers[1].element;
    std::vector<std::byte> to(static_cast<std::size_t>(*loop::element_count(program.buffers[1])) *
                              element_size(element));
    const bool in_order = program.buffers[0].role == BufferRole::kInput;
    std::byte* const places[] = {in_order ? from.data() : to.data(), in_order ? to.data() : from.data()};
    REWRIGHT_CHECK(code->run(places));
    result_.packed[known->second] =
        std::make_shared<const ConstantData>(ConstantData{{Shape(sizes), element}, std::move(to)});
    return known->second;
  }
  [[nodiscard]] Result<std::vector<std::byte>> bytes_of_weight(Port weight) const {
    const Node& node = graph_.node(weight.node);
    const TensorType& type = graph_.type(weight);
    PlacedWeight placed;
    if (const auto lies = external_.find(node.name); lies != external_.end()) {
      placed.value = lies->second;
    } else {
      placed.value = node.constant();
    }
    return bytes_of({&placed, 1}, type.shape.elements() * static_cast<std::int64_t>(element_size(type.element)));
  }

  const Graph& graph_;
  const Kernels& plain_;
  const std::map<std::string, ExternalWeight>& external_;
  const Target& target_;
  schedule::VectorUnit unit_;
  std::vector<schedule::Unguarded> unguarded_;  ///< By plain function.
  std::map<Port, Storage> storage_;
  std::vector<std::pair<std::pair<Port, Storage>, Port>> brought_;
  std::vector<std::pair<std::pair<std::size_t, std::vector<Storage>>, std::unique_ptr<Made>>> made_;
  std::set<std::string> made_names_;
  std::vector<Program> packings_;
  std::map<std::size_t, std::unique_ptr<loop::CompiledProgram>> code_of_;
  std::map<std::pair<Port, std::size_t>, Port> packed_;
  std::uint32_t next_port_ = 0;  ///< Beyond the graph's.
  Kernels result_;
};

}  // namespace

Result<Kernels> scheduled(const Graph& graph, Kernels kernels, const std::map<std::string, ExternalWeight>& external,
                          const Target& target, const schedule::VectorUnit& unit) {
  return Scheduling(graph, kernels, external, target, unit).run();
}

}  // namespace rewright::compile
