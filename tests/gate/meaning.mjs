// What ONNX's operators mean, in double precision: a second reading of the standard that shares nothing with the program.
//
// evaluate(model, feeds, memory) gives the outputs of a model as {name: {dims, data}}; numbers of every type are doubles
// (integers up to 2^53), so that halves and singles are computed exactly but for the rounding of doubles. `memory` keeps
// what was computed, by content, for the next model of the same inputs. Throws an Error that names an operator which is
// not here.
//
// Source  ONNX, Operators.md.
import { createHash } from "node:crypto";
import { fromHalf } from "../corpus/values.mjs";

const count = (dims) => dims.reduce((a, b) => a * b, 1);
const tensor = (dims, data) => ({ dims, data: data ?? new Float64Array(count(dims)) });
const map = (x, f) => tensor(x.dims, x.data.map(f));
const axisOf = (axis, rank) => (axis < 0 ? axis + rank : axis);

function stridesOf(dims) {
  const strides = new Array(dims.length).fill(1);
  for (let i = dims.length - 2; i >= 0; --i) strides[i] = strides[i + 1] * dims[i + 1];
  return strides;
}

function broadcastDims(a, b) {
  const rank = Math.max(a.length, b.length), at = (dims, i) => dims[dims.length - rank + i] ?? 1;
  return Array.from({ length: rank }, (_, i) => (at(a, i) === 1 ? at(b, i) : at(a, i)));
}

/// The elements of x at the places of a larger shape.
function broadcast(x, dims) {
  if (String(x.dims) === String(dims)) return x.data;
  const own = stridesOf(x.dims), offset = dims.length - x.dims.length, data = new Float64Array(count(dims));
  if (x.data.length === 1) return data.fill(x.data[0]);
  const steps = dims.map((_, i) => (i < offset || x.dims[i - offset] === 1 ? 0 : own[i - offset]));
  return gather(x.data, dims, steps, 0, data);
}

/// data[i] = from[start + sum of index times step], over all indices of `dims` in order.
function gather(from, dims, steps, start, data = new Float64Array(count(dims))) {
  const index = new Array(dims.length).fill(0);
  let at = start;
  for (let i = 0; i < data.length; ++i) {
    data[i] = from[at];
    for (let axis = dims.length - 1; axis >= 0; --axis) {
      at += steps[axis];
      if (++index[axis] < dims[axis]) break;
      at -= steps[axis] * dims[axis];
      index[axis] = 0;
    }
  }
  return data;
}

function binary(a, b, f) {
  const dims = broadcastDims(a.dims, b.dims), left = broadcast(a, dims), right = broadcast(b, dims), out = tensor(dims);
  for (let i = 0; i < out.data.length; ++i) out.data[i] = f(left[i], right[i]);
  return out;
}

function matmul(a, b) {
  const left = a.dims.length === 1 ? [1, ...a.dims] : a.dims, right = b.dims.length === 1 ? [...b.dims, 1] : b.dims;
  const [m, k] = left.slice(-2), n = right.at(-1), batch = broadcastDims(left.slice(0, -2), right.slice(0, -2));
  const x = broadcast(tensor(left, a.data), [...batch, m, k]), y = broadcast(tensor(right, b.data), [...batch, k, n]);
  const out = new Float64Array(count(batch) * m * n);
  for (let g = 0; g < count(batch); ++g)
    for (let i = 0; i < m; ++i)
      for (let l = 0; l < k; ++l) {
        const factor = x[(g * m + i) * k + l], row = (g * k + l) * n, to = (g * m + i) * n;
        for (let j = 0; j < n; ++j) out[to + j] += factor * y[row + j];
      }
  const dims = [...batch, ...(a.dims.length === 1 ? [] : [m]), ...(b.dims.length === 1 ? [] : [n])];
  return tensor(dims, out);
}

function transpose(x, order) {
  const strides = stridesOf(x.dims), dims = order.map((axis) => x.dims[axis]);
  return tensor(dims, gather(x.data, dims, order.map((axis) => strides[axis]), 0));
}
const reversed = (x) => x.dims.map((_, i) => x.dims.length - 1 - i);

