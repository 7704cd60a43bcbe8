"""What scripts/mutants changes, without building anything."""

import importlib.machinery
import importlib.util
import sys
import unittest
from pathlib import Path

SCRIPT = Path(__file__).resolve().parents[2] / "scripts" / "mutants"

loader = importlib.machinery.SourceFileLoader("mutants", str(SCRIPT))
mutants = importlib.util.module_from_spec(importlib.util.spec_from_loader("mutants", loader))
sys.modules["mutants"] = mutants
loader.exec_module(mutants)


def changed(line: str) -> list[str]:
    return [mutant.after for mutant in mutants.mutants_of("a.cpp", line)]


class Mutants(unittest.TestCase):
    def test_each_change_of_a_line_is_a_mutant(self) -> None:
        self.assertEqual(
            changed("  if (calls < most && calls == 0) return first + 1;"),
            [
                "  if (calls <= most && calls == 0) return first + 1;",
                "  if (calls < most && calls != 0) return first + 1;",
                "  if (calls < most && calls == 0) return first - 1;",
                "  if (calls < most || calls == 0) return first + 1;",
                "  if (calls < most && calls == 0) return first + 2;",
                "  if (calls < most && calls == 1) return first + 1;",
                "  if (!(calls < most && calls == 0)) return first + 1;",
            ],
        )

    def test_a_statement_can_be_gone(self) -> None:
        self.assertEqual(changed("    calls.push_back(call);"), ["    ;"])
        self.assertEqual(changed("    return first(call);"), [])

    def test_what_is_no_code_stays(self) -> None:
        for line in ("  // a < b", "#include <a == b>", "template <bool is_small = true>", "  out << a << b;"):
            with self.subTest(line):
                self.assertEqual(changed(line), [])

    def test_a_mutant_says_where_it_is(self) -> None:
        mutant = mutants.mutants_of("lib/a.cpp", "int a;\n  sum += span;")[0]
        self.assertEqual(str(mutant), "lib/a.cpp:2\n    - sum += span;\n    + sum -= span;")


if __name__ == "__main__":
    unittest.main()
