#pragma once

#include <algorithm>
#include <deque>
#include <limits>
#include <map>
#include <optional>

#include "base/chunked_vector.h"
#include "base/ids.h"
#include "base/packed.h"
#include "base/time.h"
#include "trace/string_table.h"

namespace doctor {

/// Bits that an IteratorCall has for its instance.
inline constexpr unsigned kInstanceBits = 18;
inline constexpr std::size_t kMostCallInstances = std::size_t{1} << kInstanceBits;

/// One GetNext call of an iterator on one thread. It has 16 bytes, since these calls are half of a trace's memory.
struct IteratorCall {
  PackedSpan span;
  InstanceId instance : kInstanceBits = InstanceId{};
  std::uint32_t subtree_size : 32 - kInstanceBits = 1;  ///< rows, including its own; see IteratorCalls::subtree_end()
};
static_assert(sizeof(IteratorCall) == 16);

/// The calls of a thread in pre-order of nesting: the calls nested in row r are the rows r + 1 .. subtree_end(r) - 1,
/// the first nested call is r + 1, and the sibling after row c is subtree_end(c).
class IteratorCalls {
 public:
  std::size_t size() const { return calls_.size(); }
  bool empty() const { return calls_.empty(); }
  const IteratorCall& operator[](std::size_t row) const { return calls_[row]; }
  /// As ChunkedVector::run_from().
  std::span<const IteratorCall> run_from(std::size_t row) const { return calls_.run_from(row); }
  template <typename Predicate>
  std::size_t partition_point(std::size_t from, Predicate is_before) const {
    return calls_.partition_point(from, is_before);
  }

  std::uint32_t subtree_end(std::uint32_t row) const { return subtree_end(row, calls_[row]); }
  /// The same for a row that the caller already has.
  std::uint32_t subtree_end(std::uint32_t row, const IteratorCall& call) const {
    if (call.subtree_size == kLarge) [[unlikely]]
      return end_of_large(row);
    return row + call.subtree_size;
  }

  void push_back(PackedSpan span, InstanceId instance) {
    IteratorCall call;
    call.span = span;
    call.instance = instance;
    calls_.push_back(call);
  }
  void set_instance(std::size_t row, InstanceId instance) { calls_[row].instance = instance; }
  /// Ends the subtree of a row with the last row that exists.
  void close(std::uint32_t row) {
    constexpr std::uint32_t kMostOfRow = (std::uint32_t{1} << (32 - kInstanceBits)) - 1;
    const std::uint32_t length = static_cast<std::uint32_t>(calls_.size()) - row;
    calls_[row].subtree_size = length <= kMostOfRow ? length & kMostOfRow : kLarge;
    if (length > kMostOfRow) [[unlikely]]
      close_large(row);
  }
  /// Called when all rows are closed. subtree_end() may be used afterwards.
  void finish();

 private:
  /// A subtree too large for the field of its row, such as that of a call which fills a shuffle's buffer.
  struct LargeSubtree {
    std::uint32_t row = 0;
    std::uint32_t end = 0;
  };
  static constexpr std::uint32_t kLarge = 0;

  [[gnu::cold]] std::uint32_t end_of_large(std::uint32_t row) const;
  [[gnu::cold]] void close_large(std::uint32_t row);

  ChunkedVector<IteratorCall> calls_;
  ChunkedVector<LargeSubtree> large_;  ///< in order of the rows, once finish() was called
};

/// The parts of a file that could not be read or used. Empty counts mean that every event was understood.
struct Loss {
  std::map<std::string, std::uint64_t> counts;  ///< reason in snake_case -> how many events (or bytes, if it says so)
  std::vector<std::string> notes;               ///< one line for a person each, in the order of discovery
  /// The largest share of its bytes that a truncated file may hold, 0..1; nullopt if its length is not known.
  std::optional<double> kept_share;

  bool complete() const { return counts.empty(); }
  void add(const std::string& reason, std::uint64_t count = 1) { counts[reason] += count; }
  /// Adds the loss of another part of the same input.
  void add(const Loss& other) {
    for (const auto& [reason, count] : other.counts) add(reason, count);
    notes.insert(notes.end(), other.notes.begin(), other.notes.end());
    if (!kept_share) kept_share = other.kept_share;
  }
};

/// The numbers that events carried, from the smallest to the largest. None: `low` is above `high`.
struct NumberRange {
  std::int64_t low = std::numeric_limits<std::int64_t>::max();
  std::int64_t high = std::numeric_limits<std::int64_t>::min();

