"""The documents of the program as dataclasses: what their keys mean, docs/report.md and docs/schemas say.

Times are in microseconds, shares between 0 and 1.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Optional, TypeVar, Union

from ._json import from_json
from ._page import report_page, text_page

D = TypeVar("D", bound="Document")


@dataclass(frozen=True)
class SourceLine:
    """A line of the user's code."""

    file: str
    line: int
    code: Optional[str] = None


@dataclass(frozen=True)
class TraceFile:
    """A file that was read; one that could not be read has no format."""

    path: str
    format: Optional[str]
    bytes: int


@dataclass(frozen=True)
class Copies:
    """Copies of memory in one direction."""

    count: int
    bytes: int
    time_us: float


@dataclass(frozen=True)
class DeviceActivity:
    """What a device did. Times are None where the trace does not show them (TF1 timelines)."""

    host: str
    device: str
    window_us: Optional[float]
    busy_us: float
    idle_us: Optional[float]
    kernels_us: float
    kernel_count: int
    median_kernel_us: float
    collectives_us: float
    half_precision_us: Optional[float]
    full_precision_us: Optional[float]
    tensor_core_eligible_us: float
    on_tensor_cores_us: Optional[float]
    host_to_device: Copies
    device_to_host: Copies
    on_device: Copies
    between_devices: Copies
    uncovered_host_to_device_us: Optional[float]
    #: Of a device without streams (TPU) alone.
    infeed_us: Optional[float] = None
    outfeed_us: Optional[float] = None
    copy_wait_us: Optional[float] = None


@dataclass(frozen=True)
class Trace:
    """What was read, and in `loss` what could not be."""

    files: list[TraceFile]
    hosts: list[str]
    devices: list[str]
    events: int
    iterator_events: int
    window_us: float
    loss: dict[str, Union[bool, int]]
    loss_notes: list[str]
    hosts_left_out: list[str] = field(default_factory=list)
    device_activity: list[DeviceActivity] = field(default_factory=list)
    source_lines_faults: list[str] = field(default_factory=list)


@dataclass(frozen=True)
class FunctionOp:
    """An op of the user's function."""

    op: str
    self_us: float
    share: float
    share_of_wait: Optional[float]


@dataclass(frozen=True)
class OpBeside:
    """What ran while none of the function's ops did."""

    op: str
    long_name: Optional[str]
    time_us: float


@dataclass(frozen=True)
class Culprit:
    """The iterator whose change makes the job faster; `chosen_by` is waits, cores, thread or model."""

    long_name: str
    short_name: str
    dataset_name: str
    user_name: Optional[str]
    user_method: Optional[str]
    kind: str
    share: float
    chosen_by: str
    reason: Optional[str]
    busy_cores: Optional[float]
    cpu_budget: Optional[int]
    threads_seen: int
    parallelism: Optional[int]
    function_us: Optional[float]
    python_us: Optional[float]
    function_is_waited_for: bool
    queued_closures: Optional[float]
    function_idle_us: Optional[float]
    function_ops: list[FunctionOp]
    beside: list[OpBeside]
    source: Optional[SourceLine] = None


@dataclass(frozen=True)
class Verdict:
    """`status` is input_bound, healthy, no_input_pipeline or inconclusive."""

    status: str
    confidence: float
    input_share: Optional[float]
    summary: str
    doubt: Optional[str]
    limiting_resource: Optional[str]
    limit: Optional[str]
    steps_per_s: Optional[float]
    steps_per_s_without_input: Optional[float]
    culprit: Optional[Culprit]


@dataclass(frozen=True)
class ComparedHost:
    """A host of a run of several; `status` is alike, straggler or not_compared."""

    host: str
    input_share: Optional[float]
    get_next_mean_us: Optional[float]
    status: str
    culprit: Optional[str]


@dataclass(frozen=True)
class Confidence:
    """The total is the product of the others."""

    total: float
    side: float
    calls: float
    coverage: float
    culprit: float
    load: float
    window: float
    tracing: float
    #: Where the trace does not show that no device works while the job waits.
    device: Optional[float] = None


@dataclass(frozen=True)
class GetNext:
    """The calls with which the consumer takes elements."""

    count: int
    slow_count: int
    threshold_us: float
    p50_us: float
    p95_us: float
    max_us: float
    total_us: float
    warmup_count: int


@dataclass(frozen=True)
class Elsewhere:
    """The part of the GetNext calls that no iterator holds."""

    handoff_us: float
    unseen_us: float
    outside_us: float


@dataclass(frozen=True)
class Stalls:
    """Calls that are much longer than the others. Calls count from 1."""

    count: int
    first_call: int
    last_call: int
    distance_calls: int
    p50_us: float
    p50_of_others_us: float
    waited_us: float
    share: float
    recurring: bool
    long_name: Optional[str]


