#pragma once

#include <string>
#include <string_view>

#include "measure/measurements.h"

namespace doctor {

/// The kind of dataset without the runtime's version: "ParallelMap" for ParallelMapV2.
std::string_view kind_of(const IteratorMeasurement& iterator);

/// What the kind of dataset is called in the Python API: "Dataset.map", "Dataset.map with num_parallel_calls". Empty
/// for a kind without a name there.
std::string_view words_of_kind(const IteratorMeasurement& iterator);

/// The iterator by itself in the words of the Python API (describe() of user_code.h knows the pipeline around it, too):
/// "Dataset.map", "tf.data.TFRecordDataset", "your .map().batch(), fused by TF", "Dataset.prefetch (inserted by TF)". A
/// kind without a name in the API keeps the trace's own.
std::string describe(const IteratorMeasurement& iterator);

/// Whether TF's graph optimiser made it out of several transformations of the user.
bool is_fused(const IteratorMeasurement& iterator);

/// Whether TF's graph optimiser put it in: the user never wrote it.
bool is_injected(const IteratorMeasurement& iterator);

/// Whether it calls a function of the user for each element, one call at a time because the user wrote it so: a plain
/// map, or one that TF fused with the batch behind it and left at parallelism 1 (not one where AUTOTUNE chose 1).
bool is_sequential_map(const IteratorMeasurement& iterator);

/// Whether it works on several elements at once on threads of this host.
bool is_parallel(const IteratorMeasurement& iterator);

/// Whether the iterator is a cache, or part of one.
bool is_cache(const IteratorMeasurement& iterator);

/// Whether it is a shuffle of any kind, fused with a repeat or not.
bool is_shuffle(const IteratorMeasurement& iterator);

/// The Python expression that makes a dataset of one file name, for sources that read files: "tf.data.TFRecordDataset".
/// Empty for other sources and for transformations.
std::string_view reader_expression(const IteratorMeasurement& iterator);

}  // namespace doctor
