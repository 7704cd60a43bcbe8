"""How many files an addition costs, as CONTRIBUTING.md says: each patch of tests/additions is one, written by hand.

A patch must fit the sources as they are, and change as many files as the table says. What follows from its files (help,
docs, classes of the Python package, expected outputs) is made by scripts and is not in it.
"""

import re
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PATCHES = sorted((ROOT / "tests/additions").glob("*.patch"))
ROW = re.compile(r"^\| [^|]+ \| `(\w+)\.patch` \| (\d+) \|", re.MULTILINE)


def touched_files(patch: Path) -> list[str]:
    return re.findall(r"^\+\+\+ b/(.+)$", patch.read_text(), re.MULTILINE)


def counts_in_page() -> dict[str, int]:
    return {name: int(count) for name, count in ROW.findall((ROOT / "CONTRIBUTING.md").read_text())}


class Additions(unittest.TestCase):
    def test_the_page_says_how_many_files_each_touches(self) -> None:
        touched = {patch.stem: len(touched_files(patch)) for patch in PATCHES}
        self.assertGreaterEqual(len(touched), 4)
        self.assertEqual(counts_in_page(), touched)

    def test_each_fits_the_sources(self) -> None:
        for patch in PATCHES:
            with self.subTest(patch.name), tempfile.TemporaryDirectory() as folder:
                for name in touched_files(patch):
                    copy = Path(folder, name)
                    copy.parent.mkdir(parents=True, exist_ok=True)
                    shutil.copyfile(ROOT / name, copy)
                command = ["git", "apply", "--check", str(patch)]
                applied = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
                self.assertEqual(applied.returncode, 0, applied.stderr)


if __name__ == "__main__":
    if shutil.which("git") is None:
        print("skipped: there is no git to apply patches with")
        sys.exit(77)
    unittest.main()
