#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "report/selection.h"

namespace doctor {

// Parts that several JSON pages share. Keys keep the order in which they are written.

using OrderedJson = nlohmann::ordered_json;

/// The text of a page. ASCII only and without invalid UTF-8, so it is safe on a terminal too. Never throws.
std::string to_text(const OrderedJson& page);

OrderedJson tool_json();

/// One entry of `iterators`. `critical` is its time on the critical path of the pipeline it is listed under.
OrderedJson iterator_json(const HostMeasurement& host, IteratorId id, Picoseconds critical);

/// One entry of `pipelines`.
OrderedJson pipeline_json(const PipelineView& view);

/// `bottleneck` of a pipeline; null if it has none.
OrderedJson bottleneck_json(const PipelineView& view);

}  // namespace doctor