@dataclass(frozen=True)
class PaceChange:
    """Where all calls begin to take longer, or less long: at the call `from_call`."""

    from_call: int
    p50_before_us: float
    p50_after_us: float
    share_before: float
    share_after: float
    long_name: Optional[str]


@dataclass(frozen=True)
class Iterator:
    """A logical iterator. Ids are 64 bits, as text."""

    long_name: str
    short_name: str
    dataset_name: str
    name: str
    user_name: Optional[str]
    user_method: Optional[str]
    id: Optional[str]
    parent_id: Optional[str]
    depth: int
    is_async: bool
    calls: int
    total_us: float
    self_us: float
    function_us: float
    wait_us: float
    critical_us: float
    attributes: dict[str, Union[int, float, str]]
    source: Optional[SourceLine] = None


@dataclass(frozen=True)
class Pipeline:
    """A pipeline of iterators; the worst comes first."""

    id: str
    host: str
    kind: str
    root: Optional[str]
    level: str
    phase: str
    confidence: Confidence
    feeds_another: bool
    fed_by: list[str]
    input_share: Optional[float]
    get_next: GetNext
    elsewhere: Elsewhere
    stalls: Optional[Stalls]
    pace_change: Optional[PaceChange]
    limiting_resource: Optional[str]
    limit: Optional[str]
    culprit: Optional[Culprit]
    iterators: list[Iterator]
    get_next_share: Optional[float] = None
    device_idle_share: Optional[float] = None


@dataclass(frozen=True)
class Evidence:
    """A number that a finding rests on."""

    name: str
    value: float
    unit: str


@dataclass(frozen=True)
class Gain:
    """What a change would bring: `factor` times as many steps, from `low` to `high`."""

    factor: float
    low: float
    high: float
    steps_per_s: float
    condition: Optional[str]
    then_limited_by: str


@dataclass(frozen=True)
class Advice:
    """A change to make."""

    text: str
    code: Optional[str]
    gain: Optional[Gain]
    predicted_speedup: Optional[float] = None
    no_gain_because: Optional[str] = None
    #: Which versions of TensorFlow run the code; None where the trace shows that its version does.
    versions: Optional[str] = None


@dataclass(frozen=True)
class Reference:
    """A public page that advice follows."""

    title: str
    url: str


@dataclass(frozen=True)
class ChangedIterator:
    """What a change does to the pipeline, with `kind` as `whatif --fix` names it.

    `iterator` is a long name, or None for the pipeline as a whole; `number` counts calls, threads or elements, None for
    what AUTOTUNE comes to.
    """

    fix: str
    kind: str
    iterator: Optional[str]
    number: Optional[int]
    cycle_length: Optional[int]


@dataclass(frozen=True)
class Change:
    """A change to make, in the one ranking.

    `finding` and `advice` are its places in the report; `instead_of` is that of a change of the same iterator, of which
    one is enough; `together` counts the changes before it as well.
    """

    rule: str
    finding: int
    advice: int
    instead_of: Optional[int]
    text: str
    code: Optional[str]
    gain: Optional[Gain]
    together: Optional[Gain]
    suppressed: bool
    fixes: list[ChangedIterator] = field(default_factory=list)


@dataclass(frozen=True)
class Suppressed:
    """Why a finding is accepted, and until when."""

    reason: str
    expires: Optional[str]


@dataclass(frozen=True)
class Finding:
    """A rule that fired. `severity` is error, warning or note."""

    rule: str
    severity: str
    subject: str
    message: str
    evidence: list[Evidence]
    advice: list[Advice]
    suppressed: Optional[Suppressed] = None
    source: Optional[SourceLine] = None
    follows: list[Reference] = field(default_factory=list)


@dataclass(frozen=True)
class NotEvaluated:
    """A rule for which the trace shows too little."""

    rule: str
    reason: str


@dataclass(frozen=True)
class Budget:
    """A limit of the user's; `exceeded` is None where it could not be evaluated."""

    pipeline: Optional[str]
    match: Optional[str]
    name: str
    rule: Optional[str]
    limit: float
    value: Optional[float]
    unit: str
    exceeded: Optional[bool]
    reason: Optional[str]
    source: str


@dataclass(frozen=True)
class Tool:
    """What wrote the document."""

    name: str
    version: str
    sandbox: str


class Document:
    """What the documents have in common: `raw` is the JSON, `text` the page for a person, which `str()` returns."""

    raw: dict[str, Any]
    text: str

    @classmethod
    def of(cls: type[D], raw: dict[str, Any], text: str) -> D:
        """The document with this JSON and this page."""
        document = from_json(cls, raw)
        # The dataclasses are frozen, and neither is a key of theirs.
        document.__dict__.update(raw=raw, text=text)
        return document

    def __str__(self) -> str:
        return self.text

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self.text.partition(chr(10))[0]}>"

    def _repr_html_(self) -> str:
        return text_page(self.text)


