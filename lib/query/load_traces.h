#pragma once

#include <vector>

#include "base/result.h"
#include "pipeline.h"
#include "query/load_events.h"
#include "query/load_measurements.h"
#include "query/query_database.h"
#include "query/query_inputs.h"

namespace doctor {

/// What to load: only what is asked for, because a diagnosis and the arguments of all events take their time.
struct LoadRequest {
  EventRequest events;
  MeasurementRequest measurements;
  bool files = false;
  bool traces = false;

  static LoadRequest everything();
};

/// What there is to say about single files; they do not stop the others.
struct LoadReport {
  std::vector<Error> unreadable;  ///< why they could not be read
  std::vector<Error> repeated;    ///< how much of them other files hold, too
  std::vector<Error> not_rows;    ///< how many lines of a file of rows are none
};

/// Adds files to the database, each trace whole or not at all, and none whose content is there already. TF1 timelines
/// are one trace together, any other file is one. `setup` is how traces are diagnosed, but for what is needed of them.
/// Errors: the database cannot be changed.
Result<void> load_inputs(QueryDatabase& database, const QueryInputs& inputs, const LoadRequest& request,
                         const DiagnosisSetup& setup, LoadReport& report);

}  // namespace doctor
