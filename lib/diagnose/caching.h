#pragma once

#include "diagnose/pipelines.h"

namespace doctor {

// What cache() can do about the culprit's work, and what stands in its way.

/// The outermost repeat whose epochs redo the culprit's work; none where a cache keeps it from being redone.
IteratorId uncached_repeat_above(const RankedPipeline& ranked);

/// Whether the culprit's work is of a kind that is worth keeping: reading, or a function of the user. What only puts
/// elements together (Batch, PaddedBatch, Scan, ParallelBatch) is not.
bool is_worth_caching(const RankedPipeline& ranked);

/// What makes the result of the culprit differ from epoch to epoch ("its function uses RandomUniform"), so that a cache
/// after it would change the training; empty if nothing in the trace does. A shuffle of file names does not count: the
/// order of files may stay, as long as elements are shuffled after the cache.
std::string randomness_of_culprit(const RankedPipeline& ranked);

/// The repeat() or source because of which what comes out of an iterator has no end; kNoIterator if it has one. A zip
/// ends with its shortest input, and a take() ends (DatasetBase::Cardinality of each).
IteratorId endless_part(const HostMeasurement& host, IteratorId iterator);

/// endless_part() of the culprit. A cache after an endless culprit would never be complete, never be read, and take all
/// memory.
IteratorId endless_before(const RankedPipeline& ranked);

/// Where the user can put a cache of what an iterator makes: after it; of a step inside of a helper like
/// timeseries_dataset_from_array() after the last step of the helper, where a cache after that keeps the same in every
/// epoch.
IteratorId place_of_cache_after(const HostMeasurement& host, IteratorId iterator);

/// What is the same in every epoch of a map's function before a cache, the rest after it. A shuffle of elements before
/// the map comes after the cache, which would keep the order of the first epoch; so does a repeat without an end.
std::string code_to_split(const HostMeasurement& host, IteratorId map);

/// Advice to keep the culprit's result for later epochs, where a cache can be completed and read again; before repeat()
/// or the random part, where these stand in its way. nullopt where a cache stands there already or would gain nothing.
std::optional<Advice> advice_to_cache(const RankedPipeline& ranked);

/// " (about 1.5 MB an element)", where the trace shows it; else empty.
std::string size_of_elements(const RankedPipeline& ranked);

/// The cache that is being filled, so that a later epoch has none of the work before it; nullopt if none is, or if it
/// is never complete.
std::optional<CacheFill> filling_cache(const HostMeasurement& host, const PipelineMeasurement& pipeline);

/// The take() after a cache that ends each epoch before the cache is complete; kNoIterator: none. One after a repeat()
/// ends no epoch.
IteratorId take_after_cache(const HostMeasurement& host, IteratorId cache);

/// The cache that is read most among those that are being filled; null if none is.
const CacheFill* largest_cache_fill(const PipelineMeasurement& pipeline);

}  // namespace doctor