function gemm([a, b, c], { alpha = 1, beta = 1, transA = 0, transB = 0 }) {
  const product = matmul(transA ? transpose(a, [1, 0]) : a, transB ? transpose(b, [1, 0]) : b);
  const scaled = map(product, (value) => alpha * value);
  return c ? binary(scaled, c, (value, bias) => value + (beta === 0 ? 0 : beta * bias)) : scaled;
}

/// Window sizes along the axes behind the second: {out, begin} for each.
function windows(spatial, kernel, attributes) {
  const n = kernel.length, strides = attributes.strides ?? Array(n).fill(1), dilations = attributes.dilations ?? Array(n).fill(1);
  const pads = attributes.pads ?? Array(2 * n).fill(0), auto = attributes.auto_pad ?? "NOTSET";
  return spatial.map((size, i) => {
    const span = (kernel[i] - 1) * dilations[i] + 1;
    if (auto.startsWith("SAME")) {
      const out = Math.ceil(size / strides[i]), total = Math.max((out - 1) * strides[i] + span - size, 0);
      return { out, begin: auto === "SAME_UPPER" ? total >> 1 : (total + 1) >> 1, stride: strides[i], dilation: dilations[i] };
    }
    const begin = auto === "VALID" ? 0 : pads[i], room = size + (auto === "VALID" ? 0 : pads[i] + pads[i + n]) - span;
    const round = attributes.ceil_mode ? Math.ceil : Math.floor;
    return { out: round(room / strides[i]) + 1, begin, stride: strides[i], dilation: dilations[i] };
  });
}

/// Images as two-dimensional ones: sizes of 1 in front of what is missing.
const flat = (dims) => (dims.length === 3 ? [dims[0], dims[1], 1, dims[2]] : dims);
const flatAttributes = (attributes, rank) => {
  if (rank === 4) return attributes;
  const front = (list, value) => (list ? [value, ...list] : undefined), { pads } = attributes;
  return { ...attributes, kernel_shape: front(attributes.kernel_shape, 1), strides: front(attributes.strides, 1),
    dilations: front(attributes.dilations, 1), pads: pads ? [0, pads[0], 0, pads[1]] : undefined };
};

function conv([x, w, bias], attributes) {
  const rank = x.dims.length;
  if (rank !== 3 && rank !== 4) throw new Error(`Conv of rank ${rank}`);
  const [batch, channels, height, width] = flat(x.dims), [outputs, inner, kh, kw] = flat(w.dims), groups = attributes.group ?? 1;
  const [rows, columns] = windows([height, width], [kh, kw], flatAttributes(attributes, rank));
  const out = new Float64Array(batch * outputs * rows.out * columns.out), { data } = x;
  for (let n = 0; n < batch; ++n)
    for (let o = 0; o < outputs; ++o) {
      const plane = (n * outputs + o) * rows.out * columns.out, first = Math.floor(o / (outputs / groups)) * inner;
      if (bias) out.fill(bias.data[o], plane, plane + rows.out * columns.out);
      for (let c = 0; c < inner; ++c)
        for (let i = 0; i < kh; ++i)
          for (let j = 0; j < kw; ++j) {
            const factor = w.data[((o * inner + c) * kh + i) * kw + j], source = (n * channels + first + c) * height;
            const shift = j * columns.dilation - columns.begin, { stride } = columns;
            const from = Math.max(0, Math.ceil(-shift / stride)), to = Math.min(columns.out, Math.floor((width - 1 - shift) / stride) + 1);
            for (let y = 0; y < rows.out; ++y) {
              const row = y * rows.stride - rows.begin + i * rows.dilation;
              if (row < 0 || row >= height) continue;
              const line = (source + row) * width + shift, into = plane + y * columns.out;
              for (let z = from; z < to; ++z) out[into + z] += factor * data[line + z * stride];
            }
          }
    }
  return tensor(rank === 3 ? [batch, outputs, columns.out] : [batch, outputs, rows.out, columns.out], out);
}