  bool is_known() const { return low <= high; }
  void add(NumberRange other) {
    low = std::min(low, other.low);
    high = std::max(high, other.high);
  }
  friend bool operator==(const NumberRange&, const NumberRange&) = default;
};

/// A value that an iterator carries as an argument, e.g. parallelism = 4 or deterministic = "true".
struct Attribute {
  StringId name{};
  bool is_number = false;
  std::int64_t number = 0;
  StringId text{};
  NumberRange range = {};  ///< of all events; only with TraceNeeds::ranges_of

  /// Takes the value that later events carry.
  void take_later(const Attribute& later) {
    NumberRange all = range;
    all.add(later.range);
    *this = later;
    range = all;
  }
  friend bool operator==(const Attribute&, const Attribute&) = default;
};

// What iterators of TF 2.13 and later say of their elements: "[?,224,224,3] [?]" and "uint8 int64".
inline constexpr std::string_view kElementShapes = "shapes";
inline constexpr std::string_view kElementTypes = "types";

enum class AttributeKind : std::uint8_t { absent, number, text };

/// A value of an attribute that the events of an instance on one thread carry from `since` on.
struct AttributeRun {
  Picoseconds since = 0;
  std::int64_t value = 0;  ///< the number, or the StringId of the text
  AttributeKind kind = AttributeKind::absent;
};

/// The values of one attribute in the events of one instance on one thread.
struct AttributeTrack {
  LaneId lane{};
  InstanceId instance{};
  StringId name{};
  std::vector<AttributeRun> runs;  ///< in order of time; neighbours differ
};

inline constexpr std::uint32_t kNoMaking = std::numeric_limits<std::uint32_t>::max();

/// One tf.data iterator object. A pipeline that is iterated again gets new instances, even if the runtime reuses the
/// ids of instances that are gone (see tell_lives_apart()).
struct IteratorInstance {
  StringId long_name{};     ///< "Iterator::Root::Prefetch::BatchV2::Map", with element indices as in the trace
  StringId dataset_name{};  ///< node in the dataset graph, e.g. "MapDataset:3", "inject/prefetch_4_PrefetchDataset:5"
  std::optional<std::uint64_t> id;         ///< opaque 64-bit token; TF1 timelines have none
  std::optional<std::uint64_t> parent_id;  ///< id of the iterator that calls this one
  std::vector<Attribute> attributes;       ///< the last value of each
  Picoseconds first_start = 0;
  Picoseconds last_start = 0;
  std::uint64_t event_count = 0;
  /// index into Trace::makings of the event that made its pipeline; for outermost iterators only
  std::uint32_t making = kNoMaking;
};

/// Python frees more than a tensor: threads end and buffers are emptied, while the caller waits.
struct LongRelease {
  Interval span;
  LaneId lane{};
};

/// The shortest release that counts as long. Releasing a tensor takes microseconds; making threads takes 50 us each.
inline constexpr Picoseconds kShortestLongRelease = 100 * kPicosecondsPerMicrosecond;

/// The runtime makes the iterators of a pipeline, for `iter(dataset)`: its outermost `MakeIterator` event.
struct PipelineMaking {
  Interval span;
  LaneId lane{};
  std::uint64_t structure = 0;  ///< equal for pipelines of the same transformations
};

inline constexpr std::uint32_t kNoRow = std::numeric_limits<std::uint32_t>::max();

// The rows below are packed, because a trace has millions of them. Times are relative to the trace's origin.

/// A GetNext op of the consumer: the outermost one if several are nested (op inside op kernel).
struct GetNextCall {
  PackedSpan span;
  std::uint32_t first_row = 0;  ///< the iterator calls nested in it are the lane's rows [first_row, end_row)
  std::uint32_t end_row = 0;
};

/// A call of a user function. It is synchronous (`Run`: the iterator's time inside the span is the function's) or only
/// dispatched (`RunAsync`: the function then runs on other threads).
struct FunctionRun {
  PackedSpan span;
  PackedToken function_id;     ///< the executor's spans that run it carry the same id; 0 if the trace has none
  std::uint32_t row = kNoRow;  ///< innermost iterator call around it in the same lane
};

/// The executor runs ops of a function on a thread. Most of these ops leave no events of their own.
struct ExecutorSpan {
  PackedSpan span;
  PackedToken function_id;
  std::uint32_t event_count = 0;  ///< events of the trace nested in it
};

/// The number of executor spans kept on each thread, the first ones: enough for a model of the pipeline, and a bound on
/// memory.
inline constexpr std::size_t kMostExecutorSpans = 4096;

/// A call from Python into TensorFlow, which runs something and then takes Python's lock again.
struct PythonCall {
  PackedSpan span;
  Picoseconds ran_until = 0;  ///< when its work was done; 0 if it called nothing
};

/// The number of calls from Python kept on each thread, the first ones.
inline constexpr std::size_t kMostPythonCalls = 4096;

/// An element that is made on a background thread.
struct ProducedElement {
  static constexpr unsigned kLaneBits = 18;
  static constexpr std::uint32_t kMostBack = (std::uint32_t{1} << (32 - kLaneBits)) - 1;

