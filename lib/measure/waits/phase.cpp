#include <iterator>

#include "base/intervals.h"
#include "base/parallel.h"
#include "measure/measure_passes.h"
#include "tree/dataset_kinds.h"

namespace doctor {
namespace {

/// Some of the calls, by position: [first, last).
struct CallRange {
  std::size_t first = 0;
  std::size_t last = 0;
};

/// What to attribute calls for.
struct Purpose {
  bool adds_up = true;                   ///< who held them
  IteratorId function_of = kNoIterator;  ///< what this iterator's function did while they waited for it
};

/// What some of the calls add up to. All are integers: no result depends on how the calls were split.
struct Sums {
  MeasuredPhase measured;
  std::vector<HeldSums::Entry> held;  ///< by id
  FunctionActivity function;          ///< of the culprit
};

/// Adds sums by id to others.
void add(std::vector<HeldSums::Entry>& sums, const std::vector<HeldSums::Entry>& more) {
  std::vector<HeldSums::Entry> both;
  both.reserve(sums.size() + more.size());
  std::merge(sums.begin(), sums.end(), more.begin(), more.end(), std::back_inserter(both),
             [](const HeldSums::Entry& a, const HeldSums::Entry& b) { return a.id < b.id; });
  sums.clear();
  for (const HeldSums::Entry& entry : both) {
    if (sums.empty() || sums.back().id != entry.id) {
      sums.push_back(entry);
      continue;
    }
    HeldSums::Sum& sum = sums.back().sum;
    sum.critical += entry.sum.critical;
    sum.in_function += entry.sum.in_function;
    sum.in_first_half += entry.sum.in_first_half;
    if (entry.sum.longest.outweighs(sum.longest)) sum.longest = entry.sum.longest;
  }
}

bool is_work(SegmentKind kind) {
  return kind == SegmentKind::self || kind == SegmentKind::function;
}

class PhaseMeasurer {
 public:
  PhaseMeasurer(const PhaseTools& tools, IteratorId root, std::span<const std::size_t> calls)
      : tools_(tools), root_(root), calls_(calls) {}

  MeasuredPhase measure();

 private:
  const RootCall& call(std::size_t position) const { return tools_.forest.root_calls[calls_[position]]; }
  void attribute(CallRange range, Purpose purpose, Attributor& attributor, Sums& sums) const;
  void attribute_parallel(CallRange range, Purpose purpose);
  void add_segments(std::size_t position, std::span<const Segment> segments, HeldSums& held, MeasuredPhase& sums) const;
  bool is_in_first_half(std::size_t position) const { return position < calls_.size() / 2; }
  void keep_held_times();
  IteratorId find_culprit() const { return doctor::find_culprit(tools_.forest, sums_.measured.phase.critical); }
  void compare_halves();
  void measure_function();
  void describe_function();
  void describe_session_ops();
  void measure_threads();

