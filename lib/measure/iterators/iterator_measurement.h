#pragma once

#include "base/ids.h"
#include "base/time.h"
#include "trace/source_lines.h"
#include "trace/trace.h"
#include "tree/dataset_kinds.h"
#include "tree/iterator_forest.h"

namespace doctor {

/// The value of an attribute in an event: a number or a text.
struct AttributeReading {
  std::optional<std::int64_t> number;
  std::string text;  ///< set if there is no number

  friend bool operator==(const AttributeReading&, const AttributeReading&) = default;
};

/// A change: the attribute has another value than in the iterator's previous event.
struct AttributeChange {
  Picoseconds time = 0;  ///< start of the event, on the clock of PipelineMeasurement::calls
  AttributeReading value;
};

/// The values of an attribute over the events of an iterator, in order of time, on all threads.
struct AttributeHistory {
  static constexpr std::size_t kMostChanges = 256;  // a picture shows no more; bounds the memory of a long trace

  std::string name;
  std::uint64_t event_count = 0;        ///< events that carry its value
  std::uint64_t unavailable_count = 0;  ///< events in which the runtime could not look ("unavailable")
  AttributeReading first;
  AttributeReading last;
  std::uint64_t number_count = 0;  ///< events whose value is a number: the next three members are over these
  std::int64_t min = 0;
  std::int64_t max = 0;
  double mean = 0;
  std::uint64_t change_count = 0;
  /// The changes. If there are more than kMostChanges, every 2nd, 4th, 8th … of them, beginning with the first.
  std::vector<AttributeChange> changes;
};

/// How full the buffer of an iterator was when elements were requested.
struct BufferFill {
  std::uint64_t calls = 0;  ///< calls for which the trace says it
  std::uint64_t empty_calls = 0;
  std::uint64_t full_calls = 0;  ///< calls that found at least as many elements as the limit of that moment
  std::int64_t min = 0;          ///< elements
  std::int64_t max = 0;
  double mean = 0;

  double empty_share() const { return static_cast<double>(empty_calls) / static_cast<double>(calls); }
  double full_share() const { return static_cast<double>(full_calls) / static_cast<double>(calls); }
};

/// The attributes and the buffer of one iterator, from its events.
struct IteratorHistory {
  std::vector<AttributeHistory> attributes;  ///< sorted by name
  std::optional<BufferFill> fill;            ///< nullopt if the trace does not say
};

/// The histories, indexed by IteratorId; empty for a trace that was read without TraceNeeds::attribute_history.
std::vector<IteratorHistory> measure_histories(const Trace& trace, const IteratorForest& forest);

/// A value of an iterator attribute: a number or a text.
struct AttributeValue {
  std::string name;
  std::optional<std::int64_t> number;
  std::string text;        ///< set if there is no number
  NumberRange range = {};  ///< see Attribute::range
};

/// A place in the trace where something was seen: a part of one thread's time.
struct Sighting {
  Interval span;
  LaneId lane{};  ///< index into HostMeasurement::threads

  Picoseconds duration() const { return span.end - span.start; }
  /// Tests whether it is longer than the other one. Of two equally long the earlier one wins, so that the order of
  /// addition does not matter.
  bool outweighs(const Sighting& other) const {
    if (duration() != other.duration()) return duration() > other.duration();
    return duration() > 0 && (span.start != other.span.start ? span.start < other.span.start : lane < other.lane);
  }
};

/// Time in one op type of a function.
struct FunctionOp {
  std::string op;
  /// On the critical path of calls (PhaseMeasurement): the union over threads, so parallel ops of one type count once.
  /// In the whole window (IteratorMeasurement): time of threads.
  Picoseconds self = 0;
};

/// The time of all of these ops together.
Picoseconds time_of(std::span<const FunctionOp> ops);
/// The time of those whose type is one of these.
Picoseconds time_of(std::span<const FunctionOp> ops, bool (*is_one)(std::string_view op_type));

/// One of the datasets that an interleave works on, usually a file.
struct InterleavedDataset {
  std::uint64_t number = 0;  ///< in the order of opening, from 0 at the start of the job
  std::uint64_t calls = 0;
  Picoseconds total = 0;  ///< sum of the durations of its calls
  /// their mean duration without the longest quarter, which are openings of a file, or stalls
  Picoseconds element_time = 0;
};

/// What the user wrote of an iterator: one call, or several that TF fused. See find_user_calls().
struct UserCall {
  /// The functions or methods that she called, without their module, in the order of the code: "map", "from_generator",
  /// "make_csv_dataset". None for what TF put in: the root, an inserted prefetch, the hop to a device.
  std::vector<std::string> methods;
  /// The same, but in place of a function that writes several transformations the one that this is: "batch".
  std::vector<std::string> steps;
  /// The `name=` that she gave each of `methods`, an empty text where she gave none; empty if she gave none at all.
  std::vector<std::string> names;
  std::size_t number = 1;  ///< among the calls of its first method in the pipeline, from 1
  std::size_t count = 1;   ///< of these calls; 1 for what is not numbered
  /// Its line is known, and no other call of its methods in the pipeline stands in it.
  bool has_own_line = false;
  /// TF runs it in parallel although she wrote no num_parallel_calls.
  bool is_parallelised_by_tf = false;

