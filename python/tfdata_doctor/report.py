"""The documents of the program as classes. Made from docs/schemas by scripts/python-classes: do not edit.

Times are in microseconds, shares between 0 and 1.
"""

from __future__ import annotations

from ._document import Document, ReportDocument
from ._json import JsonObject, field


class Tool(JsonObject):
    """The program that wrote the document."""

    name: str
    #: As tfdata-doctor --version prints it.
    version: str
    #: How much of the sandbox was in force when the traces were read; none where no trace is.
    sandbox: str


class TraceFile(JsonObject):
    """A file that was read; one that could not be read has no format."""

    #: As it was given or found.
    path: str
    #: None where it could not be read.
    format: str | None
    #: As stored.
    bytes: int


class Copies(JsonObject):
    """Copies of one direction."""

    count: int
    #: Of those whose size is known.
    bytes: int
    #: Each moment once, in microseconds.
    time_us: float


class DeviceActivity(JsonObject):
    """What a device did. None where the clock of the device is not known (TF1 timelines)."""

    #: Machine that was recorded, else its file.
    host: str
    #: As in the trace: /device:GPU:0.
    device: str
    #: From its first event to the end of its last, in microseconds.
    window_us: float | None
    #: A kernel ran, or something was copied; each moment once, in microseconds.
    busy_us: float
    #: The rest of the window, in microseconds.
    idle_us: float | None
    #: A kernel ran; each moment once, in microseconds.
    kernels_us: float
    kernel_count: int
    #: Within 3 %, in microseconds.
    median_kernel_us: float
    #: NCCL kernels, as a sum, likewise below; in microseconds.
    collectives_us: float
    #: Other kernels in 16-bit floating point, in microseconds.
    half_precision_us: float | None
    #: The rest of them, in microseconds.
    full_precision_us: float | None
    #: Whose op could run on TensorCores, in microseconds.
    tensor_core_eligible_us: float
    #: Of these: that use them, in microseconds.
    on_tensor_cores_us: float | None
    host_to_device: Copies
    device_to_host: Copies
    on_device: Copies
    between_devices: Copies
    #: The host's data was copied and no kernel ran, in microseconds.
    uncovered_host_to_device_us: float | None
    #: It waits for the host's data; each moment once, in microseconds. Of a device without streams (TPU) alone,
    #: likewise below.
    infeed_us: float | None = None
    #: It hands data to the host.
    outfeed_us: float | None = None
    #: It waits for copies beside its ops.
    copy_wait_us: float | None = None


class Trace(JsonObject):
    """What was read."""

    #: In the order given.
    files: list[TraceFile]
    #: Machines that the trace names.
    hosts: list[str]
    #: As in the trace: /device:GPU:0.
    devices: list[str]
    #: Events with a time, of any kind.
    events: int
    #: Of these: of tf.data iterators.
    iterator_events: int
    #: Length of the recording, in microseconds.
    window_us: float
    #: What could not be read: how many events, messages or files, by reason.
    loss: dict[str, bool | int]
    #: More about it, for people.
    loss_notes: list[str]
    #: Only where a dataset-lines.json beside the trace cannot be used: why, for people.
    source_lines_faults: list[str] = field(default_factory=list)
    #: Only with --host: the others.
    hosts_left_out: list[str] = field(default_factory=list)
    #: Only if the trace shows what devices did.
    device_activity: list[DeviceActivity] = field(default_factory=list)


class SourceLine(JsonObject):
    """Where the user's code makes it; None if the trace and what lies beside it do not say."""

    #: Path of the source file.
    file: str
    #: Counted from 1.
    line: int
    #: What stands on that line.
    code: str | None


class FunctionOp(JsonObject):
    """An op of the user's function."""

    #: Type of op.
    op: str
    #: Ops at the same time count once; in microseconds.
    self_us: float
    #: Of function_us, 0 to 1.
    share: float
    #: Of the wait, 0 to 1.
    share_of_wait: float | None


class OpBeside(JsonObject):
    """What ran while none of the function's ops did."""

    #: Type of op.
    op: str
    #: Iterator whose function it is in; None if in none, as in a training step.
    long_name: str | None
    #: In microseconds.
    time_us: float


