// Staged: the algebra of loops (definition.h has its vocabulary) that computes nothing and writes down what would be
// computed: a Definition (expression.h). Sizes may be symbols.
//
// An index is a list of expressions, one for each axis of its group.
#pragma once

#include <rewright/base/visibility.h>
#include <rewright/operator/expression.h>
#include <rewright/operator/over.h>
#include <rewright/operator/params.h>
#include <rewright/operator/window_axis.h>
#include <rewright/tensor/dim.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

namespace rewright {

namespace staged {

/// Of an index, for select(): what would be a bool where it is computed.
struct Condition {
  ValueExpr value;
  friend Condition operator&&(const Condition& a, const Condition& b) { return {both(a.value, b.value)}; }
  friend Condition operator||(const Condition& a, const Condition& b) { return {either(a.value, b.value)}; }
  friend Condition operator!(const Condition& a) { return {negation(a.value)}; }
  [[nodiscard]] ValueExpr choose(const ValueExpr& then, const ValueExpr& otherwise) const {
    return select(value, then, otherwise);
  }
};

/// One expression for each axis of a group, and the axes' sizes.
struct Index {
  std::vector<IndexExpr> parts;
  std::vector<IndexExpr> sizes = {};

  Index(std::vector<IndexExpr> parts, std::vector<IndexExpr> sizes)
      : parts(std::move(parts)), sizes(std::move(sizes)) {}
  template <class Number>
  requires std::is_integral_v<Number> Index(Number number) : parts{IndexExpr(static_cast<std::int64_t>(number))} {}
  Index(const SymbolicDim& size) : parts{IndexExpr(size)} {}
  Index(IndexExpr index) : parts{std::move(index)} {}

  /// Of a group of one axis, with which alone there is computed.
  [[nodiscard]] REWRIGHT_API const IndexExpr& only() const;

  friend Index operator+(const Index& a, const Index& b) { return a.only() + b.only(); }
  friend Index operator-(const Index& a, const Index& b) { return a.only() - b.only(); }
  friend Index operator*(const Index& a, const Index& b) { return a.only() * b.only(); }
  friend Index operator/(const Index& a, const Index& b) { return floor_divide(a.only(), b.only()); }
  friend Index operator%(const Index& a, const Index& b) { return modulo(a.only(), b.only()); }
  friend Condition operator==(const Index& a, const Index& b) { return {equal(a.value(), b.value())}; }
  friend Condition operator<(const Index& a, const Index& b) { return {less(a.value(), b.value())}; }
  friend Condition operator<=(const Index& a, const Index& b) { return {less_equal(a.value(), b.value())}; }
  friend Condition operator>(const Index& a, const Index& b) { return b < a; }
  friend Condition operator>=(const Index& a, const Index& b) { return b <= a; }
  [[nodiscard]] ValueExpr value() const { return ValueExpr::index(only()); }
};

/// A group of axes to loop over.
using Extent = std::vector<IndexExpr>;

class Rows;

/// A tensor whose axes were moved: its sizes, and the element at an index.
class REWRIGHT_API View {
 public:
  using Read = std::function<ValueExpr(std::span<const IndexExpr>)>;
  View(std::vector<SymbolicDim> sizes, Read read) : sizes_(std::move(sizes)), read_(std::move(read)) {}

  [[nodiscard]] int rank() const { return static_cast<int>(sizes_.size()); }
  [[nodiscard]] const SymbolicDim& size(int axis) const { return sizes_[static_cast<std::size_t>(axis)]; }
  [[nodiscard]] const std::vector<SymbolicDim>& sizes() const { return sizes_; }
  [[nodiscard]] ValueExpr operator()(std::span<const IndexExpr> at) const { return read_(at); }
  [[nodiscard]] View permuted(std::span<const std::int64_t> axes) const;
  [[nodiscard]] View sliced(int axis, const SymbolicDim& first, std::int64_t step, const SymbolicDim& size) const;
  [[nodiscard]] View part(int axis, const SymbolicDim& first, const SymbolicDim& size) const {
    return sliced(axis, first, 1, size);
  }
  template <class To>
  [[nodiscard]] View repeated(const To& to, std::span<const std::int64_t> axes) const {
    return repeated_to(to.sizes(), axes);
  }
  [[nodiscard]] Rows along(std::span<const std::int64_t> axes) const;

