#include "compress/channel_removal.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <memory>
#include <optional>
#include <tuple>
#include <utility>
#include <vector>

#include "compress/channel_groups.h"
#include "compress/rebuilt.h"

namespace rewright::compress {
namespace {

/// By channel: does it stay?
using Mask = std::vector<bool>;

std::int64_t kept_in(const Mask& mask) { return std::ranges::count(mask, true); }

/// Along an axis of the weight, each channel's mean |w| over the blocks that are its.
struct Sum {
  double total = 0;
  double count = 0;
};
void add_magnitudes(const ConstantData& weight, std::size_t axis, std::vector<Sum>& sums) {
  const std::vector<double> numbers = numbers_of(weight);
  const Shape& shape = weight.type.shape;
  std::int64_t inner = 1;
  for (int d = static_cast<int>(axis) + 1; d < shape.rank(); ++d) inner *= shape[d];
  const std::int64_t size = shape[static_cast<int>(axis)], block = size / std::ssize(sums);
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    const std::int64_t at = static_cast<std::int64_t>(i) / inner % size;
    Sum& sum = sums[static_cast<std::size_t>(at / block)];
    sum.total += std::isnan(numbers[i]) ? std::numeric_limits<double>::infinity() : std::abs(numbers[i]);
    sum.count += 1;
  }
}

class Remover {
 public:
  Remover(const Graph& graph, const CompressOptions& options)
      : graph_(graph),
        options_(options),
        definitions_(definitions_of(graph)),
        layers_(layers_of(graph, definitions_, options.names)) {}

  Result<CompressedGraph> run() {
    REWRIGHT_CHECK(check(options_, layers_));
    found_ = channel_groups(graph_, definitions_, layers_);
    keep_layers();
    choose();
    REWRIGHT_CHECK(check_that_something_goes());
    REWRIGHT_TRY(const Replacements replacements, replacements_of_all());
    REWRIGHT_TRY(auto rebuilt, rebuild(graph_, replacements));
    CompressedGraph result = with_amounts(graph_, std::move(rebuilt.graph), std::move(rebuilt.now), layers_);
    result.untouched = untouched();
    return result;
  }

 private:
  void keep_layers() {
    for (ChannelGroup& group : found_.groups)
      for (const Filters& filters : group.filters)
        if (group.pinned.empty() && is_kept(layers_[filters.layer], options_))
          group.pinned = fmt::format("{} is to be kept", layers_[filters.layer].name);
  }

  /// Channels by what they weigh, least first.
  struct Candidate {
    double mean = 0;
    std::size_t group = 0, channel = 0;
    friend bool operator<(const Candidate& a, const Candidate& b) {
      return std::tie(a.mean, a.group, a.channel) < std::tie(b.mean, b.group, b.channel);
    }
  };
  [[nodiscard]] std::vector<Candidate> candidates_of(std::size_t g) const {
    const ChannelGroup& group = found_.groups[g];
    std::vector<Sum> sums(static_cast<std::size_t>(group.channels));
    std::vector<std::pair<NodeId, std::size_t>> seen;  // A weight of several layers counts once.
    for (const Filters& filters : group.filters) {
      const std::pair place(layers_[filters.layer].weight, filters.axis);
      if (std::ranges::find(seen, place) != seen.end()) continue;
      seen.push_back(place);
      add_magnitudes(*graph_.node(place.first).constant(), place.second, sums);
    }
    std::vector<Candidate> candidates;
    for (std::size_t c = 0; c < sums.size(); ++c) candidates.push_back({sums[c].total / sums[c].count, g, c});
    return candidates;
  }
  void choose() {
    std::vector<Candidate> all;
    for (std::size_t g = 0; g < found_.groups.size(); ++g) {
      masks_.emplace_back(static_cast<std::size_t>(found_.groups[g].channels), true);
      if (!found_.groups[g].pinned.empty()) continue;
      std::vector<Candidate> own = candidates_of(g);
      if (options_.scope == Scope::kLayer) {
        remove(std::move(own));
      } else {
        all.insert(all.end(), own.begin(), own.end());
      }
    }
    if (options_.scope == Scope::kModel) remove(std::move(all));
  }
  void remove(std::vector<Candidate> candidates) {
    std::ranges::sort(candidates, [](const Candidate& a, const Candidate& b) { return a < b; });
    std::int64_t left = part_of(std::ssize(candidates), options_.share);
    for (const Candidate& candidate : candidates) {
      if (left == 0) break;
      Mask& mask = masks_[candidate.group];
      if (kept_in(mask) == 1) continue;
      mask[candidate.channel] = false;
      --left;
    }
  }
  [[nodiscard]] bool loses(std::size_t group) const {
    return group != kNoGroup && kept_in(masks_[group]) < found_.groups[group].channels;
  }
  Status check_that_something_goes() {
    for (std::size_t g = 0; g < masks_.size(); ++g)
      if (loses(g)) return {};
    for (const ChannelGroup& group : found_.groups)
      if (group.pinned.empty())
        return make_error(ErrorCode::kUsage,
                          "no channel would go: a share of {} of each layer's is less than one; ask for more",
                          options_.share);
    return make_error(ErrorCode::kUsage, "no layer's channels can go: {}",
                      found_.groups.empty() ? "no layer has more than one" : found_.groups.front().pinned);
  }

