#include "measure/phase.h"

#include <algorithm>
#include <limits>
#include <optional>
#include <utility>

#include "base/intervals.h"
#include "base/parallel.h"
#include "measure/busy_threads.h"
#include "measure/function_ops.h"
#include "measure/path_walker.h"

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
  std::vector<Picoseconds>
      critical_of_first_half;  ///< indexed by IteratorId: PhaseMeasurement::critical of these calls
  FunctionActivity function;   ///< of the culprit
};

void add(std::vector<Picoseconds>& sums, const std::vector<Picoseconds>& more) {
  for (std::size_t index = 0; index < sums.size(); ++index) sums[index] += more[index];
}

bool is_work(SegmentKind kind) {
  return kind == SegmentKind::self || kind == SegmentKind::function;
}

/// Adds up what each iterator held by its own work and its function.
void add_held(std::span<const Segment> segments, std::vector<Picoseconds>& critical) {
  for (const Segment& segment : segments) {
    const bool is_held = segment.iterator != kNoIterator && is_work(segment.kind);
    if (is_held) critical[index_of(segment.iterator)] += segment.span.end - segment.span.start;
  }
}

class PhaseMeasurer {
 public:
  PhaseMeasurer(const PhaseTools& tools, IteratorId root, std::span<const std::size_t> calls)
      : tools_(tools), root_(root), calls_(calls) {}

  MeasuredPhase measure();

 private:
  const RootCall& call(std::size_t position) const { return tools_.forest.root_calls[calls_[position]]; }
  Sums no_sums() const;
  void attribute(CallRange range, Purpose purpose, Sums& sums) const;
  void attribute_parallel(CallRange range, Purpose purpose);
  void add_segments(const RootCall& call, std::span<const Segment> segments, MeasuredPhase& sums) const;
  bool is_in_first_half(std::size_t position) const { return position < calls_.size() / 2; }
  IteratorId find_culprit() const { return doctor::find_culprit(tools_.forest, sums_.measured.phase.critical); }
  void compare_halves();
  void measure_function();
  void describe_function();
  void measure_threads();

  const PhaseTools& tools_;
  const IteratorId root_;
  const std::span<const std::size_t> calls_;
  Sums sums_ = no_sums();
};

Sums PhaseMeasurer::no_sums() const {
  Sums sums;
  sums.measured.phase.critical.assign(tools_.forest.iterators.size(), 0);
  sums.critical_of_first_half = sums.measured.phase.critical;
  sums.measured.phase.in_function.assign(tools_.forest.iterators.size(), 0);
  sums.measured.phase.longest_held.assign(tools_.forest.iterators.size(), {});
  return sums;
}

void PhaseMeasurer::add_segments(const RootCall& call, std::span<const Segment> segments, MeasuredPhase& sums) const {
  PhaseMeasurement& phase = sums.phase;
  const Picoseconds latency = call.span.end - call.span.start;
  ++phase.call_count;
  phase.waited += latency;
  sums.unattributed += latency;
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
    phase.critical[index_of(segment.iterator)] += length;
    const Sighting piece{segment.span, segment.lane};
    Sighting& longest = phase.longest_held[index_of(segment.iterator)];
    if (piece.outweighs(longest)) longest = piece;
    if (segment.kind == SegmentKind::function) phase.in_function[index_of(segment.iterator)] += length;
  }
}

