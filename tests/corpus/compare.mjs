#!/usr/bin/env node
// compare.mjs [--seconds S] [--times S] [--input NAME=NUMBER,...] ORIGINAL RESULT: whether RESULT is ORIGINAL in values and
// in form, as one line of JSON.
//
// Values: both in ONNX Runtime with its optimisations off, at up to three choices of open sizes, with numbers of several
// distributions and seeds. The noise of an output's element is the greatest difference that the original's own two
// levels of optimisation, inputs changed by some rounding units and an evaluation in double precision make. An element
// differs if it is off by more than four times that; an output differs if 1 % of its elements do, or if it is not finite
// where the original's is.
//
//   verdict   "same bytes", "equal", "wrong", or "untested" with the reason in `why`
//   frozen, lost, notes, kept, renamed, nodes   form.mjs
//   times     times.mjs, where --times S says for how many seconds to measure
//
// With --input the inputs that are named have these numbers, again and again, in the only run.
//
// Exit code 0 if nothing is wrong, frozen or lost, 1 if something is.
import { readFileSync } from "node:fs";
import { parseArgs } from "node:util";
import { evaluate } from "../gate/meaning.mjs";
import { compareForm } from "./form.mjs";
import { distributions, draw, perturbed, settings } from "./inputs.mjs";
import { allNodes, readModel } from "./proto.mjs";
import { Session } from "./runtime.mjs";
import { compareTimes, optimisedNodes } from "./times.mjs";
import { fromNumbers, isReal, toNumbers } from "./values.mjs";

const kPerturbations = 3, kSeeds = 2, kSlowMs = 1000, kAllowedShare = 0.01, kFactor = 4;

/// Half the unit of rounding of the coarsest element type on the way.
function roundingUnit(model) {
  const types = new Set(model.graph.initializer.map(({ dataType }) => dataType));
  for (const node of allNodes(model.graph)) for (const { i, t, name } of node.attribute) {
    if (name === "to") types.add(i);
    if (t) types.add(t.dataType);
  }
  for (const { type } of [...model.graph.input, ...model.graph.valueInfo]) types.add(type?.tensorType?.elemType);
  return types.has(16) ? 2 ** -9 : types.has(10) ? 2 ** -11 : types.has(1) ? 2 ** -24 : 2 ** -53;
}

const numbersOf = (outputs) => Object.fromEntries(
  Object.entries(outputs).map(([name, { type, data }]) => [name, toNumbers(type, data)]));

/// Per element: the greatest difference of the others from the first; no less than the rounding of the value, than what
/// nine of ten elements have relative to their size, and than half of them have.
function noiseOf(values, others, unit, exact) {
  const noise = new Float64Array(values.length);
  for (const other of exact ? [...others, exact] : others)
    for (let i = 0; i < noise.length; ++i) noise[i] = Math.max(noise[i], Math.abs(other[i] - values[i]) || 0);
  const sizes = values.map(Math.abs), relative = sorted(noise.map((value, i) => value / sizes[i])), absolute = sorted(noise);
  const at = (list, share) => (list.length > 0 ? list[Math.floor(share * (list.length - 1))] : 0);
  const factor = Math.max(2 * unit, at(relative, 0.9)), least = at(absolute, 0.5);
  return noise.map((value, i) => Math.max(value, factor * sizes[i] || 0, least));
}
const sorted = (list) => list.filter((value) => value > 0 && Number.isFinite(value)).sort();

function compareOutput(values, others, result, unit, exact, factor = kFactor) {
  if (values.length !== result.length) return { share: 1, at: 0, value: values.length, other: result.length, what: "elements" };
  const noise = noiseOf(values, others, unit, exact);
  let bad = 0, infinite = 0, at = -1, worst = -1;
  for (let i = 0; i < values.length; ++i) {
    const seen = [values[i], ...others.map((other) => other[i])], finite = seen.every(Number.isFinite);
    if (finite && !Number.isFinite(result[i])) ++infinite;
    const off = finite ? Math.abs(result[i] - values[i]) : 0;
    const strange = !finite && !seen.some((value) => Object.is(value, result[i]) || Number.isNaN(value));
    const ratio = strange || Number.isNaN(off) ? Infinity : off === 0 ? 0 : off / noise[i];
    if (ratio > factor) ++bad;
    if (ratio > worst) [worst, at] = [ratio, i];
  }
  return { share: values.length ? bad / values.length : 0, infinite, worst, at, value: values[at], other: result[at] };
}

const attempt = (work) => {
  try {
    return { value: work() };
  } catch (error) {
    return { fault: String(error.message ?? error).split("\n")[0] };
  }
};

/// Of ["x=1,2"]: {x: [1, 2]}.
const readGiven = (texts) => Object.fromEntries(texts.map((text) => {
  const [name, numbers] = text.split("=");
  return [name, numbers.split(",").map(Number)];
}));

function withGiven(feeds, given) {
  return Object.fromEntries(Object.entries(feeds).map(([name, feed]) => {
    const numbers = given[name];
    if (!numbers) return [name, feed];
    return [name, { ...feed, data: fromNumbers(feed.type, Array.from(feed.data, (_, i) => numbers[i % numbers.length])) }];
  }));
}

