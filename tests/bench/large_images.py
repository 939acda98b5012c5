#!/usr/bin/env python3
"""large_images.py FILE [--size 1024] [--channels 32]: a segmentation network on large images, with random weights.

    tests/bench/large_images.py /tmp/unet.onnx
    /usr/bin/time -v rewright optimize /tmp/unet.onnx -o /tmp/out.onnx

A U-Net (Ronneberger et al. 2015) of five levels in its training form: each convolution has a batch normalisation behind
it, the way up doubles sizes by Resize, which no operator reads, and the outputs of both ways are joined by Concat.
"""
import argparse
import math
import random
import struct

from large_model import message, node, number

FLOAT, INT64 = 1, 7


def tensor(name, dims, kind, raw):
    return message(5, b"".join(number(1, size) for size in dims) + number(2, kind) + message(8, name.encode()) + message(9, raw))


def value(name, dims):
    shape = b"".join(message(1, number(1, size)) for size in dims)
    return message(1, name.encode()) + message(2, message(1, number(1, FLOAT) + message(2, shape)))


def attribute_fields(attributes):
    """{name: integers | integer | text}"""
    fields = b""
    for name, given in attributes.items():
        if isinstance(given, str):
            content = message(4, given.encode()) + number(20, 3)
        elif isinstance(given, int):
            content = number(3, given) + number(20, 2)
        else:
            content = b"".join(number(8, integer) for integer in given) + number(20, 7)
        fields += message(5, message(1, name.encode()) + content)
    return fields


class Network:
    def __init__(self):
        self.nodes = self.weights = b""
        self.count = 0
        self.random = random.Random(1)

    def floats(self, dims, low, high):
        self.count += 1
        numbers = [self.random.uniform(low, high) for _ in range(math.prod(dims))]
        self.weights += tensor(f"w{self.count}", dims, FLOAT, struct.pack(f"<{len(numbers)}f", *numbers))
        return f"w{self.count}"

    def add(self, operator, inputs, **attributes):
        self.count += 1
        self.nodes += node(operator, inputs, f"t{self.count}", attribute_fields(attributes))
        return f"t{self.count}"

    def convolution(self, x, before, after, kernel=3):
        bound = math.sqrt(3 / (before * kernel * kernel))
        weight = self.floats((after, before, kernel, kernel), -bound, bound)
        return self.add("Conv", (x, weight), pads=[kernel // 2] * 4, kernel_shape=[kernel] * 2)

    def block(self, x, before, after):
        for channels in (before, after):
            x = self.convolution(x, channels, after)
            scale, bias, mean = (self.floats((after,), *bounds) for bounds in ((0.8, 1.2), (-0.1, 0.1), (-0.1, 0.1)))
            x = self.add("Relu", (self.add("BatchNormalization", (x, scale, bias, mean, self.floats((after,), 0.8, 1.2))),))
        return x


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("file")
    parser.add_argument("--size", type=int, default=1024)
    parser.add_argument("--channels", type=int, default=32, help="of the first level; each further one has twice as many")
    arguments = parser.parse_args()
    widths = [arguments.channels << level for level in range(5)]
    network, x, before, ways = Network(), "image", 3, []
    network.weights += tensor("scales", (4,), FLOAT, struct.pack("<4f", 1, 1, 2, 2))
    for level, width in enumerate(widths):
        if level > 0:
            x = network.add("MaxPool", (x,), kernel_shape=[2, 2], strides=[2, 2])
        x = network.block(x, before, width)
        ways.append(x)
        before = width
    for width, way in zip(reversed(widths[:-1]), reversed(ways[:-1])):
        x = network.add("Resize", (x, "", "scales"), mode="nearest")
        x = network.block(network.add("Concat", (way, x), axis=1), before + width, width)
        before = width
    x = network.add("Sigmoid", (network.convolution(x, before, 1, 1),))
    size = arguments.size
    graph = network.nodes + message(2, b"unet") + network.weights + message(11, value("image", (1, 3, size, size)))
    graph += message(12, value(x, (1, 1, size, size)))
    with open(arguments.file, "wb") as file:
        file.write(number(1, 8) + message(7, graph) + message(8, number(2, 17)))


if __name__ == "__main__":
    main()
