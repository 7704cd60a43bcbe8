"""fix() as a function."""

from __future__ import annotations

import os
import shlex
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Optional

from tfdata_doctor._recorder import LogDirectory
from tfdata_doctor._writes import named_places

from . import outcome as outcomes
from .budget import Choices
from .html import cell
from .jobs import Program
from .pages import text
from .patch import apply as write_files
from .search import Search


class Outcome(outcomes.Outcome):
    """The whole search, which prints as the command does."""

    def __str__(self) -> str:
        return text(self)

    def _repr_html_(self) -> str:
        return cell(self)


def fix(
    script: LogDirectory,
    arguments: Sequence[str] = (),
    *,
    apply: bool = False,
    budget: float = 600.0,
    runs: int = 3,
    steps: int = 60,
    allow: Iterable[str] = (),
    environment: Optional[Mapping[str, str]] = None,
    is_module: bool = False,
    writes: Iterable[LogDirectory] = (),
    on_progress: Callable[[str], None] = lambda _: None,
) -> Outcome:
    """Tries the changes that a recording of a script calls for, and keeps those that measured faster.

    The script runs in processes of its own, many times, in `budget` seconds. `runs` of each side judge a change, by
    `steps` steps each; `allow` may have "order", "threads", "buffers" and "data"; `environment` are more variables of
    the script. `is_module`: `script` is the name of a module. The files stay as they are unless `apply`;
    `Outcome.patch` is what `git apply` takes. The script cannot write but to a temporary folder and to the files and
    folders of `writes`, and what saves models and logs does nothing; uploads are not held back. `on_progress` is called
    with lines for people. Raises DoctorError where the script as it is cannot be recorded or would write elsewhere, or
    where a file is no longer the text that was measured, and ValueError where a path of `writes` does not exist.
    """
    program = Program(os.fspath(script), tuple(arguments), is_module)
    named = tuple(named_places([os.fspath(path) for path in writes]))
    choices = Choices(steps, runs, budget, frozenset(allow), tuple((environment or {}).items()), named)
    search = Search(program, choices, shlex.join([program.name, *arguments]), on_progress)
    outcome = Outcome(**vars(search.run()))
    if outcome.is_interrupted:
        raise KeyboardInterrupt
    if apply and outcome.kept:
        outcome.applied = write_files(search.workspace)
    return outcome
