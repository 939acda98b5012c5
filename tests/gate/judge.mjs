#!/usr/bin/env node
// judge.mjs FOLDER: whether each rewrite that rewright_gate_trial made of FOLDER/original.onnx is right, by evaluation in
// double precision (meaning.mjs). Its lines on standard input come out again with more in them:
//
//   judged   "right"    99 % of each output's elements agree to a quarter of the noise floor, and in ONNX Runtime it is
//                       finite wherever the original is
//            "wrong"    in 1 % of an output's elements they differ by more than four times the floor, or are not finite
//            "between"  neither
//            "unknown"  it could not be evaluated, with the reason in `reason`
//   at       the distribution of inputs at which it is wrong
//
// The floor of an element is the difference between the original in ONNX Runtime with its optimisations off and in double
// precision, and no less than the median of the output's and the rounding of the element.
//
// judge.mjs --sizes MODEL prints sizes for its open dimensions with which it runs, one NAME=SIZE a line.
import { readFileSync } from "node:fs";
import readline from "node:readline";
import { distributions, draw, settings } from "../corpus/inputs.mjs";
import { readModel } from "../corpus/proto.mjs";
import { Session } from "../corpus/runtime.mjs";
import { toNumbers } from "../corpus/values.mjs";
import { evaluate } from "./meaning.mjs";

const kShare = 0.01, kWrong = 4, kRight = 0.25, kMostElements = 1 << 22;
const kUsual = ["uniform", "normal"], kScaled = ["wide", "large", "tiny"];

const asNumbers = (feeds) => Object.fromEntries(Object.entries(feeds).map(
  ([name, { type, dims, data }]) => [name, { dims, data: toNumbers(type, data) }]));

/// Of the coarsest type that the original computes in.
const unitOf = (model) => (model.graph.initializer.some(({ dataType }) => dataType === 10) ||
  model.graph.input.some(({ type }) => type?.tensorType?.elemType === 10) ? 2 ** -11 : 2 ** -24);

function floorOf(exact, single, unit) {
  const noise = exact.map((value, i) => Math.max(Math.abs(single[i] - value) || 0, unit * Math.abs(value) || 0));
  const finite = noise.filter(Number.isFinite).sort(), median = finite[finite.length >> 1] ?? 0;
  return noise.map((value) => Math.max(value, median));
}

/// The original on some inputs: what it is exactly, and how far single precision is off.
function prepare(original, model, setting, distribution, seed, unit) {
  const feeds = draw(original.inputs, setting, distribution, seed), numbers = asNumbers(feeds), memory = new Map();
  if (Object.values(numbers).some(({ data }) => data.length > kMostElements)) throw new Error("inputs are large");
  const exact = evaluate(model, numbers, memory), single = original.run(feeds);
  const floors = Object.fromEntries(Object.entries(exact).map(
    ([name, { data }]) => [name, floorOf(data, toNumbers(single[name].type, single[name].data), unit)]));
  return { distribution, feeds, numbers, exact, single, floors, memory };
}

/// In the model's own precision a rewrite that is true of all numbers can pass the greatest of them.
function overflows({ feeds, single }, session) {
  const result = session.run(feeds);
  return Object.entries(single).some(([name, { type, data }]) => {
    const other = toNumbers(type, result[name].data);
    return toNumbers(type, data).some((value, i) => Number.isFinite(value) && !Number.isFinite(other[i]));
  });
}

function compareAt({ numbers, exact, floors, memory }, model) {
  const own = new Map(memory), result = evaluate(model, numbers, own);
  let judged = "right";
  for (const [name, { data }] of Object.entries(exact)) {
    const other = result[name]?.data;
    if (other?.length !== data.length) return "wrong";
    let far = 0, near = 0, infinite = 0;
    data.forEach((value, i) => {
      if (!Number.isFinite(value)) return;
      const off = Math.abs(other[i] - value), floor = floors[name][i];
      if (!Number.isFinite(other[i])) ++infinite;
      else if (off > kWrong * floor) ++far;
      if (off <= kRight * floor) ++near;
      else if (!Number.isFinite(floor)) ++near;
    });
    const finite = data.filter(Number.isFinite).length;
    if (infinite > 0 || far > kShare * finite) return "wrong";
    if (near < (1 - kShare) * finite) judged = "between";
  }
  return judged;
}

/// The worst of the usual distributions; one that is wrong at scaled inputs alone says so in `at`.
function judge(cases, file) {
  const model = readModel(readFileSync(file)), session = new Session(file, "disabled");
  let judged = "right", at;
  for (const one of cases) {
    const found = compareAt(one, model);
    if (found === "wrong") return { judged: "wrong", at: one.distribution };
    if ((found === "between" && kUsual.includes(one.distribution)) || overflows(one, session)) [judged, at] = ["between", one.distribution];
  }
  return { judged, at };
}

function prepareAll(folder) {
  const file = `${folder}/original.onnx`, original = new Session(file, "disabled"), model = readModel(readFileSync(file));
  const [setting] = settings(original), unit = unitOf(model);
  return [...kUsual, ...kScaled].filter((name) => name in distributions).map(
    (distribution) => prepare(original, model, setting, distribution, 1, unit));
}

async function main(folder) {
  let cases, reason;
  try {
    cases = prepareAll(folder);
  } catch (error) {
    reason = String(error.message).split("\n")[0];
  }
  for await (const text of readline.createInterface({ input: process.stdin })) {
    const line = JSON.parse(text);
    try {
      if (!cases) throw new Error(reason);
      Object.assign(line, judge(cases, `${folder}/${line.file}`));
    } catch (error) {
      Object.assign(line, { judged: "unknown", reason: String(error.message).split("\n")[0] });
    }
    console.log(JSON.stringify(line));
  }
}

const [first, second] = process.argv.slice(2);
if (first === "--sizes") {
  const session = new Session(second, "disabled"), [{ sizes }] = settings(session);
  for (const [name, size] of Object.entries(sizes)) console.log(`${name}=${size}`);
} else {
  await main(first);
}