  /// The sizes that a tensor has now.
  [[nodiscard]] Shape shape_now(Port port) const {
    Shape shape = graph_.shape(port);
    const std::vector<std::size_t>& groups = found_.of.at(port);
    for (int d = 0; d < shape.rank(); ++d) {
      const std::size_t g = groups[static_cast<std::size_t>(d)];
      if (loses(g)) shape[d] = shape[d] / found_.groups[g].channels * kept_in(masks_[g]);
    }
    return shape;
  }
  Result<Replacements> replacements_of_all() {
    Replacements result;
    for (std::uint32_t i = 0; i < graph_.nodes().size(); ++i) {
      const Node& node = graph_.nodes()[i];
      if (node.is_weight() && shape_now({{i}, 0}) != node.outputs[0].shape) result.constants[{i}] = cut({i});
      if (!definitions_[i]) continue;
      std::vector<Shape> inputs, outputs;
      for (const Port& port : node.inputs) inputs.push_back(shape_now(port));
      for (std::uint32_t k = 0; k < node.outputs.size(); ++k) outputs.push_back(shape_now({{i}, k}));
      const DefinedApplication& made = *definitions_[i];
      if (inputs == made.inputs && outputs == made.outputs) continue;
      auto params = resized(made, inputs, outputs);
      if (!params)
        return make_error(ErrorCode::kInternal, "{} of '{}' cannot be applied to fewer channels, and could to one less",
                          made.application.op->name(), node.name);
      if (*params != made.application.params) result.params[{i}] = *std::move(params);
    }
    return result;
  }
  /// The constant without the channels that go.
  [[nodiscard]] std::shared_ptr<const ConstantData> cut(NodeId id) const {
    const ConstantData& was = *graph_.node(id).constant();
    ConstantData now{{shape_now({id, 0}), was.type.element}, was.value};
    const auto* from = std::get_if<std::vector<std::byte>>(&was.value);
    if (from == nullptr) return std::make_shared<const ConstantData>(std::move(now));
    std::vector<std::vector<std::int64_t>> kept;  // Places along each axis.
    for (std::size_t d = 0; d < found_.of.at({id, 0}).size(); ++d) {
      const std::size_t g = found_.of.at({id, 0})[d];
      const std::int64_t size = was.type.shape[static_cast<int>(d)];
      std::vector<std::int64_t>& places = kept.emplace_back();
      for (std::int64_t p = 0; p < size; ++p)
        if (g == kNoGroup || masks_[g][static_cast<std::size_t>(p / (size / found_.groups[g].channels))])
          places.push_back(p);
    }
    const std::size_t width = from->size() / static_cast<std::size_t>(was.type.shape.elements());
    std::vector<std::byte> bytes(static_cast<std::size_t>(now.type.shape.elements()) * width);
    std::byte* to = bytes.data();
    for_each_index(now.type.shape, [&](std::span<const std::int64_t> index) {
      std::int64_t flat = 0;
      for (std::size_t d = 0; d < index.size(); ++d)
        flat = flat * was.type.shape[static_cast<int>(d)] + kept[d][static_cast<std::size_t>(index[d])];
      std::memcpy(to, from->data() + static_cast<std::size_t>(flat) * width, width);
      to += width;
    });
    now.value = std::move(bytes);
    return std::make_shared<const ConstantData>(std::move(now));
  }

  [[nodiscard]] std::vector<UntouchedChannels> untouched() const {
    std::vector<UntouchedChannels> result;
    for (const ChannelGroup& group : found_.groups) {
      if (group.pinned.empty()) continue;
      UntouchedChannels& channels = result.emplace_back(UntouchedChannels{{}, group.pinned});
      for (const Filters& filters : group.filters)
        if (std::ranges::find(channels.layers, layers_[filters.layer].name) == channels.layers.end())
          channels.layers.push_back(layers_[filters.layer].name);
    }
    return result;
  }

  const Graph& graph_;
  const CompressOptions& options_;
  Definitions definitions_;
  std::vector<Layer> layers_;
  ChannelGroups found_;
  std::vector<Mask> masks_;  ///< By group.
};

}  // namespace

Result<CompressedGraph> without_channels(const Graph& graph, const CompressOptions& options) {
  return Remover(graph, options).run();
}

}  // namespace rewright::compress
