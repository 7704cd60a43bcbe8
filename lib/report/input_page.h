#pragma once

#include <string>
#include <string_view>

#include "diagnose/diagnose.h"
#include "measure/input_work.h"
#include "text/data_table.h"
#include "text/json_page.h"

namespace doctor {

// `show input`: the input pipeline analyzer of the guide of TensorFlow's profiler. Measurements need their profiles.

/// The word of the schema, e.g. "read_on_demand".
std::string_view to_word(InputWork work);

/// A row for each iterator and each kind of op that moves data to a device, the one that works most first: its self
/// time and what its functions do on other threads. Waiting for other threads is not work and has a column of its own.
DataTable input_table(const Measurements& measurements);

/// What is above the table: the input-bound share, the steps, and what the host spends its time on.
std::string input_summary_text(const Measurements& measurements, const Diagnosis& diagnosis, PageWidth width = {});

/// The same as a page of JSON with the rows of the table.
OrderedJson input_json(const Measurements& measurements, const Diagnosis& diagnosis, const DataTable& table);

}  // namespace doctor
