#pragma once

#include "diagnose/answer.h"
#include "measure/measurements.h"

namespace doctor {

// The verdict for a person. They hold foreign text.

/// "INPUT-BOUND", "PROBABLY NOT INPUT-BOUND", "INCONCLUSIVE", "NO INPUT PIPELINE".
std::string_view title_of(const Verdict& verdict);

/// What the first line says after that: "training waits for data 66% of the time"; without a verdict, what is missing.
std::string describe_verdict(const Answer& answer, const Measurements& measurements, const Diagnosis& diagnosis);

/// The verdict and the cause as a paragraph: what documents have in one field.
std::string summarize(const Measurements& measurements, const Diagnosis& diagnosis);

/// Where the waits come from: "Dataset.map, one element at a time: 98% of the waiting".
std::string describe_cause(const Cause& cause);

/// What the calls do over time, where a median hides it: "every 6th batch takes 74.3 ms, the others 0.1 ms"; empty
/// where they are alike.
std::string describe_pattern(const PipelineMeasurement& pipeline);

/// "DecodeJpeg 47.3 ms, ResizeBilinear 12.1 ms"; empty without ops.
std::string describe_ops(const std::vector<FunctionOp>& ops);

/// "60 steps/s now; 179 if data were always ready".
std::string describe_rates(const Rates& rates);

/// Why no fix says what it brings, as a clause; empty where one does, and where nobody waits.
std::string describe_missing_gains(const Answer& answer);

// What the calls of a pipeline do over time, in a sentence. They hold foreign text. Calls are counted from 1.

/// "3 of 30 calls take 4.10 ms, the others 94 us: about every 10 calls, from call 4 to call 28, mostly in Dataset.map;
/// the median hides them"; empty if none stalls.
std::string describe_stalls(const HostMeasurement& host, const PipelineMeasurement& pipeline);

/// "From call 41 on GetNext takes 12.3 ms instead of 94 us (68 % of the time instead of 2 %), mostly in Dataset.map";
/// empty if the pace does not change.
std::string describe_pace_change(const HostMeasurement& host, const PipelineMeasurement& pipeline);

}  // namespace doctor