@dataclass(frozen=True, repr=False)
class Report(Document):
    """What `diagnose` says."""

    schema: str
    tool: Tool
    trace: Trace
    verdict: Verdict
    hosts_compared: list[ComparedHost]
    pipelines: list[Pipeline]
    findings: list[Finding]
    changes: list[Change]
    not_evaluated: list[NotEvaluated]
    unproven_changes: list[Change] = field(default_factory=list)
    settings_note: Optional[str] = None
    budgets: list[Budget] = field(default_factory=list)

    @property
    def is_input_bound(self) -> bool:
        """Whether the job waits for its input."""
        return self.verdict.status == "input_bound"

    def _repr_html_(self) -> str:
        return report_page(self.raw, self.text)


@dataclass(frozen=True)
class Rates:
    """Steps a second, nine times out of ten between `low` and `high`."""

    estimate: float
    low: float
    high: float


@dataclass(frozen=True)
class ModelledRate:
    """Steps a second as measured and as the model replays them."""

    measured: float
    model: float


@dataclass(frozen=True)
class Limit:
    """What limits the throughput, and in which iterator."""

    resource: str
    iterator: Optional[str]


@dataclass(frozen=True)
class WithoutInput:
    """What the job would do if every element were ready."""

    steps_per_s: Rates
    gain: float


@dataclass(frozen=True)
class Ideal:
    """The ceiling as a recording of the same loop on one element measured it."""

    steps_per_s: float
    gap: float
    traced: bool
    recordings: int
    file: str


@dataclass(frozen=True)
class Fix:
    """A change, or several that are made together, and what it would gain."""

    fix: str
    rule: Optional[str]
    words: str
    steps_per_s: Rates
    gain: float
    gain_low: float
    gain_high: float
    closes: Optional[float]
    condition: Optional[str]
    then_limited_by: Limit
    then_words: str


@dataclass(frozen=True)
class Plan:
    """The changes after which the model hardly waits; `enough_cores`: the cores that it takes."""

    enough: bool
    enough_cores: Optional[int]
    steps: list[Fix]


@dataclass(frozen=True)
class ModelledPipeline:
    """The worst pipeline of a host; `why_none` says why there are no predictions."""

    id: Optional[str]
    host: str
    steps_per_s: Optional[ModelledRate]
    fit: Optional[float]
    limited_by: Optional[Limit]
    without_input: Optional[WithoutInput]
    ideal: Optional[Ideal]
    fixes: list[Fix]
    together: list[Fix]
    plan: Optional[Plan]
    why_none: Optional[str]
    cores: Optional[int] = None
    threads_seen: Optional[int] = None


@dataclass(frozen=True, repr=False)
class WhatIf(Document):
    """What `whatif` predicts; `asked` are the fixes that were asked for, together."""

    schema: str
    tool: Tool
    pipelines: list[ModelledPipeline]
    asked: Optional[Fix]


@dataclass(frozen=True)
class Recordings:
    """How many recordings were compared, and how many of each side a sound judgement needs."""

    base: int
    candidate: int
    needed: int


@dataclass(frozen=True)
class StructureChange:
    """What is different in the pipelines."""

    kind: str
    subject: str
    words: str
    message: str
    certain: bool
    worse: bool
    regression: bool
    source: Optional[SourceLine] = None


@dataclass(frozen=True)
class Interval:
    """A confidence interval of a ratio."""

    low: float
    high: float
    confidence: float


@dataclass(frozen=True)
class TimeRow:
    """A time or a count of both sides, one value for each recording."""

    kind: str
    subject: str
    words: str
    op: Optional[str]
    unit: str
    base: list[float]
    candidate: list[float]
    base_median: float
    candidate_median: float
    ratio: Optional[float]
    interval: Optional[Interval]
    p_value: float
    adjusted_p_value: float
    cost_us_per_step: float
    longer_step: Optional[float]
    difference: str
    judged: bool
    regression: bool
    reason: Optional[str]
    recordings_needed: Optional[int]
    source: Optional[SourceLine] = None


@dataclass(frozen=True)
class GapRates:
    """Steps a second of both sides and of the ideal run."""

    base: float
    candidate: float
    ideal: float


@dataclass(frozen=True)
class ClosedGap:
    """How much of the gap to the ideal run the candidate closed."""

    file: str
    steps_per_s: GapRates
    closes: Optional[float]


@dataclass(frozen=True, repr=False)
class Comparison(Document):
    """What `compare` says; `outcome` is regression, no_regression, improvement or inconclusive."""

    schema: str
    tool: Tool
    outcome: str
    summary: str
    recordings: Recordings
    structure: list[StructureChange]
    times: list[TimeRow]
    pipelines: list[TimeRow]
    ideal: Optional[ClosedGap]
    other_machine: bool
    machine_differences: list[str]
    machine_pace: Optional[float]
    notes: list[str]
    settings_note: Optional[str] = None
