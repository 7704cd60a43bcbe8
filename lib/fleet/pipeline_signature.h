#pragma once

#include <string>

#include "measure/measurements.h"

namespace doctor {

/// Names the structure of a pipeline, sixteen hexadecimal digits: alike for recordings of the same program. The
/// signature of an iterator is FNV-1a-64 of the text KIND(SIGNATURE,SIGNATURE…) with its inputs' signatures in
/// ascending order, each once; that of the pipeline is made in the same way, without a kind, of its roots.
///
/// What changes though the program does not is left out: versions of kinds ("ParallelMapV2"), whether a step is
/// parallel (a family of kinds is one, see family_of()), the runtime's frames and repeats, Prefetches that TF inserts
/// where the trace marks them, and how many like inputs there are (files of an interleave). A window in which an input
/// made no element shows a smaller tree, and so another signature. Empty if the trace shows no iterator.
std::string signature_of(const HostMeasurement& host, const PipelineMeasurement& pipeline);

}  // namespace doctor