class Culprit(JsonObject):
    """The iterator whose change makes the job faster: what is said of it is its own, by the evidence that chose it."""

    #: Long name of the iterator, as in the trace, without the index [k] of an element.
    long_name: str
    #: The last part of it: Map.
    short_name: str
    #: Node of the dataset's graph, as in the trace; empty if it does not say.
    dataset_name: str
    #: The name= that the user gave; None if there is none.
    user_name: str | None
    #: What the user wrote, not what TensorFlow made of it: map, from_generator; None if unknown.
    user_method: str | None
    source: SourceLine | None
    kind: str
    #: Part of the wait that it holds itself, 0 to 1. Says how much it matters only where it was chosen by the waits.
    share: float
    #: It holds most of the waits; or its ops use the cores that others wait for; or its thread never rests; or a model
    #: of the pipeline gains most without its work.
    chosen_by: str
    #: Why it is not the iterator that the waits end at, for people.
    reason: str | None
    #: Cores busy on average during the waits, of cpu_budget; None where the budget is unknown.
    busy_cores: float | None
    #: Cores that tf.data may use; None if the trace does not say (before TF 2.5 none does).
    cpu_budget: int | None
    #: Threads of a compute pool with events in the window; those that rested are not in a trace.
    threads_seen: int
    #: Parallel calls that it was given or chose; None if it has none.
    parallelism: int | None
    #: In its function, in microseconds: of the wait, or (function_is_waited_for is false) of all threads in the window.
    #: None if it has none, likewise below.
    function_us: float | None
    #: Of that: in Python, in microseconds.
    python_us: float | None
    #: Whether the times of the function are those in which calls waited for it.
    function_is_waited_for: bool
    #: Closures that waited for a thread of the pool, on average; None if the trace does not show it.
    queued_closures: float | None
    #: Of function_us: while no op of the function ran, in microseconds.
    function_idle_us: float | None
    #: Types of op in its function during the waits, longest first.
    function_ops: list[FunctionOp]
    #: What ran while no op of the function did, longest first.
    beside: list[OpBeside]


class Verdict(JsonObject):
    """Of the whole run."""

    status: str
    #: Of the worst pipeline, 0 to 1.
    confidence: float
    #: Part of the time that the worst pipeline costs its consumer: waits for input, or, where a device computes, what
    #: the job loses by a model of it, if that is more; 0 to 1; None without one.
    input_share: float | None
    #: The verdict with its certainty, for people: PROBABLY INPUT-BOUND.
    title: str
    #: What the first line says after the title, as a clause.
    headline: str
    #: The headline and the cause, as sentences.
    summary: str
    #: Why the confidence is below 0.7, as a clause; None where it is not.
    doubt: str | None
    #: What limits the worst pipeline: the resource of which more would make the job faster; None where nobody waits or
    #: the trace does not say.
    limiting_resource: str | None
    #: That resource, or why it is unknown, for people; None where nobody waits.
    limit: str | None
    #: The two rates below, for people; None where the trace shows no steps.
    speed: str | None
    #: Of a slow pipeline: by a model that tells gains, without the cost of recording; else as recorded, or by the clock
    #: before that; None where the trace shows no steps.
    steps_per_s: float | None
    #: The same if every element were ready when it is asked for.
    steps_per_s_without_input: float | None
    #: Why no change says what it brings, as a clause; None where one does, and where nobody waits.
    no_gain_because: str | None
    #: That of the worst pipeline; None if it has none.
    culprit: Culprit | None


class ComparedHost(JsonObject):
    """A host of a run of several; `status` is alike, straggler or not_compared."""

    #: Machine that was recorded, else its file.
    host: str
    #: Of its worst pipeline, 0 to 1.
    input_share: float | None
    #: Mean wait, in microseconds.
    get_next_mean_us: float | None
    status: str
    #: Long name of the iterator, as in the trace, without the index [k] of an element.
    culprit: str | None


class Confidence(JsonObject):
    """In level and culprit: the parts, each 0 to 1, whose product is the total."""

    total: float
    #: That more calls would lead to the same level.
    side: float
    #: That so few calls represent the job.
    calls: float
    #: That what the window hides is not the culprit.
    coverage: float
    #: That the culprit is the right one.
    culprit: float
    #: Where nobody waits: that the input takes nothing from the training.
    load: float
    #: Where nobody waits: that seldom stalls would have shown.
    window: float
    #: That recording did not change the pipeline.
    tracing: float
    #: That the job would wait for the same on a machine of its own; only where other programs kept many cores busy.
    machine: float | None = None
    #: That the recorded steps are like the others of the run; only where these were clocked and differ.
    run: float | None = None
    #: That no device works while the job waits; only where the trace does not show it.
    device: float | None = None


