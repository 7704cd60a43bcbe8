"""Goes from change to change: records the program, tries what that calls for, and keeps what measured faster."""

from __future__ import annotations

import errno
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Optional

from tfdata_doctor._commands import diagnose
from tfdata_doctor._program import DoctorError
from tfdata_doctor._writes import missing_landlock, what_may_be_written
from tfdata_doctor.report import Report

from . import judge
from .budget import Budget, Choices, Spent
from .caches import check_random, check_size, epoch_steps, steps_to_fill, with_counts
from .elements import difference, is_compared
from .forecast import Forecast, as_measured
from .jobs import Answer, Elements, Program
from .judge import Verdict
from .outcome import Outcome, Trial
from .patch import patch_of
from .plan import CACHES, REORDERS, Candidate, NotTried, Planner, in_order, reason_of, remakes_iterators
from .rates import LEAST_STEPS, WARM_UP, check_run, median, rate_of, rates_of, too_little_recorded
from .runner import ProgramFailed, Runner
from .source import Refused, Source
from .workspace import Workspace, roots_of, script_of

#: Of a recording, and of the next one where those say too little.
RECORDED_STEPS = 20
LONGER_RECORDED_STEPS = 80
#: Of one program: a cache may have to be filled first, and a longer one may be needed.
_MOST_RECORDINGS = 3
#: Pairs of runs after which a change that was slower in all of them is not measured further.
_HOPELESS_PAIRS = 2
#: A gain of the medians that is worth more runs where it may still be chance.
_PROMISING = 1.05
#: With these nothing more can be measured.
_FULL = (errno.ENOSPC, errno.EDQUOT)
#: Of a search of ten minutes: two recordings, runs with an input that is ready, and three changes of six runs each.
_USUAL_RUNS = 30
#: Runs with an input that is ready; they say how much the speed of the rest of the program varies.
_READY_RUNS = 2
#: Of the speed with an input that is ready: nothing is left to gain.
_CLOSE_TO_READY = 0.95
#: A program that is so much faster than that does more where its input is ready, as when it evaluates longer.
_MOST_ABOVE_READY = 1.5

#: Runs a program: its texts, the steps before those that count, those, and seconds.
Measure = Callable[[Mapping[str, Source], int, int, float], Answer]

NOT_COMPARED_RANDOM = "not compared: random"


@dataclass
class _State:
    """The program with what was kept so far, and what is known of its runs."""

    workspace: Workspace
    skip: int = WARM_UP
    #: By whether they were shuffled.
    elements: dict[bool, list[Elements]] = field(default_factory=dict)
    is_random: Optional[bool] = None


