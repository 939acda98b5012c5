"""Networks in ONNX, written node by node, and answers of rewright: what the scripts of this folder share.

Weights are random numbers, the same on every machine, in a file beside the model. Needs protoc and ONNX's schema (Debian's
protobuf-compiler, libonnx-dev).
"""
import array
import json
import math
import pathlib
import random
import subprocess
import sys

TOP = pathlib.Path(__file__).resolve().parent.parent.parent


def answer_of(command):
    """The JSON object that a command prints last; it may end with 1, which is a negative answer."""
    words = [str(word) for word in command]
    ran = subprocess.run(words, capture_output=True, text=True, check=False)
    if ran.returncode not in (0, 1) or not ran.stdout:
        sys.exit(f"{pathlib.Path(sys.argv[0]).name}: {' '.join(words)}: {ran.stderr.strip()}")
    return json.loads(ran.stdout.splitlines()[-1])


def compiled(build, model, folder, *options):
    """What rewright compile says of a model, which must be equal to what it was."""
    answer = answer_of([build / "bin/rewright", "compile", model, "-o", folder, "--force", "--quiet", "--json", *options])
    if not answer.get("equal"):
        sys.exit(f"{pathlib.Path(sys.argv[0]).name}: {model}: {answer.get('reason', answer)}")
    return answer


def program_of(folder, flags=None):
    """What an artefact runs itself with, built; with other flags of the compiler, if they are given."""
    folder = pathlib.Path(folder)
    subprocess.run(["make", "-s", "-C", folder, "all", *([f"CFLAGS={flags}"] if flags else [])], check=True)
    return next(file for file in folder.iterdir() if file.with_suffix(".c").exists() and not file.suffix)


def least_us(programs, inputs, turns=9, seconds=0.03):
    """Of programs of one model, in turn, so that what slows the machine slows them all: by name, a run's least time."""
    def run(program, repeats):
        weights = program.with_suffix(".weights")
        words = [program, "-n", str(repeats), weights if weights.exists() else "-", *inputs, "/dev/null"]
        return float(subprocess.run(words, capture_output=True, text=True, check=True).stdout.split()[0])

    repeats = {name: max(3, int(1e6 * seconds / run(program, 3))) for name, program in programs.items()}
    return {name: min(times) for name, times in zip(programs, zip(*(
        [run(program, repeats[name]) for name, program in programs.items()] for _ in range(turns))))}


def write_rows(file, rows):
    file.write_text("".join(json.dumps(row) + "\n" for row in rows))


def _tensor_type(sizes):
    return "type { tensor_type { elem_type: 1 shape { %s } } }" % " ".join("dim { dim_value: %d }" % size for size in sizes)


class Network:
    """One image, layers, one output. Tensors are known by name; their sizes without the first, which is 1, are kept."""

    def __init__(self, channels, size):
        self.sizes = {"image": (channels, size, size)}
        self.multiply_adds = self.parameters = 0
        self._nodes, self._weights = [], []
        self._numbers, self._draw = array.array("f"), random.Random(1)

    def _node(self, kind, inputs, sizes, attributes=""):
        name = "%s%d" % (kind.lower(), len(self._nodes))
        operands = " ".join('input: "%s"' % operand for operand in inputs)
        self._nodes.append('node { op_type: "%s" name: "%s" %s output: "%s" %s }' % (kind, name, operands, name, attributes))
        self.sizes[name] = sizes
        return name

    def _weight(self, sizes, low, high):
        name, count, begin = "w%d" % len(self._weights), math.prod(sizes), len(self._numbers)
        draw, width = self._draw.random, high - low
        self._numbers.extend([low + width * draw() for _ in range(count)])
        self._weights.append((name, sizes, 4 * begin, 4 * count))
        self.parameters += count
        return name

    def convolution(self, x, out, taps, stride=1, groups=1):
        """Zeros around the image, so that with stride 1 it keeps its size."""
        channels, height, width = self.sizes[x]
        bound = math.sqrt(6 / (channels // groups * taps * taps))
        weight = self._weight((out, channels // groups, taps, taps), -bound, bound)
        sizes = out, -(-height // stride), -(-width // stride)
        self.multiply_adds += math.prod(sizes) * (channels // groups) * taps * taps
        pads = " ".join("ints: %d" % (taps // 2) for _ in range(4))
        return self._node("Conv", [x, weight], sizes, 'attribute { name: "group" type: INT i: %d } attribute { name: "strides" '
                          'type: INTS ints: %d ints: %d } attribute { name: "pads" type: INTS %s }' % (groups, stride, stride, pads))

    def normalised(self, x):
        channels = self.sizes[x][0]
        bounds = (0.9, 1.1), (-0.1, 0.1), (-0.1, 0.1), (0.9, 1.1)  # Scale, bias, mean, variance.
        weights = [self._weight((channels,), *each) for each in bounds]
        self.parameters -= 2 * channels  # Mean and variance are not learnt.
        return self._node("BatchNormalization", [x, *weights], self.sizes[x])

    def relu(self, x):
        return self._node("Relu", [x], self.sizes[x])

    def sum(self, x, y):
        return self._node("Add", [x, y], self.sizes[x])

    def largest(self, x, taps, stride):
        channels, height, width = self.sizes[x]
        ints = "ints: %d ints: %d"
        return self._node("MaxPool", [x], (channels, -(-height // stride), -(-width // stride)), (
            'attribute { name: "kernel_shape" type: INTS %s } attribute { name: "strides" type: INTS %s } attribute { name: "pads" '
            'type: INTS %s %s }') % ((ints % (taps, taps), ints % (stride, stride)) + (ints % (taps // 2, taps // 2),) * 2))

    def classes(self, x, count):
        channels = self.sizes[x][0]
        mean = self._node("Flatten", [self._node("GlobalAveragePool", [x], (channels, 1, 1))], (channels,))
        bound = math.sqrt(3 / channels)
        weights = self._weight((channels, count), -bound, bound), self._weight((count,), -0.1, 0.1)
        self.multiply_adds += channels * count
        return self._node("Gemm", [mean, *weights], (count,))

    def write(self, file, output):
        """The model, and FILE.weights beside it."""
        lines = ['ir_version: 8 opset_import { version: 13 } graph { name: "%s"' % file.stem, *self._nodes]
        lines.append('input { name: "image" %s }' % _tensor_type((1, *self.sizes["image"])))
        lines.append('output { name: "%s" %s }' % (output, _tensor_type((1, *self.sizes[output]))))
        place = file.with_suffix(".weights")
        for name, sizes, offset, length in self._weights:
            dims = " ".join("dims: %d" % size for size in sizes)
            kept = " ".join('external_data { key: "%s" value: "%s" }' % pair
                            for pair in (("location", place.name), ("offset", offset), ("length", length)))
            lines.append('initializer { name: "%s" data_type: 1 %s data_location: EXTERNAL %s }' % (name, dims, kept))
        if sys.byteorder == "big":
            self._numbers.byteswap()
        place.write_bytes(self._numbers.tobytes())
        with file.open("wb") as out:
            subprocess.run(["protoc", "-I", "/usr/include", "--encode=onnx.ModelProto", "onnx/onnx.proto"],
                           input="\n".join([*lines, "}"]).encode(), stdout=out, check=True)
        return file
