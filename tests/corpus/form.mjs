// What a result keeps of the model's own form: sizes, names, attributes, opsets, IR version, metadata.
//
// compareForm(before, after) gives {frozen, lost, notes, kept, renamed, nodes}: sentences of what must not be, sentences of
// what may be, the nodes that are there word for word, those that could be there under another name, and their numbers.
import { createHash } from "node:crypto";
import { allNodes, countNodes } from "./proto.mjs";

/// Text that is the same for messages that say the same. Bytes by their hash.
function said(value) {
  return JSON.stringify(value, (key, inner) => (inner instanceof Uint8Array
    ? createHash("sha256").update(inner).digest("hex")
    : inner && inner.constructor === Object
      ? Object.fromEntries(Object.entries(inner).sort(([a], [b]) => (a < b ? -1 : 1))) : inner));
}

const same = (a, b) => said(a) === said(b);
const domain = (name) => (name === "ai.onnx" ? "" : name ?? "");
const asAttributes = (node) => said(Object.fromEntries(node.attribute.map((attribute) => [attribute.name, attribute])));
/// Without the graphs among them, whose nodes are compared one by one.
const plainAttributes = (node) => said(node.attribute.filter(({ g, graphs }) => !g && graphs.length === 0).map((attribute) => [attribute.name, attribute]).sort());
const named = (list) => new Map(list.map((item) => [item.name, item]));
const describe = (node) => `'${node.name || node.output[0]}' (${node.opType})`;

function compareTypes(what, before, after, found) {
  const old = before.type?.tensorType, now = after.type?.tensorType;
  if (!old || !now) return same(before.type, after.type) || found.lost.push(`${what} '${before.name}': its type`);
  if (old.elemType !== now.elemType) found.lost.push(`${what} '${before.name}': element type ${old.elemType} became ${now.elemType}`);
  if (!old.shape || !now.shape) {
    if (old.shape) found.lost.push(`${what} '${before.name}': its shape`);
    else if (now.shape) found.notes.push(`${what} '${before.name}' has a shape now`);
    return;
  }
  if (old.shape.dim.length !== now.shape.dim.length) return found.lost.push(`${what} '${before.name}': its rank`);
  old.shape.dim.forEach((size, axis) => {
    const other = now.shape.dim[axis];
    if (same(size, other)) return;
    const open = size.value === undefined || size.value < 0;
    const text = `${what} '${before.name}' axis ${axis}: ${size.param || (size.value ?? "open")} became ${other.param || (other.value ?? "open")}`;
    (open && other.value >= 0 ? found.frozen : found.lost).push(text);
  });
}

function compareValues(what, before, after, found) {
  if (!same(before.map(({ name }) => name), after.map(({ name }) => name)))
    found.lost.push(`${what}s: ${before.map(({ name }) => name)} became ${after.map(({ name }) => name)}`);
  const others = named(after);
  for (const value of before) {
    const other = others.get(value.name);
    if (!other) continue;
    compareTypes(what, value, other, found);
    if (value.docString !== other.docString) found.lost.push(`${what} '${value.name}': its doc string`);
  }
}

const hash = (value) => createHash("sha256").update(said(value)).digest("hex");

/// Of each node what it computes, as a hash over all that it computes it from; the same for equal nodes of equal graphs.
function meanings(graph) {
  const tensors = new Map([["", ""], ...graph.input.map(({ name }) => [name, `input ${name}`]),
    ...graph.initializer.map((tensor) => [tensor.name, hash({ ...tensor, name: "", docString: undefined })])]);
  const found = new Map();
  for (const node of graph.node) {
    const inputs = node.input.map((name) => tensors.get(name) ?? `outer ${name}`);
    const meaning = hash([node.opType, domain(node.domain), asAttributes(node), inputs]);
    node.output.forEach((name, i) => tensors.set(name, `${meaning} ${i}`));
    if (!found.has(meaning)) found.set(meaning, node);  // Of equal nodes the first is the one that stays.
  }
  return found;
}

/// A tensor that has become an output of the graph has that output's name.
function compareNode(node, other, outputs, found) {
  const keeps = (name, i) => name === other.output[i] || outputs.has(other.output[i]);
  if ((node.name ?? "") !== (other.name ?? "")) found.lost.push(`node ${describe(node)}: its name`);
  else if (node.output.length !== other.output.length || !node.output.every(keeps)) found.lost.push(`node ${describe(node)}: its outputs' names`);
  if (node.docString !== other.docString) found.lost.push(`node ${describe(node)}: its doc string`);
  if (plainAttributes(node) !== plainAttributes(other)) found.lost.push(`node ${describe(node)}: its attributes`);
}