class GetNext(JsonObject):
    """GetNext calls of the pipeline's consumer."""

    #: Calls.
    count: int
    #: Calls that took longer than threshold_us.
    slow_count: int
    #: From TensorFlow's guide, in microseconds.
    threshold_us: float
    #: Median of the calls after the warm-up, in microseconds.
    p50_us: float
    #: 95th percentile of all calls, in microseconds.
    p95_us: float
    #: The longest, in microseconds.
    max_us: float
    #: All together, in microseconds.
    total_us: float
    #: How many of the first calls are warm-up.
    warmup_count: int


class Elsewhere(JsonObject):
    """Where the rest of get_next.total_us went: with critical_us of the iterators these add up to it."""

    #: Between threads, in microseconds.
    handoff_us: float
    #: Not visible in the window, in microseconds.
    unseen_us: float
    #: Outside of tf.data, in microseconds.
    outside_us: float


class Stalls(JsonObject):
    """Calls that take many times as long as usual; None where there are none. Calls count from 1."""

    count: int
    first_call: int
    last_call: int
    #: Median number of calls from one to the next.
    distance_calls: int
    #: Their median, in microseconds.
    p50_us: float
    #: Median of the other calls, in microseconds.
    p50_of_others_us: float
    #: In all of them together, in microseconds.
    waited_us: float
    #: Of the time from the first steady call to the end of the last, 0 to 1.
    share: float
    #: Whether they belong to the job rather than to chance.
    recurring: bool
    #: Iterator that holds most of them.
    long_name: str | None


class PaceChange(JsonObject):
    """The calls become faster or slower for good; None where they do not."""

    #: First call of the new pace, counted from 1.
    from_call: int
    #: Median up to there, in microseconds.
    p50_before_us: float
    #: Median from there on, in microseconds.
    p50_after_us: float
    #: Of the time spent in GetNext, 0 to 1.
    share_before: float
    #: Likewise, from there on.
    share_after: float
    #: Iterator whose part of a call grew or shrank the most.
    long_name: str | None


class Iterator(JsonObject):
    """A logical iterator: objects that differ only in epoch or file are one."""

    #: Long name of the iterator, as in the trace, without the index [k] of an element.
    long_name: str
    #: The last part of it: Map.
    short_name: str
    #: Node of the dataset's graph, as in the trace; empty if it does not say.
    dataset_name: str
    #: The iterator as the user finds it in her code: your 2nd map, map at input.py:33.
    name: str
    #: The name= that the user gave; None if there is none.
    user_name: str | None
    #: What the user wrote, not what TensorFlow made of it: map, from_generator; None if unknown.
    user_method: str | None
    source: SourceLine | None
    #: Of the first object: 64 bits without a sign, as text.
    id: str | None
    #: Likewise, of the iterator that calls it.
    parent_id: str | None
    #: 0 for a root.
    depth: int
    #: Whether its input runs on other threads.
    is_async: bool
    #: GetNext calls of it.
    calls: int
    #: Sum of the durations of its calls, in microseconds.
    total_us: float
    #: Of that: in no call of another iterator and not waiting, in microseconds.
    self_us: float
    #: Beside its calls: ops of its functions on other threads, as time of threads, in microseconds.
    function_us: float
    #: Of the total: waiting for other threads, in microseconds.
    wait_us: float
    #: Of the time in the pipeline's GetNext calls: what this iterator held, in microseconds.
    critical_us: float
    #: What its events say of it last, by the names in the trace: parallelism, buffer_limit.
    attributes: dict[str, int | str]


class LoaderStage(JsonObject):
    """A stage of a loader by Python's frames, consumers before what they take from. Times are own ones."""

    stage: str
    #: Index of the stage that takes its elements; None where next() hands them out.
    consumer: int | None
    calls: int
    #: In the loop's next(), in microseconds.
    in_next_us: float
    #: In threads that make elements ahead, in microseconds.
    in_makers_us: float
    #: Waits for other threads, processes and Python's lock, in microseconds.
    waits_us: float
    #: Your function that takes most of its time.
    function: str | None
    #: In your functions, in microseconds.
    function_us: float
    #: Whether it takes the most time where the loop waits.
    slowest: bool


