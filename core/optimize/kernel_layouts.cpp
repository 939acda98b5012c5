#include "optimize/kernel_layouts.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

#include "operator/properties.h"

namespace rewright {
namespace {

enum class Freedom : std::uint8_t { kNone, kSame, kRows, kProduct, kConvolution, kImage, kView };

/// What an application's definition says of the layouts that its tensors may have.
struct Place {
  Freedom freedom = Freedom::kNone;
  std::vector<std::int64_t> permutation = {};  ///< kView.
  std::vector<std::int64_t> cuts = {};         ///< Of axis 1.
};

bool are(std::span<const AxisUse> axes, AxisUse use) { return std::ranges::count(axes, use) == std::ssize(axes); }
bool are_window(std::span<const AxisUse> axes) {
  return std::ranges::all_of(axes, [](AxisUse use) { return use == AxisUse::kSame || use == AxisUse::kWindow; });
}

bool are_rows(std::span<const OperandUse> uses) {
  const auto is_row = [](const OperandUse& use) {
    return std::ranges::all_of(use.axes, [](AxisUse axis) { return axis == AxisUse::kSame || axis == AxisUse::kAll; });
  };
  const auto is_reduced = [](const OperandUse& use) { return !use.axes.empty() && use.axes.back() == AxisUse::kAll; };
  return std::ranges::all_of(uses, is_row) && std::ranges::any_of(uses, is_reduced);
}

/// [.., i, k] times [.., k, j].
bool is_product(std::span<const OperandUse> uses) {
  if (uses.size() != 2 || uses[0].axes.size() < 2) return false;
  const std::size_t stack = uses[0].axes.size() - 2;
  const auto is_factor = [&](const OperandUse& use, AxisUse rows, AxisUse columns) {
    return are(std::span(use.axes).first(stack), AxisUse::kSame) && use.axes[stack] == rows &&
           use.axes[stack + 1] == columns;
  };
  return is_factor(uses[0], AxisUse::kSame, AxisUse::kAll) && is_factor(uses[1], AxisUse::kAll, AxisUse::kSame);
}

/// A window over an image, through all channels, by weights whose first axis is the output's channels.
bool is_convolution(std::span<const OperandUse> uses) {
  if (uses.size() != 2 || uses[0].axes.size() != 4) return false;
  const std::span<const AxisUse> image = uses[0].axes;
  return image[0] == AxisUse::kSame && (image[1] == AxisUse::kWindow || image[1] == AxisUse::kAll) &&
         are_window(image.last(2)) && uses[1].axes[0] == AxisUse::kOther;
}

Freedom freedom_of(std::span<const OperandUse> uses) {
  if (uses.empty()) return Freedom::kNone;
  if (std::ranges::all_of(uses, [](const OperandUse& use) { return are(use.axes, AxisUse::kSame); }))
    return Freedom::kSame;
  if (is_product(uses)) return Freedom::kProduct;
  if (are_rows(uses)) return Freedom::kRows;
  if (is_convolution(uses)) return Freedom::kConvolution;
  const auto is_image = [](const OperandUse& use) {
    return use.axes.size() == 4 && are(std::span(use.axes).first(2), AxisUse::kSame) &&
           are_window(std::span(use.axes).last(2));
  };
  return std::ranges::all_of(uses, is_image) ? Freedom::kImage : Freedom::kNone;
}

Place place_of(const Application& application) {
  const auto definition = application.op.definition(application.params, application.in);
  if (!definition) return {};
  if (auto permutation = permutation_of(*definition)) return {Freedom::kView, *std::move(permutation)};
  const auto uses = operand_uses(*definition);
  return {uses ? freedom_of(*uses) : Freedom::kNone, {}, cuts_along(*definition, 1)};
}

bool is_of_images(const AxisOrder& order) {
  return order.empty() || order == AxisOrder{0, 2, 3, 1} || block_of(order) > 0;
}

/// Would a part of what the application joins or cuts begin or end inside a block?
bool cuts_blocks(const Place& place, std::int64_t block) {
  return std::ranges::any_of(place.cuts, [&](std::int64_t cut) { return cut % block != 0; });
}

/// May the tensor of an operator of that freedom lie so, where its output lies as `out`?
bool fits(Freedom freedom, int rank, const AxisOrder& order, const AxisOrder& out) {
  switch (freedom) {
    case Freedom::kNone: return order.empty() && out.empty();
    case Freedom::kSame: return order == out;
    case Freedom::kRows: return order == out && (order.empty() || order.back() == rank - 1);
    case Freedom::kProduct: return order.empty() || order.back() >= rank - 2;
    case Freedom::kConvolution: return is_of_images(order) && is_of_images(out);
    case Freedom::kImage: return order == out && is_of_images(order);
    case Freedom::kView: break;
  }
  return false;
}

std::int64_t to_units(double us) {
  const double units = us * 0x1p30;
  return units < static_cast<double>(Pbqp::kBarred) ? std::llround(units) : Pbqp::kBarred;
}

std::vector<int> written_out(const AxisOrder& order, int rank) {
  if (!order.empty()) return order;
  std::vector<int> all(static_cast<std::size_t>(rank));
  std::iota(all.begin(), all.end(), 0);
  return all;
}

std::size_t position_of(std::span<const AxisOrder> orders, const std::vector<int>& order) {
  const bool in_order = std::ranges::is_sorted(order);
  const auto found = std::ranges::find(orders, in_order ? AxisOrder() : order);
  return static_cast<std::size_t>(found - orders.begin());
}

/// The order in which the operand of a transpose lies where it is the output's memory.
std::vector<int> operand_order(std::span<const std::int64_t> permutation, const AxisOrder& out, int rank) {
  std::vector<int> order;
  for (const int axis : written_out(out, rank))
    order.push_back(static_cast<int>(permutation[static_cast<std::size_t>(axis)]));
  return order;
}

Result<std::int64_t> cost_of_transpose(KernelCosts& costs, std::vector<std::int64_t> perm, const Shape& in,
                                       const AxisOrder& from, const AxisOrder& to) {
  const Params params({std::move(perm)});
  const InputKind kind = InputKind::kData;
  const std::array<AxisOrder, 2> orders = {from, to};
  const Application application{*costs.reorder(), params, {&in, 1}, {&kind, 1}, orders};
  REWRIGHT_TRY(const double us, costs.us({{&application, 1}}));
  return to_units(us);
}

Result<std::int64_t> reorder_cost(KernelCosts& costs, const Shape& shape, const AxisOrder& from, const AxisOrder& to) {
  if (from == to) return 0;
  const int rank = shape.rank();
  if (block_of(from) > 0 || block_of(to) > 0) {
    const std::vector<int> all = written_out({}, rank);
    return cost_of_transpose(costs, {all.begin(), all.end()}, shape, from, to);
  }
  const std::vector<int> old = written_out(from, rank);
  std::vector<std::int64_t> perm;
  for (const int axis : written_out(to, rank)) perm.push_back(std::ranges::find(old, axis) - old.begin());
  Shape as_is;
  for (const int axis : old) as_is.append(shape[axis]);
  return cost_of_transpose(costs, std::move(perm), as_is, {}, {});
}

/// One kernel's questions to the cost model.
class Table {
 public:
  Table(KernelCosts& costs, const Kernel& kernel) : costs_(costs), kernel_(kernel) {
    for (const Application& application : kernel.applications) places_.push_back(place_of(application));
    if (kernel.anchor == 0) freedom_ = places_[0].freedom;
    for (std::size_t a = 0; a < kernel.applications.size(); ++a) {
      const Application& application = kernel.applications[a];
      if (a > 0 && places_[a].freedom != Freedom::kSame) freedom_ = Freedom::kNone;
      for (std::uint32_t k = 0; k < application.in.size(); ++k) {
        if (!kernel.source(a, k).is_outside()) continue;
        if (application.kinds[k] == InputKind::kData) outside_.push_back({a, k});
      }
    }
  }