  const PhaseTools& tools_;
  const IteratorId root_;
  const std::span<const std::size_t> calls_;
  Sums sums_;
};

void PhaseMeasurer::add_segments(std::size_t position, std::span<const Segment> segments, HeldSums& held,
                                 MeasuredPhase& sums) const {
  PhaseMeasurement& phase = sums.phase;
  const Interval span = call(position).span;
  ++phase.call_count;
  phase.waited += span.end - span.start;
  sums.unattributed += span.end - span.start;
  for (const Segment& segment : segments) {
    const Picoseconds length = segment.span.end - segment.span.start;
    sums.unattributed -= length;
    if (segment.kind == SegmentKind::handoff) phase.handoff += length;
    if (segment.kind == SegmentKind::unseen) phase.unseen += length;
    if (segment.kind == SegmentKind::outside) phase.outside += length;
    if (segment.iterator == kNoIterator) continue;
    const IteratorId root = tools_.forest[segment.iterator].root;
    if (root != root_) sums.feeding_roots.insert(root);
    if (!is_work(segment.kind)) continue;
    HeldSums::Sum& sum = held[segment.iterator];
    sum.critical += length;
    if (is_in_first_half(position)) sum.in_first_half += length;
    if (segment.kind == SegmentKind::function) sum.in_function += length;
    const Sighting piece{segment.span, segment.lane};
    if (piece.outweighs(sum.longest)) sum.longest = piece;
  }
}

/// Attributes the calls of a range one after another. Where calls of several consumers overlap, a moment of the
/// function counts once.
void PhaseMeasurer::attribute(CallRange range, Purpose purpose, Attributor& attributor, Sums& sums) const {
  std::optional<FunctionOps> ops;
  Picoseconds done = std::numeric_limits<Picoseconds>::min();
  if (purpose.function_of != kNoIterator) {
    const Picoseconds from = range.first < range.last ? call(range.first).span.start : 0;
    ops.emplace(tools_.trace, tools_.op_kinds, tools_.owners, purpose.function_of, from);
    for (std::size_t before = 0; before < range.first; ++before) done = std::max(done, call(before).span.end);
  }
  std::vector<Interval> windows;
  for (std::size_t position = range.first; position < range.last; ++position) {
    const std::span<const Segment> segments = attributor.walker.attribute(call(position));
    if (purpose.adds_up) add_segments(position, segments, attributor.held, sums.measured);
    if (!ops) continue;
    windows.clear();
    for (const Segment& segment : segments) {
      const Interval window{std::max(segment.span.start, done), segment.span.end};
      const bool is_wanted = segment.iterator == purpose.function_of && segment.kind == SegmentKind::function;
      if (is_wanted && window.start < window.end) windows.push_back(window);
    }
    ops->add(windows);
    done = std::max(done, call(position).span.end);
  }
  if (ops) sums.function = ops->activity();
  sums.held = attributor.held.take();
}

void PhaseMeasurer::attribute_parallel(CallRange range, Purpose purpose) {
  const unsigned threads = threads_for(tools_.work, tools_.trace.iterator_event_count);
  // Calls differ in what they take to follow: a thread that finishes early takes over from the others.
  constexpr std::size_t kPartsOfThread = 8;
  const std::size_t count = range.last - range.first;
  const std::size_t parts = std::min<std::size_t>(count, threads == 1 ? 1 : kPartsOfThread * threads);
  std::vector<Sums> results(parts);
  while (tools_.attributors.size() < std::min<std::size_t>(parts, threads)) {
    tools_.attributors.emplace_back(tools_.path, tools_.forest);
  }
  run_parallel(threads, parts, [&](std::size_t part, std::size_t worker) {
    const CallRange some{range.first + count * part / parts, range.first + count * (part + 1) / parts};
    attribute(some, purpose, tools_.attributors[worker], results[part]);
  });
  for (const Sums& result : results) {
    MeasuredPhase& sums = sums_.measured;
    const MeasuredPhase& more = result.measured;
    sums.phase.call_count += more.phase.call_count;
    sums.phase.waited += more.phase.waited;
    add(sums_.held, result.held);
    sums.phase.handoff += more.phase.handoff;
    sums.phase.unseen += more.phase.unseen;
    sums.phase.outside += more.phase.outside;
    sums.feeding_roots.insert(more.feeding_roots.begin(), more.feeding_roots.end());
    sums.unattributed += more.unattributed;
    sums_.function.add(result.function);
  }
  if (purpose.adds_up) keep_held_times();
}

void PhaseMeasurer::keep_held_times() {
  PhaseMeasurement& phase = sums_.measured.phase;
  phase.critical = {};
  phase.in_function = {};
  phase.longest_held = {};
  for (const auto& [id, sum] : sums_.held) {
    phase.critical.append(id, sum.critical);
    if (sum.in_function > 0) phase.in_function.append(id, sum.in_function);
    phase.longest_held.append(id, sum.longest);
  }
}

void PhaseMeasurer::compare_halves() {
  ByIterator<Picoseconds> first;
  ByIterator<Picoseconds> second;
  for (const auto& [id, sum] : sums_.held) {
    first.append(id, sum.in_first_half);
    second.append(id, sum.critical - sum.in_first_half);
  }
  sums_.measured.phase.culprits_of_halves = {doctor::find_culprit(tools_.forest, first),
                                             doctor::find_culprit(tools_.forest, second)};
}

void PhaseMeasurer::measure_threads() {
  if (tools_.forest.iterators.empty()) return;
  std::vector<Interval> waits;
  for (std::size_t position = 0; position < calls_.size(); ++position) waits.push_back(call(position).span);
  waits = merged(std::move(waits));
  const BusyThreads busy = tools_.activity.during(waits);
  PhaseMeasurement& phase = sums_.measured.phase;
  phase.busy_threads = busy.all;
  phase.pool_threads = busy.in_pool_only;
  phase.queued_closures = tools_.activity.queued_closures_during(waits);
}

/// Attributes all calls, and those of a first part twice if that part knew the culprit, else all.
void PhaseMeasurer::measure_function() {
  const PhaseMeasurement& phase = sums_.measured.phase;
  const auto runs_function = [&](IteratorId id) { return id != kNoIterator && phase.in_function[id] > 0; };
  const CallRange all{0, calls_.size()};
  const CallRange sample{0, (all.last + 15) / 16};
  const CallRange rest{sample.last, all.last};
  attribute_parallel(sample, {});
  const IteratorId guess = find_culprit();
  const bool is_guessed = runs_function(guess);
  attribute_parallel(rest, {true, is_guessed ? guess : kNoIterator});
  const IteratorId culprit = find_culprit();
  sums_.measured.phase.culprit = culprit;
  if (!runs_function(culprit)) {
    sums_.function = {};
  } else if (is_guessed && guess == culprit) {
    attribute_parallel(sample, {false, culprit});
  } else {
    sums_.function = {};
    attribute_parallel(all, {false, culprit});
  }
}

void PhaseMeasurer::describe_function() {
  PhaseMeasurement& phase = sums_.measured.phase;
  const FunctionActivity& function = sums_.function;
  for (const auto& [type, total] : function.ops) {
    if (total > 0) phase.function_ops.push_back({std::string(tools_.trace.strings[type]), total});
    if (tools_.op_kinds[index_of(type)] == OpKind::python) phase.python += total;
  }
  std::sort(phase.function_ops.begin(), phase.function_ops.end(),
            [](const FunctionOp& a, const FunctionOp& b) { return a.self != b.self ? a.self > b.self : a.op < b.op; });
  phase.function_idle = function.idle;
  for (const auto& [op, time] : function.beside) {
    if (time > 0) phase.beside.push_back({op.first, std::string(tools_.trace.strings[op.second]), time});
  }
  std::sort(phase.beside.begin(), phase.beside.end(), [](const OpBeside& a, const OpBeside& b) {
    return a.time != b.time ? a.time > b.time : std::pair(a.iterator, a.op) < std::pair(b.iterator, b.op);
  });
}

/// Timelines of session runs may show nothing inside of GetNext, but the ops of the host beside it. Ops of the model
/// wait for its element: what runs meanwhile is what it may wait for.
void PhaseMeasurer::describe_session_ops() {
  std::vector<Interval> waits;
  for (std::size_t position = 0; position < calls_.size(); ++position) waits.push_back(call(position).span);
  waits = merged(std::move(waits));
  std::map<StringId, std::vector<Interval>> parts;
  for (const Lane& lane : tools_.trace.lanes) {
    for (std::size_t index = 0; index < lane.ops.size(); ++index) {
      const OpCall& op = lane.ops[index];
      if (tools_.op_kinds[index_of(op.type)] == OpKind::wrapper) continue;
      clip({op.span.start(), op.span.end()}, waits, parts[op.type]);
    }
  }
  for (auto& [type, spans] : parts) {
    const Picoseconds time = total_length(merged(std::move(spans)));
    if (time > 0) sums_.measured.phase.beside.push_back({kNoIterator, std::string(tools_.trace.strings[type]), time});
  }
  std::sort(sums_.measured.phase.beside.begin(), sums_.measured.phase.beside.end(),
            [](const OpBeside& a, const OpBeside& b) { return a.time != b.time ? a.time > b.time : a.op < b.op; });
}

MeasuredPhase PhaseMeasurer::measure() {
  if (calls_.empty()) return std::move(sums_.measured);
  measure_function();
  compare_halves();
  measure_threads();
  describe_function();
  if (root_ == kNoIterator && !tools_.trace.lanes_are_threads) describe_session_ops();
  return std::move(sums_.measured);
}

}  // namespace

HeldSums::Sum& HeldSums::operator[](IteratorId id) {
  if (!is_used_[index_of(id)]) {
    is_used_[index_of(id)] = true;
    used_.push_back(id);
  }
  return sums_[index_of(id)];
}

std::vector<HeldSums::Entry> HeldSums::take() {
  std::sort(used_.begin(), used_.end());
  std::vector<Entry> entries;
  entries.reserve(used_.size());
  for (const IteratorId id : used_) {
    entries.push_back({id, std::exchange(sums_[index_of(id)], {})});
    is_used_[index_of(id)] = false;
  }
  used_.clear();
  return entries;
}

ByIterator<Picoseconds> held_times(const PhaseTools& tools, std::span<const std::size_t> calls) {
  if (tools.attributors.empty()) tools.attributors.emplace_back(tools.path, tools.forest);
  Attributor& attributor = tools.attributors.front();
  for (const std::size_t call : calls) {
    for (const Segment& segment : attributor.walker.attribute(tools.forest.root_calls[call])) {
      const bool is_held = segment.iterator != kNoIterator && is_work(segment.kind);
      if (is_held) attributor.held[segment.iterator].critical += segment.span.end - segment.span.start;
    }
  }
  ByIterator<Picoseconds> held;
  for (const auto& [id, sum] : attributor.held.take()) held.append(id, sum.critical);
  return held;
}

IteratorId find_culprit(const IteratorForest& forest, const ByIterator<Picoseconds>& held) {
  IteratorId culprit = kNoIterator;
  bool culprit_is_root = true;
  Picoseconds most = 0;
  for (const auto& [id, time] : held.entries()) {
    if (time <= 0) continue;
    const bool is_root = forest[id].has(Trait::root);
    const bool is_better =
        culprit == kNoIterator || (culprit_is_root && !is_root) || (culprit_is_root == is_root && time > most);
    if (!is_better) continue;
    culprit = id;
    culprit_is_root = is_root;
    most = time;
  }
  return culprit;
}

MeasuredPhase measure_phase(const PhaseTools& tools, IteratorId root, std::span<const std::size_t> calls) {
  return PhaseMeasurer(tools, root, calls).measure();
}

}  // namespace doctor