  LaneId lane : kLaneBits = LaneId{};  ///< the thread
  /// how many elements before this one have the same id; kMostBack if there are as many or more
  std::uint32_t back : 32 - kLaneBits = 0;
  std::uint32_t row = kNoRow;       ///< first iterator call directly inside the Produce event: it fetched the input
  std::uint32_t last_run = kNoRow;  ///< index of the last function run inside the Produce event
};

/// The first element with the same id as this one. All elements in between have it too.
inline std::size_t first_with_id_of(const std::vector<ProducedElement>& produced, std::size_t element) {
  for (; produced[element].back == ProducedElement::kMostBack; element -= ProducedElement::kMostBack) {
  }
  return element - produced[element].back;
}

/// An element made on a background thread, taken by the iterator call `row`.
struct ConsumedElement {
  /// index into Trace::produced of the first with its id; kNoRow if the trace does not show one
  std::uint32_t element = kNoRow;
  std::uint32_t row = kNoRow;
};

/// One op (kernel) on the host. Ops inside a user function carry the function's id.
struct OpCall {
  PackedSpan span;
  PackedToken function_id;  ///< 0 outside of functions
  StringId type{};          ///< "MatMul"
};

/// A frame of Python: of next() on a loader's iterator, in which the consumer waits, whatever records the loader; of a
/// task that makes elements ahead of it; or of the `__getitem__` that makes an element, the outermost one in those.
struct PythonFrame {
  Interval span;
  LaneId lane{};
  StringId name{};  ///< "$train.py:16 __getitem__"
};

/// The number of such frames, and of batches of workers, that are kept, the first ones.
inline constexpr std::size_t kMostItemFrames = std::size_t{1} << 16;

/// All frames of one name below the same callers.
struct FrameNode {
  StringId name{};
  std::uint32_t parent = kNoRow;  ///< index, less than its own; kNoRow: a frame of next(), or of a maker
  bool is_of_maker = false;       ///< it, or the outermost around it, makes elements ahead of next()
  std::uint64_t calls = 0;
  Picoseconds total = 0;
  Picoseconds shortest = std::numeric_limits<Picoseconds>::max();  ///< of the calls
};

/// The number of nodes that are kept: frames beyond count as time of those around them.
inline constexpr std::size_t kMostFrameNodes = std::size_t{1} << 14;

/// What Python's frames show of a loader written in Python.
struct LoaderFrames {
  std::vector<FrameNode> nodes;     ///< whatever runs in its next() and its makers
  std::vector<PythonFrame> makers;  ///< tasks that make elements ahead of next(), outermost ones, sorted by start
  std::vector<Picoseconds> ready;   ///< when a batch of a pool of workers was, sorted
  std::vector<PythonFrame> items;   ///< of `__getitem__`, sorted by start
  std::vector<StringId> settings;   ///< its stages with their options, as Grain writes them; distinct ones
};

/// A step of training, as a marker in the trace delimits it.
struct StepMarker {
  Picoseconds start = 0;
  Picoseconds duration = 0;
  std::int64_t number = 0;

