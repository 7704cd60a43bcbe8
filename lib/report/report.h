#pragma once

#include <string>

#include "diagnose/diagnose.h"
#include "measure/measurements.h"
#include "text/json_page.h"
#include "text/text_page.h"

namespace doctor {

// Renderers: plain values in, a page out. None can fail; the same values give the same bytes.

/// The report as a person reads it: verdict, culprit, change to make, evidence, cautions, what was lost.
std::string render_text(const Measurements& measurements, const Diagnosis& diagnosis, const TextStyle& style);

/// The report as `tfdata-doctor.report/2`. Strings of the trace are escaped to ASCII; bytes that are
/// not UTF-8 become U+FFFD.
std::string render_json(const Measurements& measurements, const Diagnosis& diagnosis);

/// The same as values, for what is drawn from them.
OrderedJson report_json(const Measurements& measurements, const Diagnosis& diagnosis);

/// The numbers of the report as metrics in Prometheus' text format, to be scraped or stored. Times are seconds, shares
/// 0 to 1; what the trace does not show is left out.
std::string render_prometheus(const Measurements& measurements, const Diagnosis& diagnosis);

}  // namespace doctor