class Loader(JsonObject):
    """Grain, PyTorch's DataLoader or Keras' PyDataset; only where the loop waits for one of these."""

    library: str
    #: What makes the batches: the thread of the training loop, other threads, or processes that the trace does not
    #: show.
    made_by: str
    #: What makes the batches and takes most of the time, for people.
    cause: str
    stages: list[LoaderStage]


class Pipeline(JsonObject):
    """A pipeline: a root and all below it, with the calls of its consumer."""

    #: Id of the pipeline within the run, as show tree prints it: 0:4. It is not the same in another run.
    id: str
    #: Machine that was recorded, else its file.
    host: str
    #: What it feeds.
    kind: str
    #: Long name of the root; None where only bare GetNext ops were seen.
    root: str | None
    #: How much it holds its consumer up.
    level: str
    #: Which calls the culprit was judged by; background: nobody waits, and it is the busiest iterator.
    phase: str
    #: In level and culprit: the parts, each 0 to 1, whose product is the total.
    confidence: Confidence
    #: Its calls are the waits of another pipeline of the trace.
    feeds_another: bool
    #: Ids of the pipelines that its waits were followed into.
    fed_by: list[str]
    #: Part of the time that the consumer waits, 0 to 1, by which it is judged; where a device computes, what the job
    #: loses by a model of it, if that is more; None if unknown.
    input_share: float | None
    get_next: GetNext
    #: Where the rest of get_next.total_us went: with critical_us of the iterators these add up to it.
    elsewhere: Elsewhere
    stalls: Stalls | None
    pace_change: PaceChange | None
    #: The resource of which more would make the job faster; None where nobody waits or the trace does not say.
    limiting_resource: str | None
    #: That resource, or why it is unknown, for people; None where nobody waits.
    limit: str | None
    #: None if it has none.
    culprit: Culprit | None
    #: In order of the tree: each before those it calls.
    iterators: list[Iterator]
    #: Only with devices: part of the time in GetNext, 0 to 1, whether a device works meanwhile or not.
    get_next_share: float | None = None
    #: Only with devices: part of the time in GetNext while no device computes, 0 to 1.
    device_idle_share: float | None = None
    loader: Loader | None = None


class Evidence(JsonObject):
    """A number that a finding rests on."""

    name: str
    value: float
    #: us, share (0 to 1), calls, bytes and so on; empty for a plain number.
    unit: str


class Gain(JsonObject):
    """What a model of the pipeline predicts; None where it predicts nothing."""

    #: The gain as a report says it, with its condition.
    words: str
    #: Steps in a time after the change, for one now.
    factor: float
    #: Lower end of nine predictions out of ten.
    low: float
    #: Upper end.
    high: float
    #: Afterwards, per second.
    steps_per_s: float
    #: What it depends on that the trace does not show; None if on nothing.
    condition: str | None
    #: What limits afterwards, for people.
    then_limited_by: str


class Advice(JsonObject):
    """A change to make."""

    #: For people.
    text: str
    #: Lines of Python to take over.
    code: str | None
    #: The same as gain.factor.
    predicted_speedup: float | None
    gain: Gain | None
    #: Why a change has no gain, for people; None where it has one, where nobody waits, and of sentences.
    no_gain_because: str | None
    #: Which versions of TensorFlow run the code and what to write in others, for people; None where the trace shows
    #: that its version does.
    versions: str | None


class Reference(JsonObject):
    """A public page that advice follows."""

    #: Of the page, and of its section.
    title: str
    url: str


class Suppressed(JsonObject):
    """Only if it does not count, on request."""

    #: As given.
    reason: str
    #: Last day of it, YYYY-MM-DD.
    expires: str | None


class Finding(JsonObject):
    """What a rule found."""

    #: tfdata-doctor explain RULE prints its page.
    rule: str
    severity: str
    #: Long name of the iterator at fault, or the name of a device or host; empty for the whole trace or pipeline.
    subject: str
    #: For people.
    message: str
    source: SourceLine | None
    #: The numbers that it rests on.
    evidence: list[Evidence]
    #: What to change.
    advice: list[Advice]
    #: Public pages that the advice follows, the one to read first before the others.
    follows: list[Reference]
    #: Only if it does not count, on request.
    suppressed: Suppressed | None = None