 private:
  [[nodiscard]] View repeated_to(const std::vector<SymbolicDim>& to, std::span<const std::int64_t> axes) const;
  std::vector<SymbolicDim> sizes_;
  Read read_;
};

/// The elements of a view along some axes, at an index of the others.
struct Elements {
  View view;
  std::vector<std::int64_t> axes;
  std::vector<IndexExpr> at;  ///< Those of `axes` are to be put in.

  template <class... I>
  [[nodiscard]] ValueExpr operator()(const I&... index) const {
    return element(std::vector<IndexExpr>{Index(index).only()...});
  }
  [[nodiscard]] REWRIGHT_API ValueExpr element(std::span<const IndexExpr> index) const;
};
class REWRIGHT_API Rows {
 public:
  Rows(View view, std::span<const std::int64_t> axes) : view_(std::move(view)), axes_(axes.begin(), axes.end()) {}
  /// `index`: of the others, or of all, those along which it runs being of size 1.
  [[nodiscard]] Elements operator()(const Index& index) const;

 private:
  View view_;
  std::vector<std::int64_t> axes_;
};
struct Padded {
  View inside;
  std::vector<SymbolicDim> before;
  ValueExpr value;
};

/// A buffer to be read, in groups of axes.
template <std::size_t kGroups>
class Groups {
 public:
  Groups(BufferId buffer, std::array<Extent, kGroups> extents) : buffer_(buffer), extents_(std::move(extents)) {}
  template <class... I>
  [[nodiscard]] ValueExpr operator()(const I&... index) const {
    static_assert(sizeof...(I) == kGroups, "one index for each group of axes");
    std::vector<IndexExpr> at;
    (append(at, Index(index)), ...);
    return ValueExpr::load(buffer_, std::move(at));
  }
  [[nodiscard]] SymbolicDim size(std::size_t group) const { return *Index(extents_[group], {}).only().size(); }
  [[nodiscard]] const Extent& extent(std::size_t group) const { return extents_[group]; }

 private:
  static void append(std::vector<IndexExpr>& at, const Index& index) {
    at.insert(at.end(), index.parts.begin(), index.parts.end());
  }
  BufferId buffer_;
  std::array<Extent, kGroups> extents_;
};

}  // namespace staged

class REWRIGHT_API Staged {
 public:
  using Value = ValueExpr;
  using Index = staged::Index;
  using Size = SymbolicDim;
  using View = staged::View;
  using Extent = staged::Extent;

  Staged(const SymbolicParams& params, std::span<const SymbolicShape> in, std::span<const SymbolicShape> out);
  Staged(const Staged&) = delete;
  Staged& operator=(const Staged&) = delete;

  class REWRIGHT_API Source {
   public:
    Source(BufferId buffer, const SymbolicShape& shape) : buffer_(buffer), shape_(&shape) {}
    [[nodiscard]] ValueExpr operator()(const Index& index) const { return ValueExpr::load(buffer_, index.parts); }
    [[nodiscard]] ValueExpr operator()() const { return ValueExpr::load(buffer_, {}); }
    [[nodiscard]] ValueExpr in_order(const Index& index) const;
    [[nodiscard]] int rank() const { return shape_->rank(); }
    [[nodiscard]] const SymbolicDim& size(int axis) const { return (*shape_)[axis]; }
    template <class... Count>
    [[nodiscard]] auto grouped(Count... counts) const {
      return staged::Groups<sizeof...(Count)>(buffer_,
                                              extents_of<sizeof...(Count)>(*shape_, {static_cast<int>(counts)...}));
    }

