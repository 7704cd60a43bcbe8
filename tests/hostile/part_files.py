"""Files that are none, or that cannot be written: devices, pipes, links, a full disk, a closed standard output."""

from __future__ import annotations

import atexit
import contextlib
import dataclasses
import functools
import os
import pathlib
import shutil
import socket
import subprocess
import tempfile
from collections.abc import Iterator
from typing import Callable

from cases import Case, Cases, Settings
from runs import Run, run

ROOT = pathlib.Path(__file__).resolve().parents[2]
TRACE = str(ROOT / "testdata" / "traces" / "guide_naive.xplane.pb")
TRACES = str(ROOT / "testdata" / "traces")
OTHER_TRACE = str(ROOT / "testdata" / "traces" / "guide_prefetch.xplane.pb")
ROWS = str(ROOT / "testdata" / "fleet" / "january.ndjson")
GIGABYTE = 1 << 30
# Within each other, so that Python can remove them again.
MOST_FOLDERS = 400
FULL_DISK_BYTES = 256 * 1024
NO_SPACE = "No space left on device"


# --- As traces


def make_socket(path: pathlib.Path) -> None:
    # The path of a socket may be too long for its address.
    before = os.getcwd()
    os.chdir(path.parent)
    with contextlib.closing(socket.socket(socket.AF_UNIX)) as end:
        end.bind(path.name)
    os.chdir(before)


def make_sparse(path: pathlib.Path) -> None:
    path.touch()
    os.truncate(path, 5 * GIGABYTE)


def make_link_loop(path: pathlib.Path) -> None:
    path.symlink_to("other")
    (path.parent / "other").symlink_to(path.name)


def make_folder_in_itself(path: pathlib.Path) -> None:
    path.mkdir()
    (path / "again").symlink_to(".")
    (path / "up").symlink_to("..")
    shutil.copy(TRACE, path / "a.xplane.pb")


def make_deep_folder(path: pathlib.Path) -> None:
    folder = path
    folder.mkdir()
    for _ in range(MOST_FOLDERS):
        folder /= "d"
        folder.mkdir()
    shutil.copy(TRACE, folder / "a.xplane.pb")


def make_odd_folder(path: pathlib.Path) -> None:
    """Everything that is no trace, named like one."""
    path.mkdir()
    shutil.copy(TRACE, path / "sound.xplane.pb")
    os.mkfifo(path / "pipe.xplane.pb")
    make_socket(path / "socket.xplane.pb")
    make_link_loop(path / "loop.xplane.pb")
    (path / "gone.xplane.pb").symlink_to("nothing")
    (path / "zero.xplane.pb").symlink_to("/dev/zero")
    (path / "folder.xplane.pb").mkdir()
    (path / "empty.xplane.pb").touch()
    make_sparse(path / "sparse.xplane.pb")


MADE: dict[str, Callable[[pathlib.Path], object]] = {
    "pipe": os.mkfifo,
    "socket": make_socket,
    "sparse-5-gb": make_sparse,
    "link-loop": make_link_loop,
    "link-to-nothing": lambda path: path.symlink_to("nothing"),
    "link-to-zero": lambda path: path.symlink_to("/dev/zero"),
    "link-to-itself": lambda path: path.symlink_to(path.name),
    "empty-folder": pathlib.Path.mkdir,
    "folder-in-itself": make_folder_in_itself,
    "deep-folder": make_deep_folder,
    "odd-folder": make_odd_folder,
    "empty-file": pathlib.Path.touch,
}
DEVICES = ("/dev/zero", "/dev/urandom", "/dev/null", "/dev/full", "/dev/tty", "/proc/self/mem", "/proc/self/maps",
           "/proc/self/environ", "/proc", "/proc/self/fd/0", "/dev/fd/9", "/nothing", "")  # fmt: skip


def readers(program: str, path: str) -> list[Run]:
    """Every command that reads traces, rows or baselines."""
    return [
        run(program, "diagnose", path, "--format", "json", document="json"),
        run(program, "show", "tree", path),
        run(program, "whatif", path),
        run(program, "explain", "input-bound", path),
        run(program, "compare", path, "--", TRACE),
        run(program, "compare", "--baseline", path, TRACE),
        run(program, "convert", path, "--format", "ndjson", document="ndjson"),
        run(program, "query", "SELECT count(*) FROM events", path, "--format", "json", document="json"),
        run(program, "batch", path, document="ndjson"),
        run(program, "batch", "--files-from", path, document="ndjson"),
        run(program, "fleet", path),
        run(program, "baseline", "show", path),
        run(program, "diagnose", TRACE, "--config", path),
        run(program, "query", "--sql-file", path, TRACE),
        run(program, "diagnose", "--list-runs", path),
    ]


