"""The models at hand, by source: what `run` and `simplify` share."""
import hashlib
import pathlib
import sys

from corpus import TOP


def sources(arguments):
    folders = {"npm": arguments.fetched / "models", "onnx": pathlib.Path("/usr/share/libonnx-testdata/data"),
               "experiments": arguments.build / "models", "cases": TOP / "tests/models"}
    for name in arguments.sources.split(","):
        if name not in folders:
            sys.exit(f"--sources: '{name}' is none of {', '.join(folders)}")
        if not folders[name].is_dir():
            print(f"there is no folder '{folders[name]}', so source {name} is left out", file=sys.stderr)
        for path in sorted(folders[name].rglob("*.onnx")):
            yield name, folders[name], path


def models(arguments):
    """Each content once: (source, name, path, hash)."""
    seen = set()
    for source, folder, path in sources(arguments):
        name = str(path.relative_to(folder))
        if arguments.only not in name:
            continue
        with path.open("rb") as stream:
            digest = hashlib.file_digest(stream, "sha256").hexdigest()
        if digest not in seen:
            seen.add(digest)
            yield source, name, path, digest