class ChangedIterator(JsonObject):
    """What a change does to the pipeline, with `kind` as `whatif --fix` names it.

    `iterator` is a long name, or None for the pipeline as a whole; `number` counts calls, threads or elements, None for
    what AUTOTUNE comes to.
    """

    #: For whatif --fix.
    fix: str
    #: As whatif --fix names it.
    kind: str
    #: Long name; None: the pipeline as a whole.
    iterator: str | None
    #: Calls, threads or elements; None: what AUTOTUNE comes to.
    number: int | None
    #: Of an interleave.
    cycle_length: int | None


class Change(JsonObject):
    """A change to make, in the one ranking.

    `finding` and `advice` are its places in the report; `instead_of` is that of a change of the same iterator, of which
    one is enough; `together` counts the changes before it as well.
    """

    #: That advises it.
    rule: str
    #: Its place in findings, from 0.
    finding: int
    #: The place in the advice of that finding, from 0.
    advice: int
    #: Place of the change before it of the same iterator: make one of the two. None for the others.
    instead_of: int | None
    #: For people.
    text: str
    #: Lines of Python to take over.
    code: str | None
    gain: Gain | None
    #: What it brings with all changes before it that need no condition and are no alternative; None where that is not
    #: predicted.
    together: Gain | None
    #: What it changes in the pipeline, all together; empty where no model knows the change.
    fixes: list[ChangedIterator]
    #: Whether its finding does not count, on request.
    suppressed: bool


class NotEvaluated(JsonObject):
    """A rule for which the trace shows too little."""

    rule: str
    #: What the trace does not show; for people.
    reason: str


class PaceBar(JsonObject):
    """What a stage, or the training itself, needs for a step."""

    #: What the user calls it.
    name: str
    #: As in the trace; None: the training itself.
    long_name: str | None
    #: Per element, times elements a step, over elements at once, in microseconds.
    time_us: float
    #: What the same worker needs for its stages before, in microseconds: where the bar begins.
    before_us: float
    #: Elements that it works on at the same time.
    at_once: int
    #: Bars of one worker are done one after another, those of others meanwhile.
    worker: int
    #: Whether its worker needs the longest for a step, or the longest of all others; where no worker needs as long as a
    #: step, what the training waits for; what takes cores, or Python's lock, from the training.
    role: str


class Pace(JsonObject):
    """What sets the pace.

    Each stage, and the training itself, is a bar: the time that it needs for one step. None where the trace does not
    show what a step is made of.
    """

    #: Id of the pipeline that is waited for most.
    pipeline: str
    #: From one GetNext call to the next, the mean of the steady steps as recorded, in microseconds.
    step_us: float
    #: Of the worker that needs the longest for a step; longer than step_us where steps took elements that were made
    #: before.
    longest_us: float
    #: The same after the first of `changes`, in microseconds; None where its gain is not known.
    step_after_us: float | None
    #: In the order of the code, sources first, the training last.
    bars: list[PaceBar]
    #: Stages that take next to no time.
    bars_left_out: int


class Budget(JsonObject):
    """What became of a budget."""

    #: Id of the pipeline; None: about none in particular.
    pipeline: str | None
    #: Pattern that chose it; None: for all pipelines.
    match: str | None
    name: str
    #: Of rules_must_not_fire.
    rule: str | None
    #: In the unit below.
    limit: float
    #: What was found; None if it could not be evaluated.
    value: float | None
    unit: str
    #: None if it could not be evaluated.
    exceeded: bool | None
    #: Why it could not be evaluated.
    reason: str | None
    #: Where it was written.
    source: str