   private:
    BufferId buffer_;
    const SymbolicShape* shape_;
  };

  /// A box of a buffer to be written.
  struct Place {
    BufferId buffer;
    std::vector<IndexExpr> first;  ///< Along each axis.
    std::vector<SymbolicDim> extents;
  };
  template <class... From>
  struct Combination {
    Staged* owner;
    Place to;
    std::tuple<From...> from;
    template <class Function>
    void is(const Function& function) const {
      owner->write(to, [&](std::span<const IndexExpr> at) {
        return std::apply([&](const auto&... view) { return ValueExpr(function(view(at)...)); }, from);
      });
    }
  };
  class REWRIGHT_API BoxTarget {
   public:
    BoxTarget(Staged* owner, Place place) : owner_(owner), place_(std::move(place)) {}
    void is(const View& view) const;
    template <class... From>
    [[nodiscard]] Combination<From...> from(const From&... views) const {
      return {owner_, place_, {views...}};
    }
    [[nodiscard]] int rank() const { return static_cast<int>(place_.extents.size()); }
    [[nodiscard]] const SymbolicDim& size(int axis) const { return place_.extents[static_cast<std::size_t>(axis)]; }
    [[nodiscard]] const std::vector<SymbolicDim>& sizes() const { return place_.extents; }
    [[nodiscard]] BoxTarget part(int axis, const SymbolicDim& first, const SymbolicDim& size) const;

   protected:
    Staged* owner_;
    Place place_;
  };
  template <std::size_t kGroups>
  class GroupedTarget {
   public:
    GroupedTarget(Staged* owner, BufferId buffer, std::array<Extent, kGroups> extents)
        : owner_(owner), buffer_(buffer), extents_(std::move(extents)) {}
    template <class Function>
    staged::Groups<kGroups> is(std::string_view names, const Function& function) const {
      write({}, names, extents_, function);
      return read();
    }
    [[nodiscard]] SymbolicDim size(std::size_t group) const { return read().size(group); }
    /// What was written so far.
    [[nodiscard]] staged::Groups<kGroups> read() const { return {buffer_, extents_}; }
    template <std::size_t kRows>
    struct Row {
      GroupedTarget whole;
      std::vector<IndexExpr> index;
      template <class Function>
      void is(std::string_view names, const Function& function) const {
        std::array<Extent, kGroups - kRows> extents;
        std::copy(whole.extents_.begin() + kRows, whole.extents_.end(), extents.begin());
        whole.write(index, names, extents, function);
      }
      [[nodiscard]] Row<kRows + 1> at(const Index& row) const {
        static_assert(kRows + 1 < kGroups, "a row is one index of some of several groups");
        Row<kRows + 1> next{whole, index};
        next.index.insert(next.index.end(), row.parts.begin(), row.parts.end());
        return next;
      }
    };
    /// One row of the first group, to be written by itself; at(i).at(j) is one of the first two.
    [[nodiscard]] Row<1> at(const Index& row) const { return {*this, row.parts}; }

   private:
    template <std::size_t kWritten, class Function>
    void write(std::span<const IndexExpr> row, std::string_view names, const std::array<Extent, kWritten>& extents,
               const Function& function) const {
      const std::vector<Index> index = owner_->open(buffer_, names, extents, row);
      [&]<std::size_t... G>(std::index_sequence<G...>) { owner_->close(function(index[G]...)); }
      (std::make_index_sequence<kWritten>());
    }
    Staged* owner_;
    BufferId buffer_;
    std::array<Extent, kGroups> extents_;
  };
  class REWRIGHT_API Target : public BoxTarget {
   public:
    using BoxTarget::BoxTarget;
    using BoxTarget::is;
    template <class... Count>
    [[nodiscard]] auto grouped(Count... counts) const {
      return GroupedTarget<sizeof...(Count)>(
          owner_, place_.buffer,
          extents_of<sizeof...(Count)>(SymbolicShape(place_.extents), {static_cast<int>(counts)...}));
    }
    template <class Function>
    void is(std::string_view names, const Function& function) const {
      const Extent all(place_.extents.begin(), place_.extents.end());
      const std::vector<Index> index = owner_->open(place_.buffer, names, {{all}});
      owner_->close(function(index[0]));
    }
    void is(const staged::Padded& padded) const;
  };

