"""No modules of the packages import each other, not even through others or while they run."""

from __future__ import annotations

import ast
import pathlib
import unittest

FOLDER = pathlib.Path(__file__).resolve().parents[1]
PACKAGES = ("tfdata_doctor", "tfdata_doctor_fix")


def imported(node: ast.AST, package: str, modules: frozenset[str]) -> set[str]:
    """The modules that a statement imports; a name that is not a module belongs to its package."""
    if isinstance(node, ast.Import):
        return {alias.name for alias in node.names} & modules
    if not isinstance(node, ast.ImportFrom):
        return set()
    origin = ".".join(part for part in (package if node.level else "", node.module) if part)
    found = {f"{origin}.{alias.name}" for alias in node.names} & modules
    return found or {origin} & modules


def imports(folder: pathlib.Path = FOLDER) -> dict[str, set[str]]:
    """Of each module, wherever in it the import stands."""
    files = {f"{package}.{file.stem}": file for package in PACKAGES for file in (folder / package).glob("*.py")}
    modules = frozenset(files)
    return {
        module: set().union(
            *(imported(node, module.partition(".")[0], modules) for node in ast.walk(ast.parse(file.read_text())))
        )
        for module, file in files.items()
    }


def circle(graph: dict[str, set[str]]) -> list[str]:
    """The modules of one circle in turn; empty if there is none."""
    done: set[str] = set()

    def follow(module: str, path: list[str]) -> list[str]:
        if module in path:
            return [*path[path.index(module) :], module]
        if module in done:
            return []
        for other in sorted(graph[module]):
            if found := follow(other, [*path, module]):
                return found
        done.add(module)
        return []

    return next((found for module in sorted(graph) if (found := follow(module, []))), [])


class ImportTest(unittest.TestCase):
    def test_the_packages_have_no_circle(self) -> None:
        graph = imports()
        self.assertIn("tfdata_doctor._loops", graph["tfdata_doctor._hooks"])
        self.assertEqual(circle(graph), [])

    def test_a_circle_through_a_third_module_is_found(self) -> None:
        self.assertEqual(circle({"a": {"b"}, "b": {"c"}, "c": {"b"}}), ["b", "c", "b"])
        self.assertEqual(circle({"a": {"b", "c"}, "b": {"c"}, "c": set()}), [])


if __name__ == "__main__":
    unittest.main()