  Result<KernelLayouts> fill() {
    KernelLayouts table;
    table.own.fill(Pbqp::kBarred);
    Pbqp::Own none;
    none.fill(Pbqp::kBarred);
    Pbqp::Pair never;
    never.fill(none);
    table.operands.assign(outside_.size(), never);
    REWRIGHT_TRY(const std::vector<Shape> out,
                 kernel_.applications[0].op.infer(kernel_.applications[0].params, kernel_.applications[0].in));
    rank_ = out[0].rank();
    const std::span<const AxisOrder> orders = orders_of_rank(rank_);
    for (std::size_t to = 0; to < orders.size(); ++to) REWRIGHT_CHECK(fill(orders[to], to, table));
    return table;
  }

  Result<std::int64_t> ask_in_order() {
    if (freedom_ != Freedom::kView) return ask(std::vector<AxisOrder>(outside_.size()), {});
    if (outside_.empty()) return 0;
    // The output is the operand in another order, if there is one of its rank.
    const Shape& in = shape(outside_[0]);
    const std::vector<int> order = operand_order(places_[0].permutation, {}, in.rank());
    const auto orders = orders_of_rank(in.rank());
    const std::size_t as = position_of(orders, order);
    return as == orders.size() ? ask({AxisOrder()}, {}) : reorder_cost(costs_, in, {}, orders[as]);
  }

