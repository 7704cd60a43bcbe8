#pragma once

#include "measure/measurements.h"

namespace doctor {

// What of the user's code an iterator is. TF makes other iterators of a pipeline than she wrote: it fuses, inserts and
// parallelises, and functions like make_csv_dataset write several transformations at once.

/// The iterator by itself in the words of the Python API: "Dataset.map", "tf.data.TFRecordDataset", "map + batch" where
/// TF fused them, "Dataset.prefetch (added by TF)". A kind without a name in the API keeps the trace's own.
std::string describe(const IteratorMeasurement& iterator);

/// The iterator as she would find it in her code: "map at input.py:33", where the line is not known "Dataset.map", of
/// several "your 2nd map", and with its name `map "parse"`; "map + batch" where TF fused two calls; "the batch inside
/// of make_csv_dataset at input.py:12" for a step of a function of TF's.
std::string describe(const HostMeasurement& host, IteratorId id);

/// describe(), but for the last step of a function of TF's that function: what comes after the step comes after the
/// call.
std::string describe_end_of_call(const HostMeasurement& host, IteratorId id);

/// Whether Keras made the pipeline of an iterator, of a PyDataset or Sequence that was handed to fit: there is no
/// dataset in the user's code. False where neither the lines of the program nor Python's frames are known.
bool is_made_by_keras(const HostMeasurement& host, IteratorId iterator);

/// Tests whether the pipeline's calls are those of another loader than tf.data, which is written in Python.
bool has_other_loader(const PipelineMeasurement& pipeline);

/// How the batches of a pipeline are made if a loader written in Python makes them; null if not, or not known.
const BatchMaking* batch_making_of(const HostMeasurement& host, const PipelineMeasurement& pipeline);

/// Of Keras: "__getitem__ at train.py:16 in 4 worker threads"; where no frame shows a function, the queue.
std::string describe(const BatchMaking& making);

/// "map (parse at train.py:10)".
std::string describe(const LoaderStage& stage);

/// Whether what makes the batches is not in the trace: worker processes do it, and next() does nothing but wait.
bool is_made_elsewhere(const BatchMaking& making);

/// Whether others of the same method stand in the pipeline, so that its words alone do not say which one it is.
bool is_one_of_several(const IteratorMeasurement& iterator);

/// The Python expression that makes a dataset of one file name, for sources that read files: "tf.data.TFRecordDataset".
/// Empty for other sources and for transformations.
std::string_view reader_expression(const IteratorMeasurement& iterator);

}  // namespace doctor
