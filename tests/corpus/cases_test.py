#!/usr/bin/env python3
"""cases_test.py [--only TEXT] BUILD: the models of cases.tsv, each with what is right of it.

Of each: the exit code is one of those listed, 4 and signals never are; the result is the original's bytes, or what compare.mjs
finds equal in values and form; the line of the table says which. Two at a time.
"""
import argparse
import concurrent.futures
import pathlib
import shlex
import sys
import tempfile

sys.dont_write_bytecode = True
from corpus import HERE, TOP, compare, optimise

SECONDS = 60  # For the program, which shares the machine.


def read_cases():
    cases = []
    for line in (HERE / "cases.tsv").read_text().splitlines():
        if line and not line.startswith("#"):
            model, options, exits, result, inputs, claim = line.split("\t")
            cases.append((model, shlex.split(options), {int(code) for code in exits.split(",")}, result, inputs.split(), claim))
    return cases


def differences(report, result):
    """What the comparison says against the result, in words."""
    verdict = report["verdict"]
    if result == "same" and verdict != "same bytes":
        yield "the result is not the original's bytes"
    if verdict == "wrong":
        yield report["why"]
    if verdict == "untested" and result == "equal":
        yield f"it could not be compared: {report['why']}"
    yield from (f"frozen: {sentence}" for sentence in report.get("frozen", []))
    yield from (f"lost: {sentence}" for sentence in report.get("lost", []))


def check(build, folder, case):
    model, options, exits, result, inputs, _ = case
    path, output = TOP / "tests/models" / model, pathlib.Path(tempfile.mkdtemp(dir=folder)) / "result.onnx"
    ran = optimise(build, path, output, options, SECONDS)
    if ran["exit"] not in exits:
        return [f"exit {ran['exit']}, expected {sorted(exits)}: {ran['message']}"]
    if result == "none" or not output.exists():
        return [] if result == "none" and not output.exists() or 2 in exits and ran["exit"] == 2 else \
            ["a result was written" if result == "none" else f"no result was written: {ran['message']}"]
    found = list(differences(compare(path, output, 2), result))
    if inputs and not found:
        found = list(differences(compare(path, output, 2, inputs=inputs), result))
    return found


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("--only", default="", help="cases with this in their model")
    arguments = parser.parse_args()
    cases = [case for case in read_cases() if arguments.only in case[0]]
    failed = 0
    with tempfile.TemporaryDirectory() as folder, concurrent.futures.ThreadPoolExecutor(2) as pool:
        build = arguments.build.resolve()
        for case, found in zip(cases, pool.map(lambda case: check(build, folder, case), cases)):
            failed += 1 if found else 0
            for sentence in found:
                print(f"{case[0]} {shlex.join(case[1])}\n    {case[5]}\n    {sentence}")
    print(f"{len(cases) - failed} of {len(cases)} cases are as they must be")
    return 1 if failed or not cases else 0


if __name__ == "__main__":
    sys.exit(main())
