#pragma once

#include <cstdint>

#include "base/result.h"
#include "measure/measurements.h"
#include "pipeline.h"
#include "query/query_database.h"

namespace doctor {

/// Which tables of a diagnosis to fill, and so what must be measured.
struct MeasurementRequest {
  bool diagnosis = false;  ///< iterators, kernels, findings, traces
  bool calls = false;      ///< calls, segments
  bool profile = false;    ///< steps, ops

  bool any() const { return diagnosis || calls || profile; }
  AnalysisOptions options() const;
};

/// Adds what is known of one trace under its number. Errors: the database cannot be changed.
Result<void> load_measurements(QueryDatabase& database, std::int64_t trace, const Analysis& analysis,
                               const MeasurementRequest& request);

}  // namespace doctor
