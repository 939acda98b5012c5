#!/usr/bin/env python3
"""Runs a small campaign again and again; each time one change of its files goes wrong (fault_shim.cpp).

  faults.py PROGRAM SHIM AXIOMS [--every N] [--table]

After each fault: an answer in one sentence and an exit code that tells, or a killed process; then --resume ends well and
the library has the same bytes as one made in peace. Ends with 1 if that fails once.
"""
import argparse
import os
import signal
import subprocess
import sys
import tempfile

CAMPAIGN = """[campaign]
name = "faults"
max_operators = 2
inputs = [{{ name = "x", shape = [2, 3] }}, {{ name = "y", shape = [2, 3] }}]
pruners = ["renaming", "common_subgraph"]
verifiers = ["evaluate", "egraph"]
axioms = ["{axioms}/layout.smt2", "{axioms}/elementwise.smt2"]

[operators]
transpose = {{}}
ewadd = {{}}
relu = {{}}
"""
FAULTS = ("full", "broken", "torn", "killed")


class Campaign:
    def __init__(self, program, shim, axioms, folder):
        self.program, self.shim, self.folder = program, shim, folder
        self.file = os.path.join(folder, "campaign.toml")
        with open(self.file, "w", encoding="ascii") as out:
            out.write(CAMPAIGN.format(axioms=axioms))

    def call(self, arguments, **settings):
        environment = dict(os.environ, **settings)
        return subprocess.run([self.program, *arguments, "--quiet"], env=environment, capture_output=True, check=False,
                              timeout=120)

    def run(self, store, *arguments, **settings):
        return self.call(["campaign", "run", self.file, "--store", store, "--checkpoint", "0", *arguments], **settings)

    def run_with(self, store, fault, number, count=""):
        # A folder of its own under the store's: what the program writes elsewhere is left alone.
        return self.run(store, LD_PRELOAD=self.shim, REWRIGHT_FAULT=fault, REWRIGHT_FAULT_AT=str(number),
                        REWRIGHT_FAULT_UNDER=store, REWRIGHT_FAULT_COUNT=count)

    def library(self, store):
        return self.call(["rules", "export", "--format", "json", store]).stdout


def complaint(campaign, store, fault, number, expected):
    """What is wrong with how the campaign takes this fault; nothing if all is well."""
    broken = campaign.run_with(store, fault, number)
    text = broken.stderr.decode()
    if fault in ("torn", "killed"):
        if broken.returncode not in (-signal.SIGKILL, 0):
            return f"exit code {broken.returncode} instead of a kill: {text}"
    elif broken.returncode not in (0, 2, 3):
        return f"exit code {broken.returncode}: {text}"
    elif broken.returncode != 0 and (not text.startswith("rewright: ") or text.count("\n") != 1):
        return f"no single sentence: {text}"
    elif broken.returncode == 0 and campaign.library(store) != expected:
        return "exit code 0, but not the whole library"
    resumed = campaign.run(store, "--resume")
    if resumed.returncode != 0:
        return f"after the fault ('{text.strip()}') the resume ends with {resumed.returncode}: {resumed.stderr.decode()}"
    if campaign.library(store) != expected:
        return "after the resume the library differs"
    return None


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program")
    parser.add_argument("shim")
    parser.add_argument("axioms")
    parser.add_argument("--every", type=int, default=1, help="only every N-th change (default: all)")
    arguments = parser.parse_args()
    wrong = 0
    with tempfile.TemporaryDirectory() as folder:
        campaign = Campaign(arguments.program, arguments.shim, arguments.axioms, folder)
        peace = os.path.join(folder, "peace")
        count = os.path.join(folder, "count")
        first = campaign.run_with(peace, "none", 0, count)
        expected = campaign.library(peace)
        if first.returncode != 0 or b"certificate" not in expected:
            print(f"the campaign fails without a fault: {first.stderr.decode()}", file=sys.stderr)
            return 2
        with open(count, encoding="ascii") as number:
            changes = int(number.read())
        for position, fault in enumerate(FAULTS):
            tried = failed = 0
            start = 1 + position * arguments.every // len(FAULTS)
            for number in range(start, changes + 1, arguments.every):
                why = complaint(campaign, os.path.join(folder, f"{fault}{number}"), fault, number, expected)
                tried += 1
                if why:
                    failed += 1
                    print(f"{fault}, change {number} of {changes}: {why.strip()}")
            wrong += failed
            print(f"{fault}: {tried} of {changes} changes tried, {failed} times not as it should be")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