  Picoseconds end() const { return start + duration; }
};

/// One thread of the host. All tables are sorted by start (iterator calls are in pre-order, which is the same).
struct Lane {
  StringId name{};
  /// In an XSpace, the profiler's number of the thread, which no two processes share. 0 if the format does not say.
  std::uint64_t thread_id = 0;
  IteratorCalls iterator_calls;
  ChunkedVector<GetNextCall> get_next_calls;
  ChunkedVector<FunctionRun> function_runs;
  ChunkedVector<ExecutorSpan> executor_spans;  ///< the first kMostExecutorSpans
  ChunkedVector<PythonCall> python_calls;      ///< the first kMostPythonCalls
  ChunkedVector<ConsumedElement> consumed;     ///< sorted by row
  ChunkedVector<OpCall> ops;
  /// closures that a compute (Eigen) thread ran; on other threads, programs of XLA
  ChunkedVector<PackedSpan> pool_regions;
  bool fills_queue = false;  ///< it puts what it made into a queue of Python, outside of next()
};

/// The number of runs of XLA's programs that are kept, the first ones.
inline constexpr std::size_t kMostProgramRuns = std::size_t{1} << 18;

/// The wait of a closure in the queue of a thread pool, until a thread took it.
struct QueuedClosure {
  Interval waited;
  LaneId lane{};  ///< the thread that ran it

  friend bool operator==(const QueuedClosure&, const QueuedClosure&) = default;
};

/// An even sample of these waits, because a trace may have millions: 1 of `stride`.
struct QueueSample {
  std::uint64_t stride = 1;
  /// in no order; empty if the trace does not say which event began which closure
  std::vector<QueuedClosure> closures;
};

/// Tests whether a thread of this name belongs to a compute pool (intra-op parallelism): tf_numa_-1_Eigen/…, also in TF
/// 1.x and 2.0.
inline bool is_compute_pool(std::string_view thread_name) {
  return thread_name.find("Eigen") != std::string_view::npos;
}

/// A file that a trace was read from.
struct TraceFile {
  std::string path;         ///< as given by the user
  std::string format;       ///< "xspace", "chrome_json", "tf1_timeline"; empty if the file could not be read
  std::uint64_t bytes = 0;  ///< size as stored

  friend bool operator==(const TraceFile&, const TraceFile&) = default;
};

/// What the files of one host's trace say of themselves.
struct TraceFacts {
  std::vector<TraceFile> files;      ///< one, or one for each step if the format keeps steps apart (TF1 timelines)
  std::vector<std::string> hosts;    ///< host names, if the format has them
  std::vector<std::string> devices;  ///< e.g. "/device:GPU:0"
  std::uint64_t event_count = 0;     ///< events in the files that have a time, of any kind and any plane
  std::uint64_t iterator_event_count = 0;
  std::int64_t origin_ns = 0;  ///< the origin of times, in nanoseconds on the clock of the file
  /// when the recording began, in nanoseconds since 1970; 0 if the trace does not say, in a Trace beside its events
  std::int64_t recorded_ns = 0;
  std::string framework;  ///< that recorded it: "JAX", "PyTorch"; empty: TensorFlow, or unknown
  Loss loss;
};

/// Everything that later stages use of one host's trace. Nesting within threads is resolved, and elements are linked to
/// their producers; other relations between threads are not.
struct Trace : TraceFacts {
  Interval window;                ///< from the first start to the last end of the kept events
  bool lanes_are_threads = true;  ///< false in TF1 timelines, where a lane is a row of a drawing
  StringTable strings;
  IndexedBy<InstanceId, std::deque<IteratorInstance>> instances;
  IndexedBy<LaneId, std::vector<Lane>> lanes;
  /// The elements sorted by id, then by start of the call that fetched the input. Ids are unique within one
  /// transformation only, and may recur in a long trace.
  std::vector<ProducedElement> produced;
  std::size_t unnamed_elements = 0;  ///< number of elements without an id, which come first
  std::vector<StepMarker> steps;     ///< sorted by start
  /// The number of events that trace or compile functions, or write summaries or checkpoints. They are not kept: if
  /// there are any, a second reading shows them.
  std::uint64_t compile_and_output_count = 0;
  std::vector<PipelineMaking> makings;   ///< pipelines that are made inside the window, sorted by start
  std::vector<LongRelease> releases;     ///< sorted by start
  std::vector<PythonFrame> next_frames;  ///< outermost ones of the consumer, sorted by start
  LoaderFrames loader;
  std::vector<Interval> program_runs;            ///< of XLA on the CPU; the first kMostProgramRuns, sorted by start
  QueueSample queue;                             ///< how long closures waited for a thread of a pool
  std::vector<AttributeTrack> attribute_tracks;  ///< only if TraceNeeds::attribute_history asks for them
};

}  // namespace doctor