  // --- tensors

  [[nodiscard]] std::size_t arity() const { return in_.size(); }
  [[nodiscard]] std::size_t outputs() const { return out_.size(); }
  [[nodiscard]] Source in(std::size_t k) const { return {{static_cast<std::uint32_t>(k)}, in_[k]}; }
  [[nodiscard]] View view(std::size_t k) const;
  [[nodiscard]] Target out(std::size_t k);
  template <class... E>
  [[nodiscard]] auto stage(std::string_view name, const E&... extents) {
    std::array<Extent, sizeof...(E)> groups{extent_of(extents)...};
    const BufferId buffer = add_temporary(name, groups);
    return GroupedTarget<sizeof...(E)>(this, buffer, std::move(groups));
  }
  /// For each index in turn, so that a statement may read what one before has written.
  template <class Function>
  void serial(std::string_view name, const Size& size, const Function& function) {
    function(open_serial(name, size));
    serial_.reset();
  }
  [[nodiscard]] std::span<const Size> sizes(std::size_t parameter) const { return params_.sizes(parameter); }
  template <class Numbers>
  [[nodiscard]] static staged::Padded padded(const View& inside, const Numbers& before, const Value& value) {
    return {inside, {before.begin(), before.end()}, value};
  }

  // --- indices and values

  template <class Number>
  [[nodiscard]] static Value number(const Number& value) {
    if constexpr (std::is_floating_point_v<Number>) {
      return ValueExpr::from_double(value);
    } else {
      return Index(value).value();
    }
  }
  [[nodiscard]] Index table(std::span<const std::int64_t> numbers, const Index& at);
  [[nodiscard]] static Value select(const staged::Condition& condition, const Value& then, const Value& otherwise) {
    return condition.choose(then, otherwise);
  }
  template <class Count>
  [[nodiscard]] static Value quotient(const Value& value, const Count& divisor) {
    if constexpr (std::is_same_v<Count, Value>) {
      return value / divisor;
    } else {
      return value / number(divisor);
    }
  }

  // --- reductions

  struct Tap {
    Index number, position;
  };
  /// The taps of an output position of a window.
  struct Taps {
    BasicWindowAxis<SymbolicDim> axis;
    SymbolicDim outputs;
    Index output;
  };
  struct Windows {
    BasicWindowAxis<SymbolicDim> axis;
    SymbolicDim outputs;
    [[nodiscard]] Taps operator()(const Index& output) const { return {axis, outputs, output}; }
  };
  [[nodiscard]] static Windows windows(const BasicWindowAxis<SymbolicDim>& axis, const SymbolicDim& outputs) {
    return {axis, outputs};
  }
  [[nodiscard]] static Value times(const Value& a, const Value& b) { return a * b; }

  template <class... Range, class Function>
  [[nodiscard]] Value sum(std::string_view names, const Over<Range...>& over, const Function& function) {
    return reduce(ValueExpr::Reduction::kSum, names, over, function);
  }
  template <class... Range, class Function>
  [[nodiscard]] Value greatest(std::string_view names, const Over<Range...>& over, const Function& function) {
    return reduce(ValueExpr::Reduction::kMaximum, names, over, function);
  }
  [[nodiscard]] Value sum(const staged::Elements& x) { return reduce(ValueExpr::Reduction::kSum, x); }
  [[nodiscard]] Value greatest(const staged::Elements& x) { return reduce(ValueExpr::Reduction::kMaximum, x); }
  template <class... Range>
  [[nodiscard]] Value count(const Over<Range...>& over) {
    if constexpr ((std::is_same_v<Range, Taps> || ...)) {
      return sum("", over, [](const auto&...) { return ValueExpr::from_integer(1); });
    } else {
      return std::apply([](const auto&... range) { return count_of({extent_of(range)...}); }, over.ranges);
    }
  }
  [[nodiscard]] static Value count(const staged::Elements& x);