 private:
  struct Outside {
    std::size_t application;
    std::uint32_t operand;
  };
  [[nodiscard]] const Shape& shape(const Outside& at) const {
    return kernel_.applications[at.application].in[at.operand];
  }
  /// Of an operand's orders, those that it may have; by itself: in order where it is of another rank than the output.
  [[nodiscard]] bool may_lie(const Outside& at, const AxisOrder& order, const AxisOrder& out) const {
    const int rank = shape(at).rank();
    if (rank != rank_) return order.empty();
    return fits(at.application > 0 ? Freedom::kSame : freedom_, rank, order, out);
  }

  Status fill(const AxisOrder& out, std::size_t to, KernelLayouts& table) {
    if (freedom_ == Freedom::kView) return fill_view(out, to, table);
    if (!fits(freedom_, rank_, out, out)) return {};
    const auto is_in_blocks = [&](const Place& place) { return cuts_blocks(place, block_of(out)); };
    if (block_of(out) > 0 && std::ranges::any_of(places_, is_in_blocks)) return {};
    std::vector<AxisOrder> liked;
    for (const Outside& at : outside_) {
      const auto orders = orders_of_rank(shape(at).rank());
      const auto first = std::ranges::find_if(orders, [&](const AxisOrder& order) { return may_lie(at, order, out); });
      if (first == orders.end()) return {};
      liked.push_back(freedom_ == Freedom::kConvolution && may_lie(at, out, out) ? out : *first);
    }
    REWRIGHT_TRY(table.own[to], ask(liked, out));
    REWRIGHT_CHECK(try_other_images(liked, out, table.own[to]));
    if (table.own[to] >= Pbqp::kBarred) return {};
    for (std::size_t i = 0; i < outside_.size(); ++i) REWRIGHT_CHECK(fill_operand(i, liked, out, to, table));
    return {};
  }

  /// A convolution that cannot have its image as its output lies: a few channels are not put into blocks, say.
  Status try_other_images(std::vector<AxisOrder>& liked, const AxisOrder& out, std::int64_t& own) {
    if (freedom_ != Freedom::kConvolution || outside_.empty() || outside_[0].application > 0) return {};
    for (const AxisOrder& order : orders_of_rank(rank_)) {
      if (own < Pbqp::kBarred) return {};
      if (!may_lie(outside_[0], order, out)) continue;
      liked[0] = order;
      REWRIGHT_TRY(own, ask(liked, out));
    }
    return {};
  }

  Status fill_operand(std::size_t i, std::vector<AxisOrder> liked, const AxisOrder& out, std::size_t to,
                      KernelLayouts& table) {
    const std::span<const AxisOrder> orders = orders_of_rank(shape(outside_[i]).rank());
    REWRIGHT_TRY(const Pbqp::Pair reorders, reorder_costs(costs_, shape(outside_[i])));
    for (std::size_t as = 0; as < orders.size(); ++as) {
      if (!may_lie(outside_[i], orders[as], out)) continue;
      std::int64_t extra = 0;
      if (orders[as] != liked[i]) {
        std::vector<AxisOrder> otherwise = liked;
        otherwise[i] = orders[as];
        REWRIGHT_TRY(const std::int64_t cost, ask(otherwise, out));
        if (cost >= Pbqp::kBarred) continue;
        extra = cost - table.own[to];
      }
      for (std::size_t from = 0; from < orders.size(); ++from) {
        std::int64_t& least = table.operands[i][from][to];
        least = std::min(least, reorders[from][as] + extra);
      }
    }
    return {};
  }

