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
  parallel_map,         ///< map(f, num_parallel_calls=p), or more calls at once where it has some
  parallel_interleave,  ///< interleave(f, cycle_length=c, num_parallel_calls=p)
  parallel_batch,       ///< batch(n, num_parallel_calls=p)
  prefetch,             ///< prefetch() at the end
  iterate_once,         ///< iter() before the loop, which makes an iterator for every step
  prefetch_below,       ///< prefetch() before the transformation
  cache,                ///< cache() after the transformation
  filter_first,         ///< filter() before the map below it
  map_after,            ///< the map after the filter that stands above it
  skip_first,           ///< skip() before the maps below it
  parallel_filter,      ///< the filter's predicate in a parallel map before it
  split_cache,          ///< the part of a map before its random ops in a map of its own, and cache() after that
  files,                ///< what a generator makes read from files, in parallel
  vectorize,            ///< batch() before map()
  threadpool,           ///< options.threading.private_threadpool_size = p
  buffer,               ///< a prefetch buffer of p elements
  unordered,            ///< deterministic=False
  free,                 ///< the iterator's own work takes next to nothing: what a fix of it can gain at most, no advice
  none,                 ///< a change that changes no rate
};

struct Fix {
  FixKind kind = FixKind::none;
  IteratorId iterator = kNoIterator;        ///< kNoIterator: of the pipeline as a whole
  std::optional<std::int64_t> parallelism;  ///< calls, threads or elements; none: what AUTOTUNE comes to
  std::optional<std::int64_t> cycle_length;

  friend bool operator==(const Fix&, const Fix&) = default;
};

/// "parallel_map".
std::string_view name_of(FixKind kind);
/// All of them, in the order of the enumeration.
std::vector<std::string_view> fix_kinds();

/// The fix that `KIND[:ITERATOR][,p=N|auto][,cycle=N]` says. ITERATOR is the end of an iterator's long name, with or
/// without versions. Where several end so, or it is left out, an interleave is meant before a flat_map, and of others
/// the one with most calls. Errors: no such kind, iterator or setting; an iterator that the kind does not apply to.
Result<Fix> parse_fix(std::string_view text, const HostMeasurement& host);

/// As parse_fix() reads it; the iterator's name as short as it can be.
std::string to_string(const Fix& fix, const HostMeasurement& host);

/// The shortest end of the iterator's long name that no other iterator of the host ends in.
std::string short_path(const HostMeasurement& host, IteratorId iterator);

/// Whether a replay can tell what a pipeline that is made anew for every step gains if it is made once: what fills a
/// shuffle buffer each time would then be read once, so one with such a buffer gains more than any replay says. False
/// for kNoIterator.
bool can_iterate_once(const HostMeasurement& host, IteratorId root);

/// The fix of one iterator for all steps, or all epochs, of the pipeline; none where a replay cannot tell its gain.
std::vector<Fix> fixes_to_iterate_once(const HostMeasurement& host, IteratorId root);

/// The steps that begin a new iterator.
std::size_t count_iterations(const ConsumerCycles& consumer);

/// Whether the loop makes an iterator for every step or two, not one for each epoch.
bool iterates_for_each_step(const ConsumerCycles& consumer);

/// Adds the fix to an edit.
void apply(const Fix& fix, const PipelineModel& model, Edit& edit);

/// The fixes together, on top of an edit of the machine.
Edit edit_for(std::span<const Fix> fixes, const PipelineModel& model, Edit edit = {});

}  // namespace doctor
