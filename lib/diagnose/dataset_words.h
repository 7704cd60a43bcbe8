#pragma once

#include <string>
#include <string_view>

#include "measure/measurements.h"
#include "tree/dataset_kinds.h"

namespace doctor {

/// The kind of a node of the dataset graph: "MapDataset:3" or "scope/MapDataset:3".
const DatasetKind& dataset_kind_of_node(std::string_view node);

/// The iterator by itself in the words of the Python API (describe() of user_code.h looks at the pipeline around it,
/// too): "Dataset.map", "tf.data.TFRecordDataset", "map + batch" where TF fused them, "Dataset.prefetch (added by TF)".
/// A kind without a name in the API keeps the trace's own.
std::string describe(const IteratorMeasurement& iterator);

/// Whether TF's graph optimiser made it out of several transformations of the user.
bool is_fused(const IteratorMeasurement& iterator);

/// Whether TF's graph optimiser put it in: the user never wrote it.
bool is_injected(const IteratorMeasurement& iterator);

/// Whether it calls a function of the user for each element, one call at a time because the user wrote it so: a plain
/// map, or one that TF fused with the batch after it and left at parallelism 1 (not one where AUTOTUNE chose 1).
bool is_sequential_map(const IteratorMeasurement& iterator);

/// Whether it reads several files, or other datasets that its function makes, at once.
bool is_parallel_interleave(const IteratorMeasurement& iterator);

/// The Python expression that makes a dataset of one file name, for sources that read files: "tf.data.TFRecordDataset".
/// Empty for other sources and for transformations.
std::string_view reader_expression(const IteratorMeasurement& iterator);

}  // namespace doctor