function pool([x], attributes, greatest) {
  const rank = x.dims.length;
  if (rank !== 3 && rank !== 4) throw new Error(`a pool of rank ${rank}`);
  const own = flatAttributes(attributes, rank), [kh, kw] = own.kernel_shape, [batch, channels, height, width] = flat(x.dims);
  const [rows, columns] = windows([height, width], [kh, kw], own), all = attributes.count_include_pad === 1;
  const pads = own.pads ?? [0, 0, 0, 0];
  const out = new Float64Array(batch * channels * rows.out * columns.out);
  for (let plane = 0; plane < batch * channels; ++plane)
    for (let y = 0; y < rows.out; ++y)
      for (let z = 0; z < columns.out; ++z) {
        let sum = 0, most = -Infinity, seen = 0, padded = 0;
        for (let i = 0; i < kh; ++i)
          for (let j = 0; j < kw; ++j) {
            const row = y * rows.stride - rows.begin + i * rows.dilation, column = z * columns.stride - columns.begin + j * columns.dilation;
            if (row < height + pads[2] && column < width + pads[3]) ++padded;
            if (row < 0 || row >= height || column < 0 || column >= width) continue;
            const value = x.data[(plane * height + row) * width + column];
            sum += value;
            most = Math.max(most, value);
            ++seen;
          }
        out[(plane * rows.out + y) * columns.out + z] = greatest ? most : sum / (all ? padded : seen);
      }
  return tensor(rank === 3 ? [batch, channels, columns.out] : [batch, channels, rows.out, columns.out], out);
}

function reduce(x, axes, keep, start, step, end = (value) => value) {
  const rank = x.dims.length, chosen = new Set((axes?.length ? axes : x.dims.map((_, i) => i)).map((axis) => axisOf(axis, rank)));
  const dims = x.dims.map((size, i) => (chosen.has(i) ? 1 : size)), strides = stridesOf(dims), steps = dims.map((size, i) => (chosen.has(i) ? 0 : strides[i]));
  const places = gather(Float64Array.from({ length: count(dims) }, (_, i) => i), x.dims, steps, 0), out = new Float64Array(count(dims)).fill(start);
  for (let i = 0; i < x.data.length; ++i) out[places[i]] = step(out[places[i]], x.data[i]);
  const share = x.data.length / out.length;
  return tensor(keep ? dims : x.dims.filter((_, i) => !chosen.has(i)), out.map((value) => end(value, share)));
}

const add = (a, b) => a + b;
function softmax(x, axes, logarithm) {
  const most = reduce(x, axes, true, -Infinity, Math.max), moved = binary(x, most, (value, top) => value - top);
  const sum = reduce(map(moved, Math.exp), axes, true, 0, add);
  return logarithm ? binary(moved, sum, (value, total) => value - Math.log(total)) : binary(map(moved, Math.exp), sum, (value, total) => value / total);
}

function normalise(x, axes, epsilon) {
  const mean = reduce(x, axes, true, 0, add, (sum, n) => sum / n), centred = binary(x, mean, (a, b) => a - b);
  const variance = reduce(map(centred, (value) => value * value), axes, true, 0, add, (sum, n) => sum / n);
  return binary(centred, variance, (value, spread) => value / Math.sqrt(spread + epsilon));
}
const perChannel = (x, values) => tensor([1, values.data.length, ...Array(x.dims.length - 2).fill(1)], values.data);

function concat(parts, axis) {
  const along = axisOf(axis, parts[0].dims.length), dims = [...parts[0].dims];
  dims[along] = parts.reduce((sum, part) => sum + part.dims[along], 0);
  const rows = count(dims.slice(0, along)), out = tensor(dims), inner = count(dims.slice(along + 1));
  let at = 0;
  for (let row = 0; row < rows; ++row)
    for (const part of parts) {
      const size = part.dims[along] * inner;
      out.data.set(part.data.subarray(row * size, (row + 1) * size), at);
      at += size;
    }
  return out;
}

function slice(x, starts, ends, axes, steps) {
  const dims = [...x.dims], strides = stridesOf(x.dims), moves = [...strides];
  let first = 0;
  starts.forEach((start, i) => {
    const axis = axisOf(axes?.[i] ?? i, dims.length), size = x.dims[axis], step = steps?.[i] ?? 1;
    const limit = (value, low, high) => Math.min(Math.max(value < 0 ? value + size : value, low), high);
    const begin = step > 0 ? limit(start, 0, size) : limit(start, 0, size - 1), end = step > 0 ? limit(ends[i], 0, size) : limit(ends[i], -1, size - 1);
    dims[axis] = Math.max(Math.ceil((end - begin) / step), 0);
    first += begin * strides[axis];
    moves[axis] = strides[axis] * step;
  });
  return tensor(dims, gather(x.data, dims, moves, first));
}

