#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "model/pipeline_model.h"

namespace doctor {

/// A change of the pipeline.
enum class FixKind {
  parallel_map,         ///< map(f, num_parallel_calls=p), or more calls at once if it has some
  parallel_interleave,  ///< interleave(f, cycle_length=c, num_parallel_calls=p)
  parallel_batch,       ///< batch(n, num_parallel_calls=p)
  prefetch,             ///< prefetch() at the end
  iterate_once,         ///< one iter() before the loop, which now makes an iterator for every step
  prefetch_below,       ///< prefetch() before the transformation
  cache,                ///< cache() after the transformation
  filter_first,         ///< filter() before the map below it
  map_after,            ///< the map after the filter that stands above it
  skip_first,           ///< skip() before the maps below it
  parallel_filter,      ///< the filter's predicate in a parallel map before it
  split_cache,          ///< the part of a map before its random ops in a map of its own, followed by cache()
  files,                ///< read from files, in parallel, what a generator makes
  vectorize,            ///< batch() before map()
  threadpool,           ///< options.threading.private_threadpool_size = p
  buffer,               ///< a prefetch buffer of p elements
  unordered,            ///< deterministic=False
  /// the iterator's own work takes almost no time: the most that a fix of it can gain, so not advice
  free,
  none,  ///< a change that changes no rate
};

struct Fix {
  FixKind kind = FixKind::none;
  IteratorId iterator = kNoIterator;        ///< kNoIterator: the pipeline as a whole
  std::optional<std::int64_t> parallelism;  ///< calls, threads or elements; nullopt: what AUTOTUNE would choose
  std::optional<std::int64_t> cycle_length;

  friend bool operator==(const Fix&, const Fix&) = default;
};

/// The name of a kind, as on the command line: "parallel_map".
std::string_view name_of(FixKind kind);
/// The names of all kinds, in the order of the enumeration.
std::vector<std::string_view> fix_kinds();

/// Parses `KIND[:ITERATOR][,p=N|auto][,cycle=N]`. ITERATOR is the end of an iterator's long name, with or without
/// versions. If several names end so, or if it is left out, an interleave is preferred to a flat_map, else the iterator
/// with most calls. Errors: no such kind, iterator or setting; an iterator that the kind does not apply to.
Result<Fix> parse_fix(std::string_view text, const HostMeasurement& host);

/// The text that parse_fix() reads, with the shortest possible name of the iterator.
std::string to_string(const Fix& fix, const HostMeasurement& host);

/// The shortest end of the iterator's long name that no other iterator of the host ends in.
std::string short_path(const HostMeasurement& host, IteratorId iterator);

/// Tests whether a replay can tell the gain if a pipeline that is made anew for every step is made once. It cannot if a
/// shuffle buffer is filled each time: its input would then be read once, so the gain is more than any replay says.
/// False for kNoIterator.
bool can_iterate_once(const HostMeasurement& host, IteratorId root);

/// The fix that uses one iterator for all steps, or all epochs, of the pipeline; none if a replay cannot tell its gain.
std::vector<Fix> fixes_to_iterate_once(const HostMeasurement& host, IteratorId root);

/// The number of steps that begin a new iterator.
std::size_t count_iterations(const ConsumerCycles& consumer);

/// Tests whether the loop makes an iterator for every step or two, rather than one for each epoch.
bool iterates_for_each_step(const ConsumerCycles& consumer);

/// Adds the fix to an edit.
void apply(const Fix& fix, const PipelineModel& model, Edit& edit);

/// All fixes together, on top of an edit of the machine.
Edit edit_for(std::span<const Fix> fixes, const PipelineModel& model, Edit edit = {});

}  // namespace doctor
