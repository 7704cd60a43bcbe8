#pragma once

#include <optional>

#include "base/result.h"
#include "io/byte_source.h"
#include "trace/json_events.h"
#include "trace/trace.h"

namespace doctor {

/// Enters what was lost around the events of a document into `loss`, with a note for a person where the document ends
/// too early. `event_count` counts the events with a time that were read from it.
void add_document_loss(const JsonDocument& document, const ByteSource& source, std::uint64_t event_count, Loss& loss);

/// Why a document yields no trace at all; nothing if it does. An empty array of events is an empty trace, not an error.
/// `event_count` counts the objects in it that have a phase, `other_count` those that have none.
std::optional<Error> reason_not_a_trace(const JsonDocument& document, const ByteSource& source,
                                        std::uint64_t event_count, std::uint64_t other_count);

}  // namespace doctor
