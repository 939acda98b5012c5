#!/usr/bin/env python3
"""Runs the program where libblas and liblapack are OpenBLAS's, as on a machine that has Debian's numpy: OpenBLAS starts a
thread a core and takes memory for each as soon as it is loaded, and prints when it gets none.

  openblas.py PROGRAM MODEL FOLDER

FOLDER holds OpenBLAS's libblas.so.3 (scripts/install-dependencies --tests lays it there). MODEL is optimised by the
e-graph's integer programme, the only part that uses BLAS, and must come out as without OpenBLAS; no other command loads
it; and under any limit of memory a command ends, with a result or one sentence. Ends with 1 where that is not so.
"""
import os
import resource
import subprocess
import sys
import tempfile

MIB = 1 << 20
SECONDS = 60  # A command that takes longer hangs.


class Checks:
    def __init__(self, program, model, folder):
        self.program = program
        self.model = model
        self.openblas = dict(os.environ, LD_LIBRARY_PATH=folder)
        self.failures = []

    def run(self, arguments, environment, limit_mib=None):
        def limit():
            if limit_mib is not None:
                resource.setrlimit(resource.RLIMIT_AS, (limit_mib * MIB, limit_mib * MIB))
        try:
            return subprocess.run([self.program, *arguments], env=environment, capture_output=True, text=True, timeout=SECONDS,
                                  check=False, preexec_fn=limit)
        except subprocess.TimeoutExpired:
            self.failures.append(f"{arguments[0]} hangs under {limit_mib} MiB")
            return None

    def expect(self, holds, sentence):
        if not holds:
            self.failures.append(sentence)

    def loads_it_only_where_it_is_used(self):
        loud = dict(self.openblas, LD_DEBUG="files")
        listed = self.run(["operators", "list"], loud)
        self.expect("openblas" not in listed.stderr, "operators list loads OpenBLAS")
        with tempfile.TemporaryDirectory() as folder:
            output = os.path.join(folder, "out.onnx")
            chosen = self.run(self.exact(output), loud)
            self.expect("calling init" in chosen.stderr and "openblas" in chosen.stderr,
                        "the e-graph's integer programme does not load OpenBLAS, so that nothing is tested")

    def exact(self, output):
        return ["optimize", self.model, "-o", output, "--search", "egraph", "--steps", "1", "--no-measure", "--quiet"]

    def gives_the_same(self):
        outputs = []
        with tempfile.TemporaryDirectory() as folder:
            for name, environment in ("plain", dict(os.environ)), ("openblas", self.openblas):
                output = os.path.join(folder, name + ".onnx")
                made = self.run(self.exact(output), environment)
                self.expect(made.returncode == 0, f"{name}: exit code {made.returncode}: {made.stderr}")
                self.expect(made.stderr == "", f"{name} prints: {made.stderr}")
                with open(output, "rb") as file:
                    outputs.append(file.read())
        self.expect(outputs[0] == outputs[1], "the result is another with OpenBLAS")

    def ends_for_lack_of_memory(self):
        with tempfile.TemporaryDirectory() as folder:
            output = os.path.join(folder, "out.onnx")
            for mib in (96, 136, 192, 256, 300, 340, 384, 420, 450, 512, 640, 1024):
                for arguments in (["operators", "list"], self.exact(output)):
                    done = self.run(arguments, self.openblas, mib)
                    if done is not None:
                        self.expect(done.returncode >= 0, f"{arguments[0]} dies of signal {-done.returncode} under {mib} MiB")


def main():
    if len(sys.argv) != 4:
        sys.exit(__doc__)
    program, model, folder = sys.argv[1:]
    if not os.path.exists(os.path.join(folder, "libblas.so.3")):
        sys.exit(f"openblas: '{folder}' has no libblas.so.3; run scripts/install-dependencies --tests")
    checks = Checks(program, model, folder)
    checks.loads_it_only_where_it_is_used()
    checks.gives_the_same()
    checks.ends_for_lack_of_memory()
    for failure in checks.failures:
        print(failure)
    sys.exit(1 if checks.failures else 0)


main()
