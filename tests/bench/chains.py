#!/usr/bin/env python3
"""How the time of `rewright optimize`, as anyone calls it, grows with three shapes: a chain of x + x, a chain of neg and
relu, and one sum of many operands.

  chains.py PROGRAM [--shapes NAMES] [--search NAME]

Seconds of CPU (user) for n, 2n and 4n nodes, and the greatest factor between neighbours; linear is about 2. Needs protoc
and ONNX's schema (Debian's protobuf-compiler, libonnx-dev).
"""
import argparse
import os
import subprocess
import sys
import tempfile

SIZES = "type { tensor_type { elem_type: 1 shape { dim { dim_value: 4 } } } }"


def doubling(nodes):
    """t(i + 1) = t(i) + t(i)."""
    return ["x"], [("Add", [f"t{i}" if i else "x"] * 2, f"t{i + 1}") for i in range(nodes)]


def chain(nodes):
    return ["x"], [("Neg" if i % 2 else "Relu", [f"t{i}" if i else "x"], f"t{i + 1}") for i in range(nodes)]


def wide(nodes):
    """t(i + 1) = t(i) + x(i + 1), over as many inputs."""
    inputs = [f"x{i}" for i in range(nodes + 1)]
    return inputs, [("Add", [f"t{i}" if i else "x0", f"x{i + 1}"], f"t{i + 1}") for i in range(nodes)]


SHAPES = {"doubling": (doubling, 60), "chain": (chain, 750), "wide": (wide, 250)}


def model(inputs, nodes):
    """The text of a ModelProto."""
    lines = ['ir_version: 8 opset_import { version: 13 } graph { name: "shape"']
    lines += ['input { name: "%s" %s }' % (name, SIZES) for name in inputs]
    for kind, operands, output in nodes:
        lines.append('node { op_type: "%s" %s output: "%s" }' % (
            kind, " ".join('input: "%s"' % operand for operand in operands), output))
    return "\n".join([*lines, 'output { name: "%s" %s } }' % (nodes[-1][2], SIZES)])


def seconds(arguments, text):
    with tempfile.TemporaryDirectory() as folder:
        file = os.path.join(folder, "in.onnx")
        with open(file, "wb") as out:
            subprocess.run(["protoc", "-I", "/usr/include", "--encode=onnx.ModelProto", "onnx/onnx.proto"],
                           input=text.encode(), stdout=out, check=True)
        with subprocess.Popen([arguments.program, "optimize", file, "-o", os.path.join(folder, "out.onnx"), "--search",
                               arguments.search, "--no-measure", "--quiet"], stdout=subprocess.DEVNULL) as child:
            _, status, usage = os.wait4(child.pid, 0)
            child.returncode = os.waitstatus_to_exitcode(status)
        if child.returncode != 0:
            sys.exit(f"{file}: exit code {child.returncode}")
        return usage.ru_utime


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program")
    parser.add_argument("--shapes", default=",".join(SHAPES))
    parser.add_argument("--search", default="auto")
    arguments = parser.parse_args()
    print("shape       nodes        n       2n       4n   factor")
    for name in arguments.shapes.split(","):
        make, first = SHAPES[name]
        taken = [seconds(arguments, model(*make(first * factor))) for factor in (1, 2, 4)]
        factor = max(taken[1] / taken[0], taken[2] / taken[1])
        print(f"{name:10} {first:6} " + " ".join(f"{value:8.2f}" for value in taken) + f" {factor:8.1f}", flush=True)


if __name__ == "__main__":
    main()
