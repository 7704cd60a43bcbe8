#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "text/data_table.h"

namespace doctor {

/// The word of the schema for a part of a step, e.g. "kernel_launch".
std::string_view to_word(StepPart part);

/// How the steps were determined, as a sentence for a person.
std::string_view describe(StepSource source);
/// The same as a word of the schema.
std::string_view to_word(StepSource source);

/// How the steps of these hosts were determined.
std::string step_note(const Measurements& measurements);

/// Of all hosts.
std::size_t step_count(const Measurements& measurements);

/// `show steps`: a row for each step of each host, in order of time; only the first `most_rows`, because half a million
/// steps, which a trace of 25 MB can have, are 300 MB of cells.
DataTable steps_table(const Measurements& measurements, std::size_t most_rows);

}  // namespace doctor
