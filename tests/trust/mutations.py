#!/usr/bin/env python3
"""mutations.py [--count N] BUILD: sources of rules, each changed in one place, and what the program takes of them.

    tests/trust/mutations.py --count 300 build/release      # 20 seconds

A file of rules with proofs, a store and the axiom files under both are copied and changed by one token, line, row or file,
with a fixed seed. `rules export` says which rules are trusted then, as `optimize` would; `certificates check` must say the same of each source,
and every fifth is given to `optimize` as well, to Python where the package is built and, where an axiom was changed, to a campaign and
`rules import`. A rule that was not there before is evaluated on numbers by `rules import --verifiers evaluate`, which rests on no axiom.

Exit code 1 if a false rule was trusted, if a change of a kind that no proof outlives was not refused (MUST_REFUSE), if a source was refused without its file and the line, row or axiom, or if the ways
in do not say the same.
"""
import argparse
import collections
import json
import os
import pathlib
import random
import re
import shutil
import sqlite3
import subprocess
import sys
import tempfile

TOP = pathlib.Path(__file__).resolve().parent.parent.parent
AXIOMS = ["elementwise", "linear_algebra", "layout", "convolution"]
TOKEN = re.compile(r"[A-Za-z_][\w.-]*|-?\d+|=>|[<>]")
MODEL = TOP / "tests/models/faults/A01_matmul_add_clip.onnx"
CAMPAIGN = """[campaign]
name = "mutated"
max_operators = 1
inputs = [{ name = "x", shapes = [[2, 3], [3, 2]] }]
pruners = ["renaming"]
verifiers = ["evaluate", "egraph"]
axioms = ["%s"]
[operators]
relu = {}
[budget]
work = 20000
"""


