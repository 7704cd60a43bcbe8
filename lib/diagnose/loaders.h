#pragma once

#include "diagnose/finding.h"
#include "measure/measurements.h"

namespace doctor {

// What is said of inputs of which a trace shows only that Python waits for them, and of traces of other frameworks.

/// The framework that recorded the run, where none of its files is TensorFlow's: "JAX", "PyTorch"; else empty.
std::string foreign_framework(const Measurements& measurements);

/// Tests whether PyTorch recorded all files, whose devices are not read and of which TensorFlow's guides say nothing.
bool is_of_torch(const Measurements& measurements);

/// What the trace shows of the loader that the pipeline's calls wait for, as a clause after "unknown: "; empty where
/// the calls are GetNext's.
std::string describe_loader(const HostMeasurement& host, const PipelineMeasurement& pipeline);

/// The stages of a loader in the order in which elements pass them, with their shares of the work, "source 1.0% > map
/// 97% > batch 1.2% > prefetch"; empty where no frame shows one at work.
std::string describe_stages(const BatchMaking& making);

/// What to do to see, or to shorten, the waits for the pipeline's loader (PipelineMeasurement::next_of).
std::vector<Advice> advice_about_loader(const HostMeasurement& host, const PipelineMeasurement& pipeline);

/// What keeps so many batches of another loader than tf.data ready, and its iterator or workers from one epoch to the
/// next; no code where nothing does.
struct LoaderBuffering {
  std::optional<std::string> ready;
  std::optional<std::string> across_epochs;
};
LoaderBuffering buffering_of_loader(const HostMeasurement& host, const PipelineMeasurement& pipeline,
                                    std::size_t batches);

/// More workers for the batches of the class of Keras of this name, "PyDataset" or "Sequence". `making` is null where
/// no frame shows how they are made.
Advice more_workers_of_keras(std::string_view maker, const BatchMaking* making);

/// Where a trace shows a queue and not what takes from it.
Advice record_with_package();

/// The frames that show Keras' workers at a queue which nothing is seen to take from, as a clause; empty if there are
/// none.
std::string describe_queue_alone(const Measurements& measurements);

/// What to do where the trace of this framework shows no loader at all.
std::vector<Advice> advice_for_framework(const std::string& framework);

}  // namespace doctor