def case_of_inputs() -> Iterator[tuple[str, Callable[[pathlib.Path], str]]]:
    for name, make_file in MADE.items():

        def made(folder: pathlib.Path, make_file: Callable[[pathlib.Path], object] = make_file) -> str:
            make_file(folder / "a.xplane.pb")
            return str(folder / "a.xplane.pb")

        yield name, made
    for device in DEVICES:
        yield device.replace("/", "-").strip("-") or "no-name", lambda _, device=device: device  # type: ignore[misc]


def inputs(program: str) -> Cases:
    for name, made in case_of_inputs():
        yield Case(f"input-{name}", lambda folder, made=made: readers(program, made(folder)))  # type: ignore[misc]
    for device in ("/dev/zero", "/dev/urandom", "/dev/null"):

        def standard_input(_: pathlib.Path, device: str = device) -> list[Run]:
            # batch and query store it first, so they go on until the disk is full or time is up.
            commands = (["diagnose"], ["convert", "--format", "ndjson"])
            return [run(program, *words, "-", stdin=device, codes=(2, 3)) for words in commands]

        yield Case(f"stdin-{device[5:]}", standard_input)


# --- As outputs


def writers(program: str, folder: pathlib.Path) -> list[Run]:
    """Every command that prints something."""
    baseline = str(folder / "baseline.json")
    subprocess.run([program, "baseline", "add", baseline, TRACE], check=True, stdout=subprocess.DEVNULL)
    commands: list[list[str]] = [
        ["diagnose", TRACE], ["show", "overview", TRACE], ["whatif", TRACE], ["compare", TRACE, "--", OTHER_TRACE],
        ["batch", TRACE], ["convert", "--format", "csv", TRACE], ["fleet", ROWS], ["query", "SELECT 1", TRACE],
        ["query", "--schema"], ["schema", "report"], ["explain", "input-bound"], ["explain", "input-bound", TRACE],
        ["rules"], ["config", "show"], ["completions", "bash"], ["man"], ["help"], ["--version"], ["--help"],
        ["baseline", "show", baseline], ["--list-runs", str(ROOT / "testdata" / "traces")],
        *(["diagnose", TRACE, "--format", name] for name in ("json", "html", "sarif", "junit", "gitlab", "github")),
    ]  # fmt: skip
    return [run(program, *words, codes=(2,)) for words in commands]


def outputs(program: str) -> Cases:
    for target in ("/dev/full", "closed"):

        def standard_output(folder: pathlib.Path, target: str = target) -> list[Run]:
            found = []
            for one in writers(program, folder):
                found.append(Run(one.arguments, codes=(2,), stdout=target))
            return found

        yield Case(f"stdout-{target.strip('/').replace('/', '-')}", standard_output)
    for name in ("pipe", "socket", "link-loop", "empty-folder"):

        def refused(folder: pathlib.Path, name: str = name) -> list[Run]:
            target = folder / "out.json"
            MADE[name](target)
            return [
                run(program, "diagnose", TRACE, "-o", str(target), codes=(2,)),
                run(program, "convert", TRACE, "-o", str(target), codes=(2,)),
                run(program, "batch", TRACE, "-o", str(target), "--resume", codes=(2,)),
                run(program, "query", "SELECT 1", TRACE, "-o", str(target), codes=(2,)),
                run(program, "query", "SELECT 1", TRACE, "--db", str(target), codes=(2,)),
                run(program, "baseline", "add", str(target), TRACE, codes=(2,)),
            ]

        yield Case(f"output-{name}", refused)


# --- A full disk


def mount(path: pathlib.Path, size: str) -> None:
    path.mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={size}", "none", str(path)], check=True)
    atexit.register(unmount, path)


def unmount(path: pathlib.Path) -> None:
    if os.path.ismount(path):
        subprocess.run(["umount", str(path)], check=True)


