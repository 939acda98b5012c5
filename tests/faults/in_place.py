#!/usr/bin/env python3
"""Optimises a model in place, whose weights lie in a file of their own; each time the program is killed before another change
of its files (fault_shim.cpp). Whatever is left is the old model with its weights or the new one with its own.

  in_place.py PROGRAM SHIM

Ends with 1 if that fails once.
"""
import argparse
import os
import random
import shutil
import signal
import struct
import subprocess
import sys
import tempfile

MODEL = """ir_version: 8
opset_import {{ version: 13 }}
graph {{
  name: "g"
  input {{ name: "x" type {{ tensor_type {{ elem_type: 1 shape {{ dim {{ dim_value: 2 }} dim {{ dim_value: {size} }} }} }} }} }}
  initializer {{ name: "w" data_type: 1 dims: {size} dims: {size} data_location: EXTERNAL
    external_data {{ key: "location" value: "m.onnx.data" }} external_data {{ key: "offset" value: "0" }}
    external_data {{ key: "length" value: "{bytes}" }} }}
  node {{ op_type: "MatMul" input: "x" input: "w" output: "a" }}
  node {{ op_type: "Relu" input: "a" output: "b" }}
  node {{ op_type: "Relu" input: "b" output: "y" }}
  output {{ name: "y" type {{ tensor_type {{ elem_type: 1 shape {{ dim {{ dim_value: 2 }} dim {{ dim_value: {size} }} }} }} }} }}
}}
"""
SIZE = 160  # 100 KiB of weights: such stay in their file while the model is optimised.


def make(folder):
    """m.onnx, m.onnx.data and a rule that makes the model cheaper."""
    chance = random.Random(1)
    weights = struct.pack(f"{SIZE * SIZE}f", *(chance.uniform(-1, 1) for _ in range(SIZE * SIZE)))
    with open(os.path.join(folder, "m.onnx.data"), "wb") as out:
        out.write(weights)
    text = MODEL.format(size=SIZE, bytes=len(weights))
    with open(os.path.join(folder, "m.onnx"), "wb") as out:
        subprocess.run(["protoc", "-I", "/usr/include", "--encode=onnx.ModelProto", "onnx/onnx.proto"],
                       input=text.encode(), stdout=out, check=True)
    with open(os.path.join(folder, "one.rules"), "w", encoding="ascii") as out:
        out.write("(x:2) relu(relu(x)) => relu(x)\n")
    return weights


def read(folder, name):
    with open(os.path.join(folder, name), "rb") as file:
        return file.read()


def optimize(program, folder, **settings):
    return subprocess.run([program, "optimize", "m.onnx", "-o", "m.onnx", "--rules", "one.rules", "--trust", "none",
                           "--quiet"], cwd=folder, env=dict(os.environ, **settings), capture_output=True, check=False,
                          timeout=300)


def complaint(folder, old, new, weights):
    """What is wrong with what lies in the folder; nothing if all is well."""
    model = read(folder, "m.onnx")
    if model not in (old, new):
        return "m.onnx is neither the old model nor the new one"
    name = "m.onnx.data" if model == old else "m.onnx.1.data"
    if not os.path.exists(os.path.join(folder, name)):
        return f"the weights of the {'old' if model == old else 'new'} model are gone"
    return None if read(folder, name) == weights else f"{name} has other weights"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program")
    parser.add_argument("shim")
    given = parser.parse_args()
    given.program, given.shim = os.path.abspath(given.program), os.path.abspath(given.shim)
    with tempfile.TemporaryDirectory() as folder:
        first = os.path.join(folder, "first")
        os.mkdir(first)
        weights = make(first)
        old = read(first, "m.onnx")
        preload = ":".join([given.shim, *filter(None, [os.environ.get("LD_PRELOAD")])])
        count = os.path.join(folder, "count")
        done = optimize(given.program, first, LD_PRELOAD=preload, REWRIGHT_FAULT_UNDER=os.path.realpath(first),
                        REWRIGHT_FAULT_COUNT=count)
        new = read(first, "m.onnx")
        if done.returncode != 0 or new == old:
            sys.exit(f"exit code {done.returncode}, the model is {'old' if new == old else 'new'}: {done.stderr.decode()}")
        left = sorted(os.listdir(first))
        if left != ["m.onnx", "m.onnx.1.data", "one.rules"]:
            sys.exit(f"the folder holds {left}")
        changes = int(read(folder, "count"))
        failures = 0
        for number in range(1, changes + 1):
            for fault in ("killed", "torn"):
                place = os.path.join(folder, f"{fault}{number}")
                os.mkdir(place)
                make(place)
                ended = optimize(given.program, place, LD_PRELOAD=preload, REWRIGHT_FAULT=fault,
                                 REWRIGHT_FAULT_AT=str(number), REWRIGHT_FAULT_UNDER=os.path.realpath(place))
                wrong = complaint(place, old, new, weights)
                if ended.returncode != -signal.SIGKILL:
                    wrong = f"exit code {ended.returncode} instead of a kill"
                if wrong:
                    failures += 1
                    print(f"{fault} at change {number}: {wrong}")
                shutil.rmtree(place)
        print(f"{changes} changes of files, killed before each and within each: {failures} models lost")
        sys.exit(1 if failures else 0)


if __name__ == "__main__":
    main()
