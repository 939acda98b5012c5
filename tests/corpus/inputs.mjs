// Inputs for a model of which nothing is known but what it declares: sizes and integers are found by trial, numbers
// are drawn from several distributions.
import { canFeed } from "./runtime.mjs";
import { fromNumbers, isReal, Random } from "./values.mjs";

const kTrials = 120;
const kTrialSeconds = 20;

/// What an open size may be, the likeliest first.
function candidates(key, rank, axis) {
  if (/batch|^n$|^bs$/i.test(key) || (axis === 0 && rank > 1)) return [1, 2, 3, ...Array(12).fill(1)];
  if (rank === 4 && axis === 1) return [3, 3, 3, 1];
  if (rank === 4) return [64, 96, 160, 48, 320, 224, 32];
  return [16, 32, 7, 64, 76, 128, 512, 1280, 1760, 4, 1, 2, 3, 256, 1024];
}

function openSizes(inputs) {
  const open = new Map();
  for (const { dims } of inputs)
    dims.forEach((size, axis) => typeof size === "string" && !open.has(size) && open.set(size, candidates(size, dims.length, axis)));
  return open;
}

/// What integers may be. The wide ranges come first: indices that fit one fit the narrower, too.
const integers = [[0, 1000], [0, 100], [0, 10], [0, 2], [1, 2], [16000, 16001], [8000, 8001], [0, 1]];

export const distributions = {
  normal: (random) => random.normal(),
  uniform: (random) => random.uniform(-1, 1),
  positive: (random) => random.uniform(),
  wide: (random) => random.uniform(-20, 20),
  large: (random) => random.normal() * 1024,
  tiny: (random) => random.normal() / 1024,
  zeros: () => 0,
  bytes: (random) => random.integer(0, 256),
};

const sized = (dims, sizes) => dims.map((size) => (typeof size === "string" ? sizes[size] : size));

export function draw(inputs, { sizes, range }, distribution, seed) {
  const random = new Random(seed * 31 + Object.keys(distributions).indexOf(distribution));
  return Object.fromEntries(inputs.map(({ name, type, dims }) => {
    const shape = sized(dims, sizes), numbers = new Float64Array(shape.reduce((a, b) => a * b, 1));
    const next = isReal(type) ? () => distributions[distribution](random)
      : type === "bool" ? () => random.integer(0, 2) : () => random.integer(...range);
    for (let i = 0; i < numbers.length; ++i) numbers[i] = next();
    return [name, { type, dims: shape, data: fromNumbers(type, numbers) }];
  }));
}

/// The same inputs, each real number changed by up to `relative` of itself.
export function perturbed(feeds, relative, seed, toNumbers) {
  const random = new Random(seed);
  return Object.fromEntries(Object.entries(feeds).map(([name, feed]) => {
    if (!isReal(feed.type)) return [name, feed];
    const numbers = toNumbers(feed.type, feed.data).map((value) => value * (1 + random.uniform(-relative, relative)));
    return [name, { ...feed, data: fromNumbers(feed.type, numbers) }];
  }));
}

/// Up to three choices of sizes and integers with which the model runs; each in {sizes, range}.
export function settings(session) {
  const { inputs } = session, open = openSizes(inputs);
  const strange = inputs.find(({ type }) => !canFeed(type));
  if (strange) throw new Error(`input '${strange.name}' has element type ${strange.type}, of which none are drawn`);
  const hasIntegers = inputs.some(({ type }) => !isReal(type) && type !== "bool");
  const ranges = hasIntegers ? integers : [integers[0]];
  const found = [], random = new Random(1), until = Date.now() + kTrialSeconds * 1000;
  let fault;
  const tried = new Set();
  for (let trial = 0; trial < kTrials && found.length < 3 && Date.now() < until; ++trial) {
    const sizes = Object.fromEntries([...open].map(([key, list]) =>
      [key, list[trial < 15 ? Math.min(trial, list.length - 1) : random.integer(0, list.length)]]));
    const text = JSON.stringify(sizes);
    if (tried.has(text)) continue;
    tried.add(text);
    const known = found.length > 0 ? [found[0].range] : ranges;
    for (const range of known) {
      try {
        session.run(draw(inputs, { sizes, range }, "uniform", 1));
        found.push({ sizes, range });
        break;
      } catch (error) {
        fault ??= error;
      }
    }
    if (open.size === 0) break;
  }
  if (found.length === 0) throw new Error(`no sizes and integers were found with which it runs: ${fault?.message ?? "none tried"}`);
  return found;
}