function pad(x, pads, value, mode, axes) {
  if (mode !== "constant") throw new Error(`Pad ${mode}`);
  const rank = x.dims.length, begin = Array(rank).fill(0), end = Array(rank).fill(0), n = pads.length / 2;
  for (let i = 0; i < n; ++i) [begin[axisOf(axes?.[i] ?? i, rank)], end[axisOf(axes?.[i] ?? i, rank)]] = [pads[i], pads[i + n]];
  let padded = slice(x, begin.map((size) => Math.max(-size, 0)), x.dims.map((size, i) => size - Math.max(-end[i], 0)));
  for (let axis = 0; axis < rank; ++axis)
    for (const [size, front] of [[begin[axis], true], [end[axis], false]]) {
      if (size <= 0) continue;
      const dims = padded.dims.map((old, i) => (i === axis ? size : old)), edge = tensor(dims, new Float64Array(count(dims)).fill(value));
      padded = concat(front ? [edge, padded] : [padded, edge], axis);
    }
  return padded;
}

function reshape(x, sizes, zero) {
  const dims = sizes.map((size, i) => (size === 0 && !zero ? x.dims[i] : size)), open = dims.indexOf(-1);
  if (open >= 0) dims[open] = x.data.length / -count(dims);
  return tensor(dims, x.data);
}

function take(x, indices, axis) {
  const along = axisOf(axis, x.dims.length), size = x.dims[along], inner = count(x.dims.slice(along + 1)), rows = count(x.dims.slice(0, along));
  const out = tensor([...x.dims.slice(0, along), ...indices.dims, ...x.dims.slice(along + 1)]);
  let at = 0;
  for (let row = 0; row < rows; ++row)
    for (const index of indices.data) {
      const from = (row * size + axisOf(index, size)) * inner;
      out.data.set(x.data.subarray(from, from + inner), at);
      at += inner;
    }
  return out;
}

function split(x, axis, sizes, parts) {
  const along = axisOf(axis, x.dims.length), size = Math.ceil(x.dims[along] / parts);
  const lengths = sizes ?? Array.from({ length: parts }, (_, i) => Math.min(size, x.dims[along] - i * size));
  let at = 0;
  return lengths.map((length) => slice(x, [at], [at += length], [along]));
}

/// Source  Numerical Recipes, 2nd ed., section 6.2: series and continued fraction of the incomplete gamma function.
function erf(x) {
  const size = Math.abs(x);
  if (size > 6) return Math.sign(x);
  if (size < 2) {
    let term = size, sum = size;
    for (let n = 1; n < 80; ++n) sum += (term *= (-size * size) / n) / (2 * n + 1);
    return Math.sign(x) * (2 / Math.sqrt(Math.PI)) * sum;
  }
  let fraction = 0;
  for (let n = 80; n > 0; --n) fraction = n / 2 / (size + fraction);
  return Math.sign(x) * (1 - Math.exp(-size * size) / Math.sqrt(Math.PI) / (size + fraction));
}

const sigmoid = (v) => 1 / (1 + Math.exp(-v));
const bounded = (v, low, high) => Math.min(Math.max(v, low), high);
const numbers = (x) => (x ? Array.from(x.data) : undefined);
const truth = (test) => (a, b) => (test(a, b) ? 1 : 0);
const unary = (f) => ([x], attributes) => map(x, (v) => f(v, attributes));
const folded = (f) => (xs) => xs.reduce((a, b) => binary(a, b, f));
const reduced = (start, step, end, before = (v) => v) => ([x, axes], a) => {
  const list = axes ? numbers(axes) : a.axes;
  if (!list?.length && a.noop_with_empty_axes) return x;
  return reduce(map(x, before), list, a.keepdims ?? 1, start, step, end);
};

