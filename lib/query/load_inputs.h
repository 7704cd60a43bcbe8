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
  std::string path;                ///< path to read it from
  std::string name;                ///< what the tables call it: the path, or "standard input"
  std::string sha256;              ///< empty: not requested
  const Format* format = nullptr;  ///< of a trace; null for rows of `batch`
};

struct QueryInputs {
  std::vector<QueryInput> traces;     ///< by name, each content once, so that the order of the names does not matter
  std::vector<QueryInput> rows;       ///< likewise
  std::vector<std::string> repeated;  ///< names of files that were left out: their content is in others
  std::vector<Error> unreadable;
  FileDescriptor standard_input;  ///< an unlinked copy of it, if it was named
};

/// Examines the named inputs: content distinguishes rows of `batch` from traces. Inputs that cannot be read do not stop
/// the others. Computing the digest of a file takes as long as counting its events, so a single file gets none unless
/// it is wanted. Several files are compared by it.
QueryInputs examine_inputs(const std::vector<std::string>& paths, bool wants_digests);

/// The tables of a diagnosis to fill, which determine what must be measured.
struct MeasurementRequest {
  bool diagnosis = false;  ///< iterators, kernels, findings, traces
  bool calls = false;      ///< calls, segments
  bool profile = false;    ///< steps, ops

  bool any() const { return diagnosis || calls || profile; }
  AnalysisOptions options() const;
};

/// Adds the results for one trace under its number. Errors: the database cannot be changed.
Result<void> load_measurements(QueryDatabase& database, std::int64_t trace, const Analysis& analysis,
                               const MeasurementRequest& request);

/// Adds a row to `traces`.
Result<void> load_trace_row(QueryDatabase& database, std::int64_t trace, const TraceRow& row);

/// Notes about a file of rows.
struct LoadedRows {
  std::optional<Error> first_not_row;  ///< how many lines are not rows, and why the first is not
};

/// Adds the rows of a file that `batch` wrote to `traces`, `files` and `findings`, all or none. An incomplete last line
/// is skipped, and so are lines that are not rows, as in `fleet`. Errors: no line is a row, the database cannot be
/// changed.
Result<LoadedRows> load_rows(QueryDatabase& database, const std::string& path);

/// What to load. Only what is requested is loaded, because a diagnosis and the arguments of all events take time.
struct LoadRequest {
  EventRequest events;
  MeasurementRequest measurements;
  bool files = false;
  bool traces = false;

  static LoadRequest everything();
};

/// Notes about single files, which do not stop the others.
struct LoadReport {
  std::vector<Error> unreadable;  ///< why files could not be read
  std::vector<Error> repeated;    ///< how much of them other files hold, too
  std::vector<Error> not_rows;    ///< how many lines of a file of rows are not rows
};

/// Adds files to the database, each trace completely or not at all, and none whose content is there already. TF1
/// timelines together are one trace; any other file is one. `setup` says how traces are diagnosed, except for what is
/// needed of them. Errors: the database cannot be changed.
Result<void> load_inputs(QueryDatabase& database, const QueryInputs& inputs, const LoadRequest& request,
                         const DiagnosisSetup& setup, LoadReport& report);

}  // namespace doctor
