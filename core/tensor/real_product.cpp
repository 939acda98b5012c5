// c += a b by blocks that fit caches: b in panels of kDepth rows and 2 vectors of columns, a in panels of kRows rows.
// Both are copied into the order in which the innermost loop reads them, with zeros beyond the edges, and that loop
// keeps kRows x 2 vectors of sums in registers. A lane is a column of c, so that the sums are the same on every
// machine.
//
// Source  Goto & van de Geijn, Anatomy of high-performance matrix multiplication, ACM TOMS 34(3), 2008.
#include <rewright/tensor/real_product.h>

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <vector>

namespace rewright {
namespace {

constexpr std::int64_t kRows = 6;
constexpr std::int64_t kFewRows = 2;  ///< Of a: b is not copied for them.
constexpr std::int64_t kDepth = 256;
constexpr std::int64_t kColumns = 512;  ///< Of b at a time: kDepth x kColumns numbers are 1 MiB.

/// c[kRows, 2 Width] += a[kRows, depth] b[depth, 2 Width], a by columns and b by rows, in vectors of `Width` numbers.
template <int Width>
[[gnu::always_inline]] inline void add_tile(std::int64_t depth, const double* a, const double* b, double* c,
                                            std::int64_t stride) {
  using Vector [[gnu::vector_size(Width * sizeof(double))]] = double;
  Vector sums[kRows][2] = {};
  for (std::int64_t k = 0; k < depth; ++k) {
    Vector left, right;
    std::memcpy(&left, b, sizeof left);
    std::memcpy(&right, b + Width, sizeof right);
    for (std::int64_t row = 0; row < kRows; ++row) {
      sums[row][0] += a[row] * left;
      sums[row][1] += a[row] * right;
    }
    a += kRows;
    b += 2 * Width;
  }
  for (std::int64_t row = 0; row < kRows; ++row, c += stride) {
    Vector there[2];
    std::memcpy(there, c, sizeof there);
    there[0] += sums[row][0];
    there[1] += sums[row][1];
    std::memcpy(c, there, sizeof there);
  }
}

using AddTile = void (*)(std::int64_t, const double*, const double*, double*, std::int64_t);

void add_tile_plain(std::int64_t depth, const double* a, const double* b, double* c, std::int64_t stride) {
  add_tile<4>(depth, a, b, c, stride);
}

struct Machine {
  AddTile add_tile;
  std::int64_t columns;  ///< Of a tile.
};

#ifdef __x86_64__
[[gnu::target("avx2")]] void add_tile_avx2(std::int64_t depth, const double* a, const double* b, double* c,
                                           std::int64_t stride) {
  add_tile<4>(depth, a, b, c, stride);
}
[[gnu::target("avx512f")]] void add_tile_avx512(std::int64_t depth, const double* a, const double* b, double* c,
                                                std::int64_t stride) {
  add_tile<8>(depth, a, b, c, stride);
}
Machine this_machine() {
  if (__builtin_cpu_supports("avx512f") != 0) return {add_tile_avx512, 16};
  if (__builtin_cpu_supports("avx2") != 0) return {add_tile_avx2, 8};
  return {add_tile_plain, 8};
}
#else
Machine this_machine() { return {add_tile_plain, 8}; }
#endif

/// Panels of `wide` columns of b's block, row by row.
void pack_right(const MatrixView<const Real>& b, std::int64_t wide, double* to) {
  for (std::int64_t first = 0; first < b.columns; first += wide) {
    const std::int64_t width = std::min(wide, b.columns - first);
    for (std::int64_t k = 0; k < b.rows; ++k, to += wide) {
      std::memcpy(to, b.data + k * b.stride + first, static_cast<std::size_t>(width) * sizeof(double));
      std::fill(to + width, to + wide, 0.0);
    }
  }
}

/// kRows rows of a's block, column by column.
void pack_left(const MatrixView<const Real>& a, std::int64_t first, double* to) {
  const std::int64_t height = std::min(kRows, a.rows - first);
  for (std::int64_t k = 0; k < a.columns; ++k, to += kRows) {
    for (std::int64_t row = 0; row < height; ++row) to[row] = a.data[(first + row) * a.stride + k].value;
    std::fill(to + height, to + kRows, 0.0);
  }
}

/// A tile at an edge is added to a copy.
void add_edge(const Machine& machine, std::int64_t depth, const double* a, const double* b, double* c,
              std::int64_t stride, std::int64_t height, std::int64_t width) {
  double tile[kRows * 16] = {};
  machine.add_tile(depth, a, b, tile, machine.columns);
  for (std::int64_t row = 0; row < height; ++row)
    for (std::int64_t column = 0; column < width; ++column)
      c[row * stride + column] += tile[row * machine.columns + column];
}

/// One block of b, packed, against all rows of a.
void add_block(const Machine& machine, const MatrixView<const Real>& a, const double* b, std::int64_t columns,
               double* c, std::int64_t stride) {
  std::vector<double> left(static_cast<std::size_t>(kRows * a.columns));
  for (std::int64_t row = 0; row < a.rows; row += kRows) {
    pack_left(a, row, left.data());
    const std::int64_t height = std::min(kRows, a.rows - row);
    for (std::int64_t column = 0; column < columns; column += machine.columns) {
      const std::int64_t width = std::min(machine.columns, columns - column);
      const double* const panel = b + column * a.columns;
      double* const to = c + row * stride + column;
      if (height == kRows && width == machine.columns) {
        machine.add_tile(a.columns, left.data(), panel, to, stride);
      } else {
        add_edge(machine, a.columns, left.data(), panel, to, stride, height, width);
      }
    }
  }
}

/// c += a b for a few rows: each row of b is read once, where it lies. Copying b would take longer than the product.
void add_few_rows(const MatrixView<const Real>& a, const MatrixView<const Real>& b, MatrixView<Real> c) {
  using Vector [[gnu::vector_size(8 * sizeof(double))]] = double;
  constexpr std::int64_t kWidth = 8;
  for (std::int64_t first = 0; first < b.columns; first += kColumns) {
    const std::int64_t end = std::min(first + kColumns, b.columns);
    for (std::int64_t k = 0; k < b.rows; ++k) {
      const Real* const right = b.data + k * b.stride;
      for (std::int64_t row = 0; row < a.rows; ++row) {
        const double factor = a.data[row * a.stride + k].value;
        Real* const sums = c.data + row * c.stride;
        std::int64_t column = first;
        for (; column + kWidth <= end; column += kWidth) {
          Vector sum, numbers;
          std::memcpy(&sum, sums + column, sizeof sum);
          std::memcpy(&numbers, right + column, sizeof numbers);
          sum += factor * numbers;
          std::memcpy(static_cast<void*>(sums + column), &sum, sizeof sum);
        }
        for (; column < end; ++column) sums[column].value += factor * right[column].value;
      }
    }
  }
}

}  // namespace

void add_product(MatrixView<const Real> a, MatrixView<const Real> b, MatrixView<Real> c) {
  static_assert(sizeof(Real) == sizeof(double));
  if (a.rows <= kFewRows) return add_few_rows(a, b, c);
  static const Machine machine = this_machine();
  std::vector<double> packed;
  for (std::int64_t first = 0; first < b.columns; first += kColumns) {
    const std::int64_t columns = std::min(kColumns, b.columns - first);
    const std::int64_t padded = (columns + machine.columns - 1) / machine.columns * machine.columns;
    for (std::int64_t top = 0; top < a.columns; top += kDepth) {
      const std::int64_t depth = std::min(kDepth, a.columns - top);
      packed.resize(static_cast<std::size_t>(depth * padded));
      pack_right({b.data + top * b.stride + first, depth, columns, b.stride}, machine.columns, packed.data());
      add_block(machine, {a.data + top, a.rows, depth, a.stride}, packed.data(), columns, &c.data[first].value,
                c.stride);
    }
  }
}

}  // namespace rewright
