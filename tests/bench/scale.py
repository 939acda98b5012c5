#!/usr/bin/env python3
"""How time and memory of `rewright optimize` grow with the size of a model: a chain of relus and transposes.

  scale.py PROGRAM AXIOMS [NODES...] [--instructions]

Import, matching, one look and one rewrite, the equivalence gate and export: seconds of user time and the peak of memory.
Then a step of `greedy`, which looks at every match (one for four nodes): seconds of the search alone. Needs protoc and
ONNX's schema (Debian's protobuf-compiler, libonnx-dev).
"""
import argparse
import json
import os
import re
import subprocess
import sys
import tempfile

RULE = """axioms {axioms}/elementwise.smt2

rule (b:2) relu(relu(b)) => relu(b)
certificate 1
output 0
. > relu-relu@2c8d2d48 x=b
"""


def model(nodes):
    """The text of a ModelProto."""
    sizes = "type { tensor_type { elem_type: 1 shape { dim { dim_value: 4 } dim { dim_value: 8 } } } }"
    lines = ['ir_version: 8 opset_import { version: 13 } graph { name: "chain" input { name: "t0" %s }' % sizes]
    for i in range(nodes):
        kind = 'op_type: "Relu"'
        if i % 4 > 1:
            kind = 'op_type: "Transpose" attribute { name: "perm" type: INTS ints: 1 ints: 0 }'
        lines.append('node { %s input: "t%d" output: "t%d" }' % (kind, i, i + 1))
    lines.append('output { name: "t%d" %s } }' % (nodes, sizes))
    return "\n".join(lines)


def instructions(command):
    """Of the program's own process, by Valgrind; without ONNX Runtime, which loads the model for the gate."""
    counted = subprocess.run(["valgrind", "--tool=cachegrind", "--cache-sim=no", "--cachegrind-out-file=/dev/null", *command],
                             stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, check=True, text=True,
                             env=dict(os.environ, REWRIGHT_ONNXRUNTIME="/nonexistent")).stderr
    return int(re.findall(r"I +refs: +([0-9,]+)", counted)[-1].replace(",", ""))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program")
    parser.add_argument("axioms")
    parser.add_argument("nodes", type=int, nargs="*", default=[1000, 10000, 100000])
    parser.add_argument("--instructions", action="store_true", help="count them in place of all that, by Valgrind (minutes)")
    arguments = parser.parse_args()
    print("nodes     instructions" if arguments.instructions else
          "nodes     user seconds   peak MiB      looks   seconds of their search")
    for nodes in arguments.nodes:
        with tempfile.TemporaryDirectory() as folder:
            rules, file = os.path.join(folder, "one.rules"), os.path.join(folder, "chain.onnx")
            with open(rules, "w", encoding="ascii") as out:
                out.write(RULE.format(axioms=os.path.abspath(arguments.axioms)))
            with open(file, "wb") as out:
                subprocess.run(["protoc", "-I", "/usr/include", "--encode=onnx.ModelProto", "onnx/onnx.proto"],
                               input=model(nodes).encode(), stdout=out, check=True)
            command = [arguments.program, "optimize", file, "-o", os.path.join(folder, "out.onnx"), "--rules", rules,
                       "--search", "greedy", "--steps", "1", "--cost", "flops", "--quiet", "--json"]
            if arguments.instructions:
                print(f"{nodes:<9,} {instructions(command):12,}", flush=True)
                continue
            child = subprocess.Popen(command + ["--candidates", "1"], stdout=subprocess.DEVNULL)
            _, status, usage = os.wait4(child.pid, 0)
            if status != 0:
                return 1
            all_looks = json.loads(subprocess.run(command, stdout=subprocess.PIPE, check=True).stdout.splitlines()[-1])
            print(f"{nodes:<9,} {usage.ru_utime:12.2f} {usage.ru_maxrss / 1024:10.0f} {all_looks['candidates']:10,} "
                  f"{all_looks['seconds']:10.3f}", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
