#!/usr/bin/env python3
"""large_model.py FOLDER SIZE LAYERS: a model whose weights lie in a file of holes, which takes no room on the disk.

    tests/bench/large_model.py /tmp/large 4096 18        # 2.25 GiB of weights
    /usr/bin/time -v rewright optimize /tmp/large/large.onnx -o /tmp/large/out.onnx --search greedy --steps 40

Layers on a row of SIZE numbers, in turn  p + relu(x B), p = x A  and  relu((x A) B),  with A, B of SIZE x SIZE.
Written by hand as protobuf (onnx.proto), so that nothing needs to be installed.
"""
import os
import sys


def varint(number):
    out = bytearray()
    while number > 127:
        out.append(number & 127 | 128)
        number >>= 7
    return bytes(out + bytes([number]))


def message(field, content):
    return varint(field << 3 | 2) + varint(len(content)) + content


def number(field, value):
    return varint(field << 3) + varint(value)


def weight(name, size, offset):
    entries = {"location": "large.data", "offset": str(offset), "length": str(size * size * 4)}
    external = b"".join(message(13, message(1, key.encode()) + message(2, value.encode()))
                        for key, value in entries.items())
    return number(1, size) * 2 + number(2, 1) + message(8, name.encode()) + external + number(14, 1)


def value(name, size):
    shape = message(1, number(1, 1)) + message(1, number(1, size))
    return message(1, name.encode()) + message(2, message(1, number(1, 1) + message(2, shape)))


def node(operator, inputs, output, attributes=b""):
    names = b"".join(message(1, name.encode()) for name in inputs)
    return message(1, names + message(2, output.encode()) + message(4, operator.encode()) + attributes)


def main():
    folder, size, layers = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
    os.makedirs(folder, exist_ok=True)
    nodes, weights, offset, x = b"", b"", 0, "x"
    for i in range(layers):
        for name in "ab":
            weights += message(5, weight(f"{name}{i}", size, offset))
            offset += size * size * 4
        chained = i % 2 == 1
        nodes += node("MatMul", (x, f"a{i}"), f"p{i}")
        nodes += node("MatMul", (f"p{i}" if chained else x, f"b{i}"), f"q{i}") + node("Relu", (f"q{i}",), f"r{i}")
        nodes += b"" if chained else node("Add", (f"p{i}", f"r{i}"), f"s{i}")
        x = f"r{i}" if chained else f"s{i}"
    graph = nodes + message(2, b"large") + weights + message(11, value("x", size)) + message(12, value(x, size))
    with open(f"{folder}/large.onnx", "wb") as file:
        file.write(number(1, 8) + message(7, graph) + message(8, number(2, 17)))
    with open(f"{folder}/large.data", "wb") as file:
        file.truncate(offset)
    print(f"{offset / 2**30:.2f} GiB of weights")


if __name__ == "__main__":
    main()