  /// What was written down.
  [[nodiscard]] Definition take() { return std::move(definition_); }

 private:
  /// The axes and conditions of one reduction.
  struct Loops {
    std::vector<std::string_view> names;
    std::vector<AxisRange> axes;
    Guard where;
  };

  template <std::size_t kGroups>
  [[nodiscard]] static std::array<Extent, kGroups> extents_of(const SymbolicShape& shape,
                                                              const std::array<int, kGroups>& counts) {
    std::array<Extent, kGroups> extents;
    int axis = 0;
    for (std::size_t group = 0; group < kGroups; ++group)
      for (const int end = axis + counts[group]; axis < end; ++axis) extents[group].emplace_back(shape[axis]);
    return extents;
  }
  [[nodiscard]] static Value count_of(std::span<const Extent> extents);
  [[nodiscard]] static Value count_of(std::initializer_list<Extent> extents) {
    return count_of(std::span(extents.begin(), extents.size()));
  }
  [[nodiscard]] static Extent extent_of(const Extent& extent) { return extent; }
  [[nodiscard]] static Extent extent_of(const SymbolicDim& size) { return {IndexExpr(size)}; }

  template <class... Range, class Function>
  Value reduce(ValueExpr::Reduction reduction, std::string_view names, const Over<Range...>& over,
               const Function& function) {
    Loops loops{names_in(names), {}, {}};
    std::size_t entered = 0;
    const auto next = [&](const auto& range) { return enter(loops, entered++, range); };
    const auto body = std::apply(
        [&](const auto&... range) { return std::apply(function, std::tuple{next(range)...}); },  // From left to right.
        over.ranges);
    return ValueExpr::reduce(reduction, std::move(loops.axes), std::move(loops.where), ValueExpr(body));
  }
  [[nodiscard]] Value reduce(ValueExpr::Reduction reduction, const staged::Elements& elements);

  Index enter(Loops& loops, std::size_t at, const Extent& extent);
  template <class SizeType>
  Index enter(Loops& loops, std::size_t at, const SizeType& size) {
    return enter(loops, at, Extent{Index(size).only()});
  }
  Tap enter(Loops& loops, std::size_t at, const Taps& taps);

  [[nodiscard]] static std::vector<std::string_view> names_in(std::string_view names);
  /// New axes of one group.
  [[nodiscard]] Index add_axes(std::vector<AxisRange>& axes, std::string_view name, const Extent& extent);
  BufferId add_temporary(std::string_view name, std::span<const Extent> groups);
  [[nodiscard]] std::string unique_stage_name(BufferId buffer) const;
  [[nodiscard]] Index open_serial(std::string_view name, const Size& size);
  /// Begins a stage; its value is what close() gets. `row`: where it is written, before the groups.
  [[nodiscard]] std::vector<Index> open(BufferId buffer, std::string_view names, std::span<const Extent> groups,
                                        std::span<const IndexExpr> row = {});
  void close(const ValueExpr& value);
  void write(const Place& place, const std::function<ValueExpr(std::span<const IndexExpr>)>& value);

  SymbolicParams params_;
  std::vector<SymbolicShape> in_, out_;
  Definition definition_;
  std::uint32_t next_axis_ = 0;
  std::optional<Stage> open_;
  std::optional<AxisRange> serial_;  ///< Around the statements at hand.
};

}  // namespace rewright
