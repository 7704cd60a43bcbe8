#include "measure/measure_passes.h"
#include "text/numbers.h"
#include "tree/dataset_kinds.h"

namespace doctor {
namespace {

/// What the file says, else the clock of its events if that counts from 1970: clocks that count from the start of the
/// recording or of the machine are far from it.
std::int64_t recording_start(const Trace& trace) {
  // Nanoseconds; no trace is older, and a clock that counts from a start is far from it.
  constexpr std::int64_t kSeptember2001 = 1'000'000'000'000'000'000;
  if (trace.recorded_ns >= kSeptember2001) return trace.recorded_ns;
  std::int64_t start = 0;
  const std::int64_t into_file = trace.window.start / kPicosecondsPerNanosecond;
  if (__builtin_add_overflow(trace.origin_ns, into_file, &start) || start < kSeptember2001) return 0;
  return start;
}

/// A window may end before the first element was made: then threads and ops of tf.data are all that it shows.
bool mentions_tf_data(const Trace& trace) {
  if (trace.iterator_event_count > 0 || !trace.makings.empty()) return true;
  const bool has_thread = std::any_of(trace.lanes.begin(), trace.lanes.end(), [&](const Lane& lane) {
    return trace.strings[lane.name].starts_with("tf_data_");
  });
  const auto is_of_tf_data = [&](const OpCall& op) {
    const std::string_view type = without_version(trace.strings[op.type]);
    return type.ends_with("Dataset") || type.ends_with("Iterator");
  };
  return has_thread || std::any_of(trace.lanes.begin(), trace.lanes.end(), [&](const Lane& lane) {
           for (std::size_t index = 0; index < lane.ops.size(); ++index) {
             if (is_of_tf_data(lane.ops[index])) return true;
           }
           return false;
         });
}

std::uint64_t count_compute_threads(const Trace& trace) {
  std::uint64_t compute_threads = 0;
  std::uint64_t pool_threads = 0;
  for (const Lane& lane : trace.lanes) {
    const std::string_view name = trace.strings[lane.name];
    if (name.find("tf_Compute") != std::string_view::npos) ++compute_threads;
    if (is_compute_pool(name)) ++pool_threads;
  }
  return std::max(compute_threads, pool_threads);
}

/// What building the tree left out, and what the table of strings did.
void add_losses(const Trace& trace, const IteratorForest& forest, Loss& loss) {
  if (forest.too_deep > 0) {
    loss.add("iterators_nested_too_deep", forest.too_deep);
    loss.notes.push_back(format_count(forest.too_deep, "iterator") +
                         " stood below 256 others, deeper than any real pipeline, and count as inputs of these");
  }
  if (forest.too_many > 0) {
    loss.add("iterators_of_too_many_names", forest.too_many);
    loss.notes.push_back(format_count(forest.too_many, "iterator") + " beyond the first " +
                         format_count(kMostIterators) + ", more than any real job has, count as the last of them");
  }
  if (trace.strings.refused() > 0) {
    loss.add("names_too_many", trace.strings.refused());
    loss.notes.push_back("the trace has more than " + format_count(StringTable::kMostStrings) +
                         " different names, more than any real job: others are read as \"…\"");
  }
}

}  // namespace

void describe_trace(const Trace& trace, const IteratorForest& forest, HostMeasurement& host) {
  static_cast<TraceFacts&>(host) = trace;
  host.recorded_ns = recording_start(trace);
  host.mentions_tf_data = mentions_tf_data(trace);
  host.window = trace.window.end - trace.window.start;
  host.window_start = trace.window.start;
  host.batch_making = measure_batch_making(trace);
  add_losses(trace, forest, host.loss);
  host.step_markers = trace.steps;
  host.has_session_runs = !trace.lanes_are_threads;
  host.threads.reserve(trace.lanes.size());
  for (const Lane& lane : trace.lanes) host.threads.emplace_back(trace.strings[lane.name]);
  host.compute_threads = count_compute_threads(trace);
}

}  // namespace doctor