class Search:
    """One search; `tell` is called with a line of progress."""

    def __init__(self, program: Program, choices: Choices, command: str, tell: Callable[[str], None]) -> None:
        self._program = program
        self._choices = choices
        self._tell = tell
        self._budget = Budget(choices.budget)
        self.outcome = Outcome(command)
        self._state = _State(Workspace())
        self._tried: set[Any] = set()
        self._script = script_of(program)
        self._roots = roots_of(self._script)
        self._runner = Runner(program, dict(choices.environment), choices.writes, self._roots)

    def run(self) -> Outcome:
        """The search. Raises DoctorError where the program as it is cannot be recorded."""
        self._state.workspace.read(self._script)
        if missing := missing_landlock(self._choices.writes):
            raise DoctorError(missing)
        self._tell(self._what_will_run())
        try:
            with self._runner:
                self._search()
        except KeyboardInterrupt:
            self._sum_up()
            self.outcome.stopped = "interrupted"
            self.outcome.is_interrupted = True
        self.outcome.left_out = list(self._runner.left_out)
        self.outcome.seconds = self._budget.used()
        self.outcome.patch = patch_of(self.workspace).decode("utf-8", "surrogateescape")
        return self.outcome

    def _search(self) -> None:
        """All of it. What was measured is handed over, whatever ends it; raises DoctorError where nothing was."""
        try:
            self._from_change_to_change()
        except Spent:
            self.outcome.stopped = "the budget is spent; --budget sets another"
        except (DoctorError, OSError) as error:
            self._end_with(error)
            return
        try:
            self._sum_up()
            self._measure_total(self._state)
        except (DoctorError, OSError) as error:
            self._end_with(error)

    def _end_with(self, error: Exception) -> None:
        if not self.outcome.trials:
            raise DoctorError(str(error)) from error
        self._sum_up()
        self.outcome.stopped = str(error).partition("\n")[0]

    def _what_will_run(self) -> str:
        """What the user is to know before her program runs again and again."""
        return (
            f"{self._program.name} will run up to {_USUAL_RUNS} times within {self._choices.budget / 60:.3g} min, each "
            f"time for {self._choices.steps} steps or {self._budget.longest_run():.0f} s and what comes before them. "
            f"It {what_may_be_written(self._choices.writes)}"
        )

    @property
    def workspace(self) -> Workspace:
        """The program with what was kept."""
        return self._state.workspace

    def _from_change_to_change(self) -> None:
        while True:
            report, run_directory = self._record()
            state = self._state
            self.outcome.limit = report.verdict.limit or ""
            # A share of waiting below the limit may still cost: what is measured decides, where something can be tried.
            if report.verdict.status == "healthy" and not any(change.fixes for change in report.changes):
                self._end_of_input_limit()
                return
            ready = self._measure_ready(state)
            if self._is_as_if_ready(ready) and not remakes_iterators(report):
                self._end_of_input_limit()
                return
            forecast = Forecast(run_directory, ready)
            planner = Planner(report, run_directory, self._script, self._roots, self._choices.allowed, forecast)
            kept = None
            self.outcome.not_tried = []
            for planned in in_order(planner.plan(state.workspace)):
                if isinstance(planned, NotTried):
                    self.outcome.not_tried.append(planned)
                elif planned.key not in self._tried:
                    self._tried.add(planned.key)
                    kept = self._try(state, planned)
                    self._tell_of(self.outcome.trials[-1])
                    if kept is not None:
                        break
            if kept is None:
                self._end_without_candidates(report)
                return
            self._state = kept

    def _run_seconds(self) -> float:
        return self._budget.seconds_of_run(self._runner.last_seconds)

    def _progress(self, words: str) -> None:
        self._tell(f"{words}; {max(self._budget.left(), 0) / 60:.1f} min left")

    def _record(self) -> tuple[Report, str]:
        """A recording of the program, beyond the epoch that fills its caches and long enough to judge it.

        Raises DoctorError, Spent.
        """
        steps = RECORDED_STEPS
        for _ in range(_MOST_RECORDINGS):
            kept = self.outcome.kept
            self._progress("recording the program " + ("with what was kept" if kept else "as it is"))
            state = self._state
            try:
                answer = self._runner.record(state.workspace.texts, state.skip, steps, self._run_seconds())
            except ProgramFailed as failed:
                raise DoctorError(f"{failed}\n{failed.output}".strip()) from None
            if not answer.run_directory or answer.steps - state.skip < LEAST_STEPS:
                raise DoctorError(too_little_recorded(answer.steps, state.skip))
            report = diagnose(answer.run_directory)
            skip = max(state.skip, steps_to_fill(answer.caches, report))
            is_short = report.verdict.status == "inconclusive" and steps == RECORDED_STEPS
            if skip == state.skip and not is_short:
                break
            steps = LONGER_RECORDED_STEPS if is_short else steps
            self._state = replace(state, skip=skip)
        return report, answer.run_directory

    def _end_of_input_limit(self) -> None:
        self.outcome.stopped = "the input no longer limits" if self.outcome.kept else "the input does not limit"
        self.outcome.limit = "what your program does between two batches"

    def _end_without_candidates(self, report: Report) -> None:
        """Nothing more can be tried, and the input may limit all the same."""
        is_judged = report.verdict.status in ("input_bound", "healthy")
        self.outcome.stopped = "nothing is left to try" if is_judged else f"nothing to try: {report.verdict.summary}"

    def _measure_ready(self, state: _State) -> list[float]:
        """Steps per second with an input that is ready; none where that cannot be measured. Raises Spent."""
        rates = []
        for number in range(_READY_RUNS):
            self._progress(f"  with an input that is ready: run {number + 1} of {_READY_RUNS}")
            rate = self._rate(self._runner.measure_ready, state, WARM_UP)
            if rate is None:
                return []
            rates.append(rate)
        if self.outcome.before is None:
            self._progress("  with its own input")
            self.outcome.before = self._rate(self._runner.measure, state, state.skip)
        self.outcome.ready = max(rates) if self._now() <= _MOST_ABOVE_READY * max(rates) else None
        return rates if self.outcome.ready is not None else []

    def _now(self) -> float:
        """Steps per second of the program with what was kept; 0 where that is not known."""
        kept = self.outcome.kept
        return (median(kept[-1].changed) if kept else self.outcome.before) or 0.0

    def _rate(self, measure: Measure, state: _State, skip: int) -> Optional[float]:
        """Of one run; None where it has none. Raises Spent."""
        try:
            answer = measure(state.workspace.texts, skip, self._choices.steps, self._run_seconds())
        except ProgramFailed:
            return None
        is_as_wanted = answer.is_ready or measure != self._runner.measure_ready
        return rate_of(answer, skip) if is_as_wanted else None

    def _is_as_if_ready(self, ready: Sequence[float]) -> bool:
        """Whether the program as it is now is as fast as with an input that is ready."""
        return bool(ready) and self._now() >= _CLOSE_TO_READY * max(ready)

    def _try(self, state: _State, candidate: Candidate) -> Optional[_State]:
        """Tries a change, writes down how it went, and gives the program with it where it is kept."""
        self._progress(f"{candidate.words} at {candidate.where}")
        try:
            changed = self._changed(state, candidate)
            data, changed = self._compare_data(state, changed, candidate)
            base_rates, rates = self._measure_in_turn(state, changed, candidate.words)
        except (Refused, ProgramFailed) as failed:
            self._note(candidate, None, ((), ()), str(failed), "")
            return None
        except (DoctorError, Spent):
            raise
        except Exception as error:  # of one change, which must not lose the others
            if isinstance(error, OSError) and error.errno in _FULL:
                raise
            self._note(candidate, None, ((), ()), reason_of(error), "")
            return None
        measured = self._judged(base_rates, rates)
        reason = ""
        is_same = data in ("same", "", candidate.note) or data.startswith("not compared")
        if not measured.is_faster:
            reason = _why_not(measured)
        elif not is_same and "data" not in self._choices.allowed:
            reason = f"{data}; --allow data"
        self._note(candidate, measured, (base_rates, rates), reason, data)
        return None if reason else changed

    def _note(
        self,
        candidate: Candidate,
        measured: Optional[Verdict],
        rates: tuple[Sequence[float], Sequence[float]],
        reason: str,
        data: str,
    ) -> None:
        self.outcome.trials.append(
            Trial(
                candidate.words,
                candidate.fixes,
                candidate.file,
                candidate.line,
                as_measured(candidate.predicted, rates[0]),
                measured,
                tuple(rates[0]),
                tuple(rates[1]),
                not reason,
                reason,
                candidate.where,
                data,
                candidate.told,
            )
        )

    def _tell_of(self, trial: Trial) -> None:
        gain = f"x{trial.measured.gain:.2f}, " if trial.measured else ""
        self._tell(f"  {trial.words}: {gain}{'kept' if trial.is_kept else trial.reason}")

    def _look(self, state: _State, is_shuffled: bool) -> list[Elements]:
        """The first elements of a program, of which a state remembers both kinds. Raises ProgramFailed, Spent."""
        if is_shuffled not in state.elements:
            answer = self._runner.look(state.workspace.texts, self._run_seconds(), is_shuffled=is_shuffled)
            state.elements[is_shuffled] = answer.elements
        return state.elements[is_shuffled]

    def _compare_data(self, state: _State, changed: _State, candidate: Candidate) -> tuple[str, _State]:
        """Whether the first elements are the same. Raises Refused where a cache cannot work, ProgramFailed."""
        # A cache keeps the order of the shuffles before it, which those after it make up for: it is compared without.
        is_shuffled = not CACHES.intersection(candidate.kinds)
        base, elements = self._look(state, is_shuffled), self._look(changed, is_shuffled)
        may_reorder = bool(REORDERS.intersection(candidate.kinds))
        if not is_compared(base, elements, may_reorder):
            why = "the order may change" if may_reorder else "the program iterates over no dataset itself"
            return f"not compared: {why}", changed
        differs = difference(base, elements, may_reorder)
        if not differs:
            return candidate.note or "same", changed
        if state.is_random is None:
            again = self._look(_State(state.workspace), is_shuffled)
            state.is_random = bool(difference(base, again, False))
        return (NOT_COMPARED_RANDOM if state.is_random else differs), changed

    def _changed(self, state: _State, candidate: Candidate) -> _State:
        """The program with a change. Raises Refused where a cache would not work, ProgramFailed, Spent."""
        changed = _State(state.workspace.with_edits(candidate.edits), state.skip)
        if not CACHES.intersection(candidate.kinds):
            return changed
        texts = changed.workspace.texts
        caches = self._runner.look(texts, self._run_seconds(), is_seeded=False, is_shuffled=False).caches
        check_size(caches)
        if "order" not in self._choices.allowed:
            check_random(caches)
        skip = max(state.skip, epoch_steps(caches, candidate.elements_per_step))
        self._check_epoch(skip)
        edits = with_counts(candidate.edits, caches, state.workspace.read)
        return _State(state.workspace.with_edits(edits), skip)

    def _judged(self, base: Sequence[float], changed: Sequence[float]) -> Verdict:
        return judge.judge(base, changed, self._choices.runs >= judge.ENOUGH_RUNS)

    def _check_epoch(self, skip: int) -> None:
        """Raises Refused where a run is known to be too short to read a cache. Raises Spent."""
        rates = [rate for trial in self.outcome.trials for rate in trial.base]
        seconds = skip / max(rates) if rates else 0.0
        if seconds > self._run_seconds():
            raise Refused(f"the epoch that fills the cache takes {seconds:.0f} s, longer than a run; --budget")

    def _measure_in_turn(self, state: _State, changed: _State, words: str) -> tuple[list[float], list[float]]:
        """Rates of both, run in turn. Raises ProgramFailed, Refused."""
        skip = max(state.skip, changed.skip)
        answers: tuple[list[Answer], list[Answer]] = ([], [])
        runs = self._choices.runs
        while True:
            pair = len(answers[0])
            for index, side in enumerate((state, changed)):
                self._progress(f"  {words}: run {2 * pair + index + 1} of {2 * runs}")
                answer = self._runner.measure(
                    side.workspace.texts,
                    skip,
                    self._choices.steps,
                    self._run_seconds(),
                )
                check_run(answer, skip)
                answers[index].append(answer)
            rates = rates_of(answers, skip)
            pair += 1
            if pair == _HOPELESS_PAIRS and all(one > other for one, other in zip(*rates)):
                return rates
            if pair < runs:
                continue
            measured = self._judged(*rates)
            if measured.is_faster or measured.gain < _PROMISING or runs >= judge.ENOUGH_RUNS:
                return rates
            # What is promising is measured until the test can tell smaller differences.
            runs = judge.ENOUGH_RUNS

    def _measure_total(self, state: _State) -> None:
        """The program before and after all of what was kept; of one change, as it was tried."""
        if len(self.outcome.kept) < 2:
            return
        original = _State(state.workspace.without_changes(), state.skip)
        try:
            base, changed = self._measure_in_turn(original, state, "before and after")
        except (Spent, ProgramFailed, Refused):
            return
        self.outcome.total = self._judged(base, changed)
        self.outcome.before, self.outcome.after = median(base), median(changed)

    def _sum_up(self) -> None:
        """Before and after, from the runs of each change."""
        kept = self.outcome.kept
        tried = [trial for trial in self.outcome.trials if trial.base]
        if kept:
            self.outcome.before, self.outcome.after = median(kept[0].base), median(kept[-1].changed)
            self.outcome.total = kept[0].measured if len(kept) == 1 else None
        elif tried:
            self.outcome.before = median(tried[0].base)


def _why_not(measured: Verdict) -> str:
    if measured.is_slower or measured.gain <= 1 / _PROMISING:
        return "slower"
    return "faster, but it may be chance" if measured.gain >= _PROMISING else "no faster"
