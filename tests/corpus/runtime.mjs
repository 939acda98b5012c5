// ONNX Runtime's binding for Node.js, called as it is: one thread, synchronously, at a level of optimisation.
//
// It lies in the folder that REWRIGHT_ONNXRUNTIME_NODE names, or in .cache/onnxruntime/node of this checkout.
import { createRequire } from "node:module";
import { fileURLToPath } from "node:url";
import { existsSync } from "node:fs";
import path from "node:path";
import { arrays, typeNames } from "./values.mjs";

const here = path.dirname(fileURLToPath(import.meta.url));
const folder = process.env.REWRIGHT_ONNXRUNTIME_NODE ?? path.join(here, "../../.cache/onnxruntime/node");
if (!existsSync(path.join(folder, "node_modules/onnxruntime-node"))) {
  console.error(`runtime.mjs: there is no onnxruntime-node in '${folder}/node_modules'; run scripts/install-dependencies --tests`);
  process.exit(2);
}
const require = createRequire(path.join(path.resolve(folder), "index.js"));
const { Tensor, env } = require("onnxruntime-common");
env.logLevel = "fatal";
const { binding, initOrt } = require(path.join(path.resolve(folder), "node_modules/onnxruntime-node/dist/binding.js"));
initOrt();

export class Session {
  /// `level`: disabled, basic, extended or all.
  constructor(file, level, optimisedFile) {
    this.session = new binding.InferenceSession();
    const options = { graphOptimizationLevel: level, intraOpNumThreads: 1, interOpNumThreads: 1, logSeverityLevel: 4 };
    if (optimisedFile) options.optimizedModelFilePath = optimisedFile;
    this.session.loadModel(file, options);
    this.inputs = this.session.inputMetadata.map(describe);
    this.outputs = this.session.outputMetadata.map(describe);
    this.fetches = Object.fromEntries(this.outputs.map(({ name }) => [name, null]));
  }
  /// feeds: of name, {type, dims, data}; the same comes back.
  run(feeds) { return this.session.run(toTensors(feeds), this.fetches, {}); }
  /// A function that runs it again and again with the same inputs.
  prepared(feeds) {
    const tensors = toTensors(feeds);
    return () => this.session.run(tensors, this.fetches, {});
  }
}

function describe({ name, isTensor, type, shape, symbolicDimensions }) {
  if (!isTensor) return { name, type: "no tensor", dims: [] };
  const dims = shape.map((size, axis) => (size >= 0 ? size : symbolicDimensions[axis] || `${name}.${axis}`));
  return { name, type: typeNames[type] ?? `number ${type}`, dims };
}

const toTensors = (feeds) => Object.fromEntries(
  Object.entries(feeds).map(([name, { type, dims, data }]) => [name, new Tensor(type, data, dims)]));

export const canFeed = (type) => type in arrays;