const operators = {
  Add: folded(add), Sub: folded((a, b) => a - b), Mul: folded((a, b) => a * b), Div: folded((a, b) => a / b), Sum: folded(add),
  Max: folded((a, b) => (Number.isNaN(a) || Number.isNaN(b) ? NaN : Math.max(a, b))),
  Min: folded((a, b) => (Number.isNaN(a) || Number.isNaN(b) ? NaN : Math.min(a, b))), Pow: folded((a, b) => a ** b),
  Mean: (xs) => map(xs.reduce((a, b) => binary(a, b, add)), (v) => v / xs.length), PRelu: folded((x, slope) => (x < 0 ? slope * x : x)),
  Equal: folded(truth((a, b) => a === b)), Less: folded(truth((a, b) => a < b)), Greater: folded(truth((a, b) => a > b)),
  LessOrEqual: folded(truth((a, b) => a <= b)), GreaterOrEqual: folded(truth((a, b) => a >= b)),
  And: folded(truth((a, b) => a && b)), Or: folded(truth((a, b) => a || b)), Not: unary((v) => (v ? 0 : 1)),
  Relu: unary((v) => (v < 0 ? 0 : v)), Sigmoid: unary(sigmoid), Tanh: unary(Math.tanh), Exp: unary(Math.exp), Log: unary(Math.log), Sqrt: unary(Math.sqrt),
  Neg: unary((v) => -v), Abs: unary(Math.abs), Reciprocal: unary((v) => 1 / v), Floor: unary(Math.floor), Ceil: unary(Math.ceil), Erf: unary(erf),
  Round: unary((v) => { const floor = Math.floor(v), rest = v - floor; return floor + (rest > 0.5 || (rest === 0.5 && floor % 2 !== 0) ? 1 : 0); }),
  Sin: unary(Math.sin), Cos: unary(Math.cos), Sign: unary(Math.sign), Identity: ([x]) => x, Dropout: ([x]) => x,
  Softplus: unary((v) => Math.max(v, 0) + Math.log1p(Math.exp(-Math.abs(v)))), Softsign: unary((v) => v / (1 + Math.abs(v))),
  LeakyRelu: unary((v, { alpha = 0.01 }) => (v < 0 ? alpha * v : v)), Elu: unary((v, { alpha = 1 }) => (v < 0 ? alpha * Math.expm1(v) : v)),
  Selu: unary((v, { alpha = 1.67326319217681884765625, gamma = 1.05070102214813232421875 }) => gamma * (v < 0 ? alpha * Math.expm1(v) : v)),
  HardSigmoid: unary((v, { alpha = 0.2, beta = 0.5 }) => bounded(alpha * v + beta, 0, 1)), HardSwish: unary((v) => v * bounded(v / 6 + 0.5, 0, 1)),
  Gelu: unary((v, { approximate }) => (approximate === "tanh" ? 0.5 * v * (1 + Math.tanh(Math.sqrt(2 / Math.PI) * (v + 0.044715 * v ** 3))) : 0.5 * v * (1 + erf(v / Math.SQRT2)))),
  Clip: ([x, low, high], a) => map(x, (v) => Math.min(Math.max(v, low?.data[0] ?? a.min ?? -Infinity), high?.data[0] ?? a.max ?? Infinity)),
  Cast: ([x], { to }) => (to === 9 ? map(x, (v) => (v ? 1 : 0)) : [1, 10, 11, 16].includes(to) ? x : map(x, Math.trunc)),
  MatMul: ([a, b]) => matmul(a, b), Gemm: gemm, Conv: conv,
  MaxPool: (xs, a) => pool(xs, a, true), AveragePool: (xs, a) => pool(xs, a, false),
  GlobalAveragePool: ([x]) => reduce(x, x.dims.map((_, i) => i).slice(2), true, 0, add, (sum, n) => sum / n),
  GlobalMaxPool: ([x]) => reduce(x, x.dims.map((_, i) => i).slice(2), true, -Infinity, Math.max),
  ReduceSum: reduced(0, add), ReduceMean: reduced(0, add, (sum, n) => sum / n), ReduceMax: reduced(-Infinity, Math.max), ReduceMin: reduced(Infinity, Math.min),
  ReduceProd: reduced(1, (a, b) => a * b), ReduceSumSquare: reduced(0, add, undefined, (v) => v * v), ReduceL1: reduced(0, add, undefined, Math.abs),
  ReduceL2: reduced(0, add, Math.sqrt, (v) => v * v), ReduceLogSum: reduced(0, add, Math.log), ReduceLogSumExp: reduced(0, add, Math.log, Math.exp),
  Softmax: ([x], a, opset) => softmax(x, softmaxAxes(x, a, opset), false), LogSoftmax: ([x], a, opset) => softmax(x, softmaxAxes(x, a, opset), true),
  BatchNormalization: ([x, scale, shift, mean, variance], { epsilon = 1e-5 }) => {
    const factor = map(variance, (v, i) => scale.data[i] / Math.sqrt(v + epsilon));
    return binary(binary(binary(x, perChannel(x, mean), (v, m) => v - m), perChannel(x, factor), (v, f) => v * f), perChannel(x, shift), add);
  },
  InstanceNormalization: ([x, scale, shift], { epsilon = 1e-5 }) => binary(binary(normalise(x, x.dims.map((_, i) => i).slice(2), epsilon), perChannel(x, scale), (v, f) => v * f), perChannel(x, shift), add),
  LayerNormalization: ([x, scale, shift], { axis = -1, epsilon = 1e-5 }) => {
    const normal = binary(normalise(x, x.dims.map((_, i) => i).slice(axisOf(axis, x.dims.length)), epsilon), scale, (v, f) => v * f);
    return shift ? binary(normal, shift, add) : normal;
  },
  Transpose: ([x], { perm }) => transpose(x, perm ?? reversed(x)),
  Reshape: ([x, sizes], a) => reshape(x, sizes ? numbers(sizes) : a.shape, a.allowzero),
  Flatten: ([x], { axis = 1 }) => tensor([count(x.dims.slice(0, axisOf(axis, x.dims.length))), count(x.dims.slice(axisOf(axis, x.dims.length)))], x.data),
  Squeeze: ([x, axes], a) => {
    const list = (numbers(axes) ?? a.axes ?? x.dims.map((_, i) => i).filter((i) => x.dims[i] === 1)).map((axis) => axisOf(axis, x.dims.length));
    return tensor(x.dims.filter((_, i) => !list.includes(i)), x.data);
  },
  Unsqueeze: ([x, axes], a) => {
    const list = numbers(axes) ?? a.axes, rank = x.dims.length + list.length, ones = new Set(list.map((axis) => axisOf(axis, rank))), rest = [...x.dims];
    return tensor(Array.from({ length: rank }, (_, i) => (ones.has(i) ? 1 : rest.shift())), x.data);
  },
  Concat: (xs, { axis }) => concat(xs, axis),
  Split: ([x, sizes], { axis = 0, split: own }, opset, parts) => split(x, axis, numbers(sizes) ?? own, parts),
  Slice: ([x, starts, ends, axes, steps], a) => (starts ? slice(x, numbers(starts), numbers(ends), numbers(axes), numbers(steps)) : slice(x, a.starts, a.ends, a.axes)),
  Pad: ([x, pads, value, axes], a) => pad(x, numbers(pads) ?? a.pads, value?.data[0] ?? a.value ?? 0, a.mode ?? "constant", numbers(axes)),
  Expand: ([x, sizes]) => { const dims = broadcastDims(x.dims, numbers(sizes)); return tensor(dims, broadcast(x, dims)); },
  Gather: ([x, indices], { axis = 0 }) => take(x, indices, axis),
  Shape: ([x]) => tensor([x.dims.length], Float64Array.from(x.dims)), Size: ([x]) => tensor([], Float64Array.of(x.data.length)),
  ConstantOfShape: ([sizes], { value }) => tensor(numbers(sizes), new Float64Array(count(numbers(sizes))).fill(value?.data[0] ?? 0)),
  Range: ([start, end, step]) => { const n = Math.max(Math.ceil((end.data[0] - start.data[0]) / step.data[0]), 0); return tensor([n], Float64Array.from({ length: n }, (_, i) => start.data[0] + i * step.data[0])); },
  Tile: ([x, times]) => numbers(times).reduce((y, n, axis) => concat(Array(n).fill(y), axis), x),
  Where: ([test, a, b]) => { const dims = broadcastDims(test.dims, broadcastDims(a.dims, b.dims)), [t, x, y] = [test, a, b].map((v) => broadcast(v, dims)); return tensor(dims, x.map((v, i) => (t[i] ? v : y[i]))); },
  Constant: (_, { value, value_float, value_int, value_ints, value_floats }) => value ?? (value_ints ?? value_floats ? tensor([(value_ints ?? value_floats).length], Float64Array.from(value_ints ?? value_floats)) : tensor([], Float64Array.of(value_float ?? value_int))),
};
function softmaxAxes(x, { axis }, opset) {
  const rank = x.dims.length;
  return opset >= 13 ? [axisOf(axis ?? -1, rank)] : x.dims.map((_, i) => i).slice(axisOf(axis ?? 1, rank));
}

