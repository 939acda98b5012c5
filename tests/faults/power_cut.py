#!/usr/bin/env python3
"""Cuts the power while a small campaign runs, and while a file is written: after every change that change_log.cpp saw.

  power_cut.py PROGRAM CHANGE_LOG AXIOMS [--every N]

What a disk holds after a cut is anything between what was synchronised (fsync of a file for its bytes, of a folder for the
names in it) and what was written. Four of these are tried each time:
  synced    nothing but what was synchronised
  names     all names, of the bytes only those synchronised
  bytes     all bytes, of the names only those synchronised
  some      the names up to some change, of each file's writes any, and one of them torn

A campaign must then go on to the same library, byte for byte; one that had ended has it without going on. A file that is
written anew has its old bytes or its new ones, and its new ones once the program has ended. Ends with 1 if that fails once.
"""
import argparse
import copy
import os
import random
import shutil
import sys
import tempfile

from faults import Campaign, preloaded

CUTS = ("synced", "names", "bytes", "some")


class File:
    def __init__(self):
        self.bytes, self.synced, self.pending = bytearray(), bytearray(), []

    @staticmethod
    def apply(change, to):
        kind, at, data = change
        if kind == "truncate":
            del to[at:]
            to.extend(bytes(at - len(to)))
        else:
            to.extend(bytes(max(0, at - len(to))))
            to[at:at + len(data)] = data

    def change(self, kind, at, data):
        self.pending.append((kind, at, data))
        self.apply(self.pending[-1], self.bytes)

    def sync(self):
        self.synced, self.pending = bytearray(self.bytes), []

    def after(self, cut, chance):
        if cut != "some":
            return self.bytes if cut == "bytes" else self.synced
        survived = bytearray(self.synced)
        torn = chance.randrange(len(self.pending) + 1)
        for number, (kind, at, data) in enumerate(self.pending):
            if chance.random() < 0.5:
                self.apply((kind, at, data[:len(data) // 2] if number == torn else data), survived)
        return survived


class Names:
    """Of files and folders."""

    def __init__(self, files=(), folders=()):
        self.files, self.folders = dict(files), set(folders)

    def apply(self, change):
        kind, path, value = change
        if kind == "create":
            self.files[path] = value
        elif kind == "folder":
            self.folders.add(path)
        elif kind == "rename" and path in self.files:
            self.files[value] = self.files.pop(path)
        elif kind == "remove":
            self.files.pop(path, None)
            self.folders.discard(path)


class Disk:
    """A folder that was empty, as it is now and as far as it would survive."""

    def __init__(self, root):
        self.root, self.now, self.synced, self.pending = root, Names(folders=[root]), Names(folders=[root]), []

    def make(self, kind, at, path, data):
        if kind == "sync" and path in self.now.folders:
            for change in (change for change in self.pending if os.path.dirname(change[1]) == path):
                self.synced.apply(change)
            self.pending = [change for change in self.pending if os.path.dirname(change[1]) != path]
        elif kind in ("create", "folder", "rename", "remove"):
            value = data.decode() if kind == "rename" else File()
            self.pending.append((kind, path, value))
            self.now.apply(self.pending[-1])
        elif path in self.now.files:  # And not one that has been removed and is still open.
            file = self.now.files[path]
            file.sync() if kind == "sync" else file.change(kind, at, data)

    def first_difference(self):
        """A file that the folder holds otherwise than the changes say; what is written by C's streams they do not see."""
        there = (os.path.join(at, name) for at, _, names in os.walk(self.root) for name in names if name != "log.txt")
        for path in sorted({*there, *(path for path in self.now.files if not path.endswith("/log.txt"))}):
            with open(path, "rb") as file:
                if path not in self.now.files or file.read() != self.now.files[path].bytes:
                    return path
        return None

    def restore(self, cut, chance):
        """Makes the folder what it may be after the power failed now."""
        names = Names(self.synced.files, self.synced.folders)
        kept = {"synced": 0, "bytes": 0, "names": len(self.pending), "some": chance.randrange(len(self.pending) + 1)}
        for change in self.pending[:kept[cut]]:
            names.apply(change)
        shutil.rmtree(self.root, ignore_errors=True)
        os.makedirs(self.root)
        for folder in sorted(names.folders - {self.root}):
            if os.path.isdir(os.path.dirname(folder)):
                os.mkdir(folder)
        for path, file in names.files.items():
            if os.path.isdir(os.path.dirname(path)):
                with open(path, "wb") as out:
                    out.write(file.after(cut, chance))


def read_log(name):
    """Changes: kind, place in the file, path, bytes."""
    with open(name, "rb") as log:
        while line := log.readline():
            kind, at, size, path = line.decode().rstrip("\n").split(" ", 3)
            yield kind, int(at), path, log.read(int(size))


class Trial:
    def __init__(self, campaign, log_library, folder):
        self.campaign, self.root, self.log = campaign, os.path.join(folder, "disk"), os.path.join(folder, "log")
        self.settings = {"LD_PRELOAD": preloaded(log_library), "REWRIGHT_LOG": self.log, "REWRIGHT_LOG_UNDER": self.root}

    def begin(self):
        """An empty disk and an empty log."""
        shutil.rmtree(self.root, ignore_errors=True)
        os.mkdir(self.root)
        if os.path.exists(self.log):
            os.remove(self.log)

    def changes(self, disk):
        """Those of a run that has just ended: what they make of the disk is what is there."""
        changes, whole = list(read_log(self.log)), copy.deepcopy(disk)
        for change in changes:
            whole.make(*change)
        if path := whole.first_difference():
            raise RuntimeError(f"the log does not say how '{path}' came about")
        return changes

    @staticmethod
    def cuts(every, disk, changes):
        """After every so many changes and after the last: how many, which cut, whether it was the last."""
        for number, change in enumerate(changes, 1):
            disk.make(*change)
            last = number == len(changes)
            for cut in CUTS if last or number % every == 0 else ():
                disk.restore(cut, random.Random(number))
                yield number, cut, last


def cut_campaigns(trial, every):
    campaign, store = trial.campaign, os.path.join(trial.root, "store")
    trial.begin()
    if (ended := campaign.run(store, **trial.settings)).returncode != 0:
        raise RuntimeError(f"the campaign fails without a cut: {ended.stderr.decode()}")
    changes = trial.changes(Disk(trial.root))
    expected = campaign.library(store)
    for number, cut, last in trial.cuts(every, Disk(trial.root), changes):
        if last and campaign.library(store) != expected:
            yield number, cut, "it had ended, and the library is not there"
            continue
        resumed = campaign.run(store, "--resume") if os.path.exists(store) else campaign.run(store)
        if resumed.returncode != 0:
            yield number, cut, f"the resume ends with {resumed.returncode}: {resumed.stderr.decode()}"
        else:
            yield number, cut, None if campaign.library(store) == expected else "after the resume the library differs"


def cut_exports(trial, every, store):
    out = os.path.join(trial.root, "out.rules")
    trial.begin()
    disk = Disk(trial.root)
    for change in (("create", 0, out, b""), ("write", 0, out, b"old"), ("sync", 0, out, b""), ("sync", 0, trial.root, b"")):
        disk.make(*change)
    disk.restore("synced", random.Random(0))
    exported = trial.campaign.call(["certificates", "export", store, "-o", out], **trial.settings)
    with open(out, "rb") as file:
        new = file.read()
    if exported.returncode != 0 or b"certificate 1" not in new:
        raise RuntimeError(f"the export fails without a cut: {exported.stderr.decode()}")
    for number, cut, last in trial.cuts(every, disk, trial.changes(disk)):
        with open(out, "rb") as file:
            found = file.read()
        yield number, cut, None if found == new or (found == b"old" and not last) else f"{out} holds {len(found)} bytes"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program")
    parser.add_argument("change_log")
    parser.add_argument("axioms")
    parser.add_argument("--every", type=int, default=1, help="only after every N-th change (default: after all)")
    arguments = parser.parse_args()
    failures = 0
    with tempfile.TemporaryDirectory() as folder:
        trial = Trial(Campaign(arguments.program, arguments.change_log, arguments.axioms, folder), arguments.change_log, folder)
        peace = os.path.join(folder, "peace")
        trial.campaign.run(peace)
        for name, trials in (("campaign", cut_campaigns(trial, arguments.every)), ("export", cut_exports(trial, 1, peace))):
            tried, failed = dict.fromkeys(CUTS, 0), dict.fromkeys(CUTS, 0)
            last = 0
            for last, cut, why in trials:
                tried[cut] += 1
                if why:
                    failed[cut] += 1
                    print(f"{name}, {cut}, after change {last}: {why.strip()}")
            for cut in CUTS:
                print(f"{name}, {cut}: {tried[cut]} cuts in {last} changes, {failed[cut]} times not as it should be")
            failures += sum(failed.values())
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
