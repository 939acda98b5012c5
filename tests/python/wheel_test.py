"""The wheel: pip installs it into an empty environment without a network, and there it does what the package does."""

import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

SOURCE = pathlib.Path(os.environ["REWRIGHT_SOURCE_DIR"])
BUILD = os.environ["REWRIGHT_BUILD_DIR"]


def run(*words, cwd=None):
    """With nothing of this tree in the environment."""
    done = subprocess.run(words, cwd=cwd, capture_output=True, text=True, env={"PATH": "/usr/bin:/bin", "HOME": cwd or "/"})
    if done.returncode != 0:
        raise AssertionError(f"{words}: {done.stdout}\n{done.stderr}")
    return done.stdout


class Wheel(unittest.TestCase):
    def test_it_is_installed_and_used(self):
        with tempfile.TemporaryDirectory() as folder:
            wheel = run(str(SOURCE / "core/python/make-wheel"), BUILD, folder).splitlines()[-1]
            run(sys.executable, "-m", "venv", f"{folder}/env")
            run(f"{folder}/env/bin/pip", "install", "--no-index", "--no-deps", wheel, cwd=folder)
            said = run(f"{folder}/env/bin/python", "-c", "import rewright; print(rewright.data_folder(), rewright.__file__)", cwd=folder)
            self.assertEqual([part.startswith(os.path.realpath(folder)) for part in said.split()], [True, True], said)
            said = run(f"{folder}/env/bin/python", str(SOURCE / "core/python/examples/find_and_use.py"), f"{folder}/out", cwd=folder)
            self.assertIn("equal to the original: True", said)
            listed = run(f"{folder}/env/bin/rewright", "plugins", "list", cwd=folder)
            self.assertIn(f"{folder}/env/lib/rewright/operators/matmul.so", listed)
            self.assertNotIn(BUILD, listed)
            self.assertTrue(list(pathlib.Path(folder, "env").glob("lib/python3*/site-packages/rewright-*.dist-info/ONNXRUNTIME-LICENCE")))


if __name__ == "__main__":
    unittest.main()