/// What computes the same from the same, or has the same inputs and outputs, was not rewritten, and so nothing of it may
/// differ.
function compareNodes(before, after, found) {
  const byOutput = new Map([...allNodes(after)].flatMap((node) => node.output.map((name) => [name, node])));
  const bySaid = new Set([...allNodes(after)].map(said)), byMeaning = meanings(after);
  const own = new Map([...meanings(before)].map(([meaning, node]) => [node, meaning]));
  const outputs = new Set(after.output.map(({ name }) => name));
  const asBefore = new Set([...allNodes(before)].map(said));  // A twin among them is an equal node that stayed.
  let kept = 0;
  for (const node of allNodes(before)) {
    if (bySaid.has(said(node))) {
      ++kept;
      continue;
    }
    const twin = byMeaning.get(own.get(node)), other = byOutput.get(node.output.find((name) => name));
    if (twin) {
      if (!asBefore.has(said(twin))) compareNode(node, twin, outputs, found);
    } else if (other && other.opType === node.opType && domain(other.domain) === domain(node.domain) &&
      same(node.input, other.input) && same(node.output, other.output)) compareNode(node, other, outputs, found);
  }
  return kept;
}

/// Each node with its type and with which of its inputs do not depend on the graph's: a normalisation that a rewrite
/// moved from data onto weights is another node.
function* kinds(graph) {
  const constants = new Set(graph.initializer.map(({ name }) => name));
  for (const node of allNodes(graph)) {
    const fixed = node.input.map((name) => (name === "" || constants.has(name) ? 1 : 0)).join("");
    if (!fixed.includes("0")) node.output.forEach((name) => constants.add(name));
    yield [node.name, `${node.opType} ${fixed}`];
  }
}

/// Nodes of one kind whose names are gone while the result has new names of that kind: at least what rewrites made.
function countRenamed(before, after) {
  const old = [...kinds(before)], now = [...kinds(after)], gone = new Map();
  const names = new Set(now.map(([name]) => name)), own = new Set(old.map(([name]) => name));
  for (const [name, kind] of old) if (name && !names.has(name)) gone.set(kind, (gone.get(kind) ?? 0) + 1);
  let renamed = 0;
  for (const [name, kind] of now) {
    if (own.has(name) || !gone.get(kind)) continue;
    gone.set(kind, gone.get(kind) - 1);
    ++renamed;
  }
  return renamed;
}

function compareAnnotations(before, after, found) {
  const tensors = new Set([...after.input, ...after.initializer].map(({ name }) => name));
  for (const node of allNodes(after)) for (const name of node.output) tensors.add(name);
  const infos = named(after.valueInfo);
  for (const info of before.valueInfo) {
    if (!tensors.has(info.name)) continue;
    if (!infos.has(info.name)) found.lost.push(`value_info '${info.name}'`);
    else compareTypes("value_info", info, infos.get(info.name), found);
  }
  for (const { tensorName } of after.quantizationAnnotation)
    if (!tensors.has(tensorName)) found.lost.push(`a quantization_annotation names '${tensorName}', which is gone`);
  for (const annotation of before.quantizationAnnotation)
    if (tensors.has(annotation.tensorName) && !after.quantizationAnnotation.some((other) => same(annotation, other)))
      found.lost.push(`quantization_annotation '${annotation.tensorName}'`);
}

function compareOpsets(before, after, found) {
  const versions = new Map(after.opsetImport.map((set) => [domain(set.domain), set.version]));
  for (const set of before.opsetImport) {
    const version = versions.get(domain(set.domain));
    if (version === set.version) continue;
    const text = `opset ${domain(set.domain) || "ai.onnx"} ${set.version} became ${version ?? "none"}`;
    (version > set.version ? found.notes : found.lost).push(text);
  }
}

/// Before IR 4 initializers are listed among the inputs.
function givenInputs({ irVersion, graph }) {
  const initializers = new Set(graph.initializer.map(({ name }) => name));
  return graph.input.filter(({ name }) => irVersion >= 4 || !initializers.has(name));
}

export function compareForm(before, after) {
  const found = { frozen: [], lost: [], notes: [] };
  for (const field of ["producerName", "producerVersion", "domain", "modelVersion", "docString", "metadataProps", "functions"])
    if (!same(before[field], after[field])) found.lost.push(`the model's ${field}`);
  for (const field of ["name", "docString", "metadataProps"])
    if (!same(before.graph[field], after.graph[field])) found.lost.push(`the graph's ${field}`);
  if (before.irVersion !== after.irVersion)
    (before.irVersion > after.irVersion ? found.lost : found.notes).push(`IR version ${before.irVersion} became ${after.irVersion}`);
  compareOpsets(before, after, found);
  compareValues("input", givenInputs(before), givenInputs(after), found);
  compareValues("output", before.graph.output, after.graph.output, found);
  compareAnnotations(before.graph, after.graph, found);
  const kept = compareNodes(before.graph, after.graph, found);
  const renamed = countRenamed(before.graph, after.graph);
  return { ...found, kept, renamed, nodes: { before: countNodes(before), after: countNodes(after) } };
}
