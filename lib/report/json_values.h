#pragma once

#include <fmt/format.h>

#include "diagnose/finding.h"
#include "diagnose/user_code.h"
#include "report/selection.h"
#include "text/columns.h"
#include "text/document_keys.h"
#include "text/escape.h"
#include "text/json_page.h"
#include "text/numbers.h"
#include "text/table.h"
#include "text/text_page.h"

namespace doctor {

// Parts that several JSON pages share, with the headers that every page needs.

/// The long name of an iterator; null for kNoIterator.
OrderedJson long_name_json(const HostMeasurement& host, IteratorId iterator);

/// `source` of an iterator or a finding; null where the line is not known.
OrderedJson source_json(const SourceLine* place);
/// The pages that advice follows: [{"title", "url"}, ...].
OrderedJson references_json(std::span<const Reference> references);

/// One entry of `iterators`. `critical` is its time on the critical path of the pipeline it is listed under.
OrderedJson iterator_json(const HostMeasurement& host, IteratorId id, Picoseconds critical);

/// One entry of `pipelines`.
OrderedJson pipeline_json(const PipelineView& view);

/// `gain` of an advice; null where none is predicted. Without a host, nothing says what limits afterwards.
OrderedJson gain_json(const std::optional<Gain>& gain, const HostMeasurement* host);

/// Adds what limits a pipeline: `limiting_resource` and `limit`, null where nobody waits.
void add_limit(const PipelineView& view, OrderedJson& json);

/// `culprit` of a pipeline; null if it has none.
OrderedJson culprit_json(const PipelineView& view);

}  // namespace doctor
