#!/usr/bin/env python3
"""Seeds one small fault after the other in the sources, builds, and runs the tests of that room: do they notice?

  mutate.py BUILD [--mutants N] [--seed S] [--least SCORE] [FILE...]

BUILD is a build folder of this tree (tests included); files are relative to the tree, by default those of ROOMS. Of all
faults that can be seeded in a file N are taken by chance, the same ones for one seed. A fault is noticed when a test
fails, crashes, takes more than 4 GiB or three times as much processor time as usual; one that does not compile does not count. Sources are put back
however it ends. Exit code 1 if less than SCORE (per cent) are noticed. The faults are those that DeMillo, Lipton and
Sayward's programme and its followers found to be near to what people do wrong: comparisons, connectives, constants,
conditions and statements left out.
"""
import argparse
import math
import os
import pathlib
import random
import re
import resource
import signal
import subprocess
import sys

TREE = pathlib.Path(__file__).resolve().parents[2]
# Sources, the programs that test them, in turn, and which of their tests are quick enough to run for each fault.
OPTIMIZE = ("rewright_test_optimize", "-*NetworkProgram*:*InRuntime*:MeasuringProgram*:OptimizeProgram*")
ROOMS = {
    "core/verify": (("rewright_test_verify", "*"),),
    "core/egraph": (("rewright_test_egraph", "*"), ("rewright_test_verify", "*")),
    "core/enumerate": (("rewright_test_enumerate", "-*Four*:*TasosGenerator*"),),
    "core/optimize": (OPTIMIZE,),
    "core/axiom": (("rewright_test_axiom", "*"),),
    "core/rule": (("rewright_test_rule", "*"), OPTIMIZE),
    "core/rewrite": (("rewright_test_rewrite", "*"), OPTIMIZE),
}
DEFAULT = (
    "core/verify/certificate.cpp", "core/verify/certificate_text.cpp", "core/verify/checked_terms.cpp",
    "core/verify/statements.h", "core/verify/portfolio.cpp", "core/optimize/class_matcher.cpp",
    "core/optimize/search_space.cpp", "core/optimize/local_costs.cpp", "core/enumerate/walk.cpp",
    "core/enumerate/join.cpp", "core/enumerate/superseded.cpp", "core/enumerate/pairs.cpp",
)
# What stands in the source, and what is put in its place.
EXCHANGED = (
    (" < ", " <= "), (" <= ", " < "), (" > ", " >= "), (" >= ", " > "), (" == ", " != "), (" != ", " == "),
    (" && ", " || "), (" || ", " && "), (" + ", " - "), (" - ", " + "), (" + 1", ""), (" - 1", ""),
    ("return true;", "return false;"), ("return false;", "return true;"), ("continue;", "break;"),
)
CONDITION = re.compile(r"\bif \((?!const|auto|!\()(.+)\) (return|continue|break)\b")
STATEMENT = re.compile(r"^\s+(?!return|const|auto|static|using|break|continue|case|REWRIGHT)[\w.>\[\]-]+(\(.*\)| [-+|&^]?= .*);$")


class Fault:
    def __init__(self, file, line, before, after):
        self.file, self.line, self.before, self.after = file, line, before, after

    def __str__(self):
        return f"{self.file}:{self.line + 1}: {self.before.strip()}   ->   {self.after.strip()}"


def code_of(line):
    """The line without its comment and its texts, which are blanked."""
    line = re.sub(r'"(\\.|[^"\\])*"', lambda text: '"' + "_" * (len(text.group()) - 2) + '"', line)
    return line.split("//")[0].rstrip()


def faults_of(file):
    for number, line in enumerate((TREE / file).read_text(encoding="ascii").splitlines()):
        code = code_of(line)
        if code.startswith(("#", "template", "using")) or "static_assert" in code:
            continue
        for old, new in EXCHANGED:
            for at in re.finditer(re.escape(old), code):
                yield Fault(file, number, line, line[: at.start()] + new + line[at.end():])
        condition = CONDITION.search(code)
        if condition:
            begin, end = condition.span(1)
            yield Fault(file, number, line, f"{line[:begin]}!({line[begin:end]}){line[end:]}")
            yield Fault(file, number, line, f"{line[:begin]}false && ({line[begin:end]}){line[end:]}")
        if STATEMENT.match(code):
            yield Fault(file, number, line, "  ;")