class Report(ReportDocument, JsonObject):
    """What diagnose --format json writes: the verdict on the input pipelines of a run."""

    schema: str
    tool: Tool
    #: What was read.
    trace: Trace
    #: Of the whole run.
    verdict: Verdict
    #: The hosts of a run side by side; empty where nothing can be compared.
    hosts_compared: list[ComparedHost]
    #: Worst first; those that only feed another come last.
    pipelines: list[Pipeline]
    #: What counts most first.
    findings: list[Finding]
    #: What to change, best first: the one ranking, in the order of the text report.
    changes: list[Change]
    #: Rules that the trace shows too little for.
    not_evaluated: list[NotEvaluated]
    pace: Pace | None = None
    #: Caches that may bring nothing, because the trace shows no end of an epoch, before which a cache is never
    #: complete. They come after the changes. Missing where there is none.
    unproven_changes: list[Change] = field(default_factory=list)
    #: Only where settings of a configuration file count, which may have come with what is judged: its path and what it
    #: sets, for people.
    settings_note: str | None = None
    #: Only with budgets.
    budgets: list[Budget] = field(default_factory=list)


class ModelledRate(JsonObject):
    """Per second."""

    #: As traced.
    measured: float
    #: Without the cost of tracing.
    model: float


class Limit(JsonObject):
    """What limits the throughput, and in which iterator."""

    resource: str
    #: Long name; None: of none.
    iterator: str | None


class Rates(JsonObject):
    """Steps per second."""

    estimate: float
    #: Lower end of nine predictions out of ten.
    low: float
    #: Upper end.
    high: float


class WithoutInput(JsonObject):
    """If every element were ready: the ceiling of all fixes."""

    steps_per_s: Rates
    #: Factor.
    gain: float


class Ideal(JsonObject):
    """Only with --ideal, else None."""

    #: Of the ideal run, per second.
    steps_per_s: float
    #: To it, in steps per second.
    gap: float
    #: Whether both ends of the gap are as traced.
    traced: bool
    recordings: int
    #: As it was named.
    file: str


class CurvePoint(JsonObject):
    """A rate with so many elements at once; as `knee` the first after which more bring next to nothing."""

    #: num_parallel_calls.
    at_once: int
    steps_per_s: Rates
    #: What limits then, for people.
    then_words: str


class ParallelismCurve(JsonObject):
    """The rate by how many elements a map works on at once: of the map with most to gain; None where none gains."""

    #: Long name of the map.
    iterator: str
    #: What the user calls it.
    name: str
    #: Elements that it works on at once today.
    at_once: int
    #: Ascending.
    points: list[CurvePoint]
    knee: CurvePoint


class Fix(JsonObject):
    """A change, or several that are made together, and what it would gain."""

    #: For --fix; several are joined by +.
    fix: str
    #: That advises it.
    rule: str | None
    #: What to do, for people, in the names of the user's code.
    words: str
    steps_per_s: Rates
    #: Steps in a time afterwards, for one now.
    gain: float
    gain_low: float
    gain_high: float
    #: With --ideal: part of the gap that it closes.
    closes: float | None
    #: What it depends on that the trace does not show; None if on nothing.
    condition: str | None
    then_limited_by: Limit
    #: That limit, for people.
    then_words: str


class Plan(JsonObject):
    """Only with --plan, else None."""

    #: Whether the model then hardly waits for its input.
    enough: bool
    #: Cores that would be enough.
    enough_cores: int | None
    #: Each is those before it and one more.
    steps: list[Fix]


class ModelledPipeline(JsonObject):
    """Of each host the pipeline that is waited for longest. None where nothing can be predicted."""

    #: Id of the pipeline within the run, as show tree prints it: 0:4. It is not the same in another run. None: several
    #: share one consumer.
    id: str | None
    #: Machine that was recorded, else its file.
    host: str
    #: Per second.
    steps_per_s: ModelledRate | None
    #: Rate of the model, of the measured one.
    fit: float | None
    #: That it is predicted for; None: unknown.
    cores: int | None
    #: Threads of a compute pool with events in the window.
    threads_seen: int
    #: What limits now.
    limited_by: Limit | None
    #: If every element were ready: the ceiling of all fixes.
    without_input: WithoutInput | None
    #: Only with --ideal, else None.
    ideal: Ideal | None
    #: The rate by how many elements a map works on at once: of the map with most to gain; None where none gains.
    curve: ParallelismCurve | None
    #: One each, by gain.
    fixes: list[Fix]
    #: Several at once, by gain.
    together: list[Fix]
    #: Only with --plan, else None.
    plan: Plan | None
    #: Why nothing can be predicted; for people.
    why_none: str | None


class WhatIf(Document, JsonObject):
    """What whatif --format json writes: what fixes would gain, from a model of the pipeline."""

    schema: str
    tool: Tool
    #: The one that waits most first.
    pipelines: list[ModelledPipeline]
    #: With --fix: all of them together; else None.
    asked: Fix | None