/// Attributes the calls of a range one after another. Where calls of several consumers overlap, a moment of the
/// function counts once.
void PhaseMeasurer::attribute(CallRange range, Purpose purpose, Sums& sums) const {
  CriticalPath::Walker walker(tools_.path);
  std::optional<FunctionOps> ops;
  if (purpose.function_of != kNoIterator) {
    ops.emplace(tools_.trace, tools_.op_kinds, tools_.owners, purpose.function_of);
  }
  Picoseconds done = std::numeric_limits<Picoseconds>::min();
  for (std::size_t before = 0; before < range.first; ++before) done = std::max(done, call(before).span.end);
  std::vector<Interval> windows;
  for (std::size_t position = range.first; position < range.last; ++position) {
    const std::span<const Segment> segments = walker.attribute(call(position));
    if (purpose.adds_up) add_segments(call(position), segments, sums.measured);
    if (purpose.adds_up && is_in_first_half(position)) add_held(segments, sums.critical_of_first_half);
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
}

void PhaseMeasurer::attribute_parallel(CallRange range, Purpose purpose) {
  const unsigned threads = threads_for(tools_.work, tools_.trace.iterator_event_count);
  // Two parts for each thread: one that finishes early takes over from the others.
  const std::size_t count = range.last - range.first;
  const std::size_t parts = std::min<std::size_t>(count, threads == 1 ? 1 : 2 * threads);
  std::vector<Sums> results(parts, no_sums());
  run_parallel(threads, parts, [&](std::size_t part) {
    const CallRange some{range.first + count * part / parts, range.first + count * (part + 1) / parts};
    attribute(some, purpose, results[part]);
  });
  for (const Sums& result : results) {
    MeasuredPhase& sums = sums_.measured;
    const MeasuredPhase& more = result.measured;
    sums.phase.call_count += more.phase.call_count;
    sums.phase.waited += more.phase.waited;
    add(sums.phase.critical, more.phase.critical);
    add(sums_.critical_of_first_half, result.critical_of_first_half);
    add(sums.phase.in_function, more.phase.in_function);
    for (std::size_t index = 0; index < more.phase.longest_held.size(); ++index) {
      Sighting& longest = sums.phase.longest_held[index];
      if (more.phase.longest_held[index].outweighs(longest)) longest = more.phase.longest_held[index];
    }
    sums.phase.handoff += more.phase.handoff;
    sums.phase.unseen += more.phase.unseen;
    sums.phase.outside += more.phase.outside;
    sums.feeding_roots.insert(more.feeding_roots.begin(), more.feeding_roots.end());
    sums.unattributed += more.unattributed;
    sums_.function.add(result.function);
  }
}

void PhaseMeasurer::compare_halves() {
  PhaseMeasurement& phase = sums_.measured.phase;
  std::vector<Picoseconds> second_half = phase.critical;
  for (std::size_t index = 0; index < second_half.size(); ++index) {
    second_half[index] -= sums_.critical_of_first_half[index];
  }
  phase.culprits_of_halves = {doctor::find_culprit(tools_.forest, sums_.critical_of_first_half),
                              doctor::find_culprit(tools_.forest, second_half)};
}

void PhaseMeasurer::measure_threads() {
  if (tools_.forest.iterators.empty()) return;
  std::vector<Interval> waits;
  for (std::size_t position = 0; position < calls_.size(); ++position) waits.push_back(call(position).span);
  waits = united(std::move(waits));
  const BusyThreads busy = average_busy_threads(tools_.trace, tools_.forest, tools_.op_kinds, waits, tools_.work);
  PhaseMeasurement& phase = sums_.measured.phase;
  phase.busy_threads = busy.all;
  phase.pool_threads = busy.in_pool_only;
  phase.queued_closures = average_queued_closures(tools_.trace, waits);
}

/// Attributes all calls, and those of a first part twice if that part knew the culprit, else all.
void PhaseMeasurer::measure_function() {
  const PhaseMeasurement& phase = sums_.measured.phase;
  const auto runs_function = [&](IteratorId id) { return id != kNoIterator && phase.in_function[index_of(id)] > 0; };
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
  phase.function_active = function.active;
  phase.function_idle = function.idle;
  for (const auto& [op, time] : function.beside) {
    if (time > 0) phase.beside.push_back({op.first, std::string(tools_.trace.strings[op.second]), time});
  }
  std::sort(phase.beside.begin(), phase.beside.end(), [](const OpBeside& a, const OpBeside& b) {
    return a.time != b.time ? a.time > b.time : std::pair(a.iterator, a.op) < std::pair(b.iterator, b.op);
  });
}

MeasuredPhase PhaseMeasurer::measure() {
  if (calls_.empty()) return std::move(sums_.measured);
  measure_function();
  compare_halves();
  measure_threads();
  describe_function();
  return std::move(sums_.measured);
}

}  // namespace

std::vector<Picoseconds> held_times(const PhaseTools& tools, std::span<const std::size_t> calls) {
  std::vector<Picoseconds> held(tools.forest.iterators.size(), 0);
  CriticalPath::Walker walker(tools.path);
  for (const std::size_t call : calls) add_held(walker.attribute(tools.forest.root_calls[call]), held);
  return held;
}

IteratorId find_culprit(const IteratorForest& forest, std::span<const Picoseconds> held) {
  IteratorId culprit = kNoIterator;
  bool culprit_is_root = true;
  for (std::size_t index = 0; index < held.size(); ++index) {
    if (held[index] <= 0) continue;
    const std::string& kind = forest.iterators[index].short_name;
    const bool is_root = kind == "Root" || kind == "Model";
    const bool is_better = culprit == kNoIterator || (culprit_is_root && !is_root) ||
                           (culprit_is_root == is_root && held[index] > held[index_of(culprit)]);
    if (!is_better) continue;
    culprit = static_cast<IteratorId>(index);
    culprit_is_root = is_root;
  }
  return culprit;
}

MeasuredPhase measure_phase(const PhaseTools& tools, IteratorId root, std::span<const std::size_t> calls) {
  return PhaseMeasurer(tools, root, calls).measure();
}

}  // namespace doctor
