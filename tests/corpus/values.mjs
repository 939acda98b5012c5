// Numbers of all element types, and random ones.

const halfView = new DataView(new ArrayBuffer(4));

export function fromHalf(bits) {
  const sign = bits & 0x8000 ? -1 : 1, exponent = (bits >> 10) & 31, fraction = bits & 1023;
  if (exponent === 31) return fraction ? NaN : sign * Infinity;
  return sign * (exponent ? 2 ** (exponent - 15) * (1 + fraction / 1024) : 2 ** -24 * fraction);
}

/// To the nearest, ties to even.
export function toHalf(value) {
  if (Number.isNaN(value)) return 0x7e00;
  halfView.setFloat32(0, value);
  const sign = (halfView.getUint32(0) >>> 16) & 0x8000, size = Math.abs(value);
  if (size >= 65520) return sign | 0x7c00;
  const exponent = Math.max(Math.floor(Math.log2(size || 1)), -14), unit = 2 ** (exponent - 10);
  const quotient = size / unit, floor = Math.floor(quotient), rest = quotient - floor;
  const rounded = floor + (rest > 0.5 || (rest === 0.5 && floor % 2 === 1) ? 1 : 0);
  return sign | (exponent === -14 && rounded < 1024 ? rounded : ((exponent + 14) << 10) + rounded);
}

export const arrays = {
  float32: Float32Array, float64: Float64Array, float16: Uint16Array, bool: Uint8Array, uint8: Uint8Array,
  int8: Int8Array, uint16: Uint16Array, int16: Int16Array, uint32: Uint32Array, int32: Int32Array,
  int64: BigInt64Array, uint64: BigUint64Array,
};
/// By ONNX's number.
export const typeNames = [, "float32", "uint8", "int8", "uint16", "int16", "int32", "int64", "string", "bool",
  "float16", "float64", "uint32", "uint64", , , "bfloat16"];
export const isReal = (type) => type === "float32" || type === "float64" || type === "float16";

export function fromNumbers(type, numbers) {
  const values = new arrays[type](numbers.length);
  const convert = type === "float16" ? toHalf : type.endsWith("int64") ? (v) => BigInt(Math.trunc(v)) : (v) => v;
  for (let i = 0; i < values.length; ++i) values[i] = convert(numbers[i]);
  return values;
}

export function toNumbers(type, values) {
  if (type !== "float16") return Float64Array.from(values, Number);
  return values instanceof Uint16Array ? Float64Array.from(values, fromHalf) : Float64Array.from(values);
}

/// Source  Marsaglia, Xorshift RNGs, 2003; Box and Muller, 1958.
export class Random {
  constructor(seed) {
    this.state = (seed * 2654435761 + 88675123) >>> 0 || 1;
    for (let i = 0; i < 8; ++i) this.next();
  }
  next() {
    this.state ^= this.state << 13;
    this.state ^= this.state >>> 17;
    this.state ^= this.state << 5;
    return this.state >>> 0;
  }
  uniform(low = 0, high = 1) { return low + (high - low) * ((this.next() + 0.5) / 2 ** 32); }
  normal() { return Math.sqrt(-2 * Math.log(this.uniform())) * Math.cos(2 * Math.PI * this.uniform()); }
  integer(low, high) { return low + Math.floor(this.uniform() * (high - low)); }
}
