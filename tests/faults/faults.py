#!/usr/bin/env python3
"""Runs a small campaign again and again; each time one change of its files goes wrong (fault_shim.cpp), or something
is short: memory, file descriptors, time before a signal; or the clock goes back.

  faults.py PROGRAM SHIM AXIOMS [--every N] [--shortages] [--sanitized]

After each fault: an answer in one sentence and an exit code that tells, or a killed process; then --resume ends well and
the library has the same bytes as one made in peace. Ends with 1 if that fails once.
"""
import argparse
import itertools
import os
import random
import resource
import signal
import subprocess
import sys
import tempfile
import time

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


def preloaded(library):
    """It, before what is preloaded anyhow (where coverage is measured)."""
    return ":".join([library, *filter(None, [os.environ.get("LD_PRELOAD")])])


class Campaign:
    def __init__(self, program, shim, axioms, folder):
        self.program, self.shim, self.folder = program, shim, folder
        self.file = os.path.join(folder, "campaign.toml")
        with open(self.file, "w", encoding="ascii") as out:
            out.write(CAMPAIGN.format(axioms=axioms))

    def call(self, arguments, limit=None, **settings):
        environment = dict(os.environ, **settings)
        return subprocess.run([self.program, *arguments, "--quiet"], env=environment, capture_output=True, check=False,
                              timeout=120, preexec_fn=limit)

    def arguments(self, store):
        return ["campaign", "run", self.file, "--store", store, "--checkpoint", "0"]

    def run(self, store, *arguments, **settings):
        return self.call([*self.arguments(store), *arguments], **settings)

    def run_limited(self, store, kind, most):
        """With a limit that the kernel keeps, `kind` of `resource`."""
        return self.run(store, limit=lambda: resource.setrlimit(kind, (most, most)))

    def run_signalled(self, store, seconds, sent):
        with subprocess.Popen([self.program, *self.arguments(store), "--quiet"], stdout=subprocess.DEVNULL,
                              stderr=subprocess.PIPE) as running:
            time.sleep(seconds)
            running.send_signal(sent)
            _, text = running.communicate(timeout=120)
        return subprocess.CompletedProcess([], running.returncode, b"", text)

    def run_with(self, store, fault, number, count=""):
        # A folder of its own under the store's: what the program writes elsewhere is left alone.
        return self.run(store, LD_PRELOAD=preloaded(self.shim), REWRIGHT_FAULT=fault, REWRIGHT_FAULT_AT=str(number),
                        REWRIGHT_FAULT_UNDER=store, REWRIGHT_FAULT_COUNT=count)

    def library(self, store):
        return self.call(["rules", "export", "--format", "json", store]).stdout


def complaint(campaign, store, fault, broken, expected):
    """What is wrong with how a campaign took its fault; nothing if all is well."""
    text = broken.stderr.decode()
    if b"error while loading shared libraries" in broken.stderr:
        return None  # It never began: the system's loader says so.
    if fault == "signal":
        # Before it listens to signals it dies of them; later it stops in order, of which the exit code tells.
        if broken.returncode not in (0, 3, -signal.SIGINT, -signal.SIGTERM):
            return f"exit code {broken.returncode}: {text}"
    elif fault in ("torn", "killed"):
        if broken.returncode not in (-signal.SIGKILL, 0):
            return f"exit code {broken.returncode} instead of a kill: {text}"
    elif broken.returncode not in (0, 2, 3):
        return f"exit code {broken.returncode}: {text}"
    elif broken.returncode != 0 and (not text.startswith("rewright: ") or text.count("\n") != 1):
        return f"no single sentence: {text}"
    elif broken.returncode == 0 and campaign.library(store) != expected:
        return "exit code 0, but not the whole library"
    resumed = campaign.run(store, "--resume") if os.path.exists(store) else campaign.run(store)
    if resumed.returncode != 0:
        return f"after the fault ('{text.strip()}') the resume ends with {resumed.returncode}: {resumed.stderr.decode()}"
    if campaign.library(store) != expected:
        return "after the resume the library differs"
    return None


def faults_of_files(campaign, folder, changes, every):
    for position, fault in enumerate(FAULTS):
        for number in range(1 + position * every // len(FAULTS), changes + 1, every):
            store = os.path.join(folder, f"{fault}{number}")
            yield fault, number, store, campaign.run_with(store, fault, number)


def shortages(campaign, folder, every, sanitized):
    """Memory from where the program does not start to where it does well, in MiB; descriptors likewise; signals early and late."""
    step = 1 if every == 1 else 4
    for mebibytes in () if sanitized else range(64, 192, 2 * step):
        store = os.path.join(folder, f"memory{mebibytes}")
        yield "memory", mebibytes, store, campaign.run_limited(store, resource.RLIMIT_AS, mebibytes << 20)
    for count in range(0, 32, step):
        store = os.path.join(folder, f"descriptors{count}")
        yield "descriptors", count, store, campaign.run_limited(store, resource.RLIMIT_NOFILE, count)
    chance = random.Random(1)
    for number in range(40 // step):
        store = os.path.join(folder, f"signal{number}")
        sent = chance.choice((signal.SIGINT, signal.SIGTERM))
        yield "signal", number, store, campaign.run_signalled(store, chance.uniform(0.05, 0.5), sent)
    store = os.path.join(folder, "clock")
    yield "clock", 1, store, campaign.run(store, LD_PRELOAD=preloaded(campaign.shim), REWRIGHT_CLOCK="back")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program")
    parser.add_argument("shim")
    parser.add_argument("axioms")
    parser.add_argument("--every", type=int, default=1, help="only every N-th change (default: all)")
    parser.add_argument("--shortages", action="store_true", help="no changes of files: memory, descriptors, signals, clock")
    parser.add_argument("--sanitized", action="store_true",
                        help="no limits of memory: a sanitizer reserves more addresses than any of them")
    arguments = parser.parse_args()
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
        every = arguments.every
        tried, failed = {}, {}
        of_files = () if arguments.shortages else faults_of_files(campaign, folder, changes, every)
        for fault, number, store, broken in itertools.chain(of_files, shortages(campaign, folder, every, arguments.sanitized)):
            why = complaint(campaign, store, fault, broken, expected)
            tried[fault] = tried.get(fault, 0) + 1
            if why:
                failed[fault] = failed.get(fault, 0) + 1
                print(f"{fault} {number}: {why.strip()}")
        for fault, times in tried.items():
            of = f" of {changes} changes" if fault in FAULTS else ""
            print(f"{fault}: {times}{of} tried, {failed.get(fault, 0)} times not as it should be")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