class Recordings(JsonObject):
    """How many recordings were compared, and how many of each side a sound judgement needs."""

    base: int
    candidate: int
    #: Per side, for times to be judged.
    needed: int


class StructureChange(JsonObject):
    """What is different in the pipelines."""

    kind: str
    #: Long name, in the base where it is there; empty for the whole run.
    subject: str
    #: What the user calls it.
    words: str
    #: What was and what is; for people.
    message: str
    #: Every recording of one side differs in it from every one of the other.
    certain: bool
    #: It makes the pipeline slower, or may.
    worse: bool
    #: What it adds to the work of a step, as a share of the base's; below 0: it takes work away; None: the work is not
    #: known.
    added_share: float | None
    regression: bool
    source: SourceLine | None


class Interval(JsonObject):
    """Of the ratio."""

    low: float
    high: float
    #: 0 to 1.
    confidence: float


class TimeRow(JsonObject):
    """A number in every recording."""

    #: self: own part of a call; op: one type of op; work: all ops of its functions, for a step; tail: calls that take
    #: many times as long as usual; calls: calls for one step; get_next, step: of the consumer; modelled_step: a step as
    #: the work of its parts has it.
    kind: str
    #: Long name of the iterator.
    subject: str
    #: What the user calls it.
    words: str
    #: Type of op.
    op: str | None
    #: Of base and candidate.
    unit: str
    #: Of each recording that has enough calls.
    base: list[float]
    #: Likewise.
    candidate: list[float]
    #: 0 without values.
    base_median: float
    #: 0 without values.
    candidate_median: float
    #: Candidate to base; None where the base has none.
    ratio: float | None
    #: Of the ratio.
    interval: Interval | None
    #: That the candidate is so far above the base by chance.
    p_value: float
    #: The same for all rows tested (Holm).
    adjusted_p_value: float
    #: More for each step, or less (negative), in microseconds.
    cost_us_per_step: float
    #: How much longer that makes a step, as a share of it, as a model of the base has it; None where that is not known.
    longer_step: float | None
    difference: str
    #: Whether it can make a regression.
    judged: bool
    regression: bool
    #: Why nothing can be said, or why it is not judged; for people.
    reason: str | None
    #: Per side, that would decide it.
    recordings_needed: int | None
    source: SourceLine | None


class StageTimes(JsonObject):
    """The time that a stage needs for a step, its calls at once taken into account."""

    words: str
    #: 0: the base does not have it.
    base_us: float
    #: 0: the candidate does not have it.
    candidate_us: float


class GapRates(JsonObject):
    """As traced, per second."""

    base: float
    candidate: float
    ideal: float


class ClosedGap(JsonObject):
    """Only with --ideal, else None."""

    #: As it was named.
    file: str
    #: As traced, per second.
    steps_per_s: GapRates
    #: Part of the gap from base to ideal that the candidate closed; None where there is hardly a gap.
    closes: float | None


class Comparison(Document, JsonObject):
    """What compare --format json writes."""

    schema: str
    tool: Tool
    outcome: str
    #: For people.
    summary: str
    #: How many recordings were compared, and how many of each side a sound judgement needs.
    recordings: Recordings
    #: What changed in the pipelines, for the worse first.
    structure: list[StructureChange]
    #: Iterators and ops, dearest first.
    times: list[TimeRow]
    #: GetNext and step of each pipeline.
    pipelines: list[TimeRow]
    #: The slowest pipeline of both sides: what each stage needs for a step, those that changed most first.
    stages: list[StageTimes]
    #: Share of the base's work that a change may add.
    max_extra_work: float
    #: Only with --ideal, else None.
    ideal: ClosedGap | None
    #: No recording of one side was made on a machine of the other.
    other_machine: bool
    #: What is not the same about the machines, if they are others; for people.
    machine_differences: list[str]
    #: How many times as long everything takes in the candidate's recordings, where that is the machine's doing; each
    #: number is compared with the others then. None where the two are not told apart.
    machine_pace: float | None
    #: What limits the comparison; for people.
    notes: list[str]
    #: Only where settings of a configuration file count, which may have come with what is judged: its path and what it
    #: sets, for people.
    settings_note: str | None = None
