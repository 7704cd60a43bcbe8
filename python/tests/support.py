"""What the tests share: where the repository is, and how a script is run."""

import json
import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
TRACES = ROOT / "testdata" / "traces"
INPUT_BOUND = TRACES / "seed_example1.xplane.pb"
WITH_CACHE = TRACES / "cache_filling_tf2.21.xplane.pb"
HEALTHY = TRACES / "cache_full_tf2.21.xplane.pb"
FAKE = Path(__file__).resolve().parent / "fake"


def all_traces():
    """Every stored trace of the repository."""
    folders = [TRACES, ROOT / "testdata" / "rules", ROOT / "testdata" / "compare", ROOT / "testdata" / "outputs"]
    kinds = (".xplane.pb", ".xplane.pb.gz", ".trace.json", ".trace.json.gz")
    return sorted(path for folder in folders for path in folder.rglob("*") if path.name.endswith(kinds))


def python(*arguments, path=(), seconds=240, **environment):
    """Runs this Python with the package and, before it, the folders of `path`."""
    folders = [*map(str, path), str(ROOT / "python"), os.environ.get("PYTHONPATH", "")]
    return subprocess.run(
        [sys.executable, *map(str, arguments)],
        env={
            **os.environ,
            "PYTHONPATH": os.pathsep.join(filter(None, folders)),
            "TFDATA_DOCTOR_HISTORY": "0",
            **environment,
        },
        capture_output=True,
        encoding="utf-8",
        check=False,
        timeout=seconds,
    )


def recorded(code, trace=INPUT_BOUND):
    """What a piece of code prints as JSON in its last line, in a process of its own with the TensorFlow of fake/."""
    done = python("-W", "always", "-c", code, path=[FAKE], FAKE_TRACE=str(trace))
    if done.returncode != 0:
        raise AssertionError(done.stderr)
    return json.loads(done.stdout.splitlines()[-1]), done.stderr
