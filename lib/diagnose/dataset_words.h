#pragma once

#include <string>
#include <string_view>

#include "measure/measurements.h"
#include "tree/dataset_kinds.h"

namespace doctor {

/// The iterator by itself in the words of the Python API (describe() of user_code.h looks at the pipeline around it,
/// too): "Dataset.map", "tf.data.TFRecordDataset", "map + batch" where TF fused them, "Dataset.prefetch (added by TF)".
/// A kind without a name in the API keeps the trace's own.
std::string describe(const IteratorMeasurement& iterator);

/// The Python expression that makes a dataset of one file name, for sources that read files: "tf.data.TFRecordDataset".
/// Empty for other sources and for transformations.
std::string_view reader_expression(const IteratorMeasurement& iterator);

}  // namespace doctor
