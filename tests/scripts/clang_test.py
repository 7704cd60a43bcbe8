"""Whether clang, which the presets for fuzzing and clang-tidy need, takes the sources that g++ compiles.

Usage: clang_test.py BUILD

Looks at the syntax of every source in the compile commands of BUILD. Ends with 77 where there is no clang.
"""

import concurrent.futures
import json
import os
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

SKIPPED = 77
CLANG = next(filter(shutil.which, ("clang++-14", "clang++")), None)


def faults_of(source: dict) -> str:
    """What clang has against it; empty if nothing."""
    arguments = shlex.split(source["command"])
    while arguments[0].rpartition("/")[2] not in ("c++", "g++"):  # a launcher
        arguments.pop(0)
    output = arguments.index("-o")
    # Warnings of clang are the business of preset tidy.
    command = [CLANG, "-fsyntax-only", "-w", *arguments[1:output], *arguments[output + 2 :]]
    done = subprocess.run(command, cwd=source["directory"], capture_output=True, text=True, check=False)
    return done.stderr if done.returncode != 0 else ""


def main() -> int:
    if CLANG is None:
        print("skipped: there is no clang (scripts/install-packages check)")
        return SKIPPED
    sources = json.loads((Path(sys.argv[1]) / "compile_commands.json").read_text())
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        faults = [fault for fault in pool.map(faults_of, sources) if fault]
    print("\n".join(faults), f"{len(sources)} sources, {len(faults)} that clang does not take", sep="\n")
    return 1 if faults or not sources else 0


if __name__ == "__main__":
    sys.exit(main())