class Trial:
    def __init__(self, build, folder):
        self.python = build / "python"
        self.program, self.folder, self.random = build / "bin/rewright", folder, random.Random(1)
        self.environment = {**os.environ, "XDG_CACHE_HOME": str(folder / "cache")}
        self.base = folder / "base"
        self.base.mkdir()
        for name in AXIOMS:
            shutil.copy(TOP / f"axioms/{name}.smt2", self.base)
        text = (TOP / "experiments/library/small.rules").read_text().replace("../../axioms/", "")
        (self.base / "mine.rules").write_text(text)
        rules = [line[5:] for line in text.splitlines() if line.startswith("rule ")]
        (self.base / "rules.txt").write_text("\n".join(rules) + "\n")
        axioms = [str(self.base / f"{name}.smt2") for name in AXIOMS]
        made = self.run("rules", "import", "--format", "text", self.base / "rules.txt", "--store", self.base / "store", "--axioms", *axioms)
        if not (self.base / "store/store.sqlite").exists():
            sys.exit(f"the store was not made: {made.stderr}")
        self.known = {text for source in ("mine.rules", "store") for text in self.trusted(self.base / source)[0]}

    def run(self, *arguments):
        return subprocess.run([str(self.program), *map(str, arguments)], capture_output=True, text=True, timeout=120,
                              env=self.environment, cwd=self.folder)

    def trusted(self, source):
        """Texts of the rules that are proved; None and the sentence where the source is refused."""
        ran = self.run("rules", "export", "--format", "json", source)
        if ran.returncode != 0:
            return None, ran.stderr.strip()
        return [rule["text"] for rule in json.loads(ran.stdout)["rules"] if rule["trust"] == "certificate"], ""

    # --- one change ------------------------------------------------------------------------------------------------

    def another(self, token, text):
        if token in "<>":
            return "<" if token == ">" else ">"
        if re.fullmatch(r"-?\d+", token):
            return str(int(token) + self.random.choice([-2, -1, 1, 2]))
        others = sorted({other for other in TOKEN.findall(text) if other[0].isalpha() and other != token})
        return self.random.choice(others) if others else token + "x"

    def change_token(self, text):
        places = list(TOKEN.finditer(text))
        place = self.random.choice(places)
        return text[:place.start()] + self.another(place.group(), text) + text[place.end():]

    def change_line(self, path, starts):
        lines = path.read_text().splitlines()
        at = self.random.choice([i for i, line in enumerate(lines) if line.startswith(starts)])
        if self.random.random() < 0.15:
            del lines[at]
        else:
            word, rest = lines[at].split(" ", 1)
            lines[at] = word + " " + self.change_token(rest)
        path.write_text("\n".join(lines) + "\n")

    def change_row(self, store, column):
        database = sqlite3.connect(store / "store.sqlite")
        rows = database.execute(f"select rowid, {column} from rules where trust = 'certificate'").fetchall()
        row, text = self.random.choice(rows)
        if column == "id":
            at = self.random.randrange(32)
            text = text[:at] + ("0" if text[at] != "0" else "1") + text[at + 1:]
        elif column == "trust":  # A solver's word that none has given.
            text = "solver"
            database.execute("update rules set certificate = '' where rowid = ?", (row,))
        else:
            text = self.change_token(text)
        database.execute("pragma foreign_keys = off")
        database.execute(f"update rules set {column} = ? where rowid = ?", (text, row))
        database.commit()
        database.close()

    def change_axiom(self, folder):
        path = folder / f"{self.random.choice(AXIOMS)}.smt2"
        text = path.read_text()
        forms = [(m.start(), m.end()) for m in re.finditer(r"\(assert.*?(?=\n\(|\Z)", text, re.S)]
        begin, end = self.random.choice(forms)
        path.write_text(text[:begin] + self.change_token(text[begin:end]) + text[end:])
        return path

    # --- one trial -------------------------------------------------------------------------------------------------

    KINDS = ["rule", "condition", "family", "certificate", "certificate", "digest", "row text", "row id", "row certificate", "row trust",
             "axiom", "axiom of a store", "axiom file gone", "list of axioms"]
    # A change of these kinds leaves nothing that could be believed: what is taken after it was not judged.
    MUST_REFUSE = {"certificate", "digest", "row text", "row id", "row certificate", "row trust", "axiom file gone", "list of axioms"}

    def mutate(self, kind, folder):
        """The source to read, and the axiom file that was changed, if one was."""
        rules, store = folder / "mine.rules", folder / "store"
        if kind in ("rule", "condition", "family", "certificate", "digest"):
            starts = {"rule": "rule ", "condition": "rule ", "family": "any ", "certificate": (". ", "0 ", "1 "), "digest": ". "}[kind]
            if kind == "condition":
                text = rules.read_text()
                places = list(re.finditer(r" where .*", text))
                place = self.random.choice(places)
                rules.write_text(text[:place.start()] + ("" if self.random.random() < 0.5 else self.change_token(place.group())) + text[place.end():])
            elif kind == "digest":
                text = rules.read_text()
                place = self.random.choice(list(re.finditer(r"@([0-9a-f]{8})", text)))
                rules.write_text(text[:place.start(1)] + f"{int(place.group(1), 16) ^ 1:08x}" + text[place.end(1):])
            else:
                self.change_line(rules, starts)
            return rules, None
        if kind.startswith("row"):
            self.change_row(store, kind.split()[1])
            return store, None
        if kind == "axiom file gone":
            (folder / f"{self.random.choice(AXIOMS)}.smt2").unlink()
            return self.random.choice([rules, store]), None
        if kind == "list of axioms":
            path = self.random.choice([rules, store / "axioms.txt"])
            lines = path.read_text().splitlines()
            del lines[self.random.randrange(len(AXIOMS))]
            path.write_text("\n".join(lines) + "\n")
            return rules if path == rules else store, None
        changed = self.change_axiom(folder)
        return (store if kind == "axiom of a store" else rules), changed

    def fresh(self, number):
        folder = self.folder / f"trial-{number}"
        shutil.copytree(self.base, folder)
        paths = folder / "store/axioms.txt"
        paths.write_text(paths.read_text().replace(str(self.base), str(folder)))
        return folder

    def other_ways(self, number, kind, source, refused, changed):
        """Sentences where another way in does not say the same."""
        checked = self.run("certificates", "check", source)
        if kind != "row trust" and refused != (checked.returncode != 0):  # It counts rules without a certificate, and checks none.
            yield f"certificates check ends with {checked.returncode}, rules export {'refuses' if refused else 'takes'} it: {source}"
        if number % 5 != 0:
            return
        if self.python.exists():
            read = subprocess.run([sys.executable, "-c", f"import rewright; rewright.load_rules({str(source)!r})"], capture_output=True, text=True,
                                  timeout=120, env={**self.environment, "PYTHONPATH": str(self.python)}, cwd=self.folder)
            if refused != (read.returncode != 0):
                yield f"Python {'takes' if refused else 'refuses'} what rules export does not: {source}: {read.stderr}"
        ran = self.run("optimize", MODEL, "-o", self.folder / "out.onnx", "--rules", source, "--no-measure", "--no-record")
        if refused and ran.returncode == 0:
            yield f"optimize takes what rules export refuses: {source}"
        if ran.returncode not in (0, 1, 2):
            yield f"optimize ends with {ran.returncode}: {ran.stderr}"
        if changed is not None and self.run("axioms", "check", "--quick", changed).returncode != 0:
            campaign = source.parent / "campaign.toml"
            campaign.write_text(CAMPAIGN % changed.name)
            if self.run("campaign", "run", campaign, "--store", source.parent / "campaign.store", "--quiet").returncode == 0:
                yield f"a campaign takes a false axiom: {changed}"
            if self.run("rules", "import", "--format", "text", self.base / "rules.txt", "--store", source.parent / "imported.store", "--axioms",
                        changed).returncode == 0:
                yield f"rules import takes a false axiom: {changed}"
            if self.run("optimize", MODEL, "-o", self.folder / "out.onnx", "--rules", changed, "--no-measure").returncode not in (0, 2):
                yield f"optimize ends oddly with {changed}"

    def false_ones(self, texts):
        """Those that evaluation refutes."""
        if not texts:
            return []
        path = self.folder / "accepted.txt"
        path.write_text("\n".join(texts) + "\n")
        ran = self.run("rules", "import", "--format", "text", path, "--store", self.folder / "accepted.store", "--verifiers", "evaluate", "--json")
        said = json.loads(ran.stdout)
        if "rules" not in said:
            sys.exit(f"the rules that were accepted cannot be evaluated: {said}\n" + "\n".join(texts))
        for rule in said["rules"]:
            if rule["verdict"] != "refuted" and "evaluate: equal at" not in rule["reason"]:
                sys.exit(f"a rule that was accepted is not evaluated: {rule}")
        return [rule["rule"] for rule in said["rules"] if rule["verdict"] == "refuted"]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("--count", type=int, default=300)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        trial = Trial(arguments.build.resolve(), pathlib.Path(folder))
        counts, broken, accepted = collections.Counter(), [], {}
        for number in range(arguments.count):
            kind = Trial.KINDS[number % len(Trial.KINDS)]
            place = trial.fresh(number)
            source, changed = trial.mutate(kind, place)
            texts, sentence = trial.trusted(source)
            refused = texts is None
            new = [] if refused else [text for text in texts if text not in trial.known]
            counts[kind, "refused" if refused else "another rule, proved" if new else "no rule changed"] += 1
            accepted.update((text, f"{kind}, trial {number}") for text in new)
            if refused and not (place.name in sentence and re.search(r":\d+|rule [0-9a-f]{32}|axiom|axioms.txt", sentence)):
                broken.append(f"{kind}, trial {number}: refused without the file and the place: {sentence}")
            if not refused and kind in Trial.MUST_REFUSE:
                broken.append(f"{kind}, trial {number}: taken, though it cannot be proved any more")
            broken += trial.other_ways(number, kind, source, refused, changed)
            shutil.rmtree(place)
        broken += [f"FALSE and trusted ({accepted[text]}): {text}" for text in trial.false_ones(list(accepted))]
    print("| what was changed | refused | another rule, proved | no rule changed |\n|---|---|---|---|")
    for kind in dict.fromkeys(Trial.KINDS):
        print(f"| {kind} | " + " | ".join(str(counts[kind, said]) for said in ("refused", "another rule, proved", "no rule changed")) + " |")
    print("\n".join(broken) or f"{arguments.count} changes, {len(accepted)} other rules proved, none false")
    return 1 if broken else 0


if __name__ == "__main__":
    sys.exit(main())