class FullDisk:
    """A file system with no byte left, which holds a baseline and rows."""

    def __init__(self, program: str, path: pathlib.Path) -> None:
        self.path = path
        mount(path, str(FULL_DISK_BYTES))
        for words in (
            ["baseline", "add", "old.json"],
            ["batch", "-o", "old.ndjson"],
        ):
            subprocess.run([program, *words, TRACE], cwd=path, check=False, stdout=subprocess.DEVNULL)
        with open(path / "filler", "wb", buffering=0) as filler, contextlib.suppress(OSError):
            while True:
                filler.write(bytes(4096))
        self.before = self.content()

    def content(self) -> dict[str, bytes]:
        return {file.name: file.read_bytes() for file in self.path.iterdir()}

    def runs(self, program: str) -> list[Run]:
        def at(name: str) -> str:
            return str(self.path / name)

        commands = [
            ["baseline", "add", at("old.json"), OTHER_TRACE], ["baseline", "add", at("new.json"), OTHER_TRACE],
            ["diagnose", TRACE, "-o", at("new.txt")], ["diagnose", TRACE, "--output", f"html={at('new.html')}"],
            ["convert", TRACE, "-o", at("new.trace.json")], ["convert", TRACE, "-o", at("new.ndjson.gz")],
            ["batch", TRACES, "-o", at("old.ndjson"), "--resume"], ["batch", OTHER_TRACE, "-o", at("new.ndjson")],
            ["query", "SELECT * FROM events", TRACE, "-o", at("new.rows")], ["fleet", ROWS, "-o", at("new.fleet")],
            ["show", "ops", TRACE, "-o", at("new.ops")], ["schema", "report", "-o", at("new.schema")],
        ]  # fmt: skip
        found = [run(program, *words, codes=(2,), says=NO_SPACE) for words in commands]
        # SQLite has words of its own.
        found.append(
            run(program, "query", "SELECT 1 FROM events", TRACE, "--db", at("new.q.db"), codes=(2,), says="full")
        )
        return found

    def faults(self) -> list[str]:
        """What is not as it was."""
        after = self.content()
        unmount(self.path)
        faults = [f"{name} is left over" for name in sorted(set(after) - set(self.before))]
        rows, old_rows = after.pop("old.ndjson", b""), self.before.pop("old.ndjson")
        faults += [f"{name} is not what it was" for name in self.before if after.get(name) != self.before[name]]
        # Whole rows are appended until there is no room.
        if not rows.startswith(old_rows) or not rows.endswith(b"\n"):
            faults.append("old.ndjson has lost a row, or has half of one")
        return faults


def case_of_full_disk(program: str) -> Case:
    disks: list[FullDisk] = []

    def make(folder: pathlib.Path) -> list[Run]:
        disks.append(FullDisk(program, folder / "full"))
        return disks[-1].runs(program)

    return Case("full-disk", make, look=lambda _: disks[-1].faults())


def case_of_endless_input(program: str, *words: str) -> Case:
    """Standard input that never ends, where more than a gigabyte can be kept of it."""

    def make(folder: pathlib.Path) -> list[Run]:
        disk = folder / "disk"
        mount(disk, "1300M")
        endless = run(program, *words, "-", codes=(2,), stdin="/dev/zero", says="nine tenths")
        return [dataclasses.replace(endless, environment=(("TMPDIR", str(disk)),))]

    def look(folder: pathlib.Path) -> list[str]:
        left = [f"{file.name} is left over" for file in (folder / "disk").iterdir()]
        unmount(folder / "disk")
        return left

    return Case(f"endless-input-{words[0]}", make, look=look)


@functools.cache
def may_mount() -> bool:
    with tempfile.TemporaryDirectory() as folder:
        command = ["mount", "-t", "tmpfs", "-o", "size=4k", "none", folder]
        mounted = subprocess.run(command, check=False, stderr=subprocess.DEVNULL).returncode == 0
        if mounted:
            subprocess.run(["umount", folder], check=True)
    return mounted


def left_out() -> list[str]:
    return [] if may_mount() else ["the full disk and the endless input in files: they take the right to mount a tmpfs"]


def cases(settings: Settings) -> Cases:
    yield from inputs(settings.program)
    yield from outputs(settings.program)
    if may_mount():
        yield case_of_full_disk(settings.program)
        yield case_of_endless_input(settings.program, "batch")
        yield case_of_endless_input(settings.program, "query", "SELECT 1")
