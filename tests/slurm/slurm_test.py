"""scripts/slurm-campaign under a Slurm of one node, which this test starts in a folder of its own.

It needs Debian's slurm-wlm and munge, and root, as Slurm's daemons start tasks; it is skipped where one of these is missing.
"""

import contextlib
import json
import os
import pathlib
import shutil
import socket
import subprocess
import tempfile
import time
import unittest

SOURCE = pathlib.Path(os.environ["REWRIGHT_SOURCE_DIR"])
PROGRAM = pathlib.Path(os.environ["REWRIGHT_BUILD_DIR"]) / "bin/rewright"
SCRIPT = SOURCE / "scripts/slurm-campaign"
PROCESSORS = 4

CAMPAIGN = """
[campaign]
name = "sums"
max_operators = {operators}
inputs = [
  {{ name = "x", shapes = [[2, 3], [1, 2]] }},
  {{ name = "y", shapes = [[3, 3], [2, 2]] }},
  {{ name = "z", shapes = [[3, 3], [2, 2]] }},
]
pruners = ["renaming", "common_subgraph"]
verifiers = ["evaluate", "egraph"]
axioms = ["{axioms}/elementwise.smt2", "{axioms}/linear_algebra.smt2"]

[operators]
ewadd = {{}}
ewmul = {{}}
matmul = {{}}
relu = {{}}
"""

CONFIGURATION = """
ClusterName=rewright
SlurmctldHost={host}(127.0.0.1)
SlurmctldPort={ports[0]}
SlurmdPort={ports[1]}
AuthType=auth/munge
AuthInfo=socket={folder}/munge.socket
CryptoType=crypto/munge
SlurmUser=root
SlurmdUser=root
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd.pid
SlurmctldLogFile={folder}/slurmctld.log
SlurmdLogFile={folder}/slurmd.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
SlurmdParameters=config_overrides
ReturnToService=2
MpiDefault=none
KillWait=2
NodeName={host} NodeAddr=127.0.0.1 CPUs={processors} State=UNKNOWN
PartitionName=main Nodes={host} Default=YES MaxTime=INFINITE State=UP
"""


def why_not():
    missing = [name for name in ("munged", "slurmctld", "slurmd", "sbatch") if not shutil.which(name, path=os.environ["PATH"] + ":/usr/sbin")]
    if missing:
        return f"{', '.join(missing)} missing: scripts/install-dependencies --tests installs slurm-wlm and munge"
    return "Slurm's daemons need root to start tasks" if os.geteuid() != 0 else None


def free_ports(count):
    with contextlib.ExitStack() as stack:
        sockets = [stack.enter_context(socket.socket()) for _ in range(count)]
        for each in sockets:
            each.bind(("127.0.0.1", 0))
        return [each.getsockname()[1] for each in sockets]