  Status fill_view(const AxisOrder& out, std::size_t to, KernelLayouts& table) {
    const auto orders = orders_of_rank(rank_);
    if (outside_.empty() || block_of(out) > 0) return {};
    const std::size_t as = position_of(orders, operand_order(places_[0].permutation, out, rank_));
    if (as == orders.size()) {  // A permutation that no layout of this rank stands for: it is carried out.
      if (!out.empty()) return {};
      REWRIGHT_TRY(table.own[to], ask({AxisOrder()}, out));
      table.operands[0][0][to] = 0;
      return {};
    }
    table.own[to] = 0;
    REWRIGHT_TRY(const Pbqp::Pair reorders, reorder_costs(costs_, shape(outside_[0])));
    for (std::size_t from = 0; from < orders.size(); ++from) table.operands[0][from][to] = reorders[from][as];
    return {};
  }

  /// In order: what each operand from outside lies in; everything else lies as the output.
  Result<std::int64_t> ask(const std::vector<AxisOrder>& outside, const AxisOrder& out) {
    std::vector<std::vector<AxisOrder>> orders;
    std::vector<Application> applications(kernel_.applications.begin(), kernel_.applications.end());
    for (std::size_t a = 0; a < applications.size(); ++a) {
      std::vector<AxisOrder>& all = orders.emplace_back(applications[a].in.size());
      for (std::size_t k = 0; k < all.size(); ++k)
        if (!kernel_.source(a, k).is_outside()) all[k] = out;
      for (std::size_t i = 0; i < outside_.size(); ++i)
        if (outside_[i].application == a) all[outside_[i].operand] = outside[i];
      REWRIGHT_TRY(const auto shapes, applications[a].op.infer(applications[a].params, applications[a].in));
      all.resize(all.size() + shapes.size(), out);
    }
    std::vector<Application> placed;
    for (std::size_t a = 0; a < applications.size(); ++a)
      placed.push_back(
          {applications[a].op, applications[a].params, applications[a].in, applications[a].kinds, orders[a]});
    REWRIGHT_TRY(const double us, costs_.us({placed, kernel_.sources, kernel_.anchor}));
    return to_units(us);
  }

  KernelCosts& costs_;
  const Kernel& kernel_;
  std::vector<Place> places_;  ///< By application.
  Freedom freedom_ = Freedom::kNone;
  int rank_ = 0;
  std::vector<Outside> outside_;
};

}  // namespace

std::span<const AxisOrder> orders_of_rank(int rank) {
  static const std::vector<AxisOrder> kMatrix = {{}, {1, 0}},
                                      kStack = {{}, {0, 2, 1}, {1, 0, 2}, {1, 2, 0}, {2, 0, 1}, {2, 1, 0}},
                                      kImage = {{},           {0, 1, 3, 2}, {0, 2, 1, 3},      {0, 2, 3, 1},
                                                {0, 3, 1, 2}, {0, 3, 2, 1}, {0, 1, 2, 3, -16}, {0, 1, 2, 3, -8}};
  if (rank == 4) return kImage;
  if (rank == 3) return kStack;
  return std::span(kMatrix).first(rank == 2 ? 2 : 1);
}

Result<KernelLayouts> kernel_layouts(KernelCosts& costs, const Kernel& kernel) { return Table(costs, kernel).fill(); }

Status ask_in_order(KernelCosts& costs, const Kernel& kernel) {
  REWRIGHT_TRY([[maybe_unused]] const std::int64_t cost, Table(costs, kernel).ask_in_order());
  return {};
}

Result<Pbqp::Pair> reorder_costs(KernelCosts& costs, const Shape& shape) {
  const std::span<const AxisOrder> orders = orders_of_rank(shape.rank());
  Pbqp::Pair pair;
  for (Pbqp::Own& row : pair) row.fill(Pbqp::kBarred);
  for (std::size_t from = 0; from < orders.size(); ++from)
    for (std::size_t to = 0; to < orders.size(); ++to) {
      REWRIGHT_TRY(pair[from][to], reorder_cost(costs, shape, orders[from], orders[to]));
    }
  return pair;
}

}  // namespace rewright