/// Every run that the time suffices for; at least one of each choice of sizes.
function* runsOf(found, seconds) {
  const until = Date.now() + seconds * 1000;
  const names = Object.keys(distributions);
  for (const setting of found) yield { setting, distribution: "uniform", seed: 1 };
  for (let seed = 1; seed <= kSeeds; ++seed)
    for (const distribution of names)
      for (const setting of found) {
        if (Date.now() > until) return;
        if (distribution !== "uniform" || seed > 1) yield { setting, distribution, seed };
      }
}

function compareValues(files, models, seconds, given) {
  const original = new Session(files[0], "disabled");
  const optimised = attempt(() => new Session(files[0], "all")).value;
  const loaded = attempt(() => new Session(files[1], "disabled"));
  if (loaded.fault) return { verdict: "wrong", why: `the result does not load: ${loaded.fault}` };
  const found = settings(original), unit = roundingUnit(models[0]);
  const summary = { verdict: "equal", runs: 0, sizes: found.map(({ sizes }) => sizes), worst: 0 };
  const runs = Object.keys(given).length > 0 ? [{ setting: found[0], distribution: "uniform", seed: 1 }] : runsOf(found, seconds);
  for (const { setting, distribution, seed } of runs) {
    const feeds = withGiven(draw(original.inputs, setting, distribution, seed), given), start = Date.now();
    const expected = attempt(() => numbersOf(original.run(feeds)));
    if (expected.fault) continue;
    const slow = Date.now() - start > kSlowMs;
    const others = [original, optimised].filter(Boolean).map((session) => attempt(() => numbersOf(session.run(feeds))));
    for (let i = 0; i < (slow ? 1 : kPerturbations); ++i)
      others.push(attempt(() => numbersOf(original.run(perturbed(feeds, 4 * unit, seed * 10 + i, toNumbers)))));
    const result = attempt(() => numbersOf(loaded.value.run(feeds)));
    const where = `${distribution}, seed ${seed}, sizes ${JSON.stringify(setting.sizes)}`;
    if (result.fault) return { ...summary, verdict: "wrong", why: `the result does not run (${where}): ${result.fault}` };
    ++summary.runs;
    for (const [name, values] of Object.entries(expected.value)) {
      const again = others.filter((other) => other.value && other.value[name].length === values.length).map(({ value }) => value[name]);
      if (again.length > 0 && !isDeterministic(values, again[0])) {
        return { ...summary, verdict: "untested", why: `output '${name}' differs from itself in a second run` };
      }
      const { type } = original.outputs.find((output) => output.name === name);
      const single = result.value[name] ?? [], least = isReal(type) ? unit : 0;
      let compared = compareOutput(values, again, single, least);
      if (isWrong(compared)) compared = compareExactly(models, feeds, name, { values, again, single, least }) ?? compared;
      summary.worst = Math.max(summary.worst, Number.isFinite(compared.worst) ? compared.worst : 0);
      if (!isWrong(compared)) continue;
      return { ...summary, verdict: "wrong", why: `output '${name}' differs in ${(100 * compared.share).toFixed(2)} % of its ` +
        `elements, at ${compared.at}: ${compared.other} instead of ${compared.value} (${where})` };
    }
  }
  return summary.runs > 0 ? summary : { ...summary, verdict: "untested", why: "the original ran with none of the inputs" };
}

const isWrong = ({ share, infinite }) => share > kAllowedShare || infinite > 0;

/// Where the operators are known: both in double precision, with what the original is off by as noise, too; and the
/// result as it is may be off by twice as many times that. The one that says more against it.
function compareExactly(models, feeds, name, { values, again, single, least }) {
  const numbers = Object.fromEntries(Object.entries(feeds).map(([input, { type, dims, data }]) => [input, { dims, data: toNumbers(type, data) }]));
  const [exact, other] = models.map((model) => attempt(() => evaluate(model, numbers)[name].data).value);
  if (exact?.length !== values.length || other?.length !== values.length) return undefined;
  const asExact = compareOutput(exact, [...again, values], other, least);
  const asSingle = compareOutput(values, again, single, least, exact, 2 * kFactor);
  return asSingle.infinite > 0 || asSingle.share > asExact.share ? asSingle : asExact;
}

const isDeterministic = (values, again) => values.every((value, i) => Object.is(value, again[i]) || Number.isNaN(value));

function measure(files, seconds) {
  const original = new Session(files[0], "disabled");
  const [setting] = settings(original);
  const feeds = draw(original.inputs, setting, "uniform", 1);
  return { ...compareTimes(files[0], files[1], feeds, seconds), nodesBefore: optimisedNodes(files[0]), nodesAfter: optimisedNodes(files[1]) };
}

function main() {
  const { values, positionals } = parseArgs({ allowPositionals: true, options: {
    seconds: { type: "string", default: "20" }, times: { type: "string", default: "0" },
    input: { type: "string", multiple: true, default: [] } } });
  const files = positionals, bytes = files.map((file) => readFileSync(file));
  if (bytes[0].equals(bytes[1])) return { verdict: "same bytes" };
  const models = bytes.map((part) => readModel(part));
  const form = compareForm(...models);
  const compared = attempt(() => compareValues(files, models, Number(values.seconds), readGiven(values.input)));
  const report = { ...(compared.value ?? { verdict: "untested", why: compared.fault }), ...form };
  if (Number(values.times) > 0) {
    const times = attempt(() => measure(files, Number(values.times)));
    if (times.value) report.times = times.value;
  }
  return report;
}

const report = main();
console.log(JSON.stringify(report));
process.exitCode = report.verdict === "wrong" || report.frozen?.length || report.lost?.length ? 1 : 0;