export function readTensor(proto) {
  const { dims, dataType, rawData } = proto;
  if (proto.dataLocation === 1) throw new Error("external data");
  if (!rawData) {
    const list = [proto.floatData, proto.doubleData, proto.int64Data, proto.uint64Data, proto.int32Data].find((part) => part.length > 0) ?? [];
    return tensor(dims, Float64Array.from(list, dataType === 10 ? fromHalf : Number));
  }
  const bytes = new Uint8Array(rawData), views = { 1: Float32Array, 2: Uint8Array, 3: Int8Array, 6: Int32Array, 7: BigInt64Array, 9: Uint8Array, 10: Uint16Array, 11: Float64Array };
  if (!views[dataType]) throw new Error(`a tensor of element type ${dataType}`);
  return tensor(dims, Float64Array.from(new views[dataType](bytes.buffer), dataType === 10 ? fromHalf : Number));
}

const text = new TextDecoder();
function valueOf(attribute) {
  const { type } = attribute;
  if (type === 1) return attribute.f ?? 0;
  if (type === 2) return attribute.i ?? 0;
  if (type === 3) return text.decode(attribute.s ?? new Uint8Array());
  if (type === 4) return readTensor(attribute.t);
  if (type === 6) return attribute.floats;
  if (type === 7) return attribute.ints;
  throw new Error(`an attribute of type ${type}`);
}

