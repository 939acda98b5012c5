"""The program run on a model, and its result compared by another one: what the scripts here share."""
import json
import os
import pathlib
import subprocess
import threading
import time

HERE = pathlib.Path(__file__).resolve().parent
TOP = HERE.parent.parent


def run_limited(command, seconds, folder=TOP):
    """(exit code, seconds, MiB, stdout, stderr); the code is None at the time limit and negative for a signal."""
    start = time.monotonic()
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                          errors="replace", cwd=folder) as process:
        stopped = threading.Event()
        timer = threading.Timer(seconds, lambda: (stopped.set(), process.kill()))
        timer.start()
        texts = {}
        readers = [threading.Thread(target=lambda name=name, stream=stream: texts.update({name: stream.read()}))
                   for name, stream in (("out", process.stdout), ("err", process.stderr))]
        for reader in readers:
            reader.start()
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        timer.cancel()
        for reader in readers:
            reader.join()
    code = None if stopped.is_set() else process.returncode
    return code, time.monotonic() - start, usage.ru_maxrss / 1024, texts["out"], texts["err"]


def last_json(text):
    for line in reversed(text.splitlines()):
        if line.startswith("{"):
            try:
                return json.loads(line)
            except ValueError:
                return {}
    return {}


def optimise(build, path, output, options, limit):
    """What came of `rewright optimize`; no file `output` is left from before."""
    command = ["nice", str(build / "bin/rewright"), "optimize", str(path), "-o", str(output), "--json", "--quiet",
               *options]
    for leftover in output.parent.glob(output.name + "*"):
        leftover.unlink()
    code, seconds, mib, out, err = run_limited(command, limit)
    said = [line for line in err.splitlines() if line.strip()]
    return {"exit": code, "seconds": round(seconds, 2), "mib": round(mib), "message": said[-1] if said else "",
            "said": err, "answer": last_json(out)}


def compare(path, output, seconds, times=0, inputs=()):
    """What compare.mjs says of both."""
    command = ["nice", "node", str(HERE / "compare.mjs"), "--seconds", str(seconds), "--times", str(times),
               *(f"--input={given}" for given in inputs), str(path), str(output)]
    code, _, _, out, err = run_limited(command, 30 * (seconds + times) + 600)
    report = last_json(out)
    if not report:
        words = err.strip().splitlines()
        report = {"verdict": "untested", "why": f"the comparison ended with {code}: {words[-1] if words else 'no word'}"}
    return report


def look_up(table, name):
    """What a file of this folder says of a model; empty if nothing."""
    for line in (HERE / table).read_text().splitlines():
        if not line.startswith("#") and name.endswith(line.split("\t")[0]):
            return line.split("\t")[1]
    return ""


def count_nodes(path, output):
    """Of both, where `output` is there, and after ONNX Runtime's basic level (nodes.mjs)."""
    files = [path, output] if output.exists() else [path]
    _, _, _, out, err = run_limited(["nice", "node", str(HERE / "nodes.mjs"), *map(str, files)], 300)
    words = err.strip().splitlines()
    return last_json(out) or {"nodes": None, "basic": None, "why": words[-1] if words else "no word"}
