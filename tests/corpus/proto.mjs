// ONNX's messages, read from their wire format: a reader of its own, so that what the program writes is judged by nothing
// that it uses itself.
//
// readModel(bytes) gives plain objects with the field names of onnx.proto; fields that are not there are undefined,
// repeated ones are arrays. Numbers beyond 2^53 lose digits; bytes are views into the file.
//
// Source  onnx.proto; Protocol Buffers, Encoding.

const text = new TextDecoder();

/// Per field number: name, kind ("int", "float", "double", "text", "bytes" or a schema), and whether it repeats.
const many = (name, kind) => [name, kind, true];
const single = (name, kind) => [name, kind, false];
const pair = { 1: single("key", "text"), 2: single("value", "text") };
const dimension = { 1: single("value", "int"), 2: single("param", "text"), 3: single("denotation", "text") };
const shape = { 1: many("dim", dimension) };
const tensorType = { 1: single("elemType", "int"), 2: single("shape", shape) };
const type = { 1: single("tensorType", tensorType), 6: single("denotation", "text") };
Object.assign(type, { 4: single("sequenceType", { 1: single("elemType", type) }), 5: single("mapType", "bytes"),
  8: single("sparseTensorType", tensorType), 9: single("optionalType", { 1: single("elemType", type) }) });
const valueInfo = { 1: single("name", "text"), 2: single("type", type), 3: single("docString", "text"),
  4: many("metadataProps", pair) };
const tensor = { 1: many("dims", "int"), 2: single("dataType", "int"), 4: many("floatData", "float"),
  5: many("int32Data", "int"), 6: many("stringData", "bytes"), 7: many("int64Data", "int"), 8: single("name", "text"),
  9: single("rawData", "bytes"), 10: many("doubleData", "double"), 11: many("uint64Data", "int"),
  12: single("docString", "text"), 13: many("externalData", pair), 14: single("dataLocation", "int") };
const sparse = { 1: single("values", tensor), 2: single("indices", tensor), 3: many("dims", "int") };
const attribute = { 1: single("name", "text"), 2: single("f", "float"), 3: single("i", "int"), 4: single("s", "bytes"),
  5: single("t", tensor), 7: many("floats", "float"), 8: many("ints", "int"), 9: many("strings", "bytes"),
  10: many("tensors", tensor), 13: single("docString", "text"), 14: single("tp", type), 15: many("typeProtos", type),
  20: single("type", "int"), 21: single("refAttrName", "text"), 22: single("sparseTensor", sparse),
  23: many("sparseTensors", sparse) };
const node = { 1: many("input", "text"), 2: many("output", "text"), 3: single("name", "text"),
  4: single("opType", "text"), 5: many("attribute", attribute), 6: single("docString", "text"),
  7: single("domain", "text"), 8: single("overload", "text"), 9: many("metadataProps", pair) };
const annotation = { 1: single("tensorName", "text"), 2: many("quantParameterTensorNames", pair) };
const graph = { 1: many("node", node), 2: single("name", "text"), 5: many("initializer", tensor),
  10: single("docString", "text"), 11: many("input", valueInfo), 12: many("output", valueInfo),
  13: many("valueInfo", valueInfo), 14: many("quantizationAnnotation", annotation),
  15: many("sparseInitializer", sparse), 16: many("metadataProps", pair) };
attribute[6] = single("g", graph);
attribute[11] = many("graphs", graph);
const opset = { 1: single("domain", "text"), 2: single("version", "int") };
const functionBody = { 1: single("name", "text"), 4: many("input", "text"), 5: many("output", "text"),
  6: many("attribute", "text"), 7: many("node", node), 8: single("docString", "text"), 9: many("opsetImport", opset),
  10: single("domain", "text"), 11: many("attributeProto", attribute) };
const model = { 1: single("irVersion", "int"), 2: single("producerName", "text"), 3: single("producerVersion", "text"),
  4: single("domain", "text"), 5: single("modelVersion", "int"), 6: single("docString", "text"),
  7: single("graph", graph), 8: many("opsetImport", opset), 14: many("metadataProps", pair),
  25: many("functions", functionBody) };

class Reader {
  constructor(bytes) {
    this.bytes = bytes;
    this.view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    this.at = 0;
  }
  varint() {
    let low = 0n, shift = 0n;
    for (;;) {
      const byte = this.bytes[this.at++];
      low |= BigInt(byte & 0x7f) << shift;
      if (byte < 0x80) return Number(BigInt.asIntN(64, low));
      shift += 7n;
    }
  }
  float() { return this.view.getFloat32((this.at += 4) - 4, true); }
  double() { return this.view.getFloat64((this.at += 8) - 8, true); }
  block() {
    const size = this.varint();
    if (size < 0 || this.at + size > this.bytes.length) throw new Error(`a field of ${size} bytes passes the end`);
    return this.bytes.subarray(this.at, this.at += size);
  }
  skip(wire) {
    if (wire === 0) this.varint();
    else if (wire === 1) this.at += 8;
    else if (wire === 2) this.block();
    else if (wire === 5) this.at += 4;
    else throw new Error(`wire type ${wire} is none of ONNX's`);
  }
}

function readValue(reader, kind, wire) {
  if (kind === "int") return reader.varint();
  if (kind === "float") return reader.float();
  if (kind === "double") return reader.double();
  if (wire !== 2) throw new Error("a field has another wire type than its kind");
  const bytes = reader.block();
  return kind === "bytes" ? bytes : kind === "text" ? text.decode(bytes) : readMessage(bytes, kind);
}

function readPacked(reader, kind, values) {
  const inner = new Reader(reader.block());
  while (inner.at < inner.bytes.length) values.push(readValue(inner, kind));
}

function readMessage(bytes, schema) {
  const reader = new Reader(bytes), message = {};
  for (const [name, , repeated] of Object.values(schema)) if (repeated) message[name] = [];
  while (reader.at < bytes.length) {
    const tag = reader.varint(), wire = tag & 7, field = schema[tag >>> 3];
    if (!field) {
      reader.skip(wire);
      continue;
    }
    const [name, kind, repeated] = field;
    const packed = wire === 2 && ["int", "float", "double"].includes(kind);
    if (packed) readPacked(reader, kind, message[name]);
    else if (repeated) message[name].push(readValue(reader, kind, wire));
    else message[name] = readValue(reader, kind, wire);
  }
  return message;
}

export const readModel = (bytes) => readMessage(bytes, model);

/// All nodes of a graph, those of graphs in attributes among them.
export function* allNodes(graph) {
  for (const node of graph.node) {
    yield node;
    for (const { g, graphs } of node.attribute) for (const inner of g ? [g, ...graphs] : graphs) yield* allNodes(inner);
  }
}

export const countNodes = (model) => [...allNodes(model.graph)].length;
