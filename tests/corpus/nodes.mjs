#!/usr/bin/env node
// nodes.mjs FILE ...: how many nodes each model has, and how many ONNX Runtime's basic level leaves of the first, as one line of JSON.
//
// Nodes of graphs inside nodes count. A call of one of the model's functions counts as the function's nodes. A Constant
// is a stored tensor, like an initializer, and does not count; nor does a ConstantOfShape of a stored shape, which is a
// stored tensor in short.
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import os from "node:os";
import path from "node:path";
import { allNodes, readModel } from "./proto.mjs";

const kDeepest = 16;

const nameOf = ({ domain, opType }) => (domain ? `${domain}.${opType}` : opType);

/// Names of initializers and of what Constant makes, in all graphs.
function storedNames(graph) {
  const names = new Set(graph.initializer.map(({ name }) => name));
  for (const { opType, output, attribute } of allNodes(graph)) {
    if (opType === "Constant") names.add(output[0]);
    for (const { g } of attribute) for (const { name } of g?.initializer ?? []) names.add(name);
  }
  return names;
}

/// Of the graph and what is inside: how many nodes of each type.
function typesOf(model) {
  const functions = new Map(model.functions.map((body) => [`${body.domain ?? ""}:${body.name}`, body]));
  const stored = storedNames(model.graph), counts = {};
  const visit = (graph, depth) => {
    for (const node of allNodes(graph)) {
      const body = depth < kDeepest ? functions.get(`${node.domain ?? ""}:${node.opType}`) : undefined;
      const isStored = node.opType === "Constant" || (node.opType === "ConstantOfShape" && stored.has(node.input[0]));
      if (body) visit(body, depth + 1);
      else if (!isStored) counts[nameOf(node)] = (counts[nameOf(node)] ?? 0) + 1;
    }
  };
  visit(model.graph, 0);
  return counts;
}
const sum = (counts) => Object.values(counts).reduce((total, count) => total + count, 0);

/// What ONNX Runtime makes of a model on its basic level, read again; the reason where it refuses.
async function basic(file) {
  const { Session } = await import("./runtime.mjs");
  const folder = mkdtempSync(path.join(os.tmpdir(), "nodes-"));
  try {
    const optimised = path.join(folder, "basic.onnx");
    new Session(file, "basic", optimised);
    const model = readModel(readFileSync(optimised));
    const basicTypes = typesOf(model);
    return { basic: sum(basicTypes), basicTypes };
  } catch (error) {
    return { basic: null, why: String(error.message ?? error).split("\n")[0] };
  } finally {
    rmSync(folder, { recursive: true });
  }
}

const files = process.argv.slice(2), types = files.map((file) => typesOf(readModel(readFileSync(file))));
console.log(JSON.stringify({ nodes: types.map(sum), types, ...(await basic(files[0])) }));
