#pragma once

#include <string>
#include <vector>

#include "diagnose/finding.h"
#include "measure/measurements.h"

namespace doctor {

// What is said of inputs of which a trace shows only that Python waits for them, and of traces of other frameworks.

/// The framework that recorded the run, where none of its files is TensorFlow's: "JAX", "PyTorch"; else empty.
std::string foreign_framework(const Measurements& measurements);

/// What the trace shows of the loader that the pipeline's calls wait for, as a clause after "unknown: "; empty where
/// the calls are GetNext's.
std::string describe_loader(const HostMeasurement& host, const PipelineMeasurement& pipeline);

/// What to do to see, or to shorten, the waits for a loader of this name (PipelineMeasurement::next_of).
std::vector<Advice> advice_about_loader(const std::string& loader);

/// What to do where the trace of this framework shows no loader at all.
std::vector<Advice> advice_for_framework(const std::string& framework);

}  // namespace doctor
