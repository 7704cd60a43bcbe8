#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "fleet/trace_row.h"
#include "io/file_descriptor.h"
#include "measure/measurements.h"
#include "pipeline.h"
#include "query/load_events.h"
#include "query/query_database.h"
#include "trace/format.h"

namespace doctor {

/// A file to load.
struct QueryInput {
  std::string path;                ///< to read it from
  std::string name;                ///< what the tables call it: the path, or "standard input"
  std::string sha256;              ///< empty: not asked for
  const Format* format = nullptr;  ///< of a trace; null for rows of `batch`
};

struct QueryInputs {
  std::vector<QueryInput> traces;  ///< by name, each content once: the order in which they were named changes nothing
  std::vector<QueryInput> rows;    ///< likewise
  std::vector<std::string> repeated;  ///< names of those left out: what they hold is among the others
  std::vector<Error> unreadable;
  FileDescriptor standard_input;  ///< an unlinked copy of it, where it was named
};

/// Looks at what was named: rows of `batch` and traces are distinguished by content. What cannot be read does not stop
/// the others. To compute the digest of a file takes as long as to count its events: it is left out of a single one for
/// which it is not wanted. Several are compared by it.
QueryInputs examine_inputs(const std::vector<std::string>& paths, bool wants_digests);

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

/// Adds a row to `traces`.
Result<void> load_trace_row(QueryDatabase& database, std::int64_t trace, const TraceRow& row);

/// What there is to say about a file of rows.
struct LoadedRows {
  std::optional<Error> first_not_row;  ///< how many lines are none, and why the first of them
};

/// Adds the rows of a file that `batch` wrote to `traces`, `files` and `findings`, all or none. A last line that was
/// not written to its end is passed over, and so is a line that is not a row, as `fleet` does. Errors: none is a row,
/// the database cannot be changed.
Result<LoadedRows> load_rows(QueryDatabase& database, const std::string& path);

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