const hash = (...parts) => parts.reduce((h, part) => h.update(part), createHash("sha1")).digest("base64");
const hashOf = ({ dims, data }) => hash(JSON.stringify(dims), new Uint8Array(data.buffer, data.byteOffset, data.byteLength));

const known = new WeakMap(); // What initialisers are, for the next inputs.
function readInitializer(proto) {
  if (!known.has(proto)) {
    const value = readTensor(proto);
    known.set(proto, { value, key: hashOf(value) });
  }
  return known.get(proto);
}

export function evaluate(model, feeds, memory = new Map()) {
  const values = new Map([["", undefined]]), keys = new Map([["", ""]]);
  const set = (name, value, key) => (values.set(name, value), keys.set(name, key));
  for (const proto of model.graph.initializer) {
    const { value, key } = readInitializer(proto);
    set(proto.name, value, key);
  }
  for (const [name, value] of Object.entries(feeds)) set(name, value, hashOf(value));
  const opset = model.opsetImport.find(({ domain }) => !domain || domain === "ai.onnx")?.version ?? 0;
  for (const node of model.graph.node) {
    const operator = node.domain && node.domain !== "ai.onnx" ? undefined : operators[node.opType];
    if (!operator) throw new Error(`operator ${node.opType}`);
    const attributes = Object.fromEntries(node.attribute.map((attribute) => [attribute.name, valueOf(attribute)]));
    const key = hash(node.opType, JSON.stringify(attributes, (_, v) => (v instanceof Float64Array ? Array.from(v) : v)),
      ...node.input.map((name) => `${keys.get(name)} `), String(node.output.length));
    if (!memory.has(key)) {
      const found = operator(node.input.map((name) => values.get(name)), attributes, opset, node.output.length);
      memory.set(key, Array.isArray(found) ? found : [found]);
    }
    memory.get(key).forEach((value, i) => node.output[i] && set(node.output[i], value, `${key}${i}`));
  }
  return Object.fromEntries(model.graph.output.map(({ name }) => {
    if (!values.get(name)) throw new Error(`output '${name}' is of none of its operators' first outputs`);
    return [name, values.get(name)];
  }));
}