class Bench:
    def __init__(self, build):
        self.build = build
        self.usual = {}

    def make(self, *targets):
        done = subprocess.run(["ninja", "-C", self.build, *targets], capture_output=True, check=False,
                              env=dict(os.environ, CCACHE_DISABLE="1"))
        return done.returncode == 0

    def passes(self, program, chosen, seconds=None):
        """Whether these tests do, within so much processor time each process (ten times as much by the clock)."""
        def limits():
            resource.setrlimit(resource.RLIMIT_AS, (4 << 30, 4 << 30))
            if seconds:
                resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds))

        call = [f"{self.build}/tests/bin/{program}", f"--gtest_filter={chosen}", "--gtest_fail_fast"]
        with subprocess.Popen(call, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True,
                              preexec_fn=limits) as run:
            try:
                return run.wait(10 * seconds if seconds else None) == 0
            except subprocess.TimeoutExpired:
                os.killpg(run.pid, signal.SIGKILL)
                return False

    def prepare(self, room):
        """How long the tests take when nothing is wrong; a sentence if something is."""
        programs = [program for program, _ in ROOMS[room]]
        if all(program in self.usual for program in programs):
            return
        if not self.make("lib/librewright.so", *programs, "workbench"):
            sys.exit(f"mutate: {self.build} cannot be built as it is")
        for program, chosen in ROOMS[room]:
            before = resource.getrusage(resource.RUSAGE_CHILDREN)
            if not self.passes(program, chosen):
                sys.exit(f"mutate: {program} fails without a fault")
            after = resource.getrusage(resource.RUSAGE_CHILDREN)
            self.usual[program] = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime

    def answer(self, fault, room):
        path = TREE / fault.file
        original = path.read_text(encoding="ascii")
        lines = original.split("\n")
        lines[fault.line] = fault.after
        try:
            path.write_text("\n".join(lines), encoding="ascii")
            programs = [program for program, _ in ROOMS[room]]
            if not self.make("lib/librewright.so", *(programs if fault.file.endswith(".h") else [])):
                return "not built"
            passed = all(self.passes(program, chosen, math.ceil(10 + 3 * self.usual[program]))
                         for program, chosen in ROOMS[room])
            return "survives" if passed else "noticed"
        finally:
            path.write_text(original, encoding="ascii")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build")
    parser.add_argument("files", nargs="*", default=DEFAULT)
    parser.add_argument("--mutants", type=int, default=10, help="faults a file (default: 10)")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--least", type=float, default=0, help="per cent that must be noticed (default: 0)")
    arguments = parser.parse_intermixed_args()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(3))
    bench = Bench(os.path.abspath(arguments.build))
    total = {"noticed": 0, "survives": 0, "not built": 0}
    for file in arguments.files:
        room = str(pathlib.PurePath(file).parent)
        if room not in ROOMS or not (TREE / file).is_file():
            sys.exit(f"mutate: {file}: no source of {', '.join(ROOMS)}")
        bench.prepare(room)
        everything = list(faults_of(file))
        chosen = random.Random(f"{arguments.seed} {file}").sample(everything, min(arguments.mutants, len(everything)))
        count = dict.fromkeys(total, 0)
        for fault in sorted(chosen, key=lambda each: each.line):
            answer = bench.answer(fault, room)
            count[answer] += 1
            if answer == "survives":
                print(f"survives  {fault}", flush=True)
        for answer, times in count.items():
            total[answer] += times
        print(f"{file}: {count['noticed']} of {count['noticed'] + count['survives']} noticed; {len(everything)} can be seeded",
              flush=True)
    bench.make("lib/librewright.so")
    tried = total["noticed"] + total["survives"]
    score = 100 * total["noticed"] / tried if tried else 100
    print(f"all: {total['noticed']} of {tried} noticed, {score:.0f} %; {total['not built']} more did not compile")
    return 0 if score >= arguments.least else 1


if __name__ == "__main__":
    sys.exit(main())