  /// "map", "map.batch" where TF fused several; empty for what she did not write.
  std::string method() const;
  /// Names of several fused calls are joined by ", "; empty if she gave none.
  std::string name() const;
  /// Whether others of the same method stand in the pipeline, and its line does not say which one it is.
  bool is_one_of_several() const { return count > 1 && !has_own_line; }
};

/// The activity of one logical iterator over the whole window.
struct IteratorMeasurement : IteratorNode {
  /// Where the user wrote it, or the parts that TF fused, in the order of the code; see find_user_calls().
  std::vector<SourceLine> source_lines;
  std::optional<std::uint64_t> id;         ///< of the first instance
  std::optional<std::uint64_t> parent_id;  ///< of the first instance
  bool is_source = false;
  /// a Generator that fetches from the host pipeline of a device pipeline, so not a source
  bool is_device_hop = false;
  std::vector<AttributeValue> attributes;  ///< the last value of each, sorted by name
  // Of TF 2.13 and later, and only with TraceNeeds::element_types; see element_bytes().
  std::string element_shapes;
  std::string element_types;
  IteratorHistory history;  ///< only if the trace was read with TraceNeeds::attribute_history

  std::uint64_t calls = 0;
  Picoseconds total = 0;  ///< sum of the durations of its calls
  Picoseconds self = 0;   ///< the part outside of nested iterator calls and, if asynchronous, without waiting
  Picoseconds wait = 0;   ///< the part spent waiting for other threads (asynchronous iterators only)
  /// The work of its functions beside its calls, as time of threads (asynchronous iterators only; for others it is part
  /// of `self`). It counts ops, including Python. Two threads at work for 1 ms are 2 ms; an op inside of another on one
  /// thread counts once. What a function does outside of ops is not recorded.
  Picoseconds function = 0;
  std::uint64_t instances = 0;  ///< iterator objects folded into this one
  Sighting longest_call;
  std::uint64_t epochs = 0;  ///< distinct indices of Repeat in the long names of its instances
  /// For a parallel interleave, the datasets that it works on, by number. See interleaved_datasets().
  std::vector<InterleavedDataset> interleaved;
  /// Op types of its functions in the whole window, whoever waited, longest first. See function_types_of().
  std::vector<FunctionOp> function_ops;
  /// Those op types that draw random numbers or augment randomly, sorted.
  std::vector<std::string> random_ops;

  /// The function of TF that wrote it, where that writes several transformations at once and this is one of its steps:
  /// "tf.data.experimental.make_csv_dataset". Empty for what the user wrote herself. See find_user_calls().
  std::string maker;
  UserCall user_call;
  /// It shuffles names of files and no elements of them: list_files does, nearly every pipeline has one.
  bool shuffles_file_names = false;

  /// Whether what comes after it differs from epoch to epoch.
  bool shuffles_elements() const { return has(Trait::shuffle) && !shuffles_file_names; }
  /// Whether TF's graph optimiser made it out of several transformations of the user. (The root carries the name of
  /// what stands below it.)
  bool is_fused() const { return dataset_name.starts_with("fused(") && !has(Trait::root); }
  /// Whether TF's graph optimiser put it in: the user never wrote it.
  bool is_injected() const { return dataset_name.starts_with("inject/") && !has(Trait::root); }
  /// Whether TF put it in, in whatever way: "device_prefetch" is its name for the prefetch of a MultiDeviceIterator.
  bool is_put_in_by_tf() const { return is_device_hop || is_injected() || dataset_name == "device_prefetch"; }
  /// Whether it calls a function of the user for each element, one call at a time because the user wrote it so: a plain
  /// map, or one that TF fused with the batch after it and left at parallelism 1 (not one where AUTOTUNE chose 1).
  bool is_sequential_map() const {
    const bool is_one_call = number("parallelism") == 1 && text("autotune") != "true";
    return is_sequential(Trait::map) || (has(Trait::fused_batch) && is_one_call);
  }
  /// Whether it reads several files, or other datasets that its function makes, at once.
  bool is_parallel_interleave() const { return has(Trait::parallel) && has(Trait::interleave); }

  /// Where she wrote it; of several that TF fused the first. Null if that is not known, or she did not write it.
  const SourceLine* line() const { return source_lines.empty() ? nullptr : &source_lines.front(); }
  /// Whether one call of a function that writes several transformations wrote both.
  bool is_of_call_of(const IteratorMeasurement& other) const;

  /// Its own work, on whatever threads; waiting for others is not work.
  Picoseconds work() const { return self + function; }

  /// The value of an attribute; null if it has none.
  const AttributeValue* find(std::string_view attribute) const;
  /// The value as a number; nullopt if it has none, or a text.
  std::optional<std::int64_t> number(std::string_view attribute) const;
  /// The value as a text; empty if it has none, or a number.
  std::string_view text(std::string_view attribute) const;
};

/// Tests whether AUTOTUNE chooses the iterator's parallelism or buffer; nullopt if the trace does not say (a prefetch
/// of TF 2.4, a TF1 timeline, a kind that has neither).
std::optional<bool> is_autotuned(const IteratorMeasurement& iterator);

}  // namespace doctor