class Cluster:
    """One node; ends with the object's context."""

    def __init__(self):
        self.stack = contextlib.ExitStack()

    def __enter__(self):
        self.folder = pathlib.Path(self.stack.enter_context(tempfile.TemporaryDirectory()))
        for name in ("state", "spool"):
            (self.folder / name).mkdir()
        key = self.folder / "munge.key"
        key.write_bytes(os.urandom(1024))
        key.chmod(0o400)
        host = socket.gethostname().split(".")[0]
        (self.folder / "slurm.conf").write_text(
            CONFIGURATION.format(host=host, folder=self.folder, ports=free_ports(2), processors=PROCESSORS)
        )
        self.environment = {**os.environ, "SLURM_CONF": str(self.folder / "slurm.conf"), "PATH": os.environ["PATH"] + ":/usr/sbin"}
        munge = [f"--key-file={key}"] + [f"--{what}={self.folder}/munge.{end}" for what, end in
                                         (("socket", "socket"), ("pid-file", "pid"), ("log-file", "log"), ("seed-file", "seed"))]
        self.daemon("munged", "--force", "--foreground", *munge)
        self.daemon("slurmctld", "-D")
        self.daemon("slurmd", "-D")
        for _ in range(120):
            if "idle" in self.run("sinfo", "--noheader", "--format=%T").stdout:
                return self
            time.sleep(0.5)
        logs = "\n".join(file.read_text()[-2000:] for file in self.folder.glob("*.log"))
        self.__exit__()
        raise unittest.SkipTest(f"this machine lets no Slurm run; its daemons say:\n{logs}")

    def __exit__(self, *_):
        self.stack.close()

    def daemon(self, *words):
        process = subprocess.Popen(words, env=self.environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

        def end():
            process.terminate()
            try:
                process.wait(10)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()

        self.stack.callback(end)

    def run(self, *words):
        return subprocess.run(words, env=self.environment, capture_output=True, text=True)


def rules_of(store):
    listed = subprocess.run([PROGRAM, "rules", "list", store, "--json"], capture_output=True, text=True, check=True)
    return json.loads(listed.stdout.splitlines()[-1])["rules"]


@unittest.skipIf(why_not(), why_not())
class Slurm(unittest.TestCase):
    def setUp(self):
        self.cluster = self.enterContext(Cluster())
        self.folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))
        # The program, which notes who started it and with what.
        self.program = self.folder / "noted"
        self.program.write_text(
            "#!/bin/bash\n"
            f'[ "$2" != run ] || echo "$SLURM_STEP_ID $SLURM_STEP_NUM_TASKS $*" >> {self.folder}/started\n'
            f'exec {PROGRAM} "$@"\n'
        )
        self.program.chmod(0o755)
        self.cluster.environment["REWRIGHT"] = str(self.program)

    def campaign(self, operators):
        file = self.folder / "campaign.toml"
        file.write_text(CAMPAIGN.format(operators=operators, axioms=SOURCE / "axioms"))
        return file

    def submit(self, *words, wait=True):
        out = self.folder / "job.out"
        return self.cluster.run("sbatch", *(["--wait"] if wait else []), "--parsable", f"--chdir={self.folder}", f"--output={out}", *words), out

    def started(self):
        return [line.split(maxsplit=2) for line in (self.folder / "started").read_text().splitlines()]

    def test_tasks_share_the_enumeration_and_none_waits_afterwards(self):
        file, store = self.campaign(2), self.folder / "store"
        job, out = self.submit("--ntasks=3", str(SCRIPT), str(file), str(store))
        self.assertEqual(job.returncode, 0, out.read_text() if out.exists() else job.stderr)
        steps = self.started()
        first = [words for step, tasks, words in steps if step == "0"]
        self.assertEqual([tasks for step, tasks, _ in steps if step == "0"], ["3", "3", "3"])
        self.assertTrue(all("--until-enumerated" in words for words in first), first)
        self.assertEqual([(tasks, "--threads 3" in words) for step, tasks, words in steps if step != "0"], [("1", True)], steps)
        alone = self.folder / "alone"
        subprocess.run([PROGRAM, "campaign", "run", file, "--store", alone, "--threads", "1", "--quiet"], check=True, capture_output=True)
        self.assertEqual(rules_of(store), rules_of(alone))
        self.assertGreater(len(rules_of(store)), 10)

    def test_a_job_that_is_stopped_says_how_to_go_on_and_does(self):
        file, store = self.campaign(5), self.folder / "store"
        job, out = self.submit("--ntasks=2", str(SCRIPT), str(file), str(store), wait=False)
        number = job.stdout.strip()
        self.assertTrue(number.isdigit(), job.stderr)
        for _ in range(240):
            if (self.folder / "started").exists() and (store / "work").is_dir():
                break
            time.sleep(0.25)
        time.sleep(2)
        self.cluster.run("scancel", "--signal=TERM", number)
        for _ in range(240):
            if not self.cluster.run("squeue", "--noheader").stdout.strip():
                break
            time.sleep(0.5)
        self.assertIn("submit the same job again", out.read_text())
        status = subprocess.run([PROGRAM, "campaign", "status", store, "--json"], capture_output=True, text=True, check=True)
        self.assertEqual(json.loads(status.stdout)["state"], "stopped")

    def test_a_campaign_of_one_task_is_one_step(self):
        job, out = self.submit("--ntasks=1", "--cpus-per-task=2", str(SCRIPT), str(self.campaign(1)), str(self.folder / "store"))
        self.assertEqual(job.returncode, 0, out.read_text())
        self.assertEqual([(tasks, "--threads 2" in words) for _, tasks, words in self.started()], [("1", True)])


if __name__ == "__main__":
    unittest.main()
