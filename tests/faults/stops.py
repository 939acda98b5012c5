#!/usr/bin/env python3
"""Stops `rewright optimize` by SIGINT and SIGTERM at random moments of a run: while it reads, searches, compares,
measures or writes. It must end soon, with exit code 3, leave no process behind, and write a model.

  stops.py PROGRAM MODEL... [--searches NAMES] [--times N] [--seconds S] [--limit S] [--seed N]

Each search and signal takes N moments, in turn over the models; moments are drawn from the time that an undisturbed run
with --seconds S takes. A row: how many were stopped (the others had ended before), the median and the longest time from
the signal to the end in seconds, and what was written: the result; the original, with the best so far beside it (kept) or
without; or nothing, where the model was not read yet. Ends with 1 if a run took longer than the limit, ended with another code or left a process or broken file.
"""
import argparse
import os
import random
import re
import signal
import statistics
import subprocess
import sys
import tempfile
import time

STOPPED = 3
AT_ONCE = 0.2  # Seconds: to print what was done.


def searches_of(program):
    text = subprocess.run([program, "searches", "list"], capture_output=True, check=True, text=True).stdout
    return [line.split()[0] for line in text.splitlines()[1:] if re.match(r"\w", line)]


def read(path):
    try:
        with open(path, "rb") as file:
            return file.read()
    except FileNotFoundError:
        return None


def group_is_alive(group):
    try:
        os.killpg(group, 0)
        return True
    except ProcessLookupError:
        return False


class Stops:
    def __init__(self, arguments):
        self.arguments = arguments
        self.random = random.Random(arguments.seed)
        self.failures = []
        self.durations = {}

    def command(self, search, model, output):
        # Measured, so that stops meet the measurement, too.
        return [self.arguments.program, "optimize", model, "-o", output, "--search", search, "--measure", "--seconds",
                str(self.arguments.seconds)]

    def start(self, search, model, output):
        return subprocess.Popen(self.command(search, model, output), stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
                                start_new_session=True)

    def duration(self, search, model, folder):
        """Of an undisturbed run, seconds; of a long measurement only the beginning."""
        if (search, model) not in self.durations:
            start = time.monotonic()
            with self.start(search, model, os.path.join(folder, "whole.onnx")) as running:
                try:
                    running.communicate(timeout=self.arguments.seconds * 2 + 10)
                except subprocess.TimeoutExpired:
                    running.kill()
                    running.communicate()
            self.durations[search, model] = time.monotonic() - start
        return self.durations[search, model]

    def stop(self, search, model, sent, folder):
        """Seconds from the signal to the end, and what was written; nothing where the run had ended before."""
        moment = self.random.uniform(0.05, self.duration(search, model, folder))
        output = os.path.join(folder, "stopped.onnx")
        with self.start(search, model, output) as running:
            try:
                running.communicate(timeout=moment)
                return None
            except subprocess.TimeoutExpired:
                pass
            running.send_signal(sent)
            begin = time.monotonic()
            try:
                _, text = running.communicate(timeout=60)
            except subprocess.TimeoutExpired:
                running.kill()
                _, text = running.communicate()
            taken = time.monotonic() - begin
        written = self.check(f"{search}, {os.path.basename(model)}, signal {sent} after {moment:.2f} s", running, taken,
                             text.decode(), read(model), read(output), read(os.path.join(folder, "stopped.unchecked.onnx")))
        for name in os.listdir(folder):
            os.remove(os.path.join(folder, name))
        return taken, written

    def check(self, where, running, taken, text, original, written, kept):
        def fail(what):
            self.failures.append(f"{where}: {what}")
        if taken > self.arguments.limit:
            fail(f"ended {taken:.2f} s after the signal")
        # A signal before the program heeds any ends it as a signal does; one after its work was done changes nothing.
        has_ended = running.returncode == 0 and taken < AT_ONCE
        if not has_ended and running.returncode not in (STOPPED, -signal.SIGINT, -signal.SIGTERM):
            fail(f"exit code {running.returncode}: {text}")
        if running.returncode < 0 and written is not None:
            fail("was killed after it had written")
        if group_is_alive(running.pid):
            fail("left a process behind")
        if written is None:
            return "nothing"
        if len(written) < 16 or (kept is not None and len(kept) < 16):
            fail("wrote a broken file")
        if kept is not None and (written != original or "graph compare" not in text):
            fail("kept a best so far beside a result, or did not say so")
        return "kept" if kept is not None else "original" if written == original else "result"

    def row(self, search, sent):
        taken, written = [], {"result": 0, "kept": 0, "original": 0, "nothing": 0}
        models = self.arguments.models
        with tempfile.TemporaryDirectory() as folder:
            for i in range(self.arguments.times):
                found = self.stop(search, models[i % len(models)], sent, folder)
                if found is not None:
                    taken.append(found[0])
                    written[found[1]] += 1
        middle, longest = (statistics.median(taken), max(taken)) if taken else (0, 0)
        print(f"{search:14}{sent.name:9}{len(taken):4}{middle:9.2f}{longest:9.2f}{written['result']:9}"
              f"{written['kept']:7}{written['original']:10}{written['nothing']:9}", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program")
    parser.add_argument("models", nargs="+")
    parser.add_argument("--searches", help="names with commas between (default: all)")
    parser.add_argument("--times", type=int, default=20)
    parser.add_argument("--seconds", type=float, default=3, help="of a search")
    parser.add_argument("--limit", type=float, default=1, help="seconds from a signal to the end")
    parser.add_argument("--seed", type=int, default=1)
    stops = Stops(parser.parse_args())
    names = stops.arguments.searches
    print("search        signal    stops   median  longest   result   kept  original  nothing")
    for search in names.split(",") if names else searches_of(stops.arguments.program):
        for sent in (signal.SIGINT, signal.SIGTERM):
            stops.row(search, sent)
    for failure in stops.failures:
        print(failure)
    sys.exit(1 if stops.failures else 0)


if __name__ == "__main__":
    main()
